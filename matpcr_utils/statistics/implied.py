"""The whole numbers behind published, rounded results of a paired comparison."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor

from matpcr_utils.errors import MatPCRError
from matpcr_utils.statistics.paired import mcnemar


@dataclass(frozen=True, slots=True)
class ImpliedCounts:
    """Counts that reproduce the published figures; fields as in `Paired`."""

    n: int
    before: int
    after: int
    fixes: int
    regressions: int
    p_value: float


@dataclass(frozen=True, slots=True)
class Implied:
    """All solutions within a stated search range.

    Attributes
    ----------
    solutions : tuple of ImpliedCounts
        Ordered by n, then by the counts.
    n_min, n_max : int
        Range of n that was searched, every number of it.
    max_regressions : int or None
        Greatest number of regressions that was tried; None: all that are possible.
    """

    solutions: tuple[ImpliedCounts, ...]
    n_min: int
    n_max: int
    max_regressions: int | None

    @property
    def unique(self) -> bool:
        """Whether exactly one set of counts fits within the range."""
        return len(self.solutions) == 1

    def __str__(self) -> str:
        limit = self.max_regressions
        tried = "any number of" if limit is None else "no" if limit == 0 else f"at most {limit}"
        return (
            f"{len(self.solutions)} fit with {self.n_min} ≤ n ≤ {self.n_max} "
            f"and {tried} regressions"
        )


def implied_counts(
    before: str,
    after: str,
    p_value: str,
    *,
    n_min: int = 1,
    n_max: int = 360,
    max_regressions: int | None = None,
) -> Implied:
    """Every set of whole numbers that gives two published rates and their exact McNemar p value.

    Parameters
    ----------
    before, after, p_value : str
        As printed: ``"0.434"``, ``"0.593"``, ``"7.6e-6"``. The digits state the rounding, so
        ``"0.590"`` is narrower than ``"0.59"``. A value half-way between two prints counts as
        either.
    n_min, n_max : int
        Numbers of pairs to search, both ends included.
    max_regressions : int, optional
        Greatest number of regressions to try; 0 when the source says that there was none.

    Raises
    ------
    MatPCRError
        If a figure does not read as a number in its range, or the search range is empty.

    Notes
    -----
    The more pairs, the more sets fit by accident: state the range beside the result.
    """
    first, second, p_range = (
        _rounding(text, name)
        for text, name in ((before, "before"), (after, "after"), (p_value, "p value"))
    )
    if not 1 <= n_min <= n_max:
        raise MatPCRError(f"search range {n_min} ≤ n ≤ {n_max} is empty: use 1 ≤ n_min ≤ n_max")
    if max_regressions is not None and max_regressions < 0:
        raise MatPCRError(f"max_regressions {max_regressions} must be 0 or more")
    p_low, p_high = (float(end) for end in p_range)
    exact = lru_cache(maxsize=None)(mcnemar)
    solutions = []
    for n in range(n_min, n_max + 1):
        for passed in _counts(first, n):
            for passed_after in _counts(second, n):
                gain = passed_after - passed
                most = min(passed, n - passed_after)
                if max_regressions is not None:
                    most = min(most, max_regressions)
                # At the same gain p grows with every fix that a regression takes back.
                for regressions in range(max(0, -gain), most + 1):
                    fixes = gain + regressions
                    p = exact(fixes, regressions)
                    if p > p_high:
                        break
                    if p >= p_low:
                        solutions.append(
                            ImpliedCounts(n, passed, passed_after, fixes, regressions, p)
                        )
    return Implied(tuple(solutions), n_min, n_max, max_regressions)


def _rounding(text: str, name: str) -> tuple[Fraction, Fraction]:
    """Ends of the numbers that print as `text`."""
    try:
        value = Decimal(text)
    except (InvalidOperation, TypeError, ValueError):
        value = Decimal("NaN")
    if not value.is_finite() or not 0 <= value <= 1 or isinstance(text, float):
        raise MatPCRError(
            f"{name} {text!r} must be a number from 0 to 1 as printed, in quotes, e.g. '0.434'"
        )
    half = Fraction(1, 2) * Fraction(10) ** int(value.as_tuple().exponent)
    return Fraction(value) - half, Fraction(value) + half


def _counts(ends: tuple[Fraction, Fraction], n: int) -> range:
    """Whole numbers whose share of n lies between the ends."""
    return range(max(0, ceil(ends[0] * n)), min(n, floor(ends[1] * n)) + 1)
