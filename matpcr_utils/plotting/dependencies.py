"""Which chapter depends on which part of the package."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matpcr_utils import plotting

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


def matrix(counts: pd.DataFrame) -> Figure:
    """A grid of counts, darker where a chapter reaches more modules of a part.

    Parameters
    ----------
    counts : DataFrame of int
        One row a chapter, one column a part.
    """
    figure, axes = plotting.axes(height=0.9 + 0.28 * len(counts))
    axes.imshow(counts.to_numpy(), cmap="Blues", aspect="auto", vmin=0)
    axes.set_xticks(range(counts.shape[1]), counts.columns)
    axes.set_yticks(range(len(counts)), counts.index)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    dark = counts.to_numpy().max() / 2
    for row, values in enumerate(counts.to_numpy()):
        for column, count in enumerate(values):
            color = "white" if count > dark else "black"
            axes.text(column, row, str(count), ha="center", va="center", color=color)
    return figure
