"""Figures of the chapter on accuracy and consistency."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from matpcr_utils.errors import MatPCRError
from matpcr_utils.evaluation.agreement import DISAGREE, QUADRANTS
from matpcr_utils.evaluation.transcripts import records
from matpcr_utils.items.model import MODALITY
from matpcr_utils.plotting import COLORS, axes

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Colour, hatch and words of each quadrant: agreement is plain, disagreement hatched.
_LOOK: dict[str, tuple[str, str, str]] = {
    "right, passed": (COLORS["consistent"], "", "right and passed"),
    "wrong, passed": (COLORS["highlight"], "////", "wrong and passed"),
    "right, flagged": (COLORS["chance"], "\\\\\\\\", "right and flagged"),
    "wrong, flagged": ("#CFCFCF", "", "wrong and flagged"),
}


def quadrants(cells: pd.DataFrame) -> Figure:
    """The four quadrants as stacked bars, a panel a constraint type and a bar a model.

    Parameters
    ----------
    cells : DataFrame
        As `agreement.cells` returns it, by model, constraint and modality.

    Raises
    ------
    MatPCRError
        If there is no cell.
    """
    figure, grid = _grid(cells)
    for panel, own in grid:
        start: np.ndarray = np.zeros(len(own))
        position = _rows(panel, own)
        n = own["n"].to_numpy(float)
        for name in QUADRANTS:
            share = own[name].to_numpy(float) / np.where(n > 0, n, 1)
            panel.barh(position, share, left=start, height=0.72, **_style(name))
            start += share
        _say_empty(panel, position, own)
        panel.set_xlim(0, 1)
    figure.supxlabel("share of the chains that have a verdict and an accuracy", fontsize=10)
    _legend(figure, QUADRANTS)
    return figure


def disagreement(cells: pd.DataFrame) -> Figure:
    """Disagreement with its interval, beside the least and the chance level of the same two rates.

    Parameters
    ----------
    cells : DataFrame
        As `agreement.cells` returns it, by model, constraint and modality.

    Raises
    ------
    MatPCRError
        If there is no cell.
    """
    figure, grid = _grid(cells)
    for panel, own in grid:
        position = _rows(panel, own)
        for y, cell in zip(position, records(own), strict=True):
            if cell["n"]:
                _ends(panel, y, cell)
                panel.plot(cell["least"], y, "|", ms=13, mew=2, color=COLORS["reference"], zorder=2)
                panel.plot(cell["disagreement"], y, "o", ms=6, color=COLORS["consistent"], zorder=3)
                panel.plot(cell["chance"], y, "D", mfc="none", ms=9, color=COLORS["chance"])
        _say_empty(panel, position, own)
        panel.set_xlim(-0.03, 0.05 + _most(cells, "upper", "chance"))
    level = f"{cells['level'].iloc[0]:.0%}"
    figure.supxlabel(f"disagreement, with {level} interval over sources", fontsize=10)
    handles = [
        _mark("o", COLORS["consistent"], "disagreement"),
        _mark("|", COLORS["reference"], "least possible with these two rates", ms=13, mew=2),
        _mark("D", COLORS["chance"], "if independent", mfc="none", ms=9),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=3, fontsize=9, frameon=False)
    return figure


def changes(found: pd.DataFrame) -> Figure:
    """Disagreement before and after a change of tolerances, joined by a line.

    Parameters
    ----------
    found : DataFrame
        As `disagreement.change` returns it, by model, constraint and modality.

    Raises
    ------
    MatPCRError
        If there is no cell.
    """
    figure, grid = _grid(found)
    for panel, own in grid:
        position = _rows(panel, own)
        panel.hlines(position, own["before"], own["after"], color=COLORS["abstain"], lw=1.5)
        panel.plot(own["before"], position, "o", color=COLORS["consistent"], ms=7)
        panel.plot(own["after"], position, "D", color=COLORS["violation"], mfc="none", ms=10)
        panel.set_xlim(-0.03, 0.05 + _most(found, "before", "after"))
    figure.supxlabel("disagreement", fontsize=10)
    handles = [
        _mark("o", COLORS["consistent"], "the oracle's own tolerances", ms=7),
        _mark("D", COLORS["violation"], "those of the accuracy criterion", mfc="none", ms=10),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=2, fontsize=9, frameon=False)
    return figure


def sweep(found: pd.DataFrame, marked: dict[str, float]) -> Figure:
    """The two kinds of disagreement against the near-hull threshold, a panel a question.

    Parameters
    ----------
    found : DataFrame
        As `disagreement.swept` returns it.
    marked : dict of str to float
        Thresholds to be marked, by name; eV/atom.

    Raises
    ------
    MatPCRError
        If there is no row.
    """
    asked = list(dict.fromkeys(found["asked"]))
    if not asked:
        raise MatPCRError("the sweep has no row: judge chains on stability first")
    figure, panels = axes(1, len(asked), height=3.4, sharey=True, squeeze=False)
    for panel, name in zip(panels.flat, asked, strict=True):
        own = found[(found["asked"] == name) & (found["n"] > 0)].sort_values("near_hull")
        x, base = own["near_hull"].to_numpy(), np.zeros(len(own))
        for quadrant in DISAGREE:
            top = base + (own[quadrant] / own["n"]).to_numpy(float)
            panel.fill_between(x, base, top, **_style(quadrant))
            base = top
        panel.vlines(x, own["lower"], own["upper"], color=COLORS["reference"], lw=1.2)
        panel.plot(x, base, "o", color=COLORS["reference"], ms=4)
        for word, threshold in marked.items():
            panel.axvline(threshold, color=COLORS["abstain"], linestyle=":", zorder=0)
            panel.annotate(
                word,
                (threshold, 1),
                (3, -3),
                xycoords=("data", "axes fraction"),
                textcoords="offset points",
                va="top",
                fontsize=8,
            )
        panel.set_title(f"asked: {name.replace('_', ' ')}, n = {own['n'].max()}")
        panel.set_ylim(0, 1.25 * max(0.1, float(found["upper"].max())))
    panels.flat[0].set_ylabel("share of the chains")
    figure.supxlabel("near-hull threshold of the oracle (eV/atom)", fontsize=10)
    _legend(figure, DISAGREE)
    return figure


def _grid(cells: pd.DataFrame) -> tuple[Figure, Iterator[tuple[Axes, pd.DataFrame]]]:
    """A figure with a panel a constraint type, and the cells that belong in each."""
    if not len(cells):
        raise MatPCRError("there is no cell to draw: judge some chains first")
    groups = list(cells.groupby("constraint", sort=False))
    columns = min(2, len(groups))
    lines = -(-len(groups) // columns)
    tallest = max(len(own) for _, own in groups)
    figure, panels = axes(
        lines,
        columns,
        height=0.9 + lines * (0.5 + 0.27 * tallest),
        sharex=True,
        squeeze=False,
    )
    for panel in panels.flat[len(groups) :]:
        panel.set_visible(False)
    for panel, (name, _) in zip(panels.flat, groups, strict=False):
        panel.set_title(name)
    return figure, ((p, own) for p, (_, own) in zip(panels.flat, groups, strict=False))


def _rows(panel: Axes, own: pd.DataFrame) -> np.ndarray:
    """Places of the cells of a panel from the top, their names on the axis."""
    position = np.arange(len(own))[::-1]
    names = [
        cell["model"].removeprefix("matpcr/")
        + ("" if cell["modality"] == MODALITY[cell["constraint"]] else f" ({cell['modality']})")
        for cell in records(own)
    ]
    panel.set_yticks(position, names, fontsize=9)
    panel.set_ylim(-0.6, len(own) - 0.4)
    return position


def _most(cells: pd.DataFrame, *names: str) -> float:
    """The largest number to be drawn; 1 if there is none."""
    drawn = cells.loc[cells["n"] > 0, [*names]].to_numpy(float)
    return float(drawn.max()) if drawn.size else 1.0


def _ends(panel: Axes, y: float, cell: dict[str, Any]) -> None:
    panel.hlines(y, cell["lower"], cell["upper"], color=COLORS["consistent"], lw=3.5, alpha=0.4)


def _say_empty(panel: Axes, position: np.ndarray, own: pd.DataFrame) -> None:
    for y in position[(own["n"] == 0).to_numpy()]:
        panel.text(0.02, y, "nothing to compare", va="center", fontsize=8, style="italic")


def _style(name: str) -> dict[str, Any]:
    color, hatch, _ = _LOOK[name]
    return {"facecolor": color, "hatch": hatch, "edgecolor": "white", "linewidth": 0}


def _legend(figure: Figure, names: Any) -> None:
    from matplotlib.patches import Patch

    handles = [Patch(**_style(name), label=_LOOK[name][2]) for name in names]
    figure.legend(
        handles=handles, loc="outside upper center", ncols=len(handles), fontsize=9, frameon=False
    )


def _mark(marker: str, color: str, label: str, **more: Any) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], color=color, marker=marker, linestyle="", label=label, **more)
