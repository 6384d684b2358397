"""Join the DFT table from four archives, and count what each step keeps."""

from __future__ import annotations

import ast
import csv
import gzip
import io
import json
import os
import warnings
import zipfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from matpcr_utils.references import archives

if TYPE_CHECKING:
    import pyarrow as pa

FLLA = "matminer/datasets/flla_2015.csv"
GAPS = "jarvis_leaderboard/benchmarks/AI/SinglePropertyPrediction/megnet_gappbe.json.zip"
HULL_2018 = "crabnet/data/benchmark_data/mp_e_hull/{part}.csv"
MOMENT_2018 = "crabnet/data/benchmark_data/mp_mu_b/{part}.csv"
RECENT = "dara/data/mp_struct_info.json.gz"

#: Two energies above hull closer than this (eV/atom) are taken to be the same calculation.
SAME_ENERGY = 1e-3
#: Phases of one formula closer than this (eV/atom) could be mistaken for each other.
NEAR_ENERGY = 0.01
#: Distance (Å) and angle (degree) tolerances of the symmetry search, the Materials Project's own.
SYMMETRY_DISTANCE, SYMMETRY_ANGLE = 0.1, 5.0
#: Site moments leave out the interstitial region, so they agree within this share of the total,
#: or within the second number (bohr magneton per atom).
MOMENT_SHARE, MOMENT_PER_ATOM = 0.2, 0.05


@dataclass(frozen=True)
class _Entry:
    material_id: str
    formula: str
    formula_units: int
    energy_above_hull: float
    formation_energy_per_atom: float
    lattice: list[list[float]]
    numbers: list[int]
    coords: list[list[float]]
    moment: float | None


def tables() -> tuple[pa.Table, pa.Table, dict[str, int]]:
    """The joined table, its structures, and the number of rows after each step."""
    # spglib writes its retries straight to the terminal; its result is checked instead.
    os.environ.setdefault("SPGLIB_WARNING", "OFF")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="No Pauling electronegativity")
        warnings.filterwarnings("ignore", message="Set OLD_ERROR_HANDLING")
        return _tables()


def _tables() -> tuple[pa.Table, pa.Table, dict[str, int]]:
    entries = _flla()
    gaps, moments, recent = _gaps(), _moments(), _recent()
    symmetry = [_space_group(e) for e in entries]
    matched = [_match(e, moments) for e in entries]
    hulls = [_recent_hull(e, s[1], recent) for e, s in zip(entries, symmetry, strict=True)]
    quality = _qualities(entries, matched, recent, [number for _, number in symmetry])
    gap = np.array([gaps.get(e.material_id, np.nan) for e in entries])
    moment = np.array([np.nan if m is None else m for m in matched])
    complete = ~np.isnan(gap) & ~np.isnan(moment)
    counts = {
        "entries with structure and energy above hull": len(entries),
        "with a band gap (by id)": int((~np.isnan(gap)).sum()),
        "with a magnetization (by formula and energy)": int((~np.isnan(moment)).sum()),
        "complete": int(complete.sum()),
        "complete, with a recent energy above hull": int((complete & ~np.isnan(hulls)).sum()),
    }
    columns = {
        "material_id": [e.material_id for e in entries],
        "formula": [e.formula for e in entries],
        "space_group": [symbol for symbol, _ in symmetry],
        "space_group_number": np.array([number for _, number in symmetry], np.int64),
        "nsites": np.array([len(e.numbers) for e in entries], np.int64),
        "formula_units": np.array([e.formula_units for e in entries], np.int64),
        "energy_above_hull": np.array([e.energy_above_hull for e in entries]),
        "energy_above_hull_recent": np.array(hulls),
        "band_gap": gap,
        "total_magnetization": moment,
        "match_quality": quality,
        "formation_energy_per_atom": np.array([e.formation_energy_per_atom for e in entries]),
    }
    return _arrow(columns), _structures(entries), counts


def _arrow(columns: dict[str, Any]) -> pa.Table:
    import pyarrow as pa

    return pa.table({name: pa.array(values, from_pandas=False) for name, values in columns.items()})


def _structures(entries: Sequence[_Entry]) -> pa.Table:
    import pyarrow as pa

    return pa.table(
        {
            "material_id": [e.material_id for e in entries],
            "lattice": pa.array([np.ravel(e.lattice) for e in entries], pa.list_(pa.float64())),
            "numbers": pa.array([e.numbers for e in entries], pa.list_(pa.uint8())),
            "coords": pa.array([np.ravel(e.coords) for e in entries], pa.list_(pa.float64())),
        }
    )


def _flla() -> list[_Entry]:
    from pymatgen.core import Composition, Element

    text = archives.member("matminer", FLLA).decode("utf-8")
    csv.field_size_limit(10**9)
    lines = (line for line in io.StringIO(text) if not line.startswith("#"))
    entries = []
    for row in csv.DictReader(lines):
        structure = ast.literal_eval(row["structure"])
        sites = structure["sites"]
        symbols = [site["species"][0]["element"] for site in sites]
        formula, units = Composition(Counter(symbols)).get_reduced_formula_and_factor()
        entries.append(
            _Entry(
                material_id=row["material_id"],
                formula=formula,
                formula_units=int(units),
                energy_above_hull=float(row["e_above_hull"]),
                formation_energy_per_atom=float(row["formation_energy_per_atom"]),
                lattice=structure["lattice"]["matrix"],
                numbers=[Element(symbol).Z for symbol in symbols],
                coords=[site["abc"] for site in sites],
                moment=_site_moments(sites),
            )
        )
    return entries


def _site_moments(sites: Iterable[dict[str, Any]]) -> float | None:
    """Sum of the moments inside the site spheres; None where the entry carries none."""
    moments = [site.get("properties", {}).get("magmom") for site in sites]
    return None if any(moment is None for moment in moments) else float(sum(moments))


def _gaps() -> dict[str, float]:
    with zipfile.ZipFile(io.BytesIO(archives.member("jarvis_leaderboard", GAPS))) as inner:
        parts = json.loads(inner.read("megnet_gappbe.json"))
    return {name: float(gap) for part in parts.values() for name, gap in part.items()}


def _moments() -> dict[str, tuple[float, float]]:
    """Energy above hull and total magnetization of each reduced formula."""
    from pymatgen.core import Composition

    found: dict[str, tuple[float, float]] = {}
    for part in ("train", "val", "test"):
        hulls, totals = (
            _rows(archives.member("crabnet", name.format(part=part)))
            for name in (HULL_2018, MOMENT_2018)
        )
        for (formula, hull), (same, total) in zip(hulls, totals, strict=True):
            if formula != same:
                raise AssertionError(f"crabnet's tables are not row-aligned at {formula} / {same}")
            found[Composition(formula).reduced_formula] = (float(hull), float(total))
    return found


def _rows(content: bytes) -> list[list[str]]:
    # The csv module, not pandas: sodium nitride's formula would be read as a missing value.
    return list(csv.reader(io.StringIO(content.decode("utf-8"))))[1:]


def _recent() -> dict[str, list[tuple[float, int]]]:
    """Energy above hull and space-group number of every phase of each reduced formula."""
    phases = json.loads(gzip.decompress(archives.member("dara_xrd", RECENT)))
    return {
        formula: [(float(hull), int(group[1])) for hull, group in found]
        for formula, found in phases.items()
    }


def _space_group(entry: _Entry) -> tuple[str, int]:
    import spglib

    cell = (entry.lattice, entry.coords, entry.numbers)
    found = spglib.get_symmetry_dataset(cell, SYMMETRY_DISTANCE, SYMMETRY_ANGLE)
    if found is None:
        raise AssertionError(f"no space group found for {entry.material_id}")
    return str(found.international), int(found.number)


def _match(entry: _Entry, moments: dict[str, tuple[float, float]]) -> float | None:
    hull, total = moments.get(entry.formula, (np.inf, np.nan))
    return total if abs(hull - entry.energy_above_hull) < SAME_ENERGY else None


def _recent_hull(entry: _Entry, group: int, recent: dict[str, list[tuple[float, int]]]) -> float:
    same = [hull for hull, number in recent.get(entry.formula, []) if number == group]
    return min(same, default=np.nan)


def _qualities(
    entries: Sequence[_Entry],
    matched: Sequence[float | None],
    recent: dict[str, list[tuple[float, int]]],
    groups: Sequence[int],
) -> list[str]:
    """A key of `dft.MATCH_QUALITIES` for every entry."""
    takers = Counter(e.formula for e, m in zip(entries, matched, strict=True) if m is not None)
    phases: dict[str, list[_Entry]] = {}
    for entry in entries:
        phases.setdefault(entry.formula, []).append(entry)
    found = []
    for entry, total, group in zip(entries, matched, groups, strict=True):
        old = [e.energy_above_hull for e in phases[entry.formula] if e is not entry]
        new = [hull for hull, number in recent.get(entry.formula, []) if number != group]
        near = any(abs(hull - entry.energy_above_hull) <= NEAR_ENERGY for hull in old + new)
        found.append(_quality(entry, total, takers[entry.formula] > 1, near))
    return found


def _quality(entry: _Entry, total: float | None, shared: bool, near: bool) -> str:
    if total is None:
        return "none"
    if entry.moment is not None:
        # The sign of a collinear total is a choice of axis.
        difference = abs(abs(entry.moment) - abs(total))
        limit = max(MOMENT_SHARE * abs(total), MOMENT_PER_ATOM * len(entry.numbers))
        return "moments_agree" if difference <= limit else "moments_disagree"
    if shared:
        return "shared"
    return "polymorphs" if near else "unique"
