"""Positive control, chance-pass rate and covered share of the axis for diffraction.

Gaps are the parts of a window that lie farther than a clearance from every line of a reference,
under every component of its radiation; what a tolerance covers is the rest.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from matpcr_utils.claims.model import ClaimTable, quantity_code
from matpcr_utils.errors import MatPCRError
from matpcr_utils.oracles.diffraction import Tolerances
from matpcr_utils.references.diffraction import (
    CU_KALPHA,
    DEFAULT_WINDOW,
    STRIDE,
    LineTable,
)

if TYPE_CHECKING:
    from matpcr_utils.references.dft import DFTTable

#: Measurement error of a true claim: uniform within this share of the tolerance.
ERROR_SHARE = 0.2
#: A planted angle is at least this many tolerances from every line.
CLEARANCE = 1.1
#: Of the planted claims, the share that no spacing can give (the rest lie between lines).
IMPOSSIBLE_SHARE = 0.1
#: A violation can be planted when gaps make up at least this share of the window.
MINIMUM_GAP = 0.005
#: Materials whose lines the control uses unless asked for more.
DEFAULT_STRUCTURES = 600

CONSTRUCTION = (
    f"A true claim is a line above the intensity floor in the window, off by at most "
    f"{ERROR_SHARE:g} tolerances, stated as 2θ, d or q. {1 - IMPOSSIBLE_SHARE:.0%} of the planted "
    f"claims are drawn evenly from the angles in the window that lie more than {CLEARANCE:g} "
    "tolerances from every line of the structure, under every component of the radiation; the "
    "rest are values that no spacing can give (2θ > 180°, d < λ/2, q > 4π/λ)."
)
PRIOR = "2θ uniform over the window"

_TWO_THETA, _D, _Q = map(quantity_code, ("two_theta", "d_spacing", "scattering_vector"))


@cache
def sample(n_structures: int | None = DEFAULT_STRUCTURES, seed: int = 0) -> DFTTable:
    """Entries of the snapshot drawn without replacement, in the snapshot's order.

    Parameters
    ----------
    n_structures : int, optional
        None takes all.

    Raises
    ------
    MatPCRError
        If there are not that many.
    """
    from matpcr_utils.references import dft

    table = dft.load()
    if n_structures is None:
        return table
    if not 0 < n_structures <= len(table):
        raise MatPCRError(f"n_structures = {n_structures} must lie in 1 to {len(table)}")
    rows = np.random.default_rng(seed).choice(len(table), n_structures, replace=False)
    return table.take(np.sort(rows))


@cache
def default_references(
    n_structures: int | None = DEFAULT_STRUCTURES,
    seed: int = 0,
    wavelengths: tuple[float, ...] = CU_KALPHA,
    window: tuple[float, float] = DEFAULT_WINDOW,
) -> LineTable:
    """Lines of `sample` and, after them, of the calibrants.

    Parameters
    ----------
    n_structures, seed
        As `sample`.
    wavelengths : tuple of float
        In angstrom.
    window : tuple of float
        In degree.
    """
    from matpcr_utils.references import calibrants

    entries = sample(n_structures, seed)
    standards = [calibrants.structure(name) for name in calibrants.STANDARDS]
    return LineTable.from_structures(
        [entry.structure for entry in entries] + standards,
        [*entries.material_id.tolist(), *calibrants.STANDARDS],
        wavelengths,
        window,
    )


class Gaps(NamedTuple):
    """Parts of the windows away from all lines; some have length 0.

    Attributes
    ----------
    owner : ndarray of int, shape (m,)
        The reference of each, ascending.
    start, length : ndarray of float, shape (m,)
        In degree on 2θ, ascending in each reference.
    """

    owner: NDArray[np.intp]
    start: NDArray[np.float64]
    length: NDArray[np.float64]


def gaps(references: LineTable, clearance: float, intensity_floor: float) -> Gaps:
    """Angles in the window farther than `clearance` (degree) from every line above the floor."""
    index = references.index(intensity_floor)
    owner = np.rint((index.keys - index.two_theta) / STRIDE).astype(np.intp)[:-1]
    low, high = references.window[owner].T
    # Each reference starts and ends with a sentinel beyond the window, so that consecutive
    # positions bound all its gaps, and the step from one reference to the next has no length.
    start = np.clip(index.two_theta[:-1] + clearance, low, high)
    end = np.clip(index.two_theta[1:] - clearance, low, high)
    return Gaps(owner, start, np.maximum(end - start, 0.0))


def gap_share(
    references: LineTable, clearance: float, intensity_floor: float
) -> NDArray[np.float64]:
    """Share of each reference's window that is gap, shape (n_references,)."""
    found = gaps(references, clearance, intensity_floor)
    total = np.bincount(found.owner, found.length, minlength=len(references))
    return total / (references.window[:, 1] - references.window[:, 0])


def coverage(references: LineTable, tolerances: Tolerances | None = None) -> NDArray[np.float64]:
    """Share of each reference's window within tolerance of a line: the exact chance-pass rate.

    The union of the tolerance intervals over the window's width, shape (n_references,). NaN for a
    reference that the oracle abstains on (no line in the window, partial occupancy).
    """
    tolerances = Tolerances() if tolerances is None else tolerances
    covered = 1.0 - gap_share(references, tolerances.two_theta, tolerances.intensity_floor)
    return np.where(references.has_lines, covered, np.nan)


def eligible(references: LineTable, tolerances: Tolerances) -> NDArray[np.bool_]:
    """Mask of the references with lines in the window and at least `MINIMUM_GAP` between them."""
    clearance = CLEARANCE * tolerances.two_theta
    room = gap_share(references, clearance, tolerances.intensity_floor) >= MINIMUM_GAP
    return references.has_lines & room


def true_claims(
    references: LineTable,
    index: NDArray[np.intp],
    tolerances: Tolerances,
    rng: np.random.Generator,
) -> ClaimTable:
    """A line of each reference, with a small error, stated as 2θ, d or q; see `CONSTRUCTION`."""
    low, high = references.window.T
    inside = (references.two_theta >= low[references.owner]) & (
        references.two_theta <= high[references.owner]
    )
    rows = np.flatnonzero(references.kept(tolerances.intensity_floor) & inside)
    counts = np.bincount(references.owner[rows], minlength=len(references))
    first = np.cumsum(counts) - counts
    chosen = rows[first[index] + rng.integers(0, counts[index])]
    error = rng.uniform(-ERROR_SHARE, ERROR_SHARE, len(index)) * tolerances.two_theta
    angle = np.clip(references.two_theta[chosen] + error, low[index], high[index])
    quantity = rng.choice([_TWO_THETA, _D, _Q], len(index)).astype(np.int8)
    return _state(angle, quantity, references.wavelength[index])


def plant(
    claims: ClaimTable,
    references: LineTable,
    index: NDArray[np.intp],
    tolerances: Tolerances,
    rng: np.random.Generator,
) -> ClaimTable:
    """Every claim turned into a violation of its reference, in its own quantity."""
    wavelength = references.wavelength[index]
    angle = _between_lines(references, index, tolerances, rng)
    between = _state(angle, claims.quantity, wavelength).value
    value = np.where(
        rng.random(len(index)) < IMPOSSIBLE_SHARE,
        _impossible(claims.quantity, wavelength, rng),
        between,
    )
    return ClaimTable(claims.quantity, value, claims.label, claims.basis)


def draw_prior(
    references: LineTable, index: NDArray[np.intp], rng: np.random.Generator
) -> ClaimTable:
    """An angle drawn evenly from each reference's window."""
    low, high = references.window[index].T
    return ClaimTable.numbers("two_theta", rng.uniform(low, high))


def _between_lines(
    references: LineTable,
    index: NDArray[np.intp],
    tolerances: Tolerances,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Angles drawn evenly from the gaps of each claim's reference."""
    clearance = CLEARANCE * tolerances.two_theta
    found = gaps(references, clearance, tolerances.intensity_floor)
    ends = np.cumsum(found.length)
    total = np.bincount(found.owner, found.length, minlength=len(references))
    before = np.cumsum(total) - total
    target = before[index] + rng.random(len(index)) * total[index]
    gap = np.minimum(np.searchsorted(ends, target, side="right"), len(ends) - 1)
    into = np.clip(target - (ends[gap] - found.length[gap]), 0.0, found.length[gap])
    return found.start[gap] + into


def _impossible(
    quantity: NDArray[np.int8], wavelength: NDArray[np.float64], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Values up to half as far again beyond the end of first-order Bragg geometry."""
    beyond = rng.uniform(1.01, 1.5, len(quantity))
    return np.select(
        [quantity == _TWO_THETA, quantity == _D],
        [180.0 * beyond, wavelength / (2.0 * beyond)],
        4.0 * np.pi / wavelength * beyond,
    )


def _state(
    two_theta: NDArray[np.float64],
    quantity: NDArray[np.int8],
    wavelength: NDArray[np.float64],
) -> ClaimTable:
    """Angles in degree as claims of the wanted quantities (Bragg's law, first order)."""
    sine = np.sin(np.radians(two_theta / 2))
    value = np.select(
        [quantity == _TWO_THETA, quantity == _D],
        [two_theta, wavelength / (2 * sine)],
        4 * np.pi * sine / wavelength,
    )
    none = np.full(len(value), -1, np.int8)
    return ClaimTable(quantity, value, none, none)
