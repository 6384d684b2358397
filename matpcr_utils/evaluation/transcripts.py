"""What was asked and answered, without a verdict: one row an answer, with all that made it.

An item that is asked once with a seed has one row. Where follow-ups were put (`conditions`), each
answer of the conversation is a row of its own, a ``round``.

Transcripts are what a run leaves for good. They are judged anew whenever they are read (`results`),
so that a change of an oracle or of a tolerance shows at once, and no model is asked again.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.request import url2pathname

from matpcr_utils.errors import MatPCRError
from matpcr_utils.evaluation.conditions import Condition

if TYPE_CHECKING:
    import pandas as pd
    from inspect_ai.log import EvalError, EvalLog, EvalSample

#: Columns, in order, and what they hold where a source does not say.
COLUMNS: dict[str, Any] = {
    "item_id": None,  # as `items.get` takes it
    "constraint": "",
    "model": "",  # provider/model
    "seed": 0,  # 0, 1, 2: Inspect's epoch less one
    "condition": "plain",  # how it was asked; see `conditions`
    "round": 0,  # of the answer: 0 is the first, 1 the first revision ...
    "prompt_version": "",
    "modality": "",  # what was shown: image or text
    "examples": 0,  # worked examples before the question
    "n_items": 0,
    "items_seed": 0,
    "prompt_sha256": "",  # first 16 digits, of the words that were asked; the image is not in it
    "message": "",  # the follow-up that this answers; empty in round 0
    "chain": "",  # the answer
    "reasoning": "",  # thoughts that the provider returned apart; not judged
    "stop_reason": "",  # stop, max_tokens, content_filter ...
    "unsupported": False,  # an image for a model that reads none: not asked
    "error": "",
    "input_tokens": 0,
    "output_tokens": 0,
    "settings": "{}",  # JSON: generation settings and arguments of the model
    "versions": "{}",  # JSON: packages
    "run_id": "",
    "created": "",  # ISO 8601
}
_REQUIRED = ("item_id", "model", "chain")
_PACKAGES = (
    *("matpcr-utils", "inspect-ai", "openai", "xllamacpp", "pymatgen"),
    *("numpy", "scipy", "scikit-image", "rapidocr", "onnxruntime", "matplotlib"),
)
#: The line of a traceback that names an exception.
_RAISED = re.compile(r"^[\w.]+(?:Error|Exception|Timeout): .+$", re.MULTILINE)
#: Settings of Inspect that do not change an answer.
_NOT_SAMPLING = ("cache", "max_retries", "max_connections", "timeout", "attempt_timeout")
#: Arguments of Inspect's provider `mockllm` that are no setting but the answers themselves.
_NO_SETTINGS = ("custom_outputs",)


def from_logs(logs: Iterable[str | Path | EvalLog]) -> pd.DataFrame:
    """Transcripts of Inspect logs, of this machine or another.

    Parameters
    ----------
    logs : iterable of path or EvalLog
        Logs of the tasks of this package; a folder stands for all logs in it. Of runs that were
        broken off, the samples that were finished count.

    Raises
    ------
    MatPCRError
        If a file is no Inspect log, or none is of a task of this package.
    """
    rows = [row for log in _opened(logs) for row in _rows(log)]
    if not rows:
        raise MatPCRError("no log holds a sample of a task of this package: run matpcr evaluate")
    return as_frame(rows)


def read_chains(path: str | Path, model: str | None = None) -> pd.DataFrame:
    """Chains that were made elsewhere: a CSV, JSONL or transcript parquet.

    Parameters
    ----------
    path : path
        With the columns ``item_id`` and ``chain``; ``model`` and ``seed`` where it says so, and
        any other of `COLUMNS`.
    model : str, optional
        The model of all rows, where the file does not say.

    Raises
    ------
    MatPCRError
        If the file can't be read, a column is missing or unknown, or a row appears twice.
    """
    import pandas as pd

    path = Path(path)
    if not path.is_file():
        raise MatPCRError(f"no file {path}: give a CSV, JSONL or parquet of chains")
    readers = {
        ".csv": lambda: pd.read_csv(path, keep_default_na=False, dtype={"chain": str}),
        ".jsonl": lambda: pd.DataFrame(_lines(path)),
        ".parquet": lambda: pd.read_parquet(path),
    }
    if path.suffix not in readers:
        raise MatPCRError(f"{path.name} ends in none of {', '.join(readers)}: rename or convert it")
    try:
        frame = readers[path.suffix]()
    except (ValueError, OSError) as error:
        if isinstance(error, MatPCRError):
            raise
        raise MatPCRError(f"{path.name} can't be read: {error}") from error
    if model is not None and "model" not in frame:
        frame = frame.assign(model=model)
    return _checked(frame, path.name)


def write(frame: pd.DataFrame, path: str | Path) -> None:
    """Write transcripts as parquet, whole or not at all; the same rows give the same bytes."""
    import pyarrow as pa

    from matpcr_utils.references import store

    table = pa.Table.from_pandas(frame[list(COLUMNS)], preserve_index=False)
    store.write_table(Path(path), table)


def as_frame(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Rows as a table with every column, sorted by model, condition, item, seed and round."""
    import pandas as pd

    full = [{**COLUMNS, **row} for row in rows]
    frame = pd.DataFrame(full, columns=list(COLUMNS))
    keys = ["model", "condition", "prompt_version", "modality", "constraint", "item_id"]
    return frame.sort_values([*keys, "seed", "round"], kind="stable", ignore_index=True)


def _checked(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    missing = [column for column in _REQUIRED if column not in frame]
    if missing:
        raise MatPCRError(f"{name} has no column {missing[0]!r}: it needs {', '.join(_REQUIRED)}")
    unknown = [column for column in frame.columns if column not in COLUMNS]
    if unknown:
        raise MatPCRError(
            f"{name} has an unknown column {unknown[0]!r}: known are {', '.join(COLUMNS)}"
        )
    bad = frame["chain"].map(lambda chain: not isinstance(chain, str))
    if bad.any():
        raise MatPCRError(
            f"{name}: the chain of {frame['item_id'][bad].iloc[0]} is no text: quote it"
        )
    rows = records(frame)
    for row in rows:
        row["constraint"] = str(row["item_id"]).partition("-")[0]
        row["seed"] = int(row.get("seed", 0))
        row["round"] = int(row.get("round", 0))
    full = as_frame(rows)
    keys = ["item_id", "model", "seed", "condition", "prompt_version", "modality", "round"]
    twice = full.duplicated(keys)
    if twice.any():
        first = full[twice].iloc[0]
        raise MatPCRError(
            f"{name}: {first['item_id']} of {first['model']}, seed {first['seed']}, appears twice: "
            "keep one, or give them different seeds"
        )
    return full


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise MatPCRError(f"{path.name}, line {number} is no JSON: {error}") from error
        if not isinstance(row, dict):
            raise MatPCRError(f"{path.name}, line {number} is no JSON object: {line[:40]!r}")
        yield row


def _opened(logs: Iterable[str | Path | EvalLog]) -> Iterator[EvalLog]:
    from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log

    for log in logs:
        if isinstance(log, EvalLog):
            yield log
            continue
        path = _local(log)
        if not path.exists():
            raise MatPCRError(f"no log {path}: give a file or a folder of Inspect logs")
        files = [info.name for info in list_eval_logs(str(path))] if path.is_dir() else [str(path)]
        for file in files:
            try:
                yield read_eval_log(file)
            except Exception as error:
                raise MatPCRError(f"{Path(file).name} is no Inspect log: {error}") from error


def _local(log: str | Path) -> Path:
    """Inspect names its own logs by URL."""
    text = str(log)
    return Path(url2pathname(text.removeprefix("file:")) if text.startswith("file:") else text)


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows as dictionaries by column."""
    return [{str(name): cell for name, cell in row.items()} for row in frame.to_dict("records")]


def _rows(log: EvalLog) -> Iterator[dict[str, Any]]:
    from matpcr_utils.claims.model import CONSTRAINTS

    constraint = log.eval.task.rpartition("/")[2]
    if constraint not in CONSTRAINTS:
        return
    given = log.eval.task_args
    # Arguments that were left at their defaults are recorded as well, under another name.
    args = {**(getattr(log.eval, "task_args_passed", None) or {}), **given}
    common = {
        "constraint": constraint,
        "model": log.eval.model,
        "condition": _condition(log),
        "prompt_version": str(args.get("prompt_version", "v1")),
        "examples": int(args.get("examples", 0)),
        "n_items": int(args.get("n_items", 0)),
        "items_seed": int(args.get("seed", 0)),
        "versions": _json((log.eval.metadata or {}).get("versions") or log.eval.packages),
        "run_id": log.eval.run_id,
    }
    settings = {**_settings(log), **_arguments(log)}
    for sample in log.samples or ():
        asked = {
            **common,
            "item_id": str(sample.id),
            "seed": sample.epoch - 1,
            "modality": str(sample.metadata.get("modality", "")),
            "prompt_sha256": prompt_sha256(_asked(sample)),
            "created": str(sample.started_at or log.eval.created),
        }
        for row in _answers(sample):
            yield {**asked, **row, "settings": _json({**settings, **row.get("settings", {})})}


def _condition(log: EvalLog) -> str:
    """How the items were asked; solvers of others go by their own names."""
    names = []
    for step in log.plan.steps:
        solver = step.solver.rpartition("/")[2]
        known = Condition.of_step(solver, step.params or step.params_passed)
        names.append(known.name if known else solver)
    return "+".join(names)


def _answers(sample: EvalSample) -> Iterator[dict[str, Any]]:
    """The answers of one conversation, in order; what broke it off is its last row."""
    from matpcr_utils.evaluation.solver import ROUNDS_KEPT, UNSUPPORTED, record_of

    kept = sample.metadata.get(ROUNDS_KEPT) or []
    for number, answer in enumerate(kept):
        yield {"round": number, **answer}
    unsupported = bool(sample.metadata.get(UNSUPPORTED, False))
    if sample.error or unsupported or not kept:
        yield {
            # After earlier answers the sample's output is the last of them, told already.
            **({} if kept else record_of(sample.output)),
            "round": len(kept),
            "unsupported": unsupported,
            "error": _cause(sample.error) if sample.error else "",
        }


def prompt_sha256(words: str) -> str:
    """What a transcript keeps of a prompt: enough to see whether it is still the same."""
    return hashlib.sha256(words.encode("utf-8")).hexdigest()[:16]


def _asked(sample: EvalSample) -> str:
    """The words of the item's question."""
    return sample.input if isinstance(sample.input, str) else sample.input[0].text


def _cause(error: EvalError) -> str:
    """What went wrong; Inspect's message of given-up retries names only their number in memory."""
    if not error.message.startswith("RetryError"):
        return error.message
    causes = _RAISED.findall(error.traceback)
    return next((cause for cause in causes if "RetryError" not in cause), "gave up after retries")


def _settings(log: EvalLog) -> dict[str, Any]:
    config = log.plan.config.model_dump(exclude_none=True)
    config |= log.eval.model_generate_config.model_dump(exclude_none=True)
    return {key: value for key, value in config.items() if key not in _NOT_SAMPLING}


def _arguments(log: EvalLog) -> dict[str, Any]:
    return {k: v for k, v in log.eval.model_args.items() if k not in _NO_SETTINGS}


def versions() -> dict[str, str]:
    """Versions of the packages that shape an answer or its verdict."""
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _json(values: Mapping[str, Any]) -> str:
    return json.dumps(values, sort_keys=True, ensure_ascii=False, default=str)
