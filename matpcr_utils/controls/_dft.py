"""What the controls of the three DFT-grounded oracles share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from matpcr_utils import oracles
from matpcr_utils.claims.model import (
    BASES,
    CONSTRAINTS,
    Claim,
    ClaimTable,
    basis_code,
    label_code,
    quantity_code,
)
from matpcr_utils.oracles import _dft
from matpcr_utils.statistics import Rate, rate

if TYPE_CHECKING:
    import pandas as pd

    from matpcr_utils.controls import ControlResult

Index = NDArray[np.intp]


def default_references() -> Any:
    """The shipped DFT table: every entry with an energy, a gap and a magnetization."""
    from matpcr_utils.references import dft

    return dft.load()


def one_of(options: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.intp]:
    """In each row, the position of one of the true columns at random; -1 in a row without one."""
    weight = np.where(options, rng.random(options.shape), -1.0)
    return np.where(options.any(axis=1), weight.argmax(axis=1), -1)


def statements(
    constraint: str,
    labels: tuple[str, ...],
    label: NDArray[np.intp],
    value: NDArray[np.float64],
    basis: NDArray[np.int8],
    by_number: NDArray[np.bool_],
) -> ClaimTable:
    """One claim a row: its number where `by_number`, else the label at position `label`."""
    quantities = [quantity_code(name) for name in CONSTRAINTS[constraint]]
    codes = np.array([label_code(name) for name in labels], np.int8)
    return ClaimTable(
        quantity=np.where(by_number, quantities[1], quantities[0]).astype(np.int8),
        value=np.where(by_number, value, np.nan),
        label=np.where(by_number, -1, codes[label]).astype(np.int8),
        basis=np.where(by_number, basis, -1).astype(np.int8),
    )


def random_basis(
    references: Any, index: Index, rng: np.random.Generator
) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
    """A basis a row and the atoms it counts; per atom where the reference can't convert it.

    Returns
    -------
    basis : ndarray of int8
        Position in `BASES`.
    atoms : ndarray of float
        Atoms in one of them.
    """
    basis = rng.integers(len(BASES), size=len(index)).astype(np.int8)
    atoms = _dft.atoms_per(basis, *_dft.sizes(references, index))
    known = np.isfinite(atoms)
    return np.where(known, basis, basis_code("atom")).astype(np.int8), np.where(known, atoms, 1.0)


def coin(quantity: str, labels: tuple[str, str], n: int, rng: np.random.Generator) -> ClaimTable:
    """`n` claims by a fair coin over two labels."""
    return ClaimTable.labels(quantity, np.array(labels)[rng.integers(2, size=n)])


def log_uniform(low: float, high: float, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """`n` numbers between `low` and `high`, every order of magnitude equally likely."""
    return np.exp(rng.uniform(np.log(low), np.log(high), n))


def chance_of_numbers(
    constraint: str,
    *,
    draws: int = 100,
    references: Any = None,
    tolerances: Any = None,
    seed: int = 0,
) -> Rate:
    """Chance-pass rate of claimed numbers, from the design's `draw_number_prior`.

    Parameters
    ----------
    constraint : {"stability", "metallicity", "magnetism"}
    draws : int
        Claims a reference.
    references, tolerances : optional
        As for `controls.chance`.
    seed : int

    Returns
    -------
    Rate
        Consistent, of the claims that were judged.

    Raises
    ------
    MatPCRError
        If `draws` is not positive.
    """
    from matpcr_utils.controls import design, judge_draws

    plan: Any = design(constraint)
    references = plan.default_references() if references is None else references
    _, verdicts = judge_draws(
        constraint, plan.draw_number_prior, draws, references, tolerances, seed
    )
    return rate(int(verdicts.consistent.sum()), int((~verdicts.abstain).sum()))


def errors(
    constraint: str, references: Any, tolerances: Any, fixed: ControlResult
) -> dict[str, int | float]:
    """The control's errors at these tolerances, by truths of two kinds.

    Parameters
    ----------
    constraint : str
    references : DFTTable
    tolerances : Tolerances
    fixed : ControlResult
        A control at other tolerances; its claims are judged again by these ones.

    Returns
    -------
    dict
        Misses and false alarms of a control whose truths follow the tolerances, and of `fixed`.
    """
    from matpcr_utils import controls

    follow = controls.run(
        constraint,
        planted=fixed.share,
        references=references,
        tolerances=tolerances,
        seed=fixed.seed,
    )
    oracle = oracles.get(constraint)
    verdicts = oracle.check_many(fixed.claims, references, tolerances, index=fixed.index)
    missed = fixed.planted & ~verdicts.violation
    return {
        "missed": follow.false_negatives.count,
        "planted": follow.false_negatives.n,
        "false alarms": follow.false_positives.count,
        "true": follow.false_positives.n,
        "missed, fixed truths": int(missed.sum()),
        "false alarms, fixed truths": int((~fixed.planted & verdicts.violation).sum()),
    }


def edge_table(
    constraint: str, cases: Sequence[tuple[dict[str, float | None], Claim]], tolerances: Any
) -> pd.DataFrame:
    """Verdicts on made-up references that sit on the oracle's edges.

    Parameters
    ----------
    constraint : str
    cases : sequence of (dict, Claim)
        Values of the made-up reference (a cell of four atoms, two formula units), and the claim.
    tolerances : Tolerances

    Returns
    -------
    DataFrame
        A row a case: reference, claim, verdict, reason.
    """
    import pandas as pd

    from matpcr_utils.references.dft import DFTEntry

    oracle, rows = oracles.get(constraint), []
    for values, claim in cases:
        made_up: Any = {"nsites": 4, "formula_units": 2, **values}
        verdict = oracle.check(claim, DFTEntry("edge", "AB", **made_up), tolerances)
        reference = ", ".join(f"{name} = {_short(value)}" for name, value in values.items())
        rows.append((reference, _words(claim), str(verdict.outcome), verdict.reason))
    return pd.DataFrame(rows, columns=["Reference", "Claim", "Verdict", "Reason"])


def _words(claim: Claim) -> str:
    if isinstance(claim.value, str):
        return claim.value.replace("_", " ")
    unit = {"eV/atom": "eV", "bohr magneton": "μB"}.get(claim.unit, claim.unit)
    basis = claim.basis
    if claim.quantity == "energy_above_hull":
        basis = basis or "atom"
    per = f" per {basis.replace('_', ' ')}" if basis else ""
    return f"{_short(claim.value)} {unit}{per}"


def _short(value: float | None) -> str:
    return "missing" if value is None else f"{value:.7g}"


def judged_table(
    constraint: str,
    statements_of: Mapping[str, ClaimTable],
    references: Any,
    tolerances: Any,
) -> pd.DataFrame:
    """How the oracle takes several ways of stating the same references, a row each."""
    import pandas as pd

    rows = []
    for name, claims in statements_of.items():
        verdicts = oracles.get(constraint).check_many(claims, references, tolerances)
        abstained = int(verdicts.abstain.sum())
        flagged = rate(int(verdicts.violation.sum()), len(claims) - abstained)
        rows.append((name, len(claims), abstained, flagged.count, str(flagged)))
    columns = ["Statement", "claims", "abstained", "flagged", "flagged of the judged"]
    return pd.DataFrame(rows, columns=columns).set_index("Statement")


def gallery(constraint: str, cases: Sequence[tuple[str, str]], tolerances: Any) -> pd.DataFrame:
    """Chains about shipped materials and what the oracle makes of them, a row each.

    Parameters
    ----------
    constraint : str
    cases : sequence of (str, str)
        Materials Project id, and a chain about that material.
    tolerances : Tolerances
    """
    import pandas as pd

    from matpcr_utils.references import dft

    rows = []
    for material_id, chain in cases:
        entry = dft.entry(material_id)
        judged = oracles.check_chain(chain, constraint, entry, tolerances)
        reasons = ", ".join(dict.fromkeys(verdict.reason for verdict in judged.verdicts))
        name = f"{entry.formula} ({material_id})"
        rows.append((name, chain, str(judged.outcome), reasons or "no claim read"))
    return pd.DataFrame(rows, columns=["Material", "Chain", "Verdict", "Reason"])
