"""Simulated curves for the cases at the edge of the criterion, and their verdicts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from matpcr_utils.claims.model import Claim
from matpcr_utils.oracles.spectra import Tolerances, check
from matpcr_utils.references.spectra import Spectrum

if TYPE_CHECKING:
    import pandas as pd

_AXIS = np.arange(100.0, 2001.0)


def _band(position: float, width: float, height: float) -> NDArray[np.float64]:
    """Lorentzian with its half width at half maximum, 1/cm."""
    return height / (1 + ((_AXIS - position) / width) ** 2)


def _hump(position: float, sigma: float, height: float) -> NDArray[np.float64]:
    return height * np.exp(-(((_AXIS - position) / sigma) ** 2) / 2)


def edges(tolerances: Tolerances | None = None, seed: int = 0) -> pd.DataFrame:
    """One row a case: what the simulated spectrum shows, the claim and the verdict.

    Parameters
    ----------
    tolerances : Tolerances, optional
    seed : int
        Of the noise.
    """
    import pandas as pd

    tolerances = Tolerances() if tolerances is None else tolerances
    window, floor = tolerances.window, tolerances.prominence
    noise = np.random.default_rng(seed).normal(0, 3, len(_AXIS))
    lone = _band(520, 4, 1000)
    spiked = lone + noise
    spiked[700:702] += 4000
    clipped = np.minimum(_band(900, 20, 1000), 300)
    shoulder = _hump(1000, 15, 1000) + _hump(1040, 15, 400)
    cases = [
        ("at the window's end", lone, 520 + window),
        ("just beyond it", lone, 520 + window + 0.2),
        ("half the least prominence", lone + _band(1000, 4, 500 * floor), 1000),
        ("twice the least prominence", lone + _band(1000, 4, 2000 * floor), 1000),
        ("band on fluorescence", lone + _hump(1500, 500, 4000) + noise, 520),
        ("top of the fluorescence", lone + _hump(1500, 500, 4000) + noise, 1500),
        ("cosmic spike", spiked, 800),
        ("maximum at the axis end", _band(95, 30, 1000), 100),
        ("end of a saturated top", clipped, 925),
        ("shoulder", shoulder, 1040),
        ("noise only", noise, 1000),
        ("no signal at all", np.full(len(_AXIS), 7.0), 1000),
        ("beyond the axis", lone, 2500),
        ("negative shift", lone, -520),
    ]
    rows = []
    for name, intensity, shift in cases:
        up = Spectrum.from_arrays(_AXIS, intensity)
        down = Spectrum.from_arrays(_AXIS[::-1], intensity[::-1])
        claim = Claim("raman_shift", float(shift))
        verdict = check(claim, up, tolerances)
        rows.append(
            {
                "simulated spectrum": name,
                "claim (cm⁻¹)": f"{shift:g}",
                "outcome": str(verdict.outcome),
                "reason": verdict.reason,
                "same on the falling axis": check(claim, down, tolerances).reason == verdict.reason,
            }
        )
    return pd.DataFrame(rows)


def with_spikes(
    spectrum: Spectrum, *, count: int = 3, share: float = 0.6, seed: int = 0
) -> Spectrum:
    """A measured spectrum with simulated cosmic spikes of one or two samples.

    Parameters
    ----------
    spectrum : Spectrum
    count : int
    share : float
        Height of a spike as a share of the range of the readings.
    seed : int
    """
    rng = np.random.default_rng(seed)
    readings = spectrum.intensity.copy()
    places = rng.choice(np.arange(10, len(readings) - 10), count, replace=False)
    for place in places:
        readings[place : place + rng.integers(1, 3)] += share * np.ptp(spectrum.intensity)
    return replace(
        spectrum, intensity=readings, spectrum_id=f"{spectrum.spectrum_id}, simulated spikes"
    )
