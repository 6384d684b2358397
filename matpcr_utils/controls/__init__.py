"""Positive control and chance-pass rate of an oracle.

A *positive control* states what is true of every reference, turns a known share of the statements
into violations, and counts what the oracle misses (false negatives) and flags wrongly (false
positives). The *chance-pass rate* is the share of claims drawn from a plain prior that pass.

Each constraint has a module here (a `Design`) that knows how to state truths, how to plant
violations and what the plain prior is; the counting is the same for all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from matpcr_utils import oracles
from matpcr_utils.claims.model import BASES, LABELS, QUANTITIES, ClaimTable
from matpcr_utils.errors import MatPCRError
from matpcr_utils.oracles.base import VerdictTable
from matpcr_utils.statistics import BootstrapRate, Rate, bootstrap, rate

if TYPE_CHECKING:
    import pandas as pd


class Design(Protocol):
    """What a constraint's module offers to the control."""

    #: How a true claim becomes a violation, in words.
    CONSTRUCTION: str
    #: The prior of the chance-pass rate, in words.
    PRIOR: str

    def default_references(self) -> Any:
        """All references that the package ships, in the form `check_many` takes; has ``len``."""

    def true_claims(
        self, references: Any, index: NDArray[np.intp], tolerances: Any, rng: np.random.Generator
    ) -> ClaimTable:
        """One true claim about each ``references[index[i]]``."""

    def plant(
        self,
        claims: ClaimTable,
        references: Any,
        index: NDArray[np.intp],
        tolerances: Any,
        rng: np.random.Generator,
    ) -> ClaimTable:
        """Turn every claim into one that lies outside the tolerance of its whole reference."""

    def draw_prior(
        self, references: Any, index: NDArray[np.intp], rng: np.random.Generator
    ) -> ClaimTable:
        """One claim a row, drawn from the plain prior without looking at the reference's answer."""

    def eligible(self, references: Any, tolerances: Any) -> NDArray[np.bool_]:
        """Mask of the references on which a violation can be planted at all."""


def design(constraint: str) -> Design:
    """The control's design for one constraint type."""
    oracles.get(constraint)
    return cast(Design, import_module(f"{__name__}.{constraint}"))


@dataclass(frozen=True)
class ControlResult:
    """Counts of one positive control.

    Attributes
    ----------
    constraint : str
    share, seed : float, int
        Planted share asked for, and the seed of every draw.
    claims : ClaimTable, n rows
    index : ndarray of int, shape (n,)
        Which reference each claim is about.
    planted : ndarray of bool, shape (n,)
    verdicts : VerdictTable, n rows
    """

    constraint: str
    share: float
    seed: int
    claims: ClaimTable
    index: NDArray[np.intp]
    planted: NDArray[np.bool_]
    verdicts: VerdictTable

    @property
    def false_negatives(self) -> Rate:
        """Planted claims that were not flagged (passed or abstained on), of all planted ones."""
        missed = self.planted & ~self.verdicts.violation
        return rate(int(missed.sum()), int(self.planted.sum()))

    @property
    def false_positives(self) -> Rate:
        """True claims that were flagged, of all true claims that were judged."""
        judged = ~self.planted & ~self.verdicts.abstain
        return rate(int((judged & self.verdicts.violation).sum()), int(judged.sum()))

    def false_positives_by_reference(self) -> BootstrapRate:
        """The same rate, its interval by a bootstrap over references.

        Claims on one reference are not independent; where a control visits its references several
        times, this is the interval to read.
        """
        judged = ~self.planted & ~self.verdicts.abstain
        return bootstrap(
            self.verdicts.violation[judged], sources=self.index[judged], seed=self.seed
        )

    @property
    def abstentions(self) -> Rate:
        """True claims that the oracle could not judge, of all true claims."""
        true = ~self.planted
        return rate(int((true & self.verdicts.abstain).sum()), int(true.sum()))

    def summary(self) -> pd.DataFrame:
        """One row: n, planted, and the three rates with 95 % Clopper–Pearson intervals."""
        import pandas as pd

        return pd.DataFrame(
            [
                {
                    "constraint": self.constraint,
                    "planted share": f"{self.share:.0%}",
                    "claims": len(self.claims),
                    "planted": int(self.planted.sum()),
                    "false-negative rate": str(self.false_negatives),
                    "false-positive rate": str(self.false_positives),
                    "abstained on true claims": str(self.abstentions),
                    "seed": self.seed,
                }
            ]
        )

    def cases(self, mask: NDArray[np.bool_]) -> pd.DataFrame:
        """The chosen claims with their verdicts, a row each."""
        import pandas as pd

        rows = np.flatnonzero(mask)
        claims = self.claims.take(rows)
        return pd.DataFrame(
            {
                "reference": self.index[rows],
                "quantity": np.array(QUANTITIES)[claims.quantity],
                "claimed": [
                    LABELS[label] if label >= 0 else f"{value:.6g}"
                    for label, value in zip(claims.label, claims.value, strict=True)
                ],
                "basis": [BASES[b] if b >= 0 else "" for b in claims.basis],
                "planted": self.planted[rows],
                "outcome": self.verdicts.outcomes[rows],
                "reason": self.verdicts.reason_names[rows],
            }
        )

    def misses(self) -> pd.DataFrame:
        """The planted claims that were not flagged."""
        return self.cases(self.planted & ~self.verdicts.violation)

    def false_alarms(self) -> pd.DataFrame:
        """The true claims that were flagged."""
        return self.cases(~self.planted & self.verdicts.violation)

    def require_no_miss(self) -> None:
        """Fail, naming the first miss, when a planted violation was not flagged.

        Raises
        ------
        AssertionError
            An oracle that misses a planted violation may not grade a model.
        """
        missed = self.misses()
        if len(missed):
            raise AssertionError(
                f"the {self.constraint} control missed {len(missed)} of {int(self.planted.sum())} "
                f"planted violations; the first:\n{missed.iloc[0].to_string()}"
            )


def run(
    constraint: str,
    *,
    planted: float = 0.3,
    n: int | None = None,
    references: Any = None,
    tolerances: Any = None,
    seed: int = 0,
) -> ControlResult:
    """Plant violations among true claims and let the oracle find them.

    Parameters
    ----------
    constraint : str
    planted : float
        Share of the claims turned into violations, in (0, 1).
    n : int, optional
        Number of claims; every reference is visited equally often. Default: one a reference,
        at least 500.
    references : optional
        In the form the oracle's `check_many` takes; default, all that the package ships.
    tolerances : optional
        The oracle's `Tolerances`.
    seed : int
        Of the one generator behind every draw.

    Raises
    ------
    MatPCRError
        If `planted` or `n` lies outside its range, or no reference can carry a violation.
    """
    if not 0 < planted < 1:
        raise MatPCRError(f"planted = {planted} must lie strictly between 0 and 1, e.g. 0.3")
    oracle, plan = oracles.get(constraint), design(constraint)
    references = plan.default_references() if references is None else references
    tolerances = oracle.Tolerances() if tolerances is None else tolerances
    rng = np.random.default_rng(seed)
    pool = np.flatnonzero(plan.eligible(references, tolerances))
    index = _visits(pool, n, rng)
    chosen = rng.permutation(len(index)) < round(planted * len(index))
    claims = plan.true_claims(references, index, tolerances, rng)
    violations = plan.plant(claims, references, index, tolerances, rng)
    claims = _where(chosen, violations, claims)
    verdicts = oracle.check_many(claims, references, tolerances, index=index)
    return ControlResult(constraint, planted, seed, claims, index, chosen, verdicts)


def run_shares(
    constraint: str, shares: Sequence[float] = (0.1, 0.3, 0.5), **options: Any
) -> list[ControlResult]:
    """`run` at several planted shares (the paper's 10, 30 and 50 %, section 4.8)."""
    return [run(constraint, planted=share, **options) for share in shares]


@dataclass(frozen=True)
class ChanceResult:
    """How often claims from a plain prior pass.

    Attributes
    ----------
    constraint, prior : str
        The prior in words.
    passes : Rate
        Consistent, of the claims that were judged.
    abstained : Rate
        Not judged, of all claims.
    by_reference : ndarray of float, shape (n_references,)
        Pass rate on each reference; NaN for a reference on which nothing was judged.
    seed : int
    """

    constraint: str
    prior: str
    passes: Rate
    abstained: Rate
    by_reference: NDArray[np.float64]
    seed: int


def chance(
    constraint: str,
    *,
    draws: int = 200,
    references: Any = None,
    tolerances: Any = None,
    seed: int = 0,
) -> ChanceResult:
    """Chance-pass rate: `draws` claims a reference from the constraint's plain prior.

    Raises
    ------
    MatPCRError
        If `draws` is not positive.
    """
    plan = design(constraint)
    references = plan.default_references() if references is None else references
    index, verdicts = judge_draws(constraint, plan.draw_prior, draws, references, tolerances, seed)
    judged, passed = ~verdicts.abstain, verdicts.consistent
    judged_by = np.bincount(index[judged], minlength=len(references))
    passed_by = np.bincount(index[passed], minlength=len(references))
    with np.errstate(invalid="ignore"):
        by_reference = np.where(judged_by > 0, passed_by / judged_by, np.nan)
    return ChanceResult(
        constraint=constraint,
        prior=plan.PRIOR,
        passes=rate(int(passed.sum()), int(judged.sum())),
        abstained=rate(int((~judged).sum()), len(index)),
        by_reference=by_reference,
        seed=seed,
    )


def judge_draws(
    constraint: str,
    draw: Callable[[Any, NDArray[np.intp], np.random.Generator], ClaimTable],
    draws: int,
    references: Any,
    tolerances: Any,
    seed: int,
) -> tuple[NDArray[np.intp], VerdictTable]:
    """The verdicts on `draws` claims a reference from a prior, and which reference each is about.

    Raises
    ------
    MatPCRError
        If `draws` is not positive.
    """
    if draws < 1:
        raise MatPCRError(f"draws = {draws} must be at least 1")
    index = np.repeat(np.arange(len(references)), draws)
    claims = draw(references, index, np.random.default_rng(seed))
    return index, oracles.get(constraint).check_many(claims, references, tolerances, index=index)


def _visits(pool: NDArray[np.intp], n: int | None, rng: np.random.Generator) -> NDArray[np.intp]:
    """`n` positions that visit every member of `pool` equally often, in random order."""
    if not len(pool):
        raise MatPCRError("no reference can carry a planted violation at these tolerances")
    n = max(len(pool), 500) if n is None else n
    if n < 2:
        raise MatPCRError(f"n = {n} must be at least 2: one true claim and one planted one")
    rounds = -(-n // len(pool))
    return np.concatenate([rng.permutation(pool) for _ in range(rounds)])[:n]


def _where(mask: NDArray[np.bool_], a: ClaimTable, b: ClaimTable) -> ClaimTable:
    return ClaimTable(
        quantity=np.where(mask, a.quantity, b.quantity),
        value=np.where(mask, a.value, b.value),
        label=np.where(mask, a.label, b.label),
        basis=np.where(mask, a.basis, b.basis),
    )
