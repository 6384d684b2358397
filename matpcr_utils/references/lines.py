"""Reference lines of a crystal structure: computed once by pymatgen, kept on disk.

A structure is reduced to its primitive cell before its lines are computed, so that a supercell has
the lines of its primitive cell; lines are labelled with the Miller indices of the conventional
cell, as tables print them.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from matpcr_utils.errors import MatPCRError
from matpcr_utils.references import archives

if TYPE_CHECKING:
    from joblib.memory import MemorizedFunc
    from pymatgen.core import Structure

#: Copper Kα1 and Kα2 in angstrom (Hölzer et al., Phys. Rev. A 56, 4554, 1997).
CU_KALPHA1 = 1.540593
CU_KALPHA2 = 1.544427

#: Lines are computed to this 2θ in degree unless something else is asked for.
DEFAULT_REACH = 125.0
#: The Lorentz factor diverges at 180 degree, and no instrument gets there.
MAX_REACH = 179.0

#: Atoms that a translation maps onto each other within this distance, in angstrom, are the same
#: atom of the primitive cell (pymatgen's own default for space groups).
SYMPREC = 0.01
#: Lines closer than this on 2θ, in degree, are one line: no instrument separates them, and the
#: reflections of one family must not fall apart by rounding.
MERGE_TWO_THETA = 1e-3

#: More than these take longer than half a minute, and far more exhaust the memory.
MAX_REFLECTIONS = 300_000

#: When even the strongest line is weaker than this share of all electrons scattering in phase,
#: there is no line: coordinates of four decimals leave 4e-7 of an extinct one.
_EXTINCT = 1e-6

#: Part of the cache key; raise it when the computation below changes.
_RECIPE = 2
#: Below this many missing structures, starting worker processes costs more than they save.
_WORTH_WORKERS = 800


@dataclass(frozen=True, eq=False)
class Lines:
    """Diffraction lines of one structure, from low to high angle.

    Attributes
    ----------
    d : ndarray of float, shape (n,)
        Lattice spacing in angstrom, descending.
    intensity : ndarray of float, shape (n,)
        In percent of the strongest line up to `reach`.
    hkl : tuple of str, length n
        Miller indices in the conventional cell; several when families coincide (``"511, 333"``).
        In monoclinic and triclinic cells the setting, and so the label, is spglib's choice.
    wavelength : float
        Of the computation, in angstrom; the intensities depend on it, `d` does not.
    reach : float
        Lines above this 2θ, in degree at `wavelength`, were not computed.
    """

    d: NDArray[np.float64]
    intensity: NDArray[np.float64]
    hkl: tuple[str, ...] = field(repr=False)
    wavelength: float
    reach: float

    def __len__(self) -> int:
        return len(self.d)

    def two_theta(self, wavelength: float | None = None) -> NDArray[np.float64]:
        """Angles in degree at a wavelength in angstrom (default: that of the computation).

        NaN where Bragg's law has no solution: a spacing below half the wavelength.
        """
        sine = (self.wavelength if wavelength is None else wavelength) / (2.0 * self.d)
        return np.degrees(2.0 * np.arcsin(np.where(sine <= 1.0, sine, np.nan)))


def lines_of(
    structure: Structure, wavelength: float = CU_KALPHA1, reach: float = DEFAULT_REACH
) -> Lines:
    """Lines of a structure, from the cache when they are there.

    Parameters
    ----------
    structure : pymatgen Structure
        Ordered: one element a site.
    wavelength : float
        In angstrom.
    reach : float
        Highest 2θ in degree, at most `MAX_REACH`.

    Raises
    ------
    MatPCRError
        If the structure has partial occupancy or an element without scattering factors, if
        `wavelength` or `reach` lies outside its range, if there are more than `MAX_REFLECTIONS`,
        or if the cache folder can't be written.

    Notes
    -----
    Positions are Bragg's law; intensities are pymatgen's `XRDCalculator`: squared structure
    factors of neutral atoms times the Lorentz-polarisation factor, no thermal motion.
    """
    _require(structure, wavelength, reach)
    computed = _memory_function(cache_folder())
    with warnings.catch_warnings():
        # joblib warns when it recomputes a damaged entry; recomputing is all there is to do.
        warnings.simplefilter("ignore")
        d, intensity, hkl = computed(*_key(structure, wavelength, reach))
    return Lines(d, intensity, hkl, wavelength, reach)


def lines_table(
    structures: Sequence[Structure],
    wavelength: float = CU_KALPHA1,
    reach: float = DEFAULT_REACH,
    *,
    jobs: int = 2,
    progress: bool = False,
) -> list[Lines]:
    """`lines_of` every structure; with many missing in the cache, in `jobs` processes.

    Parameters
    ----------
    structures : sequence of pymatgen Structure
    wavelength, reach : float
        As in `lines_of`.
    jobs : int
        Worker processes; they are started only when they save time.
    progress : bool
        Show a progress bar on standard error.

    Raises
    ------
    MatPCRError
        As `lines_of`.
    """
    from joblib import Parallel, delayed
    from rich.console import Console
    from rich.progress import track

    computed = _memory_function(cache_folder())
    for structure in structures:
        _require(structure, wavelength, reach)
    missing = [
        position
        for position, structure in enumerate(structures)
        if not computed.check_call_in_cache(*_key(structure, wavelength, reach))
    ]
    tasks = track(
        range(len(structures)),
        "Reference lines",
        console=Console(stderr=True),
        disable=not progress,
    )
    if jobs > 1 and len(missing) >= _WORTH_WORKERS:
        parallel = Parallel(n_jobs=jobs, return_as="generator", batch_size=50)
        work = (delayed(lines_of)(structure, wavelength, reach) for structure in structures)
        return [found for _, found in zip(tasks, parallel(work), strict=True)]
    return [lines_of(structures[position], wavelength, reach) for position in tasks]


def cache_folder() -> Path:
    """Folder of cached lines: ``$MATPCR_CACHE`` or the user's cache folder."""
    return archives.cache_dir() / "lines"


def is_ordered(structure: Structure) -> bool:
    """Whether every site holds exactly one atom."""
    return bool(structure.is_ordered)


def _require(structure: Structure, wavelength: float, reach: float) -> None:
    if not 0 < wavelength < np.inf:
        raise MatPCRError(
            f"wavelength = {wavelength} must be a positive length in angstrom, e.g. 1.5406"
        )
    if not 0 < reach <= MAX_REACH:
        raise MatPCRError(f"reach = {reach} must lie in (0, {MAX_REACH:g}] degree")
    if not is_ordered(structure):
        raise MatPCRError(
            f"{structure.composition.formula} has partial occupancy: no single ordered structure "
            "gives its lines; state an ordered one"
        )


@cache
def _memory_function(folder: Path) -> MemorizedFunc:
    """The cached computation, stored in `folder`."""
    from joblib import Memory

    try:
        folder.mkdir(parents=True, exist_ok=True)
        # The check sum of the compressed form tells a damaged entry from a sound one.
        return Memory(folder, verbose=0, compress=1).cache(_compute)
    except OSError as error:
        raise MatPCRError(
            f"can't write the cache folder {folder} ({error.strerror}): "
            "set MATPCR_CACHE to a folder of your own"
        ) from error


def _key(structure: Structure, wavelength: float, reach: float) -> tuple[Any, ...]:
    """What the lines depend on: content of the structure, radiation, and the code's version."""
    from importlib.metadata import version

    return (
        np.asarray(structure.lattice.matrix, float),
        tuple(site.specie.symbol for site in structure),
        np.asarray(structure.frac_coords, float),
        float(wavelength),
        float(reach),
        f"recipe {_RECIPE}, pymatgen {version('pymatgen-core')}",
    )


def _compute(
    lattice: NDArray[np.float64],
    symbols: tuple[str, ...],
    positions: NDArray[np.float64],
    wavelength: float,
    reach: float,
    versions: str,
) -> tuple[NDArray[np.float64], NDArray[np.float64], tuple[str, ...]]:
    """Spacings, intensities and labels of the primitive cell's lines."""
    from pymatgen.analysis.diffraction.xrd import XRDCalculator
    from pymatgen.core import Structure

    cell = _Cell.reduce(lattice, symbols, positions)
    primitive = Structure(cell.lattice, cell.symbols, cell.positions)
    none = np.empty(0), np.empty(0), ()
    if not _can_diffract(primitive, wavelength, reach):
        return none
    try:
        pattern = XRDCalculator(wavelength).get_pattern(
            primitive, scaled=False, two_theta_range=(0, reach)
        )
    except ValueError as error:
        raise MatPCRError(
            f"no lines for {primitive.composition.reduced_formula}: "
            f"{' '.join(str(error).split())} State a structure of other elements"
        ) from error
    intensity = np.asarray(pattern.y, float)
    electrons = sum(site.specie.Z for site in primitive)
    # What lies within reach is extinct, but for the rounding of sums and of coordinates.
    if intensity.max(initial=0.0) < _EXTINCT * electrons**2:
        return none
    spacing = np.asarray(pattern.d_hkls, float)
    # One line is a run of reflections with no gap above MERGE_TWO_THETA.
    starts = np.flatnonzero(np.diff(pattern.x, prepend=-np.inf) > MERGE_TWO_THETA)
    total = np.add.reduceat(intensity, starts)
    mean = np.add.reduceat(intensity * spacing, starts) / total
    line = np.searchsorted(starts, np.arange(len(spacing)), side="right") - 1
    members = [
        (number, family["hkl"])
        for number, row in zip(line, pattern.hkls, strict=True)
        for family in row
    ]
    labels = cell.labels([hkl for _, hkl in members], [number for number, _ in members])
    return mean, 100.0 * (total / total.max()), labels


def _can_diffract(primitive: Structure, wavelength: float, reach: float) -> bool:
    """Whether any reflection lies within `reach`; refused are more than can be computed.

    The reflections are the points of the reciprocal lattice within 2 sin θ / λ of its origin, and
    their number is about the volume of that sphere times the volume of the cell.
    """
    radius = 2 * np.sin(np.radians(reach / 2)) / wavelength
    number = 4 / 3 * np.pi * radius**3 * primitive.volume
    if not number <= MAX_REFLECTIONS:
        raise MatPCRError(
            f"a cell of {primitive.volume:.4g} Å³ has about {number:.2g} reflections up to 2θ = "
            f"{reach:g}° at {wavelength:g} Å, above {MAX_REFLECTIONS:,}: lower the window, or "
            "check the cell and the wavelength"
        )
    reciprocal = primitive.lattice.reciprocal_lattice_crystallographic
    nearest = reciprocal.get_points_in_sphere([[0, 0, 0]], [0, 0, 0], radius, zip_results=False)
    return len(nearest[0]) > 1


@dataclass(frozen=True)
class _Cell:
    """A primitive cell and what turns its Miller indices into those of the conventional cell."""

    lattice: NDArray[np.float64]
    symbols: list[str]
    positions: NDArray[np.float64]
    to_conventional: NDArray[np.float64]
    rotations: NDArray[np.int_]

    @classmethod
    def reduce(
        cls,
        lattice: NDArray[np.float64],
        symbols: tuple[str, ...],
        positions: NDArray[np.float64],
    ) -> _Cell:
        """Primitive cell by spglib, in the orientation and with the lengths of the input."""
        import spglib

        names = sorted(set(symbols))
        numbers = [names.index(symbol) for symbol in symbols]
        cell: Any = (lattice, positions, numbers)
        found: Any = spglib.get_symmetry_dataset(cell, symprec=SYMPREC)
        if found is None:  # spglib gives up on a few odd cells: take them as they are
            return cls(lattice, list(symbols), positions, np.eye(3), np.eye(3, dtype=int)[None])
        operations: Any = spglib.get_symmetry_from_database(found.hall_number)
        _, chosen = np.unique(found.mapping_to_primitive, return_index=True)
        primitive = np.asarray(found.primitive_lattice)
        conventional = np.linalg.inv(found.transformation_matrix).T @ lattice
        return cls(
            lattice=primitive,
            symbols=[symbols[atom] for atom in chosen],
            positions=positions[chosen] @ lattice @ np.linalg.inv(primitive),
            # g = h a* is the same vector in both cells, and a* is the inverse of a.
            to_conventional=np.linalg.inv(primitive).T @ conventional.T,
            # Of the space group, not of the input: a supercell may break its own symmetry.
            rotations=np.unique(operations["rotations"], axis=0),
        )

    def labels(self, hkl: Sequence[tuple[int, ...]], line: Sequence[int]) -> tuple[str, ...]:
        """Names of the families of each line.

        Parameters
        ----------
        hkl : n members of families, in the primitive cell
        line : n positions, ascending from 0 without a gap
        """
        # pymatgen writes hexagonal hkil; the third index follows from the first two.
        three = np.array([(*member[:2], member[-1]) for member in hkl])
        conventional = np.rint(three @ self.to_conventional).astype(int)
        half = conventional @ self.rotations
        orbits = np.concatenate([half, -half])
        # The member that tables print: fewest minus signs, then largest h, k, l.
        base = 2 * np.abs(orbits).max() + 1
        rank = orbits @ np.array([base**2, base, 1]) - (orbits < 0).sum(axis=-1) * base**3
        printed = orbits[rank.argmax(axis=0), np.arange(len(three))].tolist()
        families: list[set[tuple[int, ...]]] = [set() for _ in range(line[-1] + 1)]
        for position, member in zip(line, printed, strict=True):
            families[position].add(tuple(member))
        return tuple(
            ", ".join(_hkl_text(member) for member in sorted(family, reverse=True))
            for family in families
        )


def _hkl_text(hkl: tuple[int, ...]) -> str:
    separator = "" if all(0 <= index <= 9 for index in hkl) else " "
    return separator.join(str(index).replace("-", "−") for index in hkl)
