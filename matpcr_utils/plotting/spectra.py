"""Figures of the chapter on spectra."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from matpcr_utils.claims.model import Claim
from matpcr_utils.oracles import spectra as oracle
from matpcr_utils.plotting import COLORS, axes
from matpcr_utils.references.peaks import PreparedSpectrum, prepared
from matpcr_utils.references.spectrum_table import SpectrumTable

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from matpcr_utils.references.spectra import Spectrum

_SHIFT = "Raman shift (cm⁻¹)"


def preparation(spectrum: Spectrum, tolerances: oracle.Tolerances | None = None) -> Figure:
    """From the readings to the bands in three steps, one panel each."""
    tolerances = oracle.Tolerances() if tolerances is None else tolerances
    found = prepared(spectrum, tolerances.preparation)
    figure, (raw, below, result) = axes(3, 1, height=6.6, sharex=True)
    raw.plot(found.measured_shift, found.measured, color=COLORS["reference"], linewidth=0.8)
    spikes = np.isin(found.measured_shift, found.spikes)
    raw.plot(
        found.measured_shift[spikes],
        found.measured[spikes],
        "v",
        color=COLORS["violation"],
        label="cosmic spikes",
    )
    raw.set_title("1  readings, and the spikes in them", loc="left")
    if spikes.any():
        raw.legend()
    below.plot(found.shift, found.despiked, color=COLORS["reference"], linewidth=0.8)
    below.plot(found.shift, found.baseline, color=COLORS["violation"], label="baseline")
    below.set_title("2  without spikes, and the baseline below", loc="left")
    below.legend()
    _bands(result, found, tolerances)
    result.set_title("3  baseline off, smoothed: the bands that count", loc="left")
    result.set_xlabel(_SHIFT)
    result.set_xlim(found.shift[0], found.shift[-1])
    for panel in (raw, below, result):
        panel.set_ylabel("counts")
    return figure


def _bands(panel: Axes, found: PreparedSpectrum, tolerances: oracle.Tolerances) -> None:
    """Prepared signal, the least height of a band, and the accepted bands with their positions."""
    panel.plot(found.shift, found.signal, color=COLORS["reference"], linewidth=0.8)
    floor = max(
        tolerances.prominence * found.dynamic_range,
        tolerances.background_share * found.background_span,
    )
    panel.plot(
        found.shift,
        np.maximum(floor, tolerances.noise_multiple * found.noise),
        color=COLORS["abstain"],
        linestyle="--",
        linewidth=1,
        label="least prominence",
    )
    table = SpectrumTable.from_spectra([found], tolerances.preparation)
    places = found.position[oracle.accepted(table, tolerances)]
    heights = np.interp(places, found.shift, found.signal)
    panel.plot(places, heights, "v", color=COLORS["consistent"], label="bands")
    panel.legend(loc="upper right")


def judged(
    spectrum: Spectrum,
    shifts: Sequence[float],
    tolerances: oracle.Tolerances | None = None,
    *,
    margin: float = 60.0,
) -> Figure:
    """A prepared spectrum with the window of each claimed shift, coloured by its verdict.

    Parameters
    ----------
    spectrum : Spectrum
    shifts : sequence of float
        Claims, 1/cm.
    tolerances : oracle.Tolerances, optional
    margin : float
        1/cm shown beyond the outermost claims.
    """
    tolerances = oracle.Tolerances() if tolerances is None else tolerances
    figure, panel = axes(height=3.2)
    found = prepared(spectrum, tolerances.preparation)
    _zoom(panel, found, min(shifts) - margin, max(shifts) + margin)
    seen = set()
    for shift in shifts:
        verdict = oracle.check(Claim("raman_shift", float(shift)), spectrum, tolerances)
        outcome = str(verdict.outcome)
        low, high = shift - tolerances.window, shift + tolerances.window
        label = None if outcome in seen else f"claim: {outcome}"
        panel.axvspan(low, high, color=COLORS[outcome], alpha=0.25, linewidth=0, label=label)
        panel.axvline(shift, color=COLORS[outcome], linewidth=1)
        seen.add(outcome)
    panel.legend()
    panel.set_xlabel(_SHIFT)
    panel.set_ylabel("counts, baseline off")
    return figure


def _zoom(panel: Axes, found: PreparedSpectrum, low: float, high: float) -> None:
    inside = (found.shift >= low) & (found.shift <= high)
    panel.plot(found.shift[inside], found.signal[inside], color=COLORS["reference"], linewidth=1)
    panel.set_xlim(max(low, found.shift[0]), min(high, found.shift[-1]))


def gallery(
    cases: Sequence[tuple[str, Spectrum, float]],
    tolerances: oracle.Tolerances | None = None,
    *,
    margin: float = 80.0,
) -> Figure:
    """Claims on real spectra that the oracle flags or leaves open, a panel each.

    Parameters
    ----------
    cases : sequence of (title, spectrum, claimed shift)
        An even number fills the rows of two.
    """
    tolerances = oracle.Tolerances() if tolerances is None else tolerances
    rows = -(-len(cases) // 2)
    figure, panels = axes(rows, 2, height=2.5 * rows)
    for panel, (title, spectrum, shift) in zip(np.ravel(panels), cases, strict=False):
        verdict = oracle.check(Claim("raman_shift", float(shift)), spectrum, tolerances)
        color = COLORS[str(verdict.outcome)]
        found = prepared(spectrum, tolerances.preparation)
        _zoom(panel, found, shift - margin, shift + margin)
        low, high = shift - tolerances.window, shift + tolerances.window
        panel.axvspan(low, high, color=color, alpha=0.25, linewidth=0)
        panel.axvline(shift, color=color, linewidth=1)
        panel.set_title(f"{title}\n{shift:g} cm⁻¹: {verdict.reason}", loc="left", fontsize=9)
        panel.set_yticks([])
    for panel in np.ravel(panels)[len(cases) :]:
        panel.set_axis_off()
    figure.supxlabel(_SHIFT, fontsize=10)
    return figure


def line_positions(readings: pd.DataFrame, expected: float, window: float) -> Figure:
    """Where each spectrum shows one and the same line.

    Parameters
    ----------
    readings : DataFrame
        Columns ``instrument`` (a label a row) and ``position`` (1/cm).
    expected, window : float
        1/cm: the line's place in the literature and the oracle's window.
    """
    groups = list(readings.groupby("instrument"))
    figure, panel = axes(height=0.8 + 0.35 * len(groups))
    panel.axvspan(expected - window, expected + window, color=COLORS["consistent"], alpha=0.12)
    panel.axvline(expected, color=COLORS["consistent"], linewidth=1)
    for row, (_, group) in enumerate(groups):
        panel.plot(group["position"], [row] * len(group), "o", color=COLORS["reference"], alpha=0.6)
    panel.set_yticks(range(len(groups)), [str(name) for name, _ in groups])
    panel.set_ylim(-0.7, len(groups) - 0.3)
    panel.set_xlabel(_SHIFT)
    return figure


def sensitivity(grid: pd.DataFrame) -> Figure:
    """Pass rates over window and prominence: true, planted and chance claims, a panel each.

    Parameters
    ----------
    grid : DataFrame
        As `controls.spectra_report.sensitivity` returns.
    """
    figure, panels = axes(1, 3, height=3.0, sharey=True)
    titles = {"true": "true claims", "planted": "planted claims", "chance": "chance claims"}
    for panel, (name, title) in zip(panels, titles.items(), strict=True):
        table = grid.pivot(index="prominence", columns="window", values=name)
        _heat(panel, table.to_numpy(), table.columns, table.index)
        panel.set_title(f"{title} that pass")
        panel.set_xlabel("window (cm⁻¹)")
    panels[0].set_ylabel("prominence (share)")
    return figure


def _heat(panel: Axes, rates: Any, columns: Any, rows: Any) -> None:
    panel.imshow(rates, vmin=0, vmax=1, cmap="Blues", aspect="auto", origin="lower")
    panel.set_xticks(range(len(columns)), [f"{value:g}" for value in columns])
    panel.set_yticks(range(len(rows)), [f"{value:g}" for value in rows])
    for (row, column), rate in np.ndenumerate(rates):
        ink = "white" if rate > 0.6 else COLORS["reference"]
        panel.text(column, row, f"{rate:.3f}", ha="center", va="center", fontsize=8, color=ink)
    panel.tick_params(length=0)
    for side in ("left", "bottom"):
        panel.spines[side].set_visible(False)
