"""Figures of the chapter on the evaluation of one model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from matpcr_utils.errors import MatPCRError
from matpcr_utils.evaluation.grading import NO_ANSWER, NO_CLAIM
from matpcr_utils.evaluation.transcripts import records
from matpcr_utils.plotting import COLORS, axes

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: What can become of an item, in the order of the stacks.
_ENDS = {
    "consistent": ("consistent", None),
    "violation": ("violation", None),
    "claim not judged": ("abstain", None),
    "no claim": ("abstain", "////"),
    "failed": ("abstain", "xxxx"),
    "not asked (image)": ("abstain", "...."),
}


def outcomes(table: pd.DataFrame, summary: pd.DataFrame) -> Figure:
    """What became of the items of each cell, and the rate that this leaves, with chance beside it.

    Parameters
    ----------
    table, summary : DataFrame
        Of `study.Study`.

    Raises
    ------
    MatPCRError
        If there is no cell.
    """
    _require(summary, "cells")
    cells = records(summary)
    figure, (left, right) = axes(1, 2, height=1.5 + 0.42 * len(cells), sharey=True)
    position = np.arange(len(cells))[::-1]
    ends = _end_of(table)
    keys = ["modality", "constraint"]
    start = np.zeros(len(cells))
    own = [
        (table[keys] == [cell[key] for key in keys]).all(axis=1).to_numpy(bool) for cell in cells
    ]
    for name, (color, hatch) in _ENDS.items():
        share = np.array([(ends[rows] == name).mean() for rows in own])
        if share.any():
            style: dict[str, Any] = {"hatch": hatch, "edgecolor": "white", "linewidth": 0}
            left.barh(position, share, left=start, color=COLORS[color], label=name, **style)
        start += share
    left.set_yticks(position, [f"{cell['constraint']} ({cell['modality']})" for cell in cells])
    left.set_xlim(0, 1)
    left.set_xlabel("share of the answers that were due")
    figure.legend(
        *left.get_legend_handles_labels(),
        loc="outside upper left",
        ncols=3,
        fontsize=9,
        frameon=False,
    )
    for y, cell in zip(position, cells, strict=True):
        _rate(right, y, cell)
    right.set_xlim(-0.02, 1.02)
    right.set_ylim(-0.6, len(cells) - 0.4)
    right.set_xlabel("PCR, with 95 % interval; bar: chance")
    right.tick_params(left=False)
    return figure


def _rate(panel: Axes, y: float, cell: dict[str, Any]) -> None:
    if not cell["n"]:
        panel.text(0.5, y, "nothing to judge", ha="center", va="center", fontsize=9)
        return
    panel.hlines(y, cell["lower"], cell["upper"], color=COLORS["consistent"], lw=3, alpha=0.45)
    panel.plot(cell["pcr"], y, "o", color=COLORS["consistent"])
    panel.vlines(cell["chance"], y - 0.3, y + 0.3, color=COLORS["chance"], lw=2)


def _end_of(table: pd.DataFrame) -> np.ndarray:
    """What became of each row, in the words of `_ENDS`."""
    ends = table["outcome"].replace("abstain", "claim not judged")
    ends = ends.mask(table["reason"].isin([NO_ANSWER, NO_CLAIM]), "no claim")
    ends = ends.mask(table["error"] != "", "failed")
    return ends.mask(table["unsupported"].astype(bool), "not asked (image)").to_numpy()


def copies(found: pd.DataFrame) -> Figure:
    """What the answers to questions for a number state: a worked example's value, or another.

    Parameters
    ----------
    found : DataFrame
        As `copies.find` returns it. Without a question for a number the figure says so.
    """
    numbers = found[~found["class_asked"].astype(bool)]
    if not len(numbers):
        figure, panel = axes(height=1.0)
        panel.set_axis_off()
        panel.text(
            0.5, 0.5, "no worked example was shown with a question for a number", ha="center"
        )
        return figure
    cells = list(numbers.groupby(["asks", "modality"], sort=False))
    figure, panel = axes(height=1.3 + 0.75 * len(cells))
    labels, at = [], []
    for row, ((asks, _), own) in enumerate(cells):
        y = 2.6 * (len(cells) - row)
        stated = np.where(own["stated"], 4, 5)
        answers = np.where(own["example"] > 0, own["example"], stated)
        truths = np.where(own["truth_example"] > 0, own["truth_example"], 4)
        for offset, kinds, who in ((0.5, answers, "answers"), (-0.5, truths, "accurate answers")):
            _stack(panel, y + offset, kinds)
            labels.append(f"{str(asks).replace('_', ' ')}: {who}" if offset > 0 else who)
            at.append(y + offset)
    panel.set_yticks(at, labels)
    panel.set_xlim(0, 1)
    panel.set_xlabel("share")
    handles = [_patch(kind) for kind in _KINDS]
    figure.legend(handles=handles, loc="outside upper left", ncols=3, fontsize=9, frameon=False)
    return figure


#: What an answer to a question for a number states: colour, hatch and name.
_KINDS: dict[int, tuple[str, str | None, str]] = {
    1: ("highlight", None, "value of the 1st example"),
    2: ("violation", None, "of the 2nd example"),
    3: ("chance", None, "of the 3rd example"),
    4: ("consistent", None, "another value"),
    5: ("abstain", "////", "no value"),
}


def _stack(panel: Axes, y: float, kinds: np.ndarray) -> None:
    start = 0.0
    for kind, (color, hatch, _) in _KINDS.items():
        share = float((kinds == kind).mean())
        style: dict[str, Any] = {"hatch": hatch, "edgecolor": "white", "linewidth": 0}
        panel.barh(y, share, left=start, height=0.9, color=COLORS[color], **style)
        if share >= 0.08 and hatch is None:
            panel.text(
                start + share / 2, y, f"{share:.0%}", ha="center", va="center", color=_ink(color)
            )
        start += share


def _patch(kind: int) -> Any:
    from matplotlib.patches import Patch

    color, hatch, name = _KINDS[kind]
    return Patch(facecolor=COLORS[color], hatch=hatch, edgecolor="white", linewidth=0, label=name)


def _ink(color: str) -> str:
    """Black on the light colours, white on the dark ones."""
    return "black" if color in ("highlight", "chance", "violation") else "white"


def seeds(cells: pd.DataFrame) -> Figure:
    """PCR of each seed alone with its interval, side by side for each constraint type.

    Parameters
    ----------
    cells : DataFrame
        As `answers.seeds` returns it. Without a judged answer the figure says so.
    """
    judged = cells[cells["n"] > 0]
    groups = list(judged.groupby(["constraint", "modality"], sort=False))
    figure, panel = axes(height=3.0)
    numbers = sorted(judged["seed"].unique())
    hues = [COLORS[name] for name in ("consistent", "violation", "second", "highlight", "chance")]
    for place, seed in enumerate(numbers):
        offset = (place - (len(numbers) - 1) / 2) * 0.2
        own = [
            (x + offset, rows[rows["seed"] == seed].iloc[0])
            for x, (_, rows) in enumerate(groups)
            if (rows["seed"] == seed).any()
        ]
        at = [x for x, _ in own]
        color = hues[place % len(hues)]
        ends = [[float(row[end]) for _, row in own] for end in ("lower", "upper")]
        panel.vlines(at, *ends, color=color, lw=3, alpha=0.45)
        marker = "osD^v"[place % 5]
        values = [float(row["pcr"]) for _, row in own]
        panel.plot(at, values, marker, color=color, label=_seed_name(own[0][1]))
    names = [f"{constraint}\n({modality})" for (constraint, modality), _ in groups]
    panel.set_xticks(range(len(groups)), names)
    panel.set_ylim(-0.02, 1.02)
    panel.set_ylabel("PCR, with 95 % interval")
    if groups:
        panel.legend(fontsize=9, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    else:
        panel.text(0.5, 0.5, "nothing to judge", ha="center", transform=panel.transAxes)
    return figure


def _seed_name(row: pd.Series) -> str:
    temperature = row["temperature"]
    if temperature is None or temperature != temperature:
        return f"seed {row['seed']}"
    return f"seed {row['seed']} " + ("(greedy)" if temperature == 0 else f"(at {temperature:g})")


def coverage(shares: pd.DataFrame) -> Figure:
    """Share of the answers with a claim, a panel a modality, a row a constraint type, by model.

    Parameters
    ----------
    shares : DataFrame
        As `parsing.coverage` returns it.

    Raises
    ------
    MatPCRError
        If there is no cell.
    """
    _require(shares, "cells")
    models: Sequence[str] = list(dict.fromkeys(shares["model"]))
    ways = list(dict.fromkeys(shares["modality"]))
    names = list(dict.fromkeys(shares["constraint"]))
    figure, panels = axes(1, len(ways), height=1.4 + 0.5 * len(names), sharey=True, squeeze=False)
    hues = [COLORS[name] for name in ("consistent", "violation", "second", "highlight", "chance")]
    for panel, way in zip(panels[0], ways, strict=True):
        for place, model in enumerate(models):
            own = shares[(shares["model"] == model) & (shares["modality"] == way)]
            middle = np.array([names[::-1].index(name) for name in own["constraint"]], float)
            y = middle + ((len(models) - 1) / 2 - place) * 0.17
            color = hues[place % len(hues)]
            panel.hlines(y, own["lower"], own["upper"], color=color, lw=3, alpha=0.45)
            panel.plot(own["share"], y, "osD^v"[place % 5], color=color, label=model, ms=5)
        panel.set_title(f"shown as {way}", loc="left")
        panel.set_xlim(-0.02, 1.02)
        panel.set_xlabel("answers with a claim")
    panels[0, 0].set_yticks(range(len(names)), names[::-1])
    panels[0, 0].set_ylim(-0.5, len(names) - 0.5)
    handles = {
        label: handle
        for panel in panels[0]
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True)
    }
    figure.legend(
        handles.values(),
        handles.keys(),
        loc="outside upper left",
        ncols=4,
        fontsize=9,
        frameon=False,
    )
    return figure


def extractor(scored: pd.DataFrame) -> Figure:
    """Precision and recall of the extractor on the labelled answers, and verdicts that stay.

    Parameters
    ----------
    scored : DataFrame
        As `parsing.scores` returns it.

    Raises
    ------
    MatPCRError
        If there is no row.
    """
    _require(scored, "rows")
    kinds = {
        "precision": "precision",
        "recall": "recall",
        "same_outcome": "same verdict",
    }
    figure, panels = axes(1, 3, height=1.0 + 0.36 * len(scored), sharey=True)
    position = np.arange(len(scored))[::-1]
    for panel, (name, title) in zip(panels, kinds.items(), strict=True):
        known = scored[name].notna().to_numpy()
        values, lower, upper = (
            scored.loc[known, column].to_numpy(float)
            for column in (name, f"{name}_lower", f"{name}_upper")
        )
        panel.hlines(position[known], lower, upper, color=COLORS["consistent"], lw=3, alpha=0.45)
        panel.plot(values, position[known], "o", color=COLORS["consistent"])
        panel.set_title(title)
        panel.set_xlim(0, 1.04)
    panels[0].set_yticks(position, [_cell_name(row) for row in records(scored)])
    panels[0].set_ylim(-0.6, len(scored) - 0.4)
    figure.supxlabel("weighted share, with 95 % interval", fontsize=10)
    return figure


def _cell_name(row: dict[str, Any]) -> str:
    if row["constraint"] == "all":
        return f"all ({row['chains']})"
    return f"{row['constraint']}, {row['modality']} ({row['chains']})"


def _require(frame: pd.DataFrame, what: str) -> None:
    if not len(frame):
        raise MatPCRError(f"a figure of 0 {what}: give at least one")
