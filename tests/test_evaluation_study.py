"""One model studied: recorded or asked, and what its answers are like."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import pyplot as plt

from matpcr_utils import items
from matpcr_utils.errors import MatPCRError
from matpcr_utils.evaluation import answers, catalog, copies, recorded, results, roster, run
from matpcr_utils.evaluation import seeds as by_seed
from matpcr_utils.evaluation import study as module
from matpcr_utils.evaluation.study import study
from matpcr_utils.evaluation.transcripts import as_frame
from matpcr_utils.items.model import Item
from matpcr_utils.plotting import evaluation as figures

mpl.use("agg")


def chosen(constraint: str, asks: str, n: int = 1) -> list[Item]:
    """The first items of a question."""
    return [item for item in catalog.load(constraint, 96).values() if item.asks == asks][:n]


def rows(item: Item, *chains: str, **more: Any) -> list[dict[str, Any]]:
    """One answer a seed."""
    return [
        {
            "item_id": item.item_id,
            "constraint": item.constraint,
            "model": "mock/model",
            "modality": "text",
            "prompt_version": "v1",
            "seed": seed,
            "chain": chain,
            "run_id": "run-1",
            "created": "2026-01-02T03:04:05",
            **more,
        }
        for seed, chain in enumerate(chains)
    ]


def judged(*parts: list[dict[str, Any]]) -> pd.DataFrame:
    return results.judge(as_frame([row for part in parts for row in part]))


STABLE = next(
    item for item in chosen("stability", "stability", 30) if item.truth["value"] == "stable"
)
UNSTABLE = next(
    item for item in chosen("stability", "stability", 30) if item.truth["value"] == "unstable"
)


# Recorded or asked


def test_recorded_answers_are_judged_when_they_hold_what_is_asked_for() -> None:
    found = study("matpcr/guesser", "stability, spectra", n_items=3, seeds=2)
    ours = recorded.load("matpcr/guesser", ("stability", "spectra"), n_items=3, seeds=2)
    pd.testing.assert_frame_equal(found.table, results.judge(ours))
    pd.testing.assert_frame_equal(found.summary, results.summary(found.table))
    assert found.source.startswith("Recorded answers, judged now: guesser (20")
    assert all(run_id in found.source for run_id in ours["run_id"])
    assert "guesser-text" not in found.source
    assert found.unsupported == ()


def test_the_source_names_each_recording_that_was_used() -> None:
    found = study("matpcr/chance", ["stability", "spectra"], n_items=2, seeds=1, modality="text")
    assert "chance (" in found.source and "chance-text (" in found.source
    assert set(found.table["modality"]) == {"text"}


@pytest.mark.parametrize(
    ("constraints", "names"),
    [
        ("spectra", ("spectra",)),
        (" spectra , stability", ("spectra", "stability")),
        (("stability", "spectra", "stability"), ("stability", "spectra")),
    ],
)
def test_constraints_may_be_one_or_several(constraints: Any, names: tuple[str, ...]) -> None:
    assert module.named(constraints) == names


def test_all_are_six_and_none_or_an_unknown_one_is_refused() -> None:
    assert len(module.named("all")) == 6
    for wrong in ("", "spectra,", "alchemy", ()):
        with pytest.raises(MatPCRError, match="unknown constraint"):
            module.named(wrong)


def test_images_that_a_model_was_not_asked_are_told_apart() -> None:
    found = study("matpcr/smollm2", "spectra", n_items=4)
    assert found.unsupported == ("spectra",)
    assert found.summary["n"].tolist() == [0] and found.summary["unsupported"].tolist() == [12]
    assert "smollm2-image" in found.source


@pytest.mark.parametrize(
    "more",
    [{"seeds": 4}, {"n_items": 97}, {"examples": 2}, {"prompt_version": "v2"}, {"live": True}],
)
def test_the_model_is_asked_for_what_is_not_recorded(
    more: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[dict[str, Any]] = []
    table = judged(rows(STABLE, "This phase is stable."))

    def evaluate(model: str, constraints: Any, **options: Any) -> run.Evaluation:
        asked.append({"model": model, "constraints": constraints, **options})
        return run.Evaluation(table, results.summary(table), True, tmp_path)

    monkeypatch.setattr(run, "evaluate", evaluate)
    options = {"n_items": 2, "seeds": 1, **more}
    found = study("matpcr/guesser", "stability", out=tmp_path, **options)
    (call,) = asked
    assert call["constraints"] == ("stability",) and call["out"] == tmp_path
    assert call["examples"] == more.get("examples", 0)
    assert (call["n_items"], call["seeds"]) == (options["n_items"], options["seeds"])
    assert found.source == f"matpcr/guesser was asked, 2026-01-02: run run-1, kept in {tmp_path}."


def test_a_modality_has_a_folder_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    table = judged(rows(STABLE, "This phase is stable."))
    folders: list[Any] = []

    def evaluate(*args: Any, **options: Any) -> run.Evaluation:
        folders.append(options["out"])
        return run.Evaluation(table, results.summary(table), True, Path("kept"))

    monkeypatch.setattr(run, "evaluate", evaluate)
    for modality in (None, "text"):
        study("matpcr/guesser", "stability", modality=modality, live=True)
    assert folders == [None, str(Path("_build/evaluations/matpcr-guesser-text"))]


def test_failed_requests_are_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    table = judged(rows(STABLE, "This phase is stable."), rows(UNSTABLE, "", error="server gone"))
    done = run.Evaluation(table, results.summary(table), False, tmp_path)
    monkeypatch.setattr(run, "evaluate", lambda *args, **options: done)
    found = study("matpcr/guesser", "stability", live=True)
    assert "1 of 2 requests failed, the same call asks them again" in found.source


def test_a_model_is_asked_and_a_second_call_asks_nothing(tmp_path: Path) -> None:
    options: dict[str, Any] = {"n_items": 2, "seeds": 1, "live": True, "out": tmp_path}
    first = study("matpcr/guesser", "stability", **options)
    assert f"matpcr/guesser was asked, {first.table['created'][0][:10]}: run " in first.source
    assert str(tmp_path) in first.source and (tmp_path / "transcripts.parquet").is_file()
    again = study("matpcr/guesser", "stability", **options)
    pd.testing.assert_frame_equal(first.table, again.table)


def test_a_model_without_its_key_is_refused_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(MatPCRError, match=r"model openai/gpt-4o can't be used.*OPENAI_API_KEY"):
        study("openai/gpt-4o", "stability", n_items=1, seeds=1)


@pytest.mark.parametrize("more", [{"seeds": 0}, {"examples": -1}, {"n_items": 0}])
def test_numbers_outside_their_range_are_refused(more: dict[str, int]) -> None:
    with pytest.raises(MatPCRError, match="at least"):
        study("matpcr/guesser", "stability", **more)  # type: ignore[arg-type]


# One answer, and the tables


def test_an_answer_is_followed_to_its_verdict() -> None:
    table = judged(rows(STABLE, "I think this phase is unstable."))
    steps = answers.trace(answers.pick(table)).set_index("step")["here"].to_dict()
    assert steps["item"] == f"{STABLE.item_id}, seed 0"
    assert steps["question"].startswith("Is this phase of ")
    assert steps["answer"] == "I think this phase is unstable."
    assert steps["claims read"] == "1; the verdict's: stability = unstable"
    assert steps["verdict"].startswith("violation (")
    assert steps["accurate answer"] == "stability = stable" and steps["accurate"] == "no"


def test_an_answer_without_a_claim_has_steps_too() -> None:
    steps = (
        answers.trace(answers.pick(judged(rows(STABLE, "")))).set_index("step")["here"].to_dict()
    )
    assert steps["answer"] == "(none)" and steps["claims read"] == "0"
    assert steps["verdict"].startswith("abstain (no_answer)")
    assert steps["accurate"] == "nothing to compare"


def test_a_judged_answer_is_picked_before_others() -> None:
    table = judged(rows(STABLE, "", "Well.", "This phase is stable."))
    assert {answers.pick(table, seed)["seed"] for seed in range(8)} == {2}
    several = judged(rows(STABLE, *["This phase is stable."] * 20))
    assert answers.pick(several, 1) == answers.pick(several, 1)
    assert len({answers.pick(several, seed)["seed"] for seed in range(20)}) > 5
    with pytest.raises(MatPCRError, match="no answer to show"):
        answers.pick(table.head(0))


def test_the_provenance_tells_settings_by_seed() -> None:
    greedy, sampled = (json.dumps({"temperature": t}) for t in (0.0, 0.7))
    table = judged(
        rows(STABLE, "This phase is stable.", "So it is.", input_tokens=5, output_tokens=2)
    )
    table["settings"] = [greedy, sampled]
    facts = answers.provenance(table).set_index("what")["recorded"]
    assert facts["settings, seed 0"] == "temperature 0.0"
    assert facts["settings, seed 1"] == "temperature 0.7"
    assert facts["tokens"] == "10 read, 4 written"
    assert facts["answers"] == "2 asked for, 0 not (images)"
    assert (facts["run"], facts["asked on"]) == ("run-1", "2026-01-02")


def test_ends_are_counted_with_what_was_not_asked_or_failed() -> None:
    table = judged(
        rows(STABLE, "a", "b", stop_reason="stop"),
        rows(UNSTABLE, "c", stop_reason="max_tokens"),
        rows(chosen("stability", "energy_above_hull")[0], "", error="server gone"),
        rows(chosen("spectra", "raman_shift")[0], "", unsupported=True, modality="image"),
    )
    counts = answers.stops(table).set_index("constraint")
    assert counts.loc["stability", ["stop", "max_tokens", "failed"]].tolist() == [2, 1, 1]
    assert counts.loc["spectra", "not asked (image)"] == 1
    assert counts.loc["spectra", "shown as"] == "image"


def test_rates_are_printed_with_dashes_for_what_is_missing() -> None:
    table = judged(rows(STABLE, "This phase is stable."), rows(UNSTABLE, "Well."))
    pictured = judged(rows(chosen("spectra", "raman_shift")[0], "", unsupported=True))
    shown = answers.cells(results.summary(pd.concat([table, pictured]))).set_index("constraint")
    assert shown.loc["stability", "PCR [95 %]"] == "1.000 [1.000, 1.000]"
    assert shown.loc["stability", ["n", "coverage", "accuracy"]].tolist() == [1, "0.500", "1.000"]
    assert shown.loc["spectra", "PCR [95 %]"] == "nothing to judge"
    assert shown.loc["spectra", ["coverage", "accuracy"]].tolist() == ["–", "–"]


def test_the_roster_says_what_is_unknown() -> None:
    shown = answers.roster()
    assert len(shown) == len(roster.load())
    gpt = shown.set_index("model").loc["GPT-4o"]
    assert gpt["command"].startswith("matpcr evaluate --model openai/gpt-4o")
    assert gpt["unknown"] == "" and gpt["reads"] == "text and image"
    nameless = shown[shown["model"] == "(not named in the summary)"]
    assert len(nameless) == 3
    assert nameless["unknown"].str.startswith("which model, its id here").all()


# Seeds


def test_agreement_is_counted_over_pairs_of_seeds() -> None:
    table = judged(
        rows(STABLE, "This phase is stable.", "This phase is stable.", "It is a stable phase."),
        rows(UNSTABLE, "This phase is stable.", "This phase is unstable.", "Nobody knows."),
    )
    (row,) = by_seed.agreement(table).to_dict("records")
    # Six pairs: the same words in one, the same claim in three, and so the same verdict.
    assert row["pairs"] == 6
    assert (row["words"], row["claim"], row["outcome"]) == pytest.approx((1 / 6, 1 / 2, 1 / 2))
    # Two sources, of which one always agrees and the other never does.
    assert (row["lower"], row["upper"]) == (0, 1)


def test_one_seed_has_nothing_to_agree_with() -> None:
    table = judged(rows(STABLE, "This phase is stable."))
    assert not len(by_seed.agreement(table))
    for measure in ("pcr", "coverage"):
        found = by_seed.compare(table, measure)
        assert not len(found) and "p_holm" in found and not len(by_seed.told(found))


def test_seeds_are_compared_on_the_items_that_both_let_judge() -> None:
    stable = [i for i in chosen("stability", "stability", 30) if i.truth["value"] == "stable"][:6]
    right, wrong = "This phase is stable.", "This phase is unstable."
    table = judged(
        *(rows(item, wrong, right) for item in stable[:4]),
        rows(stable[4], right, right),
        rows(stable[5], right, "Nobody knows."),
    )
    (row,) = by_seed.compare(table).to_dict("records")
    assert (row["seeds"], row["n"]) == ("0, 1", 5)
    assert (row["first"], row["second"], row["difference"]) == pytest.approx((0.2, 1.0, 0.8))
    # Four fixes and no regression: the exact binomial gives 2 / 2^4.
    assert row["p"] == pytest.approx(0.125) and row["p_holm"] == pytest.approx(0.125)
    assert row["lower"] <= 0.8 <= row["upper"]
    (row,) = by_seed.compare(table, "coverage").to_dict("records")
    assert (row["n"], row["first"], row["second"]) == pytest.approx((6, 1, 5 / 6))
    assert row["p"] == 1
    (told,) = by_seed.told(by_seed.compare(table)).to_dict("records")
    assert told["first"] == "0.200" and told["difference [95 %]"].startswith("+0.800 [")
    assert told["p, Holm"] == "0.12"
    with pytest.raises(MatPCRError, match="unknown measure 'taste'"):
        by_seed.compare(table, "taste")


def test_more_comparisons_are_corrected_for() -> None:
    table = study("matpcr/chance", "stability,metallicity", n_items=30).table
    found = by_seed.compare(table)
    assert len(found) == 6 and set(found["seeds"]) == {"0, 1", "0, 2", "1, 2"}
    assert (found["p_holm"] >= found["p"]).all() and (found["p_holm"] > found["p"]).any()


def test_each_seed_has_its_rate_and_temperature() -> None:
    table = judged(rows(STABLE, "This phase is stable.", "This phase is unstable."))
    table["settings"] = ['{"temperature": 0.0}', "{}"]
    first, second = by_seed.rates(table).to_dict("records")
    assert (first["pcr"], first["temperature"]) == (1.0, 0.0)
    assert second["pcr"] == 0.0 and pd.isna(second["temperature"])
    assert first["coverage"] == second["coverage"] == 1


# Copies


def test_worked_examples_have_the_values_that_the_prompts_say() -> None:
    assert copies.example_values("magnetism/magnetization") == (2.2, 0.0, 0.6)
    assert copies.example_values("microscopy/feature_size") == (250.0, 8.0, 5000.0)
    assert copies.example_values("stability/stability") == ("stable", "metastable", "unstable")
    for constraint, asked in items.QUESTIONS.items():
        for asks in asked:
            assert len(copies.example_values(f"{constraint}/{asks}")) == 3
    with pytest.raises(MatPCRError, match="no worked examples of 'stability/taste'"):
        copies.example_values("stability/taste")


def test_an_example_that_is_said_again_is_found() -> None:
    item = next(
        item
        for item in chosen("stability", "energy_above_hull", 30)
        if copies._position([item.truth["value"]], (0.0, 0.13, 0.55)) == 0
    )
    said = "The energy above the hull is {} eV/atom."
    found = copies.find(
        as_frame(
            rows(
                item,
                said.format(0.55),
                said.format(0.554),
                said.format(0.557),
                said.format("0.00"),
                "Close packing costs a covalent element much.",
                "Diamond is a little less favourable than graphite.",
                "The exchange splitting of the narrow d band does it.",
                examples=3,
            )
        )
    )
    assert found["example"].tolist() == [3, 3, 0, 1, 0, 0, 0]
    assert found["stated"].tolist() == [True] * 4 + [False] * 3
    assert found["words"].tolist() == [False] * 4 + [True, True, False]
    assert found["words_elsewhere"].tolist() == [False] * 6 + [True]
    assert not found["truth_example"].any() and not found["class_asked"].any()


def test_only_examples_that_were_shown_count() -> None:
    item = chosen("stability", "energy_above_hull")[0]
    said = ("The energy above the hull is 0.55 eV/atom.",)
    assert copies.find(as_frame(rows(item, *said, examples=2)))["example"].tolist() == [0]
    for more in ({}, {"examples": 3, "unsupported": True}, {"examples": 3, "error": "gone"}):
        assert not len(copies.find(as_frame(rows(item, *said, **more))))


@given(
    st.sampled_from([0.55, 43.297, 2.2, 250.0, 8.0]),
    st.floats(-0.49, 0.49) | st.floats(0.51, 40) | st.floats(-40, -0.51),
)
def test_a_value_is_an_examples_when_it_rounds_to_it(example: float, units: float) -> None:
    digits = len(f"{example:.10g}".partition(".")[2])
    assert copies._same(example + units * 10**-digits, example) == (abs(units) < 0.5)


def test_zero_is_copied_by_zero_only() -> None:
    assert copies._same(0.0, 0.0) and not copies._same(1e-3, 0.0)
    assert copies._same("stable", "stable") and not copies._same("stable", 0.0)


def test_the_excess_over_accurate_answers_is_exact() -> None:
    gaps = chosen("metallicity", "band_gap", 40)
    metals = [item for item in gaps if item.truth["value"] == 0][:2]
    others = [item for item in gaps if item.truth["value"] > 1][:2]
    same = [copies._position([item.truth["value"]], (0.6, 0.0, 4.1)) for item in others]
    assert same == [0, 0]
    frame = as_frame(
        [r for item in metals + others for r in rows(item, "The gap is 4.1 eV.", examples=3)]
    )
    (row,) = copies.rates(copies.find(frame)).to_dict("records")
    assert (row["n"], row["stated"], row["copied"], row["truths"]) == (4, 1.0, 1.0, 0.5)
    assert row["excess"] == 0.5 and 0 <= row["lower"] <= 0.5 <= row["upper"] <= 1
    (told,) = copies.told(copies.rates(copies.find(frame))).to_dict("records")
    assert told["an example's value"] == "100%" and told["excess [95 %]"].startswith("+0.50 [")


def test_classes_have_no_copied_value() -> None:
    found = copies.find(as_frame(rows(STABLE, "This phase is stable.", examples=3)))
    shares = copies.rates(found)
    assert found["class_asked"].all() and shares["copied"].isna().all()
    (told,) = copies.told(shares).to_dict("records")
    assert told["excess [95 %]"] == "–" and told["state a value"] == "100%"
    assert not len(copies.told(copies.rates(found.head(0))))


# Figures


@pytest.fixture
def mixed() -> pd.DataFrame:
    return judged(
        rows(STABLE, "This phase is stable.", "This phase is unstable.", examples=3),
        rows(UNSTABLE, "Well.", "", examples=3),
        rows(chosen("stability", "energy_above_hull")[0], "E_hull is 0.55 eV/atom.", examples=3),
        rows(chosen("spectra", "raman_shift")[0], "", unsupported=True, modality="image"),
    )


def test_every_answer_is_in_the_stack_of_its_cell(mixed: pd.DataFrame) -> None:
    figure = figures.outcomes(mixed, results.summary(mixed))
    widths: dict[float, float] = {}
    for bar in figure.axes[0].patches:
        widths[bar.get_y()] = widths.get(bar.get_y(), 0.0) + bar.get_width()  # type: ignore[attr-defined]
    assert list(widths.values()) == pytest.approx([1.0, 1.0])
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == ["consistent", "violation", "no claim", "not asked (image)"]
    assert "nothing to judge" in [text.get_text() for text in figure.axes[1].texts]
    plt.close(figure)
    with pytest.raises(MatPCRError, match="0 cells"):
        figures.outcomes(mixed.head(0), pd.DataFrame())


def test_copies_are_drawn_and_their_absence_is_said(mixed: pd.DataFrame) -> None:
    found = copies.find(mixed)
    figure = figures.copies(found)
    labels = [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    assert labels == ["energy above hull: answers", "accurate answers"]
    empty = figures.copies(found[found["class_asked"]])
    assert "no worked example" in empty.axes[0].texts[0].get_text()
    plt.close("all")


def test_seeds_are_drawn_with_their_temperature(mixed: pd.DataFrame) -> None:
    mixed["settings"] = [json.dumps({"temperature": 0.7 * (seed > 0)}) for seed in mixed["seed"]]
    figure = figures.seeds(by_seed.rates(mixed))
    legend = figure.axes[0].get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == [
        "seed 0 (greedy)",
        "seed 1 (at 0.7)",
    ]
    silent = figures.seeds(by_seed.rates(mixed[mixed["outcome"] == "abstain"]))
    assert "nothing to judge" in silent.axes[0].texts[0].get_text()
    plt.close("all")
