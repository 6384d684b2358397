"""Items on stability, metallicity and magnetism: a crystal structure and a question about it.

The structures are those of the DFT snapshot with every value present. Strata, not the snapshot's
own shares, set how often each class comes up: a snapshot that is three quarters stable would let a
model that always says "stable" look good.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from matpcr_utils.errors import MatPCRError
from matpcr_utils.items._sampling import round_robin, salt_of
from matpcr_utils.items.model import QUESTIONS, Item

if TYPE_CHECKING:
    from matpcr_utils.references.dft import DFTEntry, DFTTable

#: How items are sampled, in words; the same strata as in `_strata`.
SAMPLING: dict[str, str] = {
    "stability": "in turn: on the hull; more than 0.2 eV/atom above it; above it by at most 0.05; "
    "above it by 0.05 to 0.2",
    "metallicity": "in turn: gap of exactly 0; of 0.2 to 1 eV; of exactly 0; above 1 eV. Gaps "
    "strictly between 0 and 0.2 eV are left out: up to 0.05 the strict class and the oracle's "
    "differ, and from there on the oracle abstains",
    "magnetism": "in turn: zero net moment without an element that is often magnetic; finite up to "
    "0.3 μB/atom; zero net moment with such an element; above 0.3 μB/atom. Entries whose "
    "magnetization may belong to another phase are left out",
}
#: One item in so many asks for the number, the others ask for the class.
NUMBER_EVERY = 3
#: Elements with partly filled 3d or f shells, in which zero net moment is no foregone conclusion.
OFTEN_MAGNETIC = frozenset(
    {"V", "Cr", "Mn", "Fe", "Co", "Ni", "U", "Np", "Pu"}
    | {"Ce", "Pr", "Nd", "Pm", "Sm", "Eu", "Gd", "Tb", "Dy", "Ho", "Er", "Tm", "Yb"}
)
_HULL = 1e-6


def candidates(constraint: str, seed: int) -> Iterator[Item]:
    """Items of the strata in turn."""
    table = _table()
    for _, row in round_robin(_strata(constraint), seed, salt_of(constraint)):
        yield _item(constraint, table.row(row))


def build(constraint: str, key: str) -> Item | None:
    """The item on the material with the id `key`; None if it is in no stratum."""
    table = _table()
    rows = np.flatnonzero(table.material_id == key)
    if not len(rows):
        raise MatPCRError(f"{key!r} is not among the {len(table)} complete entries")
    chosen = any(int(rows[0]) in stratum for stratum in _strata(constraint))
    return _item(constraint, table.row(int(rows[0]))) if chosen else None


def reference(item: Item) -> DFTEntry:
    """The DFT entry."""
    return _table().entry(item.facts["material_id"])


def image(item: Item) -> bytes:
    """Refused: structures are posed as text."""
    raise MatPCRError(f"{item.item_id} is posed as text and has no image: use items.text")


def text(item: Item) -> str:
    """Formula, space group, cell and every site; never the material's id."""
    entry = reference(item)
    structure = entry.structure
    lattice = structure.lattice
    lines = [
        f"Formula: {entry.formula} ({entry.formula_units} formula "
        f"{'unit' if entry.formula_units == 1 else 'units'}, {entry.nsites} atoms in the cell)",
    ]
    if entry.space_group:
        lines.append(f"Space group: {entry.space_group} ({entry.space_group_number})")
    lines += [
        f"Cell: a = {lattice.a:.4f} Å, b = {lattice.b:.4f} Å, c = {lattice.c:.4f} Å, "
        f"α = {lattice.alpha:.2f}°, β = {lattice.beta:.2f}°, γ = {lattice.gamma:.2f}°",
        "Sites (element and fractional coordinates):",
    ]
    for site in structure:
        # Adding zero turns -0.0 into 0.0.
        x, y, z = np.round(site.frac_coords % 1.0, 4) % 1.0 + 0.0
        lines.append(f"{site.specie.symbol} {x:.4f} {y:.4f} {z:.4f}")
    return "\n".join(lines)


def wording(item: Item) -> Mapping[str, str]:
    """The formula."""
    return {"material": item.facts["formula"]}


@cache
def _table() -> DFTTable:
    from matpcr_utils.references import dft

    return dft.load()


@cache
def _strata(constraint: str) -> Sequence[NDArray[np.intp]]:
    table = _table()
    if constraint == "stability":
        energy = table.energy_above_hull
        on, off = energy <= _HULL, energy > 0.2
        near, between = ~on & (energy <= 0.05), (energy > 0.05) & ~off
        return [np.flatnonzero(mask) for mask in (on, off, near, between)]
    if constraint == "metallicity":
        gap = table.band_gap
        zero = np.flatnonzero(gap == 0)
        small, wide = (gap >= 0.2) & (gap <= 1), gap > 1
        return [zero, np.flatnonzero(small), zero, np.flatnonzero(wide)]
    from matpcr_utils.oracles.magnetism import TRUSTED_MATCHES, moment_per_atom
    from matpcr_utils.references.dft import elements

    moment = moment_per_atom(table)
    own = np.isin(table.match_quality, TRUSTED_MATCHES)
    open_shell = np.array([bool(elements(f) & OFTEN_MAGNETIC) for f in table.formula])
    none, weak = moment <= 0.05, (moment > 0.05) & (moment <= 0.3)
    masks = (none & ~open_shell, weak, none & open_shell, moment > 0.3)
    return [np.flatnonzero(own & mask) for mask in masks]


def _item(constraint: str, entry: DFTEntry) -> Item:
    label, number = QUESTIONS[constraint]
    item_id = f"{constraint}-{entry.material_id}"
    asks = number if salt_of(item_id) % NUMBER_EVERY == 0 else label
    truth, distance = _TRUTHS[constraint](entry, asks)
    difficulty: dict[str, float | str] = {
        "distance_to_threshold": distance,
        "atoms": entry.nsites,
        "elements": len({*entry.structure.symbol_set}),
        "class": str(truth.pop("class")),
    }
    return Item(
        item_id=item_id,
        source_id=entry.material_id,
        constraint=constraint,
        modality="text",
        facts={
            "asks": asks,
            "material_id": entry.material_id,
            "formula": entry.formula,
            "simulated": False,
        },
        difficulty=difficulty,
        truth=truth,
    )


def _truth(
    quantity: str, value: float | str, sentence: str, kind: str, basis: str | None = None
) -> dict[str, Any]:
    from matpcr_utils.claims.model import CANONICAL_UNITS

    return {
        "quantity": quantity,
        "value": value,
        "unit": CANONICAL_UNITS[quantity],
        "basis": basis,
        "sentence": sentence,
        "class": kind,
    }


def _stability(entry: DFTEntry, asks: str) -> tuple[dict[str, Any], float]:
    energy = max(float(entry.energy_above_hull or 0.0), 0.0)
    kind = "stable" if energy <= _HULL else "metastable" if energy <= 0.2 else "unstable"
    distance = abs(energy - 0.05)
    if asks == "stability":
        return _truth(asks, kind, f"This phase is {kind}.", kind), distance
    sentence = f"The energy above the hull is {energy:.6g} eV/atom."
    return _truth(asks, energy, sentence, kind, "atom"), distance


def _metallicity(entry: DFTEntry, asks: str) -> tuple[dict[str, Any], float]:
    gap = float(entry.band_gap or 0.0)
    kind = "nonzero_gap" if gap > 0 else "zero_gap"
    distance = abs(gap - (0.2 if gap > 0 else 0.05))
    if asks == "metallicity":
        words = "has a band gap" if gap > 0 else "is a metal"
        return _truth(asks, kind, f"This compound {words}.", kind), distance
    return _truth(asks, gap, f"The band gap is {gap:.6g} eV.", kind), distance


def _magnetism(entry: DFTEntry, asks: str) -> tuple[dict[str, Any], float]:
    total = abs(float(entry.total_magnetization or 0.0))
    per_atom = total / entry.nsites
    kind = "finite_net" if per_atom > 0.05 else "zero_net"
    distance = abs(per_atom - 0.05)
    if asks == "magnetism":
        sentence = f"This compound has {'a' if kind == 'finite_net' else 'no'} net magnetic moment."
        return _truth(asks, kind, sentence, kind), distance
    per_unit = total / entry.formula_units
    sentence = f"The net magnetization is {per_unit:.6g} μB per formula unit."
    return _truth(asks, per_unit, sentence, kind, "formula_unit"), distance


_TRUTHS = {"stability": _stability, "metallicity": _metallicity, "magnetism": _magnetism}
