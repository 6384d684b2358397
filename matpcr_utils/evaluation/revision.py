"""Before and after: what conversations of several rounds changed, and what the change is made of.

The first answer of each conversation is paired with its last. `changes` says how the rate of
consistent answers moved, `rates` what happened to claims (fixed, spoiled, withdrawn) and to
accuracy, `counts` how many claims, abstentions and new violations there were, `flow` where every
answer went. Each gives a row a constraint type and one for all of them, `POOLED`.

**What is independent.** With several seeds an item, and several items a source, pairs are not
independent, and an exact McNemar test over all pairs takes copies for evidence. The p value that is
corrected and should be read is therefore that of the exact sign-flip test over sources
(`statistics.sign_flip`), which is McNemar's where each source has one pair. McNemar over all pairs,
as the paper's protocol reads (section 4.9), and over the first seed alone stand beside it.

**What CGSV can't show.** It never asks about a consistent answer, so it has no regressions by
construction, and its PCR can only rise. Its p value says that some violations were fixed, not that
the model understood why: compare the accuracy and the retreats.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from matpcr_utils.errors import MatPCRError
from matpcr_utils.evaluation import results
from matpcr_utils.evaluation.results import CONVERSATION

if TYPE_CHECKING:
    import pandas as pd

#: Name of the row over all constraint types.
POOLED = "pooled"
OUTCOMES = ("consistent", "violation", "abstain")
#: What is told of a first and of a last answer.
_SIDES = ("round", "outcome", "reason", "n_claims", "accurate")
_WAY = ("model", "condition", "prompt_version")
#: The rates of `rates`, and of what each is a share.
RATES: dict[str, str] = {
    "fix": "violating before: consistent after",
    "regression": "consistent before: violating after",
    "drop": "judged before and asked again: no claim after",
    "retreat": "fixed and comparable: not accurate after",
    "accuracy before": "comparable on both sides: accurate before",
    "accuracy after": "comparable on both sides: accurate after",
}


def pairs(table: pd.DataFrame) -> pd.DataFrame:
    """The first and the last answer of every conversation, in one row.

    Parameters
    ----------
    table : DataFrame
        As `results.judge` returns it. Conversations that were not asked, or that an error broke
        off, are left out.

    Returns
    -------
    DataFrame
        What names the conversation; ``source_id``; ``rounds`` (follow-ups); ``outcome_before`` and
        ``_after``, and so ``reason``, ``n_claims`` and ``accurate``; and, of each conversation,
        whether it was ``judged`` on both sides, ``fixed``, ``regressed``, ``dropped`` (judged
        before, no claim after) or ``retreated`` (fixed, and known not to be accurate), and
        ``new_violations``, the revisions after which an answer broke a law that the one before it
        had not broken.

    Raises
    ------
    MatPCRError
        If the table is empty or not judged, or an answer of a conversation is missing.
    """
    if not len(table):
        raise MatPCRError("the table has no answer: nothing can be compared")
    if "outcome" not in table:
        raise MatPCRError("the table has no verdicts: judge it first, with results.judge")
    keys = [name for name in CONVERSATION if name in table]
    ordered = table.sort_values([*keys, "round"], kind="stable")
    _require_whole(ordered, keys)
    new = _new_violations(ordered, keys)
    first, last = results.first(ordered), results.final(ordered)
    kept = ~(last["unsupported"].astype(bool) | (last["reason"] == "error"))
    first, last = (side[kept.to_numpy()].reset_index(drop=True) for side in (first, last))
    found = first[[*keys, "source_id"]].assign(rounds=last["round"])
    for name in _SIDES[1:]:
        found[f"{name}_before"], found[f"{name}_after"] = first[name], last[name]
    before, after = found["outcome_before"], found["outcome_after"]
    fixed = (before == "violation") & (after == "consistent")
    return found.assign(
        judged=(before != "abstain") & (after != "abstain"),
        fixed=fixed,
        regressed=(before == "consistent") & (after == "violation"),
        dropped=(before != "abstain") & (found["n_claims_after"] == 0),
        retreated=fixed & ~found["accurate_after"].fillna(True).astype(bool),
        new_violations=new[kept.to_numpy()],
    )


def changes(
    table: pd.DataFrame, *, resamples: int = 10_000, level: float = 0.95, seed: int = 0
) -> pd.DataFrame:
    """How the rate of consistent answers changed, with tests corrected for their number.

    Parameters
    ----------
    table : DataFrame
        As `results.judge` or `pairs` returns it.
    resamples, level, seed
        Of the bootstrap over sources.

    Returns
    -------
    DataFrame
        A row a model, condition, prompt and constraint type, and one ``pooled`` each: ``n`` pairs
        judged on both sides, from ``n_sources``; ``before`` and ``after`` (consistent),
        ``pcr_before``, ``pcr_after``, their ``difference`` with ``lower`` and ``upper`` and whether
        these are ``degenerate``; ``fixes``, ``regressions``; ``p_value`` (sign-flip over sources),
        its corrections ``holm`` and ``benjamini_hochberg`` among ``tests``; ``p_mcnemar`` (all
        pairs taken as independent), ``p_first_seed`` (McNemar on the first seed). Missing where
        there is no pair. The families are all pooled rows, and all others.
    """
    import pandas as pd

    from matpcr_utils.statistics import bootstrap_difference, paired, sign_flip

    rows = []
    for names, cell in _cells(_as_pairs(table)):
        cell = cell[cell["judged"]]
        before, after = _passed(cell, "before"), _passed(cell, "after")
        sources = cell["source_id"].to_numpy(object)
        moved = bootstrap_difference(
            before, after, sources, resamples=resamples, level=level, seed=seed
        )
        one = (cell["seed"] == cell["seed"].min()).to_numpy(bool)
        test, alone = paired(before, after, level), paired(before[one], after[one], level)
        n = len(cell)
        rows.append(
            {
                **names,
                "n": n,
                "n_sources": moved.n_sources,
                "before": test.before,
                "after": test.after,
                "pcr_before": test.before / n if n else None,
                "pcr_after": test.after / n if n else None,
                "difference": moved.estimate,
                "lower": moved.lower,
                "upper": moved.upper,
                "degenerate": moved.degenerate,
                "fixes": test.fixes,
                "regressions": test.regressions,
                "p_value": sign_flip(before, after, sources) if n else None,
                "p_mcnemar": test.p_value if n else None,
                "p_first_seed": alone.p_value if n else None,
            }
        )
    found = pd.DataFrame(rows)
    numbers = ["pcr_before", "pcr_after", "difference", "p_value", "p_mcnemar", "p_first_seed"]
    found[numbers] = found[numbers].astype("Float64")
    return _corrected(found, level)


def rates(table: pd.DataFrame, *, level: float = 0.95) -> pd.DataFrame:
    """What happened to the claims and to accuracy, a row a rate.

    Parameters
    ----------
    table : DataFrame
        As for `changes`.
    level : float

    Returns
    -------
    DataFrame
        The names of the cell, ``rate`` (of `RATES`), ``of`` (in words), ``count``, ``n``, the
        ``estimate`` (missing without a case) and its ``lower`` and ``upper`` end, with the cases of
        one source taken together (`statistics.rate_by_source`).
    """
    import pandas as pd

    from matpcr_utils.statistics import rate_by_source

    rows = []
    for names, cell in _cells(_as_pairs(table)):
        known = cell["accurate_before"].notna() & cell["accurate_after"].notna()
        was = cell["outcome_before"]
        shares = {
            "fix": (was == "violation", cell["fixed"]),
            "regression": (was == "consistent", cell["regressed"]),
            "drop": ((was != "abstain") & (cell["rounds"] > 0), cell["dropped"]),
            "retreat": (cell["fixed"] & cell["accurate_after"].notna(), cell["retreated"]),
            "accuracy before": (known, cell["accurate_before"]),
            "accuracy after": (known, cell["accurate_after"]),
        }
        for name, (of, passed) in shares.items():
            chosen, sources = passed[of].to_numpy(bool), cell["source_id"][of].to_numpy(object)
            found = rate_by_source(chosen, sources, level)
            rows.append(
                {
                    **names,
                    "rate": name,
                    "of": RATES[name],
                    "count": found.count,
                    "n": found.n,
                    "estimate": found.estimate,
                    "lower": found.lower,
                    "upper": found.upper,
                }
            )
    table = pd.DataFrame(rows)
    table["estimate"] = table["estimate"].astype("Float64")
    return table


def counts(table: pd.DataFrame) -> pd.DataFrame:
    """Conversations, claims, abstentions and new violations.

    Parameters
    ----------
    table : DataFrame
        As for `changes`.

    Returns
    -------
    DataFrame
        The names of the cell; ``conversations``, of these ``asked_again``; ``claims_before`` and
        ``claims_after`` (read from the first and last answers); ``dropped``; ``abstained_before``
        and ``abstained_after``; ``new_violations`` (revisions, see `pairs`).
    """
    import pandas as pd

    rows = []
    for names, cell in _cells(_as_pairs(table)):
        rows.append(
            {
                **names,
                "conversations": len(cell),
                "asked_again": int((cell["rounds"] > 0).sum()),
                "claims_before": int(cell["n_claims_before"].sum()),
                "claims_after": int(cell["n_claims_after"].sum()),
                "dropped": int(cell["dropped"].sum()),
                "abstained_before": int((cell["outcome_before"] == "abstain").sum()),
                "abstained_after": int((cell["outcome_after"] == "abstain").sum()),
                "new_violations": int(cell["new_violations"].sum()),
            }
        )
    return pd.DataFrame(rows)


def flow(table: pd.DataFrame) -> pd.DataFrame:
    """How many conversations went from each outcome to each.

    Parameters
    ----------
    table : DataFrame
        As for `changes`.

    Returns
    -------
    DataFrame
        The names of the cell, the outcome ``before`` and ``after`` (each of `OUTCOMES`) and the
        ``count``, nine rows a cell.
    """
    import pandas as pd

    rows = []
    for names, cell in _cells(_as_pairs(table)):
        for before in OUTCOMES:
            for after in OUTCOMES:
                went = (cell["outcome_before"] == before) & (cell["outcome_after"] == after)
                rows.append({**names, "before": before, "after": after, "count": int(went.sum())})
    return pd.DataFrame(rows)


def _as_pairs(table: pd.DataFrame) -> pd.DataFrame:
    return table if "outcome_before" in table else pairs(table)


def _cells(found: pd.DataFrame) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """The pairs of each constraint type of each way of asking, and those of all."""
    for way, asked in found.groupby([*_WAY], sort=False, dropna=False):
        names = dict(zip(_WAY, way, strict=True))
        for (modality, constraint), cell in asked.groupby(["modality", "constraint"], sort=False):
            yield {**names, "modality": modality, "constraint": constraint}, cell
        shown = asked["modality"].unique()
        modality = shown[0] if len(shown) == 1 else ""
        yield {**names, "modality": modality, "constraint": POOLED}, asked


def _passed(cell: pd.DataFrame, side: str) -> Any:
    return (cell[f"outcome_{side}"] == "consistent").to_numpy(bool)


def _require_whole(ordered: pd.DataFrame, keys: Sequence[str]) -> None:
    number = ordered.groupby([*keys], sort=False, dropna=False).cumcount()
    wrong = number.to_numpy() != ordered["round"].to_numpy()
    if wrong.any():
        row = ordered[wrong].iloc[0]
        raise MatPCRError(
            f"{row['item_id']} of {row['model']}, {row['condition']}, seed {row['seed']}: round "
            f"{row['round']} does not follow the one before it: give every answer once"
        )


def _new_violations(ordered: pd.DataFrame, keys: Sequence[str]) -> Any:
    """Of each conversation, in order: revisions with a violation that the answer before had not."""
    reason = ordered["reason"].where(ordered["outcome"] == "violation", "")
    groups = [ordered[name].to_numpy() for name in keys]
    earlier = reason.groupby(groups, sort=False, dropna=False).shift()
    new: pd.Series = (reason != "") & (reason != earlier) & (ordered["round"] > 0)
    return new.groupby(groups, sort=False, dropna=False).sum().to_numpy(int)


def _corrected(found: pd.DataFrame, level: float) -> pd.DataFrame:
    """With Holm's and Benjamini and Hochberg's corrections, pooled rows and others apart."""
    import pandas as pd

    from matpcr_utils.statistics import adjust

    columns = ["holm", "benjamini_hochberg", "tests"]
    parts = []
    for rows in ((found["constraint"] == POOLED), (found["constraint"] != POOLED)):
        tested = found["p_value"][rows].dropna()
        if len(tested):
            table = adjust({str(i): float(p) for i, p in tested.items()}, level)
            parts.append(table[columns].set_axis(tested.index))
    corrected = pd.concat(parts) if parts else pd.DataFrame(columns=columns)
    joined = found.join(corrected)
    joined[columns[:2]] = joined[columns[:2]].astype("Float64")
    joined["tests"] = joined["tests"].fillna(0).astype(int)
    return joined
