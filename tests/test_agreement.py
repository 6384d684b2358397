"""Accuracy against consistency: quadrants, disagreement, reasons, tolerances, figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import sqrt
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from statsmodels.stats.inter_rater import cohens_kappa

from matpcr_utils import items
from matpcr_utils.claims.model import CONSTRAINTS
from matpcr_utils.errors import MatPCRError
from matpcr_utils.evaluation import agreement, catalog, disagreement, recorded, results
from matpcr_utils.evaluation.transcripts import as_frame
from matpcr_utils.items import accuracy
from matpcr_utils.items.model import MODALITY
from matpcr_utils.oracles import stability
from matpcr_utils.plotting import agreement as figures
from matpcr_utils.statistics import bootstrap, bootstrap_difference, bootstrap_macro, rate

mpl.use("agg")
IDS = {name: tuple(catalog.load(name, 30)) for name in ("stability", "metallicity")}
QUICK: dict[str, Any] = {"resamples": 400, "seed": 1}


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    plt.close("all")


def cell(
    quadrants: Sequence[str | None],
    constraint: str = "stability",
    model: str = "mock/a",
    sources: Sequence[Any] | None = None,
    modality: str = "text",
) -> pd.DataFrame:
    """A judged table with one chain a quadrant; None has no verdict."""
    places = [agreement.QUADRANTS.get(name or "", (None, None)) for name in quadrants]
    words = {True: "consistent", False: "violation", None: "abstain"}
    ids = [IDS.get(constraint, IDS["stability"])[k % 30] for k in range(len(places))]
    table = pd.DataFrame(
        {
            "model": model,
            "constraint": constraint,
            "modality": modality,
            "item_id": ids,
            "seed": range(len(places)),
            "chain": [f"chain {k}" for k in range(len(places))],
            "source_id": range(len(places)) if sources is None else sources,
            "outcome": [words[passed] for _, passed in places],
            "reason": [f"reason {name}" for name in quadrants],
            "sentence": "said",
        }
    )
    return table.assign(accurate=pd.array([right for right, _ in places], "boolean"))


def table_of(*parts: pd.DataFrame) -> pd.DataFrame:
    return pd.concat(parts, ignore_index=True)


RP, WP, RF, WF = agreement.QUADRANTS
FOURS = st.tuples(*[st.integers(0, 6)] * 4).filter(any)


def spread(counts: Sequence[int]) -> list[str]:
    return [name for name, k in zip(agreement.QUADRANTS, counts, strict=True) for _ in range(k)]


# Quadrants and cells


def test_a_chain_falls_into_the_quadrant_of_its_verdict_and_its_accuracy() -> None:
    both = agreement.compared(cell([RP, WP, RF, WF, None]))
    assert both["quadrant"].tolist() == [RP, WP, RF, WF]
    assert both["outcome"].tolist() == ["consistent", "consistent", "violation", "violation"]
    assert both["accurate"].tolist() == [True, False, True, False]
    assert both["asked"].tolist() == [items.get(i).asks for i in IDS["stability"][:4]]
    assert agreement.DISAGREE == (WP, RF)


def test_the_numbers_of_a_cell() -> None:
    # 10 chains: 4 right and passed, 2 wrong and passed, 1 right and flagged, 3 wrong and flagged.
    (row,) = agreement.cells(cell([*spread((4, 2, 1, 3)), None]), **QUICK).to_dict("records")
    assert [row[name] for name in agreement.QUADRANTS] == [4, 2, 1, 3]
    assert (row["n"], row["n_sources"], row["left_out"]) == (10, 10, 1)
    assert (row["pcr"], row["accuracy"], row["disagreement"]) == (0.6, 0.5, 0.3)
    assert row["least"] == pytest.approx(0.1)
    assert row["chance"] == pytest.approx(0.6 * 0.5 + 0.5 * 0.4)
    assert row["kappa"] == pytest.approx(cohens_kappa([[4, 2], [1, 3]], return_results=False))
    assert row["kappa_lower"] < row["kappa"] < row["kappa_upper"]


@settings(max_examples=40, deadline=None)
@given(FOURS)
def test_disagreement_lies_within_what_the_two_rates_allow(counts: tuple[int, ...]) -> None:
    (row,) = agreement.cells(cell(spread(counts)), **QUICK).to_dict("records")
    p, q, d = row["pcr"], row["accuracy"], row["disagreement"]
    assert [row[name] for name in agreement.QUADRANTS] == list(counts)
    assert d == pytest.approx((counts[1] + counts[2]) / sum(counts))
    assert abs(p - q) - 1e-12 <= d <= min(p + q, 2 - p - q) + 1e-12
    # One kind alone leaves nothing beyond the difference of the rates.
    assert d - row["least"] == pytest.approx(2 * min(counts[1], counts[2]) / sum(counts))
    varies = 0 < p < 1 and 0 < q < 1
    if pd.notna(row["kappa"]):
        assert varies
        assert row["kappa"] == pytest.approx(1 - d / row["chance"])
    if not varies:
        assert pd.isna(row["kappa"])


@settings(max_examples=20, deadline=None)
@given(FOURS, st.integers(1, 5))
def test_the_interval_is_the_bootstrap_of_the_package(
    counts: tuple[int, ...], n_sources: int
) -> None:
    quadrants = spread(counts)
    sources = [k % n_sources for k in range(len(quadrants))]
    (row,) = agreement.cells(cell(quadrants, sources=sources), **QUICK).to_dict("records")
    apart = np.isin(quadrants, agreement.DISAGREE)
    found = bootstrap(apart, sources, **QUICK)
    assert row["degenerate"] == found.degenerate
    wanted = found.beside("wilson") if len(set(apart)) == 1 else found
    assert (row["lower"], row["upper"]) == pytest.approx((wanted.lower, wanted.upper))


def test_a_cell_without_disagreement_keeps_a_width() -> None:
    table = cell([RP] * 30 + [WF] * 6, sources=[k % 12 for k in range(36)])
    (row,) = agreement.cells(table, **QUICK).to_dict("records")
    wanted = rate(0, 12, "wilson")
    assert row["disagreement"] == 0
    assert row["degenerate"]
    assert row["upper"] == pytest.approx(wanted.upper) and row["upper"] > 0.2
    assert row["kappa"] == 1
    assert pd.isna(row["kappa_upper"])


def test_a_cell_with_nothing_to_compare_has_no_rate() -> None:
    table = table_of(cell([None, None]), cell([RP, WP], "metallicity"))
    first, second = agreement.cells(table, **QUICK).to_dict("records")
    assert (first["n"], first["left_out"], second["n"]) == (0, 2, 2)
    for name in ("pcr", "accuracy", "disagreement", "least", "chance", "kappa"):
        assert pd.isna(first[name])
    assert (first["lower"], first["upper"]) == (0, 1)
    only = agreement.cells(cell([None]), **QUICK)
    assert only["n"].tolist() == [0] and only["disagreement"].isna().all()


def test_accurate_but_not_judged_is_left_out_and_so_is_judged_but_not_comparable() -> None:
    table = cell([RP, RP, RP])
    table.loc[0, "outcome"] = "abstain"
    table.loc[1, "accurate"] = pd.NA
    assert agreement.compared(table).index.tolist() == [2]


def test_kappa_is_missing_where_few_resamples_could_have_one() -> None:
    # The only flagged chain is missing from about 1/e of the resamples.
    found = agreement.cells(cell([RP] * 10 + [WP] * 5 + [WF]), **QUICK)
    assert found["kappa"].isna().all()


def test_cells_can_be_split_by_the_question() -> None:
    table = cell([RP, WP] * 15)
    found = agreement.cells(table, ("constraint", "asked"), **QUICK)
    assert found["asked"].tolist() == list(
        dict.fromkeys(items.get(i).asks for i in IDS["stability"])
    )
    assert found["n"].sum() == 30


def test_a_cell_does_not_depend_on_the_other_models() -> None:
    one = cell(spread((4, 2, 1, 3)))
    other = cell(spread((1, 5, 0, 4)), model="mock/b")
    alone = agreement.cells(one, **QUICK)
    pd.testing.assert_frame_equal(agreement.cells(table_of(one, other), **QUICK).iloc[[0]], alone)


@pytest.mark.parametrize("function", [agreement.cells, agreement.mean])
def test_tables_that_cannot_be_compared_are_refused(function: Any) -> None:
    table = cell([RP, WP])
    with pytest.raises(MatPCRError, match="no chain"):
        function(table.iloc[:0])
    with pytest.raises(MatPCRError, match="constraint among them"):
        function(table, ["model"])
    with pytest.raises(MatPCRError, match="constraint among them"):
        function(table, ["constraint", "provider"])
    with pytest.raises(MatPCRError, match="resamples"):
        function(table, resamples=3)


# The mean over cells


def test_the_mean_weighs_every_cell_the_same() -> None:
    table = table_of(cell([WP] + [RP] * 9), cell([RF, RP], "metallicity"), cell([None], model="b"))
    found = agreement.mean(table, **QUICK)
    assert found.estimate == pytest.approx((0.1 + 0.5) / 2)
    assert (found.groups, found.n, found.n_sources) == (2, 12, 12)


def test_the_mean_of_one_cell_is_that_cell() -> None:
    table = cell(spread((40, 20, 10, 30)))
    found = agreement.mean(table, resamples=20_000)
    (row,) = agreement.cells(table, resamples=20_000).to_dict("records")
    assert found.estimate == row["disagreement"]
    assert (found.lower, found.upper) == pytest.approx((row["lower"], row["upper"]), abs=0.011)


def test_models_that_answer_alike_count_once() -> None:
    quadrants = spread((40, 20, 10, 30))
    one = cell(quadrants)
    two = table_of(one, cell(quadrants, model="mock/b"))
    alone, both = agreement.mean(one, **QUICK), agreement.mean(two, **QUICK)
    assert (both.lower, both.upper) == (alone.lower, alone.upper)
    assert both.groups == 2
    assert both.n_sources == alone.n_sources == 100
    # Drawn for each cell on its own, the interval would be narrower by the square root of 2.
    disagree = np.isin(quadrants * 2, agreement.DISAGREE)
    apart = bootstrap_macro(disagree, two["model"], two["source_id"], resamples=20_000)
    wide = agreement.mean(two, resamples=20_000)
    ratio = (wide.upper - wide.lower) / (apart.upper - apart.lower)
    assert ratio == pytest.approx(sqrt(2), rel=0.08)


def test_constraint_types_are_drawn_apart() -> None:
    quadrants = spread((40, 20, 10, 30))
    one = agreement.mean(cell(quadrants), resamples=20_000)
    two = agreement.mean(
        table_of(cell(quadrants), cell(quadrants, "metallicity")), resamples=20_000
    )
    ratio = (one.upper - one.lower) / (two.upper - two.lower)
    assert ratio == pytest.approx(sqrt(2), rel=0.08)


def test_a_cell_of_one_source_does_not_break_the_resamples() -> None:
    table = table_of(cell([RP, WP, RP, WP, RP, RP]), cell([WP], model="mock/b"))
    found = agreement.mean(table, **QUICK)
    assert found.estimate == pytest.approx((2 / 6 + 1) / 2)
    assert 0 <= found.lower <= found.estimate <= found.upper <= 1


def test_a_mean_needs_a_chain_that_can_be_compared() -> None:
    with pytest.raises(MatPCRError, match="both a verdict and an accuracy"):
        agreement.mean(cell([None, None]), **QUICK)


# Where the chains come from


def test_recorded_chains_are_posed_or_in_words_never_both() -> None:
    names = ["matpcr/smollm2", "matpcr/guesser"]
    found = agreement.chains(", ".join(names), n_items=2, seeds=1)
    pd.testing.assert_frame_equal(found, agreement.chains(names, n_items=2, seeds=1))
    assert not found["unsupported"].any()
    assert not found.duplicated(["model", "item_id", "seed"]).any()
    assert list(dict.fromkeys(found["constraint"])) == list(CONSTRAINTS)
    assert list(dict.fromkeys(found["model"])) == names
    guesser = found[found["model"] == "matpcr/guesser"]
    assert (guesser["modality"] == guesser["constraint"].map(MODALITY)).all()
    assert set(found.loc[found["model"] == "matpcr/smollm2", "modality"]) == {"text"}


def test_chains_that_are_not_recorded_are_an_error() -> None:
    with pytest.raises(MatPCRError, match="no answers of mock/x"):
        agreement.chains("mock/x")
    with pytest.raises(MatPCRError, match="seeds = 0"):
        agreement.chains("matpcr/guesser", n_items=1, seeds=0)


def test_a_perfect_model_disagrees_nowhere() -> None:
    found = agreement.cells(agreement.true_answers(5), **QUICK)
    assert found["constraint"].tolist() == list(CONSTRAINTS)
    assert (found[RP] == 5).all()
    assert (found["n"] == 5).all()


# Why


def judged(constraint: str, *answers: tuple[str, str], model: str = "mock/a") -> pd.DataFrame:
    """Item ids with an answer each, judged."""
    rows = [
        {
            "item_id": item_id,
            "constraint": constraint,
            "model": model,
            "modality": MODALITY[constraint],
            "seed": seed,
            "chain": chain,
        }
        for seed, (item_id, chain) in enumerate(answers)
    ]
    return results.judge(as_frame(rows))


def near_hull(asks: str) -> str:
    """An item between the hull and the near-hull threshold."""
    return next(
        item.item_id
        for item in catalog.load("stability", 96).values()
        if item.asks == asks and 1e-3 < items.reference(item).energy_above_hull <= 0.05
    )


NEAR = near_hull("stability")
METAL = next(
    item.item_id
    for item in catalog.load("metallicity", 96).values()
    if items.reference(item).band_gap == 0
)


def test_reasons_name_the_code_and_show_a_chain() -> None:
    table = judged(
        "stability", (NEAR, "It is stable."), (NEAR, "It is unstable."), (NEAR, "It is metastable.")
    )
    found = disagreement.reasons(table)
    assert found["reason"].tolist() == ["stable_near_hull", "unstable_near_hull"]
    assert found["quadrant"].tolist() == [WP, RF]
    assert found["asked"].tolist() == ["stability"] * 2
    assert found["answer"].tolist() == ["It is stable.", "It is unstable."]
    assert found["truth"].tolist() == ["metastable"] * 2
    assert found["chains"].tolist() == found["items"].tolist() == [1, 1]
    assert "near-hull threshold of 0.05" in found["sentence"][0]


def test_the_example_is_of_the_first_model_and_drawn_with_the_seed() -> None:
    one_item = {"item_id": NEAR}
    first = cell([RP, WP, WP, WP]).assign(**one_item)
    table = table_of(first, cell([WP] * 8, model="mock/b").assign(**one_item))
    answers = {disagreement.reasons(table, seed=s)["answer"][0] for s in range(20)}
    assert answers == {"chain 1", "chain 2", "chain 3"}
    assert disagreement.reasons(table)["by"].tolist() == ["mock/b 8, mock/a 3"]
    again = [disagreement.reasons(table, seed=3)["answer"].tolist() for _ in range(2)]
    assert again[0] == again[1]


def test_without_a_disagreement_there_is_no_reason() -> None:
    found = disagreement.reasons(cell([RP, WF, None]))
    assert not len(found)
    assert "sentence" in found


def test_the_yardsticks_quote_the_tolerances_in_force() -> None:
    found = disagreement.yardsticks().set_index("constraint")
    assert list(found.index) == list(CONSTRAINTS)
    for name, words in {
        "diffraction": ("0.5°", "1 %"),
        "microscopy": ("diagonal", "10%"),
        "spectra": ("5 cm⁻¹", "5%"),
        "stability": ("0.05 eV/atom", "0.2"),
        "metallicity": ("0.05 eV", "0.2;"),
        "magnetism": ("0.05 μB/atom", "factor 10"),
    }.items():
        assert all(word in found.loc[name, "passed if"] for word in words)
    assert found["accurate if"].to_dict() == accuracy.CRITERIA


# The same chains, other tolerances


def test_matched_tolerances_are_those_of_accuracy() -> None:
    found = disagreement.matched(0.01)
    assert list(found) == list(CONSTRAINTS)
    assert found["diffraction"].two_theta == accuracy.TWO_THETA
    assert found["microscopy"].scale_tolerance == accuracy.SCALE
    assert found["spectra"].window == accuracy.RAMAN_SHIFT
    assert found["stability"].near_hull == 0.01
    assert found["magnetism"].factor == pytest.approx(1 + accuracy.SHARE)


def quadrant(table: pd.DataFrame, constraint: str) -> list[str]:
    again = results.judge(
        table.drop(columns=list(results.VERDICT_COLUMNS)),
        {constraint: disagreement.matched()[constraint]},
    )
    return agreement.compared(again)["quadrant"].tolist()


def test_the_strict_hull_takes_away_what_the_definition_made() -> None:
    table = judged("stability", (NEAR, "It is stable."), (NEAR, "It is unstable."))
    assert agreement.compared(table)["quadrant"].tolist() == [WP, RF]
    assert quadrant(table, "stability") == [WF, RP]


def test_a_sharp_threshold_flags_a_right_number() -> None:
    gap = judged("metallicity", (METAL, "The band gap is 0.03 eV."))
    assert agreement.compared(gap)["quadrant"].tolist() == [RP]
    assert quadrant(gap, "metallicity") == [RF]


def test_change_is_the_paired_difference_at_the_joint_level() -> None:
    before = table_of(cell([RP, WP, WP, RP, WP, RP, None]), cell([WP, RP], "metallicity"))
    after = table_of(cell([RP, WF, WP, RF, WF, None, RP]), cell([WP, RP], "metallicity"))
    found = disagreement.change(before, after, **QUICK)
    wanted = bootstrap_difference(
        [False, True, True, False, True],
        [False, False, True, True, False],
        range(5),
        level=0.975,
        **QUICK,
    )
    first, second = found.to_dict("records")
    assert (first["n"], first["before"], first["after"]) == (5, 0.6, 0.4)
    assert first["difference"] == pytest.approx(-0.2)
    assert (first["lower"], first["upper"]) == (wanted.lower, wanted.upper)
    assert (second["n"], second["difference"]) == (2, 0)
    assert list(disagreement.change(before, after, ["constraint"], **QUICK)["n"]) == [5, 2]


def test_change_needs_the_same_chains_and_lists_no_empty_cell() -> None:
    table = cell([RP, WP])
    for other in (cell([RP]), table.assign(chain="another")):
        with pytest.raises(MatPCRError, match="the same chains"):
            disagreement.change(table, other)
    none = disagreement.change(cell([None]), cell([None]), **QUICK)
    assert not len(none)
    assert "difference" in none


def test_classes_agree_at_the_strict_hull_whoever_answers() -> None:
    frame = recorded.load("matpcr/chance", ("stability", "metallicity"), n_items=12, seeds=1)
    found = disagreement.swept(frame, (0.0, 0.05), **QUICK).set_index(["near_hull", "asked"])
    assert found.loc[(0.0, "stability"), "disagreement"] == 0
    assert found.loc[(0.0, "stability"), "n"] == found.loc[(0.05, "stability"), "n"] > 0
    own = frame[frame["constraint"] == "stability"].reset_index(drop=True)
    usual = agreement.cells(results.judge(own), ("constraint", "asked"), **QUICK)
    wanted = usual.set_index("asked")["disagreement"]
    assert found.loc[0.05, "disagreement"].to_dict() == wanted.to_dict()


def test_a_sweep_needs_chains_thresholds_and_a_sensible_range() -> None:
    frame = recorded.load("matpcr/chance", n_items=1, seeds=1)
    with pytest.raises(MatPCRError, match="chains on stability"):
        disagreement.swept(frame[frame["constraint"] != "stability"])
    with pytest.raises(MatPCRError, match="at least one threshold"):
        disagreement.swept(frame, ())
    with pytest.raises(MatPCRError, match="near_hull"):
        disagreement.swept(frame, (-0.1,))
    assert stability.Tolerances().near_hull in disagreement.THRESHOLDS


# Shown


def test_the_printed_table_tells_each_rate_with_its_interval() -> None:
    table = table_of(cell(spread((40, 20, 10, 30))), cell([None], "metallicity"))
    found = agreement.cells(table, **QUICK)
    first, second = agreement.printed(found).to_dict("records")
    ends = found.iloc[0]
    assert first["disagreement"] == f"0.300 [{ends['lower']:.3f}, {ends['upper']:.3f}]"
    assert (first["pcr"], first["least"], first["shown as"]) == ("0.600", "0.100", "text")
    assert first[WP] == 20
    assert second["disagreement"] == second["pcr"] == second["kappa"] == "–"


def drawn_cells() -> pd.DataFrame:
    return agreement.cells(
        table_of(
            cell(spread((4, 2, 1, 3)), "diffraction", "matpcr/a", modality="text"),
            cell(spread((4, 2, 1, 3)), "stability", "matpcr/a"),
            cell([None], "stability", "matpcr/b"),
        ),
        **QUICK,
    )


def labels(panel: Any) -> list[str]:
    return [label.get_text() for label in panel.get_yticklabels()]


def test_the_bars_of_the_quadrants_are_their_shares() -> None:
    figure = figures.quadrants(drawn_cells())
    first, second = (panel for panel in figure.axes if panel.get_visible())
    assert [panel.get_title() for panel in (first, second)] == ["diffraction", "stability"]
    assert labels(first) == ["a (text)"]
    assert labels(second) == ["a", "b"]
    assert [bar.get_width() for bar in first.patches] == pytest.approx([0.4, 0.2, 0.1, 0.3])
    starts = [bar.get_x() for bar in first.patches]
    assert starts == pytest.approx([0, 0.4, 0.6, 0.7])
    assert [text.get_text() for text in second.texts] == ["nothing to compare"]
    assert len({bar.get_facecolor() for bar in first.patches}) == 4


def test_the_disagreement_stands_between_its_two_levels() -> None:
    cells = drawn_cells()
    figure = figures.disagreement(cells)
    panel = figure.axes[0]
    x = {line.get_marker(): line.get_xdata()[0] for line in panel.lines}
    assert x == pytest.approx({"|": 0.1, "o": 0.3, "D": 0.5})
    assert panel.get_xlim()[1] > cells["upper"][0]
    assert [text.get_text() for text in figure.axes[1].texts] == ["nothing to compare"]


def test_only_empty_cells_can_be_drawn_too() -> None:
    empty = agreement.cells(cell([None]), **QUICK)
    for draw in (figures.quadrants, figures.disagreement):
        (panel,) = draw(empty).axes
        assert [text.get_text() for text in panel.texts] == ["nothing to compare"]


def test_changes_are_drawn_from_dot_to_diamond() -> None:
    found = disagreement.change(cell([WP, WP, RP, RP]), cell([WP, WF, RP, RP]), **QUICK)
    panel = figures.changes(found).axes[0]
    x = {line.get_marker(): line.get_xdata()[0] for line in panel.lines}
    assert x == {"o": 0.5, "D": 0.25}


def test_the_sweep_stacks_the_two_kinds() -> None:
    found = agreement.cells(cell(spread((4, 2, 1, 3))), ("constraint", "asked"), **QUICK)
    rows = table_of(found.assign(near_hull=0.0), found.assign(near_hull=0.1))
    figure = figures.sweep(rows, {"default": 0.05})
    assert len(figure.axes) == found["asked"].nunique()
    for panel, (_, own) in zip(figure.axes, found.iterrows(), strict=True):
        tops = [area.get_datalim(panel.transData).ymax for area in panel.collections[:2]]
        assert tops == pytest.approx([own[WP] / own["n"], (own[WP] + own[RF]) / own["n"]])
        assert [text.get_text() for text in panel.texts] == ["default"]


def test_a_figure_of_nothing_is_an_error() -> None:
    cells = drawn_cells()
    for draw in (figures.quadrants, figures.disagreement):
        with pytest.raises(MatPCRError, match="no cell to draw"):
            draw(cells.iloc[:0])
    with pytest.raises(MatPCRError, match="no cell to draw"):
        figures.changes(disagreement.change(cell([None]), cell([None]), **QUICK))
    with pytest.raises(MatPCRError, match="no row"):
        figures.sweep(cells.assign(asked="x", near_hull=0.0).iloc[:0], {})


def test_no_text_is_smaller_than_eight_points() -> None:
    cells = drawn_cells()
    for figure in (figures.quadrants(cells), figures.disagreement(cells)):
        figure.draw_without_rendering()
        texts = [t for t in figure.findobj(mpl.text.Text) if t.get_text() and t.get_visible()]
        assert min(text.get_fontsize() for text in texts) >= 8
