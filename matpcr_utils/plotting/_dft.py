"""What the figures of the three DFT-grounded oracles share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from matpcr_utils import oracles
from matpcr_utils.claims.model import ClaimTable
from matpcr_utils.plotting import COLORS, axes

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

OUTCOMES = ("consistent", "violation", "abstain")


def strips(
    constraint: str,
    labels: Sequence[str],
    references: Any,
    values: NDArray[np.float64],
    xlabel: str,
    tolerances: Any,
) -> Figure:
    """The oracle's verdict on every label along an axis of reference values.

    Parameters
    ----------
    constraint : str
    labels : sequence of str
        One strip each.
    references : DFTTable or sequence of DFTEntry
        One a value.
    values : ndarray, shape (n,)
        Rising; where each reference stands on the axis.
    xlabel : str
    tolerances : Tolerances
    """
    from matplotlib.patches import Patch

    figure, panel = axes(height=0.8 + 0.42 * len(labels))
    edges = np.concatenate([values[:1], (values[1:] + values[:-1]) / 2, values[-1:]])
    for y, label in enumerate(reversed(labels)):
        claims = ClaimTable.labels(constraint, [label] * len(values))
        outcome = oracles.get(constraint).check_many(claims, references, tolerances).outcomes
        # One bar a run of equal verdicts.
        starts = np.flatnonzero(np.r_[True, outcome[1:] != outcome[:-1]])
        for start, stop in zip(starts, np.r_[starts[1:], len(values)], strict=True):
            left, right = edges[start], edges[stop]
            panel.barh(y, right - left, 0.7, left, color=COLORS[str(outcome[start])], alpha=0.8)
    panel.set_yticks(
        range(len(labels)), [f"“{name.replace('_', ' ')}”" for name in reversed(labels)]
    )
    panel.set_xlim(values[0], values[-1])
    panel.set_xlabel(xlabel)
    patches = [Patch(color=COLORS[name], alpha=0.8, label=name) for name in OUTCOMES]
    figure.legend(handles=patches, loc="outside upper center", ncols=3)
    return figure


def threshold(
    panel: Axes, x: float, text: str, *, height: float = 0.97, left: bool = False
) -> None:
    """A dashed vertical line with its name at the top."""
    panel.axvline(x, color=COLORS["reference"], linestyle="--", linewidth=1)
    panel.annotate(
        text,
        (x, height),
        (-4 if left else 4, 0),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        ha="right" if left else "left",
        va="top",
        fontsize=9,
    )


def heat_maps(
    frame: pd.DataFrame, rows: str, columns: str, values: Sequence[tuple[str, str]]
) -> Figure:
    """One heat map a value over a grid of two thresholds, every cell with its number.

    Parameters
    ----------
    frame : DataFrame
        One row a pair of thresholds.
    rows, columns : str
        The columns of `frame` that hold the two thresholds.
    values : sequence of (str, str)
        Column of `frame` and the format of its numbers, e.g. ``("excluded share", ".1%")``.
    """
    figure, panels = axes(1, len(values), height=3.4, sharey=True, squeeze=False)
    for panel, (name, form) in zip(panels[0], values, strict=True):
        grid = frame.pivot(index=rows, columns=columns, values=name)
        shown = np.ma.masked_invalid(grid.to_numpy(float))
        top = float(shown.max()) or 1.0
        panel.imshow(shown, cmap="Blues", vmin=0, vmax=1.6 * top, aspect="auto", origin="lower")
        for (i, j), value in np.ndenumerate(shown.filled(np.nan)):
            if np.isfinite(value):
                panel.annotate(format(value, form), (j, i), ha="center", va="center", fontsize=7.5)
        panel.set_xticks(range(grid.shape[1]), [f"{x:g}" for x in grid.columns])
        panel.set_yticks(range(grid.shape[0]), [f"{y:g}" for y in grid.index])
        panel.set_title(name.replace(", ", ",\n"), fontsize=9)
        panel.set_xlabel(columns)
        panel.spines[:].set_visible(False)
        panel.tick_params(length=0)
    panels[0][0].set_ylabel(rows)
    return figure
