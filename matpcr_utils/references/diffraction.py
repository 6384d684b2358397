"""What one instrument sees of structures: their lines as angles, for a radiation and a window.

`DiffractionReference` is one structure; `LineTable` holds many as columns, in the form that a
vectorised search needs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from matpcr_utils.errors import MatPCRError
from matpcr_utils.references.cif import structure_from_cif
from matpcr_utils.references.lines import (
    CU_KALPHA1,
    CU_KALPHA2,
    MAX_REACH,
    Lines,
    is_ordered,
    lines_of,
    lines_table,
)

if TYPE_CHECKING:
    import os

    from pymatgen.core import Structure

    from matpcr_utils.references.patterns import MeasuredPattern


def doublet(first: float, second: float) -> tuple[float, float, float]:
    """Components of an unseparated Kα doublet in angstrom: Kα1, Kα2 and their centroid.

    Kα1 is twice as strong as Kα2; an instrument that does not resolve the two sees one peak at
    (2 Kα1 + Kα2) / 3.
    """
    return first, second, (2 * first + second) / 3


#: Copper Kα of a laboratory tube; the first component converts claims in d and q.
CU_KALPHA: tuple[float, ...] = doublet(CU_KALPHA1, CU_KALPHA2)
#: Kα1 and Kα2 of laboratory tubes in angstrom (International Tables for Crystallography C,
#: table 4.2.2.4).
TUBES: dict[str, tuple[float, float]] = {
    "Cr": (2.289726, 2.293651),
    "Fe": (1.936041, 1.939973),
    "Co": (1.788996, 1.792835),
    "Cu": (CU_KALPHA1, CU_KALPHA2),
    "Mo": (0.709317, 0.713607),
    "Ag": (0.559422, 0.563813),
}


def radiation(wavelength: float) -> tuple[float, ...]:
    """Components of what is meant by one wavelength in angstrom.

    A value within 0.0005 Å of a tube's Kα1, or of its doublet's centroid, means the tube's
    unseparated doublet (1.5406 and 1.5418 both mean copper); any other value means itself.
    """
    for first, second in TUBES.values():
        components = doublet(first, second)
        if min(abs(wavelength - first), abs(wavelength - components[2])) <= 5e-4:
            return components
    return (wavelength,)


#: 2θ in degree that a laboratory diffractometer usually scans.
DEFAULT_WINDOW = (10.0, 90.0)
#: Lines are kept this far beyond a window, in degree, for claims near its edge.
MARGIN = 5.0
#: Angles this close, in degree, are the same angle computed twice.
ROUNDING = 1e-9
#: Separates references in the one sorted array that is searched; a power of two keeps it exact.
STRIDE = 2048.0


@dataclass(frozen=True, eq=False)
class DiffractionReference:
    """The lines of one stated structure, as one instrument sees them.

    Attributes
    ----------
    lines : Lines or None
        None for a structure with partial occupancy. Such a structure is an average over
        arrangements that is not stated; an ordered one has lines that the average lacks, so
        that the absence of a line can't be asserted, and the oracle abstains.
    wavelengths : tuple of float
        Components of the radiation in angstrom; the first converts d and q.
    window : tuple of float
        Lowest and highest measured 2θ in degree, inclusive.
    name : str
    """

    lines: Lines | None
    wavelengths: tuple[float, ...] = CU_KALPHA
    window: tuple[float, float] = DEFAULT_WINDOW
    name: str = "the structure"

    def __post_init__(self) -> None:
        low, high = self.window
        if not 0 <= low < high <= 180:
            raise MatPCRError(
                f"window ({low}, {high}) must be two angles in degree, 0 <= low < high <= 180, "
                "e.g. 10 and 90"
            )
        if not self.wavelengths or not all(0 < w < np.inf for w in self.wavelengths):
            raise MatPCRError(
                f"wavelength = {', '.join(f'{w:g}' for w in self.wavelengths) or 'none'} must be "
                "positive and finite, in angstrom, e.g. 1.5406"
            )
        if self.lines is not None and self._reach() < _reach_for(self.window):
            raise MatPCRError(
                f"the lines of {self.name} end at 2θ = {self._reach():.4g}° and the window at "
                f"{high:g}°: compute them to {_reach_for(self.window):g}°"
            )

    def _reach(self) -> float:
        """2θ up to which lines are known at the shortest wavelength, in degree."""
        assert self.lines is not None
        sine = np.sin(np.radians(self.lines.reach / 2)) / self.lines.wavelength
        # Rounded: sine and arcsine must give back the very limit that was asked for.
        return float(np.round(np.degrees(2 * np.arcsin(min(1.0, sine * min(self.wavelengths)))), 6))

    @cached_property
    def table(self) -> LineTable:
        """This reference alone, in the form that is searched; built on first use."""
        return LineTable.from_references([self])

    @classmethod
    def from_structure(
        cls,
        structure: Structure,
        wavelengths: float | tuple[float, ...] = CU_KALPHA,
        window: tuple[float, float] = DEFAULT_WINDOW,
        name: str | None = None,
    ) -> DiffractionReference:
        """Lines of a pymatgen structure (cached) for a radiation and a window.

        Raises
        ------
        MatPCRError
            If a wavelength or the window lies outside its range.
        """
        components = (wavelengths,) if isinstance(wavelengths, int | float) else tuple(wavelengths)
        label = structure.composition.reduced_formula if name is None else name
        cls(None, components, window, label)  # refuses bad input before anything is computed
        if not is_ordered(structure):
            return cls(None, components, window, label)
        found = lines_of(structure, *_computation(components, window))
        return cls(found, components, window, label)

    @classmethod
    def from_pattern(cls, pattern: MeasuredPattern) -> DiffractionReference:
        """Lines of the structure that a pattern was measured on, over the range it was measured."""
        first, second = pattern.wavelength, pattern.second_wavelength
        components = (first,) if second is None else doublet(first, second)
        window = (float(pattern.two_theta[0]), float(pattern.two_theta[-1]))
        return cls.from_structure(pattern.structure, components, window, pattern.name)

    @classmethod
    def from_cif(
        cls,
        path: str | os.PathLike[str],
        wavelengths: float | tuple[float, ...] = CU_KALPHA,
        window: tuple[float, float] = DEFAULT_WINDOW,
    ) -> DiffractionReference:
        """Lines of the structure in a CIF; see `from_structure`.

        Raises
        ------
        MatPCRError
            If the file can't be read as one structure.
        """
        return cls.from_structure(structure_from_cif(path), wavelengths, window)


def _reach_for(window: tuple[float, float]) -> float:
    """Highest 2θ that a window needs, in degree; a multiple of 5, so that windows share lines."""
    return min(5.0 * math.ceil((window[1] + MARGIN) / 5.0), MAX_REACH)


def _computation(
    wavelengths: tuple[float, ...], window: tuple[float, float]
) -> tuple[float, float]:
    """Wavelength and reach of `lines_of`: the shortest component reaches the smallest spacings."""
    return min(wavelengths), _reach_for(window)


class PositionIndex(NamedTuple):
    """Kept positions of all references in one sorted array, with a sentinel at either end of each.

    The sentinels lie further from any angle than any tolerance, so that the two neighbours of a
    claim always belong to its own reference.
    """

    keys: NDArray[np.float64]
    two_theta: NDArray[np.float64]
    line: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class LineTable:
    """Lines of many references as columns; what `check_many` searches.

    Attributes
    ----------
    names : tuple of str, length n
    wavelength : ndarray of float, shape (n,)
        The component that converts claims, in angstrom.
    window : ndarray of float, shape (n, 2)
        In degree.
    partial : ndarray of bool, shape (n,)
        References with partial occupancy.
    two_theta : ndarray of float, shape (m,)
        Positions in degree of every line under every component, ascending in each reference.
    owner, line : ndarray of int, shape (m,)
        The reference of each position, ascending, and the line in the reference's `Lines`.
    intensity : ndarray of float, shape (m,)
        Of the line, in percent of the strongest line of the reference that lies in the window.
    has_lines : ndarray of bool, shape (n,)
        Whether any line lies in the window.
    """

    names: tuple[str, ...]
    wavelength: NDArray[np.float64]
    window: NDArray[np.float64]
    partial: NDArray[np.bool_]
    two_theta: NDArray[np.float64]
    owner: NDArray[np.intp]
    line: NDArray[np.int32]
    intensity: NDArray[np.float64]
    has_lines: NDArray[np.bool_]
    _indexes: dict[float, PositionIndex] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.names)

    @classmethod
    def from_references(cls, references: Sequence[DiffractionReference]) -> LineTable:
        """Gather references into columns, in order."""
        columns = [_positions(reference) for reference in references]
        sizes = np.array([len(column[0]) for column in columns], int)
        gathered = [
            np.concatenate([column[part] for column in columns]) if columns else np.empty(0)
            for part in range(3)
        ]
        return cls(
            names=tuple(reference.name for reference in references),
            wavelength=np.array([reference.wavelengths[0] for reference in references], float),
            window=np.array([reference.window for reference in references], float).reshape(-1, 2),
            partial=np.array([reference.lines is None for reference in references], bool),
            two_theta=gathered[0],
            owner=np.repeat(np.arange(len(references)), sizes),
            line=gathered[1].astype(np.int32),
            intensity=gathered[2],
            has_lines=np.array([bool(np.isfinite(c[2]).any()) for c in columns], bool),
        )

    @classmethod
    def from_structures(
        cls,
        structures: Sequence[Structure],
        names: Sequence[str],
        wavelengths: tuple[float, ...] = CU_KALPHA,
        window: tuple[float, float] = DEFAULT_WINDOW,
        *,
        progress: bool = False,
    ) -> LineTable:
        """Lines of many structures, computed together where the cache lacks them.

        Raises
        ------
        MatPCRError
            If a wavelength or the window lies outside its range.
        """
        DiffractionReference(None, wavelengths, window)  # refuses bad input before the work
        ordered = [is_ordered(structure) for structure in structures]
        whole = [structure for structure, keep in zip(structures, ordered, strict=True) if keep]
        found = iter(lines_table(whole, *_computation(wavelengths, window), progress=progress))
        return cls.from_references(
            [
                DiffractionReference(next(found) if keep else None, wavelengths, window, name)
                for keep, name in zip(ordered, names, strict=True)
            ]
        )

    def kept(self, intensity_floor: float) -> NDArray[np.bool_]:
        """Mask of the positions whose line reaches the floor (percent)."""
        return self.intensity >= intensity_floor * (1 - ROUNDING)

    def index(self, intensity_floor: float) -> PositionIndex:
        """The searchable form for one intensity floor (percent), built on first use."""
        if intensity_floor not in self._indexes:
            self._indexes[intensity_floor] = self._build(self.kept(intensity_floor))
        return self._indexes[intensity_floor]

    def _build(self, kept: NDArray[np.bool_]) -> PositionIndex:
        owner = self.owner[kept]
        counts = np.bincount(owner, minlength=len(self)) + 2
        ends = np.cumsum(counts)
        slots = np.arange(len(owner)) + 2 * owner + 1
        two_theta = np.empty(int(counts.sum()))
        line = np.full(len(two_theta), -1, np.int32)
        two_theta[ends - counts], two_theta[ends - 1] = -360.0, 540.0
        two_theta[slots], line[slots] = self.two_theta[kept], self.line[kept]
        keys = np.repeat(np.arange(len(self), dtype=float), counts) * STRIDE + two_theta
        return PositionIndex(keys, two_theta, line)


def _positions(
    reference: DiffractionReference,
) -> tuple[NDArray[np.float64], NDArray[np.intp], NDArray[np.float64]]:
    """Angles under every component, their lines, and intensities relative to the window's best.

    An intensity is NaN when no line lies in the window.
    """
    lines, (low, high) = reference.lines, reference.window
    if lines is None:
        return np.empty(0), np.empty(0, np.intp), np.empty(0)
    angles = np.array([lines.two_theta(wavelength) for wavelength in reference.wavelengths])
    seen = ((angles >= low - ROUNDING) & (angles <= high + ROUNDING)).any(axis=0)
    strongest = lines.intensity[seen].max() if seen.any() else np.nan
    # Drops lines without an angle at this wavelength and lines beyond every tolerance.
    component, line = np.nonzero(angles <= high + MARGIN + ROUNDING)
    two_theta = angles[component, line]
    order = np.argsort(two_theta, kind="stable")
    line = line[order]
    return two_theta[order], line, 100.0 * lines.intensity[line] / strongest


def measured_peaks(
    pattern: MeasuredPattern, share: float = 0.02
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Angles (degree) and prominences (share of the range of counts) of a pattern's peaks.

    Strongest first; only peaks whose prominence is at least `share` of the range of the counts.
    """
    from scipy.signal import find_peaks

    span = float(np.ptp(pattern.counts))
    peaks, found = find_peaks(pattern.counts, prominence=share * span)
    order = np.argsort(-found["prominences"], kind="stable")
    return pattern.two_theta[peaks[order]], found["prominences"][order] / span
