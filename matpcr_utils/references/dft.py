"""First-principles references: Materials Project entries as one table.

`load` gives the shipped snapshot; `from_frame` makes the same table of one's own values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from matpcr_utils.errors import MatPCRError
from matpcr_utils.references import store

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from pymatgen.core import Structure

#: Values of `match_quality`: how far the magnetization can be trusted to belong to the entry. It
#: was joined by formula and energy above hull, because its source carries no id.
MATCH_QUALITIES: dict[str, str] = {
    "moments_agree": "the entry's own site moments sum to the joined total",
    "unique": "no other phase of the formula within 10 meV/atom, in either database version",
    "polymorphs": "another phase of the formula lies within 10 meV/atom and may own the value",
    "shared": "several entries of the formula fit the one value; at most one can own it",
    "moments_disagree": "the entry's own site moments sum to another total than the joined one",
    "direct": "read from the entry itself, not joined",
    "none": "no magnetization was found",
}

TEXT_COLUMNS = ("material_id", "formula", "space_group", "match_quality")
COUNT_COLUMNS = ("space_group_number", "nsites", "formula_units")
#: Columns in which NaN means that the value is missing.
NUMBER_COLUMNS = (
    "formation_energy_per_atom",
    "energy_above_hull",
    "energy_above_hull_recent",
    "band_gap",
    "total_magnetization",
)


@dataclass(frozen=True)
class DFTEntry:
    """One calculated material; a value that is missing is None.

    Attributes
    ----------
    material_id : str
        Materials Project id.
    formula : str
        Reduced formula.
    nsites, formula_units : int
        Atoms and reduced formula units in the calculation cell.
    space_group, space_group_number : str, int
        Hermann–Mauguin symbol and number at a distance tolerance of 0.1 Å.
    formation_energy_per_atom : float
        eV/atom.
    energy_above_hull : float
        eV/atom, of the database version that all other columns come from (2018 or before).
    energy_above_hull_recent : float
        eV/atom, of a recent version, joined by formula and space group.
    band_gap : float
        eV, PBE.
    total_magnetization : float
        Bohr magnetons per calculation cell, signed.
    match_quality : str
        A key of `MATCH_QUALITIES`.
    """

    material_id: str
    formula: str
    nsites: int
    formula_units: int = 1
    space_group: str | None = None
    space_group_number: int | None = None
    formation_energy_per_atom: float | None = None
    energy_above_hull: float | None = None
    energy_above_hull_recent: float | None = None
    band_gap: float | None = None
    total_magnetization: float | None = None
    match_quality: str = "direct"
    structures: Mapping[str, Structure] = field(default_factory=dict, repr=False, compare=False)

    @property
    def structure(self) -> Structure:
        """The relaxed structure, decoded on first use.

        Raises
        ------
        MatPCRError
            If the entry carries none.
        """
        try:
            return self.structures[self.material_id]
        except KeyError:
            raise MatPCRError(
                f"{self.material_id} ({self.formula}) carries no structure: "
                "load it from references.dft or from the Materials Project"
            ) from None


@dataclass(frozen=True)
class DFTTable:
    """Entries as columns of equal length; see `DFTEntry` for meaning and units.

    Text columns are str arrays, counts int64, numbers float64 with NaN for missing. A missing
    space group is ``""`` and 0.
    """

    material_id: NDArray[np.str_]
    formula: NDArray[np.str_]
    space_group: NDArray[np.str_]
    space_group_number: NDArray[np.int64]
    nsites: NDArray[np.int64]
    formula_units: NDArray[np.int64]
    energy_above_hull: NDArray[np.float64]
    energy_above_hull_recent: NDArray[np.float64]
    band_gap: NDArray[np.float64]
    total_magnetization: NDArray[np.float64]
    match_quality: NDArray[np.str_]
    formation_energy_per_atom: NDArray[np.float64]
    structures: Mapping[str, Structure] = field(default_factory=dict, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.material_id)

    def __iter__(self) -> Iterator[DFTEntry]:
        return (self.row(i) for i in range(len(self)))

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {str(name): i for i, name in enumerate(self.material_id)}

    def take(self, rows: NDArray[np.intp] | NDArray[np.bool_]) -> DFTTable:
        """The chosen rows, by position or mask, in the given order."""
        return DFTTable(
            **{name: getattr(self, name)[rows] for name in COLUMNS}, structures=self.structures
        )

    def row(self, i: int) -> DFTEntry:
        """The entry at position `i`."""
        text = {name: str(getattr(self, name)[i]) for name in TEXT_COLUMNS}
        counts = {name: int(getattr(self, name)[i]) for name in COUNT_COLUMNS}
        numbers = {name: _or_none(getattr(self, name)[i]) for name in NUMBER_COLUMNS}
        values: dict[str, Any] = {**text, **counts, **numbers}
        values["space_group"] = values["space_group"] or None
        values["space_group_number"] = values["space_group_number"] or None
        return DFTEntry(**values, structures=self.structures)

    def entry(self, material_id: str) -> DFTEntry:
        """The entry with this id.

        Raises
        ------
        MatPCRError
            If the table has none.
        """
        if material_id not in self._rows:
            raise MatPCRError(
                f"{material_id!r} is not among the {len(self)} entries of this table: take one of "
                "its material_id column, or load it with references.materials_project"
            )
        return self.row(self._rows[material_id])

    def to_frame(self) -> pd.DataFrame:
        """The columns as a DataFrame, without structures."""
        import pandas as pd

        return pd.DataFrame({name: getattr(self, name) for name in COLUMNS})


#: Names of the columns, in order.
COLUMNS: tuple[str, ...] = tuple(f.name for f in fields(DFTTable) if f.name != "structures")


def load(*, complete: bool = True) -> DFTTable:
    """The shipped entries.

    Parameters
    ----------
    complete : bool
        Only entries that have every column but `energy_above_hull_recent` (default); else also
        those without a band gap or magnetization, the elements among them.
    """
    return _complete() if complete else _all()


@cache
def _all() -> DFTTable:
    table = store.read_table("dft.parquet")
    columns = {name: _column(table, name) for name in COLUMNS}
    return DFTTable(**columns, structures=ShippedStructures())


@cache
def _complete() -> DFTTable:
    table = _all()
    return table.take(~np.isnan(table.band_gap) & ~np.isnan(table.total_magnetization))


def entry(material_id: str) -> DFTEntry:
    """A shipped entry by its id, complete or not; see `DFTTable.entry`."""
    return _all().entry(material_id)


def chemical_system(system: str) -> tuple[DFTEntry, ...]:
    """All shipped entries made of no other elements than these, complete or not.

    Parameters
    ----------
    system : str
        Element symbols joined by hyphens, in any order, e.g. ``"O-Si"``; the entries of its
        subsystems (the elements) are included.

    Raises
    ------
    MatPCRError
        If a part is no element symbol.
    """
    wanted = frozenset(part.strip() for part in system.split("-"))
    unknown = sorted(part for part in wanted if part not in _symbols())
    if unknown:
        raise MatPCRError(
            f"{system!r} is no chemical system ({unknown[0]!r} is no element): "
            "join element symbols by hyphens, e.g. 'O-Si'"
        )
    table = _all()
    rows = [i for i, formula in enumerate(table.formula) if elements(formula) <= wanted]
    return tuple(table.row(i) for i in rows)


def elements(formula: str) -> frozenset[str]:
    """The element symbols in a formula."""
    return frozenset(re.findall(r"[A-Z][a-z]?", formula))


@cache
def _symbols() -> frozenset[str]:
    from pymatgen.core import Element

    return frozenset(element.symbol for element in Element)


def from_frame(frame: pd.DataFrame, structures: Mapping[str, Structure] | None = None) -> DFTTable:
    """A table of one's own values.

    Parameters
    ----------
    frame : DataFrame
        Needs ``material_id``, ``formula`` and ``nsites``; other columns of `DFTTable` are optional
        (numbers default to missing, ``formula_units`` is computed from formula and nsites,
        ``match_quality`` defaults to ``"direct"``).
    structures : mapping of str to Structure, optional
        By material id.

    Raises
    ------
    MatPCRError
        If a needed column is absent, an id repeats, or a value lies outside its range.
    """
    for name in ("material_id", "formula", "nsites"):
        if name not in frame:
            raise MatPCRError(f"column {name!r} is missing: a DFT table needs it for every row")
    n = len(frame)
    columns: dict[str, Any] = {
        "space_group": np.full(n, ""),
        "space_group_number": np.zeros(n, np.int64),
        "match_quality": np.full(n, "direct"),
        **{name: np.full(n, np.nan) for name in NUMBER_COLUMNS},
    }
    for name in COLUMNS:
        if name in frame:
            columns[name] = _as_column(frame[name].to_numpy(), name)
    if "formula_units" not in columns:
        columns["formula_units"] = _formula_units(columns["formula"], columns["nsites"])
    table = DFTTable(**columns, structures=structures or {})
    _validate(table)
    return table


def _as_column(values: NDArray[Any], name: str) -> NDArray[Any]:
    try:
        if name in TEXT_COLUMNS:
            return values.astype(str)
        return values.astype(np.int64 if name in COUNT_COLUMNS else np.float64)
    except (TypeError, ValueError) as error:
        raise MatPCRError(f"column {name!r} holds a value that is no number ({error})") from None


def _formula_units(formulas: NDArray[np.str_], nsites: NDArray[np.int64]) -> NDArray[np.int64]:
    from pymatgen.core import Composition

    atoms = np.array([Composition(formula).num_atoms for formula in formulas])
    return np.maximum(np.rint(nsites / atoms), 1).astype(np.int64)


def _validate(table: DFTTable) -> None:
    if len(table._rows) < len(table):
        raise MatPCRError("a material_id occurs twice: keep one row per material")
    for name in ("nsites", "formula_units"):
        bad = np.flatnonzero(getattr(table, name) < 1)
        if len(bad):
            i = bad[0]
            raise MatPCRError(
                f"{name} = {getattr(table, name)[i]} of {table.material_id[i]} must be at least 1"
            )
    limits = {"energy_above_hull": np.inf, "energy_above_hull_recent": np.inf, "band_gap": 0.0}
    for name in NUMBER_COLUMNS:
        values = getattr(table, name)
        bad = np.flatnonzero(np.isinf(values) | (values < -limits.get(name, np.inf)))
        if len(bad):
            i = bad[0]
            raise MatPCRError(
                f"{name} = {values[i]} of {table.material_id[i]} is not possible: "
                "give a finite number (a gap is not negative), or NaN where it is missing"
            )
    unknown = set(table.match_quality) - set(MATCH_QUALITIES)
    if unknown:
        raise MatPCRError(
            f"unknown match_quality {str(min(unknown))!r}: use one of {', '.join(MATCH_QUALITIES)}"
        )


def _column(table: pa.Table, name: str) -> NDArray[Any]:
    column = table.column(name).combine_chunks()
    if name in TEXT_COLUMNS:
        return np.array(column.to_pylist())
    # Straight from the buffer: `to_numpy` would import pandas, which takes longer than the read.
    kind = np.int64 if name in COUNT_COLUMNS else np.float64
    return np.frombuffer(column.buffers()[1], kind, len(column), column.offset * 8)


def _or_none(value: np.float64) -> float | None:
    return None if np.isnan(value) else float(value)


class ShippedStructures(Mapping[str, "Structure"]):
    """The shipped structures by material id; the file is read on first use, each decoded once."""

    def __init__(self) -> None:
        self._decoded: dict[str, Structure] = {}

    @cached_property
    def _packed(self) -> tuple[dict[str, int], pa.Table]:
        table = store.read_table("structures.parquet").combine_chunks()
        ids = table.column("material_id").to_pylist()
        return {name: i for i, name in enumerate(ids)}, table

    def __getitem__(self, material_id: str) -> Structure:
        if material_id not in self._decoded:
            rows, table = self._packed
            self._decoded[material_id] = _decode(table, rows[material_id])
        return self._decoded[material_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._packed[0])

    def __len__(self) -> int:
        return len(self._packed[0])


def _decode(table: pa.Table, row: int) -> Structure:
    from pymatgen.core import Element, Lattice, Structure

    lattice, numbers, coords = (
        np.asarray(table.column(name)[row].as_py()) for name in ("lattice", "numbers", "coords")
    )
    species = [Element.from_Z(number) for number in numbers.tolist()]
    return Structure(Lattice(lattice.reshape(3, 3)), species, coords.reshape(-1, 3))
