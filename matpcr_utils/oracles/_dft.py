"""What the three DFT-grounded oracles share: reading claims and reference columns as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from matpcr_utils.claims.model import (
    CONSTRAINTS,
    Claim,
    ClaimTable,
    basis_code,
    label_code,
    quantity_code,
)
from matpcr_utils.errors import MatPCRError
from matpcr_utils.oracles.base import Outcome, as_table, require_own

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

#: Converted claims are rounded to this many decimals, so that 50 meV or 0.15 eV per three atoms
#: meet an inclusive edge at 0.05 eV in spite of binary rounding.
DECIMALS = 12


def limit(name: str, value: Any, low: float, high: float, unit: str, example: float) -> None:
    """Refuse a tolerance that is not a number from `low` to `high`.

    Raises
    ------
    MatPCRError
        Naming the tolerance, its value, the limit and a value that works.
    """
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not (is_number and low <= float(value) <= high):
        raise MatPCRError(
            f"{name} = {value!r} must be a number from {low:g} to {high:g} {unit}, e.g. {example:g}"
        )


def switch(name: str, value: Any) -> None:
    """Refuse a switch that is neither True nor False."""
    if not isinstance(value, bool | np.bool_):
        raise MatPCRError(f"{name} = {value!r} must be True or False")


def table_of(
    claims: ClaimTable | Sequence[Claim], constraint: str, labels: Sequence[str]
) -> ClaimTable:
    """Columns of the claims, refused when one of them is not this oracle's to judge.

    Parameters
    ----------
    claims : ClaimTable or sequence of Claim
    constraint : str
        Its label quantity and its number quantity are the first and second of `CONSTRAINTS`.
    labels : sequence of str
        The labels that the label quantity may carry.

    Raises
    ------
    MatPCRError
        For another constraint's quantity, a label that it does not have, a label where a number
        belongs (or the reverse), and a number that is not finite.
    """
    try:
        table = as_table(claims)
    except KeyError as error:
        raise MatPCRError(
            f"unknown quantity, label or basis {error.args[0]!r} in a claim: the {constraint} "
            f"oracle judges {' and '.join(CONSTRAINTS[constraint])}, with labels "
            f"{', '.join(labels)}"
        ) from None
    require_own(table, constraint)
    by_label, by_number = CONSTRAINTS[constraint]
    number = table.label < 0
    judged = np.where(
        number,
        table.quantity == quantity_code(by_number),
        (table.quantity == quantity_code(by_label)) & _is_one_of(table.label, labels),
    )
    if not judged.all():
        row = int(np.argmin(judged))
        raise MatPCRError(
            f"claim {row} states {_said(table, row)}: the {constraint} oracle judges {by_label} "
            f"({', '.join(labels)}) and {by_number} (a number)"
        )
    broken = number & ~np.isfinite(table.value)
    if broken.any():
        row = int(np.argmax(broken))
        raise MatPCRError(
            f"claim {row} states {_said(table, row)}: a claimed number must be finite; "
            "drop the claim or give its number"
        )
    return table


def _is_one_of(codes: NDArray[np.int8], labels: Sequence[str]) -> Mask:
    found = codes == label_code(labels[0])
    for label in labels[1:]:
        found |= codes == label_code(label)
    return found


def _said(table: ClaimTable, row: int) -> str:
    claim = table.claim(row)
    return f"{claim.quantity} = {claim.value}"


def column(
    references: Any, name: str, index: NDArray[np.intp] | None = None, *, optional: bool = False
) -> Floats:
    """One number a claim from the references; NaN where the value is missing.

    Parameters
    ----------
    references : DFTTable or sequence of DFTEntry
        Anything with the column `name`, or a sequence of anything with the attribute `name`; an
        entry that is None has no value.
    name : str
    index : ndarray of int, optional
        Which reference each claim is about.
    optional : bool
        Take references without such a column or attribute as missing the value.

    Raises
    ------
    MatPCRError
        If the references do not have `name` and it is not optional.
    """
    values = getattr(references, name, None)
    if values is None:
        values = _from_entries(references, name, optional)
    array = np.asarray(values)
    if array.dtype == object:
        array = np.array([np.nan if v is None else v for v in array.tolist()], np.float64)
    array = array.astype(np.float64, copy=False)
    return array if index is None else array[index]


def _from_entries(references: Any, name: str, optional: bool) -> list[Any]:
    entries = references if isinstance(references, Sequence) else None
    if not optional and (
        entries is None or any(e is not None and not hasattr(e, name) for e in entries)
    ):
        raise MatPCRError(
            f"a reference has no {name}: give a DFT table or DFT entries, e.g. of references.dft"
        )
    if entries is None:
        return [None] * len(references)
    return [getattr(entry, name, None) for entry in entries]


def sizes(references: Any, index: NDArray[np.intp] | None = None) -> tuple[Floats, Floats]:
    """Atoms and formula units in each reference's cell; NaN where it does not say."""
    nsites = column(references, "nsites", index, optional=True)
    return nsites, column(references, "formula_units", index, optional=True)


def finite(values: Floats) -> Mask:
    """Where a reference value exists; an infinite one is no value."""
    return np.isfinite(values)


def rounded(values: Floats) -> Floats:
    """Claimed numbers to `DECIMALS` decimals; those too large to have decimals stay as they are."""
    with np.errstate(over="ignore"):
        result = np.round(values, DECIMALS)
    return np.where(np.isfinite(result), result, values)


def atoms_per(basis: NDArray[np.int8] | int, nsites: Floats, formula_units: Floats) -> Floats:
    """Atoms in what a number counts: 1, a formula unit or the cell.

    Parameters
    ----------
    basis : int or ndarray of int8
        Position in `BASES`; a missing basis (-1) counts as per atom.
    nsites, formula_units : ndarray of float
        Atoms and formula units in the reference's cell.

    Returns
    -------
    ndarray of float
        NaN where the reference does not say.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        cell = np.where(nsites > 0, nsites, np.nan)
        unit = cell / np.where(formula_units > 0, formula_units, np.nan)
    basis = np.asarray(basis)
    atoms = np.where(basis == basis_code("cell"), cell, 1.0)
    return np.where(basis == basis_code("formula_unit"), unit, atoms)


def decide(
    reasons: Mapping[str, Outcome], branches: Sequence[tuple[str, Mask]]
) -> NDArray[np.int8]:
    """Reason code of the first branch that holds in each row; the branches cover every row."""
    codes = {reason: code for code, reason in enumerate(reasons)}
    result = np.full(branches[0][1].shape, -1, np.int8)
    for reason, holds in reversed(branches):
        result = np.where(holds, np.int8(codes[reason]), result)
    return result
