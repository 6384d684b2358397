"""One model, one table: its recorded answers judged anew, or the model asked now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matpcr_utils import items
from matpcr_utils.errors import MatPCRError
from matpcr_utils.evaluation import catalog, recorded, results, run
from matpcr_utils.items.model import MODALITY

if TYPE_CHECKING:
    import pandas as pd
    from inspect_ai.model import Model


@dataclass(frozen=True)
class Study:
    """The judged answers of one model.

    Attributes
    ----------
    table : DataFrame
        One row a chain; see `results.judge`.
    summary : DataFrame
        One row a cell; see `results.summary`.
    source : str
        One sentence: which recordings were judged, or which run was made, and where it is kept.
    """

    table: pd.DataFrame
    summary: pd.DataFrame
    source: str

    @property
    def unsupported(self) -> tuple[str, ...]:
        """Constraint types of which no item was asked, because the model reads no images."""
        left_out = self.table.groupby("constraint", sort=False)["unsupported"].all()
        return tuple(str(name) for name, unasked in left_out.items() if unasked)


def study(
    model: str | Model,
    constraints: str | Sequence[str] = "all",
    *,
    n_items: int = items.DEFAULT_N,
    seeds: int = 3,
    prompt_version: str = "v1",
    modality: str | None = None,
    examples: int | None = None,
    live: bool = False,
    out: str | Path | None = None,
) -> Study:
    """Judge a model's recorded answers if they are all there, else ask the model.

    Parameters
    ----------
    model : str or Model
        As Inspect AI names it. Only a name can have recorded answers.
    constraints : str or sequence of str
        ``"all"``, one constraint type, or several, in one text with commas between them or not.
    n_items, seeds : int
        Items a constraint type, and answers an item.
    prompt_version, modality
        How it is asked; see `items.prompt`. Without a modality, each item as the paper poses it.
    examples : int, optional
        Worked examples before the question; default, as recorded, and none for a model that is
        asked now.
    live : bool
        Ask the model even if its answers are recorded.
    out : path, optional
        Folder of the run, in which one that was broken off goes on; default, one of the model's
        name and, if given, the modality, in ``_build/evaluations``.

    Raises
    ------
    MatPCRError
        If a parameter lies outside its range, or the model has to be asked and can't be.
    """
    names = named(constraints)
    if seeds < 1 or (examples is not None and examples < 0):
        raise MatPCRError(
            f"seeds = {seeds} must be at least 1 and examples = {examples} at least 0"
        )
    if isinstance(model, str) and not live:
        frame = _recorded(model, names, n_items, seeds, prompt_version, modality, examples)
        if frame is not None:
            table = results.judge(frame)
            return Study(table, results.summary(table), _recorded_source(frame))
    if out is None and modality is not None:
        # The tables of a run replace those of the last one in the same folder.
        out = f"{run.default_folder(str(model))}-{modality}"
    done = run.evaluate(
        model,
        names,
        out=out,
        n_items=n_items,
        seeds=seeds,
        prompt_version=prompt_version,
        modality=modality,
        examples=examples or 0,
    )
    return Study(done.table, done.summary, _live_source(str(model), done))


def named(constraints: str | Sequence[str]) -> tuple[str, ...]:
    """The constraint types that are meant by ``"all"``, a name, several with commas, or a list.

    Raises
    ------
    MatPCRError
        If one is unknown or none is named.
    """
    given = constraints.split(",") if isinstance(constraints, str) else constraints
    return run.constraints_of([name.strip() for name in given])


def _recorded(
    model: str,
    names: Sequence[str],
    n_items: int,
    seeds: int,
    prompt_version: str,
    modality: str | None,
    examples: int | None,
) -> pd.DataFrame | None:
    """The recorded transcripts if they hold each item and seed that is asked for, else None."""
    if model not in recorded.models():
        return None
    wanted = {
        (item_id, seed)
        for name in names
        for item_id in catalog.load(name, n_items)
        for seed in range(seeds)
    }
    frame = recorded.load(
        model,
        names,
        n_items=n_items,
        seeds=seeds,
        prompt_version=prompt_version,
        modality=modality,
    )
    kept = frame["condition"] == "plain"
    if examples is not None:
        kept &= frame["examples"] == examples
    frame = frame[kept].reset_index(drop=True)
    return frame if set(zip(frame["item_id"], frame["seed"], strict=True)) == wanted else None


def _recorded_source(frame: pd.DataFrame) -> str:
    parts = []
    for recording in recorded.RECORDINGS:
        shown = recording.modality or frame["constraint"].map(MODALITY)
        own = frame[
            (frame["model"] == recording.model)
            & (frame["prompt_version"] == recording.prompt_version)
            & frame["constraint"].isin(recording.constraints)
            & (frame["modality"] == shown)
        ]
        if len(own):
            parts.append(f"{recording.name} ({_when(own)}; {_runs(own)})")
    return f"Recorded answers, judged now: {', '.join(parts)}."


def _live_source(model: str, done: run.Evaluation) -> str:
    table = done.table
    told = f"{model} was asked, {_when(table)}: {_runs(table)}, kept in {done.folder}"
    failed = int((table["error"] != "").sum())
    if failed or not done.complete:
        told += f"; {failed} of {len(table)} requests failed, the same call asks them again"
    return f"{told}."


def _when(frame: pd.DataFrame) -> str:
    days = sorted(frame["created"].str[:10].unique())
    return days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"


def _runs(frame: pd.DataFrame) -> str:
    ids: list[Any] = sorted(frame["run_id"].unique())
    return f"run {', '.join(ids)}" if len(ids) == 1 else f"runs {', '.join(ids)}"
