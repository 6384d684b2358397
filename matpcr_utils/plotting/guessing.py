"""Figures of what guessing scores, and of what is left when it is taken off."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from matpcr_utils.errors import MatPCRError
from matpcr_utils.evaluation.guessing import SAME
from matpcr_utils.plotting import COLORS, axes

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Rates above guessing are drawn down to this one; an arrow stands for what lies below.
FLOOR = -1.2
#: The two guessers: colour, marker, and how far below a model's row.
_BASELINES: dict[str, tuple[str, str, float]] = {
    "corrected": ("chance", "o", -0.14),
    "over_guess": ("highlight", "D", 0.14),
}
_WORDS = {"corrected": "against_chance", "over_guess": "against_guess"}
_LEGEND = {"corrected": "above the plain prior", "over_guess": "above the guesser"}


def curves(
    two_theta: NDArray[np.float64],
    by_floor: Mapping[float, NDArray[np.float64]],
    raman_shift: NDArray[np.float64],
    raman: NDArray[np.float64],
    window: tuple[float, float] = (10.0, 90.0),
) -> Figure:
    """Share of the references on which a place on the axis passes, with the best one marked.

    Parameters
    ----------
    two_theta : ndarray, shape (n,)
        Degree.
    by_floor : mapping of float to ndarray, shape (n,)
        Shares by the intensity floor in percent; the first is drawn bold and marked.
    raman_shift, raman : ndarray, shape (m,)
        1/cm, and shares.
    window : tuple of float
        Degree; what lies outside is not drawn.
    """
    figure, (left, right) = axes(1, 2, height=3.3)
    inside = (two_theta >= window[0]) & (two_theta <= window[1])
    styles = (("consistent", "-", 2.2), ("abstain", "--", 1.3), ("second", ":", 1.8))
    for number, (floor, shares) in enumerate(by_floor.items()):
        color, line, width = styles[number % len(styles)]
        name = "every line" if floor == 0 else f"lines from {floor:g} %"
        left.plot(
            two_theta[inside], shares[inside], line, color=COLORS[color], lw=width, label=name
        )
    first = next(iter(by_floor.values()))
    _best(left, two_theta[inside], first[inside], "{:g}°")
    right.plot(raman_shift, raman, color=COLORS["consistent"], lw=1.2)
    _best(right, raman_shift, raman, "{:g} cm⁻¹")
    left.set_xlabel("claimed 2θ (degree)")
    right.set_xlabel("claimed Raman shift (cm⁻¹)")
    left.set_ylabel("share of references on which it passes")
    for panel in (left, right):
        panel.set_ylim(0, 1)
    left.legend(fontsize=9, loc="upper left", frameon=False)
    return figure


def _best(panel: Axes, x: NDArray[np.float64], share: NDArray[np.float64], text: str) -> None:
    at = int(np.argmax(share))
    panel.plot(x[at], share[at], "o", color=COLORS["highlight"], zorder=3)
    panel.annotate(
        text.format(x[at]),
        (x[at], share[at]),
        (0, 8),
        textcoords="offset points",
        ha="center",
    )


def scores(check: pd.DataFrame, guess: pd.DataFrame) -> Figure:
    """What the two guessers score, a row a constraint type, with the level computed for the prior.

    Parameters
    ----------
    check : DataFrame
        As `guessing.prior_check` returns it.
    guess : DataFrame
        Rows of `guessing.cells` of the guesser that says what passes most often.

    Raises
    ------
    MatPCRError
        If there is no row.
    """
    _require(check)
    names = list(dict.fromkeys([*check["constraint"], *guess["constraint"]]))
    figure, panel = axes(height=1.3 + 0.45 * len(names))
    drawn = (
        (check, "chance", "o", -0.13, "draws from the plain prior"),
        (guess, "highlight", "D", 0.13, "says what passes most often"),
    )
    for cells, color, marker, shift, label in drawn:
        y = np.array([names.index(name) for name in cells["constraint"]]) + shift
        panel.hlines(y, cells["lower"], cells["upper"], color=COLORS[color], lw=3, alpha=0.45)
        panel.plot(cells["pcr"], y, marker, color=COLORS[color], label=label)
    y = np.array([names.index(name) for name in check["constraint"]], float)
    panel.vlines(
        check["chance"],
        y - 0.33,
        y + 0.07,
        color=COLORS["reference"],
        lw=1.5,
        label="computed level of the prior",
    )
    panel.set_yticks(range(len(names)), names)
    panel.set_ylim(len(names) - 0.5, -0.5)
    panel.set_xlim(-0.02, 1.02)
    panel.set_xlabel("PCR, with 95 % interval over sources")
    figure.legend(
        *panel.get_legend_handles_labels(),
        loc="outside upper left",
        ncols=3,
        fontsize=9,
        frameon=False,
    )
    return figure


def corrected(cells: pd.DataFrame) -> Figure:
    """Rates above the two guessers, a panel a constraint type, a row a model.

    Parameters
    ----------
    cells : DataFrame
        As `guessing.cells` returns it. A filled marker differs from guessing by an interval that
        holds jointly with the others; an open one does not. An arrow is a value below `FLOOR`.

    Raises
    ------
    MatPCRError
        If there is no row.
    """
    _require(cells)
    names = list(dict.fromkeys(cells["constraint"]))
    models = list(dict.fromkeys(cells["model"]))
    rows = -(-len(names) // 3)
    figure, panels = axes(
        rows,
        min(3, len(names)),
        height=0.9 + rows * (0.6 + 0.36 * len(models)),
        sharex=True,
        sharey=True,
        squeeze=False,
    )
    for panel, name in zip(panels.flat, names, strict=False):
        own = cells[cells["constraint"] == name]
        for row in own.to_dict("records"):
            for kind in _BASELINES:
                _above(panel, models.index(row["model"]), row, kind)
        panel.axvline(0, color=COLORS["reference"], lw=1, zorder=1)
        panel.set_title(name)
    for panel in panels.flat[len(names) :]:
        panel.set_visible(False)
    panels.flat[0].set_yticks(range(len(models)), models)
    panels.flat[0].set_ylim(len(models) - 0.5, -0.5)
    panels.flat[0].set_xlim(FLOOR - 0.08, 1.08)
    figure.supxlabel("rate above guessing: 0 as the guesser, 1 all pass", fontsize=10)
    figure.legend(handles=_key(), loc="outside upper center", ncols=4, fontsize=9, frameon=False)
    return figure


def _above(panel: Axes, y: float, row: Mapping[str, Any], kind: str) -> None:
    color, marker, shift = _BASELINES[kind]
    value = row.get(kind, np.nan)
    if not np.isfinite(value):
        return
    filled = row[_WORDS[kind]] != SAME
    low, high = (row[f"{kind}_{end}"] for end in ("lower", "upper"))
    hue = COLORS[color]
    panel.hlines(y + shift, max(low, FLOOR), max(high, FLOOR), color=hue, lw=2.5, alpha=0.5)
    panel.plot(
        max(value, FLOOR),
        y + shift,
        "<" if value < FLOOR else marker,
        color=hue,
        mfc=hue if filled else "white",
        ms=6,
        zorder=3,
    )


def _key() -> list[Any]:
    from matplotlib.lines import Line2D

    found = [
        Line2D([], [], color=COLORS[color], marker=marker, ls="", label=_LEGEND[kind])
        for kind, (color, marker, _) in _BASELINES.items()
    ]
    hue = COLORS["abstain"]
    return [
        *found,
        Line2D([], [], color=hue, marker="o", ls="", label="differs from guessing"),
        Line2D([], [], color=hue, marker="o", mfc="white", ls="", label="does not"),
    ]


def told(found: pd.DataFrame) -> Figure:
    """PCR of guessers by what they know, a row a guesser.

    Parameters
    ----------
    found : DataFrame
        As `guesses.told` returns it.

    Raises
    ------
    MatPCRError
        If there is no row.
    """
    _require(found)
    figure, panel = axes(height=1.0 + 0.36 * len(found))
    y = np.arange(len(found))
    panel.hlines(y, found["lower"], found["upper"], color=COLORS["highlight"], lw=3, alpha=0.5)
    panel.plot(found["pcr"], y, "D", color=COLORS["highlight"])
    for place, row in enumerate(found.to_dict("records")):
        text, at = f"{row['pcr']:.2f}", row["upper"]
        if np.isnan(row["pcr"]):
            text, at = "nothing judged", 0.0
        panel.annotate(text, (at, place), (6, -4), textcoords="offset points")
    panel.set_yticks(y, found["knows"])
    panel.set_ylim(len(found) - 0.5, -0.5)
    panel.set_xlim(0, 1)
    panel.set_xlabel("PCR on the Raman items, with 95 % interval over sources")
    return figure


def tolerance(swept: pd.DataFrame, chosen: float) -> Figure:
    """PCR and the rate above the plain prior against the diffraction tolerance, by model.

    Parameters
    ----------
    swept : DataFrame
        As `guessing.swept` returns it.
    chosen : float
        Degree; marked.

    Raises
    ------
    MatPCRError
        If there is no row.
    """
    _require(swept)
    figure, panels = axes(1, 2, height=3.5)
    hues = ("consistent", "highlight", "chance", "second", "violation")
    titles = {"pcr": "PCR", "corrected": "rate above the plain prior"}
    for panel, (value, title) in zip(panels, titles.items(), strict=True):
        lower, upper = (
            ("lower", "upper") if value == "pcr" else (f"{value}_lower", f"{value}_upper")
        )
        for number, (model, own) in enumerate(swept.groupby("model", sort=False)):
            hue, at = COLORS[hues[number % len(hues)]], own.sort_values("two_theta")
            panel.fill_between(at["two_theta"], at[lower], at[upper], color=hue, alpha=0.15, lw=0)
            marker = "oDs^v"[number % 5]
            panel.plot(at["two_theta"], at[value], marker + "-", color=hue, ms=5, label=model)
        panel.set_xscale("log")
        ticks = sorted(swept["two_theta"].unique())
        panel.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        panel.minorticks_off()
        panel.axvline(chosen, color=COLORS["abstain"], ls=":", zorder=0)
        panel.set_title(title)
    level = swept.groupby("two_theta")["chance"].mean()
    panels[0].plot(level.index, level, "--", color=COLORS["reference"], label="chance level")
    panels[0].set_ylim(-0.02, 1.04)
    panels[1].axhline(0, color=COLORS["reference"], ls="--", lw=1)
    figure.supxlabel("diffraction tolerance (degree on 2θ)", fontsize=10)
    handles = panels[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside upper center", ncols=3, fontsize=9, frameon=False)
    return figure


def _require(frame: pd.DataFrame) -> None:
    if not len(frame):
        raise MatPCRError("a figure of 0 rows: give at least one")
