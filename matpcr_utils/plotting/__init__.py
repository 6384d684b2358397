"""Figures of the book, one module a subject; this one holds the look they share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Okabe–Ito colours, told apart by readers with colour-vision deficiencies.
COLORS = {
    "consistent": "#0072B2",
    "violation": "#D55E00",
    "abstain": "#7F7F7F",
    "reference": "#222222",
    "chance": "#CC79A7",
    "highlight": "#E69F00",
    "second": "#009E73",
}


def axes(
    rows: int = 1, columns: int = 1, *, width: float = 7.2, height: float = 3.6, **options: Any
) -> tuple[Figure, Any]:
    """A figure in the book's look: opaque white, so that it reads on light and dark pages.

    Parameters
    ----------
    rows, columns : int
        Panels; with more than one, the second value is an array of axes.
    width, height : float
        Inches; 7.2 is the width of the text column.
    **options
        For `matplotlib.pyplot.subplots`.
    """
    import matplotlib.pyplot as plt

    style: dict[Any, Any] = {
        "figure.facecolor": "white",
        "savefig.facecolor": "white",
        "axes.facecolor": "white",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "font.size": 10,
        "axes.titlesize": 11,
        "legend.frameon": False,
    }
    with plt.rc_context(style):
        figure, panels = plt.subplots(
            rows,
            columns,
            figsize=(width, height),
            layout="constrained",
            **options,
        )
    return figure, panels
