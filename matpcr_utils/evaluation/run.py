"""A whole evaluation: the six tasks on one model, kept in a folder, so that it can be taken up.

Running, retries, logs and the cache of answers are Inspect AI's. Every answer goes into the
folder's cache when it arrives, and Inspect reuses the finished samples of its logs: after an
interruption the same call goes on where it stopped, and asks only for answers that never arrived.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matpcr_utils.claims.model import CONSTRAINTS
from matpcr_utils.errors import MatPCRError

if TYPE_CHECKING:
    import pandas as pd
    from inspect_ai.model import Model

#: Attempts after a refused or failed request, with waits that double from 3 s.
MAX_RETRIES = 5


@dataclass(frozen=True)
class Evaluation:
    """What a run gave.

    Attributes
    ----------
    table : DataFrame
        One row an answer; see `results.judge`.
    summary : DataFrame
        One row a cell; see `results.summary`.
    complete : bool
        Whether every sample was answered. If not, the same call asks the missing ones again.
    folder : Path
        Holds ``logs``, ``cache``, ``transcripts.parquet``, ``results.csv`` and ``summary.csv``.
    """

    table: pd.DataFrame
    summary: pd.DataFrame
    complete: bool
    folder: Path


def evaluate(
    model: str | Model,
    constraint: str | Sequence[str] = "all",
    *,
    out: str | Path | None = None,
    n_items: int | None = None,
    seeds: int = 3,
    items_seed: int = 0,
    prompt_version: str = "v1",
    modality: str | None = None,
    examples: int = 0,
    condition: str = "plain",
    rounds: int | None = None,
    feedback: str | None = None,
    match: str | Path | None = None,
    allocation: str | None = None,
    display: str = "none",
    max_retries: int = MAX_RETRIES,
    model_args: Mapping[str, Any] | None = None,
    base_url: str | None = None,
) -> Evaluation:
    """Ask a model the items of one or more constraint types, and judge its answers.

    Parameters
    ----------
    model : str or Model
        As Inspect AI names it, e.g. ``"openai/gpt-4o"`` or ``"matpcr/instrument"``.
    constraint : str or sequence of str
        Constraint types, or ``"all"``.
    out : path, optional
        Folder of the run; default, one of the model's and the condition's name in
        ``_build/evaluations``. A run that was broken off in it goes on.
    n_items, items_seed : int
        Which items, a constraint type; see `items.load`.
    seeds : int
        Answers an item (Inspect's epochs).
    prompt_version, modality, examples
        How it is asked; see `items.prompt`. Without a modality, each item as the paper poses it.
    condition : {"plain", "cgsv", "refine", "reprompt"}
        Whether and how follow-ups are put; see `cgsv`.
    rounds : int, optional
        Follow-ups an item, at most; default 2. Not of ``plain``.
    feedback : {"verdict", "reason", "reference"}, optional
        Of ``cgsv``: how much is told; default ``reason``.
    match : path, optional
        Of ``reprompt``: folder of the CGSV run that spent what this one shall spend.
    allocation : {"shuffled", "same"}, optional
        Of ``reprompt`` with a match: which items get the follow-ups; default ``shuffled``.
    display : {"none", "rich", "plain", "full", "log"}
        How Inspect shows its progress.
    max_retries : int
        Of one request that is refused for now (429) or fails (500).
    model_args, base_url
        For the provider.

    Raises
    ------
    MatPCRError
        If a parameter lies outside its range or the model can't be made.
    """
    from inspect_ai import eval_set
    from inspect_ai._util.error import PrerequisiteError

    from matpcr_utils.evaluation import (
        _registry,  # noqa: F401 (registers without an entry point, too)
        budget,
        results,
        transcripts,
    )
    from matpcr_utils.evaluation.conditions import Condition
    from matpcr_utils.evaluation.solver import cache_policy

    # What is mistyped shows before the items are made, which takes a while.
    way = Condition.make(
        condition, rounds=rounds, feedback=feedback, match=match, allocation=allocation
    )
    solver = way.solver()
    names, made = constraints_of(constraint), _made(model, model_args, base_url)
    tasks = _tasks(names, seeds, n_items, items_seed, prompt_version, modality, examples)
    if way.match is not None:
        plan = budget.read(way.match, way.allocation, way.rounds)
        asked = [(str(s.id), seed) for t in tasks for s in t.dataset for seed in range(seeds)]
        plan.require(str(made), prompt_version, examples, asked)
    folder = Path(out) if out is not None else default_folder(str(model), way.name)
    with _cache_in(folder / "cache"):
        try:
            complete, logs = eval_set(
                tasks,
                log_dir=str(folder / "logs"),
                # What fails here was retried by the provider; the next call tries again.
                retry_attempts=0,
                retry_immediate=False,
                # Logs of other settings stay beside: the folder may grow.
                log_dir_allow_dirty=True,
                continue_on_fail=True,
                epochs=seeds,
                model=made,
                solver=solver,
                display=display,  # type: ignore[arg-type]
                log_level="error",
                ctl_server=False,
                cache=cache_policy(),
                max_retries=max_retries,
            )
        except PrerequisiteError as error:
            raise MatPCRError(_plain(error)) from error
    frame = transcripts.from_logs(log.location for log in logs)
    table = results.judge(frame)
    summary = results.summary(table)
    transcripts.write(frame, folder / "transcripts.parquet")
    _write_csv(table, folder / "results.csv")
    _write_csv(summary, folder / "summary.csv")
    return Evaluation(table, summary, bool(complete), folder)


def default_folder(model: str, condition: str = "plain") -> Path:
    """Where a run of a model under a condition (its name) is kept unless said otherwise."""
    name = model if condition == "plain" else f"{model}-{condition}"
    return Path("_build/evaluations") / name.replace("/", "-").replace(":", "-")


def constraints_of(constraint: str | Sequence[str]) -> tuple[str, ...]:
    """The constraint types that are meant.

    Raises
    ------
    MatPCRError
        If one is unknown or none is named.
    """
    names = (constraint,) if isinstance(constraint, str) else tuple(constraint)
    names = tuple(CONSTRAINTS) if names == ("all",) else tuple(dict.fromkeys(names))
    unknown = [name for name in names if name not in CONSTRAINTS]
    if unknown or not names:
        raise MatPCRError(
            f"unknown constraint {', '.join(map(repr, unknown)) or 'list of none'}: "
            f"choose all, or of {', '.join(CONSTRAINTS)}"
        )
    return names


def _tasks(
    constraints: Sequence[str],
    seeds: int,
    n_items: int | None,
    items_seed: int,
    prompt_version: str,
    modality: str | None,
    examples: int,
) -> list[Any]:
    from matpcr_utils import items
    from matpcr_utils.evaluation.tasks import TASKS

    if seeds < 1:
        raise MatPCRError(f"seeds = {seeds} must be at least 1")
    return [
        TASKS[name](
            n_items=items.DEFAULT_N if n_items is None else n_items,
            seed=items_seed,
            prompt_version=prompt_version,
            modality=modality,
            examples=examples,
        )
        for name in constraints
    ]


def _made(model: str | Model, args: Mapping[str, Any] | None, base_url: str | None) -> Model:
    """The model; what keeps it from being made is said in one line."""
    from inspect_ai._util.error import PrerequisiteError
    from inspect_ai.model import get_model

    if not isinstance(model, str):
        return model
    try:
        return get_model(model, base_url=base_url, **(args or {}))
    except (PrerequisiteError, ValueError, ImportError) as error:
        if isinstance(error, MatPCRError):
            raise
        raise MatPCRError(f"model {model} can't be used: {_plain(error)}") from error


def _plain(error: BaseException) -> str:
    """An error of Inspect's in one line, without its markup."""
    from rich.text import Text

    words = getattr(error, "message", None) or str(error)
    return " ".join(Text.from_markup(str(words)).plain.split()).removeprefix("ERROR: ")


@contextmanager
def _cache_in(folder: Path) -> Iterator[None]:
    """Inspect's cache of answers in a folder of the run's own."""
    name = "INSPECT_CACHE_DIR"
    before = os.environ.get(name)
    os.environ[name] = str(folder.resolve())
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def _write_csv(frame: pd.DataFrame, path: Path) -> None:
    from matpcr_utils.references import store

    store.write_bytes(path, frame.to_csv(index=False).encode("utf-8"))
