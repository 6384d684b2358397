"""Positive control and chance-pass rate of the stability oracle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from matpcr_utils.claims.model import Claim, ClaimTable
from matpcr_utils.controls import _dft as shared
from matpcr_utils.oracles import _dft
from matpcr_utils.oracles.stability import LABELS, Tolerances

if TYPE_CHECKING:
    import pandas as pd

CONSTRUCTION = (
    "Half of the true claims are labels (stable, unstable, metastable; one of those true at the "
    "stated thresholds), half are the reference's energy above the hull per atom, per formula unit "
    "or per cell. A label becomes one that is false at the same thresholds. A number moves to the "
    "other side of the near-hull threshold: up to 0.02–0.5 eV/atom above it, or down to at most "
    "nine tenths of it. Where no label is judged false (with abstain_near_hull), a number is "
    "planted instead."
)
PRIOR = "a fair coin over “stable” and “unstable”"
#: eV/atom; the ends of the log-uniform prior of claimed energies.
NUMBER_PRIOR = (1e-3, 1.0)
#: eV/atom; how far above the threshold a planted energy lies.
PLANTED_ABOVE = (0.02, 0.5)
#: The thresholds of the sensitivity grid, eV/atom.
GRID = (0.0, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2)

default_references = shared.default_references
gallery = partial(shared.gallery, "stability")
chance_of_numbers = partial(shared.chance_of_numbers, "stability")


def true_claims(
    references: Any, index: shared.Index, tolerances: Tolerances, rng: np.random.Generator
) -> ClaimTable:
    """One true claim about each ``references[index[i]]``: a label or its energy."""
    energy = _dft.column(references, "energy_above_hull", index)
    label = shared.one_of(_true_labels(energy, tolerances), rng)
    basis, atoms = shared.random_basis(references, index, rng)
    by_number = rng.random(len(index)) < 0.5
    return shared.statements("stability", LABELS, label, energy * atoms, basis, by_number)


def plant(
    claims: ClaimTable,
    references: Any,
    index: shared.Index,
    tolerances: Tolerances,
    rng: np.random.Generator,
) -> ClaimTable:
    """Turn every claim into a violation, as `CONSTRUCTION` says."""
    energy = _dft.column(references, "energy_above_hull", index)
    near = energy <= tolerances.threshold
    false = ~_true_labels(energy, tolerances)
    if tolerances.abstain_near_hull:
        false[near & (energy > tolerances.hull_tolerance), LABELS.index("unstable")] = False
    label = shared.one_of(false, rng)
    basis, atoms = shared.random_basis(references, index, rng)
    above = tolerances.threshold + rng.uniform(*PLANTED_ABOVE, len(index))
    below = tolerances.near_hull * rng.uniform(0, 0.9, len(index))
    by_number = (claims.label < 0) | (label < 0)
    value = np.where(near, above, below) * atoms
    return shared.statements("stability", LABELS, label, value, basis, by_number)


def draw_prior(references: Any, index: shared.Index, rng: np.random.Generator) -> ClaimTable:
    """One claim a row by a fair coin."""
    return shared.coin("stability", ("stable", "unstable"), len(index), rng)


def draw_number_prior(references: Any, index: shared.Index, rng: np.random.Generator) -> ClaimTable:
    """One energy per atom a row, log-uniform between the ends of `NUMBER_PRIOR`."""
    values = shared.log_uniform(*NUMBER_PRIOR, len(index), rng)
    return ClaimTable.numbers("energy_above_hull", values, "atom")


def eligible(references: Any, tolerances: Tolerances) -> NDArray[np.bool_]:
    """References with an energy above the hull."""
    return _dft.finite(_dft.column(references, "energy_above_hull"))


def sensitivity(
    thresholds: Sequence[float] = GRID,
    *,
    references: Any = None,
    tolerances: Tolerances | None = None,
    planted: float = 0.3,
    seed: int = 0,
) -> pd.DataFrame:
    """The control and the cost of the margin at several near-hull thresholds.

    Parameters
    ----------
    thresholds : sequence of float
        eV/atom.
    references : optional
        Default, all that the package ships.
    tolerances : Tolerances, optional
        The grid replaces their `near_hull`; the fixed truths keep it.
    planted, seed : float, int
        As for `controls.run`.

    Returns
    -------
    DataFrame
        A row a threshold: references at or below it; those among them that lie above the strict
        hull, in count and in share of all; missed and falsely flagged claims of the control, whose
        truths follow the threshold, and of one whose truths stay at `tolerances`.
    """
    import pandas as pd

    from matpcr_utils import controls

    references = default_references() if references is None else references
    base = Tolerances() if tolerances is None else tolerances
    energy = _dft.column(references, "energy_above_hull")
    known = int(np.isfinite(energy).sum())
    fixed = controls.run(
        "stability", planted=planted, references=references, tolerances=base, seed=seed
    )
    rows = []
    for threshold in thresholds:
        t = replace(base, near_hull=threshold)
        near = energy <= t.threshold
        off_hull = near & (energy > t.hull_tolerance)
        rows.append(
            {
                "near_hull (eV/atom)": threshold,
                "near-hull": int(near.sum()),
                "of them off the strict hull": int(off_hull.sum()),
                "admitted share": off_hull.sum() / known,
                **shared.errors("stability", references, t, fixed),
            }
        )
    return pd.DataFrame(rows)


def edges(tolerances: Tolerances | None = None) -> pd.DataFrame:
    """Verdicts on the edges of the thresholds."""
    t = Tolerances() if tolerances is None else tolerances
    just = 1e-6
    energies = (-0.01, -0.0, t.near_hull, t.threshold + just, t.metastable_max)
    cases: list[tuple[dict[str, float | None], Claim]] = [
        ({"energy_above_hull": energy}, Claim("stability", label))
        for energy in (*energies, t.metastable_max + just)
        for label in LABELS
    ]
    cases += [
        ({"energy_above_hull": None}, Claim("stability", "stable")),
        # Four atoms, two formula units: the same energy per atom, twice that per formula unit.
        ({"energy_above_hull": 0.0}, Claim("energy_above_hull", t.near_hull)),
        ({"energy_above_hull": 0.0}, Claim("energy_above_hull", 2 * t.near_hull)),
        (
            {"energy_above_hull": 0.0},
            Claim("energy_above_hull", 2 * t.near_hull, basis="formula_unit"),
        ),
        ({"energy_above_hull": 0.0}, Claim("energy_above_hull", 4 * t.near_hull, basis="cell")),
    ]
    return shared.edge_table("stability", cases, t)


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
    known = references.take(
        eligible(references, t) & np.isfinite(references.energy_above_hull_recent)
    )
    energy, recent = known.energy_above_hull, known.energy_above_hull_recent

    def labels(stable: NDArray[np.bool_]) -> ClaimTable:
        return ClaimTable.labels("stability", np.where(stable, "stable", "unstable"))

    statements = {
        "labels by the thresholds themselves": labels(energy <= t.threshold),
        "labels by the strict hull": labels(energy <= t.hull_tolerance),
        "labels by the recent database": labels(recent <= t.threshold),
        "energies of the recent database": ClaimTable.numbers("energy_above_hull", recent, "atom"),
        "energies rounded to two decimals": ClaimTable.numbers(
            "energy_above_hull", np.round(energy, 2), "atom"
        ),
        "energies per cell, called per atom": ClaimTable.numbers(
            "energy_above_hull", energy * known.nsites, "atom"
        ),
    }
    return shared.judged_table("stability", statements, known, t)


def _true_labels(energy: _dft.Floats, tolerances: Tolerances) -> NDArray[np.bool_]:
    """Which of `LABELS` are true of each energy at the thresholds; shape (n, 3)."""
    stable = energy <= tolerances.threshold
    off_hull = energy > tolerances.hull_tolerance
    return np.column_stack([stable, ~stable, off_hull & (energy <= tolerances.metastable_max)])
