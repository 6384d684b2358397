"""PCR above what a guesser scores."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from matpcr_utils.errors import MatPCRError
from matpcr_utils.statistics import resampling
from matpcr_utils.statistics._inputs import as_codes, as_passed, check_resampling
from matpcr_utils.statistics.bootstrap import Bootstrap, bootstrap


@dataclass(frozen=True, slots=True, kw_only=True)
class ChanceCorrected(Bootstrap):
    """Interval of the chance-corrected rate: 0 as a guesser, 1 perfect, below 0 worse than chance.

    Attributes
    ----------
    pcr : float or None
        The rate before the correction.
    chance : float or None
        Mean chance-pass rate of the items. Without an item and its rate, `lower` is −∞: how far
        below 0 a rate can fall depends on the chance.
    """

    pcr: float | None
    chance: float | None


def chance_corrected(
    passed: ArrayLike,
    chance: ArrayLike,
    sources: Iterable[Any] | None = None,
    *,
    resamples: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
) -> ChanceCorrected:
    """Chance-corrected rate (PCR − c) / (1 − c) with its bootstrap interval.

    Parameters
    ----------
    passed : array of bool, shape (items,)
        The checkable items: True when the item passed.
    chance : float, or array of float, shape (items,)
        Chance-pass rate: how often a claim drawn from the plain prior passes, on the constraint as
        a whole or on each item's reference. Taken as known.
    sources, resamples, level, seed
        As in `bootstrap`.

    Raises
    ------
    MatPCRError
        If a chance is 1 (every claim passes: such an item cannot tell a model from a guesser), lies
        outside [0, 1], or the lengths differ.

    Notes
    -----
    The form of Cohen's κ (Educ. Psychol. Meas. 20, 37, 1960) with the guesser as the second rater.
    With one rate an item, c is their mean, and it is resampled together with the outcomes.
    """
    check_resampling(resamples, level, seed)
    values = as_passed(passed)
    rates = np.asarray(chance, dtype=float)
    if rates.ndim and rates.shape != values.shape:
        raise MatPCRError(
            f"{rates.size} chance rates for {len(values)} items: give one, or one an item"
        )
    outside = ~((rates >= 0) & (rates <= 1))
    if outside.any():
        raise MatPCRError(f"chance rate {rates[outside].flat[0]} must lie between 0 and 1")
    if (rates == 1).any():
        where = f"of {int((rates == 1).sum())} items " if rates.ndim else ""
        raise MatPCRError(
            f"chance rate {where}is 1: every claim passes, so passing says nothing; leave these out"
        )
    plain = bootstrap(values, sources, resamples=resamples, level=level, seed=seed)
    mean = float(rates.mean()) if rates.size else None
    degenerate = plain.degenerate
    estimate = None
    if mean is not None and plain.estimate is not None:
        estimate = (plain.estimate - mean) / (1 - mean)
    if mean is None:
        lower, upper = -np.inf, 1.0
    elif not rates.ndim or np.ptp(rates) == 0:
        # One chance for all is a linear change of scale, and moves the interval with it.
        lower = (plain.lower - mean) / (1 - mean)
        upper = (plain.upper - mean) / (1 - mean)
    else:
        codes = np.arange(len(values)) if sources is None else as_codes(sources, len(values))
        above = np.bincount(codes, weights=values - rates).astype(float)
        room = np.bincount(codes, weights=1 - rates).astype(float)
        degenerate = bool(np.ptp(above / room) == 0)
        (ends,) = resampling.unequal_sizes(
            above[None], room[None], resamples=resamples, level=level, seed=seed
        )
        lower, upper = float(ends[0]), float(ends[1])
    return ChanceCorrected(
        estimate=estimate,
        lower=lower,
        upper=upper,
        n=plain.n,
        n_sources=plain.n_sources,
        resamples=plain.resamples,
        seed=plain.seed,
        method=plain.method,
        level=plain.level,
        degenerate=degenerate,
        pcr=plain.estimate,
        chance=mean,
    )
