"""Many prepared spectra as columns, for the vectorised oracle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from matpcr_utils.errors import MatPCRError
from matpcr_utils.references.peaks import Preparation, PreparedSpectrum, prepared
from matpcr_utils.references.spectrum_cleaning import Array, HasSpectrum

#: Longer than any Raman axis, so that spectrum number x STRIDE + shift sorts all spectra at once.
STRIDE = 1e5


@dataclass(frozen=True)
class Stretches:
    """Stretches of the axes of many spectra.

    Attributes
    ----------
    owner : ndarray of int, shape (m,)
        The spectrum that each belongs to, ascending.
    low, high : ndarray, shape (m,)
        Ends in 1/cm; equal ends make a point.
    """

    owner: NDArray[np.intp]
    low: Array
    high: Array

    def covers(self, where: NDArray[np.intp], value: Array, margin: float) -> NDArray[np.bool_]:
        """Whether some stretch of spectrum ``where[i]`` comes within `margin` of ``value[i]``."""
        if not len(self.owner):
            return np.zeros(len(value), bool)
        low = self.owner * STRIDE + self.low
        order = np.argsort(low, kind="stable")
        # The farthest end so far: stretches may overlap, as the top of a noisy band does.
        reach = np.maximum.accumulate((self.owner * STRIDE + self.high)[order])
        key = where * STRIDE + value
        last = np.searchsorted(low[order], key + margin, "right") - 1
        return (last >= 0) & (reach[last] >= key - margin)

    def around(self, position: Array, margin: float) -> Stretches:
        """Each stretch, and what lies within `margin` of the position that goes with it."""
        return Stretches(
            self.owner,
            np.minimum(self.low, position - margin),
            np.maximum(self.high, position + margin),
        )

    def take(self, mask: NDArray[np.bool_]) -> Stretches:
        """The chosen stretches."""
        return Stretches(self.owner[mask], self.low[mask], self.high[mask])


@dataclass(frozen=True)
class SpectrumTable:
    """Prepared spectra, and their maxima, shoulders and gaps one after the other.

    Attributes
    ----------
    spectra : tuple
        As given; None where only the prepared spectrum was.
    prepared : tuple of PreparedSpectrum
    preparation : Preparation
    axis, searched : ndarray, shape (n, 2)
        Ends of the measured axis, and of the part that was searched for bands.
    has_signal : ndarray of bool, shape (n,)
    dynamic_range, background_span : ndarray, shape (n,)
    edge_rise, edge_noise : ndarray, shape (n, 2)
        At the low and the high end of the searched part.
    maxima, shoulders, gaps : Stretches
        Summits of the maxima; reach of the shoulders; stretches that were not measured.
    position, prominence, width, noise : ndarray, shape (number of maxima,)
    shoulder, shoulder_height, shoulder_noise : ndarray, shape (number of shoulders,)
    """

    spectra: tuple[HasSpectrum | None, ...]
    prepared: tuple[PreparedSpectrum, ...]
    preparation: Preparation
    axis: Array
    searched: Array
    has_signal: NDArray[np.bool_]
    dynamic_range: Array
    background_span: Array
    edge_rise: Array
    edge_noise: Array
    maxima: Stretches
    shoulders: Stretches
    gaps: Stretches
    position: Array
    prominence: Array
    width: Array
    noise: Array
    shoulder: Array
    shoulder_height: Array
    shoulder_noise: Array

    def __len__(self) -> int:
        return len(self.prepared)

    @classmethod
    def from_spectra(
        cls,
        spectra: Sequence[HasSpectrum | PreparedSpectrum],
        preparation: Preparation | None = None,
    ) -> SpectrumTable:
        """Prepare every spectrum and line up what was found.

        Raises
        ------
        MatPCRError
            If there is no spectrum, or one can't be prepared.
        """
        if not len(spectra):
            raise MatPCRError("no spectrum given: at least 1 is needed")
        preparation = Preparation() if preparation is None else preparation
        found = tuple(
            one if isinstance(one, PreparedSpectrum) else prepared(one, preparation)
            for one in spectra
        )
        return cls(
            spectra=tuple(None if isinstance(s, PreparedSpectrum) else s for s in spectra),
            prepared=found,
            preparation=preparation,
            axis=np.array([(p.measured_shift[0], p.measured_shift[-1]) for p in found]),
            searched=np.array([(p.shift[0], p.shift[-1]) for p in found]),
            has_signal=np.array([p.has_signal for p in found]),
            dynamic_range=np.array([p.dynamic_range for p in found]),
            background_span=np.array([p.background_span for p in found]),
            edge_rise=np.array([p.edge_rise for p in found]),
            edge_noise=np.array([(p.noise[0], p.noise[-1]) for p in found]),
            maxima=_stretches([(p.left, p.right) for p in found]),
            shoulders=_stretches([(p.shoulder_left, p.shoulder_right) for p in found]),
            gaps=_stretches([(p.gaps[:, 0], p.gaps[:, 1]) for p in found]),
            position=np.concatenate([p.position for p in found]),
            prominence=np.concatenate([p.prominence for p in found]),
            width=np.concatenate([p.width for p in found]),
            noise=np.concatenate([p.noise_at for p in found]),
            shoulder=np.concatenate([p.shoulder for p in found]),
            shoulder_height=np.concatenate([p.shoulder_height for p in found]),
            shoulder_noise=np.concatenate([p.shoulder_noise for p in found]),
        )


def _stretches(ends: Sequence[tuple[Array, Array]]) -> Stretches:
    low, high = (np.concatenate(side) for side in zip(*ends, strict=True))
    return Stretches(np.repeat(np.arange(len(ends)), [len(one) for one, _ in ends]), low, high)
