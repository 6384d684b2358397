"""Why accuracy and the oracle's verdict disagree: two criteria, their reasons, their tolerances.

`yardsticks` puts the criteria side by side; `reasons` sorts the disagreeing chains by the oracle's
reason, with a chain for each; `matched`, `change` and `swept` ask how much is the tolerance.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log10
from typing import TYPE_CHECKING, Any

import numpy as np

from matpcr_utils import items
from matpcr_utils.claims.model import CONSTRAINTS
from matpcr_utils.errors import MatPCRError
from matpcr_utils.evaluation import agreement, catalog, results
from matpcr_utils.evaluation.agreement import CELL, DISAGREE
from matpcr_utils.statistics import bootstrap_difference

if TYPE_CHECKING:
    import pandas as pd


def reasons(table: pd.DataFrame, *, seed: int = 0) -> pd.DataFrame:
    """Why the two disagree, a row a constraint type, question, quadrant and reason of the oracle.

    Parameters
    ----------
    table : DataFrame
        As `results.judge` returns it.
    seed : int
        Of the draw of the example, which is a chain of the first model that has one.

    Returns
    -------
    DataFrame
        ``constraint``, ``asked``, ``quadrant`` and ``reason``; how many ``chains`` on how many
        ``items``; ``by`` whom; and the example: ``item_id``, ``model``, ``answer``, ``truth`` and
        the oracle's ``sentence``.
    """
    import pandas as pd

    both = agreement.compared(table)
    apart = both[both["quadrant"].isin(DISAGREE)]
    keys = ["constraint", "asked", "quadrant", "reason"]
    rng = np.random.default_rng(seed)
    rows: list[dict[str, Any]] = []
    for names, own in apart.groupby(keys, sort=False):
        first = own[own["model"] == own["model"].iloc[0]].drop_duplicates(["item_id", "chain"])
        example = first.iloc[int(rng.integers(len(first)))]
        truth = items.true_claim(catalog.get(example["item_id"]))
        value = truth.value if isinstance(truth.value, str) else f"{truth.value:.4g} {truth.unit}"
        rows.append(
            {
                **dict(zip(keys, names, strict=True)),
                "chains": len(own),
                "items": own["item_id"].nunique(),
                "by": ", ".join(f"{who} {k}" for who, k in own["model"].value_counts().items()),
                "item_id": example["item_id"],
                "model": example["model"],
                "answer": example["chain"],
                "truth": value,
                "sentence": example["sentence"],
            }
        )
    columns = [*keys, "chains", "items", "by", "item_id", "model", "answer", "truth", "sentence"]
    found = pd.DataFrame(rows, columns=columns)
    place = {name: number for number, name in enumerate(CONSTRAINTS)}
    return found.sort_values(
        ["constraint", "chains"],
        key=lambda c: c.map(place) if c.name == "constraint" else -c,
        kind="stable",
        ignore_index=True,
    )


def matched(near_hull: float = 0.0) -> dict[str, Any]:
    """Oracle tolerances as near to the accuracy criterion's as their form allows.

    Parameters
    ----------
    near_hull : float
        eV/atom, of the stability oracle; at 0 the label criterion is the strict hull.
    """
    from matpcr_utils.items import accuracy
    from matpcr_utils.oracles import (
        diffraction,
        magnetism,
        metallicity,
        microscopy,
        spectra,
        stability,
    )

    return {
        "diffraction": diffraction.Tolerances(two_theta=accuracy.TWO_THETA),
        "microscopy": microscopy.Tolerances(scale_tolerance=accuracy.SCALE),
        "spectra": spectra.Tolerances(window=accuracy.RAMAN_SHIFT),
        "stability": stability.Tolerances(near_hull=near_hull),
        "metallicity": metallicity.Tolerances(zero_max=0.0, nonzero_min=0.0),
        "magnetism": magnetism.Tolerances(decade=log10(1 + accuracy.SHARE)),
    }


#: eV/atom; thresholds of the sweep.
THRESHOLDS = (0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)


def change(
    before: pd.DataFrame,
    after: pd.DataFrame,
    by: Sequence[str] = CELL,
    *,
    resamples: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
) -> pd.DataFrame:
    """Disagreement of the same chains judged twice, a row a cell.

    Parameters
    ----------
    before, after : DataFrame
        The same transcripts as `results.judge` returns them, under two sets of tolerances.
    by, resamples, seed
        As in `agreement.cells`.
    level : float
        Of all intervals together: each is taken at 1 − (1 − level) / cells (Bonferroni).

    Returns
    -------
    DataFrame
        `by`; ``n`` chains that can be compared both times, from ``n_sources`` sources; the shares
        ``before`` and ``after`` on which accuracy and verdict disagree; the ``difference`` with
        ``lower`` and ``upper``. Cells without such a chain are not listed.

    Raises
    ------
    MatPCRError
        If the two tables are not of the same chains, or as `agreement.cells`.
    """
    import pandas as pd

    by = agreement.named(before, by)
    keys = ["model", "item_id", "seed", "modality", "chain"]
    if len(before) != len(after) or (before[keys].to_numpy() != after[keys].to_numpy()).any():
        raise MatPCRError("before and after must hold the same chains: judge one table twice")
    shared = agreement.comparable(before).to_numpy() & agreement.comparable(after).to_numpy()
    one, two = agreement.compared(before[shared]), agreement.compared(after[shared])
    first, then = (part["quadrant"].isin(DISAGREE).to_numpy() for part in (one, two))
    groups = list(one.groupby(by, sort=False).indices.items())
    rows: list[dict[str, Any]] = []
    for key, own in groups:
        found = bootstrap_difference(
            first[own],
            then[own],
            one["source_id"].iloc[own],
            resamples=resamples,
            level=1 - (1 - level) / len(groups),
            seed=seed,
        )
        rows.append(
            {
                **dict(zip(by, key if isinstance(key, tuple) else (key,), strict=True)),
                "n": found.n,
                "n_sources": found.n_sources,
                "before": found.before / found.n,
                "after": found.after / found.n,
                "difference": found.estimate,
                "lower": found.lower,
                "upper": found.upper,
            }
        )
    rates = ["n", "n_sources", "before", "after", "difference", "lower", "upper"]
    return pd.DataFrame(rows, columns=[*by, *rates])


def swept(
    frame: pd.DataFrame, thresholds: Sequence[float] = THRESHOLDS, **options: Any
) -> pd.DataFrame:
    """Disagreement on stability under one near-hull threshold after the other, models pooled.

    Parameters
    ----------
    frame : DataFrame
        Transcripts; those of other constraint types are passed over.
    thresholds : sequence of float
        eV/atom.
    **options
        ``resamples``, ``level`` and ``seed`` for `agreement.cells`.

    Returns
    -------
    DataFrame
        As `agreement.cells` by question, with the ``near_hull`` of the row.

    Raises
    ------
    MatPCRError
        If no chain is on stability, or a threshold lies outside its range.
    """
    import pandas as pd

    from matpcr_utils.oracles import stability

    own = frame[frame["constraint"] == "stability"]
    if not len(own) or not len(thresholds):
        raise MatPCRError("a sweep needs chains on stability and at least one threshold")
    parts = []
    for threshold in thresholds:
        limits = {"stability": stability.Tolerances(near_hull=threshold)}
        table = results.judge(own, limits)
        found = agreement.cells(table, ("constraint", "asked"), **options)
        parts.append(found.assign(near_hull=float(threshold)))
    return pd.concat(parts, ignore_index=True)


def yardsticks() -> pd.DataFrame:
    """The two criteria of each constraint type in words, with the oracles' default tolerances."""
    import pandas as pd

    from matpcr_utils.items.accuracy import CRITERIA
    from matpcr_utils.oracles import get

    limits = {name: get(name).Tolerances() for name in CONSTRAINTS}
    rows = [
        {
            "constraint": name,
            "passed if": words.format(t=limits[name]),
            "accurate if": CRITERIA[name],
        }
        for name, words in _PASSED.items()
    ]
    return pd.DataFrame(rows)


#: When a claim passes its oracle, `t` being the tolerances.
_PASSED: dict[str, str] = {
    "diffraction": "within {t.two_theta:g}° on 2θ of any line of the structure that has at least "
    "{t.intensity_floor:g} % of the intensity of the strongest",
    "microscopy": "a size up to the {t.extent} of the field of view, a scale within "
    "{t.scale_tolerance:.0%}",
    "spectra": "within {t.window:g} cm⁻¹ of any genuine maximum, one that stands out by "
    "{t.prominence:.0%} of the dynamic range",
    "stability": "“stable” up to {t.near_hull:g} eV/atom above the hull, “unstable” beyond, "
    "“metastable” above the hull by at most {t.metastable_max:g}; a number on the same side of "
    "{t.near_hull:g} as the reference",
    "metallicity": "class or number agree that the gap is at most {t.zero_max:g} eV, or at least "
    "{t.nonzero_min:g}; not judged in between",
    "magnetism": "class or number agree on a moment above {t.finite_min:g} μB/atom; then a number "
    "within a factor {t.factor:g}",
}
