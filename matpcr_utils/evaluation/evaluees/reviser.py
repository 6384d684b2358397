"""``matpcr/reviser``: no model but a script of known behaviour, a yardstick for the statistics.

It is told which item it answers and knows the truth. With fixed chances it starts with a consistent
claim or a violating one, and on every follow-up it fixes, spoils, withdraws or repeats what it said
last, whatever the follow-up says. What an analysis of its conversations should find is therefore
known in advance. It says nothing about how models behave.

A violating claim is planted as the positive control of the constraint type does it, outside the
tolerance of everything in the item's reference (`controls`).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from inspect_ai.model import GenerateConfig
from numpy.typing import NDArray

from matpcr_utils import controls, items, oracles
from matpcr_utils.claims.model import Claim, ClaimTable
from matpcr_utils.errors import MatPCRError
from matpcr_utils.evaluation import catalog, grading, priors
from matpcr_utils.evaluation.evaluees.wording import sentence
from matpcr_utils.evaluation.providers import Answer
from matpcr_utils.evaluation.question import Question
from matpcr_utils.items import Item
from matpcr_utils.oracles.base import Outcome

#: What it can say of an item: the truth; something consistent that is not accurate; a violation;
#: nothing that can be checked.
RIGHT, RETREAT, WRONG, DROPPED = "right", "retreat", "wrong", "dropped"
KINDS = (RIGHT, RETREAT, WRONG, DROPPED)

#: How it withdraws a claim.
WITHDRAWAL = "On reflection I leave the question open."
#: Attempts at a planted claim that is still a violation after it was rounded for its sentence.
_TRIES = 50
#: A leaked value, as feedback puts it, and how it is claimed.
_LEAKED = re.compile(r"(-?\d+(?:\.\d+)?) ?(°|cm⁻¹|eV/atom|eV|μB per atom|nm/px|nm)")
_COPIES = {
    "°": "The line is at 2θ = {}°.",
    "cm⁻¹": "The band is at {} cm⁻¹.",
    "eV/atom": "The energy above the hull is {} eV/atom.",
    "eV": "The band gap is {} eV.",
    "μB per atom": "The net magnetization is {} μB per atom.",
    "nm/px": "The scale is {} nm/px.",
    "nm": "The diameter of the feature is {} nm.",
}


@dataclass(frozen=True)
class Reviser:
    """The script.

    Attributes
    ----------
    p_consistent : float
        Chance that the first answer is consistent (it is then the truth).
    p_fix : float
        Chance, on a follow-up, that a violating claim is replaced by a consistent one.
    q_regress : float
        Chance, on a follow-up, that a consistent claim is replaced by a violating one.
    r_drop : float
        Chance, on a follow-up, that the claim is withdrawn; drawn before the other two. What was
        withdrawn stays so.
    s_retreat : float
        Share of the fixes that are consistent without being accurate, where an item allows that.
    copies_reference : bool
        When a follow-up to a violating claim contains a value with a unit, claim that value.
    """

    p_consistent: float = 0.5
    p_fix: float = 0.3
    q_regress: float = 0.0
    r_drop: float = 0.0
    s_retreat: float = 0.0
    copies_reference: bool = False

    READS_IMAGES: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if name == "copies_reference":
                if not isinstance(value, bool):
                    raise MatPCRError(f"matpcr/reviser: {name} = {value!r} must be true or false")
            elif isinstance(value, bool) or not isinstance(value, int | float):
                raise MatPCRError(f"matpcr/reviser: {name} = {value!r} must be a number")
            elif not 0 <= value <= 1:
                raise MatPCRError(f"matpcr/reviser: {name} = {value} must lie from 0 to 1")

    def answer(self, question: Question, config: GenerateConfig) -> Answer:
        """The next line of the script.

        Raises
        ------
        MatPCRError
            If the question is not one of a task of this package.
        """
        if not question.item_id:
            raise MatPCRError(
                "matpcr/reviser has to be told which item it answers: ask it with a task of this "
                "package"
            )
        said = [words for role, words in question.turns if role == "assistant"]
        return Answer(self._says(question, said), settings=asdict(self))

    def _says(self, question: Question, said: list[str]) -> str:
        drawn = draws(question.item_id, question.seed, len(said))
        if not said:
            return line(question.item_id, self.first(drawn))
        before = _kind(question.item_id, said[-1])
        leaked = _LEAKED.findall(question.last)
        if self.copies_reference and before == WRONG and leaked:
            value, unit = leaked[-1]
            return _COPIES[unit].format(value)
        after = self.next(before, drawn)
        return said[-1] if after == before else line(question.item_id, after)

    def first(self, drawn: NDArray[np.float64]) -> str:
        """The kind of the first answer, from `draws`."""
        return RIGHT if drawn[0] < self.p_consistent else WRONG

    def next(self, before: str, drawn: NDArray[np.float64]) -> str:
        """The kind of the answer to a follow-up, from that of the answer before it and `draws`."""
        if before == DROPPED or drawn[0] < self.r_drop:
            return DROPPED
        if before == WRONG:
            if drawn[1] >= self.p_fix:
                return WRONG
            return RETREAT if drawn[2] < self.s_retreat else RIGHT
        return WRONG if drawn[1] < self.q_regress else before


def create(**settings: Any) -> Reviser:
    """The evaluee."""
    return Reviser(**settings)


def draws(item_id: str, seed: int, number: int) -> NDArray[np.float64]:
    """Three numbers from [0, 1): the same for the same item, seed and round, on every machine."""
    digest = hashlib.sha256(f"{item_id}|{seed}|{number}".encode()).digest()
    # 53 bits are what a float holds, so that 1 is never reached.
    return (np.frombuffer(digest[:24], ">u8") >> np.uint64(11)) / 2.0**53


@lru_cache(maxsize=4096)
def line(item_id: str, kind: str) -> str:
    """What is said of an item.

    Parameters
    ----------
    item_id : str
    kind : str
        Of `KINDS`. Where an item has no claim of the kind `RETREAT`, the truth is said.

    Raises
    ------
    MatPCRError
        If no violation can be planted.
    """
    item = catalog.get(item_id)
    if kind == DROPPED:
        return WITHDRAWAL
    if kind == WRONG:
        return _planted(item)
    if kind == RETREAT:
        for claim in _retreats(item):
            graded = grading.grade(item, sentence(claim))
            if graded.outcome is Outcome.CONSISTENT and graded.accurate is False:
                return sentence(claim)
    return sentence(items.true_claim(item))


def _kind(item_id: str, said: str) -> str:
    """Which kind an earlier answer was; what is consistent need not be told apart."""
    outcome = grading.grade(catalog.get(item_id), said).outcome
    if outcome is Outcome.VIOLATION:
        return WRONG
    return RIGHT if outcome is Outcome.CONSISTENT else DROPPED


def _planted(item: Item) -> str:
    """A claim outside the tolerance of the whole reference, planted as in the control."""
    plan = controls.design(item.constraint)
    tolerances = oracles.get(item.constraint).Tolerances()
    reference = priors.columns(item.constraint, [items.reference(item)])
    true = ClaimTable.from_claims([items.true_claim(item)])
    rng = np.random.default_rng(int.from_bytes(hashlib.sha256(item.item_id.encode()).digest()[:8]))
    only = np.zeros(1, np.intp)
    eligible = plan.eligible(reference, tolerances).all()
    for _ in range(_TRIES):
        if eligible:
            planted = plan.plant(true, reference, only, tolerances, rng)
        else:
            # The control keeps a margin from everything visible; here the oracle's word is enough.
            planted = priors.draw(item.constraint, item.asks, reference, only, rng)
        said = sentence(planted.claim(0))
        if grading.grade(item, said).outcome is Outcome.VIOLATION:
            return said
    raise MatPCRError(f"no violation can be planted on {item.item_id}")


def _retreats(item: Item) -> Iterator[Claim]:
    """Claims that may be consistent and are not accurate."""
    true = items.true_claim(item)
    if isinstance(true.value, str):
        for label in ("stable", "unstable", "metastable"):
            if item.constraint == "stability" and label != true.value:
                yield Claim(true.quantity, label)
        return
    moved: dict[str, tuple[float, ...]] = {
        "two_theta": (true.value + 0.3, true.value - 0.3),
        "raman_shift": (true.value + 3.5, true.value - 3.5),
        "feature_size": (true.value / 2,),
        "scale": (true.value * 1.05, true.value * 0.95),
    }
    # Of energies, gaps and moments: far off, on the same side of the oracle's threshold.
    others = (true.value * 2, true.value / 2, 0.04, 0.045, 0.0)
    for value in moved.get(true.quantity, others):
        yield Claim(true.quantity, value, basis=true.basis)
