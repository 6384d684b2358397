"""Models side by side: cells, overall rates, pairs, and the runs behind them.

The tables start from a judged table (`results.judge`) or its summary (`results.summary`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matpcr_utils.errors import MatPCRError

if TYPE_CHECKING:
    import pandas as pd
    from pandas.io.formats.style import Styler

#: The constraint types whose references are computed by DFT; the paper pools them in a column.
DFT = ("stability", "metallicity", "magnetism")


def cells(summary: pd.DataFrame) -> Styler:
    """PCR of every cell in the form of the paper's Table S1, with what it must be read against.

    Parameters
    ----------
    summary : DataFrame
        As `results.summary` returns it.

    Returns
    -------
    Styler
        A cell without a judged chain shows a dash. ``W`` marks Wilson's interval over sources,
        which stands where all chains agree.
    """
    import pandas as pd

    _require(summary, "cell")
    level = f"{summary['level'].iloc[0]:.0%}"
    rows = []
    for row in summary.to_dict("records"):
        flat = row["n"] > 0 and row["degenerate"]
        # Where all chains agree the bootstrap has no width.
        lower, upper = ("wilson_lower", "wilson_upper") if flat else ("lower", "upper")
        ends = f" [{row[lower]:.3f}, {row[upper]:.3f}]{' W' if flat else ''}" if row["n"] else ""
        rows.append(
            {
                "model": row["model"].removeprefix("matpcr/"),
                "constraint": row["constraint"],
                "shown as": row["modality"],
                f"PCR [{level}]": _number(row["pcr"]) + ends,
                "n (sources)": f"{row['n']} ({row['n_sources']})",
                "coverage": _number(row["coverage"]),
                "accuracy": _number(row["accuracy"]),
                "chance": _number(row["chance"]),
            }
        )
    shown = pd.DataFrame(rows).style.hide(axis="index")
    return shown.set_properties(**{"white-space": "nowrap"})  # type: ignore[arg-type]


def overall(
    table: pd.DataFrame, *, resamples: int = 10_000, level: float = 0.95, seed: int = 0
) -> pd.DataFrame:
    """One rate a model, in two weightings.

    Parameters
    ----------
    table : DataFrame
        As `results.judge` returns it.
    resamples, level, seed
        Of the bootstrap over sources.

    Returns
    -------
    DataFrame
        A row a model: ``types`` (constraint types with a judged chain), ``macro`` (mean of their
        PCRs, each type weighing the same) with ``macro_lower`` and ``macro_upper``, ``pooled``
        (share of all judged chains) with its ends, and ``n``.

    Raises
    ------
    MatPCRError
        If the table holds one chain under two modalities, prompts or conditions: it would count
        twice.
    """
    import pandas as pd

    from matpcr_utils.statistics import bootstrap, bootstrap_macro

    if table.duplicated(["model", "item_id", "seed"]).any():
        raise MatPCRError(
            "the table holds the same items in several modalities, wordings or conditions: choose "
            "one of each, for an overall rate would count them twice"
        )
    rows = []
    for model, group in table[table["outcome"] != "abstain"].groupby("model", sort=False):
        passed = (group["outcome"] == "consistent").to_numpy()
        drawn: dict[str, Any] = {"resamples": resamples, "level": level, "seed": seed}
        macro = bootstrap_macro(passed, group["constraint"], group["source_id"], **drawn)
        pooled = bootstrap(passed, group["source_id"], **drawn)
        rows.append(
            {
                "model": model,
                "types": macro.groups,
                "macro": macro.estimate,
                "macro_lower": macro.lower,
                "macro_upper": macro.upper,
                "pooled": pooled.estimate,
                "pooled_lower": pooled.lower,
                "pooled_upper": pooled.upper,
                "n": macro.n,
            }
        )
    _require(rows, "judged chain")
    return pd.DataFrame(rows)


def dft_column(
    table: pd.DataFrame, *, resamples: int = 10_000, level: float = 0.95, seed: int = 0
) -> pd.DataFrame:
    """The three DFT-grounded types one by one, and pooled in one column as in the paper's Table 2.

    Parameters
    ----------
    table : DataFrame
        As `results.judge` returns it.
    resamples, level, seed
        Of the bootstrap over sources.

    Returns
    -------
    DataFrame
        As `statistics.pcr_cells`, by ``model`` and ``constraint``; the last constraint of a model
        is ``"DFT, pooled"``.
    """
    import pandas as pd

    from matpcr_utils.statistics import pcr_cells

    own = table[table["constraint"].isin(DFT)]
    _require(own, "chain on a DFT-grounded type")
    both = pd.concat([own, own.assign(constraint="DFT, pooled")], ignore_index=True)
    order = pd.CategoricalDtype([*DFT, "DFT, pooled"], ordered=True)
    found = pcr_cells(
        both,
        ["model", "constraint"],
        source="source_id",
        resamples=resamples,
        level=level,
        seed=seed,
    )
    models = pd.CategoricalDtype(list(dict.fromkeys(own["model"])), ordered=True)
    typed = found.astype({"model": models, "constraint": order})
    return typed.sort_values(["model", "constraint"], ignore_index=True)


def pairs(
    table: pd.DataFrame,
    first: str,
    second: str,
    *,
    resamples: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
) -> pd.DataFrame:
    """Two models on the same items, constraint type by constraint type.

    Parameters
    ----------
    table : DataFrame
        As `results.judge` returns it.
    first, second : str
        Models; the difference is that of the second from the first.
    resamples, level, seed
        Of the bootstrap over sources.

    Returns
    -------
    DataFrame
        A row a constraint type on which both have judged chains of the same item and seed: ``n``
        such pairs, ``first`` and ``second`` (PCR on them), ``difference`` with ``lower`` and
        ``upper``; ``items`` and the exact McNemar ``p_value`` of the first seed alone, because
        answers of one item are no independent pairs; ``holm``, over the constraint types.

    Raises
    ------
    MatPCRError
        If a model is not in the table, or the two share no judged item.
    """
    import pandas as pd

    from matpcr_utils.statistics import adjust, bootstrap_difference, paired

    judged = table[table["outcome"] != "abstain"]
    for model in (first, second):
        if model not in set(table["model"]):
            raise MatPCRError(
                f"{model} is not in the table: choose of {', '.join(table['model'].unique())}"
            )
    keys = ["constraint", "modality", "item_id", "seed"]
    left, right = (
        judged.loc[judged["model"] == model, [*keys, "source_id", "outcome"]]
        for model in (first, second)
    )
    both = left.merge(right.drop(columns="source_id"), on=keys, suffixes=("_first", "_second"))
    rows = []
    for constraint, group in both.groupby("constraint", sort=False):
        a, b = ((group[f"outcome_{w}"] == "consistent").to_numpy() for w in ("first", "second"))
        found = bootstrap_difference(
            a, b, group["source_id"], resamples=resamples, level=level, seed=seed
        )
        single = (group["seed"] == group["seed"].min()).to_numpy()
        test = paired(a[single], b[single], level)
        rows.append(
            {
                "constraint": constraint,
                "n": len(group),
                "first": float(a.mean()),
                "second": float(b.mean()),
                "difference": found.estimate,
                "lower": found.lower,
                "upper": found.upper,
                "items": test.n,
                "p_value": test.p_value,
            }
        )
    if not rows:
        raise MatPCRError(f"{first} and {second} share no judged item: nothing can be compared")
    frame = pd.DataFrame(rows)
    corrected = adjust(dict(zip(frame["constraint"], frame["p_value"], strict=True)), level)
    return frame.assign(holm=corrected["holm"].to_numpy())


def half_widths(
    table: pd.DataFrame,
    model: str,
    *,
    resamples: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
) -> pd.DataFrame:
    """How wide one model's intervals are, by what is taken as independent.

    Parameters
    ----------
    table : DataFrame
        As `results.judge` returns it.
    model : str
    resamples, level, seed
        Of the bootstrap.

    Returns
    -------
    DataFrame
        A row a constraint type: half the width of the bootstrap interval over chains, over items
        and over sources, and Hoeffding's bound for as many observations as there are sources.

    Raises
    ------
    MatPCRError
        If the model has no judged chain.
    """
    import pandas as pd

    from matpcr_utils.statistics import bootstrap, hoeffding_half_width

    own = table[(table["model"] == model) & (table["outcome"] != "abstain")]
    _require(own, f"judged chain of {model}")
    rows = {}
    for constraint, group in own.groupby("constraint", sort=False):
        passed = (group["outcome"] == "consistent").to_numpy()
        units = {"chains": None, "items": group["item_id"], "sources": group["source_id"]}
        found = {
            f"bootstrap over {unit}": bootstrap(
                passed, of, resamples=resamples, level=level, seed=seed
            )
            for unit, of in units.items()
        }
        sources = group["source_id"].nunique()
        rows[constraint] = {
            **{unit: (ends.upper - ends.lower) / 2 for unit, ends in found.items()},
            "Hoeffding, sources": hoeffding_half_width(sources, level),
        }
    return pd.DataFrame.from_dict(rows, orient="index")


def runs_behind(table: pd.DataFrame, model: str, constraint: str) -> pd.DataFrame:
    """The runs that a cell's chains come from.

    Returns
    -------
    DataFrame
        A row a run and way of asking: ``run_id``, ``day``, ``prompt_version``, ``modality``,
        ``examples`` and how many ``chains`` it gave. Settings and versions stand in every row of
        the transcripts.

    Raises
    ------
    MatPCRError
        If the cell has no chain.
    """
    own = table[(table["model"] == model) & (table["constraint"] == constraint)]
    _require(own, f"chain of {model} on {constraint}")
    by = ["run_id", "day", "prompt_version", "modality", "examples"]
    dated = own.assign(day=own["created"].str[:10])
    return dated.groupby(by, sort=False).size().rename("chains").reset_index()


def _require(rows: Any, what: str) -> None:
    if not len(rows):
        raise MatPCRError(f"no {what} in the table: judge some transcripts first")


def _number(value: Any) -> str:
    import pandas as pd

    return "–" if pd.isna(value) else f"{value:.3f}"
