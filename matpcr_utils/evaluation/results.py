"""Transcripts judged: one tidy table, a row an answer, and its summary, a row a cell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matpcr_utils.errors import MatPCRError
from matpcr_utils.evaluation import catalog, grading, priors, transcripts

if TYPE_CHECKING:
    import pandas as pd
    from inspect_ai.log import EvalLog

#: What judging adds to a transcript's columns.
VERDICT_COLUMNS = (
    "source_id",
    "outcome",
    "reason",
    "sentence",
    "n_claims",
    "quantity",
    "value",
    "unit",
    "basis",
    "accurate",
)
#: What names a cell of the summary.
CELL = ("model", "condition", "prompt_version", "modality", "constraint")
#: What names a conversation, whose answers are its rounds.
CONVERSATION = (*CELL, "examples", "item_id", "seed", "run_id")


def from_logs(
    logs: Iterable[str | Path | EvalLog], tolerances: Mapping[str, Any] | None = None
) -> pd.DataFrame:
    """Judged table of Inspect logs; see `transcripts.from_logs` and `judge`."""
    return judge(transcripts.from_logs(logs), tolerances)


def from_chains(
    path: str | Path, model: str | None = None, tolerances: Mapping[str, Any] | None = None
) -> pd.DataFrame:
    """Judged table of a CSV, JSONL or parquet of chains; see `transcripts.read_chains`."""
    return judge(transcripts.read_chains(path, model), tolerances)


def judge(frame: pd.DataFrame, tolerances: Mapping[str, Any] | None = None) -> pd.DataFrame:
    """Read the claims of every chain and let the oracles decide.

    Parameters
    ----------
    frame : DataFrame
        Transcripts.
    tolerances : mapping, optional
        From a constraint's name to its oracle's `Tolerances`.

    Returns
    -------
    DataFrame
        The columns of the transcripts and `VERDICT_COLUMNS`. ``value`` is text, since some claims
        are labels; claim columns are those of the claim that decides, empty without one.
        ``accurate`` is missing where there was nothing to compare. A row with an ``error`` has the
        outcome ``abstain`` and the reason ``error``.

    Raises
    ------
    MatPCRError
        If an item is unknown.
    """
    import pandas as pd

    found = [_verdict(row, tolerances or {}) for row in transcripts.records(frame)]
    verdicts = pd.DataFrame(found, columns=list(VERDICT_COLUMNS), index=frame.index)
    verdicts["accurate"] = verdicts["accurate"].astype("boolean")
    return pd.concat([frame, verdicts], axis=1)


def first(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of the first answer of each conversation, before any follow-up."""
    return _rounds(table, "idxmin")


def final(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of the last answer of each conversation."""
    return _rounds(table, "idxmax")


def _rounds(table: pd.DataFrame, which: str) -> pd.DataFrame:
    by = [name for name in CONVERSATION if name in table]
    if "round" not in table or not len(table):
        return table
    rounds = table["round"].reset_index(drop=True)
    keys = [table[name].to_numpy() for name in by]
    chosen = getattr(rounds.groupby(keys, sort=False, dropna=False), which)()
    return table.iloc[sorted(chosen)]


def summary(
    table: pd.DataFrame, *, resamples: int = 10_000, level: float = 0.95, seed: int = 0
) -> pd.DataFrame:
    """PCR with its interval, and what stands beside it, a row a cell.

    Parameters
    ----------
    table : DataFrame
        As `judge` returns it. Of a conversation of several rounds the last answer counts.
    resamples, level, seed
        Of the bootstrap over sources.

    Returns
    -------
    DataFrame
        `CELL` and the columns of `statistics.pcr_cells`; ``coverage`` (judged, of the chains that
        were asked for and came), ``no_claim`` (share of these that state nothing checkable),
        ``accuracy`` (of ``n_compared`` chains), ``chance`` (how often a claim of the plain prior
        passes on these items) and the numbers of ``unsupported`` and ``error`` rows, which enter
        no rate.
    """
    from matpcr_utils.statistics import pcr_cells

    if not len(table):
        raise MatPCRError("the table has no chain: nothing can be summed up")
    table = final(table)
    asked = ~(table["unsupported"].astype(bool) | (table["reason"] == "error"))
    by = list(CELL)
    cells = pcr_cells(
        table, by, source="source_id", resamples=resamples, level=level, seed=seed
    ).drop(columns=["abstained"])
    judged = table["outcome"] != "abstain"
    counts = table.assign(
        asked=asked,
        judged=asked & judged,
        stated_nothing=asked & table["reason"].isin([grading.NO_ANSWER, grading.NO_CLAIM]),
        accurate_n=table["accurate"].notna(),
        accurate_k=table["accurate"].fillna(False).astype(bool),
        unsupported=table["unsupported"].astype(bool),
        failed=table["reason"] == "error",
    )
    sums = counts.groupby(by, sort=False, observed=True, dropna=False)[
        ["asked", "judged", "stated_nothing", "accurate_n", "accurate_k", "unsupported", "failed"]
    ].sum()
    sums = sums.reindex(cells.set_index(by).index)
    ids = table.groupby(by, sort=False, observed=True, dropna=False)["item_id"].unique()
    chances = [
        priors.chance_level(cell[-1], tuple(sorted(ids[cell])))
        for cell in cells[by].itertuples(index=False, name=None)
    ]
    return cells.assign(
        coverage=_ratio(sums["judged"], sums["asked"]),
        no_claim=_ratio(sums["stated_nothing"], sums["asked"]),
        accuracy=_ratio(sums["accurate_k"], sums["accurate_n"]),
        n_compared=sums["accurate_n"].to_numpy(int),
        chance=chances,
        unsupported=sums["unsupported"].to_numpy(int),
        errors=sums["failed"].to_numpy(int),
    )


def _verdict(row: Mapping[str, Any], tolerances: Mapping[str, Any]) -> dict[str, Any]:
    item = catalog.get(row["item_id"])
    if row["error"]:
        graded = grading.Graded(grading.Outcome.ABSTAIN, "error", row["error"])
    elif row["unsupported"]:
        graded = grading.unsupported()
    else:
        graded = grading.grade(item, row["chain"], tolerances.get(item.constraint))
    claim = None if graded.deciding is None else graded.claims[graded.deciding]
    return {
        "source_id": item.source_id,
        "outcome": str(graded.outcome),
        "reason": graded.reason,
        "sentence": graded.sentence,
        "n_claims": len(graded.claims),
        "quantity": claim.quantity if claim else "",
        "value": (claim.value if isinstance(claim.value, str) else f"{claim.value:.10g}")
        if claim
        else "",
        "unit": claim.unit if claim else "",
        "basis": (claim.basis or "") if claim else "",
        "accurate": graded.accurate,
    }


def _ratio(count: pd.Series, n: pd.Series) -> Any:
    """Shares, missing where there is nothing to share."""
    import pandas as pd

    shares = [k / m if m else None for k, m in zip(count, n, strict=True)]
    return pd.array(shares, "Float64")
