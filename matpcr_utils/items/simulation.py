"""Powder patterns simulated from the lines of a real structure: profile, background and noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from matpcr_utils.items._sampling import salt_of

if TYPE_CHECKING:
    from matpcr_utils.references.lines import Lines

Array = NDArray[np.float64]

#: Degree on 2θ: range and step of a simulated scan.
WINDOW = (10.0, 90.0)
STEP = 0.02
#: Ranges of the drawn settings: full width at half maximum (degree), counts at the strongest
#: line and share of them in the background. Widths and counts are drawn log-uniformly.
FWHM = (0.08, 0.35)
PEAK_COUNTS = (400.0, 20_000.0)
BACKGROUND = (0.01, 0.08)
#: Degree; profiles are cut off here, where a Lorentzian has long left the noise.
_REACH = 6.0


@dataclass(frozen=True)
class Settings:
    """How a pattern is measured.

    Attributes
    ----------
    fwhm : float
        Degree on 2θ, of each component of the Kα doublet.
    peak_counts : float
        Expected counts of the strongest point above the background.
    background : float
        At the low end of the scan, as a share of `peak_counts`; it falls off towards high angles.
    noise_seed : int
    """

    fwhm: float
    peak_counts: float
    background: float
    noise_seed: int

    @classmethod
    def of(cls, name: str) -> Settings:
        """Settings drawn from a name alone, so that the same id always shows the same pattern."""
        rng = np.random.default_rng([salt_of(name), 0xD1F])
        return cls(
            fwhm=float(np.exp(rng.uniform(*np.log(FWHM)))),
            peak_counts=float(np.exp(rng.uniform(*np.log(PEAK_COUNTS)))),
            background=float(rng.uniform(*BACKGROUND)),
            noise_seed=int(rng.integers(2**31)),
        )


def profile(lines: Lines, settings: Settings) -> tuple[Array, Array]:
    """Expected counts of a scan with unseparated copper Kα, without noise or background.

    Each line is two pseudo-Voigt peaks, half Lorentzian and half Gaussian, Kα1 twice as strong as
    Kα2.

    Returns
    -------
    two_theta, counts : ndarray of float, shape (n,)
        The highest count is `settings.peak_counts`.
    """
    from matpcr_utils.references.lines import CU_KALPHA1, CU_KALPHA2

    angle = np.arange(round((WINDOW[1] - WINDOW[0]) / STEP) + 1) * STEP + WINDOW[0]
    counts = np.zeros(len(angle))
    reach = round(_REACH / STEP)
    for wavelength, weight in ((CU_KALPHA1, 2 / 3), (CU_KALPHA2, 1 / 3)):
        for centre, height in zip(lines.two_theta(wavelength), lines.intensity, strict=True):
            if np.isnan(centre) or not WINDOW[0] - 1 < centre < WINDOW[1] + 1:
                continue
            middle = round((centre - WINDOW[0]) / STEP)
            part = slice(max(0, middle - reach), middle + reach + 1)
            away = 2 * (angle[part] - centre) / settings.fwhm
            shape = 0.5 / (1 + away**2) + 0.5 * np.exp(-np.log(2) * away**2)
            counts[part] += weight * height * shape
    return np.asarray(angle, np.float64), counts * (settings.peak_counts / counts.max())


def scan(lines: Lines, settings: Settings) -> tuple[Array, Array]:
    """A simulated measurement: `profile` on a background, with the noise of counting."""
    angle, counts = profile(lines, settings)
    falling = settings.background * settings.peak_counts
    expected = counts + falling * (0.3 + 0.7 * np.exp(-(angle - WINDOW[0]) / 15))
    rng = np.random.default_rng(settings.noise_seed)
    return angle, rng.poisson(expected).astype(np.float64)
