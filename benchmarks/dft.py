"""How fast the three DFT-grounded oracles judge: arrays, one by one, and a plain if/else oracle.

Run ``python benchmarks/dft.py``. All figures of a table come from the same run, one process.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from matpcr_utils import oracles
from matpcr_utils.claims.model import Claim, ClaimTable
from matpcr_utils.controls import design
from matpcr_utils.references import dft

CONSTRAINTS = ("stability", "metallicity", "magnetism")


def plain_stability(claim: Claim, entry: Any) -> str:
    """The criterion as one would first write it, a claim at a time."""
    energy = entry.energy_above_hull
    if energy is None:
        return "abstain"
    if claim.quantity == "energy_above_hull":
        claimed = float(claim.value) / _atoms(claim.basis, entry)
        return "consistent" if (claimed <= 0.05) == (energy <= 0.05) else "violation"
    if claim.value == "stable":
        return "consistent" if energy <= 0.05 else "violation"
    if claim.value == "metastable":
        return "consistent" if 1e-6 < energy <= 0.2 else "violation"
    return "consistent" if energy > 0.05 else "violation"


def plain_metallicity(claim: Claim, entry: Any) -> str:
    """The criterion as one would first write it, a claim at a time."""
    gap = entry.band_gap
    if gap is None:
        return "abstain"
    if claim.quantity == "band_gap":
        if claim.value < 0:
            return "violation"
        said = "zero" if claim.value <= 0.05 else "nonzero" if claim.value >= 0.2 else None
    else:
        said = "nonzero" if claim.value == "nonzero_gap" else "zero"
    found = "zero" if gap <= 0.05 else "nonzero" if gap >= 0.2 else None
    if said is None or found is None:
        return "abstain"
    return "consistent" if said == found else "violation"


def plain_magnetism(claim: Claim, entry: Any) -> str:
    """The criterion as one would first write it, a claim at a time."""
    if entry.total_magnetization is None:
        return "abstain"
    moment = abs(entry.total_magnetization) / entry.nsites
    if claim.quantity == "magnetism":
        if claim.value == "antiferromagnetic":
            return "abstain"
        agrees = (claim.value == "finite_net") == (moment > 0.05)
        return "consistent" if agrees else "violation"
    bases = [claim.basis] if claim.basis else ["atom", "formula_unit", "cell"]
    found = {_plain_moment(abs(claim.value) / _atoms(basis, entry), moment) for basis in bases}
    return found.pop() if len(found) == 1 else "abstain"


def _plain_moment(claimed: float, moment: float) -> str:
    if (claimed > 0.05) != (moment > 0.05):
        return "violation"
    if moment > 0.05 and not 0.1 <= claimed / moment <= 10:
        return "violation"
    return "consistent"


def _atoms(basis: str | None, entry: Any) -> float:
    if basis == "cell":
        return float(entry.nsites)
    return entry.nsites / entry.formula_units if basis == "formula_unit" else 1.0


PLAIN: dict[str, Callable[[Claim, Any], str]] = {
    "stability": plain_stability,
    "metallicity": plain_metallicity,
    "magnetism": plain_magnetism,
}


def claims_of(constraint: str, index: np.ndarray, seed: int) -> ClaimTable:
    """A mixture of true and planted claims, labels and numbers, in every basis."""
    rng = np.random.default_rng(seed)
    plan, table = design(constraint), dft.load()
    tolerances = oracles.get(constraint).Tolerances()
    true = plan.true_claims(table, index, tolerances, rng)
    wrong = plan.plant(true, table, index, tolerances, rng)
    wrong_here = rng.random(len(index)) < 0.3
    columns = {
        name: np.where(wrong_here, getattr(wrong, name), getattr(true, name))
        for name in ("quantity", "value", "label", "basis")
    }
    return ClaimTable(**columns)


def measure(constraint: str, n: int, n_single: int, repeats: int = 3) -> dict[str, float]:
    """Claims per second of each way, the best of `repeats`; outcomes are compared first."""
    table, oracle = dft.load(), oracles.get(constraint)
    index = np.random.default_rng(1).integers(len(table), size=n)
    claims = claims_of(constraint, index, seed=2)
    singles = [claims.claim(i) for i in range(n_single)]
    entries = [table.row(int(i)) for i in index[:n_single]]
    plain = PLAIN[constraint]

    expected = oracle.check_many(claims, table, index=index).outcomes[:n_single].tolist()
    for name, found in (
        ("check", [str(oracle.check(c, e).outcome) for c, e in zip(singles, entries, strict=True)]),
        ("plain", [plain(c, e) for c, e in zip(singles, entries, strict=True)]),
    ):
        if found != expected:
            raise AssertionError(f"{name} and check_many disagree on a {constraint} claim")

    return {
        "check_many": n / _best(lambda: oracle.check_many(claims, table, index=index), repeats),
        "check": n_single
        / _best(
            lambda: [oracle.check(c, e) for c, e in zip(singles, entries, strict=True)], repeats
        ),
        "plain": n_single
        / _best(lambda: [plain(c, e) for c, e in zip(singles, entries, strict=True)], repeats),
    }


def _best(run: Callable[[], Any], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = perf_counter()
        run()
        times.append(perf_counter() - start)
    return min(times)


def main(n: int = 1_000_000, n_single: int = 5_000) -> None:
    """Print the table.

    Parameters
    ----------
    n : int
        Claims for `check_many`.
    n_single : int
        Claims for the ways that take one at a time.
    """
    from rich.console import Console
    from rich.table import Table

    shown = Table(title=f"DFT-grounded oracles, claims per second (check_many: {n:,} claims)")
    shown.add_column("oracle")
    for name in ("check_many", "check in a loop", "plain if/else", "× check", "× plain"):
        shown.add_column(name, justify="right")
    for constraint in CONSTRAINTS:
        speed = measure(constraint, n, n_single)
        shown.add_row(
            constraint,
            *(f"{speed[way]:,.0f}" for way in ("check_many", "check", "plain")),
            f"{speed['check_many'] / speed['check']:,.0f}",
            f"{speed['check_many'] / speed['plain']:,.1f}",
        )
    Console().print(shown)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=1_000_000, help="claims for check_many")
    parser.add_argument("--n-single", type=int, default=5_000, help="claims for the loops")
    main(**vars(parser.parse_args()))
