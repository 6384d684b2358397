"""``matpcr/chance``: a claim drawn from each constraint's plain prior, whatever the item shows.

The priors are those of the chance-pass rate, so that this evaluee's PCR estimates it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
from inspect_ai.model import GenerateConfig

from matpcr_utils.evaluation import priors
from matpcr_utils.evaluation.evaluees.wording import sentence
from matpcr_utils.evaluation.providers import Answer
from matpcr_utils.evaluation.question import Question

#: The axis of a plot, which it does not look at: 2θ in degree, Raman shift in 1/cm.
AXES = {"diffraction": (10.0, 90.0), "spectra": (100.0, 3500.0)}


@dataclass(frozen=True)
class Chance:
    """Draws with the question's own words and the seed, so that a run can be repeated."""

    READS_IMAGES: ClassVar[bool] = True

    def answer(self, question: Question, config: GenerateConfig) -> Answer:
        """One claim from the plain prior of the quantity that is asked for."""
        constraint, asks = question.asked
        rows = question.rows
        axis = AXES.get(constraint, (0.0, 1.0)) if rows is None else (rows[0, 0], rows[-1, 0])
        seen = SimpleNamespace(window=np.array([axis]), axis=np.array([axis]))
        rng = np.random.default_rng([_number(question), question.seed])
        drawn = priors.draw(constraint, asks, seen, np.zeros(1, np.intp), rng)
        return Answer(sentence(drawn.claim(0)))


def create(**settings: Any) -> Chance:
    """The evaluee; it has no settings."""
    return Chance(**settings)


def _number(question: Question) -> int:
    """The same for the same request, on every machine."""
    content = question.text.encode() + (question.image or b"")
    return int.from_bytes(hashlib.sha256(content).digest()[:8], "big")
