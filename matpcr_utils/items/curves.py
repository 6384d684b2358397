"""Patterns and spectra as models see them: a plot, or a table of highest readings."""

from __future__ import annotations

from io import BytesIO

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: Equal stretches of the axis, each of which gives the text rendering one row.
STRETCHES = 48


def highest(x: Array, y: Array, stretches: int = STRETCHES) -> tuple[Array, Array]:
    """The highest reading in each of many equal stretches of the axis.

    Downsampling by the maximum keeps the position of a peak as it was measured.

    Parameters
    ----------
    x, y : ndarray of float, shape (n,)
        Axis, ascending or descending, and readings.
    stretches : int
        A stretch without a reading gives no row.

    Returns
    -------
    x, y : ndarray of float, shape (at most `stretches`,)
        Ascending.
    """
    order = np.argsort(x, kind="stable")
    x, y = x[order], y[order]
    edges = np.linspace(x[0], x[-1], stretches + 1)[1:-1]
    parts = np.split(np.arange(len(x)), np.searchsorted(x, edges))
    rows = [part[np.argmax(y[part])] for part in parts if len(part)]
    return x[rows], y[rows]


def table(x: Array, y: Array, heading: str, decimals: int) -> str:
    """`highest` as lines of text, with the readings as shares of the highest in percent."""
    low, high = float(y.min()), float(y.max())
    at, reading = highest(x, y)
    share = 100 * (reading - low) / max(high - low, np.finfo(float).tiny)
    rows = [f"{a:.{decimals}f} {s:.1f}" for a, s in zip(at, share, strict=True)]
    return "\n".join([heading, *rows])


def plot(x: Array, y: Array, x_label: str, y_label: str, title: str) -> bytes:
    """A line plot as PNG with a fine scale on the axis, 1320 × 720 pixels.

    The same numbers give the same bytes on one version of matplotlib.
    """
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import AutoMinorLocator, MaxNLocator

    with rc_context({"font.size": 11, "font.family": "DejaVu Sans"}):
        figure = Figure(figsize=(11, 6), dpi=120, layout="constrained", facecolor="white")
        FigureCanvasAgg(figure)
        panel = figure.subplots()
        panel.plot(x, y, color="black", linewidth=0.9)
        panel.set_xlim(float(x.min()), float(x.max()))
        panel.xaxis.set_major_locator(MaxNLocator(16))
        panel.xaxis.set_minor_locator(AutoMinorLocator(5))
        panel.grid(axis="x", which="major", color="0.85", linewidth=0.6)
        panel.set_xlabel(x_label)
        panel.set_ylabel(y_label)
        panel.set_title(title, loc="left")
        stream = BytesIO()
        figure.savefig(stream, format="png", metadata={"Software": None})
    return stream.getvalue()
