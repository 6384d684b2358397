"""What guessing scores, and what is left of a PCR when that is taken off.

Two guessers are the baselines: claims from the plain prior (`item_chance`), and the claim that
passes most often (`evaluees.guesser`). `cells` corrects a judged table for both, `prior_check` lays
recorded guesses beside the level that is computed for them, and `swept` does it all again at other
tolerances. What the second guesser knows is the subject of `guesses`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from matpcr_utils import controls, items
from matpcr_utils.claims.model import ClaimTable
from matpcr_utils.errors import MatPCRError
from matpcr_utils.evaluation import catalog, priors, results
from matpcr_utils.statistics import adjust, bootstrap, chance_corrected, resampling

if TYPE_CHECKING:
    import pandas as pd

#: Sources on which the baseline must fail before a rate above it has an interval: with fewer, a
#: resample may hold none, and nothing can be gained in it.
ROOM = 20
#: Degree on 2θ; diffraction tolerances of the sweep.
TOLERANCES = (0.05, 0.1, 0.2, 0.5, 1.0)
#: What an interval says of a rate above guessing.
BETTER, SAME, WORSE = "better", "no better", "worse"


def item_chance(
    item_ids: Iterable[str],
    tolerances: Mapping[str, Any] | None = None,
    *,
    draws: int = 400,
    seed: int = 0,
) -> pd.Series:
    """How often a claim from the plain prior passes, item by item.

    Parameters
    ----------
    item_ids : iterable of str
    tolerances : mapping, optional
        From a constraint's name to its oracle's `Tolerances`.
    draws : int
        Claims an item. On diffraction none is drawn: there the rate is the share of the window
        that the tolerance covers, and exact.
    seed : int
        Of the draws.

    Returns
    -------
    Series
        Rate of the judged claims by item id; missing where none could be judged.

    Raises
    ------
    MatPCRError
        If `draws` is not positive or an item is unknown.
    """
    import pandas as pd

    if draws < 1:
        raise MatPCRError(f"draws = {draws} must be at least 1")
    chosen = [catalog.get(item_id) for item_id in dict.fromkeys(item_ids)]
    found: dict[str, float] = {item.item_id: np.nan for item in chosen}
    for constraint, asks in sorted({(item.constraint, item.asks) for item in chosen}):
        group = [i for i in chosen if (i.constraint, i.asks) == (constraint, asks)]
        limits = (tolerances or {}).get(constraint)
        rates = _prior_rates(constraint, asks, group, limits, draws, seed)
        found.update(zip((item.item_id for item in group), rates, strict=True))
    return pd.Series(found, dtype=float, name="chance")


def _prior_rates(
    constraint: str, asks: str, group: Sequence[items.Item], limits: Any, draws: int, seed: int
) -> NDArray[np.float64]:
    table = priors.columns(constraint, [items.reference(item) for item in group])
    if constraint == "diffraction":
        from matpcr_utils.controls.diffraction import coverage

        return coverage(table, limits)

    def draw(references: Any, index: NDArray[np.intp], rng: np.random.Generator) -> ClaimTable:
        return priors.draw(constraint, asks, references, index, rng)

    index, verdicts = controls.judge_draws(constraint, draw, draws, table, limits, seed)
    judged = np.bincount(index[~verdicts.abstain], minlength=len(group))
    passed = np.bincount(index[verdicts.consistent], minlength=len(group))
    return np.where(judged > 0, passed / np.maximum(judged, 1), np.nan)


def cells(
    table: pd.DataFrame,
    baseline: pd.DataFrame | None = None,
    by: Sequence[str] = results.CELL,
    *,
    tolerances: Mapping[str, Any] | None = None,
    draws: int = 400,
    resamples: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
) -> pd.DataFrame:
    """PCR of every cell, and what is left of it above two guessers.

    Parameters
    ----------
    table : DataFrame
        As `results.judge` returns it.
    baseline : DataFrame, optional
        Judged answers of the second guesser, one model; an item's first judged answer counts.
    by : sequence of str
        Columns that name a cell, among them the constraint.
    tolerances : mapping, optional
        Those with which `table` and `baseline` were judged.
    draws : int
        Of the prior's claims, an item; see `item_chance`.
    resamples, level, seed
        Of the bootstrap over sources.

    Returns
    -------
    DataFrame
        `by`; ``n`` judged chains of ``n_sources`` sources, ``pcr``, ``lower``, ``upper``; the mean
        ``chance`` level of these chains' items, the rate ``corrected`` for it with
        ``corrected_lower`` and ``corrected_upper``, and ``against_chance``, one of `BETTER`,
        `SAME`, `WORSE`. With a baseline also ``n_paired`` chains on which it was judged, too, its
        rate ``guess`` on these, and ``over_guess``, its two ends and ``against_guess``. The words
        follow from intervals that hold jointly over the cells (Bonferroni). Missing is what has no
        judged chain, the baseline against itself, and a rate above a baseline that fails on fewer
        than `ROOM` sources.

    Raises
    ------
    MatPCRError
        If the table has no row, `by` lacks the constraint, the baseline holds several models, or
        an item's chance level is unknown.

    Notes
    -----
    (PCR − c) / (1 − c), see `statistics.chance_corrected`; the chance of an item is resampled with
    its outcome and taken as known. When all chains of a cell agree, Wilson's interval for its
    sources takes the place of the bootstrap's, which has no width.
    """
    import pandas as pd

    by = list(by)
    if not len(table) or "constraint" not in by:
        raise MatPCRError("no chain to correct: give judged chains, and cells by constraint")
    guessed = {} if baseline is None else _outcomes(baseline)
    guessing = None if baseline is None else str(baseline["model"].iloc[0])
    judged = table[table["outcome"] != "abstain"]
    # Sums of a source's levels differ by rounding with their order, and then the draws do, too.
    judged = judged.sort_values(["item_id", "seed", "outcome"], kind="stable")
    chance = item_chance(judged["item_id"], tolerances, draws=draws, seed=seed)
    if chance.isna().any():
        raise MatPCRError(
            f"no claim of the prior can be judged on {chance.index[chance.isna()][0]}, so its "
            "chance level is unknown: leave the item out"
        )
    names = table[by].drop_duplicates(ignore_index=True)
    how: dict[str, Any] = {"resamples": resamples, "level": level, "seed": seed}
    joint = 1 - (1 - level) / len(names)
    own = dict(iter(judged.groupby(by, sort=False, observed=True, dropna=False)))
    rows = []
    for name in names.itertuples(index=False, name=None):
        chains = own.get(name, judged.iloc[:0])
        row = _against_chance(chains, chance, how, joint)
        if baseline is not None:
            itself = dict(zip(by, name, strict=True)).get("model") == guessing
            row |= _against_guess(chains, {} if itself else guessed, how, joint)
        rows.append(row)
    return pd.concat([names, pd.DataFrame(rows)], axis=1)


def _against_chance(
    chains: pd.DataFrame, chance: pd.Series, how: Mapping[str, Any], joint: float
) -> dict[str, Any]:
    passed, sources = _passed(chains), chains["source_id"].to_numpy()
    plain = bootstrap(passed, sources, **how)
    rates = chance.reindex(chains["item_id"]).to_numpy()
    # Where every claim passes the model passed, too: the item adds nothing to either sum.
    room = rates < 1
    mean = float(rates.mean()) if len(rates) else np.nan

    def ends(at: float) -> tuple[float, float, float]:
        found = chance_corrected(passed[room], rates[room], sources[room], **{**how, "level": at})
        value = np.nan if found.estimate is None else found.estimate
        return value, found.lower, found.upper

    row = {
        "n": plain.n,
        "n_sources": plain.n_sources,
        "pcr": np.nan if plain.estimate is None else plain.estimate,
        "lower": plain.lower,
        "upper": plain.upper,
        "chance": mean,
    }
    found = _verdict(ends if room.any() else None, passed, sources, mean, how, joint)
    keys = ("corrected", "corrected_lower", "corrected_upper", "against_chance")
    return row | dict(zip(keys, found, strict=True))


def _against_guess(
    chains: pd.DataFrame, guessed: Mapping[str, bool], how: Mapping[str, Any], joint: float
) -> dict[str, Any]:
    chains = chains[chains["item_id"].isin(guessed)]
    passed, sources = _passed(chains), chains["source_id"].to_numpy()
    guess = np.array([guessed[item_id] for item_id in chains["item_id"]], bool)
    _, codes = np.unique(sources, return_inverse=True)
    above = np.bincount(codes, weights=passed.astype(float) - guess).astype(float)
    room = np.bincount(codes, weights=~guess).astype(float)
    mean = float(guess.mean()) if len(guess) else np.nan

    def ends(at: float) -> tuple[float, float, float]:
        (low, high), *_ = resampling.unequal_sizes(above[None], room[None], **{**how, "level": at})
        return float(above.sum() / room.sum()), float(low), float(high)

    enough = int((room > 0).sum()) >= ROOM
    found = _verdict(ends if enough else None, passed, sources, mean, how, joint)
    keys = ("over_guess", "over_guess_lower", "over_guess_upper", "against_guess")
    return {"n_paired": len(chains), "guess": mean} | dict(zip(keys, found, strict=True))


def _verdict(
    ends: Callable[[float], tuple[float, float, float]] | None,
    passed: NDArray[np.bool_],
    sources: NDArray[Any],
    mean: float,
    how: Mapping[str, Any],
    joint: float,
) -> tuple[float, float, float, str | None]:
    """Rate above guessing, its ends, and the word for the ends at the joint level."""
    if ends is None:
        return np.nan, np.nan, np.nan, None
    agree = bool(passed.all() or not passed.any())

    def at(level: float) -> tuple[float, float, float]:
        value, low, high = ends(level)
        if agree:
            wilson = bootstrap(passed, sources, **{**how, "level": level}).beside("wilson")
            low, high = ((end - mean) / (1 - mean) for end in (wilson.lower, wilson.upper))
        return value, low, high

    _, low, high = at(joint)
    return *at(how["level"]), BETTER if low > 0 else WORSE if high < 0 else SAME


def _passed(chains: pd.DataFrame) -> NDArray[np.bool_]:
    return (chains["outcome"] == "consistent").to_numpy(bool)


def _outcomes(baseline: pd.DataFrame) -> dict[str, bool]:
    """Whether the baseline's first judged answer passed, by item."""
    if baseline["model"].nunique() != 1:
        raise MatPCRError(
            f"the baseline holds {baseline['model'].nunique()} models: give the judged answers of "
            "one, e.g. matpcr/guesser"
        )
    judged = baseline[baseline["outcome"] != "abstain"].sort_values("seed", kind="stable")
    first = judged.drop_duplicates("item_id")
    return dict(zip(first["item_id"], _passed(first).tolist(), strict=True))


def in_words(row: Mapping[str, Any]) -> str:
    """A row of `cells` as text: PCR with interval, n, and the level of the plain prior."""
    if not row["n"]:
        return "nothing was judged"
    return (
        f"{row['pcr']:.3f} [{row['lower']:.3f}, {row['upper']:.3f}], n = {row['n']} from "
        f"{row['n_sources']} sources; level of the plain prior {row['chance']:.3f}"
    )


def prior_check(
    table: pd.DataFrame,
    *,
    tolerances: Mapping[str, Any] | None = None,
    draws: int = 400,
    resamples: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
) -> pd.DataFrame:
    """Recorded draws from the prior against the level that is computed for the same items.

    Parameters
    ----------
    table : DataFrame
        Judged answers of `matpcr/chance`.
    tolerances, draws, resamples, level, seed
        As in `cells`.

    Returns
    -------
    DataFrame
        A row a constraint type and modality: ``n``, ``passed``, ``expected`` to pass, ``pcr`` with
        ``lower`` and ``upper``, ``chance``, whether the interval ``covers`` it; the exact two-sided
        ``p_value`` of as many passes, and ``holm``, over the rows.

    Notes
    -----
    If every draw on item i passes with its own rate c_i, independently of the others, the number of
    passes has the Poisson binomial distribution of these rates. The test takes the rates as known.
    """
    from scipy.stats import poisson_binom

    by = ["constraint", "modality"]
    how: dict[str, Any] = {"resamples": resamples, "level": level, "seed": seed}
    found = cells(table, by=by, tolerances=tolerances, draws=draws, **how)
    found = found[found["n"] > 0].reset_index(drop=True)
    judged = table[table["outcome"] != "abstain"]
    chance = item_chance(judged["item_id"], tolerances, draws=draws, seed=seed)
    passed, expected, p_values = [], [], {}
    for name in found[by].itertuples(index=False, name=None):
        own = judged[(judged[by] == list(name)).all(axis=1)]
        rates = chance.reindex(own["item_id"]).to_numpy()
        count = int(_passed(own).sum())
        null = poisson_binom(rates)
        tail = min(float(null.cdf(count)), float(null.sf(count - 1)))
        passed.append(count)
        expected.append(float(rates.sum()))
        p_values[" ".join(name)] = min(1.0, 2 * tail)
    kept = found[[*by, "n", "pcr", "lower", "upper", "chance"]]
    return kept.assign(
        passed=passed,
        expected=expected,
        covers=(found["lower"] <= found["chance"]) & (found["chance"] <= found["upper"]),
        p_value=list(p_values.values()),
        holm=adjust(p_values, level)["holm"].to_numpy(),
    )


def swept(chains: pd.DataFrame, values: Iterable[float] = TOLERANCES, **how: Any) -> pd.DataFrame:
    """`cells` of the diffraction chains at several tolerances, a column ``two_theta`` (degree).

    Parameters
    ----------
    chains : DataFrame
        Transcripts; those of `matpcr/guesser` are the baseline if there are any.
    values : iterable of float
        Diffraction tolerances in degree on 2θ.
    **how
        For `cells`.

    Raises
    ------
    MatPCRError
        If there is no diffraction chain, or a tolerance lies outside its range.
    """
    import pandas as pd

    from matpcr_utils.oracles.diffraction import Tolerances

    own = chains[chains["constraint"] == "diffraction"]
    found = []
    for value in values:
        limits = {"diffraction": Tolerances(two_theta=value)}
        table = results.judge(own, limits)
        guesses = table[table["model"] == "matpcr/guesser"]
        corrected = cells(table, guesses if len(guesses) else None, tolerances=limits, **how)
        found.append(corrected.assign(two_theta=value))
    if not found:
        raise MatPCRError("no tolerance to sweep: give at least one, e.g. 0.5")
    return pd.concat(found, ignore_index=True)
