"""The recorded answers: whole, traceable, asked as today, and given again."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from matpcr_utils import items
from matpcr_utils.cli import main
from matpcr_utils.errors import MatPCRError
from matpcr_utils.evaluation import catalog, recorded, results, run, transcripts
from matpcr_utils.evaluation.recorded import RECORDINGS, Recording

by_recording = pytest.mark.parametrize("recording", RECORDINGS, ids=lambda one: one.name)


@by_recording
def test_a_recording_is_whole(recording: Recording) -> None:
    frame = pd.read_parquet(recording.path)
    # Recordings made before conversations had rounds are read as round 0.
    later = {"round", "message"} - set(frame.columns)
    assert list(frame.columns) == [name for name in transcripts.COLUMNS if name not in later]
    wanted = {
        (item_id, seed)
        for constraint in recording.constraints
        for item_id in catalog.load(constraint, items.DEFAULT_N)
        for seed in range(recording.seeds)
    }
    assert len(frame) == len(wanted)
    assert set(zip(frame["item_id"], frame["seed"], strict=True)) == wanted
    assert set(frame["model"]) == {recording.model}
    assert set(frame["examples"]) == {recording.examples}
    assert not frame["error"].any()
    assert (frame["unsupported"] | (frame["chain"] != "")).all()


@by_recording
def test_a_recording_says_where_it_comes_from(recording: Recording) -> None:
    frame = pd.read_parquet(recording.path)
    assert frame["run_id"].str.len().gt(10).all()
    assert frame["created"].str.match(r"20\d\d-\d\d-\d\dT").all()
    for versions in frame["versions"].unique():
        assert {"matpcr-utils", "inspect-ai", "pymatgen"} <= set(json.loads(versions))
    asked = frame[~frame["unsupported"]]
    if recording.model == "matpcr/smollm2" and len(asked):
        settings = pd.DataFrame([json.loads(text) for text in asked["settings"]])
        assert settings["weights_sha256"].str.startswith("b179c9523d0e6a0f").all()
        assert (settings["seed"].to_numpy() == asked["seed"].to_numpy()).all()
        greedy = settings["temperature"] == 0
        assert (greedy.to_numpy() == (asked["seed"] == 0).to_numpy()).all()
        assert (asked["input_tokens"] > 0).all()


@by_recording
def test_the_items_are_asked_as_when_they_were_recorded(recording: Recording) -> None:
    frame = pd.read_parquet(recording.path)
    for row in frame.drop_duplicates("item_id").to_dict("records"):
        item = catalog.get(row["item_id"])
        words = items.prompt(item, row["prompt_version"], row["modality"], row["examples"])
        assert row["prompt_sha256"] == transcripts.prompt_sha256(words), row["item_id"]


def test_images_were_not_shown_to_the_model_that_reads_none() -> None:
    frame = pd.read_parquet(recorded.get("smollm2-image").path)
    assert frame["unsupported"].all() and not frame["chain"].any()


@pytest.mark.parametrize(
    ("model", "constraint", "modality"),
    [
        ("matpcr/instrument", "all", None),
        ("matpcr/instrument", ("diffraction", "microscopy", "spectra"), "text"),
        ("matpcr/guesser", ("stability", "microscopy"), None),
        ("matpcr/chance", "all", None),
    ],
)
def test_a_new_run_gives_the_recorded_answers(
    model: str, constraint: str | tuple[str, ...], modality: str | None, tmp_path: Path
) -> None:
    done = run.evaluate(
        model, constraint, n_items=3, seeds=2, modality=modality, out=tmp_path / "run"
    )
    beside = recorded.compare(done.table)
    assert len(beside) == len(done.table)
    assert beside["same"].all(), beside[~beside["same"]].to_string()
    again = recorded.load(model, constraint, n_items=3, seeds=2, modality=modality)
    pd.testing.assert_frame_equal(results.summary(results.judge(again)), done.summary)


def test_what_is_loaded_can_be_chosen() -> None:
    frame = recorded.load("matpcr/chance", ("spectra", "stability"), n_items=4, seeds=2)
    assert set(frame["constraint"]) == {"spectra", "stability"}
    assert len(frame) == 2 * 4 * 2 and set(frame["seed"]) == {0, 1}
    assert set(frame["modality"]) == {"image", "text"}
    words = recorded.load("matpcr/chance", "spectra", modality="text")
    assert set(words["modality"]) == {"text"} and set(words["constraint"]) == {"spectra"}
    assert not len(recorded.load("matpcr/chance", prompt_version="v9"))
    assert not len(recorded.load("matpcr/chance", condition="refine-2"))
    assert set(recorded.load(seeds=1, n_items=1)["model"]) == set(recorded.models())


def test_unknown_models_and_recordings_are_refused() -> None:
    with pytest.raises(MatPCRError, match=r"no answers of openai/gpt-4o are recorded.*evaluate"):
        recorded.load("openai/gpt-4o")
    with pytest.raises(MatPCRError, match="no recording 'nothing'"):
        recorded.get("nothing")
    with pytest.raises(MatPCRError, match="unknown constraint 'alchemy'"):
        recorded.load("matpcr/chance", "alchemy")


def test_every_recording_has_the_command_that_made_it() -> None:
    assert (
        recorded.get("instrument").command == "matpcr evaluate --model matpcr/instrument --seeds 3"
    )
    assert recorded.get("smollm2").command == (
        "matpcr evaluate --model matpcr/smollm2 --constraint stability --constraint metallicity "
        "--constraint magnetism --seeds 3 --examples 3"
    )
    table = recorded.overview()
    assert list(table["recording"]) == [one.name for one in RECORDINGS]
    assert (table["items"] >= 90).all() and table["runs"].all()


def test_a_recording_that_is_made_again_replaces_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = Recording("guesser", "matpcr/guesser", ("stability",), seeds=1)
    monkeypatch.setattr(recorded, "RECORDINGS", (small,))
    monkeypatch.setattr(Recording, "path", property(lambda self: tmp_path / f"{self.name}.parquet"))
    assert recorded.record("guesser", tmp_path / "run") == tmp_path / "guesser.parquet"
    frame = pd.read_parquet(tmp_path / "guesser.parquet")
    assert len(frame) == items.DEFAULT_N and set(frame["model"]) == {"matpcr/guesser"}


def test_a_recording_with_a_missing_answer_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = Recording("guesser", "mockllm/model", ("stability",), seeds=1)
    monkeypatch.setattr(recorded, "RECORDINGS", (small,))
    monkeypatch.setattr(Recording, "path", property(lambda self: tmp_path / f"{self.name}.parquet"))
    table = results.judge(recorded_rows(tmp_path))
    table.loc[0, "error"] = "server gone"
    broken = run.Evaluation(table, results.summary(table), True, tmp_path)
    monkeypatch.setattr(run, "evaluate", lambda *args, **options: broken)
    with pytest.raises(MatPCRError, match="1 answers are missing"):
        recorded.record("guesser")
    assert not (tmp_path / "guesser.parquet").exists()


def recorded_rows(folder: Path) -> pd.DataFrame:
    """Two answers of the guesser, as a run leaves them."""
    return run.evaluate(
        "matpcr/guesser", "stability", n_items=2, seeds=1, out=folder / "two"
    ).table[list(transcripts.COLUMNS)]


# The command line


def matpcr(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(main, [str(a) for a in arguments])
    return done.exit_code, done.output


def test_recordings_are_listed() -> None:
    code, said = matpcr("transcripts", "show")
    assert code == 0
    for recording in RECORDINGS:
        assert f"{recording.name}: " in said and recording.command in said


def test_a_run_is_compared_with_the_recording(tmp_path: Path) -> None:
    rows = recorded_rows(tmp_path)
    code, said = matpcr("transcripts", "compare", tmp_path / "two")
    assert (code, said) == (0, "2 of 2 answers as recorded\n")

    changed = rows.assign(chain=["This phase is unheard of.", *rows["chain"][1:]])
    transcripts.write(changed, tmp_path / "changed.parquet")
    code, said = matpcr("transcripts", "compare", tmp_path / "changed.parquet")
    assert code == 1
    assert f"{rows['item_id'][0]}, seed 0, differs:" in said and "unheard of" in said
    assert said.endswith("1 of 2 answers as recorded\n")

    transcripts.write(rows.assign(model="openai/gpt-4o"), tmp_path / "other.parquet")
    code, said = matpcr("transcripts", "compare", tmp_path / "other.parquet")
    assert code == 2 and "holds no answer that is recorded" in said
