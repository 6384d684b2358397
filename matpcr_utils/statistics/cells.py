"""PCR of every cell of a table of verdicts, with intervals: the form of the paper's Table S1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from matpcr_utils.errors import MatPCRError
from matpcr_utils.statistics._inputs import as_codes, as_outcomes, check_resampling
from matpcr_utils.statistics.bootstrap import intervals, is_degenerate

if TYPE_CHECKING:
    import pandas as pd


def pcr_cells(
    frame: pd.DataFrame,
    by: Sequence[str],
    *,
    outcome: str = "outcome",
    source: str | None = None,
    resamples: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
) -> pd.DataFrame:
    """Physical-consistency rate of each cell, a row a cell.

    Parameters
    ----------
    frame : DataFrame
        One row a judged chain.
    by : sequence of str
        Columns that name a cell, e.g. ``["model", "constraint"]``.
    outcome : str
        Column of ``"consistent"``, ``"violation"`` or ``"abstain"``.
    source : str, optional
        Column of the source whose rows are drawn together; with several seeds an item, at least the
        item's id. None: every row is its own source.
    resamples, level, seed
        As in `bootstrap`; a cell's interval does not depend on the other cells.

    Returns
    -------
    DataFrame
        `by`, then ``count`` consistent of ``n`` checkable chains from ``n_sources`` sources,
        ``abstained`` chains, ``pcr``, ``lower``, ``upper``, ``degenerate`` (the bootstrap interval
        collapses), ``wilson_lower``, ``wilson_upper``, and ``resamples``, ``level``, ``seed``.
        `pcr` is missing in a cell where every chain abstained. The Wilson ends are missing where
        items share sources and do not all agree, because the closed form would be too narrow.

    Raises
    ------
    MatPCRError
        If a column is missing, an outcome unknown or a source not given.
    """
    import pandas as pd

    check_resampling(resamples, level, seed)
    columns = [*by, outcome, *([source] if source else [])]
    missing = [column for column in columns if column not in frame.columns]
    if missing or not by:
        wanted = f"no column {missing[0]!r}" if missing else "no column names the cells"
        raise MatPCRError(f"{wanted}: the table has {', '.join(map(str, frame.columns))}")

    words = as_outcomes(frame[outcome])
    groups = frame.groupby([*by], sort=False, observed=True, dropna=False)
    cell_of_row = groups.ngroup().to_numpy()
    names = frame[[*by]].drop_duplicates(ignore_index=True)
    checkable = words != "abstain"
    source_of_row = np.arange(len(frame)) if source is None else as_codes(frame[source], len(frame))

    cells = _sums_and_sizes(
        cell_of_row[checkable],
        source_of_row[checkable],
        words[checkable] == "consistent",
        len(names),
    )
    ends = intervals(cells, (0, 1), resamples=resamples, level=level, seed=seed)
    count = np.array([sums.sum() for sums, _ in cells], dtype=int)
    n = np.array([sizes.sum() for _, sizes in cells], dtype=int)
    n_sources = np.array([len(sums) for sums, _ in cells], dtype=int)
    wilson = _wilson(count, n, n_sources, level)
    return names.assign(
        count=count,
        n=n,
        n_sources=n_sources,
        abstained=np.bincount(cell_of_row[~checkable], minlength=len(names)),
        pcr=pd.array(np.divide(count, n, where=n > 0, out=np.full(len(n), np.nan)), "Float64"),
        lower=ends[:, 0],
        upper=ends[:, 1],
        degenerate=[is_degenerate(*cell) for cell in cells],
        wilson_lower=pd.array(wilson[:, 0], "Float64"),
        wilson_upper=pd.array(wilson[:, 1], "Float64"),
        resamples=resamples,
        level=level,
        seed=seed,
    )


def _sums_and_sizes(
    cell: np.ndarray, source: np.ndarray, passed: np.ndarray, n_cells: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Passed and all items of each source, cell by cell."""
    if not n_cells:
        return []
    n_sources = int(source.max(initial=-1)) + 1
    pairs, codes = np.unique(cell * n_sources + source, return_inverse=True)
    sizes = np.bincount(codes, minlength=len(pairs))
    sums = np.bincount(codes[passed], minlength=len(pairs))
    # `pairs` is sorted, so a cell's sources are neighbours.
    starts = np.searchsorted(pairs, n_sources * np.arange(1, n_cells))
    return list(zip(np.split(sums, starts), np.split(sizes, starts), strict=True))


def _wilson(count: np.ndarray, n: np.ndarray, n_sources: np.ndarray, level: float) -> np.ndarray:
    """As `BootstrapRate.beside` for every cell; NaN where it has none."""
    from statsmodels.stats.proportion import proportion_confint

    agree = (count == 0) | (count == n)
    passed = np.where(agree, np.where(count > 0, n_sources, 0), count)
    ends = np.full((len(n), 2), np.nan)
    ends[n == 0] = (0.0, 1.0)
    known = (n > 0) & (agree | (n == n_sources))
    if known.any():
        found = proportion_confint(
            passed[known], n_sources[known], alpha=1 - level, method="wilson"
        )
        ends[known] = np.stack(found, axis=-1)
    return ends
