"""Cleaning a spectrum: axis, cosmic spikes, baseline, smoothing, noise."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from matpcr_utils.errors import MatPCRError

Array = NDArray[np.float64]

#: Standard deviation of a normal variable in units of its median absolute deviation.
_MAD_TO_SIGMA = 1.4826
#: Standard deviation of a normal variable in units of the lower quartile of its size.
_QUARTILE_TO_SIGMA = 3.1383
#: Largest share of a spike's height that its outer neighbours may reach, by the number of samples
#: in the spike: half of what a Gaussian line with a full width of two samples would show. That is
#: the narrowest line a sampled spectrum can carry (Nyquist), so a narrower one is no line.
_SPIKE_NEIGHBOUR = {1: 0.25, 2: 0.12, 3: 0.03}
#: Lag of the second difference that measures noise, in 1/cm: longer than the correlation that
#: detectors and file exports put into the readings (up to about 15 in the spectra shipped here).
_NOISE_LAG = 15.0
#: Share of the raw range below which a noise-free reading still counts as background.
_LEAST_BAND = 0.01


class HasSpectrum(Protocol):
    """Anything with a Raman shift axis and intensities, such as `references.spectra.Spectrum`."""

    @property
    def shift(self) -> Array: ...

    @property
    def intensity(self) -> Array: ...


def despike(intensity: Array, score: float = 7.0) -> tuple[Array, NDArray[np.bool_]]:
    """Replace cosmic-ray spikes by a straight line between their neighbours.

    Candidates are readings whose first difference has a large modified z-score (Whitaker and
    Hayes, Chemom. Intell. Lab. Syst. 179 (2018) 82). Alone, that score also marks every sharp
    Raman line of a quiet spectrum; so a candidate is a spike only when it is narrower than any
    line the sampling could carry.

    Parameters
    ----------
    intensity : ndarray, shape (n,)
    score : float

    Returns
    -------
    clean : ndarray, shape (n,)
    spike : ndarray of bool, shape (n,)
    """
    clean = np.array(intensity, np.float64)
    spike = np.zeros(len(clean), bool)
    places = np.arange(len(clean))
    # A spike beside a taller one is found in the next round.
    for _ in range(3):
        found = _spikes(clean, score)
        if not found.any():
            break
        spike |= found
        clean[spike] = np.interp(places[spike], places[~spike], clean[~spike])
    return clean, spike


def _spikes(values: Array, score: float) -> NDArray[np.bool_]:
    from scipy.ndimage import median_filter

    spike = np.zeros(len(values), bool)
    differences = np.diff(values)
    deviation = np.abs(differences - np.median(differences))
    # The noise of a strong band exceeds that of the rest: what counts is the larger scatter.
    nearby = median_filter(deviation, size=min(51, len(deviation) | 1), mode="nearest")
    limit = score * _MAD_TO_SIGMA * np.maximum(nearby, np.median(deviation))
    steep = deviation > limit
    rising, falling = steep & (differences > 0), steep & (differences < 0)
    padded = np.pad(values, 4, mode="edge")
    for samples, neighbour in _SPIKE_NEIGHBOUR.items():
        # A spike rises by one steep step before its first sample and falls by one after its last.
        first = np.flatnonzero(rising[: len(rising) - samples] & falling[samples:]) + 1
        window = padded[first[:, None] + np.arange(samples + 8)]
        inside = window[:, 4 : 4 + samples]
        ground = np.median(np.delete(window, range(3, 5 + samples), axis=1), axis=1)
        height = inside.max(axis=1) - ground
        beside = np.maximum(window[:, 3], window[:, 4 + samples]) - ground
        narrow = (beside < neighbour * height) & (inside.min(axis=1) - ground > 0.3 * height)
        spike[(first[narrow, None] + np.arange(samples)).ravel()] = True
        # A spike that hits a pixel off its centre leaves some of its charge in the next one.
        for side, column in ((first - 1, 3), (first + samples, 4 + samples)):
            charged = narrow & (window[:, column] - ground > limit[first - 1])
            spike[side[charged]] = True
    return spike


def ascending(spectrum: HasSpectrum) -> tuple[Array, Array]:
    """Ascending axis and intensities, or one clear line on what is wrong with them."""
    shift = np.asarray(spectrum.shift, np.float64)
    intensity = np.asarray(spectrum.intensity, np.float64)
    if shift.ndim != 1 or shift.shape != intensity.shape:
        raise MatPCRError(
            f"shift {shift.shape} and intensity {intensity.shape} must be one-dimensional and "
            "equally long"
        )
    for name, values in (("shift", shift), ("intensity", intensity)):
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
            raise MatPCRError(
                f"{name} holds {len(bad)} value(s) that are NaN or infinite, the first at index "
                f"{bad[0]}: drop or mend these points before the check"
            )
    steps = np.diff(shift)
    if len(shift) > 1 and (steps < 0).all():
        return shift[::-1], intensity[::-1]
    if not (steps > 0).all():
        raise MatPCRError(
            f"the Raman shift axis turns back or repeats at index {int(np.argmin(steps > 0)) + 1}: "
            "sort it and merge repeated points first"
        )
    return shift, intensity


def evenly_spaced(shift: Array, values: Array) -> tuple[Array, Array]:
    """The same curve on an even axis, by linear interpolation; untouched when already even."""
    steps = np.diff(shift)
    if np.allclose(steps, steps.mean(), rtol=1e-3, atol=0):
        return shift, values
    # The finer steps of a dispersive axis keep its narrowest lines; the cap keeps a few close
    # points from blowing up the grid.
    step = max(float(np.percentile(steps, 10)), (shift[-1] - shift[0]) / (4 * len(shift)))
    grid = np.linspace(shift[0], shift[-1], round((shift[-1] - shift[0]) / step) + 1)
    return grid, np.interp(grid, shift, values)


def gaps(shift: Array) -> Array:
    """Ends of the stretches longer than ten sampling steps without a point, shape (g, 2)."""
    steps = np.diff(shift)
    wide = np.flatnonzero(steps > 10 * np.median(steps))
    return np.column_stack([shift[wide], shift[wide + 1]])


def plateaus(shift: Array, values: Array) -> list[tuple[float, float]]:
    """Stretches of three or more equal readings that stand above what is around them."""
    from scipy.signal import find_peaks

    _, found = find_peaks(values, plateau_size=3)
    ends = zip(found["left_edges"], found["right_edges"], strict=True)
    return [(float(shift[a]), float(shift[b])) for a, b in ends]


def baseline_of(grid: Array, values: Array, length: float) -> Array:
    """Slow background below the bands, by penalised asymmetric least squares.

    psalsa (Oller-Moreno et al., 11th Int. Multi-Conference on Systems, Signals & Devices (2014))
    from `pybaselines`: a reading far above the fit loses its weight. How far is set by the noise,
    or by a small share of the range when there is none; methods that measure it from the fit
    itself stop too early on noise-free curves.

    Parameters
    ----------
    grid, values : ndarray, shape (n,)
        Even axis in 1/cm; intensities scaled to a range of 1.
    length : float
        1/cm; the Whittaker penalty is (length / sampling step)^4.
    """
    from pybaselines import Baseline

    step = grid[1] - grid[0]
    above = max(2 * float(np.median(local_noise(values, 1.0, step))), _LEAST_BAND)
    fitted, _ = Baseline(grid).psalsa(
        values, lam=(length / step) ** 4, p=0.5, k=above, max_iter=100, tol=1e-4
    )
    return np.asarray(fitted, np.float64)


def gaussian(values: Array, sigma: float, order: int = 0) -> Array:
    """Gaussian filter (or its derivative of that order), `sigma` in samples."""
    from scipy.ndimage import gaussian_filter1d

    return np.asarray(gaussian_filter1d(values, sigma, order=order, mode="nearest"), np.float64)


def local_noise(values: Array, sigma: float, step: float, window: float = 400.0) -> Array:
    """Standard deviation of the noise of a filtered signal, in a running window.

    From second differences over a lag longer than the filter and than the correlation of the
    readings, so that slopes and smooth exports don't hide it.

    Parameters
    ----------
    values : ndarray, shape (n,)
    sigma : float
        Of the filter that `values` went through, in samples.
    step, window : float
        1/cm.
    """
    from scipy.ndimage import median_filter

    lag = int(np.ceil(max(4 * sigma, _NOISE_LAG / step)))
    if len(values) <= 4 * lag:
        return np.zeros_like(values)
    second = np.abs(values[: -2 * lag] - 2 * values[lag:-lag] + values[2 * lag :])
    # The lower quartile holds even where bands fill most of the axis.
    overall = _QUARTILE_TO_SIGMA * float(np.percentile(second, 25))
    size = min(int(window / step) | 1, len(second) | 1)
    local = _MAD_TO_SIGMA * median_filter(second, size=size, mode="nearest")
    # A running median takes dense bands for noise, so it may not stray far from the overall value.
    local = np.pad(np.clip(local, overall, 1.5 * overall), lag, mode="edge")
    return np.asarray(local / np.sqrt(6.0), np.float64)
