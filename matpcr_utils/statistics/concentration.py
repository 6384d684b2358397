"""Hoeffding's inequality: a bound on the sampling error that holds for every distribution."""

from __future__ import annotations

from math import ceil, log, sqrt

import numpy as np
from numpy.typing import ArrayLike

from matpcr_utils.errors import MatPCRError
from matpcr_utils.statistics._inputs import check_counts, check_level
from matpcr_utils.statistics.rates import Rate


def hoeffding_half_width(n: float, level: float = 0.95) -> float:
    """Half-width of the two-sided interval of a rate, sqrt(ln(2/α) / 2n) with α = 1 − level.

    Parameters
    ----------
    n : float
        Independent items. When items share sources, the number of sources of equal size, or
        `effective_sources` of unequal ones.
    level : float
        Confidence level in (0, 1).

    Raises
    ------
    MatPCRError
        If a parameter lies outside its range.

    Notes
    -----
    Hoeffding 1963, theorem 2; paper, Supplementary Note 1.5. At n = 90 and 95 % it is 0.1432.
    """
    check_level(level)
    if not 1 <= n < float("inf"):
        raise MatPCRError(f"n = {n} must be 1 or more independent items")
    return sqrt(log(2 / (1 - level)) / (2 * n))


def required_n(half_width: float, level: float = 0.95) -> int:
    """Least number of independent items whose Hoeffding half-width is at most `half_width`."""
    check_level(level)
    if not 0 < half_width < 1:
        raise MatPCRError(f"half-width {half_width} must lie strictly between 0 and 1, e.g. 0.1")
    n = max(1, ceil(log(2 / (1 - level)) / (2 * half_width**2)))
    # Rounding in the division may leave the ceiling one too high at an exact half-width.
    return n - 1 if n > 1 and hoeffding_half_width(n - 1, level) <= half_width else n


def effective_sources(sizes: ArrayLike) -> float:
    """Number of equal sources that bound the rate as well as sources of these sizes.

    Parameters
    ----------
    sizes : array of int, shape (sources,)
        Items of each source.

    Notes
    -----
    A rate over items weighs source g by w_g = m_g / Σm. Hoeffding's bound for a weighted sum has
    Σw² in the place of 1/n, so the effective number is (Σm)² / Σm²; for sources of one size it is
    their number.
    """
    counts = np.asarray(sizes, dtype=float)
    if counts.ndim != 1 or not len(counts) or not (counts > 0).all():
        raise MatPCRError("sizes must hold one positive number of items a source")
    return float(counts.sum() ** 2 / (counts**2).sum())


def hoeffding(count: int, n: int, n_sources: float | None = None, level: float = 0.95) -> Rate:
    """Share ``count / n`` with Hoeffding's interval, cut to [0, 1].

    Parameters
    ----------
    count, n : int
        Items that passed, and items.
    n_sources : float, optional
        Independent sources (or `effective_sources`) when items share them; at most `n`.
    level : float
        Confidence level in (0, 1).
    """
    count, n = check_counts(count, n)
    check_level(level)
    if n == 0:
        return Rate(0, 0, 0.0, 1.0, "hoeffding", level)
    independent = n if n_sources is None else n_sources
    if not 1 <= independent <= n:
        raise MatPCRError(f"{independent} sources must lie between 1 and n = {n}")
    half = hoeffding_half_width(independent, level)
    lower, upper = max(0.0, count / n - half), min(1.0, count / n + half)
    return Rate(count, n, lower, upper, "hoeffding", level)
