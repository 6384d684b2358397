"""Rates with their intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from matpcr_utils.errors import MatPCRError
from matpcr_utils.statistics._inputs import as_codes, as_passed, check_level


@dataclass(frozen=True, slots=True)
class Rate:
    """A share of cases with a confidence interval.

    Attributes
    ----------
    count, n : int
        Cases that show the property, and all cases.
    lower, upper : float
        Ends of the interval; [0, 1] when there is no case.
    method : str
        How the interval was computed.
    level : float
        Confidence level.
    """

    count: int
    n: int
    lower: float
    upper: float
    method: str
    level: float

    @property
    def estimate(self) -> float | None:
        """count / n, or None when there is no case."""
        return self.count / self.n if self.n else None

    def __str__(self) -> str:
        if not self.n:
            return "no cases"
        return f"{self.estimate:.4f} [{self.lower:.4f}, {self.upper:.4f}], n = {self.n}"


_METHODS = {"clopper-pearson": "beta", "wilson": "wilson"}


def rate(count: int, n: int, method: str = "clopper-pearson", level: float = 0.95) -> Rate:
    """Share `count` / `n` with an interval.

    Parameters
    ----------
    count, n : int
        0 <= count <= n.
    method : {"clopper-pearson", "wilson"}
        Clopper–Pearson is exact (coverage at least `level`, also at 0 and n); Wilson is shorter,
        with coverage near `level` on average.
    level : float
        Confidence level in (0, 1).

    Raises
    ------
    MatPCRError
        If a parameter lies outside its range.

    Notes
    -----
    Both intervals are statsmodels' `proportion_confint`.
    """
    from statsmodels.stats.proportion import proportion_confint

    if not 0 <= count <= n:
        raise MatPCRError(f"count {count} must lie between 0 and n = {n}")
    if not 0 < level < 1:
        raise MatPCRError(f"confidence level {level} must lie strictly between 0 and 1, e.g. 0.95")
    if method not in _METHODS:
        raise MatPCRError(f"unknown interval {method!r}: choose one of {', '.join(_METHODS)}")
    if n == 0:
        return Rate(0, 0, 0.0, 1.0, method, level)
    lower, upper = proportion_confint(count, n, alpha=1 - level, method=_METHODS[method])
    return Rate(int(count), int(n), float(lower), float(upper), method, level)


def rate_by_source(passed: ArrayLike, sources: Iterable[Any], level: float = 0.95) -> Rate:
    """Share of cases that passed, with an interval that knows which cases share a source.

    Parameters
    ----------
    passed : array of bool, shape (cases,)
    sources : iterable of hashable, one a case
        What each case was made from. Several seeds of one item have one source.
    level : float
        Confidence level in (0, 1).

    Raises
    ------
    MatPCRError
        If `passed` is not boolean, or the lengths differ.

    Notes
    -----
    Clopper–Pearson with an effective number of cases: that of independent ones whose share would
    vary as much as the cases of one source let this one vary, less a correction for few sources
    (Korn & Graubard, Survey Methodology 24, 193, 1998). Where each source has one case it is
    Clopper–Pearson; where all cases agree each source counts once; a single source whose cases
    differ tells nothing. Its coverage holds with few cases, where percentile bootstraps are short.
    """
    from scipy.stats import t
    from statsmodels.stats.proportion import proportion_confint

    values = as_passed(passed)
    codes = as_codes(sources, len(values))
    n, n_sources = len(values), int(codes.max(initial=-1)) + 1
    count = int(values.sum())
    if n == n_sources:
        return rate(count, n, "clopper-pearson", level)
    method = "clopper-pearson with an effective number of cases"
    share = count / n
    residual = np.bincount(codes, weights=values - share)
    spread = float(residual @ residual)
    effective = float(n_sources)
    if 0 < count < n:
        if n_sources == 1:
            return Rate(count, n, 0.0, 1.0, method, level)
        effective = n if spread == 0 else min(n, share * (1 - share) * n**2 / spread)
        tail = (1 + check_level(level)) / 2
        effective *= (t.ppf(tail, n - 1) / t.ppf(tail, n_sources - 1)) ** 2
    ends = proportion_confint(share * effective, effective, alpha=1 - level, method="beta")
    return Rate(count, n, float(ends[0]), float(ends[1]), method, level)


def pcr(outcomes: Iterable[str], method: str = "wilson", level: float = 0.95) -> Rate:
    """Physical-consistency rate: checkable items without a violation (paper, section 4.5).

    Parameters
    ----------
    outcomes : iterable of str
        ``"consistent"``, ``"violation"`` or ``"abstain"``, one an item. An item that only
        abstains is not checkable and does not count.
    method, level
        As in `rate`.
    """
    counts = Counter(str(outcome) for outcome in outcomes)
    unknown = set(counts) - {"consistent", "violation", "abstain"}
    if unknown:
        raise MatPCRError(
            f"unknown outcome {', '.join(sorted(unknown))}: use consistent, violation or abstain"
        )
    consistent = counts["consistent"]
    return rate(consistent, consistent + counts["violation"], method, level)
