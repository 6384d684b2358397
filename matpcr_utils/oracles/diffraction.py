"""Diffraction: a claimed peak must be a line of the stated structure.

First-order Bragg geometry, λ = 2 d sin θ (paper, sections 4.3 and S1.1): a claim in 2θ, d or
q = 4π sin θ / λ becomes an angle, and the angle is looked up among the reference lines. An angle
that no spacing can give violates whatever the structure; an angle that the instrument did not
measure is not judged.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from matpcr_utils.claims.model import QUANTITIES, Claim, ClaimTable, quantity_code
from matpcr_utils.errors import MatPCRError
from matpcr_utils.oracles.base import (
    Outcome,
    Verdict,
    VerdictTable,
    as_table,
    positions_of,
    require_own,
)
from matpcr_utils.references.diffraction import (
    CU_KALPHA,
    DEFAULT_WINDOW,
    MARGIN,
    ROUNDING,
    STRIDE,
    DiffractionReference,
    LineTable,
    PositionIndex,
)

__all__ = [
    "CONSTRAINT",
    "CU_KALPHA",
    "DEFAULT_WINDOW",
    "REASONS",
    "DiffractionReference",
    "LineTable",
    "Tolerances",
    "check",
    "check_many",
]

CONSTRAINT = "diffraction"

REASONS: dict[str, Outcome] = {
    "line": Outcome.CONSISTENT,
    "no_line": Outcome.VIOLATION,
    "impossible": Outcome.VIOLATION,
    "outside_window": Outcome.ABSTAIN,
    "no_reference_lines": Outcome.ABSTAIN,
    "partial_occupancy": Outcome.ABSTAIN,
}
_CODE = {name: code for code, name in enumerate(REASONS)}

#: sin θ may pass 1 by this much through rounding: equality, d = λ/2, is allowed.
_UNIT_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Tolerances:
    """How near a claim must come to a line, and which lines count.

    Attributes
    ----------
    two_theta : float
        Degree on 2θ, inclusive. In (0, 5].
    intensity_floor : float
        Percent of the strongest line in the window; weaker lines don't count. In [0, 100].
    """

    two_theta: float = 0.5
    intensity_floor: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.two_theta <= MARGIN:
            raise MatPCRError(
                f"two_theta tolerance = {self.two_theta} must lie in (0, {MARGIN:g}] degree"
            )
        if not 0 <= self.intensity_floor <= 100:
            raise MatPCRError(
                f"intensity_floor = {self.intensity_floor} must lie in [0, 100] percent"
            )


def check(
    claim: Claim, reference: DiffractionReference, tolerances: Tolerances | None = None
) -> Verdict:
    """Judge one claim against the lines of one structure.

    Parameters
    ----------
    claim : Claim
        Of `two_theta` (degree), `d_spacing` (angstrom) or `scattering_vector` (1/angstrom).
    reference : DiffractionReference
    tolerances : Tolerances, optional

    Returns
    -------
    Verdict
        Its details hold `two_theta`, `d_spacing`, `wavelength`, `tolerance`, `nearest_two_theta`,
        `nearest_hkl` and `distance`, as far as they exist.

    Raises
    ------
    MatPCRError
        If the claim is another constraint's, or not a finite number.
    """
    tolerances = Tolerances() if tolerances is None else tolerances
    judged = _judge(as_table([claim]), reference.table, tolerances, np.zeros(1, np.intp))
    reason = list(REASONS)[int(judged.reason[0])]
    details = _details(reason, judged, reference, tolerances)
    return Verdict(REASONS[reason], reason, _sentence(reason, claim, reference, details), details)


def check_many(
    claims: ClaimTable | Sequence[Claim],
    references: LineTable | Sequence[DiffractionReference],
    tolerances: Tolerances | None = None,
    *,
    index: NDArray[np.intp] | None = None,
) -> VerdictTable:
    """Judge claim i against reference ``index[i]``; the verdicts of `check`.

    Parameters
    ----------
    claims : ClaimTable or sequence of Claim, n rows
    references : LineTable or sequence of DiffractionReference
        A `LineTable` that is used again saves its building.
    tolerances : Tolerances, optional
    index : ndarray of int, shape (n,), optional
        Default: claim i is about reference i.

    Raises
    ------
    MatPCRError
        As `check`; and when `index` does not fit.
    """
    rows = as_table(claims)
    table = (
        references if isinstance(references, LineTable) else LineTable.from_references(references)
    )
    where = positions_of(len(rows), len(table), index)
    judged = _judge(rows, table, Tolerances() if tolerances is None else tolerances, where)
    return VerdictTable(judged.reason, REASONS)


class _Judged(NamedTuple):
    """Reasons, and what `check` needs to put one into words."""

    reason: NDArray[np.int8]
    two_theta: NDArray[np.float64]
    nearest: NDArray[np.intp]
    positions: PositionIndex


def _judge(
    claims: ClaimTable, table: LineTable, tolerances: Tolerances, where: NDArray[np.intp]
) -> _Judged:
    """The one place that decides."""
    require_own(claims, CONSTRAINT)
    if not np.isfinite(claims.value).all():
        row = int(np.flatnonzero(~np.isfinite(claims.value))[0])
        raise MatPCRError(
            f"claim {row} ({QUANTITIES[claims.quantity[row]]}) is {claims.value[row]}: "
            "a diffraction claim must be a finite number"
        )
    two_theta, possible = _bragg(claims, table.wavelength[where])
    index = table.index(tolerances.intensity_floor)
    right = np.searchsorted(index.keys, where * STRIDE + two_theta)
    to_right = index.two_theta[right] - two_theta
    to_left = two_theta - index.two_theta[right - 1]
    near = np.minimum(to_left, to_right) <= tolerances.two_theta + ROUNDING
    low, high = table.window[where].T
    outside = (two_theta < low - ROUNDING) | (two_theta > high + ROUNDING)
    reason = np.where(near, _CODE["line"], _CODE["no_line"]).astype(np.int8)
    # From the weakest ground to the strongest: what no angle can be violates on any structure.
    reason[outside] = _CODE["outside_window"]
    reason[~table.has_lines[where]] = _CODE["no_reference_lines"]
    reason[table.partial[where]] = _CODE["partial_occupancy"]
    reason[~possible] = _CODE["impossible"]
    return _Judged(reason, two_theta, np.where(to_left <= to_right, right - 1, right), index)


_D, _Q = map(quantity_code, ("d_spacing", "scattering_vector"))


def _bragg(
    claims: ClaimTable, wavelength: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """2θ in degree of every claim, and whether first-order Bragg geometry allows it.

    sin θ = λ / 2d = q λ / 4π must lie in (0, 1]; its end is 2θ = 180 degree, d = λ/2. The angle
    of an impossible claim is 0.
    """
    two_theta = claims.value.copy()
    possible = (two_theta > 0) & (two_theta <= 180)
    for quantity in (_D, _Q):
        rows = np.flatnonzero(claims.quantity == quantity)
        if not len(rows):
            continue
        value = claims.value[rows]
        with np.errstate(divide="ignore", over="ignore"):
            half = wavelength[rows] / 2
            sine = half / value if quantity == _D else half * value / (2 * np.pi)
        possible[rows] = (value > 0) & (sine <= 1 + _UNIT_ROUNDING)
        two_theta[rows] = np.degrees(2 * np.arcsin(np.clip(sine, 0, 1)))
    two_theta[~possible] = 0.0
    return two_theta, possible


def _details(
    reason: str, judged: _Judged, reference: DiffractionReference, tolerances: Tolerances
) -> dict[str, Any]:
    """The numbers of one verdict."""
    details: dict[str, Any] = {
        "wavelength": reference.wavelengths[0],
        "tolerance": tolerances.two_theta,
    }
    if reason == "impossible":
        return details
    two_theta = float(judged.two_theta[0])
    details["two_theta"] = two_theta
    sine = math.sin(math.radians(two_theta / 2))
    # The smallest angles underflow: their spacing has no finite number.
    if sine > 0:
        details["d_spacing"] = reference.wavelengths[0] / (2 * sine)
    line = int(judged.positions.line[judged.nearest[0]])
    if line >= 0 and reference.lines is not None:
        nearest = float(judged.positions.two_theta[judged.nearest[0]])
        details["nearest_two_theta"] = nearest
        details["nearest_hkl"] = reference.lines.hkl[line]
        details["distance"] = abs(nearest - two_theta)
    return details


_SYMBOLS = {
    "two_theta": ("2θ", "°"),
    "d_spacing": ("d", " Å"),
    "scattering_vector": ("q", " Å⁻¹"),
}


def _sentence(
    reason: str, claim: Claim, reference: DiffractionReference, details: dict[str, Any]
) -> str:
    """The verdict in words."""
    symbol, unit = _SYMBOLS[claim.quantity]
    stated = f"{symbol} = {claim.value:.6g}{unit}"
    if reason == "impossible":
        return f"{stated} can't be: {_limit(claim, reference.wavelengths[0])}."
    if claim.quantity != "two_theta":
        stated += f" (2θ = {details['two_theta']:.2f}°)"
    low, high = reference.window
    if reason == "partial_occupancy":
        return (
            f"{stated} is not judged: {reference.name} has partial occupancy, and which ordered "
            "arrangement is meant is not stated."
        )
    if reason == "no_reference_lines":
        return f"{stated} is not judged: {reference.name} has no line from {low:g} to {high:g}°."
    if reason == "outside_window":
        return f"{stated} is not judged: the window measured runs from {low:g} to {high:g}°."
    nearest = (
        f"{details['distance']:.2f}° from the nearest line of {reference.name}, "
        f"{details['nearest_hkl']} at {details['nearest_two_theta']:.2f}°"
    )
    within = "within" if reason == "line" else "beyond"
    return f"{stated} lies {nearest}: {within} ±{details['tolerance']:g}°."


def _limit(claim: Claim, wavelength: float) -> str:
    """Which limit of first-order Bragg geometry an impossible claim breaks."""
    assert not isinstance(claim.value, str)
    if claim.value <= 0:
        return "it must be above 0"
    return {
        "two_theta": "2θ ends at 180°",
        "d_spacing": f"first-order reflection needs d ≥ λ/2 = {wavelength / 2:.4f} Å",
        "scattering_vector": f"q ends at 4π/λ = {4 * np.pi / wavelength:.4f} Å⁻¹",
    }[claim.quantity]
