"""Before and after on the same items: exact McNemar test and the difference with its interval."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from matpcr_utils.errors import MatPCRError
from matpcr_utils.statistics._inputs import as_codes, as_passed, check_counts, check_level
from matpcr_utils.statistics.rates import rate


@dataclass(frozen=True, slots=True)
class Paired:
    """A paired comparison of two rates.

    Attributes
    ----------
    n : int
        Pairs.
    before, after : int
        Items that passed before and after.
    fixes, regressions : int
        Discordant pairs: failed then passed, and passed then failed.
    p_value : float
        Exact two-sided McNemar; 1.0 without a discordant pair.
    difference : float or None
        Rate after − rate before; None without a pair.
    lower, upper : float
        Ends of its interval; [-1, 1] without a pair.
    method : str
    level : float
    """

    n: int
    before: int
    after: int
    fixes: int
    regressions: int
    p_value: float
    difference: float | None
    lower: float
    upper: float
    method: str
    level: float

    def __str__(self) -> str:
        if self.difference is None:
            return "no pairs"
        return (
            f"{self.before / self.n:.4f} → {self.after / self.n:.4f}: {self.difference:+.4f} "
            f"[{self.lower:+.4f}, {self.upper:+.4f}], {self.fixes} fixes, "
            f"{self.regressions} regressions, n = {self.n}, p = {self.p_value:.2g}"
        )


def paired(before: ArrayLike, after: ArrayLike, level: float = 0.95) -> Paired:
    """Compare `before` with `after`, one boolean an item, the same items in the same order.

    Parameters
    ----------
    before, after : array of bool, shape (items,)
        Whether each item passed.
    level : float
        Confidence level of the difference.

    Raises
    ------
    MatPCRError
        If the values are not boolean or the lengths differ.

    Notes
    -----
    Pairs are taken as independent. When items share sources, the difference's interval is
    `bootstrap_difference` over sources.
    """
    first, second = as_passed(before, "before"), as_passed(after, "after")
    if len(first) != len(second):
        raise MatPCRError(f"{len(first)} items before but {len(second)} after: give pairs")
    return paired_counts(
        len(first),
        int(first.sum()),
        int((~first & second).sum()),
        int((first & ~second).sum()),
        level,
    )


def paired_counts(n: int, before: int, fixes: int, regressions: int, level: float = 0.95) -> Paired:
    """As `paired`, from the counts.

    Parameters
    ----------
    n, before : int
        Pairs, and those that passed before.
    fixes, regressions : int
        Failed then passed (at most ``n - before``), passed then failed (at most `before`).
    level : float
        Confidence level of the difference.

    Notes
    -----
    The test is the exact binomial test that a discordant pair is a fix or a regression with equal
    chance (paper, Supplementary Note 1.6; McNemar 1947). The interval is Newcombe's hybrid score
    interval for paired proportions (Statistics in Medicine 17, 2635, 1998, method 10), which stays
    in [-1, 1] and keeps its width when no pair regresses.
    """
    check_level(level)
    n = check_counts(n, n, "n")[1]
    before = check_counts(before, n, "before")[0]
    fixes = check_counts(fixes, n - before, "fixes", "n - before")[0]
    regressions = check_counts(regressions, before, "regressions", "before")[0]
    after = before + fixes - regressions
    lower, upper = _newcombe(n, before, fixes, regressions, level) if n else (-1.0, 1.0)
    return Paired(
        n=n,
        before=before,
        after=after,
        fixes=fixes,
        regressions=regressions,
        p_value=mcnemar(fixes, regressions),
        difference=(fixes - regressions) / n if n else None,
        lower=lower,
        upper=upper,
        method="exact McNemar; Newcombe 1998, method 10",
        level=level,
    )


def mcnemar(fixes: int, regressions: int) -> float:
    """Exact two-sided McNemar p value of the discordant pairs; 1.0 without one."""
    from statsmodels.stats.contingency_tables import mcnemar as exact_mcnemar

    if fixes + regressions == 0:
        return 1.0
    return float(exact_mcnemar([[0, fixes], [regressions, 0]], exact=True).pvalue)


def sign_flip(before: ArrayLike, after: ArrayLike, sources: Iterable[Any]) -> float:
    """Exact two-sided p value of `before` against `after` when pairs share sources.

    Parameters
    ----------
    before, after : array of bool, shape (items,)
        Whether each item passed; the same items in the same order.
    sources : iterable of hashable, one an item
        What each item was made from. Several seeds of one item have one source.

    Returns
    -------
    float
        1.0 when no source changes on balance.

    Notes
    -----
    Fisher's randomisation test. If nothing but chance tells before from after, exchanging the two
    within a source changes nothing, so the source's fixes less its regressions, d, are as likely
    −d; the sum over independent sources is compared with all 2^n choices of signs, by convolution.
    Where each source has one pair this is the exact McNemar test.
    """
    first, second = as_passed(before, "before"), as_passed(after, "after")
    if len(first) != len(second):
        raise MatPCRError(f"{len(first)} items before but {len(second)} after: give pairs")
    change = second.astype(np.int64) - first
    balance = np.bincount(as_codes(sources, len(change)), weights=change).astype(np.int64)
    sizes = np.abs(balance[balance != 0])
    chances = np.ones(1)
    for size in sizes:
        flipped = np.zeros(len(chances) + 2 * size)
        flipped[: len(chances)] += chances / 2
        flipped[2 * size :] += chances / 2
        chances = flipped
    sums = np.arange(len(chances)) - sizes.sum()
    return min(1.0, float(chances[np.abs(sums) >= abs(balance.sum())].sum()))


def _newcombe(
    n: int, before: int, fixes: int, regressions: int, level: float
) -> tuple[float, float]:
    after = before + fixes - regressions
    kept, failed = before - regressions, n - before - fixes
    first, second = (rate(passed, n, "wilson", level) for passed in (before, after))
    p_first, p_second = before / n, after / n
    correlation = 0.0
    margins = before * (n - before) * after * (n - after)
    if margins:
        covariance = kept * failed - fixes * regressions
        # Newcombe's continuity correction: a weak positive association counts as none.
        corrected = max(covariance - n / 2, 0) if covariance > 0 else covariance
        correlation = corrected / sqrt(margins)

    def spread(one: float, other: float) -> float:
        return sqrt(max(0.0, one**2 - 2 * correlation * one * other + other**2))

    difference = p_second - p_first
    lower = difference - spread(p_second - second.lower, first.upper - p_first)
    upper = difference + spread(second.upper - p_second, p_first - first.lower)
    return max(-1.0, lower), min(1.0, upper)
