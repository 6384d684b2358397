"""Figures of the positive control and of the chance-pass rate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from matpcr_utils.plotting import COLORS, axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from matpcr_utils.controls import ChanceResult, ControlResult


def rates(results: Sequence[ControlResult]) -> Figure:
    """False-negative and false-positive rates with 95 % intervals, one row a planted share.

    Parameters
    ----------
    results : sequence of ControlResult
        Of one constraint, or of several; rows are labelled with constraint and planted share.
    """
    figure, panels = axes(1, 2, height=0.9 + 0.42 * len(results), sharey=True)
    position = np.arange(len(results))[::-1]
    kinds = (
        ("false_negatives", "Missed of the planted", COLORS["violation"]),
        ("false_positives", "Flagged of the true", COLORS["consistent"]),
    )
    for panel, (name, title, color) in zip(panels, kinds, strict=True):
        found = [getattr(result, name) for result in results]
        estimate = np.array([r.estimate if r.n else np.nan for r in found])
        lower, upper = np.array([r.lower for r in found]), np.array([r.upper for r in found])
        panel.hlines(position, lower, upper, color=color, linewidth=3, alpha=0.45)
        panel.plot(estimate, position, "o", color=color)
        for y, r in zip(position, found, strict=True):
            panel.annotate(f"{r.count} of {r.n}", (r.upper, y), (6, -3), textcoords="offset points")
        # Room on the right for the counts; an axis that starts at zero shows zero as zero.
        panel.set_xlim(-0.02 * max(0.02, upper.max()), 1.6 * max(0.02, upper.max()))
        panel.set_title(title)
    panels[1].tick_params(left=False)
    figure.supxlabel("rate, with 95 % Clopper–Pearson interval", fontsize=10)
    panels[0].set_yticks(position, [f"{r.constraint}, {r.share:.0%} planted" for r in results])
    panels[0].set_ylim(-0.6, len(results) - 0.4)
    return figure


def chance(result: ChanceResult) -> Figure:
    """Histogram of the pass rate by reference, and the pooled rate as a line."""
    figure, panel = axes(height=2.8)
    by_reference = result.by_reference[np.isfinite(result.by_reference)]
    panel.hist(by_reference, bins=np.linspace(0, 1, 41).tolist(), color=COLORS["chance"], alpha=0.7)
    pooled = result.passes.estimate
    if pooled is not None:
        panel.axvline(pooled, color=COLORS["reference"], linewidth=1.5)
        panel.annotate(
            f"pooled {pooled:.3f}",
            (pooled, 1.0),
            (5, -12),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
        )
    panel.set_xlim(0, 1)
    panel.set_xlabel("share of chance claims that pass, by reference")
    panel.set_ylabel("references")
    return figure


def chance_by_oracle(results: Sequence[ChanceResult]) -> Figure:
    """Pooled chance-pass rate of several oracles, one bar each, with the spread over references."""
    figure, panel = axes(height=0.9 + 0.42 * len(results))
    position = np.arange(len(results))[::-1]
    for y, result in zip(position, results, strict=True):
        by_reference = result.by_reference[np.isfinite(result.by_reference)]
        low, high = np.quantile(by_reference, [0.05, 0.95])
        pooled = result.passes.count / result.passes.n
        panel.barh(y, pooled, color=COLORS["chance"], alpha=0.55)
        panel.hlines(y, low, high, color=COLORS["reference"], linewidth=1.5)
        panel.annotate(f"{pooled:.2f}", (max(pooled, high), y), (6, -4), textcoords="offset points")
    panel.set_yticks(position, [result.constraint for result in results])
    panel.set_xlim(0, 1.08)
    panel.set_xlabel("chance claims that pass (line: 5th to 95th percentile of references)")
    return figure
