"""What Inspect AI shows of a run: the oracle's verdict and the accuracy, with their metrics.

The metrics take every answer of every seed (``scores="unreduced"``): an item's three answers are
three chains, as in the paper's protocol (section 4.9), not one mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from inspect_ai.scorer import (
    CORRECT,
    INCORRECT,
    NOANSWER,
    Metric,
    SampleScore,
    Score,
    Scorer,
    Target,
    Value,
    metric,
    scorer,
)
from inspect_ai.solver import TaskState

from matpcr_utils.evaluation import catalog, grading
from matpcr_utils.evaluation.solver import UNSUPPORTED

#: Reasons of answers that hold nothing to abstain on.
_NOTHING_STATED = (grading.NO_ANSWER, grading.NO_CLAIM)


@metric(scores="unreduced")
def pcr() -> Metric:
    """Consistent, of the answers that could be judged (paper, section 4.5); NaN without any."""

    def compute(scores: list[SampleScore]) -> Value:
        words = _words(scores)
        return _share(words.count("consistent"), len(words) - words.count("abstain"))

    return compute


@metric(scores="unreduced")
def interval() -> Metric:
    """95 % bootstrap interval of the PCR over sources."""

    def compute(scores: list[SampleScore]) -> Value:
        from matpcr_utils.statistics import bootstrap_pcr

        sources = [(score.sample_metadata or {}).get("source_id") for score in scores]
        found = bootstrap_pcr(_words(scores), sources if all(sources) else None)
        return {"lower": float(found.lower), "upper": float(found.upper)}

    return compute


@metric(scores="unreduced")
def coverage() -> Metric:
    """Judged, of the answers that were asked for: the share that enters the PCR."""

    def compute(scores: list[SampleScore]) -> Value:
        asked = _asked(scores)
        words = _words(asked)
        return _share(len(words) - words.count("abstain"), len(asked))

    return compute


@metric(scores="unreduced")
def abstention() -> Metric:
    """Claims stated but not judged, of the answers asked for; the rest states no claim."""

    def compute(scores: list[SampleScore]) -> Value:
        asked = _asked(scores)
        held = sum(
            score.score.value == "abstain" and _reason(score) not in _NOTHING_STATED
            for score in asked
        )
        return _share(held, len(asked))

    return compute


@metric(scores="unreduced")
def rate() -> Metric:
    """Accurate, of the answers that could be compared with the truth; NaN without any."""

    def compute(scores: list[SampleScore]) -> Value:
        words = [str(score.score.value) for score in scores]
        return _share(words.count(CORRECT), len(words) - words.count(NOANSWER))

    return compute


@scorer(metrics=[pcr(), interval(), coverage(), abstention()])
def oracle() -> Scorer:
    """The oracle's verdict on each answer: ``consistent``, ``violation`` or ``abstain``."""

    async def score(state: TaskState, target: Target) -> Score:
        graded = _grade(state)
        deciding = graded.deciding
        return Score(
            value=str(graded.outcome),
            answer=None if deciding is None else graded.claims[deciding].text,
            explanation="\n".join(v.sentence for v in graded.verdicts) or graded.sentence,
            metadata={
                "reason": graded.reason,
                "claims": [_claim(claim) for claim in graded.claims],
                "verdicts": [
                    {"outcome": str(v.outcome), "reason": v.reason} for v in graded.verdicts
                ],
            },
        )

    return score


@scorer(metrics=[rate()])
def accuracy() -> Scorer:
    """Whether each answer is right by the item's own criterion, tighter than the oracle's."""

    async def score(state: TaskState, target: Target) -> Score:
        found = _grade(state).accurate
        return Score(value=NOANSWER if found is None else CORRECT if found else INCORRECT)

    return score


def _grade(state: TaskState) -> grading.Graded:
    if state.metadata.get(UNSUPPORTED):
        return grading.unsupported()
    return grading.grade(catalog.get(str(state.sample_id)), state.output.completion)


def _claim(claim: Any) -> dict[str, Any]:
    return {
        "quantity": claim.quantity,
        "value": claim.value,
        "unit": claim.unit,
        "basis": claim.basis,
        "text": claim.text,
    }


def _words(scores: Sequence[SampleScore]) -> list[str]:
    return [str(score.score.value) for score in scores]


def _reason(score: SampleScore) -> str:
    return str((score.score.metadata or {}).get("reason", ""))


def _asked(scores: Sequence[SampleScore]) -> list[SampleScore]:
    return [score for score in scores if _reason(score) != grading.UNSUPPORTED]


def _share(count: int, n: int) -> float:
    return count / n if n else float("nan")
