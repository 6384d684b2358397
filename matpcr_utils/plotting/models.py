"""Figures that lay models side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from matpcr_utils.items.model import MODALITY
from matpcr_utils.plotting import COLORS, axes

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


def forest(summary: pd.DataFrame) -> Figure:
    """PCR with its interval, a panel a constraint type and a row a model, chance in every panel.

    Parameters
    ----------
    summary : DataFrame
        As `results.summary` returns it. Cells in the modality in which the paper poses the type
        are filled; others, open and just below.
    """
    names = list(dict.fromkeys(summary["constraint"]))
    models = list(dict.fromkeys(summary["model"]))
    rows = -(-len(names) // 3)
    figure, panels = axes(
        rows,
        min(3, len(names)),
        height=0.9 + rows * (0.55 + 0.36 * len(models)),
        sharex=True,
        sharey=True,
        squeeze=False,
    )
    for panel, name in zip(panels.flat, names, strict=False):
        cells = summary[summary["constraint"] == name]
        for row in cells.to_dict("records"):
            posed = row["modality"] == MODALITY[name]
            _cell(panel, models.index(row["model"]) + (0.0 if posed else 0.28), row, posed)
        panel.axvline(cells["chance"].mean(), color=COLORS["chance"], linestyle="--", zorder=1)
        panel.set_title(name)
        panel.set_xlim(-0.03, 1.03)
    for panel in panels.flat[len(names) :]:
        panel.set_visible(False)
    panels.flat[0].set_yticks(range(len(models)), models)
    panels.flat[0].set_ylim(len(models) - 0.4, -0.5)
    figure.supxlabel(f"PCR, with {summary['level'].iloc[0]:.0%} bootstrap interval over sources")
    figure.legend(handles=_key(summary), loc="outside upper center", ncols=3)
    return figure


def _cell(panel: Any, y: float, row: dict[str, Any], posed: bool) -> None:
    if not row["n"]:
        said = "not asked: image" if row["unsupported"] else "nothing judged"
        panel.text(0.0, y, said, va="center", fontsize=8, color=COLORS["abstain"], style="italic")
        return
    color = COLORS["consistent"]
    panel.hlines(y, row["lower"], row["upper"], color=color, linewidth=2.5, alpha=0.5, zorder=2)
    panel.plot(row["pcr"], y, "o", color=color, mfc=color if posed else "white", ms=6, zorder=3)


def _key(summary: pd.DataFrame) -> list[Any]:
    from matplotlib.lines import Line2D

    color = COLORS["consistent"]
    found = [
        Line2D([], [], color=color, marker="o", linestyle="", label="as the paper poses it"),
        Line2D([], [], color=COLORS["chance"], linestyle="--", label="chance level"),
    ]
    if (summary["modality"] != summary["constraint"].map(MODALITY)).any():
        words = Line2D([], [], color=color, marker="o", mfc="white", linestyle="", label="as text")
        found.insert(1, words)
    return found


def units(widths: pd.DataFrame) -> Figure:
    """Half-width of an interval by what is resampled, a group of bars a constraint type.

    Parameters
    ----------
    widths : DataFrame
        A row a constraint type (the index), a column a unit, as `comparison.half_widths` returns.
    """
    figure, panel = axes(height=3.0)
    colors = ("abstain", "highlight", "consistent", "reference")
    position, step = np.arange(len(widths)), 0.8 / widths.shape[1]
    for number, (unit, color) in enumerate(zip(widths.columns, colors, strict=False)):
        x = position + (number - (widths.shape[1] - 1) / 2) * step
        panel.bar(x, widths[unit], step * 0.9, color=COLORS[color], label=unit)
    panel.set_xticks(position, list(widths.index))
    panel.set_ylabel("half-width of the interval")
    panel.legend(ncols=2, loc="upper center", bbox_to_anchor=(0.5, 1.22))
    return figure


def dft_column(found: pd.DataFrame) -> Figure:
    """The three DFT-grounded types of each model, and the column that pools them.

    Parameters
    ----------
    found : DataFrame
        As `comparison.dft_column` returns it.
    """
    models = list(dict.fromkeys(found["model"]))
    figure, panel = axes(height=0.9 + 0.42 * len(models))
    marks = ("s", "^", "v", "o")
    kinds = list(dict.fromkeys(found["constraint"]))
    for mark, kind in zip(marks, kinds, strict=False):
        cells = found[found["constraint"] == kind]
        pooled = kind == kinds[-1]
        rows = [models.index(model) for model in cells["model"]]
        color = COLORS["reference"] if pooled else COLORS["consistent"]
        style = {"mfc": color if pooled else "white", "ms": 7, "zorder": 3 if pooled else 2}
        panel.plot(cells["pcr"], rows, mark, color=color, label=kind, **style)
    for y, model in enumerate(models):
        own = found.loc[(found["model"] == model) & (found["constraint"] != kinds[-1]), "pcr"]
        panel.hlines(y, own.min(), own.max(), color=COLORS["abstain"], linewidth=1, zorder=1)
    panel.set_yticks(range(len(models)), models)
    panel.set_ylim(len(models) - 0.5, -0.5)
    panel.set_xlabel("PCR")
    panel.legend(ncols=4, loc="upper center", bbox_to_anchor=(0.45, 1.3))
    return figure
