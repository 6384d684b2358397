"""Several answers to one item: whether they agree, and whether one seed scores otherwise."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import combinations
from typing import TYPE_CHECKING, Any

from matpcr_utils.errors import MatPCRError
from matpcr_utils.evaluation import transcripts

if TYPE_CHECKING:
    import pandas as pd


def rates(table: pd.DataFrame) -> pd.DataFrame:
    """PCR of each seed alone, as `statistics.pcr_cells`, ``coverage`` and ``temperature``.

    The coverage is the share of the answers that could be judged; the temperature is missing where
    it is not recorded.
    """
    from matpcr_utils.statistics import pcr_cells

    asked = table[~table["unsupported"].astype(bool)]
    # `pcr_cells` has a column ``seed`` of its own, that of its bootstrap.
    cells = pcr_cells(
        asked.assign(answer=asked["seed"]), ["constraint", "modality", "answer"], source="source_id"
    )
    cells = cells.drop(columns="seed").rename(columns={"answer": "seed"})
    known = {
        seed: {json.loads(text).get("temperature") for text in rows["settings"].unique()}
        for seed, rows in asked.groupby("seed")
    }
    cells["temperature"] = [
        next(iter(known[seed])) if len(known[seed]) == 1 else None for seed in cells["seed"]
    ]
    return cells.assign(coverage=cells["n"] / (cells["n"] + cells["abstained"]))


def agreement(table: pd.DataFrame) -> pd.DataFrame:
    """How often two answers to one item agree, over all pairs of seeds.

    Returns
    -------
    DataFrame
        A row a constraint type and modality: ``pairs``, the shares with the same ``words``, the
        same ``claim`` (or none in both) and the same ``outcome``, and the interval of the last, its
        sources resampled. No row without a second seed.
    """
    import pandas as pd

    from matpcr_utils.statistics import bootstrap

    found = []
    asked = table[~table["unsupported"].astype(bool) & (table["error"] == "")]
    for (constraint, modality), own in asked.groupby(["constraint", "modality"], sort=False):
        pairs = pd.DataFrame(_pairs(own))
        if not len(pairs):
            continue
        outcome = bootstrap(pairs["outcome"].to_numpy(bool), pairs["source_id"])
        found.append(
            {
                "constraint": constraint,
                "modality": modality,
                "pairs": len(pairs),
                "words": pairs["words"].mean(),
                "claim": pairs["claim"].mean(),
                "outcome": outcome.estimate,
                "lower": outcome.lower,
                "upper": outcome.upper,
            }
        )
    columns = ["constraint", "modality", "pairs", "words", "claim", "outcome", "lower", "upper"]
    return pd.DataFrame(found, columns=columns)


def _pairs(own: pd.DataFrame) -> Iterable[dict[str, Any]]:
    for _, rows in own.groupby("item_id", sort=False):
        for one, other in combinations(transcripts.records(rows), 2):
            yield {
                "source_id": one["source_id"],
                "words": one["chain"] == other["chain"],
                "claim": all(one[k] == other[k] for k in ("quantity", "value", "basis")),
                "outcome": one["outcome"] == other["outcome"],
            }


_COMPARED = (
    *("constraint", "modality", "seeds", "n", "first", "second"),
    *("difference", "lower", "upper", "p", "p_holm"),
)


def compare(table: pd.DataFrame, measure: str = "pcr") -> pd.DataFrame:
    """Each two seeds on the same items.

    Parameters
    ----------
    table : DataFrame
        Judged.
    measure : {"pcr", "coverage"}
        Consistent, of the items that both answers let judge; or judged, of all that were asked.

    Returns
    -------
    DataFrame
        A row a constraint type, modality and pair of ``seeds``: ``n`` items, ``first`` and
        ``second`` (shares), their ``difference`` with the ends of its bootstrap interval over
        sources, the exact McNemar ``p`` and ``p_holm``, corrected for all rows. No row without a
        pair.

    Raises
    ------
    MatPCRError
        If the measure is unknown.

    Notes
    -----
    McNemar's test takes the items as independent; items that share a source make it too bold.
    """
    import pandas as pd

    from matpcr_utils.statistics import adjust

    if measure not in ("pcr", "coverage"):
        raise MatPCRError(f"unknown measure {measure!r}: choose pcr or coverage")
    asked = table[~table["unsupported"].astype(bool) & (table["error"] == "")]
    judged = asked["outcome"] != "abstain"
    passed = judged if measure == "coverage" else asked["outcome"] == "consistent"
    kept = asked.assign(passed=passed)[judged | (measure == "coverage")]
    keys = ["item_id", "source_id", "constraint", "modality"]
    wide = kept.pivot(index=keys, columns="seed", values="passed")
    found = []
    for one, other in combinations(wide.columns, 2):
        both = wide[[one, other]].dropna().astype(bool).reset_index()
        for (constraint, modality), own in both.groupby(["constraint", "modality"], sort=False):
            row = {"constraint": constraint, "modality": modality, "seeds": f"{one}, {other}"}
            found.append(row | _difference(own[one], own[other], own["source_id"]))
    if not found:
        return pd.DataFrame(columns=list(_COMPARED))
    full = pd.DataFrame(found).sort_values(["constraint", "modality", "seeds"], ignore_index=True)
    corrected = adjust({str(row): p for row, p in enumerate(full["p"])})
    return full.assign(p_holm=corrected["holm"].to_numpy())


def _difference(one: pd.Series, other: pd.Series, sources: pd.Series) -> dict[str, Any]:
    from matpcr_utils.statistics import bootstrap_difference, paired

    first, second = one.to_numpy(bool), other.to_numpy(bool)
    ends = bootstrap_difference(first, second, sources)
    return {
        "n": len(first),
        "first": first.mean(),
        "second": second.mean(),
        "difference": ends.estimate,
        "lower": ends.lower,
        "upper": ends.upper,
        "p": paired(first, second).p_value,
    }


def told(compared: pd.DataFrame) -> pd.DataFrame:
    """A comparison as it is printed."""
    import pandas as pd

    rows = [
        {
            "constraint": row["constraint"],
            "shown as": row["modality"],
            "seeds": row["seeds"],
            "n": row["n"],
            "first": f"{row['first']:.3f}",
            "second": f"{row['second']:.3f}",
            "difference [95 %]": f"{row['difference']:+.3f} "
            f"[{row['lower']:+.3f}, {row['upper']:+.3f}]",
            "p": f"{row['p']:.2g}",
            "p, Holm": f"{row['p_holm']:.2g}",
        }
        for row in transcripts.records(compared)
    ]
    return pd.DataFrame(rows)
