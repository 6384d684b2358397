"""What the statistics accept: one clear line for what they do not."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from matpcr_utils.errors import MatPCRError

OUTCOMES = ("consistent", "violation", "abstain")


def check_level(level: float) -> float:
    """A confidence level strictly between 0 and 1."""
    if not 0 < level < 1:
        raise MatPCRError(f"confidence level {level} must lie strictly between 0 and 1, e.g. 0.95")
    return float(level)


def check_share(value: float, name: str) -> float:
    """A probability; NaN is none."""
    if not 0 <= value <= 1:
        raise MatPCRError(f"{name} {value} must lie between 0 and 1")
    return float(value)


def check_counts(count: int, n: int, name: str = "count", of: str = "n") -> tuple[int, int]:
    """Whole numbers with 0 <= count <= n."""
    for value, label in ((count, name), (n, of)):
        if not isinstance(value, Integral) or isinstance(value, bool):
            raise MatPCRError(f"{label} {value!r} must be a whole number")
    if not 0 <= count <= n:
        raise MatPCRError(f"{name} {count} must lie between 0 and {of} = {n}")
    return int(count), int(n)


def check_resampling(resamples: int, level: float, seed: int) -> None:
    """Enough resamples to reach the tails, and a seed that can be written down."""
    check_level(level)
    if not isinstance(resamples, Integral):
        raise MatPCRError(f"{resamples!r} resamples must be a whole number, 10000 as a rule")
    # The leeway is for rounding: the number that the message names must be enough.
    if resamples * (1 - level) / 2 < 1 - 1e-9:
        needed = int(np.ceil(2 / (1 - level) - 1e-9))
        raise MatPCRError(
            f"{resamples} resamples do not reach the tails of a {level:g} interval: "
            f"use at least {needed}, 10000 as a rule"
        )
    if not isinstance(seed, Integral) or isinstance(seed, bool) or seed < 0:
        raise MatPCRError(f"seed {seed!r} must be a whole number, 0 or more")


def as_passed(passed: ArrayLike, name: str = "passed") -> NDArray[np.bool_]:
    """One boolean an item; 0 and 1 count as such, anything else is an error."""
    values = np.asarray(passed)
    if values.ndim != 1:
        raise MatPCRError(f"{name} has {values.ndim} dimensions: give one value an item")
    if values.dtype == bool:
        return values
    if values.size == 0:
        return values.astype(bool)
    if values.dtype.kind not in "iuf" or not np.isin(values, (0, 1)).all():
        wrong = next(value for value in values.tolist() if value not in (0, 1))
        raise MatPCRError(
            f"{name} holds {wrong!r}: give True or False an item, and leave out the items that "
            "cannot be checked"
        )
    return values == 1


def as_codes(sources: Iterable[Any], n: int) -> NDArray[np.intp]:
    """Number of the source of each item, in order of first appearance."""
    import pandas as pd

    named = sources if isinstance(sources, np.ndarray) else pd.Series([*sources], dtype=object)
    if len(named) != n:
        raise MatPCRError(f"{len(named)} sources for {n} items: give one source an item")
    codes = pd.factorize(named)[0]
    if (codes < 0).any():
        raise MatPCRError(
            f"item {int(np.argmax(codes < 0))} has no source: give one, the item's own id if it "
            "shares none"
        )
    return codes


def as_outcomes(outcomes: Iterable[str]) -> NDArray[np.object_]:
    """Verdicts as text, of the three known words."""
    words = np.array([str(outcome) for outcome in outcomes], dtype=object)
    unknown = sorted(set(words.tolist()) - set(OUTCOMES))
    if unknown:
        raise MatPCRError(
            f"unknown outcome {', '.join(unknown)}: use consistent, violation or abstain"
        )
    return words
