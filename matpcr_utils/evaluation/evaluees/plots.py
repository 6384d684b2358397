"""Reading a plotted curve back from its pixels: the axis by OCR of its labels, the curve by ink."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from matpcr_utils.errors import MatPCRError

Grey = NDArray[np.uint8]

#: Grey level below which a pixel is ink; grid lines are lighter.
_INK = 110
#: Share of the picture's width that a line of the frame spans at least.
_FRAME = 0.7


def curve(grey: Grey) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Positions on the x axis and heights of the highest ink in each pixel column.

    Parameters
    ----------
    grey : ndarray of uint8, shape (height, width)
        A black curve on white in a frame, with labelled ticks below.

    Returns
    -------
    x, height : ndarray of float, shape (columns,)
        In the axis' unit, and in pixels above the frame's bottom.

    Raises
    ------
    MatPCRError
        If there is no frame, or fewer than three of its tick labels can be read.
    """
    ink = grey < _INK
    top, bottom, left, right = _frame(ink)
    scale, offset = _axis(grey, bottom)
    # The spines and the antialiased pixels beside them are no curve.
    inside = ink[top + 3 : bottom - 2, left + 3 : right - 2]
    columns = np.flatnonzero(inside.any(axis=0))
    first = inside[:, columns].argmax(axis=0)
    height = (inside.shape[0] - first).astype(float)
    return np.asarray(scale * (columns + left + 3) + offset, np.float64), height


def _frame(ink: NDArray[np.bool_]) -> tuple[int, int, int, int]:
    """Rows of the upper and lower spine, columns of the left and right one."""
    rows = np.flatnonzero(ink.mean(axis=1) > _FRAME)
    columns = np.flatnonzero(ink.mean(axis=0) > _FRAME)
    if len(rows) < 2 or len(columns) < 2 or rows[-1] - rows[0] < 50:
        raise MatPCRError("the picture shows no frame of a plot")
    return int(rows[0]), int(rows[-1]), int(columns[0]), int(columns[-1])


def _axis(grey: Grey, bottom: int) -> tuple[float, float]:
    """Slope and intercept from pixel column to axis value, by the ticks and their labels."""
    from scipy.stats import theilslopes

    from matpcr_utils.references.scalebar_text import read_lines

    # Left of the frame stand labels of the other axis; they end above the bottom.
    lines = read_lines(np.ascontiguousarray(grey[bottom + 3 :]), zoom=2.0)
    ticks = _ticks(grey, bottom)
    pairs = []
    for line in lines:
        if not re.fullmatch(r"[−-]?\d+(?:\.\d+)?", line.text.strip()) or not len(ticks):
            continue
        centre = (line.box[0] + line.box[2]) / 2
        tick = ticks[np.abs(ticks - centre).argmin()]
        if abs(tick - centre) < 8:
            pairs.append((tick, float(line.text.strip().replace("−", "-"))))
    if len(pairs) < 3:
        raise MatPCRError(f"only {len(pairs)} tick labels of the plot can be read")
    at, value = np.array(pairs).T
    # The median slope: one misread label must not tilt the axis.
    slope, intercept, *_ = theilslopes(value, at)
    return float(slope), float(intercept)


def _ticks(grey: Grey, bottom: int) -> NDArray[np.float64]:
    """Centres of the tick marks right below the frame, in pixels with fractions."""
    strip = 255.0 - grey[bottom + 2 : bottom + 4].mean(axis=0)
    runs = np.flatnonzero(strip > 60)
    if not len(runs):
        return np.empty(0)
    groups = np.split(runs, np.flatnonzero(np.diff(runs) > 1) + 1)
    return np.array([np.average(group, weights=strip[group]) for group in groups])
