"""Gather the measured Raman spectra from two archives."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from matpcr_utils.references import archives
from matpcr_utils.references.spectra import Spectrum
from matpcr_utils.references.textfiles import BWTEK_START, bwtek

if TYPE_CHECKING:
    import pyarrow as pa

RAMANCHADA = "ramanchada2/auxiliary/spectra/datasets2"
CARBON = "raman_fitting/example_fixtures"

#: The index's codes of the samples whose Raman lines are known; lamps and glass standards, which
#: show no Raman line, have other codes.
SAMPLES: dict[str, str] = {
    "S0B": "silicon",
    "S0N": "silicon",
    "S0P": "silicon",
    "S1N": "silicon",
    "Sil": "silicon",
    "Sil_": "silicon",
    "nCAL": "calcite",
    "sCAL": "calcite",
    "PST": "polystyrene",
    "TiO2": "titanium dioxide in a polymer",
}
_CARBON_SAMPLES = {"Si": "silicon", "testDW38C": "carbon"}


def table() -> tuple[pa.Table, dict[str, int]]:
    """The spectra as one table, and how many were read and left out."""
    import pyarrow as pa

    index = _index()
    kept = [item for item in index if _keep(item)]
    found = [_ramanchada(item) for item in kept] + _carbon()
    found.sort(key=lambda spectrum: spectrum.spectrum_id)
    names = ("spectrum_id", "sample", "instrument", "laser_nm", "laboratory", "source")
    columns: dict[str, Any] = {
        name: pa.array(
            [getattr(s, name) for s in found], pa.float64() if name == "laser_nm" else pa.string()
        )
        for name in names
    }
    for name in ("shift", "intensity"):
        columns[name] = pa.array([getattr(s, name) for s in found], pa.list_(pa.float64()))
    counts = {
        "spectra in ramanchada2": len(index),
        "of a sample with known Raman lines, first replicate, above noise": len(kept),
        "spectra in raman_fitting": len(found) - len(kept),
        "spectra": len(found),
    }
    return pa.table(columns), counts


def _index() -> list[dict[str, str]]:
    """The archive's own index: a literal list, read without running the module."""
    source = archives.member("ramanchada2", f"{RAMANCHADA}/__init__.py").decode("utf-8")
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "data":
            index: list[dict[str, str]] = ast.literal_eval(node.value)
            return index
    raise AssertionError("ramanchada2's index has moved")


def _keep(item: dict[str, str]) -> bool:
    if item["sample"] not in SAMPLES or item.get("replicate", "1") != "1":
        return False
    if item["filename"].endswith("_full.txt"):  # another file holds the same scan, trimmed
        return False
    # Silicon on this instrument's first and third optical path is hidden in noise.
    noise = item["provider"] == "FNMT" and item["device"] == "Horiba" and item["OP"] in ("01", "03")
    return not (noise and SAMPLES[item["sample"]] == "silicon")


def _ramanchada(item: dict[str, str]) -> Spectrum:
    member = f"{RAMANCHADA}/{item['filename'].removeprefix('./')}"
    text = archives.member("ramanchada2", member).decode("latin-1")
    if text.startswith(BWTEK_START):
        curve = bwtek(text)
        axis, counts = curve.x, curve.y
    else:
        axis, counts = _columns(text)
    return Spectrum.from_arrays(
        axis,
        counts,
        spectrum_id=_identifier(item),
        sample=SAMPLES[item["sample"]],
        instrument={"BWtek": "B&W Tek"}.get(item["device"], item["device"]),
        laser_nm=float(item["laser_wl"]),
        source=f"ramanchada2:{member}",
        laboratory=item["provider"],
    )


def _identifier(item: dict[str, str]) -> str:
    """E.g. ``icv-bwtek-785-020-s0b``, with the laser power where it was varied."""
    parts = [item[key] for key in ("provider", "device", "laser_wl", "OP", "sample")]
    # From the file's name: the index gives one of the percentages in mW.
    power = re.search(r"_(\d+)\(\d+mW\)", item["filename"])
    if power:
        parts.append(f"{power[1]}pc")
    return re.sub(r"[^a-z0-9-]", "", "-".join(parts).lower())


def _columns(text: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    values = np.array(
        [[float(cell) for cell in line.split()] for line in text.splitlines() if line]
    )
    return values[:, 0], values[:, 1]


def _carbon() -> list[Spectrum]:
    found = []
    for member in archives.members("raman_fitting"):
        name = member.removeprefix(f"{CARBON}/")
        if name == member or not name.endswith(".txt"):
            continue
        axis, counts = _columns(archives.member("raman_fitting", member).decode("utf-8-sig"))
        sample, position = re.fullmatch(r"(\w+?)_(?:spectrum|pos)(\d+)\.txt", name).groups()  # type: ignore[union-attr]
        found.append(
            Spectrum.from_arrays(
                axis,
                counts,
                spectrum_id=f"raman-fitting-{sample.lower()}-{int(position)}",
                sample=_CARBON_SAMPLES[sample],
                source=f"raman_fitting:{member}",
            )
        )
    return found
