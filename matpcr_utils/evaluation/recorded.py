"""Recorded answers: runs that ship with the package, so that nothing need be asked to be judged.

A recording holds what was asked and answered and no verdict; whoever reads it lets the oracles of
today decide (`results.judge`). `RECORDINGS` says how each was made; `record` makes them again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matpcr_utils.claims.model import CONSTRAINTS
from matpcr_utils.errors import MatPCRError
from matpcr_utils.evaluation import transcripts
from matpcr_utils.items.model import MODALITY

if TYPE_CHECKING:
    import pandas as pd

#: Constraint types whose items show an image.
PICTURED = tuple(name for name, modality in MODALITY.items() if modality == "image")
WORDED = tuple(name for name, modality in MODALITY.items() if modality == "text")


@dataclass(frozen=True, slots=True)
class Recording:
    """One run of `run.evaluate` that ships with the package.

    Attributes
    ----------
    name : str
        Of the file ``data/transcripts/<name>.parquet``.
    model : str
    constraints : tuple of str
    modality : str or None
        How the items were shown; None, each as the paper poses it.
    examples, seeds : int
    prompt_version : str
    """

    name: str
    model: str
    constraints: tuple[str, ...] = tuple(CONSTRAINTS)
    modality: str | None = None
    examples: int = 0
    seeds: int = 3
    prompt_version: str = "v1"

    @property
    def path(self) -> Path:
        """Where the package keeps it."""
        from matpcr_utils.references import store

        return store.data_dir() / "transcripts" / f"{self.name}.parquet"

    @property
    def command(self) -> str:
        """What makes it again."""
        words = [f"matpcr evaluate --model {self.model}"]
        if set(self.constraints) != set(CONSTRAINTS):
            words += [f"--constraint {name}" for name in self.constraints]
        words.append(f"--seeds {self.seeds}")
        if self.modality is not None:
            words.append(f"--modality {self.modality}")
        if self.examples:
            words.append(f"--examples {self.examples}")
        if self.prompt_version != "v1":
            words.append(f"--prompt-version {self.prompt_version}")
        return " ".join(words)


#: Every recording. Deterministic evaluees repeat themselves over the seeds, as the paper's greedily
#: decoded model does (section 4.9); intervals resample sources, which keeps the copies together.
RECORDINGS: tuple[Recording, ...] = (
    Recording("instrument", "matpcr/instrument"),
    Recording("instrument-text", "matpcr/instrument", PICTURED, "text"),
    Recording("guesser", "matpcr/guesser"),
    Recording("guesser-text", "matpcr/guesser", PICTURED, "text"),
    Recording("chance", "matpcr/chance"),
    Recording("chance-text", "matpcr/chance", PICTURED, "text"),
    Recording("smollm2", "matpcr/smollm2", WORDED, examples=3),
    Recording("smollm2-image", "matpcr/smollm2", PICTURED, examples=3),
    Recording("smollm2-text", "matpcr/smollm2", PICTURED, "text", examples=3),
)


def get(name: str) -> Recording:
    """The recording of a name.

    Raises
    ------
    MatPCRError
        If there is none.
    """
    for recording in RECORDINGS:
        if recording.name == name:
            return recording
    known = ", ".join(recording.name for recording in RECORDINGS)
    raise MatPCRError(f"no recording {name!r}: choose of {known}")


def models() -> tuple[str, ...]:
    """The models of which answers are recorded."""
    return tuple(dict.fromkeys(recording.model for recording in RECORDINGS))


def load(
    model: str | Sequence[str] | None = None,
    constraint: str | Sequence[str] = "all",
    *,
    n_items: int | None = None,
    seeds: int | None = None,
    prompt_version: str = "v1",
    modality: str | None = None,
    condition: str = "plain",
) -> pd.DataFrame:
    """Transcripts of the recordings, not judged.

    Parameters
    ----------
    model : str or sequence of str, optional
        One or more of `models`; default, all.
    constraint : str or sequence of str
    n_items : int, optional
        The first ones a constraint type; default, all that are recorded.
    seeds : int, optional
        The first ones; default, all that are recorded.
    prompt_version : str
    modality : {"image", "text"}, optional
        How the items were shown; default, each as the paper poses it.
    condition : str
        How they were asked; ``plain``, once.

    Returns
    -------
    DataFrame
        The columns of `transcripts.COLUMNS`, and none of the rows if nothing of the kind is
        recorded.

    Raises
    ------
    MatPCRError
        If the model or the constraint is unknown.
    """
    import pandas as pd

    from matpcr_utils.evaluation.run import constraints_of

    chosen = models() if model is None else (model,) if isinstance(model, str) else tuple(model)
    unknown = [name for name in chosen if name not in models()]
    if unknown:
        raise MatPCRError(
            f"no answers of {unknown[0]} are recorded: choose of {', '.join(models())}, "
            "or ask it with matpcr evaluate"
        )
    names = constraints_of(constraint)
    frames = [
        pd.read_parquet(recording.path)
        for recording in RECORDINGS
        if recording.model in chosen
        and recording.prompt_version == prompt_version
        and set(names) & set(recording.constraints)
    ]
    frame = transcripts.as_frame(row for part in frames for row in transcripts.records(part))
    shown = frame["constraint"].map(MODALITY) if modality is None else modality
    kept = frame["constraint"].isin(names) & (frame["modality"] == shown)
    kept &= frame["condition"] == condition
    if seeds is not None:
        kept &= frame["seed"] < seeds
    if n_items is not None:
        kept &= frame["item_id"].isin(_first(names, n_items))
    return frame[kept].reset_index(drop=True)


def _first(constraints: Iterable[str], n_items: int) -> set[str]:
    from matpcr_utils.evaluation import catalog

    return {item_id for name in constraints for item_id in catalog.load(name, n_items)}


def overview() -> pd.DataFrame:
    """One row a recording: what was asked, how often, when, with what, and the command."""
    import pandas as pd

    rows = []
    for recording in RECORDINGS:
        frame = pd.read_parquet(recording.path)
        rows.append(
            {
                "recording": recording.name,
                "model": recording.model,
                "shown as": recording.modality or "posed",
                "items": frame["item_id"].nunique(),
                "seeds": frame["seed"].nunique(),
                "answers": int((~frame["unsupported"]).sum()),
                "tokens": int(frame[["input_tokens", "output_tokens"]].to_numpy().sum()),
                "first": frame["created"].min()[:10],
                "runs": ", ".join(sorted(frame["run_id"].unique())),
                "command": recording.command,
            }
        )
    return pd.DataFrame(rows)


def record(name: str, out: str | Path | None = None, **options: Any) -> Path:
    """Make a recording again and put it into the package.

    Parameters
    ----------
    name : str
    out : path, optional
        Folder of the run, which goes on if it was broken off; default,
        ``_build/recordings/<name>``.
    **options
        For `run.evaluate`, e.g. ``display``.

    Raises
    ------
    MatPCRError
        If there is no such recording, or an answer is missing; the old recording then stays.
    """
    from matpcr_utils.evaluation import run

    recording = get(name)
    done = run.evaluate(
        recording.model,
        recording.constraints,
        out=Path("_build/recordings") / name if out is None else out,
        seeds=recording.seeds,
        prompt_version=recording.prompt_version,
        modality=recording.modality,
        examples=recording.examples,
        **options,
    )
    failed = int((done.table["error"] != "").sum())
    if failed or not done.complete:
        raise MatPCRError(f"{name}: {failed} answers are missing: run the same again to ask these")
    transcripts.write(done.table, recording.path)
    return recording.path


def compare(frame: pd.DataFrame) -> pd.DataFrame:
    """Lay the answers of a run beside the recorded ones.

    Parameters
    ----------
    frame : DataFrame
        Transcripts of a run.

    Returns
    -------
    DataFrame
        A row an answer that both hold, asked in the same way (model, condition, prompt, modality,
        examples, item, seed and round): the ``recorded`` and the ``new`` chain, and whether they
        are the ``same``.
    """
    import pandas as pd

    keys = ["model", "condition", "prompt_version", "modality", "examples", "item_id", "seed"]
    keys.append("round")
    parts = [pd.read_parquet(recording.path) for recording in RECORDINGS]
    ours = transcripts.as_frame(row for part in parts for row in transcripts.records(part))
    both = ours[[*keys, "chain"]].merge(
        frame[[*keys, "chain"]], on=keys, suffixes=("_recorded", "_new"), validate="1:1"
    )
    both = both.rename(columns={"chain_recorded": "recorded", "chain_new": "new"})
    return both.assign(same=both["recorded"] == both["new"])
