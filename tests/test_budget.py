"""Re-prompting that spends what a CGSV run spent."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from standin import Standin, mixed, run_of, stubborn

from matpcr_utils.errors import MatPCRError
from matpcr_utils.evaluation import budget, results, run, transcripts


@pytest.fixture(scope="module")
def matched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A CGSV run to match with."""
    folder = tmp_path_factory.mktemp("matched")
    run_of(
        Standin(mixed),
        folder,
        constraint=("stability", "metallicity"),
        n_items=48,
        seeds=2,
    )
    return folder


def reprompted(matched: Path, out: Path, **how: Any) -> run.Evaluation:
    options: dict[str, Any] = {"constraint": ("stability", "metallicity"), "n_items": 48}
    return run_of(Standin(mixed), out, "reprompt", match=matched, seeds=2, **options, **how)


def test_reprompting_spends_what_cgsv_spent(matched: Path, tmp_path: Path) -> None:
    done = reprompted(matched, tmp_path)
    assert set(done.table["condition"]) == {"reprompt-shuffled-2"}
    spent = budget.compute(done.table, matched).set_index("constraint")
    assert list(spent.index) == ["metallicity", "stability", "all"]
    assert (spent["call_ratio"] == 1).all()
    assert spent["token_ratio"].between(0.9, 1.1).all()
    # The same from the folders.
    pd.testing.assert_frame_equal(budget.compute(tmp_path, matched).set_index("constraint"), spent)
    ours, theirs = _followed(done.table), _followed(transcripts.read_chains(_file(matched)))
    assert ours != theirs and len(ours) == len(theirs)
    before, after = results.first(done.table), results.final(done.table)
    assert ("consistent", "violation") in set(zip(before["outcome"], after["outcome"], strict=True))


def test_the_same_items_can_be_asked_again(matched: Path, tmp_path: Path) -> None:
    done = reprompted(matched, tmp_path, allocation="same")
    assert set(done.table["condition"]) == {"reprompt-same-2"}
    assert _followed(done.table) == _followed(transcripts.read_chains(_file(matched)))
    assert (budget.compute(done.table, matched)["call_ratio"] == 1).all()


def test_follow_ups_are_dealt_within_constraint_and_seed(matched: Path) -> None:
    same, shuffled = (budget.read(matched, how, 2) for how in ("same", "shuffled"))
    assert same.calls != shuffled.calls and same.digest != shuffled.digest

    def dealt(plan: budget.Plan) -> dict[Any, Counter[int]]:
        cells: dict[Any, Counter[int]] = {}
        for (item_id, seed), calls in plan.calls.items():
            cells.setdefault((item_id.partition("-")[0], seed), Counter())[calls] += 1
        return cells

    assert dealt(same) == dealt(shuffled)
    assert shuffled.calls == budget.read(matched, "shuffled", 2).calls
    assert shuffled.calls != budget.read(matched, "shuffled", 2, seed=1).calls
    # Where the follow-ups go says nothing about who violated: about as many as by chance.
    keys = [key for key in same.calls if key[0].startswith("metallicity")]
    hit = sum(bool(same.calls[k]) and bool(shuffled.calls[k]) for k in keys)
    share = sum(bool(same.calls[k]) for k in keys) / len(keys)
    assert abs(hit / len(keys) - share**2) < 4 * (share**2 / len(keys)) ** 0.5


def test_neutral_words_are_as_long_as_the_feedback_was(matched: Path) -> None:
    plan = budget.read(matched, "shuffled", 2)
    told = transcripts.read_chains(_file(matched))
    for constraint in ("stability", "metallicity"):
        rows = told[(told["constraint"] == constraint) & (told["round"] > 0)]
        mean = rows["message"].str.len().mean()
        assert abs(len(plan.message(constraint)) - mean) <= 50


def test_a_match_has_to_fit(matched: Path, tmp_path: Path) -> None:
    standin = Standin(stubborn)
    for how, told in (
        ({"n_items": 8}, "use the same n_items, items_seed and seeds"),
        ({"n_items": 48, "seeds": 2, "rounds": 1}, "choose rounds = 2"),
        ({"n_items": 48, "seeds": 2, "prompt_version": "v2"}, "prompt_version 'v1'"),
        ({"match": tmp_path}, "no transcripts"),
    ):
        with pytest.raises(MatPCRError, match=told):
            run_of(standin, tmp_path / "run", "reprompt", **{"match": matched, **how})
    plain = run_of(standin, tmp_path / "plain", "plain", n_items=2)
    with pytest.raises(MatPCRError, match="no CGSV run"):
        budget.read(plain.folder, "shuffled", 2)
    with pytest.raises(MatPCRError, match="unknown allocation"):
        budget.read(matched, "random", 2)
    with pytest.raises(MatPCRError, match="did not ask stability-x with seed 0"):
        budget.read(matched, "same", 2).calls_for("stability-x", 0)


def _file(folder: Path) -> Path:
    return folder / "transcripts.parquet"


def _followed(frame: pd.DataFrame) -> set[tuple[str, int, int]]:
    rows = frame[frame["round"] > 0]
    return set(zip(rows["item_id"], rows["seed"], rows["round"], strict=True))
