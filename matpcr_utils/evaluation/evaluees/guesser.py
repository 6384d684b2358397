"""``matpcr/guesser``: always claims what passes most often.

What that is, is measured: every claim of a grid is judged on all references that the package ships,
and the one that is consistent on most is said of every item. Its PCR is what a constraint type
gives away to somebody who knows the statistics of the references and looks at nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np
from inspect_ai.model import GenerateConfig
from numpy.typing import NDArray

from matpcr_utils import controls, oracles
from matpcr_utils.claims.model import Claim, ClaimTable
from matpcr_utils.evaluation.evaluees.wording import sentence
from matpcr_utils.evaluation.providers import Answer
from matpcr_utils.evaluation.question import Question

#: What is tried, by quantity: labels, or numbers in canonical units.
TRIED: dict[str, tuple[str, ...] | NDArray[np.float64]] = {
    "stability": ("stable", "unstable", "metastable"),
    "metallicity": ("zero_gap", "nonzero_gap"),
    "magnetism": ("finite_net", "zero_net"),
    "two_theta": np.arange(5.0, 150.0, 0.25),
    "raman_shift": np.arange(100.0, 3600.0, 2.0),
    "feature_size": np.array([1.0, 10.0, 100.0, 1000.0]),
    "scale": np.round(np.geomspace(0.01, 1000.0, 101), 4),
    "energy_above_hull": np.array([0.0, 0.1, 0.3]),
    "band_gap": np.array([0.0, 0.5, 1.0, 2.0, 4.0]),
    "magnetization": np.array([0.0, 0.3, 1.0, 3.0, 10.0]),
}
_BASES = {"energy_above_hull": "atom", "magnetization": "formula_unit"}
#: Quantities with an axis, of which a question may name a part.
_WITH_AXIS = ("two_theta", "raman_shift")


@dataclass(frozen=True)
class Guesser:
    """Says the same of every item, inside the range that the question names."""

    READS_IMAGES: ClassVar[bool] = True

    def answer(self, question: Question, config: GenerateConfig) -> Answer:
        """The claim that passes most often."""
        constraint, asks = question.asked
        region = question.region if asks in _WITH_AXIS else None
        return Answer(sentence(best(constraint, asks, region)))


def create(**settings: Any) -> Guesser:
    """The evaluee; it has no settings."""
    return Guesser(**settings)


@cache
def best(constraint: str, asks: str, region: tuple[float, float] | None = None) -> Claim:
    """The claim that is consistent on most references; the first of equals.

    Parameters
    ----------
    constraint, asks : str
        A constraint type, and one of its quantities among `items.QUESTIONS`.
    region : tuple of float, optional
        Numbers outside are not tried.
    """
    claims, rates = pass_rates(constraint, asks)
    if region is not None:
        inside = (claims.value >= region[0]) & (claims.value <= region[1])
        rates = np.where(inside, rates, -1.0)
    return claims.claim(int(rates.argmax()))


@cache
def pass_rates(constraint: str, asks: str) -> tuple[ClaimTable, NDArray[np.float64]]:
    """The claims that are tried, and the share of all references on which each is consistent."""
    references = controls.design(constraint).default_references()
    tried = TRIED[asks]
    if isinstance(tried, tuple):
        claims = ClaimTable.labels(asks, tried)
    else:
        claims = ClaimTable.numbers(asks, tried, _BASES.get(asks))
    n, many = len(claims), len(references)
    verdicts = oracles.get(constraint).check_many(
        claims.take(np.repeat(np.arange(n), many)),
        references,
        index=np.tile(np.arange(many), n),
    )
    return claims, verdicts.consistent.reshape(n, many).mean(axis=1)
