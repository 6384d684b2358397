"""Spectra: a claimed Raman band must be a maximum that stands out of the spectrum.

A claim passes only when a genuine interior local maximum lies nearby whose prominence exceeds a
share of the dynamic range (paper, section 4.3). Maxima are sought after despiking and baseline
correction, and must stand out of the noise too: on a noisy or drifting spectrum every window has a
highest reading, which is why the criterion that this one superseded passed too much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from matpcr_utils.claims.model import Claim, ClaimTable
from matpcr_utils.errors import MatPCRError
from matpcr_utils.oracles.base import (
    Outcome,
    Verdict,
    VerdictTable,
    as_table,
    positions_of,
    require_own,
)
from matpcr_utils.references.peaks import Preparation, PreparedSpectrum
from matpcr_utils.references.spectrum_cleaning import Array, HasSpectrum
from matpcr_utils.references.spectrum_table import STRIDE, SpectrumTable, Stretches

__all__ = [
    "CONSTRAINT",
    "CRITERIA",
    "REASONS",
    "Preparation",
    "SpectrumTable",
    "Tolerances",
    "accepted",
    "check",
    "check_many",
]

CONSTRAINT = "spectra"

REASONS: dict[str, Outcome] = {
    "peak": Outcome.CONSISTENT,
    "weak_maximum": Outcome.VIOLATION,
    "no_maximum": Outcome.VIOLATION,
    "edge_maximum": Outcome.VIOLATION,
    "shoulder": Outcome.ABSTAIN,
    "not_measured": Outcome.ABSTAIN,
    "near_laser_line": Outcome.ABSTAIN,
    "no_signal": Outcome.ABSTAIN,
}
_CODE = {name: code for code, name in enumerate(REASONS)}

#: The criterion of the paper, and the one that its precision audit made it give up.
CRITERIA = ("prominence", "windowed_maximum")

#: Claims at the very end of a window pass in spite of binary rounding; 1/cm.
_ROUNDING = 1e-5


@dataclass(frozen=True)
class Tolerances:
    """When a maximum is near enough, and when it stands out.

    Attributes
    ----------
    window : float
        1/cm, inclusive, from the claim to a maximum; in (0, 100]. A claim on a flat or noisy top
        passes anywhere on it. Most axes are uncalibrated: the silicon line of the shipped spectra
        reads 518.7 to 523.8.
    prominence : float
        Least prominence, as a share of the dynamic range (the prominence of the strongest band);
        in (0, 1].
    noise_multiple : float
        Least prominence in units of the local noise. The largest of a few thousand independent
        readings reaches 4 standard deviations up and as many down, so 8 passes no noise. At most
        1000.
    background_share : float
        Least prominence as a share of the span of the baseline: what is smaller can be an error of
        the baseline fit, or a ripple of the detector's response.
    shoulder : float
        Least height of a hidden band, as a share of the dynamic range, for the oracle to abstain.
        Below `prominence`, because a neighbour makes a shoulder look lower than it is.
    criterion : {"prominence", "windowed_maximum"}
        ``windowed_maximum`` passes a claim when the highest raw reading within the window lies
        above the lowest of the spectrum by `prominence` times the range of the readings. It is
        our reading of the criterion that the paper gave up, and kept to show why.
    preparation : Preparation
        How spectra are despiked, smoothed and freed of their baseline.

    Raises
    ------
    MatPCRError
        If one of them lies outside its range.
    """

    window: float = 5.0
    prominence: float = 0.05
    noise_multiple: float = 8.0
    background_share: float = 0.02
    shoulder: float = 0.02
    criterion: str = "prominence"
    preparation: Preparation = field(default_factory=Preparation)

    def __post_init__(self) -> None:
        if not 0 < self.window <= 100:
            raise MatPCRError(f"window = {self.window} must lie in (0, 100] 1/cm, e.g. 5")
        if not 0 < self.prominence <= 1:
            raise MatPCRError(
                f"prominence = {self.prominence} must lie in (0, 1], a share of the dynamic range, "
                "e.g. 0.05"
            )
        for name, top, example in (
            ("noise_multiple", 1000, 8),
            ("background_share", 1, 0.02),
            ("shoulder", 1, 0.02),
        ):
            value = getattr(self, name)
            if not 0 <= value <= top:
                raise MatPCRError(f"{name} = {value} must lie in [0, {top}], e.g. {example}")
        if self.criterion not in CRITERIA:
            raise MatPCRError(
                f"criterion = {self.criterion!r}: choose one of {', '.join(CRITERIA)}"
            )


def check(
    claim: Claim,
    reference: HasSpectrum | PreparedSpectrum,
    tolerances: Tolerances | None = None,
) -> Verdict:
    """Judge one claimed Raman shift against one spectrum.

    Parameters
    ----------
    claim : Claim
        Of `raman_shift`, in 1/cm.
    reference : Spectrum or PreparedSpectrum
    tolerances : Tolerances, optional

    Returns
    -------
    Verdict
        Its details hold `claimed`, `window`, `threshold`, `dynamic_range` and, when there is a
        maximum above the noise, of the nearest one (accepted, if any is) its place `nearest`, its
        `distance`, the ends of its `summit`, its `prominence` and that as a `share` of the range.

    Raises
    ------
    MatPCRError
        If the claim is another constraint's, NaN or infinite, or the spectrum can't be prepared
        (NaN in it, say).
    """
    tolerances = Tolerances() if tolerances is None else tolerances
    table = SpectrumTable.from_spectra([reference], tolerances.preparation)
    code = int(_judge(as_table([claim]), table, tolerances, np.zeros(1, np.intp))[0])
    reason = list(REASONS)[code]
    details = _details(claim, table, tolerances)
    sentence = _sentence(reason, claim, table, tolerances, details)
    return Verdict(REASONS[reason], reason, sentence, details)


def check_many(
    claims: ClaimTable | Sequence[Claim],
    references: SpectrumTable | Sequence[HasSpectrum | PreparedSpectrum],
    tolerances: Tolerances | None = None,
    *,
    index: NDArray[np.intp] | None = None,
) -> VerdictTable:
    """Judge claim i against spectrum ``index[i]``; the verdicts of `check`.

    Parameters
    ----------
    claims : ClaimTable or sequence of Claim, n rows
    references : SpectrumTable or sequence of Spectrum
        A `SpectrumTable` that is used again saves the preparation.
    tolerances : Tolerances, optional
    index : ndarray of int, shape (n,), optional
        Default: claim i is about spectrum i.

    Raises
    ------
    MatPCRError
        As `check`; and if `index` does not fit, or the table was prepared otherwise
        than `tolerances.preparation` says.
    """
    rows = as_table(claims)
    tolerances = Tolerances() if tolerances is None else tolerances
    table = (
        references
        if isinstance(references, SpectrumTable)
        else SpectrumTable.from_spectra(references, tolerances.preparation)
    )
    if table.preparation != tolerances.preparation:
        raise MatPCRError(
            f"the table was prepared with {table.preparation}, not with the tolerances' "
            f"{tolerances.preparation}: build it with the same"
        )
    where = positions_of(len(rows), len(table), index)
    return VerdictTable(_judge(rows, table, tolerances, where), REASONS)


def _judge(
    claims: ClaimTable, table: SpectrumTable, tolerances: Tolerances, where: NDArray[np.intp]
) -> NDArray[np.int8]:
    """The one place that decides."""
    require_own(claims, CONSTRAINT)
    bad = np.flatnonzero(~np.isfinite(claims.value))
    if len(bad):
        raise MatPCRError(
            f"claim {bad[0]} is a Raman shift of {claims.value[bad[0]]}: give a finite number, 1/cm"
        )
    low, high = table.axis[where].T
    value = claims.value
    outside = (value < low - _ROUNDING) | (value > high + _ROUNDING)
    value = np.clip(value, low, high)
    margin = tolerances.window + _ROUNDING
    if tolerances.criterion == "prominence":
        reason = _by_prominence(value, table, tolerances, where, margin)
    else:
        reason = _by_windowed_maximum(value, table, tolerances, where, margin)
    # From the weakest ground for not judging to the strongest.
    start = table.preparation.min_shift
    reason[table.gaps.covers(where, value, -margin)] = _CODE["not_measured"]
    reason[value < start - _ROUNDING] = _CODE["near_laser_line"]
    reason[outside] = _CODE["not_measured"]
    reason[~table.has_signal[where]] = _CODE["no_signal"]
    return reason


def accepted(table: SpectrumTable, tolerances: Tolerances) -> NDArray[np.bool_]:
    """Which of the table's maxima count as bands."""
    floor = _floor(table, tolerances, tolerances.prominence)[table.maxima.owner]
    narrow = table.width <= table.preparation.widest
    tall = table.prominence >= np.maximum(floor, tolerances.noise_multiple * table.noise)
    return narrow & tall & (table.prominence > 0)


def _floor(table: SpectrumTable, tolerances: Tolerances, share: float) -> Array:
    """Least height of a feature in each spectrum, the noise aside."""
    return np.maximum(
        share * table.dynamic_range, tolerances.background_share * table.background_span
    )


def _by_prominence(
    value: Array,
    table: SpectrumTable,
    tolerances: Tolerances,
    where: NDArray[np.intp],
    margin: float,
) -> NDArray[np.int8]:
    def near(stretches: Stretches, position: Array, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return stretches.around(position, margin).take(mask).covers(where, value, 0.0)

    multiple = tolerances.noise_multiple
    reason = np.full(len(value), _CODE["no_maximum"], np.int8)
    above_noise = (table.prominence > 0) & (table.prominence >= multiple * table.noise)
    reason[near(table.maxima, table.position, above_noise)] = _CODE["weak_maximum"]
    rises = table.edge_rise > np.maximum(
        multiple * table.edge_noise, tolerances.prominence * table.dynamic_range[:, None]
    )
    near_end = np.abs(value[:, None] - table.searched[where]) <= margin
    reason[(near_end & rises[where]).any(axis=1)] = _CODE["edge_maximum"]
    floor = _floor(table, tolerances, tolerances.shoulder)[table.shoulders.owner]
    hidden = table.shoulder_height >= np.maximum(floor, multiple * table.shoulder_noise)
    reason[near(table.shoulders, table.shoulder, hidden)] = _CODE["shoulder"]
    reason[near(table.maxima, table.position, accepted(table, tolerances))] = _CODE["peak"]
    return reason


def _by_windowed_maximum(
    value: Array,
    table: SpectrumTable,
    tolerances: Tolerances,
    where: NDArray[np.intp],
    margin: float,
) -> NDArray[np.int8]:
    lengths = [len(p.measured) for p in table.prepared]
    owner = np.repeat(np.arange(len(table)), lengths)
    shift = np.concatenate([p.measured_shift for p in table.prepared])
    ranges = np.array([(p.measured.min(), p.measured.max()) for p in table.prepared])
    share = np.concatenate(
        [
            (p.measured - low) / max(high - low, np.finfo(float).tiny)
            for p, (low, high) in zip(table.prepared, ranges, strict=True)
        ]
    )
    key = where * STRIDE + value
    first = np.searchsorted(owner * STRIDE + shift, key - margin)
    end = np.searchsorted(owner * STRIDE + shift, key + margin, "right")
    highest = np.maximum.reduceat(np.append(share, -1.0), np.ravel(np.column_stack([first, end])))
    passes = (end > first) & (highest[::2] >= tolerances.prominence)
    return np.where(passes, _CODE["peak"], _CODE["no_maximum"]).astype(np.int8)


def _details(claim: Claim, table: SpectrumTable, tolerances: Tolerances) -> dict[str, Any]:
    """The numbers of one verdict."""
    spectrum = table.prepared[0]
    claimed = float(claim.value)
    details: dict[str, Any] = {
        "claimed": claimed,
        "window": tolerances.window,
        "threshold": float(_floor(table, tolerances, tolerances.prominence)[0]),
        "dynamic_range": spectrum.dynamic_range,
    }
    away = np.maximum(np.maximum(spectrum.left - claimed, claimed - spectrum.right), 0.0)
    above_noise = table.prominence > tolerances.noise_multiple * table.noise
    # The nearest band; or, where there is none at all, the nearest maximum above the noise.
    for candidates in (accepted(table, tolerances), above_noise):
        if candidates.any():
            nearest = int(np.argmin(np.where(candidates, away, np.inf)))
            details["nearest"] = float(spectrum.position[nearest])
            details["distance"] = abs(details["nearest"] - claimed)
            details["summit"] = (float(spectrum.left[nearest]), float(spectrum.right[nearest]))
            details["prominence"] = float(spectrum.prominence[nearest])
            details["share"] = details["prominence"] / max(spectrum.dynamic_range, 1e-300)
            break
    return details


def _sentence(
    reason: str,
    claim: Claim,
    table: SpectrumTable,
    tolerances: Tolerances,
    details: dict[str, Any],
) -> str:
    """The verdict in words."""
    stated = f"{details['claimed']:.6g} cm⁻¹"
    low, high = table.axis[0]
    unjudged = {
        "no_signal": "all readings are equal, so the spectrum has no maximum anywhere",
        "near_laser_line": (
            f"below {table.preparation.min_shift:g} cm⁻¹ the laser line and its filter rule the "
            "spectrum"
        ),
        "not_measured": f"it was not measured; the axis runs from {low:.1f} to {high:.1f} cm⁻¹",
        "shoulder": (
            "a shoulder is there, a band whose neighbour leaves it no maximum that stands out"
        ),
    }
    if low <= details["claimed"] <= high:
        unjudged["not_measured"] = "it lies in a gap of the axis"
    if reason in unjudged:
        return f"{stated} is not judged: {unjudged[reason]}."
    window = tolerances.window
    if tolerances.criterion == "windowed_maximum":
        which = "the highest" if reason == "peak" else "no"
        return (
            f"{stated}: {which} reading within ±{window:g} cm⁻¹ lies {tolerances.prominence:.0%} "
            "of the range above the lowest of the spectrum (the superseded criterion)."
        )
    if "nearest" not in details:
        found = "no maximum of the spectrum stands out of the noise"
    else:
        found = (
            f"the nearest band, at {details['nearest']:.1f} cm⁻¹ with {details['share']:.0%} of "
            f"the dynamic range, is {details['distance']:.1f} cm⁻¹ away"
        )
    if reason == "peak":
        if details["distance"] <= window:
            return f"{stated} is a band: {found}, within ±{window:g}."
        left, right = details["summit"]
        return f"{stated} is a band: {found}, but its top spans {left:.1f} to {right:.1f} cm⁻¹."
    why = {
        "weak_maximum": "only a maximum that stands out too little is within",
        "no_maximum": "no maximum above the noise is within",
        "edge_maximum": "the readings only rise towards the end of the axis within",
    }[reason]
    return f"{stated} is no band: {why} ±{window:g}; {found}."
