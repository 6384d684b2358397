"""The percentile bootstrap of a ratio of sums, vectorised over resamples and cells.

A resample draws as many sources as there are, with replacement, and takes the ratio of the summed
numerators to the summed sizes (paper, Supplementary Note 1.4; Efron & Tibshirani 1993, chapter 13).
An item that shares its source with no other is a source of size 1.

Sources of one size make the sum of a resample a sum of independent draws of a small integer. Its
distribution is known: the power of one draw's characteristic function. A resample is then one
uniform number through the inverse of that distribution, and because the inverse is monotone only
the uniforms next to the tails are looked up. Sources of different sizes are drawn themselves.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: Sources drawn at once, for as many resamples as that makes: a batch stays in the cache.
BATCH = 100_000


def equal_sizes(
    shares: NDArray[np.float64],
    draws: NDArray[np.intp],
    *,
    resamples: int,
    level: float,
    seed: int,
) -> NDArray[np.float64]:
    """Percentile interval of a sum of independent draws of an integer, many cells at once.

    Parameters
    ----------
    shares : array, shape (cells, values)
        Probability of the values 0, 1, …, values − 1 in one draw.
    draws : array, shape (cells,)
        Sources of each cell, at least 1.
    resamples, level, seed
        As in `bootstrap`. All cells see the same uniform numbers, so that a cell's interval does
        not depend on the other cells.

    Returns
    -------
    array, shape (cells, 2)
        Lower and upper end of the sum, interpolated as by `numpy.quantile`.
    """
    uniforms = np.random.default_rng(seed).random(resamples)
    position = (resamples - 1) * _tails(level)
    below = np.floor(position).astype(int)
    ranks = np.stack([below, np.minimum(below + 1, resamples - 1)])
    uniforms.partition(np.unique(ranks))

    length = int(draws.max()) * (shares.shape[1] - 1) + 1
    spectrum = np.fft.rfft(shares, n=length, axis=-1) ** draws[:, None]
    cumulative = np.cumsum(np.fft.irfft(spectrum, n=length, axis=-1), axis=-1)
    sums = [
        [(cumulative < uniforms[rank]).sum(axis=-1) for rank in neighbours] for neighbours in ranks
    ]
    low, high = np.minimum(np.moveaxis(np.array(sums), -1, 0), length - 1).transpose(1, 0, 2)
    return low + (position - below) * (high - low)


def unequal_sizes(
    sums: NDArray[np.float64],
    sizes: NDArray[np.float64],
    *,
    resamples: int,
    level: float,
    seed: int,
) -> NDArray[np.float64]:
    """Percentile interval of the ratio of sums over resampled sources, many cells at once.

    Parameters
    ----------
    sums, sizes : array, shape (cells, sources)
        Numerator and denominator of each source; sizes are above 0.
    resamples, level, seed
        As in `bootstrap`. All cells see the same draws.

    Returns
    -------
    array, shape (cells, 2)
        Lower and upper end of the ratio.
    """
    cells, sources = sums.shape
    # A fixed order of the sources makes the result independent of the order of the items.
    order = np.lexsort((sums, sizes), axis=-1)
    sums, sizes = (np.take_along_axis(part, order, -1) for part in (sums, sizes))
    rng = np.random.default_rng(seed)
    ratios = np.empty((cells, resamples))
    step = max(1, BATCH // sources)
    for start in range(0, resamples, step):
        rows = min(step, resamples - start)
        picks = rng.integers(sources, size=(rows, sources))
        for cell in range(cells):
            total, size = (np.take(part[cell], picks).sum(-1) for part in (sums, sizes))
            ratios[cell, start : start + rows] = total / size
    return np.quantile(ratios, _tails(level), axis=-1).T


def _tails(level: float) -> NDArray[np.float64]:
    return np.array([(1 - level) / 2, (1 + level) / 2])
