"""Simulated cohorts of the scripted evaluee, whose true rates are known.

They are what the estimates of `revision` are held against: does an interval of 95 % cover the truth
that often, and does a control without an effect show one in 5 % of the cohorts? The answers are the
evaluee's own lines, judged by the oracles; what is left out is asking for them one by one.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from matpcr_utils.errors import MatPCRError
from matpcr_utils.evaluation import catalog, results, transcripts
from matpcr_utils.evaluation.conditions import ROUNDS, Condition
from matpcr_utils.evaluation.evaluees.reviser import (
    DROPPED,
    KINDS,
    RETREAT,
    RIGHT,
    WRONG,
    Reviser,
    draws,
    line,
)

if TYPE_CHECKING:
    import pandas as pd

#: Conditions that a cohort can be asked under.
CONDITIONS = ("cgsv", "refine")


def simulate(
    script: Reviser,
    condition: str = "cgsv",
    constraint: str = "diffraction",
    *,
    n_items: int = 96,
    seeds: int = 1,
    rounds: int = ROUNDS,
    cohort: int = 0,
    copies: bool = False,
) -> pd.DataFrame:
    """The judged table of one cohort.

    Parameters
    ----------
    script : Reviser
    condition : {"cgsv", "refine"}
        Whether only violating answers are followed up, or all.
    constraint : str
    n_items, seeds, rounds : int
    cohort : int
        Another cohort draws other answers.
    copies : bool
        Let all seeds of an item say the same, as greedily decoded models do.

    Returns
    -------
    DataFrame
        As `results.judge` gives it.

    Raises
    ------
    MatPCRError
        If the condition is another one, or the script copies what it is told.
    """
    if condition not in CONDITIONS:
        raise MatPCRError(f"condition {condition!r} is not simulated: choose cgsv or refine")
    if script.copies_reference:
        raise MatPCRError("a cohort is not told anything: leave copies_reference out")
    if cohort < 0 or seeds < 1:
        raise MatPCRError(f"cohort = {cohort} must be at least 0 and seeds = {seeds} at least 1")
    name = Condition.make(condition, rounds=rounds).name
    base = _judged(constraint, n_items)
    rows, said_in, with_seed = [], [], []
    for number, item_id in enumerate(catalog.load(constraint, n_items)):
        for seed in range(seeds):
            drawn = cohort * seeds + (0 if copies else seed)
            for place, kind in enumerate(_talk(script, condition, item_id, drawn, rounds)):
                rows.append(number * len(KINDS) + KINDS.index(kind))
                said_in.append(place)
                with_seed.append(seed)
    table = base.iloc[rows].reset_index(drop=True)
    return table.assign(round=said_in, seed=with_seed, condition=name)


def truth(script: Reviser, condition: str = "cgsv", rounds: int = ROUNDS) -> dict[str, float]:
    """The rates that `revision.rates` estimates from such a cohort.

    Parameters
    ----------
    script, condition, rounds
        As for `simulate`.

    Returns
    -------
    dict
        ``fix``, ``regression``, ``drop`` and ``retreat`` (of items that allow one).
    """
    keep = 1 - script.r_drop
    fix, spoil = keep * script.p_fix, keep * script.q_regress
    # Consistent, violating, dropped: the chances of one follow-up, from row to column.
    step = np.array(
        [
            [keep - spoil, spoil, script.r_drop],
            [fix, keep - fix, script.r_drop],
            [0.0, 0.0, 1.0],
        ]
    )
    if condition == "cgsv":
        step[0] = (1.0, 0.0, 0.0)
    end = np.linalg.matrix_power(step, rounds)
    consistent = 0.0 if condition == "cgsv" else script.p_consistent
    return {
        "fix": float(end[1, 0]),
        "regression": float(end[0, 1]),
        "drop": float(consistent * end[0, 2] + (1 - consistent) * end[1, 2]),
        "retreat": script.s_retreat,
    }


def _talk(script: Reviser, condition: str, item_id: str, seed: int, rounds: int) -> list[str]:
    """The kinds of the answers of one conversation."""
    said = [script.first(draws(item_id, seed, 0))]
    for number in range(1, rounds + 1):
        if condition == "cgsv" and said[-1] != WRONG:
            break
        said.append(script.next(said[-1], draws(item_id, seed, number)))
    return said


@lru_cache(maxsize=16)
def _judged(constraint: str, n_items: int) -> pd.DataFrame:
    """Every line that can be said of every item, judged; the kinds of an item are neighbours."""
    rows = [
        {
            "item_id": item_id,
            "constraint": constraint,
            "model": "matpcr/reviser",
            "modality": "text",
            "chain": line(item_id, kind),
            "run_id": "simulated",
        }
        for item_id in catalog.load(constraint, n_items)
        for kind in (RIGHT, RETREAT, WRONG, DROPPED)
    ]
    import pandas as pd

    # Not `as_frame`, which sorts.
    full = [{**transcripts.COLUMNS, **row} for row in rows]
    return results.judge(pd.DataFrame(full, columns=list(transcripts.COLUMNS)))
