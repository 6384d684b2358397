"""Positive control and chance-pass rate of the metallicity oracle."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from matpcr_utils.claims.model import Claim, ClaimTable, basis_code
from matpcr_utils.controls import _dft as shared
from matpcr_utils.oracles import _dft
from matpcr_utils.oracles.metallicity import LABELS, Tolerances

if TYPE_CHECKING:
    import pandas as pd

CONSTRUCTION = (
    "Half of the true claims are labels (zero gap, nonzero gap), half are the reference's own band "
    "gap. A label becomes the opposite one (for a nonzero gap: zero gap or semimetal). A number "
    "moves across the whole abstention band: from zero to 0.05–8 eV above its upper end, from "
    "nonzero to at most nine tenths of its lower end. References inside the band carry no "
    "violation and are left out."
)
PRIOR = "a fair coin over “zero gap” and “nonzero gap”"
#: eV; the ends of the log-uniform prior of claimed gaps.
NUMBER_PRIOR = (0.01, 10.0)
#: eV; how far above the band a planted gap lies.
PLANTED_ABOVE = (0.05, 8.0)
#: The thresholds of the sensitivity grid, eV.
ZERO_GRID = (0.0, 0.01, 0.025, 0.05, 0.1)
NONZERO_GRID = (0.1, 0.15, 0.2, 0.3, 0.5)

default_references = shared.default_references
gallery = partial(shared.gallery, "metallicity")
chance_of_numbers = partial(shared.chance_of_numbers, "metallicity")


def true_claims(
    references: Any, index: shared.Index, tolerances: Tolerances, rng: np.random.Generator
) -> ClaimTable:
    """One true claim about each ``references[index[i]]``: a label or its gap."""
    gap = _dft.column(references, "band_gap", index)
    label = np.where(
        gap <= tolerances.zero_max, LABELS.index("zero_gap"), LABELS.index("nonzero_gap")
    )
    return _claims(label, gap, rng.random(len(index)) < 0.5)


def plant(
    claims: ClaimTable,
    references: Any,
    index: shared.Index,
    tolerances: Tolerances,
    rng: np.random.Generator,
) -> ClaimTable:
    """Turn every claim into a violation, as `CONSTRUCTION` says."""
    zero = _dft.column(references, "band_gap", index) <= tolerances.zero_max
    flat = rng.choice([LABELS.index("zero_gap"), LABELS.index("semimetal")], len(index))
    label = np.where(zero, LABELS.index("nonzero_gap"), flat)
    above = tolerances.nonzero_min + rng.uniform(*PLANTED_ABOVE, len(index))
    below = tolerances.zero_max * rng.uniform(0, 0.9, len(index))
    return _claims(label, np.where(zero, above, below), claims.label < 0)


def draw_prior(references: Any, index: shared.Index, rng: np.random.Generator) -> ClaimTable:
    """One claim a row by a fair coin."""
    return shared.coin("metallicity", ("zero_gap", "nonzero_gap"), len(index), rng)


def draw_number_prior(references: Any, index: shared.Index, rng: np.random.Generator) -> ClaimTable:
    """One gap a row, log-uniform between the ends of `NUMBER_PRIOR`."""
    return ClaimTable.numbers("band_gap", shared.log_uniform(*NUMBER_PRIOR, len(index), rng))


def eligible(references: Any, tolerances: Tolerances) -> NDArray[np.bool_]:
    """References with a gap outside the abstention band."""
    gap = _dft.column(references, "band_gap")
    return _dft.finite(gap) & ((gap <= tolerances.zero_max) | (gap >= tolerances.nonzero_min))


def sensitivity(
    zero_grid: Sequence[float] = ZERO_GRID,
    nonzero_grid: Sequence[float] = NONZERO_GRID,
    *,
    references: Any = None,
    tolerances: Tolerances | None = None,
    planted: float = 0.3,
    seed: int = 0,
) -> pd.DataFrame:
    """The control and the cost of the band over a grid of its two ends.

    Parameters
    ----------
    zero_grid, nonzero_grid : sequence of float
        eV; pairs with ``zero > nonzero`` are skipped.
    references : optional
        Default, all that the package ships.
    tolerances : Tolerances, optional
        Where the fixed truths stay.
    planted, seed : float, int
        As for `controls.run`.

    Returns
    -------
    DataFrame
        A row a pair: references excluded by the band, in count and share; gaps above 0 that count
        as zero; missed and falsely flagged claims of the control, whose truths follow the pair,
        and of one whose truths stay at `tolerances`.
    """
    import pandas as pd

    from matpcr_utils import controls

    references = default_references() if references is None else references
    gap = _dft.column(references, "band_gap")
    gap_known = gap[np.isfinite(gap)]
    fixed = controls.run(
        "metallicity", planted=planted, references=references, tolerances=tolerances, seed=seed
    )
    rows = []
    for zero in zero_grid:
        for nonzero in nonzero_grid:
            if zero > nonzero:
                continue
            excluded = (gap_known > zero) & (gap_known < nonzero)
            rows.append(
                {
                    "zero_max (eV)": zero,
                    "nonzero_min (eV)": nonzero,
                    "excluded": int(excluded.sum()),
                    "excluded share": excluded.mean(),
                    "small gaps called zero": int(((gap_known > 0) & (gap_known <= zero)).sum()),
                    **shared.errors("metallicity", references, Tolerances(zero, nonzero), fixed),
                }
            )
    return pd.DataFrame(rows)


def edges(tolerances: Tolerances | None = None) -> pd.DataFrame:
    """Verdicts on the edges of the thresholds."""
    t = Tolerances() if tolerances is None else tolerances
    just = 1e-6
    gaps = (0.0, t.zero_max, t.zero_max + just, t.nonzero_min - just, t.nonzero_min)
    cases: list[tuple[dict[str, float | None], Claim]] = [
        ({"band_gap": gap}, Claim("metallicity", label))
        for gap in gaps
        for label in ("zero_gap", "nonzero_gap")
    ]
    middle = (t.zero_max + t.nonzero_min) / 2
    cases += [
        ({"band_gap": 0.0}, Claim("metallicity", "semimetal")),
        ({"band_gap": None}, Claim("metallicity", "zero_gap")),
        ({"band_gap": 0.0}, Claim("band_gap", t.zero_max)),
        ({"band_gap": 0.0}, Claim("band_gap", middle)),
        ({"band_gap": 0.0}, Claim("band_gap", t.nonzero_min)),
        ({"band_gap": 1.0}, Claim("band_gap", 6.0)),
        ({"band_gap": 1.0}, Claim("band_gap", -1.0)),
    ]
    return shared.edge_table("metallicity", cases, t)


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
    known = references.take(np.isfinite(references.band_gap))
    gap = known.band_gap

    def labels(zero: NDArray[np.bool_]) -> ClaimTable:
        return ClaimTable.labels("metallicity", np.where(zero, "zero_gap", "nonzero_gap"))

    statements = {
        "labels by the thresholds themselves": labels(gap <= t.zero_max),
        "a gap wherever the number is above 0": labels(gap <= 0),
        "a metal wherever there is no gap of 0.5 eV": labels(gap < 0.5),
        "gaps rounded to one decimal": ClaimTable.numbers("band_gap", np.round(gap, 1)),
        "gaps half as large again": ClaimTable.numbers("band_gap", 1.5 * gap),
        "gaps ten times too large": ClaimTable.numbers("band_gap", 10 * gap),
    }
    return shared.judged_table("metallicity", statements, known, t)


def _claims(
    label: NDArray[np.intp], gap: NDArray[np.float64], by_number: NDArray[np.bool_]
) -> ClaimTable:
    basis = np.full(len(label), basis_code(None), np.int8)
    return shared.statements("metallicity", LABELS, label, gap, basis, by_number)
