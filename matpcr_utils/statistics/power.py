"""Power of the exact McNemar test: how often a change of a given size is found, and with how many.

Nothing is simulated. Of n independent pairs each is a fix with one chance and a regression with
another; the numbers of both are multinomial, and every pair of numbers that the test rejects is
added up.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from matpcr_utils.errors import MatPCRError
from matpcr_utils.statistics._inputs import check_share

#: Largest number of pairs: beyond it the test is no longer a question of numbers.
MAX_PAIRS = 5000


def mcnemar_power(n: int, fixes: float, regressions: float = 0.0, alpha: float = 0.05) -> float:
    """Chance that the exact two-sided McNemar test rejects at `alpha`.

    Parameters
    ----------
    n : int
        Independent pairs, up to `MAX_PAIRS`.
    fixes, regressions : float
        Chance that a pair is a fix, and a regression: shares of all pairs, not of those that
        violate or pass before. Together at most 1. With both equal the result is the test's size,
        which lies below `alpha` because the test is exact.
    alpha : float
        Of one test. For the smallest of m p values by Holm's correction, divide by m.

    Raises
    ------
    MatPCRError
        If a parameter lies outside its range.

    Notes
    -----
    With d = fixes + regressions, the discordant pairs are binomial(n, d), and of these the fixes
    are binomial with chance fixes / d (Connor, Biometrics 43, 207, 1987).
    """
    from scipy.stats import binom

    _check(n, fixes, regressions, alpha)
    discordant = fixes + regressions
    # Rejecting takes several discordant pairs; chances this small overflow scipy's ratios.
    if n == 0 or discordant < 1e-12:
        return 0.0
    sizes = np.arange(n + 1)
    least = _least(n, alpha)
    share = fixes / discordant
    # With `least` or more of one kind the test rejects; both tails, which never overlap.
    rejects = binom.sf(least - 1, sizes, share) + binom.cdf(sizes - least, sizes, share)
    return float(np.clip(binom.pmf(sizes, n, min(discordant, 1.0)) @ rejects, 0.0, 1.0))


def mcnemar_pairs(
    fixes: float, regressions: float = 0.0, power: float = 0.8, alpha: float = 0.05
) -> int | None:
    """Pairs that the test needs to have a power.

    Parameters
    ----------
    fixes, regressions, alpha
        As for `mcnemar_power`.
    power : float
        In (0, 1).

    Returns
    -------
    int or None
        None if `MAX_PAIRS` pairs are not enough, e.g. without a net change.

    Raises
    ------
    MatPCRError
        If a parameter lies outside its range.

    Notes
    -----
    Found by bisection: the number given has the power and its predecessor lacks it. Where nearly
    all pairs are discordant power grows in steps, and a few larger numbers may lack it again.
    """
    if not 0 < power < 1:
        raise MatPCRError(f"power {power} must lie strictly between 0 and 1, e.g. 0.8")
    if mcnemar_power(MAX_PAIRS, fixes, regressions, alpha) < power:
        return None
    low, high = 0, MAX_PAIRS
    while high - low > 1:
        middle = (low + high) // 2
        if mcnemar_power(middle, fixes, regressions, alpha) >= power:
            high = middle
        else:
            low = middle
    return high


@lru_cache(maxsize=64)
def _least(n: int, alpha: float) -> NDArray[np.int64]:
    """How many of 0, 1, ... n discordant pairs must be of one kind for a p value of `alpha`.

    One more than there are where no number is enough.
    """
    from scipy.stats import binom

    sizes = np.arange(n + 1)
    # The two-sided p value of k or more is twice the upper tail.
    least = binom.isf(alpha / 2, sizes, 0.5).astype(np.int64) + 1
    for step in (-1, 0):
        # The quantile may be one off where a tail meets alpha / 2 exactly.
        exact = 2 * binom.sf(least + step - 1, sizes, 0.5) <= alpha * (1 + 1e-12)
        least = np.where(exact & (2 * (least + step) > sizes), least + step, least)
    enough = 2 * binom.sf(least - 1, sizes, 0.5) <= alpha * (1 + 1e-12)
    return np.where(enough, least, sizes + 1)


def _check(n: int, fixes: float, regressions: float, alpha: float) -> None:
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or not 0 <= n <= MAX_PAIRS:
        raise MatPCRError(f"n = {n!r} must be a whole number from 0 to {MAX_PAIRS}")
    check_share(fixes, "fixes")
    check_share(regressions, "regressions")
    if fixes + regressions > 1 + 1e-12:
        raise MatPCRError(
            f"fixes {fixes} and regressions {regressions} are shares of all pairs: together they "
            "can't exceed 1"
        )
    if not 0 < alpha < 1:
        raise MatPCRError(f"alpha = {alpha} must lie strictly between 0 and 1, e.g. 0.05")
