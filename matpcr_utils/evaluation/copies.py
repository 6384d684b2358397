"""Answers that repeat a worked example of their prompt instead of answering the question."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from matpcr_utils import items
from matpcr_utils.claims import extract_claims
from matpcr_utils.errors import MatPCRError
from matpcr_utils.evaluation import catalog, transcripts
from matpcr_utils.items import Item, prompts

if TYPE_CHECKING:
    import pandas as pd

#: Words in a row that an answer shares with a worked example's reason before it counts as repeated.
RUN = 5
_COLUMNS = (
    *("item_id", "source_id", "seed", "constraint", "modality", "asks", "class_asked"),
    *("stated", "example", "truth_example", "words", "words_elsewhere"),
)
_RATES = (
    *("asks", "modality", "class_asked", "n", "stated", "copied", "truths", "excess"),
    *("lower", "upper", "words", "words_elsewhere"),
)

_Words = frozenset[tuple[str, ...]]


def find(table: pd.DataFrame) -> pd.DataFrame:
    """Which answers repeat a worked example that their prompt showed.

    Parameters
    ----------
    table : DataFrame
        Transcripts, judged or not; rows that showed no example, were not asked or failed are left
        out.

    Returns
    -------
    DataFrame
        A row an answer. ``class_asked``: a class and not a number is asked for. ``stated``: a value
        of the quantity that is asked for is. ``example``: the number, from 1, of the first example
        whose value is stated, rounded as the example is; else 0. ``truth_example``: the same of the
        *accurate* answer, which is how often a perfect answer would look like a copy. ``words``:
        `RUN` words in a row are those of a shown example's reason; ``words_elsewhere``: of the
        reason of an example that was not shown.

    Notes
    -----
    Classes are few, and most are among the examples: there only the words can tell.
    """
    import pandas as pd

    found = [
        _row(row, catalog.get(row["item_id"]))
        for row in transcripts.records(table)
        if row["examples"] and not row["unsupported"] and not row["error"]
    ]
    return pd.DataFrame(found, columns=list(_COLUMNS))


def rates(found: pd.DataFrame) -> pd.DataFrame:
    """Shares of copies, a row a question and modality.

    Parameters
    ----------
    found : DataFrame
        As `find` returns it.

    Returns
    -------
    DataFrame
        ``n`` answers; shares that are ``stated`` and ``copied`` (an example's value), the share of
        ``truths`` (accurate answers) that have one, ``excess`` (the difference) with the ends of
        its 95 % bootstrap interval over sources; shares of ``words`` and ``words_elsewhere``. The
        value columns are missing where a class is asked for.
    """
    import pandas as pd

    from matpcr_utils.statistics import bootstrap_difference

    rows: list[dict[str, Any]] = []
    for (asks, modality), own in found.groupby(["asks", "modality"], sort=False):
        rows.append({"asks": asks, "modality": modality, "n": len(own)})
        for name in ("stated", "words", "words_elsewhere"):
            rows[-1][name] = own[name].mean()
        rows[-1]["class_asked"] = bool(own["class_asked"].iloc[0])
        if rows[-1]["class_asked"]:
            continue
        copied, truth = (own[name].to_numpy() > 0 for name in ("example", "truth_example"))
        excess = bootstrap_difference(truth, copied, own["source_id"])
        rows[-1] |= {
            "copied": copied.mean(),
            "truths": truth.mean(),
            "excess": excess.estimate,
            "lower": excess.lower,
            "upper": excess.upper,
        }
    return pd.DataFrame(rows, columns=list(_RATES))


def told(shares: pd.DataFrame) -> pd.DataFrame:
    """The shares as they are printed, with a dash where a class is asked for."""
    import pandas as pd

    rows = []
    for row in transcripts.records(shares):
        number = not row["class_asked"]
        ends = f"{row['excess']:+.2f} [{row['lower']:+.2f}, {row['upper']:+.2f}]" if number else "–"
        rows.append(
            {
                "asked for": row["asks"].replace("_", " "),
                "shown as": row["modality"],
                "n": row["n"],
                "state a value": f"{row['stated']:.0%}",
                "an example's value": f"{row['copied']:.0%}" if number else "–",
                "accurate answers with one": f"{row['truths']:.0%}" if number else "–",
                "excess [95 %]": ends,
                "words of a shown reason": f"{row['words']:.0%}",
                "of another reason": f"{row['words_elsewhere']:.0%}",
            }
        )
    return pd.DataFrame(rows)


def example_values(key: str) -> tuple[float | str, ...]:
    """Values of the worked examples of a question, in canonical units, in order.

    Parameters
    ----------
    key : str
        As `prompts.key` gives it, e.g. ``"stability/energy_above_hull"``.

    Raises
    ------
    MatPCRError
        If there is no such question, or an example states no value of what it answers.
    """
    return tuple(value for value, _ in _examples(key))


@lru_cache(maxsize=64)
def _examples(key: str) -> tuple[tuple[float | str, _Words], ...]:
    """Value, and runs of words of the reason, of each worked example."""
    known = prompts.templates()["examples"]
    if key not in known:
        raise MatPCRError(f"no worked examples of {key!r}: choose of {', '.join(known)}")
    constraint, _, asks = key.partition("/")
    found = []
    for shown in known[key]:
        values = _stated(shown["answer"], constraint, asks)
        if len(values) != 1:
            raise MatPCRError(f"a worked example of {key} states {len(values)} values: mend it")
        found.append((values[0], _runs(shown["answer"].split(". ")[0])))
    return tuple(found)


@lru_cache(maxsize=1)
def _all_reasons() -> _Words:
    known = prompts.templates()["examples"]
    return frozenset(run for key in known for _, runs in _examples(key) for run in runs)


def _row(row: Mapping[str, Any], item: Item) -> dict[str, Any]:
    shown = _examples(prompts.key(item))[: int(row["examples"])]
    values = [value for value, _ in shown]
    shown_reasons = frozenset(run for _, runs in shown for run in runs)
    stated = _stated(row["chain"], item.constraint, item.asks)
    truth = items.true_claim(item).value
    said = _runs(row["chain"])
    return {
        "item_id": item.item_id,
        "source_id": item.source_id,
        "seed": row["seed"],
        "constraint": item.constraint,
        "modality": row["modality"] or item.modality,
        "asks": item.asks,
        "class_asked": isinstance(truth, str),
        "stated": bool(stated),
        "example": _position(stated, values),
        "truth_example": _position([truth], values),
        "words": bool(said & shown_reasons),
        "words_elsewhere": bool(said & (_all_reasons() - shown_reasons)),
    }


def _stated(chain: str, constraint: str, asks: str) -> list[float | str]:
    return [claim.value for claim in extract_claims(chain, constraint) if claim.quantity == asks]


def _position(stated: Sequence[float | str], examples: Sequence[float | str]) -> int:
    """Number of the first example whose value is stated, from 1; 0 without one."""
    for number, example in enumerate(examples, 1):
        if any(_same(value, example) for value in stated):
            return number
    return 0


def _same(value: float | str, example: float | str) -> bool:
    """Whether a value is an example's, rounded as the example is; zero is zero only."""
    if isinstance(value, str) or isinstance(example, str) or example == 0:
        return value == example
    digits = len(f"{example:.10g}".partition(".")[2])
    return math.isclose(round(value, digits), example, rel_tol=1e-9)


def _runs(words: str) -> _Words:
    plain = re.findall(r"[^\W_]+", words.casefold())
    return frozenset(tuple(plain[n : n + RUN]) for n in range(len(plain) - RUN + 1))
