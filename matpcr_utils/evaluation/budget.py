"""Equal compute: how many calls and tokens a run spent, and how a control spends the same.

Re-prompting is matched with a CGSV run in calls exactly: the follow-ups that the run put are dealt
out again, within each constraint type and seed. It is matched in tokens as nearly as possible: the
neutral words are about as long as the feedback, and among the seeded permutations of the follow-ups
the first is taken whose questions are about as long in all. That choice sees the lengths of the
questions and one total; no verdict enters it. What was reached is what `compute` reports.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from matpcr_utils.errors import MatPCRError
from matpcr_utils.evaluation import feedback, transcripts
from matpcr_utils.evaluation.conditions import ALLOCATIONS

if TYPE_CHECKING:
    import pandas as pd

#: Permutations that are tried.
TRIES = 200
#: Taken is the first by which the questions' tokens, over all calls, differ by at most this share.
NEAR_ENOUGH = 0.02
#: What a matched run has to have in common with the one that it is matched with.
_SAME = ("model", "prompt_version", "examples")


@dataclass(frozen=True)
class Plan:
    """Follow-ups dealt out.

    Attributes
    ----------
    calls : dict
        From item id and seed to the number of follow-ups.
    messages : dict
        From a constraint type to the neutral words.
    frame : DataFrame
        Transcripts of the run that is matched.
    """

    calls: dict[tuple[str, int], int]
    messages: dict[str, str]
    frame: pd.DataFrame

    @property
    def digest(self) -> str:
        """Short, and different for different calls or words."""
        content = repr((sorted(self.calls.items()), sorted(self.messages.items())))
        return hashlib.sha256(content.encode()).hexdigest()[:16]

    def calls_for(self, item_id: str, seed: int) -> int:
        """Follow-ups of one item and seed.

        Raises
        ------
        MatPCRError
            If the run did not ask it.
        """
        try:
            return self.calls[item_id, seed]
        except KeyError:
            raise MatPCRError(
                f"the run to match with did not ask {item_id} with seed {seed}: ask the same items "
                "with the same seeds"
            ) from None

    def message(self, constraint: str) -> str:
        """The neutral words for one constraint type."""
        return self.messages.get(constraint, feedback.neutral())

    def require(
        self, model: str, prompt_version: str, examples: int, asked: Iterable[tuple[str, int]]
    ) -> None:
        """Refuse to match with a run of something else.

        Raises
        ------
        MatPCRError
            Naming what differs: the model, the prompt, or the items and seeds.
        """
        for name, ours in zip(_SAME, (model, prompt_version, examples), strict=True):
            theirs = self.frame[name].iloc[0]
            if theirs != ours:
                raise MatPCRError(
                    f"the run to match with has {name} {theirs!r}, this one {ours!r}: "
                    "a matched run differs in the follow-ups only"
                )
        asked = set(asked)
        constraints = {item_id.partition("-")[0] for item_id, _ in asked}
        held = {key for key in self.calls if key[0].partition("-")[0] in constraints}
        held |= set(_keys(self.frame[self.frame["unsupported"].astype(bool)])) & asked
        if held != asked:
            raise MatPCRError(
                f"the run to match with asked {len(held)} items and seeds of these constraint "
                f"types, of which {len(held & asked)} are among the {len(asked)} of this one: use "
                "the same n_items, items_seed and seeds"
            )


def read(match: str | Path, allocation: str, rounds: int, seed: int = 0) -> Plan:
    """Deal out the follow-ups of a CGSV run.

    Parameters
    ----------
    match : path
        Folder of the run, or its transcripts.
    allocation : {"shuffled", "same"}
        To items by a permutation within constraint type and seed, or to those that got them.
    rounds : int
        The most that an item may get.
    seed : int
        Of the permutation.

    Raises
    ------
    MatPCRError
        If there are no transcripts, they are not those of one finished CGSV run, or an item has
        more than `rounds` follow-ups.
    """
    if allocation not in ALLOCATIONS:
        raise MatPCRError(
            f"unknown allocation {allocation!r}: choose one of {', '.join(ALLOCATIONS)}"
        )
    frame = _cgsv(Path(match))
    asked = frame[~frame["unsupported"].astype(bool)]
    extra = asked.groupby(["constraint", "seed", "item_id"], sort=True)["round"].max()
    most = int(extra.max()) if len(extra) else 0
    if most > rounds:
        raise MatPCRError(
            f"rounds = {rounds}, but the run to match with put {most} follow-ups to an item: "
            f"choose rounds = {most}"
        )
    if allocation == "shuffled":
        extra = _shuffled(extra, asked, seed)
    seeds, ids = (extra.index.get_level_values(name).tolist() for name in ("seed", "item_id"))
    calls = {(i, int(s)): int(n) for i, s, n in zip(ids, seeds, extra.tolist(), strict=True)}
    followed = asked[asked["round"] > 0]
    lengths = followed["message"].str.len().groupby(followed["constraint"]).mean()
    messages = {str(name): feedback.neutral(round(length)) for name, length in lengths.items()}
    return Plan(calls, messages, frame)


def compute(run: pd.DataFrame | str | Path, matched: pd.DataFrame | str | Path) -> pd.DataFrame:
    """Calls and tokens of a run beside those of the run that it is matched with.

    Parameters
    ----------
    run, matched : DataFrame or path
        Transcripts, judged or not, or the folders that hold them.

    Returns
    -------
    DataFrame
        A row a constraint type and one for ``all``: ``calls``, ``tokens`` (input and output of all
        calls), the same of the matched run, and the ratios ``call_ratio`` and ``token_ratio``,
        missing where the matched run spent nothing.
    """
    import pandas as pd

    ours, theirs = (_spent(frame) for frame in (run, matched))
    both = ours.join(theirs.add_suffix("_matched"), how="outer").fillna(0).astype("int64")
    both.loc["all"] = both.sum()
    for name in ("call", "token"):
        spent, budgeted = both[f"{name}s"], both[f"{name}s_matched"]
        both[f"{name}_ratio"] = pd.array(
            [a / b if b else None for a, b in zip(spent, budgeted, strict=True)], "Float64"
        )
    return both.rename_axis("constraint").reset_index()


def _spent(source: pd.DataFrame | str | Path) -> pd.DataFrame:
    if isinstance(source, str | Path):
        source = transcripts.read_chains(_file(Path(source)))
    asked = source[~source["unsupported"].astype(bool)]
    tokens = asked["input_tokens"] + asked["output_tokens"]
    return (
        asked.assign(tokens=tokens)
        .groupby("constraint")
        .agg(calls=("tokens", "size"), tokens=("tokens", "sum"))
    )


def _file(path: Path) -> Path:
    if path.is_dir():
        path = path / "transcripts.parquet"
    if not path.is_file():
        raise MatPCRError(f"no transcripts {path}: name the folder of a finished run")
    return path


def _cgsv(path: Path) -> pd.DataFrame:
    """Transcripts of one finished CGSV run."""
    frame = transcripts.read_chains(_file(path))
    frame = frame[frame["condition"].str.startswith("cgsv-")]
    found = sorted(frame["condition"].unique())
    if len(found) != 1:
        raise MatPCRError(
            f"{path} holds {' and '.join(found) or 'no CGSV run'}: name one run of the condition "
            "cgsv to match with"
        )
    failed = frame[frame["error"] != ""]
    if len(failed):
        raise MatPCRError(
            f"{path}: {len(failed)} answers failed, the first on {failed['item_id'].iloc[0]}: "
            "finish that run first"
        )
    for name in (*_SAME, "modality"):
        values = frame.groupby("constraint")[name].nunique()
        if frame[name].nunique() > 1 and (name != "modality" or values.max() > 1):
            raise MatPCRError(f"{path} mixes runs of different {name}: name one run")
    return frame


def _keys(frame: pd.DataFrame) -> Iterable[tuple[str, int]]:
    return zip(frame["item_id"], frame["seed"].astype(int), strict=True)


def _shuffled(extra: pd.Series, asked: pd.DataFrame, seed: int) -> pd.Series:
    """The follow-ups of each constraint type permuted among the items of each seed."""
    prompts = (
        asked[asked["round"] == 0]
        .set_index(["constraint", "seed", "item_id"])["input_tokens"]
        .reindex(extra.index)
        .to_numpy(np.float64)
    )
    dealt = extra.copy()
    constraints = extra.index.get_level_values("constraint").to_numpy()
    seeds = extra.index.get_level_values("seed").to_numpy()
    for number, name in enumerate(dict.fromkeys(constraints)):
        rows = np.flatnonzero(constraints == name)
        rng = np.random.default_rng([seed, number])
        dealt.iloc[rows] = _permuted(extra.to_numpy()[rows], prompts[rows], seeds[rows], rng)
    return dealt


def _permuted(
    calls: NDArray[np.int64],
    prompts: NDArray[np.float64],
    seeds: NDArray[np.int64],
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """The first permutation within seeds whose calls resend about as many tokens; else the best."""
    wanted = float(calls @ prompts)
    room = NEAR_ENOUGH * (wanted + float(prompts.sum()))
    groups = [np.flatnonzero(seeds == s) for s in np.unique(seeds)]
    best, distance = calls, np.inf
    for _ in range(TRIES):
        tried = calls.copy()
        for group in groups:
            tried[group] = rng.permutation(calls[group])
        off = abs(float(tried @ prompts) - wanted)
        if off < distance:
            best, distance = tried, off
        if off <= room:
            break
    return best
