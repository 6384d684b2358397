"""Answers shown: one from prompt to verdict, all with their rates, runs and ends."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from matpcr_utils import items
from matpcr_utils.errors import MatPCRError
from matpcr_utils.evaluation import catalog, transcripts
from matpcr_utils.items import prompts

if TYPE_CHECKING:
    import pandas as pd


def provenance(table: pd.DataFrame) -> pd.DataFrame:
    """What was asked of whom, when, how and with what, a row a fact."""
    import pandas as pd

    asked = table[~table["unsupported"].astype(bool)]
    tokens = [int(asked[name].sum()) for name in ("input_tokens", "output_tokens")]
    facts = {
        "model": _listed(table["model"]),
        "asked on": _listed(table["created"].str[:10]),
        "run": _listed(table["run_id"]),
        "items": f"{table['item_id'].nunique()}, drawn with seed {_listed(table['items_seed'])}",
        "answers": f"{len(asked)} asked for, {len(table) - len(asked)} not (images)",
        "wording": _listed(table["prompt_version"]),
        "worked examples": _listed(table["examples"]),
        "tokens": f"{tokens[0]} read, {tokens[1]} written",
    }
    for seed, rows in asked.groupby("seed"):
        facts[f"settings, seed {seed}"] = "; ".join(map(_settings, _unique(rows["settings"])))
    facts["versions"] = "; ".join(
        ", ".join(f"{name} {number}" for name, number in json.loads(text).items())
        for text in _unique(table["versions"])
    )
    return pd.DataFrame({"what": list(facts), "recorded": list(facts.values())})


def pick(table: pd.DataFrame, seed: int = 0) -> dict[str, Any]:
    """One answer, drawn at random of those with a verdict, or of all if none has one.

    Parameters
    ----------
    table : DataFrame
        Judged.
    seed : int

    Raises
    ------
    MatPCRError
        If the table is empty.
    """
    if not len(table):
        raise MatPCRError("no answer to show: the table is empty")
    judged = table[table["outcome"] != "abstain"]
    chosen = judged if len(judged) else table
    row = int(np.random.default_rng(seed).integers(len(chosen)))
    return transcripts.records(chosen.iloc[[row]])[0]


def trace(row: Mapping[str, Any]) -> pd.DataFrame:
    """One chain from question to verdict, a row a step.

    Parameters
    ----------
    row : mapping
        A row of the judged table.
    """
    import pandas as pd

    item = catalog.get(row["item_id"])
    asked = prompts.templates()["questions"][prompts.key(item)][row["prompt_version"]]
    truth = items.true_claim(item)
    read = _told(row["quantity"], row["value"], row["unit"])
    words = {True: "yes", False: "no"}
    steps = {
        "item": f"{row['item_id']}, seed {row['seed']}",
        "question": asked["question"].format_map(items.wording(item)),
        "answer": row["chain"] or "(none)",
        "claims read": f"{row['n_claims']}"
        + (f"; the verdict's: {read}" if row["quantity"] else ""),
        "verdict": f"{row['outcome']} ({row['reason']}): {row['sentence']}",
        "accurate answer": _told(truth.quantity, truth.value, truth.unit),
        "accurate": "nothing to compare"
        if pd.isna(row["accurate"])
        else words[bool(row["accurate"])],
    }
    return pd.DataFrame({"step": list(steps), "here": list(steps.values())})


def cells(summary: pd.DataFrame) -> pd.DataFrame:
    """The table of rates as it is printed, a row a cell.

    Parameters
    ----------
    summary : DataFrame
        As `results.summary` returns it.
    """
    import pandas as pd

    rows = [
        {
            "constraint": cell["constraint"],
            "shown as": cell["modality"],
            "PCR [95 %]": f"{cell['pcr']:.3f} [{cell['lower']:.3f}, {cell['upper']:.3f}]"
            if cell["n"]
            else "nothing to judge",
            "n": cell["n"],
            "sources": cell["n_sources"],
            "coverage": _share(cell["coverage"]),
            "accuracy": _share(cell["accuracy"]),
            "chance": _share(cell["chance"]),
            "not asked": cell["unsupported"],
            "failed": cell["errors"],
        }
        for cell in transcripts.records(summary)
    ]
    return pd.DataFrame(rows)


def roster() -> pd.DataFrame:
    """The paper's models: what each reads, what would run it here, and what is not known of it."""
    import pandas as pd

    from matpcr_utils.evaluation import roster as known

    rows = []
    for entry in known.load():
        unknown = {
            "which model": entry.name,
            "its id here": entry.model,
            "cut-off of its training data": entry.cutoff,
        }
        rows.append(
            {
                "model": entry.name or "(not named in the summary)",
                "pass": entry.paper_pass,
                "reads": " and ".join(entry.reads),
                "command": entry.command or "none",
                "needs": entry.needs,
                "cut-off": entry.cutoff or "",
                "unknown": ", ".join(what for what, value in unknown.items() if value is None),
                "note": entry.note,
            }
        )
    return pd.DataFrame(rows)


def stops(table: pd.DataFrame) -> pd.DataFrame:
    """How the answers ended, a row a constraint type and modality, a column a reason, counted."""
    import pandas as pd

    ended = table["stop_reason"].where(table["stop_reason"] != "", "not said")
    ended = ended.mask(table["error"] != "", "failed")
    ended = ended.mask(table["unsupported"].astype(bool), "not asked (image)")
    rows = [table["constraint"], table["modality"].rename("shown as")]
    found: pd.DataFrame = pd.crosstab(rows, ended.rename("ended"))
    return found.reset_index().rename_axis(columns=None)


def _told(quantity: str, value: object, unit: str) -> str:
    if isinstance(value, float):
        value = f"{value:.6g}"
    return f"{quantity} = {value}" + (f" {unit}" if unit != "label" else "")


def _share(value: Any) -> str:
    import pandas as pd

    return "–" if pd.isna(value) else f"{value:.3f}"


def _settings(text: str) -> str:
    settings = json.loads(text)
    return ", ".join(f"{name} {value}" for name, value in settings.items()) or "none recorded"


def _unique(column: pd.Series) -> list[str]:
    return sorted(set(column))


def _listed(column: pd.Series) -> str:
    return ", ".join(str(value) for value in sorted(set(column)))
