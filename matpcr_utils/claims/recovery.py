"""How often a claim comes back when it is stated at random, and when the text has typos."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from matpcr_utils.claims.extract import extract_claims
from matpcr_utils.claims.model import CONSTRAINTS, QUANTITIES, Claim
from matpcr_utils.claims.wordings import draw, state
from matpcr_utils.errors import MatPCRError
from matpcr_utils.statistics import Rate, rate


@dataclass(frozen=True, slots=True)
class Recovery:
    """What became of stated claims.

    Attributes
    ----------
    quantity : str
    typos : float
        Chance that a letter of the text is damaged.
    recovered, missed, misread : Rate
        Read as stated and nothing else read; nothing read; something else read.
    read : int
        Claims read in all.
    """

    quantity: str
    typos: float
    recovered: Rate
    missed: Rate
    misread: Rate
    read: int


def damage(text: str, typos: float, rng: np.random.Generator) -> str:
    """Drop, double or swap letters, each with probability `typos`; digits and signs stay.

    Raises
    ------
    MatPCRError
        If `typos` is no probability.
    """
    if not 0 <= typos <= 1:
        raise MatPCRError(f"typos = {typos} must lie between 0 and 1, e.g. 0.02")
    letters = list(text)
    for i in np.flatnonzero(rng.random(len(letters)) < typos):
        if not letters[i].isalpha():
            continue
        kind = rng.integers(3)
        if kind == 0:
            letters[i] = ""
        elif kind == 1:
            letters[i] *= 2
        elif i + 1 < len(letters) and letters[i + 1].isalpha():
            letters[i], letters[i + 1] = letters[i + 1], letters[i]
    return "".join(letters)


def recover(
    quantity: str, n: int, *, typos: float = 0.0, distract: bool = True, seed: int = 0
) -> Recovery:
    """State `n` random claims of a quantity and read them back.

    Parameters
    ----------
    quantity : str
        One of `matpcr_utils.claims.model.QUANTITIES`.
    n : int
    typos : float
        See `damage`.
    distract : bool
        Whether sentences that claim nothing stand around each claim.
    seed : int

    Raises
    ------
    MatPCRError
        If `quantity` is unknown, `n` is not positive or `typos` is no probability.
    """
    if n < 1:
        raise MatPCRError(f"n = {n} must be at least 1")
    rng = np.random.default_rng([seed, QUANTITIES.index(quantity) if quantity in QUANTITIES else 0])
    counts = {"recovered": 0, "missed": 0, "misread": 0}
    read = 0
    for _ in range(n):
        claim = draw(quantity, rng)
        constraint = next(name for name, known in CONSTRAINTS.items() if quantity in known)
        found = extract_claims(damage(state(claim, rng, distract=distract), typos, rng), constraint)
        read += len(found)
        same = len(found) == 1 and _same(claim, found[0])
        counts["recovered" if same else "misread" if found else "missed"] += 1
    shares = {name: rate(count, n, method="wilson") for name, count in counts.items()}
    return Recovery(quantity, typos, read=read, **shares)


def recover_all(
    n: int, typos: Sequence[float] = (0.0,), *, distract: bool = True, seed: int = 0
) -> list[Recovery]:
    """`recover` for every quantity at every typo rate."""
    return [
        recover(quantity, n, typos=share, distract=distract, seed=seed)
        for share in typos
        for quantity in QUANTITIES
    ]


def _same(stated: Claim, read: Claim) -> bool:
    if (stated.quantity, stated.basis) != (read.quantity, read.basis):
        return False
    if isinstance(stated.value, str) or isinstance(read.value, str):
        return stated.value == read.value
    return math.isclose(stated.value, read.value, rel_tol=2e-5)
