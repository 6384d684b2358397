"""What the guessers say, how often it passes, and what they know.

`passes` and `best_claims` show where `evaluees.guesser` takes its claims from; `told` takes its
score on the Raman items apart.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from matpcr_utils import controls, items, oracles
from matpcr_utils.claims.model import CANONICAL_UNITS, ClaimTable
from matpcr_utils.evaluation import catalog, guessing, priors
from matpcr_utils.evaluation.evaluees import guesser
from matpcr_utils.statistics import bootstrap

if TYPE_CHECKING:
    import pandas as pd


@cache
def passes(
    constraint: str, asks: str, tolerances: Any = None
) -> tuple[ClaimTable, NDArray[np.bool_]]:
    """Every claim that the guesser tries, on every reference that the package ships.

    Parameters
    ----------
    constraint, asks : str
        A constraint type, and one of its quantities among `items.QUESTIONS`.
    tolerances : optional
        The oracle's `Tolerances`.

    Returns
    -------
    claims : ClaimTable, n rows
    passed : ndarray of bool, shape (n, n_references)
        Whether each claim is consistent with each reference.
    """
    claims, _ = guesser.pass_rates(constraint, asks)
    references = controls.design(constraint).default_references()
    n, many = len(claims), len(references)
    verdicts = oracles.get(constraint).check_many(
        claims.take(np.repeat(np.arange(n), many)),
        references,
        tolerances,
        index=np.tile(np.arange(many), n),
    )
    return claims, verdicts.consistent.reshape(n, many)


def best_claims(n_items: int | None = None) -> pd.DataFrame:
    """What the guesser says to each question when no range is named, and how often it passes.

    Parameters
    ----------
    n_items : int, optional
        Items a constraint type.

    Returns
    -------
    DataFrame
        ``constraint``, ``asks``, what it ``says``; the share of ``on_references`` and of
        ``on_items`` on which that is consistent; and what the ``prior`` is in words, with the
        share of its claims that pass on the items, ``prior_on_items``.
    """
    import pandas as pd

    rows = []
    for constraint, questions in items.QUESTIONS.items():
        for asks in questions:
            chosen = [i for i in catalog.load(constraint, n_items).values() if i.asks == asks]
            claim = guesser.best(constraint, asks)
            _, rates = guesser.pass_rates(constraint, asks)
            outcomes = [oracles.get(constraint).check(claim, items.reference(i)) for i in chosen]
            ids = [item.item_id for item in chosen]
            value = claim.value if isinstance(claim.value, str) else f"{claim.value:g}"
            unit = "" if priors.is_label(asks) else f" {claim.unit}"
            rows.append(
                {
                    "constraint": constraint,
                    "asks": asks,
                    "says": f"{value}{unit}",
                    "on_references": float(rates.max()),
                    "on_items": float(np.mean([v.outcome == "consistent" for v in outcomes]))
                    if chosen
                    else None,
                    "prior": prior_words(constraint, asks),
                    "prior_on_items": float(guessing.item_chance(ids).mean()) if chosen else None,
                }
            )
    return pd.DataFrame(rows)


def prior_words(constraint: str, asks: str) -> str:
    """The plain prior of a question in words."""
    design: Any = controls.design(constraint)
    if asks == items.QUESTIONS[constraint][0]:
        return str(design.PRIOR)
    low, high = priors.SCALE_PRIOR if asks == "scale" else design.NUMBER_PRIOR
    return f"log-uniform from {low:g} to {high:g} {CANONICAL_UNITS[asks]}"


def told(
    n_items: int | None = None,
    *,
    draws: int = 400,
    resamples: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
) -> pd.DataFrame:
    """What guessers score on the Raman items, by what they know.

    Parameters
    ----------
    n_items : int, optional
    draws : int
        Claims an item, of the guessers that draw.
    resamples, level, seed
        Of the draws, and of the bootstrap over sources.

    Returns
    -------
    DataFrame
        A row a guesser, in the order of what it knows: ``knows``, ``pcr`` of ``n`` judged claims
        (missing without one) with ``lower`` and ``upper``. The best claim of an item is the one
        that is consistent with most of the spectra that the guesser knows: all of the package, all
        of other materials, or all but the item's own.
    """
    import pandas as pd

    from matpcr_utils.items.spectra import FROM
    from matpcr_utils.references import spectra

    chosen = list(catalog.load("spectra", n_items).values())
    asked, known = [items.reference(item) for item in chosen], spectra.load()
    table, each = priors.columns("spectra", asked), np.arange(len(chosen))
    regions = [item.facts["region"] or (FROM, np.inf) for item in chosen]
    low, high = np.array(regions, float).T
    claims, passed = passes("spectra", "raman_shift")

    def best(left_out: str | None, ranged: bool = True) -> ClaimTable:
        kept = np.ones((len(known), len(asked)), bool)
        if left_out is not None:
            of_known, of_asked = (
                np.array([getattr(spectrum, left_out) for spectrum in some])
                for some in (known, asked)
            )
            kept = np.not_equal.outer(of_known, of_asked)
        rates = passed.astype(float) @ kept / np.maximum(kept.sum(axis=0), 1)
        inside = (claims.value[:, None] >= low) & (claims.value[:, None] <= high)
        return claims.take(np.where(inside | (not ranged), rates, -1.0).argmax(axis=0))

    many, rng = np.repeat(each, draws), np.random.default_rng(seed)
    end = np.minimum(high, table.axis[:, 1])
    anywhere = priors.draw("spectra", "raman_shift", table, many, rng)
    within = ClaimTable.numbers("raman_shift", rng.uniform(low[many], end[many]))
    guessers = {
        "nothing": (anywhere, many),
        "the range": (within, many),
        "all spectra": (best(None, ranged=False), each),
        "the range, and spectra of other materials": (best("sample"), each),
        "the range, and all spectra but this": (best("spectrum_id"), each),
        "the range, and all spectra": (best(None), each),
    }
    sources, rows = np.array([item.source_id for item in chosen]), []
    for knows, (said, index) in guessers.items():
        verdicts = oracles.get("spectra").check_many(said, table, index=index)
        own = ~verdicts.abstain
        found = bootstrap(
            verdicts.consistent[own],
            sources[index[own]],
            resamples=resamples,
            level=level,
            seed=seed,
        )
        estimate = np.nan if found.estimate is None else found.estimate
        ends = {"pcr": estimate, "lower": found.lower, "upper": found.upper}
        rows.append({"knows": knows, **ends, "n": found.n})
    return pd.DataFrame(rows)
