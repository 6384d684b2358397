"""Figures of the chapter on data and provenance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from matpcr_utils.plotting import COLORS, axes

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from matpcr_utils.references.dft import DFTTable
    from matpcr_utils.references.patterns import MeasuredPattern
    from matpcr_utils.references.spectra import Spectrum


def funnel(counts: Mapping[str, int]) -> Figure:
    """Rows left after each step of a join, one bar a step, from top to bottom."""
    figure, panel = axes(height=0.6 + 0.42 * len(counts))
    names, values = list(counts), list(counts.values())
    panel.barh(range(len(names)), values, color=COLORS["consistent"], height=0.62)
    for i, value in enumerate(values):
        panel.annotate(f"{value:,}", (value, i), (4, 0), textcoords="offset points", va="center")
    panel.set_yticks(range(len(names)), names)
    panel.invert_yaxis()
    panel.set_xlim(0, max(values) * 1.12)
    panel.set_xlabel("entries")
    return figure


def distributions(table: DFTTable, near_hull: float) -> Figure:
    """Energy above hull, band gap and net moment of every entry, with the paper's thresholds."""
    figure, panels = axes(1, 3, height=2.9)
    moment = np.abs(table.total_magnetization) / table.nsites
    shown = (
        (table.energy_above_hull, "energy above hull\n(eV/atom)", (near_hull,), 1e-3),
        (table.band_gap, "band gap (eV)", (0.05, 0.20), 1e-2),
        (moment, "net moment per atom\n(μB)", (0.05,), 1e-3),
    )
    for panel, (values, label, limits, smallest) in zip(panels, shown, strict=True):
        values = values[np.isfinite(values)]
        top = values.max() * 1.2
        bins = np.geomspace(smallest, top, 40)
        # The logarithmic axis has no place for the zeros: they get a bar of their own.
        zeros = int((values < smallest).sum())
        panel.bar(smallest / 1.9, zeros, smallest / 2, color=COLORS["abstain"])
        panel.hist(values[values >= smallest], bins, color=COLORS["consistent"])
        panel.set_title(f"{zeros:,} of {len(values):,}\nbelow {smallest:g}", fontsize=9)
        for limit in limits:
            panel.axvline(limit, color=COLORS["violation"], linewidth=1.2, linestyle="--")
        panel.set_xscale("log")
        panel.set_yscale("log")
        panel.set_xlabel(label)
    panels[0].set_ylabel("entries")
    return figure


def hull_versions(table: DFTTable, near_hull: float) -> Figure:
    """Energy above hull of each entry in two database versions; changed verdicts stand out."""
    from matpcr_utils.references.audit import flipped

    figure, panel = axes(width=5.4, height=4.6)
    both = np.isfinite(table.energy_above_hull_recent)
    changed = flipped(table, near_hull)
    for mask, color, size, label in (
        (both & ~changed, "consistent", 10, "same verdict"),
        (changed, "violation", 22, "verdict changes"),
    ):
        panel.scatter(
            table.energy_above_hull[mask],
            table.energy_above_hull_recent[mask],
            s=size,
            color=COLORS[color],
            alpha=0.6,
            linewidths=0,
            label=f"{label} ({int(mask.sum()):,})",
        )
    for draw in (panel.axvline, panel.axhline):
        draw(near_hull, color=COLORS["reference"], linewidth=0.9, linestyle="--")
    for scale in (panel.set_xscale, panel.set_yscale):
        scale("symlog", linthresh=0.01)
    ticks = [0, 0.005, 0.01, 0.05, 0.1, 0.5, 1]
    panel.set_xticks(ticks, [f"{tick:g}" for tick in ticks], rotation=40)
    panel.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    panel.set_xlim(-0.0008, 5)
    panel.set_ylim(-0.0008, 5)
    panel.set_xlabel("energy above hull, 2018 or before (eV/atom)")
    panel.set_ylabel("energy above hull, recent (eV/atom)")
    figure.legend(loc="outside upper center", ncols=2, fontsize=9)
    return figure


def spectra(chosen: Sequence[Spectrum]) -> Figure:
    """Spectra as measured, each scaled to its own range, one above the other."""
    figure, panel = axes(height=0.8 + 0.85 * len(chosen))
    for level, spectrum in enumerate(reversed(chosen)):
        y = spectrum.intensity - spectrum.intensity.min()
        panel.plot(spectrum.shift, level + 0.88 * y / y.max(), color=COLORS["consistent"], lw=0.9)
        laser = "laser not stated" if spectrum.laser_nm is None else f"{spectrum.laser_nm:g} nm"
        made_by = ", ".join(part for part in (spectrum.instrument, laser) if part)
        panel.annotate(
            f"{spectrum.sample} ({made_by})",
            (0.995, level + 0.80),
            xycoords=("axes fraction", "data"),
            ha="right",
            fontsize=9,
        )
    panel.set_yticks([])
    panel.spines["left"].set_visible(False)
    panel.set_xlim(min(s.shift.min() for s in chosen), max(s.shift.max() for s in chosen))
    panel.set_xlabel("Raman shift (1/cm)")
    return figure


def line_positions(positions: pd.DataFrame, line: float) -> Figure:
    """Where each spectrum shows one line, a row a laboratory and instrument."""
    named = positions.assign(
        row=[
            f"{laboratory}, {instrument}" + ("" if np.isnan(laser) else f", {laser:g} nm")
            for laboratory, instrument, laser in zip(
                positions["laboratory"],
                positions["instrument"],
                positions["laser_nm"].astype(float),
                strict=True,
            )
        ]
    )
    rows = sorted(set(named["row"]), reverse=True)
    figure, panel = axes(height=0.9 + 0.36 * len(rows))
    panel.axvline(line, color=COLORS["reference"], linewidth=1, linestyle="--")
    panel.scatter(
        named["position"], [rows.index(row) for row in named["row"]], color=COLORS["consistent"],
        s=30, alpha=0.6, linewidths=0,
    )  # fmt: skip
    panel.set_yticks(range(len(rows)), rows)
    panel.set_ylim(-0.6, len(rows) - 0.4)
    panel.set_xlabel("position of the line (1/cm); dashed: literature")
    return figure


def measured_patterns(patterns: Sequence[MeasuredPattern], strongest: int = 12) -> Figure:
    """Measured patterns over the positions of their structures' strongest computed lines."""
    from matpcr_utils.references.lines import lines_of

    figure, panels = axes(len(patterns), height=2.5 * len(patterns), squeeze=False)
    for panel, pattern in zip(panels[:, 0], patterns, strict=True):
        root = np.sqrt(pattern.counts)
        panel.plot(pattern.two_theta, root, color=COLORS["consistent"], linewidth=0.7)
        computed = lines_of(pattern.structure, pattern.wavelength)
        order = np.argsort(-computed.intensity)[:strongest]
        angles = computed.two_theta()[order]
        panel.vlines(
            angles, -0.09 * root.max(), -0.03 * root.max(), color=COLORS["violation"], linewidth=1.2
        )
        panel.set_xlim(pattern.two_theta[0], min(pattern.two_theta[-1], angles.max() * 1.35))
        panel.set_title(f"{pattern.name}, λ = {pattern.wavelength:g} Å", loc="left")
        panel.set_ylabel("√counts")
    panels[-1, 0].set_xlabel("2θ (degree)")
    return figure
