"""The scripted evaluee does what its script says, and shows the true rates to the statistics."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from inspect_ai.model import GenerateConfig

from matpcr_utils import items
from matpcr_utils.claims import extract_claims
from matpcr_utils.claims.model import CONSTRAINTS
from matpcr_utils.errors import MatPCRError
from matpcr_utils.evaluation import catalog, cohorts, feedback, grading, results, revision, run
from matpcr_utils.evaluation.evaluees import reviser
from matpcr_utils.evaluation.question import Question

CONFIG = GenerateConfig()


def asked(item: items.Item, *since: tuple[str, str], seed: int = 0) -> Question:
    words = items.prompt(item, modality="text")
    return Question(words, None, seed, (("user", words), *since), item.item_id)


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_every_kind_is_what_it_is_called(constraint: str) -> None:
    retreats = 0
    for item in items.load(constraint, 40):
        grades = {kind: _grade(item, kind) for kind in reviser.KINDS}
        assert grades[reviser.RIGHT].outcome == "consistent"
        assert grades[reviser.RIGHT].accurate is True
        assert grades[reviser.WRONG].outcome == "violation"
        assert grades[reviser.DROPPED].reason == grading.NO_CLAIM
        assert grades[reviser.RETREAT].outcome == "consistent"
        retreats += grades[reviser.RETREAT].accurate is False
        for kind in (reviser.RIGHT, reviser.WRONG, reviser.RETREAT):
            assert len(extract_claims(reviser.line(item.item_id, kind), constraint)) == 1
    assert retreats >= 3


def _grade(item: items.Item, kind: str) -> grading.Graded:
    return grading.grade(item, reviser.line(item.item_id, kind))


def test_a_spectrum_without_a_quiet_place_has_a_violation_too() -> None:
    said = reviser.line("spectra-raman-fitting-testdw38c-4_1550-1650", reviser.WRONG)
    item = catalog.get("spectra-raman-fitting-testdw38c-4_1550-1650")
    assert grading.grade(item, said).outcome == "violation"


def test_draws_are_even_independent_and_repeatable() -> None:
    drawn = np.array([reviser.draws(f"stability-mp-{i}", i % 3, i % 2) for i in range(3000)])
    assert drawn.shape == (3000, 3) and drawn.min() >= 0 and drawn.max() < 1
    # Five standard errors of a mean of 3,000 and of a correlation.
    assert np.abs(drawn.mean(axis=0) - 0.5).max() < 5 * np.sqrt(1 / 12 / 3000)
    assert np.abs(np.corrcoef(drawn.T) - np.eye(3)).max() < 5 / np.sqrt(3000)
    np.testing.assert_array_equal(reviser.draws("a", 0, 1), reviser.draws("a", 0, 1))
    assert (reviser.draws("a", 0, 1) != reviser.draws("a", 1, 1)).all()
    digest = hashlib.sha256(b"stability-mp-1138|0|2").digest()
    expected = int.from_bytes(digest[:8], "big") / 2**64
    assert reviser.draws("stability-mp-1138", 0, 2)[0] == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(
    ("settings", "before", "after"),
    [
        ({"p_fix": 1.0}, reviser.WRONG, reviser.RIGHT),
        ({"p_fix": 1.0, "s_retreat": 1.0}, reviser.WRONG, reviser.RETREAT),
        ({"p_fix": 0.0}, reviser.WRONG, reviser.WRONG),
        ({"q_regress": 1.0}, reviser.RIGHT, reviser.WRONG),
        ({"q_regress": 0.0}, reviser.RIGHT, reviser.RIGHT),
        ({"q_regress": 0.0}, reviser.RETREAT, reviser.RETREAT),
        ({"p_fix": 1.0, "r_drop": 1.0}, reviser.WRONG, reviser.DROPPED),
        ({"r_drop": 1.0}, reviser.RIGHT, reviser.DROPPED),
        ({"p_fix": 1.0}, reviser.DROPPED, reviser.DROPPED),
    ],
)
def test_the_script_is_followed(settings: dict[str, Any], before: str, after: str) -> None:
    model = reviser.create(**settings)
    for item in items.load("stability", 5):
        said = reviser.line(item.item_id, before)
        answer = model.answer(asked(item, ("assistant", said), ("user", "Well?")), CONFIG)
        assert answer.text == reviser.line(item.item_id, after)
        assert answer.settings["p_fix"] == settings.get("p_fix", 0.3)


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_a_leaked_value_is_copied(constraint: str) -> None:
    copier = reviser.create(copies_reference=True, p_fix=0.0)
    for item in items.load(constraint, 16):
        wrong = reviser.line(item.item_id, reviser.WRONG)
        grade = grading.grade(item, wrong)
        for level in ("verdict", "reason", "reference"):
            told = feedback.message(item, grade, level)
            talk = asked(item, ("assistant", wrong), ("user", told))
            said = copier.answer(talk, CONFIG).text
            outcome = grading.grade(item, said).outcome
            assert outcome == ("consistent" if level == "reference" else "violation"), said
            # Another script does not look at the message.
            other = replace(copier, copies_reference=False)
            assert other.answer(talk, CONFIG).text == wrong


def test_bad_scripts_are_refused() -> None:
    for settings, told in (
        ({"p_fix": 1.5}, "p_fix = 1.5 must lie from 0 to 1"),
        ({"r_drop": "often"}, "r_drop = 'often' must be a number"),
        ({"q_regress": True}, "q_regress = True must be a number"),
        ({"copies_reference": 1}, "must be true or false"),
    ):
        with pytest.raises(MatPCRError, match=told):
            reviser.create(**settings)
    with pytest.raises(MatPCRError, match="which item"):
        reviser.create().answer(Question("Is NaCl stable?"), CONFIG)


def test_a_run_follows_the_script(tmp_path: Path) -> None:
    """Every answer of a run is the one that the draws of its item, seed and round ask for."""
    script = reviser.Reviser(p_consistent=0.4, p_fix=0.5, q_regress=0.3, r_drop=0.1)
    settings = {"p_consistent": 0.4, "p_fix": 0.5, "q_regress": 0.3, "r_drop": 0.1}
    done = run.evaluate(
        "matpcr/reviser",
        ("stability", "magnetism"),
        n_items=30,
        seeds=2,
        out=tmp_path,
        condition="refine",
        model_args=settings,
    )
    assert done.complete and '"p_fix": 0.5' in done.table["settings"].iloc[0]
    kinds: dict[tuple[str, int], str] = {}
    for row in done.table.to_dict("records"):
        key = (row["item_id"], row["seed"])
        drawn = reviser.draws(*key, row["round"])
        kind = script.next(kinds[key], drawn) if row["round"] else script.first(drawn)
        kinds[key] = kind
        assert row["chain"] == reviser.line(row["item_id"], kind)
    first, last = results.first(done.table), results.final(done.table)
    wanted = {reviser.RIGHT: "consistent", reviser.WRONG: "violation", reviser.DROPPED: "abstain"}
    ends = [wanted[kinds[key]] for key in zip(last["item_id"], last["seed"], strict=True)]
    assert last["outcome"].tolist() == ends
    # Of 120 first answers, 0.4 are consistent: five standard errors.
    share = (first["outcome"] == "consistent").mean()
    assert abs(share - 0.4) < 5 * np.sqrt(0.24 / 120)
    counted = revision.counts(done.table).set_index("constraint").loc["pooled"]
    assert counted["dropped"] == ends.count("abstain") > 0
    # A simulated cohort is what such a run gives.
    same = cohorts.simulate(script, "refine", "stability", n_items=30, seeds=2)
    keys = ["item_id", "seed", "round"]
    columns = [*keys, "condition", "chain", "outcome", "reason", "accurate"]
    ours = done.table[done.table["constraint"] == "stability"][columns]
    pd.testing.assert_frame_equal(
        same[columns].sort_values(keys, ignore_index=True),
        ours.sort_values(keys, ignore_index=True),
    )


@pytest.mark.parametrize("condition", cohorts.CONDITIONS)
def test_the_truth_is_what_many_cohorts_average(condition: str) -> None:
    script = reviser.Reviser(0.45, p_fix=0.35, q_regress=0.15, r_drop=0.1, s_retreat=0.4)
    true = cohorts.truth(script, condition, rounds=3)
    assert (true["regression"] == 0) == (condition == "cgsv")
    told = pd.concat(
        cohorts.simulate(script, condition, n_items=60, seeds=3, rounds=3, cohort=number).assign(
            run_id=str(number)
        )
        for number in range(20)
    )
    rates = revision.rates(told).set_index(["constraint", "rate"]).loc["diffraction"]
    for name, rate in true.items():
        n = rates.loc[name, "n"]
        # Four standard errors.
        room = 4 * np.sqrt(rate * (1 - rate) / n)
        assert abs(rates.loc[name, "estimate"] - rate) <= room, name


def test_the_truth_of_one_round_is_the_script_s() -> None:
    script = reviser.Reviser(0.25, p_fix=0.5, q_regress=0.2, r_drop=0.1)
    assert cohorts.truth(script, "refine", 1) == pytest.approx(
        {"fix": 0.45, "regression": 0.18, "drop": 0.1, "retreat": 0.0}
    )
    assert cohorts.truth(script, "cgsv", 2) == pytest.approx(
        {"fix": 0.45 + 0.45 * 0.45, "regression": 0.0, "drop": 0.1 + 0.45 * 0.1, "retreat": 0.0}
    )


def test_cohorts_differ_and_copies_do_not() -> None:
    script = reviser.Reviser()
    one, other = (cohorts.simulate(script, n_items=20, cohort=n) for n in (0, 1))
    assert one["outcome"].tolist() != other["outcome"].tolist()
    copied = cohorts.simulate(script, n_items=20, seeds=3, copies=True)
    said = copied.groupby("item_id")["chain"].agg(list)
    assert all(len(chains) % 3 == 0 for chains in said)
    assert all(chains == 3 * chains[: len(chains) // 3] for chains in said)
    with pytest.raises(MatPCRError, match="choose cgsv or refine"):
        cohorts.simulate(script, "plain")
    with pytest.raises(MatPCRError, match="copies_reference"):
        cohorts.simulate(replace(script, copies_reference=True))
    with pytest.raises(MatPCRError, match="cohort = -1"):
        cohorts.simulate(script, cohort=-1)


def test_cgsv_never_spoils_what_is_consistent(tmp_path: Path) -> None:
    done = run.evaluate(
        "matpcr/reviser",
        "metallicity",
        n_items=20,
        seeds=1,
        out=tmp_path,
        condition="cgsv",
        feedback="reference",
        model_args={"copies_reference": True, "q_regress": 1.0},
    )
    (cell, pooled) = revision.changes(done.table).to_dict("records")
    assert cell["fixes"] == pooled["fixes"] > 0 and cell["regressions"] == 0
    assert cell["after"] == cell["n"] == 20
