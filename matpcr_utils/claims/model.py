"""What a chain states: one claim, and many claims as columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: Every quantity that can be claimed, with its canonical unit.
CANONICAL_UNITS: dict[str, str] = {
    "two_theta": "degree",
    "d_spacing": "angstrom",
    "scattering_vector": "1/angstrom",
    "feature_size": "nm",
    "scale": "nm/pixel",
    "raman_shift": "1/cm",
    "stability": "label",
    "energy_above_hull": "eV/atom",
    "metallicity": "label",
    "band_gap": "eV",
    "magnetism": "label",
    "magnetization": "bohr magneton",
}

QUANTITIES: tuple[str, ...] = tuple(CANONICAL_UNITS)
LABELS: tuple[str, ...] = (
    "stable",
    "unstable",
    "metastable",
    "zero_gap",
    "nonzero_gap",
    "semimetal",
    "finite_net",
    "zero_net",
    "antiferromagnetic",
)
BASES: tuple[str, ...] = ("atom", "formula_unit", "cell")

#: The constraint types and the quantities each of them can check.
CONSTRAINTS: dict[str, tuple[str, ...]] = {
    "diffraction": ("two_theta", "d_spacing", "scattering_vector"),
    "microscopy": ("feature_size", "scale"),
    "spectra": ("raman_shift",),
    "stability": ("stability", "energy_above_hull"),
    "metallicity": ("metallicity", "band_gap"),
    "magnetism": ("magnetism", "magnetization"),
}


@dataclass(frozen=True, slots=True)
class Claim:
    """One checkable statement read out of a chain.

    Attributes
    ----------
    quantity : str
        A key of `CANONICAL_UNITS`.
    value : float or str
        In the canonical unit of the quantity; a label (one of `LABELS`) for label quantities.
    unit : str
        The canonical unit; ``"label"`` for labels.
    basis : str or None
        What a per-something number counts: ``"atom"``, ``"formula_unit"``, ``"cell"``, or None.
        An energy with another basis than ``"atom"`` is that many eV per basis, not per atom.
    span : tuple of int
        ``chain[span[0]:span[1]] == text``.
    text : str
        The words the claim was read from.
    """

    quantity: str
    value: float | str
    unit: str = ""
    basis: str | None = None
    span: tuple[int, int] = (0, 0)
    text: str = ""

    def __post_init__(self) -> None:
        if not self.unit:
            object.__setattr__(self, "unit", CANONICAL_UNITS[self.quantity])


_QUANTITY_CODE = {name: code for code, name in enumerate(QUANTITIES)}
_LABEL_CODE = {name: code for code, name in enumerate(LABELS)}
_BASIS_CODE = {name: code for code, name in enumerate(BASES)}


def quantity_code(name: str) -> int:
    """Code of a quantity in `ClaimTable.quantity`."""
    return _QUANTITY_CODE[name]


def label_code(name: str) -> int:
    """Code of a label in `ClaimTable.label`."""
    return _LABEL_CODE[name]


def basis_code(name: str | None) -> int:
    """Code of a basis in `ClaimTable.basis`; -1 for None."""
    return -1 if name is None else _BASIS_CODE[name]


@dataclass(frozen=True)
class ClaimTable:
    """Claims as columns, for the vectorised oracles.

    Attributes
    ----------
    quantity : ndarray of int8, shape (n,)
        Position in `QUANTITIES`.
    value : ndarray of float64, shape (n,)
        The number in canonical units; NaN where the claim is a label.
    label : ndarray of int8, shape (n,)
        Position in `LABELS`; -1 where the claim is a number.
    basis : ndarray of int8, shape (n,)
        Position in `BASES`; -1 for none.
    """

    quantity: NDArray[np.int8]
    value: NDArray[np.float64]
    label: NDArray[np.int8]
    basis: NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.quantity)

    @classmethod
    def from_claims(cls, claims: Iterable[Claim]) -> ClaimTable:
        """Gather `Claim` objects into columns, in order."""
        rows: Sequence[Claim] = list(claims)
        is_label = [isinstance(claim.value, str) for claim in rows]
        return cls(
            quantity=np.array([quantity_code(claim.quantity) for claim in rows], np.int8),
            value=np.array(
                [
                    np.nan if text else float(c.value)
                    for c, text in zip(rows, is_label, strict=True)
                ],
                np.float64,
            ),
            label=np.array(
                [
                    label_code(str(c.value)) if text else -1
                    for c, text in zip(rows, is_label, strict=True)
                ],
                np.int8,
            ),
            basis=np.array([basis_code(claim.basis) for claim in rows], np.int8),
        )

    @classmethod
    def numbers(
        cls, quantity: str, values: NDArray[np.float64], basis: str | None = None
    ) -> ClaimTable:
        """One number claim a row, all of the same quantity and basis."""
        values = np.asarray(values, np.float64)
        shape = values.shape
        return cls(
            quantity=np.full(shape, quantity_code(quantity), np.int8),
            value=values,
            label=np.full(shape, -1, np.int8),
            basis=np.full(shape, basis_code(basis), np.int8),
        )

    @classmethod
    def labels(cls, quantity: str, labels: Sequence[str] | NDArray[np.str_]) -> ClaimTable:
        """One label claim a row, all of the same quantity."""
        codes = np.array([label_code(str(label)) for label in labels], np.int8)
        return cls(
            quantity=np.full(codes.shape, quantity_code(quantity), np.int8),
            value=np.full(codes.shape, np.nan),
            label=codes,
            basis=np.full(codes.shape, -1, np.int8),
        )

    def take(self, rows: NDArray[np.intp] | NDArray[np.bool_]) -> ClaimTable:
        """The chosen rows, by position or mask."""
        return ClaimTable(self.quantity[rows], self.value[rows], self.label[rows], self.basis[rows])

    def claim(self, row: int) -> Claim:
        """One row as a `Claim` (without span and text)."""
        label = int(self.label[row])
        basis = int(self.basis[row])
        return Claim(
            quantity=QUANTITIES[int(self.quantity[row])],
            value=LABELS[label] if label >= 0 else float(self.value[row]),
            basis=BASES[basis] if basis >= 0 else None,
        )
