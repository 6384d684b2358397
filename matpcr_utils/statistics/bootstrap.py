"""Percentile bootstrap of PCR over items or their sources, and of a paired difference."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from matpcr_utils.errors import MatPCRError
from matpcr_utils.statistics import resampling
from matpcr_utils.statistics._inputs import as_codes, as_outcomes, as_passed, check_resampling
from matpcr_utils.statistics.rates import Rate, rate

METHOD_ITEMS = "percentile bootstrap over items"
METHOD_SOURCES = "percentile bootstrap over sources"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bootstrap:
    """A bootstrap interval and all that reproduces it.

    Attributes
    ----------
    estimate : float or None
        The statistic of the items themselves; None without an item.
    lower, upper : float
        Ends of the interval; the whole range when there is no item.
    n, n_sources : int
        Items, and independent sources among them.
    resamples, seed : int
    method : str
        What was resampled.
    level : float
        Confidence level.
    degenerate : bool
        No resample can differ from another (all items agree, or there is one source): the interval
        has no width and says nothing about the sampling error.
    """

    estimate: float | None
    lower: float
    upper: float
    n: int
    n_sources: int
    resamples: int
    seed: int
    method: str
    level: float
    degenerate: bool

    def __str__(self) -> str:
        if self.estimate is None:
            return "no cases"
        ends = f"{self.estimate:.4f} [{self.lower:.4f}, {self.upper:.4f}], n = {self.n}"
        if self.n_sources != self.n:
            ends += f" from {self.n_sources} sources"
        return ends + (" (degenerate: the interval collapses)" if self.degenerate else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrapRate(Bootstrap):
    """Interval of a rate; `count` of the `n` items passed."""

    count: int

    def beside(self, method: str = "wilson") -> Rate:
        """A closed-form interval, which keeps its width where the bootstrap collapses.

        Parameters
        ----------
        method : {"wilson", "clopper-pearson"}

        Raises
        ------
        MatPCRError
            If items share sources and do not all agree: the closed forms assume independent items,
            and would be too narrow.

        Notes
        -----
        When all items agree, a source that several items share counts once.
        """
        if self.count in (0, self.n):
            return rate(self.n_sources if self.count else 0, self.n_sources, method, self.level)
        if self.n_sources == self.n:
            return rate(self.count, self.n, method, self.level)
        raise MatPCRError(
            f"{method} needs independent items, but {self.n} items share {self.n_sources} sources: "
            "read the bootstrap over sources, or judge one item a source"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrapDifference(Bootstrap):
    """Interval of ``rate after − rate before``, items paired; `before` and `after` passed."""

    before: int
    after: int


def bootstrap(
    passed: ArrayLike,
    sources: Iterable[Any] | None = None,
    *,
    resamples: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
) -> BootstrapRate:
    """Share of items that passed, with its percentile bootstrap interval.

    Parameters
    ----------
    passed : array of bool, shape (items,)
        The checkable items: True when the item passed.
    sources : iterable of hashable, one an item, optional
        What each item was made from (a pattern, an image, a material; or the item of which this is
        one of several seeds). Items of one source are drawn together. None: every item is its own.
    resamples : int
        Resamples of the bootstrap; the paper takes 10,000 (section 4.9).
    level : float
        Confidence level in (0, 1).
    seed : int
        Seed of the draws, recorded in the result.

    Raises
    ------
    MatPCRError
        If `passed` is not boolean, the lengths differ or a parameter lies outside its range.

    Notes
    -----
    Paper, Supplementary Note 1.4. Sources are drawn with replacement, and a resample's rate is the
    ratio of the sums, so that an item weighs the same whatever the size of its source. With n
    independent items the number that pass in a resample is one binomial draw.
    """
    check_resampling(resamples, level, seed)
    values = as_passed(passed)
    sums, sizes = _per_source(values.astype(np.int64), sources)
    (ends,) = intervals([(sums, sizes)], (0, 1), resamples=resamples, level=level, seed=seed)
    return BootstrapRate(
        estimate=float(values.mean()) if len(values) else None,
        count=int(values.sum()),
        **_common(ends, sums, sizes, sources, resamples, level, seed),
    )


def bootstrap_pcr(
    outcomes: Iterable[str],
    sources: Iterable[Any] | None = None,
    *,
    resamples: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
) -> BootstrapRate:
    """Physical-consistency rate of verdicts (paper, section 4.5) with its bootstrap interval.

    Parameters
    ----------
    outcomes : iterable of str
        ``"consistent"``, ``"violation"`` or ``"abstain"``, one an item; an item that only abstains
        is not checkable and takes no part.
    sources, resamples, level, seed
        As in `bootstrap`.
    """
    words = as_outcomes(outcomes)
    checkable = words != "abstain"
    if sources is not None:
        sources = as_codes(sources, len(words))[checkable]
    return bootstrap(
        words[checkable] == "consistent", sources, resamples=resamples, level=level, seed=seed
    )


def bootstrap_counts(
    counts: ArrayLike, n: ArrayLike, *, resamples: int = 10_000, level: float = 0.95, seed: int = 0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lower and upper ends for many cells of independent items at once.

    Parameters
    ----------
    counts, n : array of int, shapes that broadcast
        Items that passed, and items, of each cell.
    resamples, level, seed
        As in `bootstrap`, which gives the same ends for each cell alone.

    Returns
    -------
    lower, upper : array of float, the broadcast shape
        0 and 1 for a cell without an item.
    """
    check_resampling(resamples, level, seed)
    counts, n = np.broadcast_arrays(np.asarray(counts), np.asarray(n))
    if counts.dtype.kind not in "iu" or n.dtype.kind not in "iu":
        raise MatPCRError("counts and n must be whole numbers")
    wrong = (counts < 0) | (counts > n)
    if wrong.any():
        raise MatPCRError(
            f"count {counts[wrong][0]} must lie between 0 and n = {n[wrong][0]}, in every cell"
        )
    ends = np.empty((*n.shape, 2))
    ends[...] = (0.0, 1.0)
    filled = n > 0
    if filled.any():
        draws = n[filled].astype(np.intp)
        passing = counts[filled] / draws
        sums = resampling.equal_sizes(
            np.stack([1 - passing, passing], axis=-1),
            draws,
            resamples=resamples,
            level=level,
            seed=seed,
        )
        ends[filled] = sums / draws[:, None]
    return ends[..., 0], ends[..., 1]


def bootstrap_difference(
    before: ArrayLike,
    after: ArrayLike,
    sources: Iterable[Any] | None = None,
    *,
    resamples: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
) -> BootstrapDifference:
    """Change of the rate from `before` to `after` on the same items, items or sources resampled.

    Parameters
    ----------
    before, after : array of bool, shape (items,)
        Whether each item passed; the same items in the same order.
    sources, resamples, level, seed
        As in `bootstrap`. An item keeps its pair in every resample.
    """
    check_resampling(resamples, level, seed)
    first, second = as_passed(before, "before"), as_passed(after, "after")
    if len(first) != len(second):
        raise MatPCRError(f"{len(first)} items before but {len(second)} after: give pairs")
    change = second.astype(np.int64) - first
    sums, sizes = _per_source(change, sources)
    (ends,) = intervals([(sums, sizes)], (-1, 1), resamples=resamples, level=level, seed=seed)
    return BootstrapDifference(
        estimate=float(change.mean()) if len(change) else None,
        before=int(first.sum()),
        after=int(second.sum()),
        **_common(ends, sums, sizes, sources, resamples, level, seed),
    )


def _per_source(
    values: NDArray[np.int64], sources: Iterable[Any] | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sum of the values and number of items of each source."""
    if sources is None:
        return values, np.ones(len(values), dtype=np.int64)
    codes = as_codes(sources, len(values))
    sums = np.bincount(codes, weights=values).astype(np.int64)
    return sums, np.bincount(codes).astype(np.int64)


def intervals(
    cells: Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]],
    value_range: tuple[int, int],
    *,
    resamples: int,
    level: float,
    seed: int,
) -> NDArray[np.float64]:
    """Ends of each cell's ratio of sums, the cells that can share their draws taken together.

    Parameters
    ----------
    cells : sequence of (sums, sizes)
        Sum of the values and number of items of each source of a cell.
    value_range : (int, int)
        Least and greatest value of one item; the ends of a cell without an item.
    resamples, level, seed
        As in `bootstrap`.

    Returns
    -------
    array, shape (cells, 2)
    """
    settings: dict[str, Any] = {"resamples": resamples, "level": level, "seed": seed}
    smallest, largest = value_range
    ends = np.empty((len(cells), 2))
    ends[:] = value_range
    alike: dict[tuple[str, int], list[int]] = {}
    for cell, (sums, sizes) in enumerate(cells):
        if not len(sums):
            continue
        equal = (sizes == sizes[0]).all()
        key = ("equal", int(sizes[0])) if equal else ("unequal", len(sums))
        alike.setdefault(key, []).append(cell)
    for (kind, size), members in alike.items():
        if kind == "unequal":
            sums, sizes = (np.stack([cells[i][part] for i in members]) for part in (0, 1))
            ends[members] = resampling.unequal_sizes(
                sums.astype(float), sizes.astype(float), **settings
            )
            continue
        draws = np.array([len(cells[i][0]) for i in members])
        values = (largest - smallest) * size + 1
        counted = [np.bincount(cells[i][0] - smallest * size, minlength=values) for i in members]
        total = resampling.equal_sizes(np.array(counted) / draws[:, None], draws, **settings)
        ends[members] = total / (draws * size)[:, None] + smallest
    return ends


def _common(
    ends: NDArray[np.float64],
    sums: NDArray[np.int64],
    sizes: NDArray[np.int64],
    sources: Iterable[Any] | None,
    resamples: int,
    level: float,
    seed: int,
) -> dict[str, Any]:
    n = int(sizes.sum())
    return {
        "lower": float(ends[0]),
        "upper": float(ends[1]),
        "n": n,
        "n_sources": len(sums),
        "resamples": int(resamples),
        "seed": int(seed),
        "method": METHOD_ITEMS if sources is None else METHOD_SOURCES,
        "level": float(level),
        "degenerate": is_degenerate(sums, sizes),
    }


def is_degenerate(sums: NDArray[np.int64], sizes: NDArray[np.int64]) -> bool:
    """Whether all sources have the same ratio, so that no resample differs."""
    return not len(sums) or bool((sums * sizes[0] == sums[0] * sizes).all())
