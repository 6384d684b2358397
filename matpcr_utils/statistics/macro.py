"""The mean of several rates, each group weighing the same, with its bootstrap interval."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from matpcr_utils.errors import MatPCRError
from matpcr_utils.statistics._inputs import as_codes, as_passed, check_resampling
from matpcr_utils.statistics.bootstrap import Bootstrap


@dataclass(frozen=True, slots=True, kw_only=True)
class MacroRate(Bootstrap):
    """Interval of the unweighted mean of the rates of `groups` groups."""

    groups: int


def bootstrap_macro(
    passed: ArrayLike,
    groups: Iterable[Any],
    sources: Iterable[Any] | None = None,
    *,
    resamples: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
) -> MacroRate:
    """Mean over groups of the share of items that passed.

    Parameters
    ----------
    passed : array of bool, shape (items,)
        The checkable items: True when the item passed.
    groups : iterable of hashable, one an item
        E.g. the constraint type. Each weighs the same, however many of its items could be judged.
    sources : iterable of hashable, one an item, optional
        As in `bootstrap`; drawn within each group, as many as the group has. None: every item is
        its own source.
    resamples, level, seed
        As in `bootstrap`.

    Raises
    ------
    MatPCRError
        If there is no item, the lengths differ or a parameter lies outside its range.

    Notes
    -----
    A stratified bootstrap (Efron & Tibshirani 1993, section 8.3). A source that serves two groups
    is drawn in each on its own, as if the groups were independent.
    """
    check_resampling(resamples, level, seed)
    values = as_passed(passed)
    if not len(values):
        raise MatPCRError("no item can be judged: a mean over groups needs one in each")
    group = as_codes(groups, len(values))
    source = np.arange(len(values)) if sources is None else as_codes(sources, len(values))
    rng = np.random.default_rng(seed)
    means, drawn, n_sources = [], np.zeros(resamples), 0
    for code in range(int(group.max()) + 1):
        own = group == code
        _, member = np.unique(source[own], return_inverse=True)
        sizes = np.bincount(member)
        sums = np.bincount(member, weights=values[own])
        times = rng.multinomial(len(sizes), np.full(len(sizes), 1 / len(sizes)), size=resamples)
        means.append(sums.sum() / sizes.sum())
        drawn += (times @ sums) / (times @ sizes)
        n_sources += len(sizes)
    lower, upper = np.quantile(drawn / len(means), [(1 - level) / 2, (1 + level) / 2])
    return MacroRate(
        estimate=float(np.mean(means)),
        lower=float(lower),
        upper=float(upper),
        n=len(values),
        n_sources=n_sources,
        resamples=int(resamples),
        seed=int(seed),
        method="percentile bootstrap over sources within groups",
        level=float(level),
        degenerate=bool(np.ptp(drawn) == 0),
        groups=len(means),
    )
