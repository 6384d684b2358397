"""Right and flagged, wrong and passed: where accuracy and the oracle's verdict part.

Every chain that has both lies in one of four quadrants. `cells` counts them and gives the share on
which the two disagree (paper, section 2.3) its interval, with what the two rates alone would lead
one to expect; `mean` averages over cells. Why they disagree is `disagreement`'s subject.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from matpcr_utils import items
from matpcr_utils.claims.model import CONSTRAINTS
from matpcr_utils.errors import MatPCRError
from matpcr_utils.evaluation import catalog, recorded, results, transcripts
from matpcr_utils.statistics import MacroRate, pcr_cells
from matpcr_utils.statistics._inputs import check_resampling

if TYPE_CHECKING:
    import pandas as pd

#: What names a cell.
CELL = ("model", "constraint", "modality")
#: Accurate, and passed by the oracle. The two in the middle disagree.
QUADRANTS: dict[str, tuple[bool, bool]] = {
    "right, passed": (True, True),
    "wrong, passed": (False, True),
    "right, flagged": (True, False),
    "wrong, flagged": (False, False),
}
DISAGREE = tuple(name for name, (right, passed) in QUADRANTS.items() if right != passed)


def chains(
    models: str | Sequence[str],
    *,
    n_items: int | None = None,
    seeds: int | None = None,
    prompt_version: str = "v1",
) -> pd.DataFrame:
    """Recorded answers, items as the paper poses them; in words what a model could not be shown.

    Parameters
    ----------
    models : str or sequence of str
        One, several in one text with commas between them, or a list; within a constraint type the
        rows keep this order.
    n_items, seeds, prompt_version
        As in `recorded.load`.

    Raises
    ------
    MatPCRError
        If no answers of a model are recorded, or none of the kind asked for.
    """
    import pandas as pd

    names = models.split(",") if isinstance(models, str) else models
    chosen = [name.strip() for name in names]
    how: dict[str, Any] = {"n_items": n_items, "seeds": seeds, "prompt_version": prompt_version}
    posed = recorded.load(chosen, **how)
    if not len(posed):
        raise MatPCRError(
            f"no answers are recorded for n_items = {n_items}, seeds = {seeds}, "
            f"prompt_version = {prompt_version!r}: ask for at least 1, and for v1"
        )
    words = recorded.load(chosen, modality="text", **how)
    keys = ["model", "item_id", "seed"]
    shown = pd.MultiIndex.from_frame(posed.loc[~posed["unsupported"].astype(bool), keys])
    words = words[~pd.MultiIndex.from_frame(words[keys]).isin(shown)]
    found = pd.concat([posed[~posed["unsupported"].astype(bool)], words])
    return _ordered(found, chosen)


def true_answers(n_items: int | None = None) -> pd.DataFrame:
    """The accurate answer of every item, judged like a model's: what a perfect model scores."""
    rows = [
        {
            "item_id": item.item_id,
            "constraint": item.constraint,
            "model": "true answers",
            "modality": item.modality,
            "chain": items.answer(item),
        }
        for name in CONSTRAINTS
        for item in catalog.load(name, n_items).values()
    ]
    return results.judge(_ordered(transcripts.as_frame(rows), ["true answers"]))


def _ordered(frame: pd.DataFrame, models: Sequence[str]) -> pd.DataFrame:
    """Sorted by constraint type as the book orders them, then by model as given."""
    order = {name: place for place, name in enumerate([*CONSTRAINTS, *models])}
    return frame.sort_values(
        ["constraint", "model"],
        key=lambda column: column.map(order),
        kind="stable",
        ignore_index=True,
    )


def compared(table: pd.DataFrame) -> pd.DataFrame:
    """The chains that have a verdict and an accuracy, with their ``quadrant`` and ``asked``.

    Parameters
    ----------
    table : DataFrame
        As `results.judge` returns it.

    Returns
    -------
    DataFrame
        The rows that can be compared, their index kept. ``asked`` is the quantity asked for.
    """
    both = table[comparable(table)]
    right, passed = both["accurate"].astype(bool), both["outcome"] == "consistent"
    names = {place: name for name, place in QUADRANTS.items()}
    return both.assign(
        quadrant=[names[place] for place in zip(right, passed, strict=True)],
        asked=asked(both),
    )


def cells(
    table: pd.DataFrame,
    by: Sequence[str] = CELL,
    *,
    resamples: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
) -> pd.DataFrame:
    """The four quadrants and the disagreement of each cell, a row a cell.

    Parameters
    ----------
    table : DataFrame
        As `results.judge` returns it.
    by : sequence of str
        Columns that name a cell; ``constraint`` must be among them, ``asked`` may.
    resamples, level, seed
        Of the bootstrap over sources.

    Returns
    -------
    DataFrame
        `by`; the count of each of `QUADRANTS`; ``n`` chains compared, from ``n_sources`` sources,
        and those ``left_out`` (no verdict, or nothing to compare); ``pcr`` and ``accuracy`` of the
        chains compared; ``disagreement``, ``lower``, ``upper`` (Wilson over sources where the
        bootstrap collapses, which ``degenerate`` tells); ``least`` and ``chance``, the disagreement
        of two rates as these at the least and if they were independent; ``kappa`` with
        ``kappa_lower`` and ``kappa_upper``. Rates are missing in a cell without a chain to compare,
        kappa also where one of the two rates is 0 or 1 in the cell, or in more of its resamples
        than 1 − level; the ends of kappa also where no resample differs from another.

    Raises
    ------
    MatPCRError
        If the table has no chain, a column is missing, or a parameter lies outside its range.

    Notes
    -----
    With the rates p and q, chance is p(1 − q) + q(1 − p) and the least |p − q|, for one event then
    contains the other. Cohen's kappa (1960) is 1 − disagreement / chance.
    """
    import pandas as pd

    by = named(table, by)
    check_resampling(resamples, level, seed)
    both = compared(table)
    marked = table.assign(disagree="abstain", asked=asked(table))
    marked.loc[both.index, "disagree"] = np.where(
        both["quadrant"].isin(DISAGREE), "consistent", "violation"
    )
    options: dict[str, Any] = {"resamples": resamples, "level": level, "seed": seed}
    found = pcr_cells(marked, by, outcome="disagree", source="source_id", **options)
    counts = pd.crosstab([both[name] for name in by], both["quadrant"])
    counts = counts.reindex(
        index=pd.MultiIndex.from_frame(found[by]),
        columns=pd.Index([*QUADRANTS], name=None),
        fill_value=0,
    ).reset_index(drop=True)
    n = found["n"].to_numpy(float)
    pcr = counts[["right, passed", "wrong, passed"]].sum(axis=1) / n
    accuracy = counts[["right, passed", "right, flagged"]].sum(axis=1) / n
    collapsed = found["degenerate"] & found["wilson_lower"].notna()
    chance = pcr * (1 - accuracy) + accuracy * (1 - pcr)
    rates = {
        "pcr": pcr,
        "accuracy": accuracy,
        "disagreement": found["pcr"],
        "least": (pcr - accuracy).abs(),
        "chance": chance,
    }
    known = found["n"] > 0
    return pd.concat([found[by], counts], axis=1).assign(
        n=found["n"],
        n_sources=found["n_sources"],
        left_out=found["abstained"],
        **{name: _known(rate, known) for name, rate in rates.items()},
        lower=found["lower"].where(~collapsed, found["wilson_lower"].astype(float)),
        upper=found["upper"].where(~collapsed, found["wilson_upper"].astype(float)),
        degenerate=found["degenerate"],
        **_kappas(both, by, found, options),
        level=level,
    )


def printed(found: pd.DataFrame) -> pd.DataFrame:
    """The table of `cells` as it is printed: counts as they are, rates with their intervals."""
    import pandas as pd

    rows = []
    for cell in transcripts.records(found):
        row = {name.replace("modality", "shown as"): cell[name] for name in _names(found)}
        row |= {name: cell[name] for name in QUADRANTS}
        row |= {"n": cell["n"], "sources": cell["n_sources"], "left out": cell["left_out"]}
        row |= {name: _told(cell, name) for name in ("pcr", "accuracy")}
        row["disagreement"] = _told(cell, "disagreement", "lower", "upper")
        row |= {name: _told(cell, name) for name in ("least", "chance")}
        row["kappa"] = _told(cell, "kappa", "kappa_lower", "kappa_upper")
        rows.append(row)
    return pd.DataFrame(rows)


def _names(found: pd.DataFrame) -> list[str]:
    return [*found.columns[: [*found.columns].index(next(iter(QUADRANTS)))]]


def _told(cell: dict[str, Any], *names: str) -> str:
    """A rate, with the ends of its interval if these are named."""
    import pandas as pd

    numbers = [cell[name] for name in names]
    if pd.isna(numbers[0]):
        return "–"
    value, *ends = (f"{number:.3f}" for number in numbers if not pd.isna(number))
    return f"{value} [{', '.join(ends)}]" if ends else value


def mean(
    table: pd.DataFrame,
    by: Sequence[str] = CELL,
    *,
    resamples: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
) -> MacroRate:
    """Disagreement averaged over the cells, each weighing the same.

    Parameters
    ----------
    table, by, resamples, level, seed
        As in `cells`. Cells without a chain to compare take no part.

    Raises
    ------
    MatPCRError
        As `cells`, and if no chain can be compared.

    Notes
    -----
    Models answer the same items, so that their cells are not independent: sources are drawn with
    replacement within a constraint type, once for all its cells. (`statistics.bootstrap_macro`
    draws for each cell on its own.) A material that serves two constraint types is drawn in each.
    """
    by = named(table, by)
    check_resampling(resamples, level, seed)
    both = compared(table)
    if not len(both):
        raise MatPCRError("no chain has both a verdict and an accuracy: there is nothing to mean")
    disagree = [place for place, name in enumerate(QUADRANTS) if name in DISAGREE]
    total, present = np.zeros(resamples), np.zeros(resamples)
    rates: list[float] = []
    n_sources = 0
    for _, own, drawn in _resampled(both, by, resamples, seed):
        sizes = drawn.sum(axis=-1)
        shares = drawn[..., disagree].sum(axis=-1) / np.where(sizes > 0, sizes, 1)
        # A cell of few sources may be missing from a resample, which then averages the others.
        total += shares.sum(axis=0)
        present += (sizes > 0).sum(axis=0)
        rates += (own[..., disagree].sum(axis=(1, 2)) / own.sum(axis=(1, 2))).tolist()
        n_sources += own.shape[1]
    means = total / present
    lower, upper = np.quantile(means, _tails(level))
    return MacroRate(
        estimate=float(np.mean(rates)),
        lower=float(lower),
        upper=float(upper),
        n=len(both),
        n_sources=n_sources,
        resamples=int(resamples),
        seed=int(seed),
        method="percentile bootstrap over sources, drawn once for all cells of a constraint type",
        level=float(level),
        degenerate=bool(np.ptp(means) == 0),
        groups=len(rates),
    )


def comparable(table: pd.DataFrame) -> pd.Series:
    """Which chains have both a verdict and an accuracy."""
    return (table["outcome"] != "abstain") & table["accurate"].notna()


def asked(table: pd.DataFrame) -> list[str]:
    """The quantity that each chain was asked for."""
    return [catalog.get(item_id).asks for item_id in table["item_id"]]


def named(table: pd.DataFrame, by: Sequence[str]) -> list[str]:
    """The columns that name a cell, if the table can be split by them.

    Raises
    ------
    MatPCRError
        If the table has no chain, or the columns do not name cells of one constraint type each.
    """
    if not len(table):
        raise MatPCRError("the table has no chain: there is nothing to compare")
    missing = [name for name in by if name not in (*table.columns, "asked")]
    if missing or "constraint" not in by:
        raise MatPCRError(
            f"cells by {', '.join(by) or 'nothing'}: name columns of the judged table, "
            f"constraint among them, e.g. {', '.join(CELL)}"
        )
    return [*by]


def _known(rate: pd.Series, known: pd.Series) -> pd.Series:
    """A rate that is missing, not a number of no meaning, where there is no chain."""
    return rate.astype("Float64").where(known)


def _resampled(
    both: pd.DataFrame, by: list[str], resamples: int, seed: int
) -> Iterator[tuple[list[Any], NDArray[np.int64], NDArray[np.int64]]]:
    """Quadrants of resampled sources, a constraint type at a time.

    Yields
    ------
    keys : list
        Of the cells of a constraint type.
    counts : array, shape (cells, sources, 4)
    drawn : array, shape (cells, resamples, 4)
    """
    import pandas as pd

    for name, own in both.groupby("constraint", sort=False):
        cell = own.groupby(by, sort=False).ngroup().to_numpy()
        keys = list(own[by].drop_duplicates().itertuples(index=False, name=None))
        source, sources = pd.factorize(own["source_id"])
        quadrant = own["quadrant"].map({name: k for k, name in enumerate(QUADRANTS)}).to_numpy()
        counts = np.zeros((len(keys), len(sources), len(QUADRANTS)), dtype=np.int64)
        np.add.at(counts, (cell, source, quadrant), 1)
        # Constraint types are independent, and do not depend on which others are in the table.
        rng = np.random.default_rng([seed, [*CONSTRAINTS].index(str(name))])
        times = rng.multinomial(len(sources), np.full(len(sources), 1 / len(sources)), resamples)
        yield keys, counts, np.einsum("rs,csq->crq", times, counts, optimize=True)


def _kappas(
    both: pd.DataFrame, by: list[str], cells: pd.DataFrame, options: dict[str, Any]
) -> dict[str, pd.Series]:
    """Cohen's kappa of each of the cells with its percentile interval."""
    import pandas as pd

    found: dict[Any, tuple[float, float | None, float | None]] = {}
    if len(both):
        for keys, counts, drawn in _resampled(both, by, options["resamples"], options["seed"]):
            for key, own, resampled in zip(keys, counts.sum(axis=1), drawn, strict=True):
                (kappa,), draws = _kappa(own[None]), _kappa(resampled)
                # Where many resamples lack the variation that kappa needs, so does the cell.
                if np.isfinite(kappa) and np.isnan(draws).mean() <= 1 - options["level"]:
                    lower, upper = np.nanquantile(draws, _tails(options["level"]))
                    ends = (float(lower), float(upper)) if lower < upper else (None, None)
                    found[key] = (float(kappa), *ends)
    rows = [found.get(key) for key in cells[by].itertuples(index=False, name=None)]
    return {
        name: pd.Series([row[k] if row else None for row in rows], dtype="Float64")
        for k, name in enumerate(("kappa", "kappa_lower", "kappa_upper"))
    }


def _kappa(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Kappa of rows of `QUADRANTS` counts; NaN where one of the two never varies."""
    both, passed, right, neither = counts.astype(float).T
    n = both + passed + right + neither
    p, q = both + passed, both + right
    varies = (p > 0) & (p < n) & (q > 0) & (q < n)
    chance = np.where(varies, p * (n - q) + q * (n - p), 1.0)
    return np.where(varies, 1 - (passed + right) * n / chance, np.nan)


def _tails(level: float) -> list[float]:
    return [(1 - level) / 2, (1 + level) / 2]
