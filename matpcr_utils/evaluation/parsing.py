"""Was the answer read? The extractor's coverage, and its precision and recall on labelled answers.

The labels (``data/parsing_labels.yml``) say what a sample of recorded answers states, by one
annotator who did not see what the extractor had read. The sample is stratified, so that rare kinds
of answers are in it, and every rate here weighs each answer by how many it stands for.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from matpcr_utils import items, oracles
from matpcr_utils.claims import Claim, extract_claims
from matpcr_utils.errors import MatPCRError
from matpcr_utils.evaluation import catalog, recorded, transcripts
from matpcr_utils.evaluation.labels import Label, asked_of, digest, labels, read
from matpcr_utils.oracles.base import Outcome

if TYPE_CHECKING:
    import pandas as pd

#: The model whose recorded answers are labelled: the only one here that writes freely.
MODEL = "matpcr/smollm2"


def coverage(frame: pd.DataFrame) -> pd.DataFrame:
    """Share of the answers in which a claim was read, a row a model, modality and constraint type.

    Parameters
    ----------
    frame : DataFrame
        Transcripts, judged or not. Rows that were not asked or failed take no part.

    Returns
    -------
    DataFrame
        ``model``, ``modality``, ``constraint``, ``n`` answers from ``sources``, ``claims`` (a
        claim or more), ``share``, its 95 % interval ``lower``, ``upper``, and the ``method``:
        the bootstrap over sources, or Wilson's over sources where all agree.
    """
    import pandas as pd

    from matpcr_utils.statistics import bootstrap

    keys = ["model", "modality", "constraint"]
    asked = asked_of(frame)
    asked = asked.assign(
        stated=[bool(read(c, k)) for c, k in zip(asked["chain"], asked["constraint"], strict=True)],
        source_id=[catalog.get(item_id).source_id for item_id in asked["item_id"]],
    )
    found = []
    for cell, own in asked.groupby(keys, sort=False):
        share: Any = bootstrap(own["stated"].to_numpy(bool), own["source_id"])
        ends: Any = share.beside("wilson") if share.count in (0, share.n) else share
        found.append(
            {
                **dict(zip(keys, cell, strict=True)),
                "n": share.n,
                "sources": share.n_sources,
                "claims": share.count,
                "share": share.estimate,
                "lower": ends.lower,
                "upper": ends.upper,
                "method": "Wilson over sources" if ends is not share else share.method,
            }
        )
    columns = [*keys, "n", "sources", "claims", "share", "lower", "upper", "method"]
    return pd.DataFrame(found, columns=columns)


def reasons(frame: pd.DataFrame) -> pd.DataFrame:
    """Why no claim was read, as far as a machine can tell: numbers of answers, a column a reason.

    Parameters
    ----------
    frame : DataFrame
        Transcripts, judged or not.

    Returns
    -------
    DataFrame
        A row a ``model``, ``shown as`` and ``constraint`` with such answers.
    """
    import pandas as pd

    asked = asked_of(frame)
    none = [not read(c, k) for c, k in zip(asked["chain"], asked["constraint"], strict=True)]
    silent = asked[np.array(none, dtype=bool)]
    told = pd.Series([_reason(row) for row in transcripts.records(silent)], silent.index, str)
    rows = [silent["model"], silent["modality"].rename("shown as"), silent["constraint"]]
    counts: pd.DataFrame = pd.crosstab(rows, told.rename("reason"))
    return counts.reset_index().rename_axis(columns=None)


def _reason(row: Mapping[str, Any]) -> str:
    if not row["chain"].strip():
        return "empty"
    if row["stop_reason"] in ("max_tokens", "model_length"):
        return "cut off before a claim"
    if row["stop_reason"] == "content_filter":
        return "refused"
    return "ended without a claim that was read"


# Labels against what is read


def compare(
    given: Sequence[Label] | None = None, frame: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Lay what the extractor reads today beside the labels, a row a labelled answer.

    Parameters
    ----------
    given : sequence of Label, optional
        Default, the committed ones.
    frame : DataFrame, optional
        Transcripts that hold the answers; default, the recorded ones of `MODEL`.

    Returns
    -------
    DataFrame
        ``item_id``, ``source_id``, ``seed``, ``constraint``, ``modality``, ``stratum``,
        ``weight``, ``chain``, ``why``; tuples of the claims ``labelled``, ``missed`` and
        ``misread`` (read and not stated); the numbers ``matched``, ``n_labelled``, ``n_read``; the
        oracle's outcome on the stated claims, ``by_label``, and on those that are read,
        ``by_reading``.

    Raises
    ------
    MatPCRError
        If an answer is missing or is not the one that was labelled.
    """
    import pandas as pd

    given = labels() if given is None else given
    if frame is None:
        frame = recorded.load(MODEL, modality="text")
    chains = {
        (row["item_id"], row["seed"], row["modality"]): row["chain"]
        for row in transcripts.records(frame)
    }
    stale = [
        label
        for label in given
        if digest(chains.get((label.item_id, label.seed, label.modality), "")) != label.sha256
    ]
    if stale:
        raise MatPCRError(
            f"{len(stale)} of {len(given)} labels are of other answers than the recorded ones, "
            f"first {stale[0].item_id}, seed {stale[0].seed}: label the new answers"
        )
    return pd.DataFrame(
        [_compared(label, chains[label.item_id, label.seed, label.modality]) for label in given]
    )


def _compared(label: Label, chain: str) -> dict[str, Any]:
    item = catalog.get(label.item_id)
    read = _distinct(extract_claims(chain, label.constraint))
    missed = [claim for claim in label.claims if not _among(claim, read)]
    misread = [claim for claim in read if not _among(claim, label.claims)]
    return {
        "item_id": label.item_id,
        "source_id": item.source_id,
        "seed": label.seed,
        "constraint": label.constraint,
        "modality": label.modality,
        "stratum": label.stratum,
        "weight": label.weight,
        "chain": chain,
        "why": label.why,
        "labelled": label.claims,
        "missed": tuple(missed),
        "misread": tuple(misread),
        "matched": len(label.claims) - len(missed),
        "n_labelled": len(label.claims),
        "n_read": len(read),
        "by_label": str(_outcome(item, label.claims)),
        "by_reading": str(_outcome(item, read)),
    }


def _distinct(claims: Iterable[Claim]) -> list[Claim]:
    kept: list[Claim] = []
    for claim in claims:
        if not _among(claim, kept):
            kept.append(claim)
    return kept


def _among(claim: Claim, others: Iterable[Claim]) -> bool:
    return any(_equal(claim, other) for other in others)


def _equal(one: Claim, other: Claim) -> bool:
    if (one.quantity, one.basis) != (other.quantity, other.basis):
        return False
    if isinstance(one.value, str) or isinstance(other.value, str):
        return one.value == other.value
    return math.isclose(one.value, other.value, rel_tol=1e-6, abs_tol=1e-9)


def _outcome(item: items.Item, claims: Sequence[Claim]) -> Outcome:
    oracle, reference = oracles.get(item.constraint), items.reference(item)
    outcomes = {oracle.check(claim, reference).outcome for claim in claims}
    for outcome in (Outcome.VIOLATION, Outcome.CONSISTENT):
        if outcome in outcomes:
            return outcome
    return Outcome.ABSTAIN


def scores(
    compared: pd.DataFrame, *, resamples: int = 10_000, level: float = 0.95, seed: int = 0
) -> pd.DataFrame:
    """Precision and recall of the extractor, a row a constraint type and modality, and all of them.

    Parameters
    ----------
    compared : DataFrame
        As `compare` returns it.
    resamples, level, seed
        Of the bootstrap: sources are drawn with replacement within a constraint type and modality.

    Returns
    -------
    DataFrame
        ``constraint``, ``modality``, ``chains``, ``stated``, ``read`` and ``matched`` claims of the
        sample, and three weighted shares with the ends of their intervals (``…_lower``,
        ``…_upper``): ``precision`` (matched of the read), ``recall`` (matched of the stated) and
        ``same_outcome`` (chains on which the oracle says the same of both). A share without a case
        is missing. Where no resample can differ, the interval is that of Clopper and Pearson for
        the effective number of sources.

    Notes
    -----
    The effective number is Kish's, the squared sum of weights over the sum of their squares.
    """
    import pandas as pd

    if not len(compared):
        raise MatPCRError("no labelled answer: nothing can be compared")
    same = (compared["by_label"] == compared["by_reading"]).to_numpy(float)
    parts = {
        "precision": (compared["matched"], compared["n_read"]),
        "recall": (compared["matched"], compared["n_labelled"]),
        "same_outcome": (same, np.ones(len(compared))),
    }
    cells = dict(list(compared.groupby(["constraint", "modality"], sort=False)))
    rows = []
    for (constraint, modality), own in [*cells.items(), (("all", "all"), compared)]:
        chosen = compared.index.get_indexer(own.index)
        row: dict[str, Any] = {
            "constraint": constraint,
            "modality": modality,
            "chains": len(own),
            "stated": int(own["n_labelled"].sum()),
            "read": int(own["n_read"].sum()),
            "matched": int(own["matched"].sum()),
        }
        for name, (top, bottom) in parts.items():
            weights = own["weight"].to_numpy(float)
            sums = [weights * np.asarray(part, float)[chosen] for part in (top, bottom)]
            ends = _ratio(own, sums[0], sums[1], resamples, level, seed)
            row |= dict(zip((name, f"{name}_lower", f"{name}_upper"), ends, strict=True))
        rows.append(row)
    return pd.DataFrame(rows)


def _ratio(
    own: pd.DataFrame,
    top: NDArray[np.float64],
    bottom: NDArray[np.float64],
    resamples: int,
    level: float,
    seed: int,
) -> tuple[float | None, float | None, float | None]:
    """A ratio of weighted sums and the ends of its interval."""
    from matpcr_utils.statistics import rate

    if not bottom.sum():
        return None, None, None
    estimate = float(top.sum() / bottom.sum())
    sums = (
        own.assign(top=top, bottom=bottom)
        .groupby(["constraint", "modality", "source_id"], sort=True)[["top", "bottom"]]
        .sum()
    )
    shares = sums[sums["bottom"] > 0]
    if estimate in (0.0, 1.0):
        weights = shares["bottom"].to_numpy()
        effective = max(1, int(weights.sum() ** 2 / (weights**2).sum()))
        exact = rate(effective * int(estimate), effective, level=level)
        return estimate, exact.lower, exact.upper
    rng = np.random.default_rng(seed)
    drawn = np.zeros((resamples, 2))
    for _, cell in sums.groupby(["constraint", "modality"]):
        counts = rng.multinomial(len(cell), np.full(len(cell), 1 / len(cell)), size=resamples)
        drawn += counts @ cell.to_numpy()
    # A resample without a case has no ratio.
    ratios = drawn[drawn[:, 1] > 0]
    ends = np.quantile(ratios[:, 0] / ratios[:, 1], [(1 - level) / 2, (1 + level) / 2])
    return estimate, float(ends[0]), float(ends[1])


def errors(compared: pd.DataFrame, width: int = 240) -> pd.DataFrame:
    """Every claim that was missed or misread, a row a claim, those that stand for most first.

    Parameters
    ----------
    compared : DataFrame
        As `compare` returns it.
    width : int
        Characters of the answer that are shown.
    """
    import pandas as pd

    rows = [
        {
            "error": kind,
            "claim": _told(claim),
            "item": row["item_id"],
            "seed": row["seed"],
            "stands for": row["weight"],
            "answer": shorten(row["chain"], width, placeholder=" …"),
        }
        for kind in ("missed", "misread")
        for row in transcripts.records(compared)
        for claim in row[kind]
    ]
    columns = ["error", "claim", "item", "seed", "stands for", "answer"]
    found = pd.DataFrame(rows, columns=columns)
    return found.sort_values("stands for", ascending=False, kind="stable", ignore_index=True)


def _told(claim: Claim) -> str:
    if isinstance(claim.value, str):
        return f"{claim.quantity} = {claim.value}"
    return f"{claim.quantity} = {claim.value:.6g} {claim.unit}"


def silence(compared: pd.DataFrame) -> pd.DataFrame:
    """Why answers state nothing, by the annotator: how many are in the sample, and their share."""
    silent = compared[compared["n_labelled"] == 0]
    by = silent.groupby("why")["weight"].agg(["size", "sum"]).sort_values("sum", ascending=False)
    share = by["sum"] / compared["weight"].sum()
    return by.assign(share=share).drop(columns="sum").rename(columns={"size": "sampled"})
