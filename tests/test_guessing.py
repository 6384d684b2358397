"""What guessing scores: levels item by item, corrected cells, guessers and what they know."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from matplotlib.colors import to_hex
from scipy.stats import binomtest

from matpcr_utils import items, oracles
from matpcr_utils.claims.model import ClaimTable
from matpcr_utils.controls import diffraction as coverage
from matpcr_utils.controls import microscopy as sizes
from matpcr_utils.errors import MatPCRError
from matpcr_utils.evaluation import catalog, guesses, guessing, priors, recorded, results
from matpcr_utils.evaluation.evaluees import guesser
from matpcr_utils.evaluation.transcripts import as_frame
from matpcr_utils.oracles import diffraction, stability
from matpcr_utils.plotting import COLORS
from matpcr_utils.plotting import guessing as figures
from matpcr_utils.references import dft, spectra
from matpcr_utils.statistics import chance_corrected, rate

mpl.use("agg")
IDS = list(catalog.load("stability", 60))
QUICK: dict[str, Any] = {"resamples": 400, "seed": 1}
BY = ["model", "constraint"]


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """Levels by item id that stand in for those of the priors; 1/2 unless set."""
    levels = dict.fromkeys(IDS, 0.5)

    def item_chance(item_ids: Any, *_: Any, **__: Any) -> pd.Series:
        return pd.Series({item_id: levels[item_id] for item_id in item_ids}, dtype=float)

    monkeypatch.setattr(guessing, "item_chance", item_chance)
    return levels


def judged(
    passed: Sequence[bool | None],
    model: str = "mock/a",
    sources: Sequence[Any] | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """A judged table, one stability item a verdict; None abstains."""
    words = {True: "consistent", False: "violation", None: "abstain"}
    ids = IDS[: len(passed)]
    return pd.DataFrame(
        {
            "model": model,
            "constraint": "stability",
            "modality": "text",
            "item_id": ids,
            "seed": seed,
            "source_id": ids if sources is None else sources,
            "outcome": [words[one] for one in passed],
        }
    )


def only(frame: pd.DataFrame) -> pd.Series:
    assert len(frame) == 1
    return frame.iloc[0]


# Levels


def test_on_diffraction_the_level_of_an_item_is_what_the_tolerance_covers_of_its_window() -> None:
    ids = list(catalog.load("diffraction", 12))
    limits = diffraction.Tolerances(two_theta=0.2)
    found = guessing.item_chance(ids, {"diffraction": limits})
    table = priors.columns("diffraction", [items.reference(catalog.get(i)) for i in ids])
    assert list(found.index) == ids
    np.testing.assert_array_equal(found, coverage.coverage(table, limits))
    # Independent of the union of intervals: the oracle on a fine grid over the window.
    low, high = table.window[3]
    grid = np.linspace(low, high, 20_001)
    verdicts = oracles.get("diffraction").check_many(
        ClaimTable.numbers("two_theta", grid), table, limits, index=np.full(len(grid), 3)
    )
    assert found.iloc[3] == pytest.approx(verdicts.consistent.mean(), abs=2e-3)


def test_without_tolerances_the_mean_is_the_chance_level_of_the_summary() -> None:
    for constraint in ("diffraction", "stability", "magnetism"):
        ids = tuple(catalog.load(constraint, 60))
        found = guessing.item_chance(ids)
        # Two estimates from 24,000 and 12,000 draws; five standard errors of the rarer draws.
        error = 5 * np.sqrt(0.25 / 12_000)
        assert found.mean() == pytest.approx(priors.chance_level(constraint, ids), abs=error)


def test_the_level_of_a_micrograph_is_the_share_of_the_prior_that_fits() -> None:
    (item,) = [i for i in catalog.load("microscopy", 3).values() if i.asks == "feature_size"][:1]
    table = priors.columns("microscopy", [items.reference(item)])
    grid = np.exp(np.linspace(*np.log(sizes.PRIOR_RANGE), 20_001))
    verdicts = oracles.get("microscopy").check_many(
        ClaimTable.numbers("feature_size", grid), table, index=np.zeros(len(grid), np.intp)
    )
    exact = verdicts.consistent.mean()
    found = guessing.item_chance([item.item_id], draws=4_000)
    error = np.sqrt(exact * (1 - exact) / 4_000)
    assert found.item() == pytest.approx(exact, abs=5 * error)


def test_a_level_is_of_the_judged_draws_and_missing_without_one() -> None:
    limits = {"stability": stability.Tolerances(abstain_near_hull=True)}
    energy = {i: items.reference(catalog.get(i)).energy_above_hull for i in IDS}
    near = [i for i in IDS if 0 < energy[i] <= 0.05 and catalog.get(i).asks == "stability"]
    # "unstable" abstains there, so that every judged claim is a passing "stable".
    assert (guessing.item_chance(near, limits) == 1).all()
    # One toss an item: of these, tails are not judged.
    tosses = guessing.item_chance(near, limits, draws=1)
    assert 0 < tosses.isna().sum() < len(near)
    assert (tosses.dropna() == 1).all()


def test_items_are_counted_once_and_draws_are_needed() -> None:
    assert len(guessing.item_chance([IDS[0], IDS[0]])) == 1
    assert guessing.item_chance([]).empty
    with pytest.raises(MatPCRError, match="draws = 0 must be at least 1"):
        guessing.item_chance(IDS[:1], draws=0)
    with pytest.raises(MatPCRError, match="no item 'stability-mp-0'"):
        guessing.item_chance(["stability-mp-0"])


# Cells


def test_a_rate_of_three_quarters_over_a_level_of_one_half_leaves_one_half(
    known: dict[str, float],
) -> None:
    table = judged([True, True, True, False, None])
    row = only(guessing.cells(table, by=BY, **QUICK))
    assert (row["n"], row["pcr"], row["chance"], row["corrected"]) == (4, 0.75, 0.5, 0.5)
    own = chance_corrected([True, True, True, False], 0.5, IDS[:4], **QUICK)
    assert (row["corrected_lower"], row["corrected_upper"]) == (own.lower, own.upper)


def test_each_item_has_its_level_and_a_certain_pass_adds_nothing(known: dict[str, float]) -> None:
    known.update(zip(IDS, (0.2, 0.6, 0.1, 1.0), strict=False))
    row = only(guessing.cells(judged([True, False, True, True]), by=BY, **QUICK))
    # Sums over the items: (0.8 - 0.6 + 0.9 + 0) / (0.8 + 0.4 + 0.9 + 0).
    assert row["corrected"] == pytest.approx(1.1 / 2.1)
    assert (row["n"], row["pcr"], row["chance"]) == (4, 0.75, pytest.approx(1.9 / 4))


def test_where_every_claim_passes_nothing_can_be_said(known: dict[str, float]) -> None:
    known.update(dict.fromkeys(IDS, 1.0))
    row = only(guessing.cells(judged([True] * 5), by=BY, **QUICK))
    assert row["pcr"] == 1
    assert row[["corrected", "corrected_lower", "against_chance"]].isna().all()


def test_a_cell_whose_chains_agree_gets_wilsons_interval(known: dict[str, float]) -> None:
    for passed in (True, False):
        row = only(guessing.cells(judged([passed] * 20), by=BY, **QUICK))
        wilson = rate(20 * passed, 20, "wilson")
        assert row["corrected_lower"] == pytest.approx(2 * wilson.lower - 1)
        assert row["corrected_upper"] == pytest.approx(2 * wilson.upper - 1)
        assert row["against_chance"] == (guessing.BETTER if passed else guessing.WORSE)
        assert (row["lower"], row["upper"]) == (passed, passed)


def test_the_words_follow_from_an_interval_that_holds_over_all_cells(
    known: dict[str, float],
) -> None:
    passed = [True] * 38 + [False] * 22
    one = judged(passed)
    how: dict[str, Any] = {"by": BY, "resamples": 10_000}
    alone = only(guessing.cells(one, **how))
    assert alone["corrected_lower"] > 0
    assert alone["against_chance"] == guessing.BETTER
    others = [judged(passed, f"mock/{name}") for name in "bcdefghij"]
    among = guessing.cells(pd.concat([one, *others]), **how).iloc[0]
    assert among["corrected_lower"] == alone["corrected_lower"]
    assert among["against_chance"] == guessing.SAME


def test_against_the_guesser_the_same_items_are_compared(known: dict[str, float]) -> None:
    rng = np.random.default_rng(0)
    model, guess = rng.random(60) < 0.7, rng.random(60) < 0.4
    sources = [f"s{k // 2}" for k in range(60)]
    hidden = [None if k == 7 else bool(g) for k, g in enumerate(guess)]
    first = judged(hidden, "mock/guess", sources)
    later = judged([True] * 60, "mock/guess", sources, seed=1)
    table = judged(model.tolist(), "mock/a", sources)
    row = only(
        guessing.cells(table, pd.concat([later, first]), BY, resamples=10_000, level=0.9, seed=2)
    )
    # The first seed counts, but for an item on which only the later one was judged.
    said = np.where(np.arange(60) == 7, True, guess)
    assert (row["n_paired"], row["guess"]) == (60, pytest.approx(said.mean()))
    above, room = model.astype(float) - said, 1.0 - said
    assert row["over_guess"] == pytest.approx(above.sum() / room.sum())
    # The same bootstrap, spelled out: 30 sources with two items each.
    above, room = above.reshape(30, 2).sum(axis=1), room.reshape(30, 2).sum(axis=1)
    picks = np.random.default_rng(5).integers(30, size=(20_000, 30))
    drawn = above[picks].sum(axis=1) / room[picks].sum(axis=1)
    np.testing.assert_allclose(
        [row["over_guess_lower"], row["over_guess_upper"]],
        np.quantile(drawn, [0.05, 0.95]),
        atol=0.02,
    )


def test_a_guesser_is_not_compared_with_itself_nor_where_it_hardly_fails(
    known: dict[str, float],
) -> None:
    guess = judged([True] * 41 + [False] * 19, "mock/guess")
    assert int((guess["outcome"] == "violation").sum()) == guessing.ROOM - 1
    table = pd.concat([guess, judged([True, False] * 30)])
    itself, other = (row for _, row in guessing.cells(table, guess, BY, **QUICK).iterrows())
    assert itself["n_paired"] == 0
    assert other["n_paired"] == 60
    for row in (itself, other):
        assert row[["over_guess", "over_guess_lower", "against_guess"]].isna().all()


def test_a_cell_without_a_judged_chain_stays_in_the_table(known: dict[str, float]) -> None:
    table = pd.concat([judged([None] * 3, "mock/mute"), judged([True, False])])
    mute, other = (row for _, row in guessing.cells(table, by=BY, **QUICK).iterrows())
    assert mute["n"] == 0
    assert mute[["pcr", "chance", "corrected", "against_chance"]].isna().all()
    assert guessing.in_words(mute) == "nothing was judged"
    assert guessing.in_words(other).startswith("0.500 [0.000, 1.000], n = 2 from 2 sources; level")


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(st.booleans(), st.integers(0, 9), st.integers(0, 4)), min_size=1, max_size=60
    )
)
def test_the_correction_only_takes_away_and_keeps_its_sign(
    rows: list[tuple[bool, int, int]],
) -> None:
    passed, tenths, sources = (list(column) for column in zip(*rows, strict=True))
    levels = pd.Series(np.array(tenths) / 10, index=IDS[: len(rows)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(guessing, "item_chance", lambda ids, *_, **__: levels.reindex(ids))
        table = judged(passed, sources=sources)
        row = only(guessing.cells(table, by=BY, **QUICK))
        shuffled = only(guessing.cells(table[::-1], by=BY, **QUICK))
    assert row["corrected"] <= row["pcr"] + 1e-12
    assert np.sign(round(row["corrected"], 9)) == np.sign(round(row["pcr"] - row["chance"], 9))
    assert row["corrected_upper"] <= 1 + 1e-12
    pd.testing.assert_series_equal(row, shuffled)


def test_cells_refuse_what_they_cannot_correct(known: dict[str, float]) -> None:
    table = judged([True, False])
    with pytest.raises(MatPCRError, match="cells by constraint"):
        guessing.cells(table, by=["model"])
    with pytest.raises(MatPCRError, match="no chain to correct"):
        guessing.cells(table.iloc[:0], by=BY)
    with pytest.raises(MatPCRError, match="holds 2 models"):
        guessing.cells(table, pd.concat([table, judged([True], "mock/b")]), BY)
    known[IDS[1]] = np.nan
    with pytest.raises(MatPCRError, match=f"{IDS[1]}, so its chance level is unknown"):
        guessing.cells(table, by=BY)


# Recorded draws against the computed level


def test_at_one_level_the_check_is_a_binomial_test(known: dict[str, float]) -> None:
    passed = [True] * 38 + [False] * 22
    row = only(guessing.prior_check(judged(passed, "matpcr/chance"), **QUICK))
    assert (row["passed"], row["expected"]) == (38, 30)
    # At one half the distribution is symmetric: twice a tail is the two-sided exact test.
    assert row["p_value"] == pytest.approx(binomtest(38, 60, 0.5).pvalue)
    assert row["holm"] == row["p_value"]
    assert bool(row["covers"]) == (row["lower"] <= 0.5 <= row["upper"])


def test_the_check_is_corrected_for_the_number_of_rows(known: dict[str, float]) -> None:
    low, even = judged([False] * 60), judged([True, False] * 30).assign(modality="image")
    found = guessing.prior_check(pd.concat([low, even]), **QUICK)
    assert found["p_value"].iloc[0] == pytest.approx(2 * 0.5**60)
    assert found["holm"].iloc[0] == pytest.approx(4 * 0.5**60)
    assert found["p_value"].iloc[1] == found["holm"].iloc[1] == 1
    assert found["covers"].tolist() == [False, True]


def test_the_recorded_draws_agree_with_their_level_and_the_guesser_does_not() -> None:
    names = ["diffraction", "spectra", "stability"]
    chance = results.judge(recorded.load("matpcr/chance", names, n_items=40, seeds=2))
    found = guessing.prior_check(chance, **QUICK)
    assert found["constraint"].tolist() == names
    assert (found["holm"] > 0.01).all()
    guess = results.judge(recorded.load("matpcr/guesser", ["spectra"], n_items=40, seeds=1))
    assert only(guessing.prior_check(guess, **QUICK))["holm"] < 1e-6


# Tolerances


def test_a_wider_tolerance_passes_more_and_leaves_an_honest_reading_alone() -> None:
    chosen = catalog.load("diffraction", 20)
    rows = [
        {
            "item_id": item_id,
            "constraint": "diffraction",
            "model": model,
            "modality": "image",
            "chain": chain,
            "seed": 0,
        }
        for item_id, item in chosen.items()
        for model, chain in (
            ("mock/true", items.answer(item)),
            ("matpcr/guesser", "The peak lies at 2θ = 79°."),
        )
    ]
    chains = as_frame(rows)
    found = guessing.swept(chains, (0.1, 0.5, 2.0), **QUICK)
    true, guess = (found[found["model"] == name] for name in ("mock/true", "matpcr/guesser"))
    assert found["two_theta"].unique().tolist() == [0.1, 0.5, 2.0]
    assert (true["pcr"] == 1).all()
    assert (true["corrected"].dropna() == 1).all()
    assert true["chance"].is_monotonic_increasing
    assert guess["pcr"].is_monotonic_increasing
    limits = {"diffraction": diffraction.Tolerances(0.1)}
    assert true["chance"].iloc[0] == pytest.approx(guessing.item_chance(chosen, limits).mean())
    assert true["guess"].iloc[0] == guess["pcr"].iloc[0]
    with pytest.raises(MatPCRError, match="no tolerance to sweep"):
        guessing.swept(chains, ())
    with pytest.raises(MatPCRError, match="two_theta tolerance = 0"):
        guessing.swept(chains, (0,))
    with pytest.raises(MatPCRError, match="no chain"):
        guessing.swept(chains.iloc[:0], (0.5,))


# What the guessers say and know


def test_passes_are_the_guessers_own_and_grow_with_the_tolerance() -> None:
    claims, passed = guesses.passes("diffraction", "two_theta")
    own, rates = guesser.pass_rates("diffraction", "two_theta")
    np.testing.assert_array_equal(claims.value, own.value)
    np.testing.assert_allclose(passed.mean(axis=1), rates)
    wide = diffraction.Tolerances(two_theta=1.0)
    faint = diffraction.Tolerances(intensity_floor=0.0)
    for limits in (wide, faint):
        _, more = guesses.passes("diffraction", "two_theta", limits)
        assert (more | ~passed).all()
        assert more.sum() > passed.sum()


def test_best_claims_pass_as_often_as_the_snapshot_says(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {"stability": ("stability", "energy_above_hull"), "magnetism": ("magnetism",)}
    monkeypatch.setattr(items, "QUESTIONS", asked)
    found = guesses.best_claims(24).set_index("asks")
    table = dft.load()
    near_hull = (table.energy_above_hull <= stability.Tolerances().near_hull).mean()
    assert found["says"].to_dict() == {
        "stability": "stable",
        "energy_above_hull": "0 eV/atom",
        "magnetism": "zero_net",
    }
    assert found.loc["stability", "on_references"] == pytest.approx(near_hull)
    chosen = [i for i in catalog.load("stability", 24).values() if i.asks == "stability"]
    near = [items.reference(i).energy_above_hull <= 0.05 for i in chosen]
    assert found.loc["stability", "on_items"] == pytest.approx(np.mean(near))
    assert found.loc["stability", "prior_on_items"] == pytest.approx(0.5, abs=0.05)
    # A question that none of the items asks has no rate on them.
    first = guesses.best_claims(1).set_index("asks")
    (asks,) = (item.asks for item in catalog.load("stability", 1).values())
    for column in ("on_items", "prior_on_items"):
        known = first.loc[list(asked["stability"]), column].dropna()
        assert known.index.tolist() == [asks]


def test_priors_are_told_in_words() -> None:
    assert guesses.prior_words("stability", "stability").startswith("a fair coin")
    assert guesses.prior_words("metallicity", "band_gap") == "log-uniform from 0.01 to 10 eV"
    assert guesses.prior_words("microscopy", "scale") == "log-uniform from 0.01 to 1000 nm/pixel"


def test_guessers_on_raman_items_by_what_they_know() -> None:
    found = guesses.told(96, draws=50, **QUICK).set_index("knows")
    chosen = list(catalog.load("spectra", 96).values())
    guess = results.judge(recorded.load("matpcr/guesser", "spectra", n_items=96, seeds=1))
    own = guess[guess["outcome"] != "abstain"]
    everything = found.loc["the range, and all spectra"]
    assert everything["n"] == len(own)
    assert everything["pcr"] == (own["outcome"] == "consistent").mean()
    level = guessing.item_chance([i.item_id for i in chosen]).mean()
    assert found.loc["nothing", "pcr"] == pytest.approx(level, abs=0.01)
    assert found["pcr"].between(found["lower"], found["upper"]).all()
    # The guess of all without a range is one claim: what `best` says, judged item by item.
    claim = guesser.best("spectra", "raman_shift")
    verdicts = [oracles.get("spectra").check(claim, items.reference(i)).outcome for i in chosen]
    assert found.loc["all spectra", "pcr"] == pytest.approx(
        verdicts.count("consistent") / (len(chosen) - verdicts.count("abstain"))
    )


@pytest.mark.parametrize(
    ("left_out", "knows"),
    [
        ("spectrum_id", "the range, and all spectra but this"),
        ("sample", "the range, and spectra of other materials"),
    ],
)
def test_what_is_left_out_of_a_guess_is_left_out(left_out: str, knows: str) -> None:
    chosen = list(catalog.load("spectra", 9).values())
    claims, passed = guesses.passes("spectra", "raman_shift")
    count = judged_count = 0
    for item in chosen:
        one = items.reference(item)
        low, high = item.facts["region"] or (0.0, np.inf)
        kept = [getattr(s, left_out) != getattr(one, left_out) for s in spectra.load()]
        inside = np.flatnonzero((claims.value >= low) & (claims.value <= high))
        best = inside[passed[inside][:, kept].mean(axis=1).argmax()]
        outcome = oracles.get("spectra").check(claims.claim(int(best)), one).outcome
        count += outcome == "consistent"
        judged_count += outcome != "abstain"
    row = guesses.told(9, draws=1, **QUICK).set_index("knows").loc[knows]
    assert (row["n"], row["pcr"]) == (judged_count, pytest.approx(count / judged_count))


# Figures


def test_the_curves_mark_their_best_place() -> None:
    x = np.array([5.0, 20.0, 40.0, 60.0])
    figure = figures.curves(
        x, {1.0: np.array([0.9, 0.1, 0.4, 0.2]), 0.0: np.full(4, 0.5)}, x, x / 100
    )
    left, right = figure.axes
    assert [text.get_text() for text in left.texts] == ["40°"]
    assert [text.get_text() for text in right.texts] == ["60 cm⁻¹"]
    assert [text.get_text() for text in left.get_legend().get_texts()] == [
        "lines from 1 %",
        "every line",
    ]


def test_open_markers_are_no_better_and_an_arrow_lies_off_the_scale(
    known: dict[str, float],
) -> None:
    guess = judged([True, False] * 30, "mock/guess")
    table = pd.concat([judged([False] * 60), judged([True] * 31 + [False] * 29, "mock/b"), guess])
    cells = guessing.cells(table, guess, BY, **QUICK)
    cells.loc[0, ["over_guess", "over_guess_lower", "over_guess_upper"]] = (-2.0, -3.0, -1.5)
    (panel,) = figures.corrected(cells).axes
    drawn = [line for line in panel.lines if line.get_marker() in ("o", "D", "<")]
    assert [line.get_marker() for line in drawn] == ["o", "<", "o", "D", "o"]
    filled = [to_hex(line.get_markerfacecolor()) != "#ffffff" for line in drawn]
    assert filled == [True, True, False, False, False]
    assert drawn[1].get_xdata()[0] == figures.FLOOR
    assert to_hex(drawn[0].get_color()) == COLORS["chance"].lower()


def test_figures_show_every_row_and_refuse_none(known: dict[str, float]) -> None:
    chance, guess = judged([True, False] * 10, "matpcr/chance"), judged([True] * 20, "mock/g")
    check = guessing.prior_check(chance, **QUICK)
    cells = guessing.cells(guess, by=BY, **QUICK)
    (panel,) = figures.scores(check, cells).axes
    assert [label.get_text() for label in panel.get_yticklabels()] == ["stability"]
    ladder = pd.DataFrame(
        {"knows": ["a", "b"], "pcr": [0.1, np.nan], "lower": [0.0, 0.0], "upper": [0.2, 1.0]}
    )
    (panel,) = figures.told(ladder).axes
    assert [text.get_text() for text in panel.texts] == ["0.10", "nothing judged"]
    four = pd.concat([cells.assign(constraint=name) for name in "abcd"])
    assert [panel.get_visible() for panel in figures.corrected(four).axes] == [True] * 4 + [
        False
    ] * 2
    sweep = pd.concat([cells.assign(two_theta=t) for t in (0.1, 0.5)])
    left, right = figures.tolerance(sweep, 0.5).axes
    assert [label.get_text() for label in left.get_xticklabels()] == ["0.1", "0.5"]
    assert len(right.collections) == 1
    for draw in (
        lambda: figures.scores(check.iloc[:0], cells),
        lambda: figures.corrected(cells.iloc[:0]),
        lambda: figures.told(ladder.iloc[:0]),
        lambda: figures.tolerance(sweep.iloc[:0], 0.5),
    ):
        with pytest.raises(MatPCRError, match="a figure of 0 rows"):
            draw()
