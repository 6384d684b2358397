"""Positive control and chance-pass rate for spectra."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from matpcr_utils.claims.model import ClaimTable
from matpcr_utils.oracles.spectra import Tolerances
from matpcr_utils.references.bands import KNOWN_BANDS
from matpcr_utils.references.peaks import Preparation, PreparedSpectrum
from matpcr_utils.references.spectrum_table import SpectrumTable

#: A true claim is read off to within this many 1/cm.
READING_ERROR = 0.5
#: A planted claim is at least this many windows from everything that could pass for a band.
CLEARANCE = 1.2
#: A maximum of the raw readings can pass for a band when it stands out by so many times the noise.
VISIBLE = 6.0
#: Places for planted claims are laid out at this distance, 1/cm.
_SPACING = 0.5

CONSTRUCTION = (
    "A true claim is a band of the material from a standard or the literature (CWA 18133, ASTM "
    f"E1840, Ohsaka 1978), off by at most {READING_ERROR:g} cm⁻¹, the error of reading it off. A "
    "planted claim is drawn evenly from the places of the same axis that are more than "
    f"{CLEARANCE:g} windows from every known band of the material, strong or weak, from the top of "
    f"every maximum of the raw readings that stands out by {VISIBLE:g} times their noise, from "
    "every shoulder, from gaps and from the ends of the axis. Neither looks at the bands that the "
    "oracle accepts."
)
PRIOR = "Raman shift uniform over the measured axis of the spectrum"


@cache
def default_references() -> SpectrumTable:
    """All measured spectra that the package ships."""
    from matpcr_utils.references import spectra

    return SpectrumTable.from_spectra(spectra.load())


def known(references: SpectrumTable) -> list[NDArray[np.float64]]:
    """Known bands of each spectrum's material that lie inside its searched axis."""
    bands = []
    for spectrum, (low, high) in zip(references.spectra, references.searched, strict=True):
        entry = KNOWN_BANDS.get(getattr(spectrum, "sample", ""))
        shifts = np.array(entry.shifts if entry else ())
        bands.append(shifts[(shifts > low + READING_ERROR) & (shifts < high - READING_ERROR)])
    return bands


def _weak(references: SpectrumTable, number: int) -> NDArray[np.float64]:
    entry = KNOWN_BANDS.get(getattr(references.spectra[number], "sample", ""))
    return np.array(entry.weak if entry else (), np.float64)


def eligible(references: SpectrumTable, tolerances: Tolerances) -> NDArray[np.bool_]:
    """Spectra of a material with known bands and with room for a planted claim."""
    has_band = np.array([len(shifts) > 0 for shifts in known(references)])
    has_room = np.array([len(places) > 0 for places in _places(references, tolerances)])
    return has_band & has_room


def true_claims(
    references: SpectrumTable,
    index: NDArray[np.intp],
    tolerances: Tolerances,
    rng: np.random.Generator,
) -> ClaimTable:
    """A known band of each spectrum's material, with an error of reading."""
    bands = known(references)
    value = np.array([rng.choice(bands[i]) for i in index])
    error = rng.uniform(-READING_ERROR, READING_ERROR, len(index))
    return ClaimTable.numbers("raman_shift", value + error)


def plant(
    claims: ClaimTable,
    references: SpectrumTable,
    index: NDArray[np.intp],
    tolerances: Tolerances,
    rng: np.random.Generator,
) -> ClaimTable:
    """A place of each spectrum where nothing is; see `CONSTRUCTION`."""
    places = _places(references, tolerances)
    return ClaimTable.numbers("raman_shift", np.array([rng.choice(places[i]) for i in index]))


def draw_prior(
    references: SpectrumTable, index: NDArray[np.intp], rng: np.random.Generator
) -> ClaimTable:
    """A shift drawn evenly from each spectrum's axis."""
    low, high = references.axis[index].T
    return ClaimTable.numbers("raman_shift", rng.uniform(low, high))


def _places(references: SpectrumTable, tolerances: Tolerances) -> list[NDArray[np.float64]]:
    """Where a claim would be false, for each spectrum."""
    clearance = CLEARANCE * tolerances.window
    found = []
    for number, bands in enumerate(known(references)):
        spectrum = references.prepared[number]
        low, high = references.searched[number]
        places = np.arange(low + clearance, high - clearance, _SPACING)
        seen = spectrum.shoulder_height > VISIBLE * spectrum.shoulder_noise
        shoulders = np.column_stack([spectrum.shoulder_left, spectrum.shoulder_right])[seen]
        lines = np.concatenate([bands, _weak(references, number)])
        lines = np.column_stack([lines, lines])
        busy = np.concatenate([_visible(spectrum), lines, shoulders, spectrum.gaps])
        busy = busy[np.argsort(busy[:, 0])]
        # The farthest end of all stretches that start before a place, and the next start after it.
        reach = np.append(-np.inf, np.maximum.accumulate(busy[:, 1]))
        starts = np.append(busy[:, 0], np.inf)
        before = np.searchsorted(busy[:, 0], places, "right")
        away = np.minimum(places - reach[before], starts[before] - places)
        found.append(places[away > clearance])
    return found


def _visible(spectrum: PreparedSpectrum) -> NDArray[np.float64]:
    """Tops of the maxima of the raw readings, shape (m, 2): no despiking, no baseline.

    The top is the upper third of the maximum; of one broader than a band, only the summit counts.
    """
    from scipy.signal import find_peaks, peak_widths, savgol_filter

    shift = spectrum.measured_shift
    smooth = savgol_filter(spectrum.measured, 7, 2)
    noise = 1.4826 * np.median(np.abs(np.diff(smooth, 2))) / np.sqrt(6)
    maxima, _ = find_peaks(smooth, prominence=max(VISIBLE * noise, 1e-12))
    ends = peak_widths(smooth, maxima, rel_height=1 / 3)[2:]
    left, right = (np.interp(end, np.arange(len(shift)), shift) for end in ends)
    band = right - left < Preparation().widest
    return np.column_stack(
        [np.where(band, left, shift[maxima]), np.where(band, right, shift[maxima])]
    )
