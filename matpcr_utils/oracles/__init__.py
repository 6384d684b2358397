"""Six oracles, one module each, found by the name of their constraint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from matpcr_utils.claims.model import CONSTRAINTS, Claim
from matpcr_utils.errors import MatPCRError
from matpcr_utils.oracles.base import Oracle, Outcome, Verdict, VerdictTable

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ChainVerdict", "Oracle", "Outcome", "Verdict", "VerdictTable", "check_chain", "get"]


def get(constraint: str) -> Oracle:
    """The oracle of a constraint type; its module is imported on first use.

    Raises
    ------
    MatPCRError
        If there is no such constraint type.
    """
    if constraint not in CONSTRAINTS:
        raise MatPCRError(
            f"unknown constraint {constraint!r}: choose one of {', '.join(CONSTRAINTS)}"
        )
    return cast(Oracle, import_module(f"{__name__}.{constraint}"))


@dataclass(frozen=True)
class ChainVerdict:
    """What an oracle says of a whole chain.

    Attributes
    ----------
    outcome : Outcome
        ``violation`` when one claim violates, else ``consistent`` when one claim was judged
        consistent, else ``abstain``.
    claims, verdicts : tuple
        The claims that were read and the verdict on each, in order.
    """

    outcome: Outcome
    claims: tuple[Claim, ...]
    verdicts: tuple[Verdict, ...]

    def to_frame(self) -> pd.DataFrame:
        """One row a claim: the words it was read from, what was read, the verdict and why."""
        import pandas as pd

        return pd.DataFrame(
            [
                {
                    "words": claim.text,
                    "quantity": claim.quantity,
                    "value": claim.value if isinstance(claim.value, str) else f"{claim.value:.6g}",
                    "unit": claim.unit,
                    "verdict": str(verdict.outcome),
                    "why": verdict.sentence,
                }
                for claim, verdict in zip(self.claims, self.verdicts, strict=True)
            ],
            columns=["words", "quantity", "value", "unit", "verdict", "why"],
        )


def check_chain(
    chain: str, constraint: str, reference: Any, tolerances: Any = None
) -> ChainVerdict:
    """Read the claims of a chain and judge each; one violation makes the chain violate.

    A chain without a claim, or whose claims can't be judged, abstains: it is not checkable and
    does not enter PCR (paper, section 4.5).
    """
    from matpcr_utils.claims import extract_claims

    oracle = get(constraint)
    claims = extract_claims(chain, constraint)
    verdicts = [oracle.check(claim, reference, tolerances) for claim in claims]
    return ChainVerdict(_worst(verdicts), tuple(claims), tuple(verdicts))


def _worst(verdicts: Sequence[Verdict]) -> Outcome:
    outcomes = {verdict.outcome for verdict in verdicts}
    for outcome in (Outcome.VIOLATION, Outcome.CONSISTENT):
        if outcome in outcomes:
            return outcome
    return Outcome.ABSTAIN
