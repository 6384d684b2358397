"""CGSV and its controls as runs: who is asked what, what is kept, and what is never shared."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner
from standin import UNSTABLE, Standin, mixed, run_of, second_thoughts, stubborn

from matpcr_utils import items
from matpcr_utils.cli_evaluate import evaluate
from matpcr_utils.errors import MatPCRError
from matpcr_utils.evaluation import catalog, feedback, results, run, transcripts
from matpcr_utils.evaluation.conditions import Condition

SCRIPT = Path(__file__).with_name("evaluation_run.py")


# What is asked


def test_cgsv_asks_on_until_no_violation_remains(tmp_path: Path) -> None:
    standin = Standin(second_thoughts)
    done = run_of(standin, tmp_path)
    assert done.complete and set(done.table["condition"]) == {"cgsv-reason-2"}
    followed = 0
    for _, rows in done.table.groupby(["item_id", "seed"]):
        assert rows["round"].tolist() == list(range(len(rows)))
        outcomes = rows["outcome"].tolist()
        # Everything before the last answer violated; the last did not, or the rounds were used up.
        assert set(outcomes[:-1]) <= {"violation"}
        assert outcomes[-1] != "violation" or len(rows) == 3
        assert rows["message"].iloc[0] == ""
        for message, reason in zip(rows["message"][1:], rows["reason"], strict=False):
            words = feedback.wordings()["v1"]["reasons"]["stability"][reason]
            assert words in message
            followed += 1
    assert followed and len(standin.calls) == len(done.table)


def test_the_model_sees_the_whole_conversation(tmp_path: Path) -> None:
    standin = Standin(stubborn)
    done = run_of(standin, tmp_path)
    longest = max(standin.calls, key=len)
    rows = done.table[done.table["item_id"].map(_question) == longest[0]]
    assert longest == (longest[0], UNSTABLE, rows["message"].iloc[1], UNSTABLE, longest[4])
    assert longest[4] == rows["message"].iloc[2]
    assert rows["input_tokens"].tolist() == [
        sum(map(len, longest[: 2 * n + 1])) // 4 for n in range(3)
    ]


def _question(item_id: str) -> str:
    return items.prompt(catalog.get(item_id))


@pytest.mark.parametrize("said", ["", "I can't say."])
def test_what_can_not_be_judged_is_not_asked_again(tmp_path: Path, said: str) -> None:
    standin = Standin(lambda messages: said)
    done = run_of(standin, tmp_path)
    assert len(standin.calls) == 8 and set(done.table["round"]) == {0}
    assert set(done.table["outcome"]) == {"abstain"}


def test_an_answer_that_stops_claiming_ends_the_conversation(tmp_path: Path) -> None:
    standin = Standin(lambda messages: UNSTABLE if len(messages) == 1 else "I withdraw that.")
    done = run_of(standin, tmp_path)
    first, last = results.first(done.table), results.final(done.table)
    dropped = (first["outcome"].to_numpy() == "violation") & (last["n_claims"].to_numpy() == 0)
    assert dropped.any() and done.table["round"].max() == 1
    assert (last["outcome"].to_numpy()[dropped] == "abstain").all()


@pytest.mark.parametrize("level", ["verdict", "reference"])
def test_feedback_is_of_the_level_asked_for(tmp_path: Path, level: str) -> None:
    done = run_of(Standin(stubborn), tmp_path, feedback=level, rounds=1)
    told = done.table[done.table["round"] == 1]
    assert len(told) and set(told["condition"]) == {f"cgsv-{level}-1"}
    assert told["message"].str.contains("eV/atom").all() == (level == "reference")


def test_refinement_asks_every_item_equally_often(tmp_path: Path) -> None:
    standin = Standin(second_thoughts)
    done = run_of(standin, tmp_path, "refine", rounds=3)
    assert len(standin.calls) == 8 * 4 and set(done.table["condition"]) == {"refine-3"}
    assert set(done.table[done.table["round"] > 0]["message"]) == {feedback.refine()}
    before, after = results.first(done.table), results.final(done.table)
    # Consistent answers are asked about as well, and may get worse.
    pairs = set(zip(before["outcome"], after["outcome"], strict=True))
    assert ("consistent", "violation") in pairs


def test_reprompting_without_a_match_asks_every_item(tmp_path: Path) -> None:
    done = run_of(Standin(stubborn), tmp_path, "reprompt", rounds=1)
    assert len(done.table) == 16 and set(done.table["condition"]) == {"reprompt-all-1"}
    assert set(done.table["message"]) == {"", feedback.neutral()}


def test_images_are_not_sent_to_who_reads_none(tmp_path: Path) -> None:
    done = run.evaluate(
        "matpcr/smollm2", "spectra", n_items=2, seeds=1, out=tmp_path, condition="cgsv"
    )
    assert done.table["unsupported"].all() and len(done.table) == 2


# The cache


def test_no_condition_level_or_round_reuses_an_answer(tmp_path: Path) -> None:
    """All into one folder, whose cache they share."""
    ways: list[dict[str, Any]] = [
        {"condition": "plain"},
        {"condition": "cgsv"},
        {"condition": "cgsv", "rounds": 1},
        {"condition": "cgsv", "feedback": "verdict"},
        {"condition": "cgsv", "feedback": "reference"},
        {"condition": "refine"},
        {"condition": "refine", "rounds": 1},
        {"condition": "reprompt"},
        {"condition": "reprompt", "rounds": 1},
    ]
    for way in ways:
        standin = Standin(stubborn)
        done = run_of(standin, tmp_path, n_items=4, **way)
        assert len(standin.calls) == len(done.table), way
        assert Counter(len(call) // 2 for call in standin.calls) == Counter(done.table["round"])
    for way in ways:
        standin = Standin(stubborn)
        run_of(standin, tmp_path, n_items=4, **way)
        assert not standin.calls, way


def test_rounds_of_one_conversation_do_not_share_answers(tmp_path: Path) -> None:
    # The same run without its logs finds every answer in the cache, each round its own.
    import shutil

    said = iter(range(10_000))
    numbered = Standin(lambda messages: f"Attempt {next(said)}. {UNSTABLE}")
    first = run_of(numbered, tmp_path, "refine", rounds=2, n_items=3)
    assert first.table["chain"].is_unique
    shutil.rmtree(tmp_path / "logs")
    silent = Standin(stubborn)
    again = run_of(silent, tmp_path, "refine", rounds=2, n_items=3)
    assert not silent.calls
    assert again.table["chain"].tolist() == first.table["chain"].tolist()


def test_another_match_is_another_condition(tmp_path: Path) -> None:
    others = (tmp_path / "stubborn", tmp_path / "mixed")
    for say, folder in zip((stubborn, mixed), others, strict=True):
        run_of(Standin(say), folder)
    for match in others:
        standin = Standin(stubborn)
        done = run_of(standin, tmp_path / "run", "reprompt", match=match)
        assert len(standin.calls) == len(done.table)


def test_a_task_s_message_keeps_its_cache_key() -> None:
    from inspect_ai.model import CachePolicy, ChatMessageUser, GenerateConfig
    from inspect_ai.model._cache import CacheEntry

    from matpcr_utils.evaluation import tasks

    sent = tasks.stability(n_items=1).dataset[0].input[0]
    assert sent.id == items.load("stability", 1)[0].item_id and sent.metadata is None

    def key(message: Any) -> str:
        policy = CachePolicy(expiry=None)
        return CacheEntry(None, GenerateConfig(), [message], "m/m", policy, None, []).key

    assert key(sent) == key(ChatMessageUser(content=sent.content))


def counted_run(folder: Path, counted: Path, dies_at: int, condition: str) -> int:
    command = [sys.executable, str(SCRIPT), str(folder), str(counted), str(dies_at), condition]
    return subprocess.run(command, capture_output=True, check=False, timeout=120).returncode


def test_a_killed_conversation_goes_on_and_pays_nothing_twice(tmp_path: Path) -> None:
    folder, counted = tmp_path / "killed", tmp_path / "calls"
    assert counted_run(folder, counted, 13, "cgsv") == -9
    assert len(counted.read_text().splitlines()) == 13
    assert counted_run(folder, counted, 0, "cgsv") == 0
    assert counted_run(tmp_path / "whole", tmp_path / "other", 0, "cgsv") == 0
    paid = [Counter(path.read_text().splitlines()) for path in (counted, tmp_path / "other")]
    assert paid[0] == paid[1] and paid[0].total() > 24
    ours, whole = (
        pd.read_csv(path / "results.csv").drop(columns=["run_id", "created"])
        for path in (folder, tmp_path / "whole")
    )
    pd.testing.assert_frame_equal(ours, whole)


def test_a_failure_in_a_later_round_keeps_the_earlier_ones(tmp_path: Path) -> None:
    poor = True

    def say(messages: list[Any]) -> str:
        if poor and len(messages) > 1:
            raise RuntimeError("out of order")
        return UNSTABLE

    standin = Standin(say)
    done = run_of(standin, tmp_path, max_retries=0)
    assert not done.complete
    failed = done.table[done.table["error"] != ""]
    assert len(failed) and set(failed["round"]) == {1} and set(failed["input_tokens"]) == {0}
    assert set(failed["item_id"]) <= set(done.table[done.table["round"] == 0]["item_id"])
    # The failure is the conversation's end: it enters no rate.
    assert done.summary["errors"].tolist() == [len(failed)]
    assert len(done.table[done.table["round"] == 0]) == 8

    poor = False
    calls = len(standin.calls)
    mended = run_of(standin, tmp_path, max_retries=0)
    assert mended.complete and not (mended.table["error"] != "").any()
    # Nothing that had been answered is asked again.
    assert len(standin.calls) - calls == (mended.table["round"] > 0).sum()


# Names and options


def test_conditions_have_names() -> None:
    assert Condition().name == "plain"
    assert Condition.make("cgsv").name == "cgsv-reason-2"
    assert Condition.make("cgsv", feedback="verdict", rounds=1).name == "cgsv-verdict-1"
    assert Condition.make("refine", rounds=3).name == "refine-3"
    assert Condition.make("reprompt").name == "reprompt-all-2"
    assert Condition.make("reprompt", match="x").name == "reprompt-shuffled-2"
    made = Condition.of_step("reprompt", {"match": "x", "allocation": "same", "seed": 0})
    assert made is not None and made.name == "reprompt-same-2"
    assert Condition.of_step("generate", {}) is None
    assert run.default_folder("a/b").name == "a-b"
    assert run.default_folder("a/b", "cgsv-reason-2").name == "a-b-cgsv-reason-2"


@pytest.mark.parametrize(
    ("kind", "options", "told"),
    [
        ("cgvs", {}, "unknown condition 'cgvs'"),
        ("plain", {"rounds": 2}, "choose the condition cgsv or refine or reprompt"),
        ("refine", {"feedback": "reason"}, "choose the condition cgsv"),
        ("cgsv", {"match": "x"}, "choose the condition reprompt"),
        ("reprompt", {"allocation": "same"}, "needs a match"),
        ("cgsv", {"rounds": 0}, "rounds = 0"),
        ("cgsv", {"rounds": 21}, "from 1 to 20"),
        ("cgsv", {"rounds": 1.5}, "whole number"),
        ("cgsv", {"feedback": "hint"}, "unknown feedback 'hint'"),
        ("reprompt", {"match": "x", "allocation": "none"}, "unknown allocation 'none'"),
    ],
)
def test_options_that_do_not_fit_are_refused(kind: str, options: Any, told: str) -> None:
    with pytest.raises(MatPCRError, match=told):
        Condition.make(kind, **options)


def test_the_command_line_runs_conditions(tmp_path: Path) -> None:
    def invoke(*words: Any) -> Any:
        common = ("--model", "matpcr/chance", "--constraint", "stability", "--n-items", 4)
        return invoke_plain(*common, "--seeds", 1, *words)

    def invoke_plain(*words: Any) -> Any:
        return CliRunner().invoke(evaluate, [str(word) for word in words])

    told = invoke("--condition", "cgsv", "--feedback", "verdict", "--out", tmp_path / "c")
    assert told.exit_code == 0, told.output
    assert "cgsv-verdict-2" in told.output and "first → last answer" in told.output
    again = invoke_plain("--log", tmp_path / "c" / "logs")
    assert again.output == told.output[: told.output.index("every chain")]
    told = invoke("--condition", "reprompt", "--match", tmp_path / "c", "--out", tmp_path / "r")
    assert told.exit_code == 0 and "reprompt-shuffled-2" in told.output, told.output
    told = invoke("--feedback", "reason", "--out", tmp_path / "p")
    assert isinstance(told.exception, MatPCRError) and "plain" in str(told.exception)


# Transcripts


def test_transcripts_without_rounds_are_read_as_first_answers(tmp_path: Path) -> None:
    done = run.evaluate("matpcr/chance", "stability", n_items=3, seeds=1, out=tmp_path)
    old = done.table[list(transcripts.COLUMNS)].drop(columns=["round", "message"])
    for suffix, write in ((".parquet", old.to_parquet), (".csv", old.to_csv)):
        write(tmp_path / f"old{suffix}", index=False)
        read = transcripts.read_chains(tmp_path / f"old{suffix}")
        assert set(read["round"]) == {0} and set(read["message"]) == {""}
        assert len(results.summary(results.judge(read))) == 1
    judged = results.judge(old)
    pd.testing.assert_frame_equal(results.final(judged), judged)
    pd.testing.assert_frame_equal(results.first(judged), judged)


def test_conversations_are_read_back_whole(tmp_path: Path) -> None:
    done = run_of(Standin(second_thoughts), tmp_path / "run")
    read = transcripts.read_chains(tmp_path / "run" / "transcripts.parquet")
    pd.testing.assert_frame_equal(results.judge(read), done.table)
    pd.testing.assert_frame_equal(results.from_logs([tmp_path / "run" / "logs"]), done.table)
    twice = pd.concat([read, read.tail(1)])
    twice.to_parquet(tmp_path / "twice.parquet", index=False)
    with pytest.raises(MatPCRError, match="appears twice"):
        transcripts.read_chains(tmp_path / "twice.parquet")


def test_first_and_final_answers(tmp_path: Path) -> None:
    table = run_of(Standin(second_thoughts), tmp_path).table.sample(frac=1, random_state=0)
    first, last = results.first(table), results.final(table)
    assert set(first["round"]) == {0} and len(first) == len(last) == 8
    longest = table.groupby("item_id")["round"].max()
    assert (last.set_index("item_id")["round"].sort_index() == longest.sort_index()).all()
    counted = results.summary(table)
    assert counted["n"].tolist() == [(last["outcome"] != "abstain").sum()]
    assert len(results.final(table.head(0))) == 0
