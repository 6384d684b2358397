"""What every oracle answers with, and the one protocol that all six keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from matpcr_utils.claims.model import CONSTRAINTS, QUANTITIES, Claim, ClaimTable, quantity_code
from matpcr_utils.errors import MatPCRError


class Outcome(StrEnum):
    """The three answers of an oracle."""

    CONSISTENT = "consistent"
    VIOLATION = "violation"
    ABSTAIN = "abstain"


@dataclass(frozen=True, slots=True)
class Verdict:
    """An oracle's answer to one claim.

    Attributes
    ----------
    outcome : Outcome
        ``consistent``, ``violation`` or ``abstain``.
    reason : str
        Machine-readable code, a key of the oracle's `REASONS`; it determines the outcome.
    sentence : str
        The reason in words, with the numbers.
    details : mapping
        The numbers that the sentence names, in canonical units.
    """

    outcome: Outcome
    reason: str
    sentence: str
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class VerdictTable:
    """Verdicts as columns: a reason a row, and the outcome that each reason carries.

    Attributes
    ----------
    reason : ndarray of int8, shape (n,)
        Position in the keys of `reasons`.
    reasons : mapping of str to Outcome
        The oracle's `REASONS`, in order.
    """

    reason: NDArray[np.int8]
    reasons: Mapping[str, Outcome]

    def __len__(self) -> int:
        return len(self.reason)

    def _is(self, outcome: Outcome) -> NDArray[np.bool_]:
        return np.array([o is outcome for o in self.reasons.values()])[self.reason]

    @property
    def consistent(self) -> NDArray[np.bool_]:
        """Mask of the consistent rows."""
        return self._is(Outcome.CONSISTENT)

    @property
    def violation(self) -> NDArray[np.bool_]:
        """Mask of the violating rows."""
        return self._is(Outcome.VIOLATION)

    @property
    def abstain(self) -> NDArray[np.bool_]:
        """Mask of the rows that the oracle can't judge."""
        return self._is(Outcome.ABSTAIN)

    @property
    def reason_names(self) -> NDArray[np.str_]:
        """The reason code of each row, as text."""
        return np.array(list(self.reasons))[self.reason]

    @property
    def outcomes(self) -> NDArray[np.str_]:
        """The outcome of each row, as text."""
        return np.array([str(outcome) for outcome in self.reasons.values()])[self.reason]


class Oracle(Protocol):
    """What a module of this package offers; the module itself is the oracle."""

    CONSTRAINT: str
    REASONS: Mapping[str, Outcome]
    Tolerances: type[Any]

    def check(self, claim: Claim, reference: Any, tolerances: Any = None) -> Verdict:
        """Judge one claim against one reference."""

    def check_many(
        self,
        claims: ClaimTable | Sequence[Claim],
        references: Any,
        tolerances: Any = None,
        *,
        index: NDArray[np.intp] | None = None,
    ) -> VerdictTable:
        """Judge claim i against reference ``index[i]`` (reference i when `index` is None)."""


def as_table(claims: ClaimTable | Sequence[Claim]) -> ClaimTable:
    """Columns of claims, whichever form they came in."""
    return claims if isinstance(claims, ClaimTable) else ClaimTable.from_claims(claims)


def require_own(claims: ClaimTable, constraint: str) -> None:
    """Refuse claims of a quantity that the oracle of a constraint does not judge.

    Raises
    ------
    MatPCRError
        Naming the first such claim, its quantity and the quantities that the oracle judges.
    """
    own = CONSTRAINTS[constraint]
    foreign = np.ones(len(claims), bool)
    for name in own:
        foreign &= claims.quantity != quantity_code(name)
    if foreign.any():
        row = int(np.argmax(foreign))
        quantity = QUANTITIES[int(claims.quantity[row])]
        raise MatPCRError(
            f"claim {row} states {quantity} = {claims.claim(row).value}: the {constraint} oracle "
            f"judges {', '.join(own)}"
        )


def rows_of(n: int, size: int, index: NDArray[np.intp] | None) -> NDArray[np.intp] | None:
    """The checked `index` of `n` claims into `size` references; None for claim i against i.

    Raises
    ------
    MatPCRError
        When claims and references do not pair up, or an index points at no reference.
    """
    if index is None and n == 0:
        return np.zeros(0, np.intp)
    if index is None:
        if size != n:
            raise MatPCRError(
                f"{n} claims against {size} references: give one reference a claim, "
                "or index= to say which reference each claim is about"
            )
        return None
    index = np.asarray(index)
    if index.shape != (n,) or not np.issubdtype(index.dtype, np.integer):
        raise MatPCRError(
            f"index must hold {n} integers, one a claim; got {index.dtype} of shape {index.shape}"
        )
    if n and (index.min() < 0 or index.max() >= size):
        bad = index[(index < 0) | (index >= size)][0]
        raise MatPCRError(f"index {bad} points at no reference: there are {size}, counted from 0")
    return index


def positions_of(n: int, size: int, index: NDArray[np.intp] | None) -> NDArray[np.intp]:
    """`rows_of`, spelt out where a position is needed for every claim."""
    rows = rows_of(n, size, index)
    return np.arange(n) if rows is None else rows
