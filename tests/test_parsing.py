"""How well answers are read: coverage, the sample that is labelled, and the labels."""

from __future__ import annotations

from collections import Counter
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import pyplot as plt

from matpcr_utils.claims import Claim
from matpcr_utils.errors import MatPCRError
from matpcr_utils.evaluation import catalog, labels, parsing, recorded
from matpcr_utils.evaluation.labels import Label
from matpcr_utils.evaluation.transcripts import as_frame
from matpcr_utils.plotting import evaluation as figures
from matpcr_utils.statistics import bootstrap, rate

mpl.use("agg")

IDS = tuple(catalog.load("stability", 40))


def answered(*chains: str, model: str = "mock/model", **more: Any) -> pd.DataFrame:
    """One answer an item, of the stability items in turn."""
    rows = [
        {
            "item_id": IDS[n % len(IDS)],
            "seed": n // len(IDS),
            "constraint": "stability",
            "modality": "text",
            "model": model,
            "chain": chain,
            "stop_reason": "stop",
            **more,
        }
        for n, chain in enumerate(chains)
    ]
    return as_frame(rows)


def label(n: int, chain: str, *claims: tuple[Any, ...], weight: float = 1.0) -> Label:
    return labels.read_label(
        {
            "item_id": IDS[n],
            "seed": 0,
            "modality": "text",
            "stratum": "made up",
            "weight": weight,
            "sha256": labels.digest(chain),
            "claims": claims,
            "why": "" if claims else "made up",
        }
    )


# Coverage


def test_coverage_is_the_share_of_the_answers_that_came() -> None:
    frame = pd.concat(
        [
            answered("It is stable.", "Who knows.", "It is unstable.", ""),
            answered("It is stable.", "", model="mock/other", unsupported=True),
            answered("It is stable.", model="mock/third", error="gone"),
        ]
    )
    (row,) = parsing.coverage(frame).to_dict("records")
    assert (row["model"], row["n"], row["sources"], row["claims"]) == ("mock/model", 4, 4, 2)
    same = bootstrap([True, False, True, False], [0, 1, 2, 3])
    assert (row["share"], row["lower"], row["upper"]) == (0.5, same.lower, same.upper)


def test_coverage_of_one_keeps_a_width() -> None:
    (row,) = parsing.coverage(answered(*["It is stable."] * 80)).to_dict("records")
    # Two answers an item: 40 sources are 40 observations.
    wilson = rate(40, 40, "wilson")
    assert (row["n"], row["sources"], row["share"]) == (80, 40, 1.0)
    assert (row["lower"], row["upper"]) == (wilson.lower, wilson.upper)
    assert row["method"] == "Wilson over sources"


def test_nothing_asked_gives_no_row() -> None:
    frame = answered("", "", unsupported=True)
    assert not len(parsing.coverage(frame)) and not len(parsing.reasons(frame))


def test_reasons_are_told_apart() -> None:
    frame = answered("It is stable.", " ", "Nobody knows.", "Let me think", "I refuse", "Well.")
    frame["stop_reason"] = ["stop", "stop", "stop", "max_tokens", "content_filter", "stop"]
    # The frame is sorted by item.
    frame["chain"] = ["It is stable.", " ", "Nobody knows.", "Let me think", "I refuse", "Well."]
    (found,) = parsing.reasons(frame).to_dict("records")
    assert found == {
        "model": "mock/model",
        "shown as": "text",
        "constraint": "stability",
        "empty": 1,
        "ended without a claim that was read": 2,
        "cut off before a claim": 1,
        "refused": 1,
    }


# The sample


@given(st.lists(st.integers(0, 30), min_size=1, max_size=6), st.integers(1, 60))
def test_strata_give_in_turn(sizes: list[int], total: int) -> None:
    taken = labels._turns(sizes, total)
    assert sum(taken) == min(total, sum(sizes))
    assert all(0 <= n <= size for n, size in zip(taken, sizes, strict=True))
    unexhausted = [n for n, size in zip(taken, sizes, strict=True) if n < size]
    if unexhausted:
        # Nobody who could have given more gave less than another, but for the last turn.
        assert max(taken) - min(unexhausted) <= 1


def mixture() -> pd.DataFrame:
    return answered(
        *["This phase is stable."] * 40,
        *["This phase is a little less favourable than graphite."] * 20,
        "Its energy above the hull is 0.01 eV/atom, so it is stable.",
        "The lattice is cubic, I believe.",
        *(f"The phase Na{n}Cl is metastable." for n in range(2, 12)),
    )


def test_rare_kinds_are_drawn_more_often_and_weigh_less() -> None:
    frame = mixture()
    drawn = labels.draw(frame, per_cell=12, seed=3)
    assert len(drawn) == 12 and not drawn.duplicated(["item_id", "seed", "modality"]).any()
    assert drawn["weight"].sum() == pytest.approx(len(frame))
    by = drawn.groupby("stratum")["weight"].agg(["size", "first"])
    assert by["size"]["stability/text/several/once"] == 1
    assert by["first"]["stability/text/several/once"] == 1
    # Formulae do not make a wording new: the ten metastable ones stand with the stable ones.
    assert (
        by["first"]["stability/text/one/repeated"] == 50 / by["size"]["stability/text/one/repeated"]
    )
    assert (
        by["first"]["stability/text/none/repeated"]
        == 20 / by["size"]["stability/text/none/repeated"]
    )
    assert (drawn["sha256"] == drawn["chain"].map(labels.digest)).all()


def test_a_draw_repeats_with_its_seed_and_changes_with_another() -> None:
    frame = mixture()
    pd.testing.assert_frame_equal(labels.draw(frame, 12, 1), labels.draw(frame, 12, 1))
    assert not labels.draw(frame, 12, 1).equals(labels.draw(frame, 12, 2))
    assert len(labels.draw(frame, 1000)) == len(frame)
    with pytest.raises(MatPCRError, match="per_cell = 0"):
        labels.draw(frame, 0)


def test_the_order_of_a_draw_does_not_tell_the_strata() -> None:
    drawn = labels.draw(mixture(), 30, 0)
    assert drawn["stratum"].tolist() != sorted(drawn["stratum"])
    assert drawn["stratum"].tolist() != sorted(drawn["stratum"], reverse=True)


def test_weighted_totals_are_unbiased() -> None:
    frame = mixture()
    true = frame["chain"].str.contains("metastable").sum()
    found = [
        drawn.loc[drawn["chain"].str.contains("metastable"), "weight"].sum()
        for drawn in (labels.draw(frame, 12, seed) for seed in range(100))
    ]
    # The standard error of the mean of 100 draws; five of them.
    assert abs(np.mean(found) - true) < 5 * np.std(found) / np.sqrt(100)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"claims": []}, "give claims, or why there is none"),
        ({"why": "it says so"}, "give claims, or why there is none"),
        ({"claims": [["band_gap", 1.0]]}, "band_gap = 1.0 can't be claimed there"),
        ({"claims": [["stability", 1.0]]}, "stability = 1.0 can't be claimed"),
        ({"claims": [["energy_above_hull", "stable"]]}, "can't be claimed"),
        ({"claims": [["taste", 1.0]]}, "mend the entry"),
        ({"weight": None}, "mend the entry"),
    ],
)
def test_a_label_that_can_be_none_is_refused(change: dict[str, Any], message: str) -> None:
    entry: dict[str, Any] = {
        "item_id": IDS[0],
        "seed": 0,
        "modality": "text",
        "stratum": "made up",
        "weight": 1.0,
        "sha256": "0" * labels.DIGITS,
        "claims": [["stability", "stable"]],
    }
    assert labels.read_label(entry).claims == (Claim("stability", "stable"),)
    with pytest.raises(MatPCRError, match=message):
        labels.read_label({**entry, **change})


# Labels against what is read


def test_missed_and_misread_claims_are_told_apart() -> None:
    chains = (
        "This phase is stable.",
        "This phase is stable.",
        "It is stable; its energy above the hull is 0.3 eV/atom.",
        "Nobody knows.",
    )
    given = (
        label(0, chains[0], ("stability", "stable")),
        label(1, chains[1], ("stability", "unstable")),
        label(2, chains[2], ("stability", "stable"), ("energy_above_hull", 0.3, "atom")),
        label(3, chains[3]),
    )
    found = parsing.compare(given, answered(*chains))
    assert found["matched"].tolist() == [1, 0, 2, 0]
    assert found["missed"].tolist() == [(), (Claim("stability", "unstable"),), (), ()]
    assert [[claim.value for claim in read] for read in found["misread"]] == [
        [],
        ["stable"],
        [],
        [],
    ]
    shown = parsing.errors(found)
    assert shown["error"].tolist() == ["missed", "misread"]
    assert shown["claim"].tolist() == ["stability = unstable", "stability = stable"]
    assert (shown["item"] == IDS[1]).all() and (shown["answer"] == chains[1]).all()
    short = parsing.errors(found, width=15)["answer"]
    assert short.str.endswith(" …").all() and (short.str.len() <= 15).all()
    assert (found["by_label"] == found["by_reading"]).tolist() == [True, False, True, True]


def test_a_repeated_claim_counts_once_and_a_basis_counts() -> None:
    chains = ("It is stable. So it is stable.", "The energy above the hull is 0.3 eV per cell.")
    given = (
        label(0, chains[0], ("stability", "stable")),
        label(1, chains[1], ("energy_above_hull", 0.3, "atom")),
    )
    found = parsing.compare(given, answered(*chains))
    assert found["n_read"].tolist() == [1, 1] and found["matched"].tolist() == [1, 0]


def test_another_answer_than_the_labelled_one_is_an_error() -> None:
    given = (label(0, "This phase is stable.", ("stability", "stable")),)
    with pytest.raises(MatPCRError, match=rf"1 of 1 labels are of other answers.*{IDS[0]}, seed 0"):
        parsing.compare(given, answered("This phase is unstable."))
    with pytest.raises(MatPCRError, match="label the new answers"):
        parsing.compare(given, answered("This phase is stable.").head(0))


def scored(weights: tuple[float, ...]) -> pd.DataFrame:
    """Four labels: one read right, one wrong, one missed, one read where nothing is stated."""
    chains = ("It is stable.", "It is stable.", "Nobody knows.", "It is stable.")
    claims = (("stable",), ("unstable",), ("stable",), ())
    given = [
        label(n, chains[n], *(("stability", value) for value in claims[n]), weight=weights[n])
        for n in range(4)
    ]
    return parsing.compare(given, answered(*chains))


def test_precision_and_recall_are_weighted_sums() -> None:
    compared = scored((8.0, 1.0, 1.0, 2.0))
    cell, overall = parsing.scores(compared).to_dict("records")
    assert (cell["chains"], cell["stated"], cell["read"], cell["matched"]) == (4, 3, 3, 1)
    assert cell["precision"] == pytest.approx(8 / 11)
    assert cell["recall"] == pytest.approx(8 / 10)
    assert (overall["constraint"], overall["modality"]) == ("all", "all")
    for name in ("precision", "recall", "same_outcome"):
        assert overall[name] == cell[name]
        assert 0 <= cell[f"{name}_lower"] <= cell[name] <= cell[f"{name}_upper"] <= 1


def test_an_interval_without_a_spread_is_the_exact_one() -> None:
    chains = ["It is stable."] * 6
    equal = [label(n, chains[n], ("stability", "stable")) for n in range(6)]
    row = parsing.scores(parsing.compare(equal, answered(*chains))).iloc[0]
    exact = rate(6, 6)
    assert row["precision"] == 1 and row["precision_lower"] == pytest.approx(exact.lower)
    # Kish: weights 5, 1, 1, 1, 1, 1 have the effect of 100 / 30, of which the whole 3 count.
    uneven = [
        label(n, chains[n], ("stability", "stable"), weight=1 + 4 * (n == 0)) for n in range(6)
    ]
    row = parsing.scores(parsing.compare(uneven, answered(*chains))).iloc[0]
    assert row["recall_lower"] == pytest.approx(rate(3, 3).lower)


def test_a_share_without_a_case_is_missing() -> None:
    compared = parsing.compare([label(0, "Nobody knows.")], answered("Nobody knows."))
    row = parsing.scores(compared).iloc[0]
    assert row[["precision", "recall", "precision_lower"]].isna().all()
    assert row["same_outcome"] == 1
    with pytest.raises(MatPCRError, match="no labelled answer"):
        parsing.scores(compared.head(0))


def test_equal_weights_give_the_usual_bootstrap() -> None:
    chains = ["It is stable."] * 30
    given = [
        label(n, chains[n], ("stability", "stable" if n % 3 else "unstable")) for n in range(30)
    ]
    row = parsing.scores(parsing.compare(given, answered(*chains)), seed=5).iloc[0]
    usual = bootstrap([bool(n % 3) for n in range(30)])
    # Ends are whole thirtieths, up to one of which two Monte-Carlo draws may differ.
    assert row["precision_lower"] == pytest.approx(usual.lower, abs=1 / 30 + 1e-9)
    assert row["precision_upper"] == pytest.approx(usual.upper, abs=1 / 30 + 1e-9)


def test_silence_is_counted_and_weighed() -> None:
    chains = ("Nobody knows.", "Well.", "It is stable.")
    given = [label(0, chains[0], weight=3), label(1, chains[1], weight=1)]
    given.append(label(2, chains[2], ("stability", "stable"), weight=4))
    found = parsing.silence(parsing.compare(given, answered(*chains)))
    assert found.loc["made up"].tolist() == [2, 0.5]


# The committed labels


def test_the_labels_fit_the_recorded_answers() -> None:
    compared = parsing.compare()
    assert len(compared) == len(labels.labels()) >= 90
    assert not compared.duplicated(["item_id", "seed", "modality"]).any()
    assert {parsing.MODEL} == set(recorded.load(parsing.MODEL, modality="text")["model"])


def test_the_labelled_answers_stand_for_all() -> None:
    frame = recorded.load(parsing.MODEL, modality="text")
    every = Counter(frame.loc[~frame["unsupported"], "constraint"])
    weights: Counter[str] = Counter()
    for one in labels.labels():
        weights[one.constraint] += one.weight  # type: ignore[assignment]
    assert {"stability", "metallicity", "magnetism"} <= set(weights)
    for constraint, total in weights.items():
        assert total == pytest.approx(every[constraint], abs=0.01)


def test_the_rules_say_who_labelled() -> None:
    assert "one" in labels.rules() and "annotator" in labels.rules()
    silent = [one for one in labels.labels() if not one.claims]
    assert silent and all(one.why for one in silent)


# Figures


def test_coverage_is_drawn_by_modality_and_model() -> None:
    frame = pd.concat([answered("It is stable.", "Well."), answered("It is stable.", model="b/c")])
    figure = figures.coverage(parsing.coverage(frame))
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["mock/model", "b/c"]
    assert [panel.get_title(loc="left") for panel in figure.axes] == ["shown as text"]
    plt.close(figure)
    with pytest.raises(MatPCRError, match="0 cells"):
        figures.coverage(pd.DataFrame())


def test_the_extractor_is_drawn_where_it_has_a_share() -> None:
    figure = figures.extractor(parsing.scores(scored((1.0, 1.0, 1.0, 1.0))))
    ticks = [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    assert ticks == ["stability, text (4)", "all (4)"]
    points = [line.get_xdata() for line in figure.axes[0].lines]
    assert np.allclose(np.concatenate(points), 1 / 3)
    plt.close(figure)
    compared = parsing.compare([label(0, "Nobody knows.")], answered("Nobody knows."))
    silent = figures.extractor(parsing.scores(compared))
    assert len(np.concatenate([line.get_xdata() for line in silent.axes[0].lines])) == 0
    plt.close(silent)
