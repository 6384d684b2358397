"""Several rounds with one item: CGSV and its controls, as Inspect solvers.

`cgsv` is constraint-grounded self-verification (paper, section 4.6): the oracle judges each answer,
and as long as a violation remains the model is told so and revises, for at most so many rounds.

Two consequences of "as long as a violation remains" have to be known when results are read. A
consistent answer is never asked about again, so CGSV can't make one worse: that it has no
regressions is how it works, not a finding. And an answer that the oracle can't judge ends the
conversation like a consistent one; it is counted as an abstention, not asked again.

`refine` is unaided self-refinement: every item gets the same number of follow-ups in the same
words, and no oracle. `reprompt` asks again in words that say nothing, as often in all as a CGSV run
did. Both ask about consistent answers as well, so regressions are possible there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from inspect_ai.model import ChatMessageUser
from inspect_ai.solver import Generate, Solver, TaskState, solver

from matpcr_utils.evaluation import budget, catalog, grading
from matpcr_utils.evaluation import feedback as wording
from matpcr_utils.evaluation.conditions import ALLOCATION, LEVEL, ROUNDS, Condition
from matpcr_utils.evaluation.solver import ROUNDS_KEPT, UNSUPPORTED, answer, record_of
from matpcr_utils.oracles.base import Outcome


@solver
def cgsv(rounds: int = ROUNDS, feedback: str = LEVEL) -> Solver:
    """Tell the model of its violations until none remains.

    Parameters
    ----------
    rounds : int
        Revisions at most.
    feedback : {"verdict", "reason", "reference"}
        How much is told; see `feedback.message`.
    """
    condition = Condition.make("cgsv", rounds=rounds, feedback=feedback)

    def follow_up(state: TaskState, number: int) -> str | None:
        return _feedback(state, feedback)

    return _conversation(condition.name, rounds, follow_up)


@solver
def refine(rounds: int = ROUNDS) -> Solver:
    """Let the model check itself, in the same words and equally often for every item.

    Parameters
    ----------
    rounds : int
        Follow-ups an item.
    """
    condition = Condition.make("refine", rounds=rounds)
    words = wording.refine()
    return _conversation(condition.name, rounds, lambda state, number: words)


@solver
def reprompt(
    rounds: int = ROUNDS,
    match: str | None = None,
    allocation: str = ALLOCATION,
    seed: int = 0,
) -> Solver:
    """Ask again in words that say nothing, as often in all as a CGSV run did.

    Parameters
    ----------
    rounds : int
        Follow-ups an item without a match; with one, the most that an item may get.
    match : str, optional
        Folder or transcripts of the CGSV run.
    allocation : {"shuffled", "same"}
        ``shuffled`` deals the run's extra calls to items by a permutation, so that nothing depends
        on an oracle. ``same`` gives them to the very items that violated: the oracle then chooses
        the items and says nothing, which tells the effect of the words from that of the choice.
    seed : int
        Of the permutation.
    """
    given = None if match is None and allocation == ALLOCATION else allocation
    condition = Condition.make("reprompt", rounds=rounds, match=match, allocation=given)
    if match is None:
        words = wording.neutral()
        return _conversation(condition.name, rounds, lambda state, number: words)
    plan = budget.read(match, allocation, rounds, seed)

    def follow_up(state: TaskState, number: int) -> str | None:
        due = plan.calls_for(str(state.sample_id), state.epoch - 1)
        return plan.message(_constraint(state)) if number <= due else None

    # Another run to match with is another condition, whose answers are kept apart.
    return _conversation(condition.name, rounds, follow_up, {"match": plan.digest})


def _conversation(
    name: str,
    rounds: int,
    follow_up: Callable[[TaskState, int], str | None],
    scopes: dict[str, str] | None = None,
) -> Solver:
    """Ask, then ask on with what `follow_up` says before round 1, 2, ...; None ends it."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        kept: list[dict[str, Any]] = state.metadata.setdefault(ROUNDS_KEPT, [])
        message = ""
        for number in range(rounds + 1):
            if number:
                words = follow_up(state, number)
                if words is None:
                    break
                message = words
                state.messages.append(ChatMessageUser(content=message))
            scope = {"condition": name, "round": str(number), **(scopes or {})}
            state = await answer(state, generate, scope)
            if state.metadata.get(UNSUPPORTED):
                break
            kept.append({"message": message, **record_of(state.output)})
        return state

    return solve


def _feedback(state: TaskState, level: str) -> str | None:
    item = catalog.get(str(state.sample_id))
    graded = grading.grade(item, state.output.completion)
    if graded.outcome is not Outcome.VIOLATION:
        return None
    return wording.message(item, graded, level)


def _constraint(state: TaskState) -> str:
    return catalog.get(str(state.sample_id)).constraint
