"""Positive control and chance-pass rate of the magnetism oracle."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from matpcr_utils.claims.model import Claim, ClaimTable
from matpcr_utils.controls import _dft as shared
from matpcr_utils.oracles.magnetism import LABELS, Tolerances, moment_per_atom, trusted

if TYPE_CHECKING:
    import pandas as pd

CONSTRUCTION = (
    "Half of the true claims are labels (finite or zero net moment), half are the reference's "
    "moment, of either sign, per atom, per formula unit or per cell (the basis is stated). A "
    "label becomes the opposite one. A zero moment moves to 2–100 times the threshold. A finite "
    "one moves, at random, up or down by 0.3–1.5 orders of magnitude more than the tolerance, or "
    "to at most nine tenths of the threshold."
)
PRIOR = "a fair coin over “finite net moment” and “no net moment”"
#: μB/atom; the ends of the log-uniform prior of claimed moments.
NUMBER_PRIOR = (0.001, 10.0)
#: Orders of magnitude beyond the tolerance at which a planted moment lies.
PLANTED_BEYOND = (0.3, 1.5)
#: The thresholds of the sensitivity grid: μB/atom, and orders of magnitude.
FINITE_GRID = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
DECADE_GRID = (0.1, 0.3, 0.5, 1.0, 2.0)

default_references = shared.default_references
gallery = partial(shared.gallery, "magnetism")
chance_of_numbers = partial(shared.chance_of_numbers, "magnetism")


def true_claims(
    references: Any, index: shared.Index, tolerances: Tolerances, rng: np.random.Generator
) -> ClaimTable:
    """One true claim about each ``references[index[i]]``: a label or its moment."""
    moment = moment_per_atom(references, index)
    return _claims(moment > tolerances.finite_min, moment, references, index, None, rng)


def plant(
    claims: ClaimTable,
    references: Any,
    index: shared.Index,
    tolerances: Tolerances,
    rng: np.random.Generator,
) -> ClaimTable:
    """Turn every claim into a violation, as `CONSTRUCTION` says."""
    moment, n = moment_per_atom(references, index), len(index)
    finite = moment > tolerances.finite_min
    orders = tolerances.decade + rng.uniform(*PLANTED_BEYOND, n)
    # A threshold of zero leaves no scale of its own: then "above it" starts at 0.01 μB/atom.
    above = max(tolerances.finite_min, 0.01) * shared.log_uniform(2, 100, n, rng)
    below = tolerances.finite_min * rng.uniform(0, 0.9, n)
    moved = [moment * 10**orders, moment / 10**orders, below]
    kind = rng.integers(len(moved), size=n)
    value = np.where(finite, np.choose(kind, moved), above)
    return _claims(~finite, value, references, index, claims.label < 0, rng)


def draw_prior(references: Any, index: shared.Index, rng: np.random.Generator) -> ClaimTable:
    """One claim a row by a fair coin."""
    return shared.coin("magnetism", ("finite_net", "zero_net"), len(index), rng)


def draw_number_prior(references: Any, index: shared.Index, rng: np.random.Generator) -> ClaimTable:
    """One moment per atom a row, log-uniform between the ends of `NUMBER_PRIOR`."""
    values = shared.log_uniform(*NUMBER_PRIOR, len(index), rng)
    return ClaimTable.numbers("magnetization", values, "atom")


def eligible(references: Any, tolerances: Tolerances) -> NDArray[np.bool_]:
    """References with a magnetization and a number of atoms (and, if asked, a trusted match)."""
    known = np.isfinite(moment_per_atom(references))
    return known & trusted(references) if tolerances.require_match else known


def sensitivity(
    finite_grid: Sequence[float] = FINITE_GRID,
    decade_grid: Sequence[float] = DECADE_GRID,
    *,
    references: Any = None,
    tolerances: Tolerances | None = None,
    planted: float = 0.3,
    seed: int = 0,
) -> pd.DataFrame:
    """The control and the looseness of the oracle over a grid of threshold and decade.

    Parameters
    ----------
    finite_grid, decade_grid : sequence of float
        μB/atom, and orders of magnitude.
    references : optional
        Default, all that the package ships.
    tolerances : Tolerances, optional
        Where the fixed truths stay.
    planted, seed : float, int
        As for `controls.run`.

    Returns
    -------
    DataFrame
        A row a pair: references with a finite moment, in count and share; how often a log-uniform
        number passes; missed and falsely flagged claims of the control, whose truths follow the
        pair, and of one whose truths stay at `tolerances`.
    """
    import pandas as pd

    from matpcr_utils import controls

    references = default_references() if references is None else references
    moment = moment_per_atom(references)
    known = moment[np.isfinite(moment)]
    fixed = controls.run(
        "magnetism", planted=planted, references=references, tolerances=tolerances, seed=seed
    )
    rows = []
    for finite_min in finite_grid:
        for decade in decade_grid:
            t = Tolerances(finite_min, decade)
            passes = shared.chance_of_numbers(
                "magnetism", draws=10, references=references, tolerances=t, seed=seed
            )
            rows.append(
                {
                    "finite_min (μB/atom)": finite_min,
                    "decade": decade,
                    "finite": int((known > finite_min).sum()),
                    "finite share": (known > finite_min).mean(),
                    "chance-pass of numbers": passes.count / passes.n,
                    **shared.errors("magnetism", references, t, fixed),
                }
            )
    return pd.DataFrame(rows)


def edges(tolerances: Tolerances | None = None) -> pd.DataFrame:
    """Verdicts on the edges of the thresholds; the made-up cell holds four atoms."""
    t = Tolerances() if tolerances is None else tolerances
    just, cell = 1e-6, 4
    cases: list[tuple[dict[str, float | None], Claim]] = [
        ({"total_magnetization": cell * moment}, Claim("magnetism", label))
        for moment in (0.0, t.finite_min, t.finite_min + just)
        for label in LABELS
    ]
    one: dict[str, float | None] = {"total_magnetization": float(cell)}
    none: dict[str, float | None] = {"total_magnetization": 0.0}
    cases += [
        ({"total_magnetization": -float(cell)}, Claim("magnetism", "finite_net")),
        ({"total_magnetization": None}, Claim("magnetism", "zero_net")),
        (one, Claim("magnetization", t.factor, basis="atom")),
        (one, Claim("magnetization", t.factor + just, basis="atom")),
        (one, Claim("magnetization", max(1 / t.factor, t.finite_min + just), basis="atom")),
        (one, Claim("magnetization", t.finite_min, basis="atom")),
        (one, Claim("magnetization", -2.0, basis="formula_unit")),
        (one, Claim("magnetization", 4.0, basis="cell")),
        (one, Claim("magnetization", 2.0)),
        (one, Claim("magnetization", 2 * t.factor)),
        (none, Claim("magnetization", t.finite_min, basis="atom")),
        (none, Claim("magnetization", 2 * t.finite_min)),
        (none, Claim("magnetization", cell * t.finite_min + just)),
    ]
    return shared.edge_table("magnetism", cases, t)


def other_truths(references: Any = None, tolerances: Tolerances | None = None) -> pd.DataFrame:
    """How the oracle takes statements that are true in another sense than its own.

    Parameters
    ----------
    references : DFTTable, optional
        Default, all that the package ships.
    tolerances : Tolerances, optional

    Returns
    -------
    DataFrame
        A row a kind of statement: how many were made, abstained on and flagged.
    """
    references = default_references() if references is None else references
    t = Tolerances() if tolerances is None else tolerances
    known = references.take(np.isfinite(moment_per_atom(references)))
    total, moment = np.abs(known.total_magnetization), moment_per_atom(known)

    def labels(finite: NDArray[np.bool_]) -> ClaimTable:
        return ClaimTable.labels("magnetism", np.where(finite, "finite_net", "zero_net"))

    def numbers(values: NDArray[np.float64], basis: str | None) -> ClaimTable:
        return ClaimTable.numbers("magnetization", values, basis)

    statements = {
        "labels by the thresholds themselves": labels(moment > t.finite_min),
        "a moment wherever the cell has 0.5 μB": labels(total > 0.5),
        "a moment wherever the atom has 0.5 μB": labels(moment > 0.5),
        "moments per cell, called so": numbers(total, "cell"),
        "moments per cell, without a basis": numbers(total, None),
        "moments per cell, called per atom": numbers(total, "atom"),
        "moments rounded to one decimal": numbers(np.round(moment, 1), "atom"),
    }
    return shared.judged_table("magnetism", statements, known, t)


def _claims(
    finite: NDArray[np.bool_],
    moment: NDArray[np.float64],
    references: Any,
    index: shared.Index,
    by_number: NDArray[np.bool_] | None,
    rng: np.random.Generator,
) -> ClaimTable:
    """Labels and numbers, the latter in a random basis and of a random sign."""
    basis, atoms = shared.random_basis(references, index, rng)
    sign = rng.choice([-1.0, 1.0], len(index))
    if by_number is None:
        by_number = rng.random(len(index)) < 0.5
    label = np.where(finite, LABELS.index("finite_net"), LABELS.index("zero_net"))
    return shared.statements("magnetism", LABELS, label, sign * moment * atoms, basis, by_number)
