"""From a measured spectrum to its bands: despiking, baseline, noise, maxima and shoulders.

A maximum of the raw readings says little: fluorescence slopes, cosmic rays and noise all make
maxima. Here a spectrum is *prepared* once, and what is left is described by numbers that an oracle
can put thresholds on: how far each maximum stands out (its prominence), how broad it is, and how
large the noise is around it.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from matpcr_utils.errors import MatPCRError
from matpcr_utils.references.spectrum_cleaning import (
    Array,
    HasSpectrum,
    ascending,
    baseline_of,
    despike,
    evenly_spaced,
    gaps,
    gaussian,
    local_noise,
    plateaus,
)

#: Prepared signals below this share of the range of the readings are errors of the baseline fit.
_ROUNDING = 1e-6
#: Readings whose range is below this share of their size are equal.
_EQUAL = 1e-12
#: Depth of a summit, as a share of the prominence, where there is no noise.
_SUMMIT = 0.03


#: Beyond these a setting is a slip: no spectrum is long enough for it to mean anything.
_LARGEST = {"spike_score": 1e6, "baseline_length": 1e4, "smoothing": 1e3, "widest": 1e5}


@dataclass(frozen=True)
class Preparation:
    """How a spectrum is prepared; every length is in 1/cm.

    Attributes
    ----------
    min_shift : float
        Below it the laser line and the edge of its filter rule the spectrum; not searched.
    spike_score : float
        Modified z-score of a first difference from which a reading can be a cosmic spike.
    baseline_length : float
        Length over which the baseline is stiff: structure much narrower is a band, much broader
        is background. The Whittaker penalty is (length / sampling step)^4.
    smoothing : float
        Standard deviation of the Gaussian filter; at least one sample.
    widest : float
        A maximum broader than this (at half its prominence) is luminescence, not a band.
    """

    min_shift: float = 100.0
    spike_score: float = 7.0
    baseline_length: float = 60.0
    smoothing: float = 1.5
    widest: float = 200.0

    def __post_init__(self) -> None:
        for name, top in _LARGEST.items():
            value = getattr(self, name)
            if not 0 < value <= top:
                raise MatPCRError(
                    f"{name} = {value} must be positive and at most {top:g}, e.g. "
                    f"{type(self).__dataclass_fields__[name].default:g}"
                )
        if not (np.isfinite(self.min_shift) and self.min_shift >= 0):
            raise MatPCRError(f"min_shift = {self.min_shift} must be 0 or more, in 1/cm, e.g. 100")


@dataclass(frozen=True)
class PreparedSpectrum:
    """A spectrum with everything an oracle needs to know about it.

    Signals share one ascending, evenly spaced axis that starts at `Preparation.min_shift` or at the
    first measured point above it. Intensities keep the unit of the spectrum.

    Attributes
    ----------
    measured_shift, measured : ndarray, shape (k,)
        The readings as they came, with the axis ascending.
    has_signal : bool
        False when all readings above `min_shift` are equal, spikes aside.
    shift, despiked, baseline, signal : ndarray, shape (n,)
        Axis; readings without spikes; background; smoothed difference of the two.
    noise : ndarray, shape (n,)
        Local standard deviation of `signal` where there is no band.
    spikes : ndarray, shape (k,)
        Raman shifts of the readings that were replaced.
    gaps : ndarray, shape (g, 2)
        Stretches without a measured point, more than ten sampling steps long.
    position, left, right : ndarray, shape (m,)
        Of each interior local maximum, ascending: its place, and the ends of its summit (the
        stretch that can't be told from the maximum, or the plateau of a saturated band).
    prominence, width, noise_at : ndarray, shape (m,)
        Of each maximum: prominence, full width at half prominence (1/cm), local noise.
    shoulder, shoulder_left, shoulder_right : ndarray, shape (s,)
        Places where the curve bends like a band but has no maximum of that height, and how far
        each reaches.
    shoulder_height, shoulder_noise : ndarray, shape (s,)
        Height of the Gaussian band with that curvature, and its noise.
    dynamic_range : float
        Prominence of the most prominent maximum; 0 when there is no signal.
    background_span : float
        Highest minus lowest value of the baseline.
    edge_rise : tuple of float
        How far the readings rise towards the low and the high end of the axis.
    """

    measured_shift: Array
    measured: Array
    has_signal: bool
    shift: Array
    despiked: Array
    baseline: Array
    signal: Array
    noise: Array
    spikes: Array
    gaps: Array
    position: Array
    left: Array
    right: Array
    prominence: Array
    width: Array
    noise_at: Array
    shoulder: Array
    shoulder_left: Array
    shoulder_right: Array
    shoulder_height: Array
    shoulder_noise: Array
    dynamic_range: float
    background_span: float
    edge_rise: tuple[float, float]


def prepare(spectrum: HasSpectrum, preparation: Preparation | None = None) -> PreparedSpectrum:
    """Despike a spectrum, take its baseline off and describe its maxima and shoulders.

    Parameters
    ----------
    spectrum : object with `shift` (1/cm) and `intensity`, both of shape (n,)
        The axis may fall or rise and need not be evenly spaced.
    preparation : Preparation, optional

    Raises
    ------
    MatPCRError
        If the arrays differ in length, hold NaN or infinity, have fewer than 16 points above
        `min_shift`, or if the axis neither rises nor falls strictly.

    Notes
    -----
    Smoothing is Gaussian: the one linear filter that never adds a maximum (Babaud et al., IEEE
    TPAMI 8 (1986) 26), where the side lobes of a polynomial filter would.
    """
    preparation = Preparation() if preparation is None else preparation
    measured_shift, measured = ascending(spectrum)
    keep = measured_shift >= preparation.min_shift
    if keep.sum() < 16:
        raise MatPCRError(
            f"{int(keep.sum())} points above min_shift = {preparation.min_shift:g} 1/cm: at least "
            "16 are needed; check that the axis is a Raman shift in 1/cm, or lower min_shift"
        )
    shift, intensity = measured_shift[keep], measured[keep]
    clean, spike = despike(intensity, preparation.spike_score)
    grid, despiked = evenly_spaced(shift, clean)
    span = float(np.ptp(despiked))
    has_signal = span > _EQUAL * float(np.abs(despiked).max())
    scaled = (despiked - despiked.min()) / span if has_signal else np.zeros_like(despiked)
    baseline = baseline_of(grid, scaled, preparation.baseline_length)
    sigma = max(preparation.smoothing / (grid[1] - grid[0]), 1.0)
    corrected = scaled - baseline
    if np.ptp(corrected) <= _ROUNDING:
        corrected = np.zeros_like(corrected)
    signal = gaussian(corrected, sigma)
    noise = local_noise(signal, sigma, grid[1] - grid[0])
    maxima = _maxima(grid, signal, noise)
    left, right = _widen(maxima.left, maxima.right, plateaus(shift, clean), preparation)
    shoulders = _shoulders(grid, corrected, signal, sigma, maxima, preparation.widest)
    strongest = maxima.prominence[maxima.width <= preparation.widest].max(initial=0.0)
    return PreparedSpectrum(
        measured_shift=measured_shift,
        measured=measured,
        has_signal=has_signal,
        shift=grid,
        despiked=despiked,
        baseline=baseline * span + despiked.min(),
        signal=signal * span,
        noise=noise * span,
        spikes=shift[spike],
        gaps=gaps(shift),
        position=maxima.position,
        left=left,
        right=right,
        prominence=maxima.prominence * span,
        width=maxima.width,
        noise_at=noise[maxima.at] * span,
        shoulder=shoulders.position,
        shoulder_left=shoulders.left,
        shoulder_right=shoulders.right,
        shoulder_height=shoulders.height * span,
        shoulder_noise=shoulders.noise * span,
        dynamic_range=float(strongest) * span,
        background_span=float(np.ptp(baseline)) * span,
        edge_rise=_edge_rises(gaussian(scaled, sigma) * span),
    )


class _Maxima(NamedTuple):
    at: NDArray[np.intp]
    position: Array
    left: Array
    right: Array
    prominence: Array
    width: Array


def _maxima(grid: Array, signal: Array, noise: Array) -> _Maxima:
    """Every interior local maximum with its prominence, width and summit."""
    from scipy.signal import find_peaks, peak_prominences, peak_widths

    step = grid[1] - grid[0]
    index, _ = find_peaks(signal)
    bases = peak_prominences(signal, index)
    prominence = bases[0]
    width = peak_widths(signal, index, rel_height=0.5, prominence_data=bases)[0] * step
    left, right = grid[index].copy(), grid[index].copy()
    # A maximum that the noise can make has no summit worth measuring.
    for i in np.flatnonzero(prominence > 4 * noise[index]):
        depth = min(max(2 * noise[index[i]] / prominence[i], _SUMMIT), 0.5)
        base = tuple(part[i : i + 1] for part in bases)
        ends = peak_widths(signal, index[i : i + 1], depth, prominence_data=base)[2:]
        left[i], right[i] = (grid[0] + step * end[0] for end in ends)
    position = grid[index] + step * _vertex(signal, index)
    return _Maxima(
        index, position, np.minimum(left, position), np.maximum(right, position), prominence, width
    )


def _vertex(signal: Array, index: NDArray[np.intp]) -> Array:
    """Offset, in samples, of the parabola through a maximum and its two neighbours."""
    before, top, after = signal[index - 1], signal[index], signal[index + 1]
    bend = before - 2 * top + after
    return np.where(bend < 0, 0.5 * (before - after) / np.where(bend < 0, bend, -1.0), 0.0)


def _widen(
    left: Array, right: Array, runs: list[tuple[float, float]], preparation: Preparation
) -> tuple[Array, Array]:
    """Summits that reach into a saturated plateau cover all of it."""
    left, right = left.copy(), right.copy()
    reach = 2 * preparation.smoothing
    for low, high in runs:
        if high - low <= preparation.widest:
            touching = (left <= high + reach) & (right >= low - reach)
            left[touching] = np.minimum(left[touching], low)
            right[touching] = np.maximum(right[touching], high)
    return left, right


class _Shoulders(NamedTuple):
    left: Array
    right: Array
    position: Array
    height: Array
    noise: Array


def _shoulders(
    grid: Array,
    corrected: Array,
    signal: Array,
    sigma: float,
    maxima: _Maxima,
    widest: float,
) -> _Shoulders:
    """Places that bend downwards like a band without standing out as a maximum.

    Minus the second derivative of a Gaussian band of height h and standard deviation s has its
    maximum, h / s^2, between two minima of -2 exp(-3/2) h / s^2 that lie s sqrt(3) away. Read
    backwards, this gives the height of a band that its neighbour hides.
    """
    from scipy.signal import find_peaks

    # The second derivative is noisier than the signal: a filter twice as wide.
    bend = -gaussian(corrected, 2 * sigma, order=2)
    error = local_noise(bend, 2 * sigma, grid[1] - grid[0])
    index, _ = find_peaks(bend)
    lows, _ = find_peaks(-bend)
    before = np.searchsorted(lows, index) - 1
    inner = (before >= 0) & (before + 1 < len(lows))
    index, before = index[inner], before[inner]
    start, end = lows[before], lows[before + 1]
    contrast = bend[index] - np.maximum(bend[start], bend[end])
    deviation = (end - start) / (2 * np.sqrt(3.0))
    scale = deviation**2 / (1 + 2 * np.exp(-1.5))
    # Nothing hidden can be taller than what is seen, or broader than a band.
    height = np.clip(contrast * scale, 0.0, np.maximum(signal[index], 0.0))
    height[2.355 * deviation * (grid[1] - grid[0]) > widest] = 0.0
    # A bend that carries a maximum of about its own height is a band in its own right.
    first = np.searchsorted(maxima.at, start)
    last = np.searchsorted(maxima.at, end, "right")
    tallest = np.array(
        [maxima.prominence[a:b].max(initial=0.0) for a, b in zip(first, last, strict=True)]
    )
    hidden = (tallest < 0.5 * height) & (height > 0)
    # It reaches half-way to where the curve bends most the other way.
    return _Shoulders(
        left=((grid[index] + grid[start]) / 2)[hidden],
        right=((grid[index] + grid[end]) / 2)[hidden],
        position=grid[index][hidden],
        height=height[hidden],
        noise=(error[index] * scale)[hidden],
    )


def _edge_rises(smooth: Array) -> tuple[float, float]:
    """Rise of the readings from the nearest minimum to each end of the axis."""
    rises = np.flatnonzero(np.diff(smooth) >= 0)
    falls = np.flatnonzero(np.diff(smooth) <= 0)
    first = rises[0] if len(rises) else len(smooth) - 1
    last = falls[-1] + 1 if len(falls) else 0
    return float(smooth[0] - smooth[first]), float(smooth[-1] - smooth[last])


_CACHE: OrderedDict[tuple[bytes, Preparation], PreparedSpectrum] = OrderedDict()
_CACHE_SIZE = 256


def prepared(spectrum: HasSpectrum, preparation: Preparation | None = None) -> PreparedSpectrum:
    """`prepare`, remembered by the content of the spectrum; the last 256 results are kept."""
    preparation = Preparation() if preparation is None else preparation
    content = blake2b(np.ascontiguousarray(spectrum.shift, np.float64).tobytes())
    content.update(np.ascontiguousarray(spectrum.intensity, np.float64).tobytes())
    key = content.digest(), preparation
    if key not in _CACHE:
        _CACHE[key] = prepare(spectrum, preparation)
        if len(_CACHE) > _CACHE_SIZE:
            _CACHE.popitem(last=False)
    return _CACHE[key]
