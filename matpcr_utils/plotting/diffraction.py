"""Figures of the diffraction chapter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from matpcr_utils.controls.diffraction import gaps
from matpcr_utils.controls.diffraction_failures import Case
from matpcr_utils.controls.diffraction_studies import SYSTEMS, Measured
from matpcr_utils.oracles.diffraction import DiffractionReference, Tolerances, check
from matpcr_utils.plotting import COLORS, axes
from matpcr_utils.references.diffraction import CU_KALPHA

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from matpcr_utils.claims.model import Claim

#: How far a claim's triangle stands above the strongest line, in percent.
_CLAIM_HEIGHT = 112.0
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")


def bragg(wavelength: float = CU_KALPHA[0], spacings: Sequence[float] = ()) -> Figure:
    """Two planes and the path between them; and the angle of every spacing at one wavelength.

    Parameters
    ----------
    wavelength : float
        In angstrom.
    spacings : sequence of float
        Marked on the curve, in angstrom.
    """
    figure, (left, right) = axes(1, 2, height=3.3)
    _planes(left)
    spacing = wavelength / 2 * np.linspace(1, 6, 800)
    right.plot(spacing, np.degrees(2 * np.arcsin(wavelength / (2 * spacing))), color="k")
    right.axvspan(0, wavelength / 2, color=COLORS["violation"], alpha=0.18, linewidth=0)
    right.annotate(
        "$d < λ/2$: no angle",
        (0.8 * wavelength / 2, 165),
        (1.15 * wavelength, 165),
        va="center",
        arrowprops={"arrowstyle": "->", "color": COLORS["abstain"]},
    )
    marked = np.array([d for d in spacings if wavelength / 2 <= d <= spacing[-1]])
    angle = np.degrees(2 * np.arcsin(wavelength / (2 * marked)))
    right.plot(marked, angle, "o", color=COLORS["consistent"])
    right.set(xlim=(0, spacing[-1]), ylim=(0, 180), xlabel="spacing $d$ (Å)")
    right.set_ylabel("2θ (degree)")
    right.set_title(f"λ = {wavelength:.4g} Å")
    return figure


def _planes(panel: Axes) -> None:
    theta, gap, reach = np.radians(30), 1.0, 2.4
    along = np.array([np.cos(theta), np.sin(theta)])
    mirrored = along * [-1, 1]
    for depth in (0.0, -gap):
        panel.plot([-2.4, 2.4], [depth, depth], color=COLORS["reference"], linewidth=1.2)
        panel.plot(np.arange(-2, 3), np.full(5, depth), "o", color=COLORS["reference"], ms=5)
        foot = np.array([0.0, depth])
        for direction, arrow in ((mirrored, "<-"), (along, "->")):
            end = foot + direction * reach
            style = {"arrowstyle": arrow, "color": COLORS["consistent"], "shrinkA": 0, "shrinkB": 0}
            panel.annotate("", tuple(end), tuple(foot), arrowprops=style)
    feet = np.array([[0, -gap] + side * gap * np.sin(theta) for side in (mirrored, along)])
    for foot in feet:
        panel.plot([0, foot[0]], [-gap, foot[1]], color=COLORS["violation"], linewidth=3)
        panel.plot([0, foot[0]], [0, foot[1]], color=COLORS["abstain"], ls=":", linewidth=1.2)
    panel.annotate("$d$", (0.06, -0.35), fontsize=11)
    panel.plot([0, 0], [0, -gap], color=COLORS["abstain"], linewidth=0.8)
    panel.annotate("θ", (0.62, 0.08), fontsize=11)
    panel.annotate("the longer path, $2d\\,\\sin θ$", (0, -1.5), ha="center", fontsize=10)
    panel.set(xlim=(-2.5, 2.5), ylim=(-1.75, 1.35), title="$2d\\,\\sin θ = λ$")
    panel.set_aspect("equal")
    panel.axis("off")


def covered(
    reference: DiffractionReference, tolerances: Tolerances
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Starts and widths, in degree, of the parts of the window within tolerance of a line."""
    found = gaps(reference.table, tolerances.two_theta, tolerances.intensity_floor)
    real = found.length > 0
    low, high = reference.window
    starts = np.append(low, (found.start + found.length)[real])
    widths = np.append(found.start[real], high) - starts
    return starts[widths > 0], widths[widths > 0]


def sticks(
    reference: DiffractionReference,
    tolerances: Tolerances | None = None,
    claims: Sequence[Claim] = (),
) -> Figure:
    """Reference lines as sticks, tolerance as bands, claims as triangles coloured by verdict."""
    tolerances = Tolerances() if tolerances is None else tolerances
    figure, panel = axes(height=3.0)
    _sticks(panel, reference, tolerances, claims)
    panel.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=5, frameon=False)
    return figure


def _sticks(
    panel: Axes,
    reference: DiffractionReference,
    tolerances: Tolerances,
    claims: Sequence[Claim] = (),
) -> None:
    starts, widths = covered(reference, tolerances)
    bands = list(zip(starts, widths, strict=True))
    label = f"within ±{tolerances.two_theta:g}°"
    color = COLORS["consistent"]
    panel.broken_barh(bands, (0, 124), color=color, alpha=0.15, linewidth=0, label=label)
    table = reference.table
    kept = table.kept(tolerances.intensity_floor)
    for mask, name in ((kept, "reference"), (~kept, "abstain")):
        rows = mask & np.isfinite(table.intensity)
        label = "reference line" if mask is kept else "below the floor"
        if rows.any():
            x, height = table.two_theta[rows], table.intensity[rows]
            panel.vlines(x, 0, height, color=COLORS[name], linewidth=1.1, label=label)
    seen: set[str] = set()
    for claim in claims:
        verdict = check(claim, reference, tolerances)
        two_theta, outcome = verdict.details.get("two_theta"), str(verdict.outcome)
        if two_theta is not None:
            label = outcome if outcome not in seen else "_nolegend_"
            panel.plot(two_theta, _CLAIM_HEIGHT, "v", color=COLORS[outcome], ms=8, label=label)
            seen.add(outcome)
    panel.set(xlim=reference.window, ylim=(0, 124), xlabel="2θ (degree)")
    panel.set(ylabel="intensity (%)", title=reference.name)


def measured(found: Sequence[Measured], strongest: int = 12) -> Figure:
    """Measured patterns with their strongest peaks marked by verdict and the lines below."""
    figure, panels = axes(len(found), 1, height=2.5 * len(found))
    for panel, one in zip(np.atleast_1d(panels), found, strict=True):
        _measured(panel, one, strongest)
    first = np.atleast_1d(panels)[0]
    first.legend(loc="upper right", frameon=False)
    return figure


def _measured(panel: Axes, one: Measured, strongest: int) -> None:
    pattern = one.pattern
    root = np.sqrt(np.maximum(pattern.counts, 0))
    panel.plot(pattern.two_theta, root, color=COLORS["reference"], linewidth=0.7)
    angle, passes = one.two_theta[:strongest], one.passes[:strongest]
    height = np.interp(angle, pattern.two_theta, root) + 0.06 * root.max()
    for mask, outcome in ((passes, "consistent"), (~passes, "violation")):
        if mask.any():
            label = f"{int(mask.sum())} of the {len(angle)} strongest: {outcome}"
            panel.plot(angle[mask], height[mask], "v", color=COLORS[outcome], label=label)
    table = one.reference.table
    lines = table.two_theta[table.kept(1.0)]
    floor = -0.07 * root.max()
    panel.plot(lines, np.full(len(lines), floor), "|", color=COLORS["second"], ms=7)
    panel.set(xlim=one.reference.window, ylim=(2 * floor, 1.15 * root.max()))
    panel.set(xlabel="2θ (degree)", ylabel="√counts")
    panel.set_title(f"{pattern.name}, λ = {pattern.wavelength:.4f} Å")


def trade_off(frame: pd.DataFrame) -> Figure:
    """True peaks flagged against axis covered; a line an intensity floor, a panel a pattern."""
    names = list(dict.fromkeys(frame["pattern"]))
    figure, panels = axes(1, len(names), height=3.4, sharey=True)
    shades = _shades(frame["floor"].nunique())
    for panel, name in zip(np.atleast_1d(panels), names, strict=True):
        for shade, marker, (floor, rows) in zip(
            shades, _MARKERS, frame[frame["pattern"] == name].groupby("floor"), strict=False
        ):
            label = f"floor {floor:g} %"
            panel.plot(
                rows["covered"], rows["flagged"], "-", marker=marker, color=shade, label=label, ms=4
            )
        panel.set(xlim=(0, 1), ylim=(-0.03, 1), title=name)
        panel.set_xlabel("share of the axis covered")
    np.atleast_1d(panels)[0].set_ylabel("measured peaks flagged")
    np.atleast_1d(panels)[-1].legend(frameon=False)
    return figure


def coverage(frame: pd.DataFrame, tolerance: float) -> Figure:
    """Covered share of the axis: against the tolerance, and against the size of the cell.

    Parameters
    ----------
    frame : DataFrame
        Of `coverage_frame`.
    tolerance : float
        In degree; the one shown against cell size.
    """
    figure, (left, right) = axes(1, 2, height=3.8, sharey=True)
    present = [system for system in SYSTEMS if (frame["system"] == system).any()]
    shown = frame[frame["tolerance"] == tolerance]
    spread = np.random.default_rng(0)  # sets points of one size apart
    for shade, marker, system in zip(_shades(len(present)), _MARKERS, present, strict=False):
        mean = frame[frame["system"] == system].groupby("tolerance")["covered"].mean()
        left.plot(mean.index, mean, "-", marker=marker, color=shade, ms=4, label=system)
        rows = shown[shown["system"] == system]
        jitter = spread.uniform(-0.3, 0.3, len(rows))
        right.plot(rows["nsites"] + jitter, rows["covered"], marker, color=shade, ms=3.5, alpha=0.7)
    left.axvline(tolerance, color=COLORS["abstain"], linewidth=0.8, linestyle=":")
    left.set(xscale="log", xlabel="tolerance on 2θ (degree)", ylim=(0, 1))
    ticks = sorted(frame["tolerance"].unique())
    left.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    left.minorticks_off()
    left.set_ylabel("share of the axis that passes")
    left.legend(fontsize=8, loc="upper left", frameon=False)
    right.set(xlabel="atoms in the cell", title=f"±{tolerance:g}°")
    return figure


def gallery(cases: Sequence[Case]) -> Figure:
    """Cases in which a verdict misleads, one above the other."""
    figure, rows = axes(len(cases), 1, height=2.1 * len(cases))
    handles: dict[str, Any] = {}
    for panel, case in zip(np.atleast_1d(rows), cases, strict=True):
        _sticks(panel, case.reference, case.tolerances, case.claims)
        panel.set_title(f"{case.title} (±{case.tolerances.two_theta:g}°)")
        handle, labels = panel.get_legend_handles_labels()
        handles.update(zip(labels, handle, strict=True))
    handles = {label: h for label, h in handles.items() if not label.startswith("within")}
    figure.legend(
        handles.values(),
        handles.keys(),
        loc="outside lower center",
        ncols=len(handles),
        frameon=False,
    )
    return figure


def _shades(n: int) -> list[tuple[float, ...]]:
    """Colours from dark to light that also order in grey."""
    import matplotlib

    return [matplotlib.colormaps["viridis"](x) for x in np.linspace(0.0, 0.9, n)]
