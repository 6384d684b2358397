"""What recorded answers state, by an annotator: the labels, and how the answers were drawn.

The file ``data/parsing_labels.yml`` says by which rules, and who labelled.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from matpcr_utils.claims import CONSTRAINTS, Claim, extract_claims
from matpcr_utils.errors import MatPCRError

if TYPE_CHECKING:
    import pandas as pd

#: Digits of the SHA-256 of an answer that a label keeps.
DIGITS = 12

_FORMULA = re.compile(r"\b(?:[A-Z][a-z]?\d*){2,}\b|\b[A-Z][a-z]?\d+\b")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Label:
    """What one recorded answer states, by the annotator.

    Attributes
    ----------
    item_id : str
    seed : int
    modality : str
    stratum : str
        From which it was drawn: constraint, modality, number of claims that were read when it was
        drawn, and whether its words are those of another answer, too.
    weight : float
        Answers of the stratum for each one that was drawn.
    sha256 : str
        First `DIGITS` of the answer's hash.
    claims : tuple of Claim
        Each stated one once.
    why : str
        Why there is none; empty with a claim.
    """

    item_id: str
    seed: int
    modality: str
    stratum: str
    weight: float
    sha256: str
    claims: tuple[Claim, ...]
    why: str

    @property
    def constraint(self) -> str:
        """Of the item."""
        return self.item_id.partition("-")[0]


def digest(chain: str) -> str:
    """What a label keeps of its answer."""
    return hashlib.sha256(chain.encode("utf-8")).hexdigest()[:DIGITS]


def draw(frame: pd.DataFrame, per_cell: int, seed: int = 0) -> pd.DataFrame:
    """A stratified sample of answers to label.

    Parameters
    ----------
    frame : DataFrame
        Transcripts.
    per_cell : int
        Answers of each constraint type and modality, or all where there are fewer. A cell has six
        strata: no claim read, one, or several, and words that stand once in the cell or more often,
        formulae and numbers aside. They take turns, so that rare kinds come more often than they
        are.
    seed : int
        Of the draw.

    Returns
    -------
    DataFrame
        ``item_id``, ``seed``, ``modality``, ``stratum``, ``weight``, ``sha256`` and ``chain``, in a
        random order that tells nothing of the strata.
    """
    import pandas as pd

    if per_cell < 1:
        raise MatPCRError(f"per_cell = {per_cell} must be at least 1")
    rng = np.random.default_rng(seed)
    drawn = []
    for cell, own in asked_of(frame).groupby(["constraint", "modality"]):
        own = own.sort_values(["item_id", "seed"], ignore_index=True)
        strata = _strata(own, "/".join(map(str, cell)))
        taken = _turns([len(rows) for rows in strata.values()], per_cell)
        for (stratum, rows), n in zip(strata.items(), taken, strict=True):
            chosen = own.iloc[rng.choice(rows, n, replace=False) if n else []]
            drawn.append(
                chosen[["item_id", "seed", "modality", "chain"]].assign(
                    stratum=stratum,
                    weight=len(rows) / max(n, 1),
                    sha256=chosen["chain"].map(digest),
                )
            )
    return pd.concat(drawn).sample(frac=1, random_state=seed, ignore_index=True)


def _strata(own: pd.DataFrame, cell: str) -> dict[str, list[int]]:
    """Positions of the answers of each stratum of a cell."""
    wording = own["chain"].map(_wording)
    again = wording.map(wording.value_counts()) > 1
    found: dict[str, list[int]] = {
        f"{cell}/{claims}/{words}": []
        for words in ("once", "repeated")
        for claims in ("none", "one", "several")
    }
    for row, (chain, constraint) in enumerate(zip(own["chain"], own["constraint"], strict=True)):
        claims = ("none", "one", "several")[min(len(read(chain, constraint)), 2)]
        found[f"{cell}/{claims}/{'repeated' if again[row] else 'once'}"].append(row)
    return found


def _wording(chain: str) -> str:
    return _NUMBER.sub("0", _FORMULA.sub("X", chain))


def _turns(sizes: Sequence[int], total: int) -> list[int]:
    """How many each of the strata gives when they give one after the other."""
    taken = [0] * len(sizes)
    while sum(taken) < min(total, sum(sizes)):
        for stratum, size in enumerate(sizes):
            if taken[stratum] < size and sum(taken) < total:
                taken[stratum] += 1
    return taken


def rules() -> str:
    """Who labelled, and by which rules, as the file says: Markdown."""
    return str(_content()["rules"])


@lru_cache(maxsize=1)
def labels() -> tuple[Label, ...]:
    """The committed labels.

    Raises
    ------
    MatPCRError
        If the file holds a label that can't be one.
    """
    return tuple(read_label(row) for row in _content()["labels"])


@lru_cache(maxsize=1)
def _content() -> dict[str, Any]:
    import yaml

    from matpcr_utils.references import store

    content: dict[str, Any] = yaml.safe_load(
        store.path("parsing_labels.yml").read_text(encoding="utf-8")
    )
    return content


def read_label(row: Mapping[str, Any]) -> Label:
    """A label from its entry in the file.

    Raises
    ------
    MatPCRError
        If a key is missing, a quantity is not of the item's constraint type, a value is of another
        kind, or there is neither a claim nor a reason why there is none.
    """
    try:
        label = Label(
            item_id=row["item_id"],
            seed=int(row["seed"]),
            modality=row["modality"],
            stratum=row["stratum"],
            weight=float(row["weight"]),
            sha256=str(row["sha256"]),
            claims=tuple(_claim(*given) for given in row["claims"]),
            why=row.get("why", ""),
        )
    except (KeyError, TypeError) as error:
        raise MatPCRError(f"label of {row.get('item_id')}: {error!r}: mend the entry") from None
    if bool(label.claims) == bool(label.why):
        raise MatPCRError(
            f"label of {label.item_id}, seed {label.seed}: give claims, or why there is none"
        )
    for claim in label.claims:
        known = CONSTRAINTS.get(label.constraint, ())
        if claim.quantity not in known or isinstance(claim.value, str) != (claim.unit == "label"):
            raise MatPCRError(
                f"label of {label.item_id}: {claim.quantity} = {claim.value!r} can't be claimed "
                f"there: known are {', '.join(known)}"
            )
    return label


def _claim(quantity: str, value: float | str, basis: str | None = None) -> Claim:
    return Claim(quantity, value if isinstance(value, str) else float(value), basis=basis)


@lru_cache(maxsize=4096)
def read(chain: str, constraint: str) -> tuple[Claim, ...]:
    """What the extractor reads in an answer."""
    return tuple(extract_claims(chain, constraint))


def asked_of(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows that the model was asked for, and that came."""
    return frame[~frame["unsupported"].astype(bool) & (frame["error"] == "")]
