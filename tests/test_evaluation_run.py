"""Runs that are broken off and taken up; the command line; the roster."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner

from matpcr_utils.cli_evaluate import evaluate
from matpcr_utils.errors import MatPCRError
from matpcr_utils.evaluation import results, roster, run, transcripts
from matpcr_utils.evaluation.evaluees import smollm2

SCRIPT = Path(__file__).with_name("evaluation_run.py")
#: What names a run and not its result.
OF_THE_RUN = ["run_id", "created"]


def counted_run(folder: Path, counted: Path, dies_at: int = 0) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), str(folder), str(counted), str(dies_at)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def test_a_killed_run_goes_on_and_pays_nothing_twice(tmp_path: Path) -> None:
    folder, counted = tmp_path / "killed", tmp_path / "calls"
    first = counted_run(folder, counted, dies_at=9)
    assert first.returncode == -9 and len(counted.read_text().splitlines()) == 9
    assert not (folder / "results.csv").exists()
    second = counted_run(folder, counted)
    assert second.returncode == 0, second.stderr
    calls = Counter(counted.read_text().splitlines())
    # Two constraint types of six items, two seeds.
    assert len(calls) == 12 and set(calls.values()) == {2}

    whole = counted_run(tmp_path / "whole", tmp_path / "other")
    assert whole.returncode == 0, whole.stderr
    ours = pd.read_csv(folder / "results.csv").drop(columns=OF_THE_RUN)
    pd.testing.assert_frame_equal(
        ours, pd.read_csv(tmp_path / "whole" / "results.csv").drop(columns=OF_THE_RUN)
    )
    assert (folder / "summary.csv").read_bytes() == (
        tmp_path / "whole" / "summary.csv"
    ).read_bytes()


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> run.Evaluation:
    """The chance evaluee on two constraint types."""
    return run.evaluate(
        "matpcr/chance",
        ("stability", "metallicity"),
        n_items=8,
        seeds=3,
        out=tmp_path_factory.mktemp("runs") / "chance",
    )


def test_the_table_names_item_source_seed_and_verdict(done: run.Evaluation) -> None:
    table = done.table
    assert len(table) == 2 * 8 * 3
    assert not table.duplicated(["item_id", "seed"]).any()
    assert set(table["seed"]) == {0, 1, 2}
    assert set(table.columns) == {*transcripts.COLUMNS, *results.VERDICT_COLUMNS}
    row = table.iloc[0]
    assert row["source_id"] in row["item_id"]
    assert row["model"] == "matpcr/chance" and row["condition"] == "plain"
    assert '"matpcr-utils"' in row["versions"] and '"scipy"' in row["versions"]


def test_the_summary_agrees_with_the_table(done: run.Evaluation) -> None:
    for cell in done.summary.to_dict("records"):
        rows = done.table[done.table["constraint"] == cell["constraint"]]
        judged = rows[rows["outcome"] != "abstain"]
        assert cell["n"] == len(judged)
        assert cell["pcr"] == pytest.approx((judged["outcome"] == "consistent").mean())
        assert cell["n_sources"] == judged["source_id"].nunique()
        assert cell["lower"] <= cell["pcr"] <= cell["upper"]
        assert cell["coverage"] == pytest.approx(len(judged) / len(rows))
        assert cell["accuracy"] == pytest.approx(rows["accurate"].dropna().astype(float).mean())
        assert 0.3 < cell["chance"] < 0.7


def test_scores_of_the_log_are_the_table_s_verdicts(done: run.Evaluation) -> None:
    from inspect_ai.log import list_eval_logs, read_eval_log

    scores = {}
    for info in list_eval_logs(str(done.folder / "logs")):
        for sample in read_eval_log(info.name).samples or []:
            scores[sample.id, sample.epoch - 1] = sample.scores["oracle"].value
    table = done.table.set_index(["item_id", "seed"])["outcome"]
    assert scores == table.to_dict()


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_plain_chains_get_the_verdicts_of_the_log(
    done: run.Evaluation, tmp_path: Path, suffix: str
) -> None:
    plain = done.table[["item_id", "model", "seed", "chain"]].sample(frac=1, random_state=1)
    path = tmp_path / f"chains{suffix}"
    if suffix == ".csv":
        plain.to_csv(path, index=False)
    elif suffix == ".jsonl":
        plain.to_json(path, orient="records", lines=True, force_ascii=False)
    else:
        plain.to_parquet(path, index=False)
    ours = results.from_chains(path)
    logged = results.from_logs([done.folder / "logs"])
    keys = ["item_id", "model", "seed", *results.VERDICT_COLUMNS]
    pd.testing.assert_frame_equal(
        ours[keys].sort_values(keys[:3], ignore_index=True),
        logged[keys].sort_values(keys[:3], ignore_index=True),
    )


def test_transcripts_are_judged_as_when_they_were_made(
    done: run.Evaluation, tmp_path: Path
) -> None:
    frame = transcripts.read_chains(done.folder / "transcripts.parquet")
    pd.testing.assert_frame_equal(results.judge(frame), done.table)
    transcripts.write(frame, tmp_path / "again.parquet")
    assert (tmp_path / "again.parquet").read_bytes() == (
        done.folder / "transcripts.parquet"
    ).read_bytes()


def test_tolerances_change_verdicts_without_a_new_run(done: run.Evaluation) -> None:
    from matpcr_utils.oracles import stability

    loose = {"stability": stability.Tolerances(near_hull=10.0)}
    again = results.judge(done.table[list(transcripts.COLUMNS)], loose)
    stable = again["value"] == "stable"
    assert stable.any() and (again[stable]["outcome"] == "consistent").all()


def test_a_finished_run_is_not_repeated(done: run.Evaluation) -> None:
    again = run.evaluate(
        "matpcr/chance", ("stability", "metallicity"), n_items=8, seeds=3, out=done.folder
    )
    pd.testing.assert_frame_equal(again.table, done.table)


def test_images_for_a_model_that_reads_none_are_not_asked(tmp_path: Path) -> None:
    # Not asked, so that its weights are not fetched either.
    found = run.evaluate("matpcr/smollm2", "spectra", n_items=2, seeds=1, out=tmp_path)
    assert found.complete and found.table["unsupported"].all()
    assert set(found.table["reason"]) == {"unsupported"}
    assert found.summary["n"].tolist() == [0] and found.summary["coverage"].isna().all()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("item_id,model\nstability-mp-1,x\n", "no column 'chain'"),
        ("item_id,model,chain,mood\nstability-mp-1,x,y,z\n", "unknown column 'mood'"),
        ("item_id,model,seed,chain\na,x,0,y\na,x,0,z\n", "appears twice"),
    ],
)
def test_bad_chain_files_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "chains.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(MatPCRError, match=message):
        transcripts.read_chains(path)


def test_other_bad_input_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MatPCRError, match="no file"):
        transcripts.read_chains(tmp_path / "none.csv")
    (tmp_path / "chains.txt").write_text("x")
    with pytest.raises(MatPCRError, match="ends in none"):
        transcripts.read_chains(tmp_path / "chains.txt")
    (tmp_path / "bad.jsonl").write_text("{]\n")
    with pytest.raises(MatPCRError, match="line 1 is no JSON"):
        transcripts.read_chains(tmp_path / "bad.jsonl")
    (tmp_path / "unknown.jsonl").write_text('{"item_id": "stability-x", "model": "m", "chain": ""}')
    with pytest.raises(MatPCRError, match="no item"):
        results.from_chains(tmp_path / "unknown.jsonl")
    (tmp_path / "not.eval").write_text("x")
    with pytest.raises(MatPCRError, match="no Inspect log"):
        results.from_logs([tmp_path / "not.eval"])
    with pytest.raises(MatPCRError, match="no log"):
        results.from_logs([tmp_path / "nowhere"])
    with pytest.raises(MatPCRError, match="unknown constraint 'colour'"):
        run.evaluate("matpcr/chance", "colour", out=tmp_path)
    with pytest.raises(MatPCRError, match="seeds = 0"):
        run.evaluate("matpcr/chance", "stability", seeds=0, out=tmp_path)
    with pytest.raises(MatPCRError, match="nosuch/model can't be used"):
        run.evaluate("nosuch/model", "stability", out=tmp_path)


def test_a_missing_key_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(MatPCRError, match="OPENAI_API_KEY") as error:
        run.evaluate("openai/gpt-4o", "stability", n_items=1, out=tmp_path)
    assert "\n" not in str(error.value) and "[bold]" not in str(error.value)


# The command line


def invoke(*words: Any) -> Any:
    return CliRunner().invoke(evaluate, [str(word) for word in words])


def test_the_command_prints_the_rates(tmp_path: Path) -> None:
    told = invoke(
        *("--model", "matpcr/guesser", "--constraint", "stability", "--n-items", 6),
        *("--seeds", 1, "--out", tmp_path),
    )
    assert told.exit_code == 0, told.output
    for word in ("PCR", "coverage", "accuracy", "chance", "matpcr/guesser", "stability"):
        assert word in told.output
    assert (tmp_path / "transcripts.parquet").is_file()
    # What was run is judged again from its log, and from its transcripts.
    rates = told.output.split("stability")[1].splitlines()[0]
    for judged in (
        invoke("--log", tmp_path / "logs"),
        invoke("--chains", tmp_path / "transcripts.parquet"),
    ):
        assert judged.exit_code == 0, judged.output
        assert rates in judged.output


def test_the_command_wants_one_thing_to_judge() -> None:
    told = invoke()
    assert isinstance(told.exception, MatPCRError)
    assert "--model, --chains and --log" in str(told.exception)


# The roster


def test_the_roster_is_complete() -> None:
    entries = roster.load()
    paper = [entry for entry in entries if entry.paper_pass != "domain"]
    assert len(paper) == 9
    passes = [entry.paper_pass for entry in paper]
    assert (passes.count("original"), passes.count("refresh"), passes.count("third")) == (4, 4, 1)
    named = {entry.name for entry in entries if entry.name}
    assert named == {
        *("GPT-4o", "Claude Opus 4.6", "GPT-5.6-Terra", "GPT-5.6-Sol", "MatterChat"),
        *("Qwen3-VL-8B-Instruct", "Qwen3-VL-8B-Thinking"),
    }
    for entry in entries:
        assert (entry.model is None) == (entry.command is None)
        # What is not known is said.
        assert entry.command or entry.note
        assert entry.cutoff is None or len(entry.cutoff) == 7
        assert entry.cutoff_kind and entry.cutoff_source and entry.needs
    assert roster.reads_images("openai/gpt-4o") is True
    assert roster.reads_images("openai-api/local/test") is None


@pytest.mark.parametrize("entry", [e for e in roster.load() if e.command], ids=lambda e: e.name)
def test_the_roster_s_commands_parse(entry: roster.Entry) -> None:
    assert entry.command is not None
    program, command, *words = entry.command.split()
    assert (program, command) == ("matpcr", "evaluate")
    context = evaluate.make_context("evaluate", words)
    assert context.params["model"] == entry.model
    assert run.constraints_of(context.params["constraints"])
    assert context.params["seeds"] == 3


# The small model


@pytest.mark.network
def test_the_small_model_repeats_itself() -> None:
    pytest.importorskip("xllamacpp")
    from inspect_ai.model import GenerateConfig

    from matpcr_utils.evaluation.question import Question

    try:
        smollm2.weights()
    except MatPCRError as error:
        pytest.skip(str(error))
    model = smollm2.create(max_tokens=12)
    said = [
        model.answer(Question("Is NaCl stable?", None, seed), GenerateConfig()).text
        for seed in (0, 1, 0, 1)
    ]
    assert said[0] == said[2] and said[1] == said[3] and said[0]


# Inspect's own command


@pytest.mark.parametrize(
    ("solver", "condition"),
    [
        ((), "plain"),
        (("--solver", "matpcr/cgsv", "-S", "feedback=verdict"), "cgsv-verdict-2"),
    ],
)
def test_inspect_finds_tasks_solvers_and_models_by_the_entry_point(
    tmp_path: Path, solver: tuple[str, ...], condition: str
) -> None:
    import os

    import matpcr_utils

    # An installation's metadata, as the build makes it of `[project.entry-points.inspect_ai]`.
    metadata = tmp_path / "entry_point-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: entry-point\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text(
        "[inspect_ai]\nmatpcr = matpcr_utils.evaluation._registry\n"
    )
    root = Path(matpcr_utils.__file__).parents[1]
    command = [
        *(sys.executable, "-m", "inspect_ai", "eval", "matpcr/stability"),
        *("--model", "matpcr/guesser", "-T", "n_items=3", "--epochs", "2"),
        *("--display", "plain", "--log-dir", str(tmp_path / "logs")),
        *solver,
    ]
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{root}"}
    told = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert told.returncode == 0, told.stdout + told.stderr
    table = results.from_logs([tmp_path / "logs"])
    assert set(table["condition"]) == {condition} and set(table["value"]) <= {"stable", "0"}
    assert len(results.final(table)) == 6
