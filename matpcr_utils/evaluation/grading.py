"""One chain judged: the only place where a verdict on a model's answer is made.

The scorers of a live run and the tables made from logs, transcripts and foreign chains all come
here, so that the same chain gets the same verdict whichever way it came.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from matpcr_utils import items, oracles
from matpcr_utils.claims.model import Claim
from matpcr_utils.errors import MatPCRError
from matpcr_utils.items import Item
from matpcr_utils.oracles.base import Outcome, Verdict

#: Reasons that no oracle gives: why a chain has no verdict at all.
NO_ANSWER = "no_answer"
NO_CLAIM = "no_claim"
NOT_JUDGED = "not_judged"
UNSUPPORTED = "unsupported"


@dataclass(frozen=True)
class Graded:
    """What is known of one chain.

    Attributes
    ----------
    outcome : Outcome
        Of the chain: one violation violates.
    reason : str
        Code of the verdict that decides the outcome; else ``no_answer`` (an empty chain),
        ``no_claim``, ``not_judged`` (the oracle refuses a claim, e.g. an infinite number) or
        ``unsupported`` (the model was not asked, for it reads no images).
    sentence : str
        The reason in words.
    claims, verdicts : tuple
        What was read, and the verdict on each claim.
    accurate : bool or None
        By the item's own tighter criterion; None when there is nothing to compare.
    """

    outcome: Outcome
    reason: str
    sentence: str
    claims: tuple[Claim, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    accurate: bool | None = None

    @property
    def deciding(self) -> int | None:
        """Position of the claim that decides the outcome; None without a claim."""
        for position, verdict in enumerate(self.verdicts):
            if verdict.outcome is self.outcome:
                return position
        return 0 if self.claims else None


_UNASKED = Graded(
    Outcome.ABSTAIN,
    UNSUPPORTED,
    "the item shows an image and the model reads none: not asked",
)


def unsupported() -> Graded:
    """The grade of an item that the model can't be asked."""
    return _UNASKED


def grade(item: Item, chain: str, tolerances: Any = None) -> Graded:
    """Judge one chain on one item.

    Parameters
    ----------
    item : Item
    chain : str
        The model's answer.
    tolerances : optional
        The oracle's `Tolerances`.
    """
    from matpcr_utils.claims import extract_claims

    if not chain.strip():
        return Graded(Outcome.ABSTAIN, NO_ANSWER, "the answer is empty")
    claims = tuple(extract_claims(chain, item.constraint))
    if not claims:
        return Graded(Outcome.ABSTAIN, NO_CLAIM, "the answer states nothing that can be checked")
    try:
        judged = oracles.check_chain(chain, item.constraint, items.reference(item), tolerances)
        accurate = items.accurate(item, claims)
    except MatPCRError as error:
        # A model may write 1e400: that it can't be judged is a finding, not a reason to stop.
        return Graded(Outcome.ABSTAIN, NOT_JUDGED, str(error), claims)
    deciding = next(v for v in judged.verdicts if v.outcome is judged.outcome)
    return Graded(
        judged.outcome,
        deciding.reason,
        deciding.sentence,
        judged.claims,
        judged.verdicts,
        None if accurate is None else bool(accurate),
    )
