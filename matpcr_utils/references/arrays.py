"""The checks that every measured curve passes before it is a reference."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from matpcr_utils.errors import MatPCRError

#: A local maximum needs a point on each side.
MIN_POINTS = 3


def validated(
    axis: ArrayLike, values: ArrayLike, name: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Axis and values as float64 arrays of shape (n,).

    Parameters
    ----------
    axis, values : array_like, shape (n,)
    name : str
        What the error names: a file or an identifier.

    Raises
    ------
    MatPCRError
        If the arrays differ in shape or are not 1-D, have fewer than three points, hold NaN or
        infinity, or the axis neither ascends nor descends strictly.
    """
    x, y = np.asarray(axis, np.float64), np.asarray(values, np.float64)
    if x.ndim != 1 or x.shape != y.shape:
        raise MatPCRError(
            f"{name}: axis of shape {x.shape} and values of shape {y.shape} do not pair: "
            "give two 1-D arrays of one length"
        )
    if len(x) < MIN_POINTS:
        raise MatPCRError(
            f"{name}: {len(x)} points, but a peak needs at least {MIN_POINTS}: give the whole scan"
        )
    for numbers, what in ((x, "axis"), (y, "value")):
        bad = np.flatnonzero(~np.isfinite(numbers))
        if len(bad):
            raise MatPCRError(
                f"{name}: {what} {numbers[bad[0]]} at point {bad[0] + 1} of {len(x)}: "
                "remove or repair the points that are not finite"
            )
    steps = np.diff(x)
    turns = np.flatnonzero(steps * np.sign(steps[0]) <= 0)
    if len(turns):
        i = int(turns[0])
        raise MatPCRError(
            f"{name}: axis goes from {x[i]:g} to {x[i + 1]:g} at point {i + 1}: "
            "sort the points and merge repeated positions"
        )
    return x, y
