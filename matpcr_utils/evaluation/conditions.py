"""Ways of asking: once, with the oracle's feedback (CGSV), and CGSV's two controls.

A `Condition` names a way with its parameters, so that the command line, the run, its folder, its
log and its transcripts all mean the same by it. What each does is in `cgsv`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matpcr_utils.errors import MatPCRError

if TYPE_CHECKING:
    from inspect_ai.solver import Solver

KINDS = ("plain", "cgsv", "refine", "reprompt")
#: How much a CGSV message gives away, from least to most; see `feedback`.
LEVELS = ("verdict", "reason", "reference")
#: Which items the extra calls of a matched CGSV run go to; see `budget`.
ALLOCATIONS = ("shuffled", "same")

#: Revisions at most; the paper's two (section 4.9).
ROUNDS = 2
#: More follow-ups than this are a mistyped number.
MAX_ROUNDS = 20
LEVEL = "reason"
ALLOCATION = "shuffled"

#: What may be said of which kind.
_OPTIONS: dict[str, tuple[str, ...]] = {
    "plain": (),
    "cgsv": ("rounds", "feedback"),
    "refine": ("rounds",),
    "reprompt": ("rounds", "match", "allocation"),
}


@dataclass(frozen=True, slots=True)
class Condition:
    """One way of asking.

    Attributes
    ----------
    kind : str
        Of `KINDS`.
    rounds : int
        Follow-ups an item: at most (CGSV) or exactly (the controls without a match).
    feedback : str
        Of `LEVELS`.
    match : str or None
        Folder or transcripts of the CGSV run that re-prompting is matched with.
    allocation : str
        Of `ALLOCATIONS`; without a match all items get `rounds` follow-ups.
    """

    kind: str = "plain"
    rounds: int = ROUNDS
    feedback: str = LEVEL
    match: str | None = None
    allocation: str = ALLOCATION

    @classmethod
    def make(cls, kind: str = "plain", **options: Any) -> Condition:
        """A condition from what a user said; an option that is None was not given.

        Parameters
        ----------
        kind : str
        **options
            ``rounds``, ``feedback``, ``match``, ``allocation``.

        Raises
        ------
        MatPCRError
            If the kind or a value is unknown, or an option does not belong to the kind.
        """
        _choose("condition", kind, KINDS)
        given = {name: value for name, value in options.items() if value is not None}
        for name, value in given.items():
            if name not in _OPTIONS[kind]:
                fitting = [other for other in KINDS if name in _OPTIONS[other]]
                raise MatPCRError(
                    f"{name} = {value!r} says nothing of the condition {kind}: leave it out, or "
                    f"choose the condition {' or '.join(fitting)}"
                )
        if "allocation" in given and "match" not in given:
            raise MatPCRError(
                f"allocation = {given['allocation']!r} needs a match: name the folder of the CGSV "
                "run whose extra calls are dealt out"
            )
        if "rounds" in given:
            check_rounds(given["rounds"])
        if "feedback" in given:
            _choose("feedback", given["feedback"], LEVELS)
        if "allocation" in given:
            _choose("allocation", given["allocation"], ALLOCATIONS)
        if "match" in given:
            given["match"] = str(Path(given["match"]).resolve())
        return cls(kind, **given)

    @classmethod
    def of_step(cls, solver: str, params: Mapping[str, Any]) -> Condition | None:
        """The condition of a step of an Inspect log's plan; None for a solver of others."""
        kind = "plain" if solver == "ask" else solver
        if kind not in KINDS:
            return None
        known = {name: params[name] for name in _OPTIONS[kind] if name in params}
        return cls(kind, **known)

    @property
    def name(self) -> str:
        """As transcripts file it, e.g. ``cgsv-reason-2``."""
        if self.kind == "cgsv":
            return f"cgsv-{self.feedback}-{self.rounds}"
        if self.kind == "refine":
            return f"refine-{self.rounds}"
        if self.kind == "reprompt":
            return f"reprompt-{self.allocation if self.match else 'all'}-{self.rounds}"
        return "plain"

    def solver(self) -> Solver | None:
        """Inspect's solver; None for `plain`, which the tasks use by themselves."""
        from matpcr_utils.evaluation import cgsv

        if self.kind == "cgsv":
            return cgsv.cgsv(self.rounds, self.feedback)
        if self.kind == "refine":
            return cgsv.refine(self.rounds)
        if self.kind == "reprompt":
            return cgsv.reprompt(self.rounds, self.match, self.allocation)
        return None


def check_rounds(rounds: Any) -> None:
    """Refuse a number of follow-ups that is none.

    Raises
    ------
    MatPCRError
        Naming the value and the range.
    """
    if isinstance(rounds, bool) or not isinstance(rounds, int) or not 1 <= rounds <= MAX_ROUNDS:
        raise MatPCRError(f"rounds = {rounds!r} must be a whole number from 1 to {MAX_ROUNDS}")


def _choose(what: str, value: Any, known: tuple[str, ...]) -> None:
    if value not in known:
        raise MatPCRError(f"unknown {what} {value!r}: choose one of {', '.join(known)}")
