"""Speed of the diffraction oracle, in claims a second on one core, its peers in the same run."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from matpcr_utils.claims.model import ClaimTable
from matpcr_utils.controls.diffraction import draw_prior, sample
from matpcr_utils.oracles.diffraction import (
    DEFAULT_WINDOW,
    DiffractionReference,
    LineTable,
    Tolerances,
    check,
    check_many,
)
from matpcr_utils.references.lines import CU_KALPHA1

if TYPE_CHECKING:
    from pymatgen.core import Structure

#: Materials; their lines are computed or read from the cache before the clock starts.
STRUCTURES = 300
REPEATS = 3


def main() -> None:
    """Print the table."""
    entries = sample(STRUCTURES)
    structures = [entry.structure for entry in entries]
    references = [DiffractionReference.from_structure(structure) for structure in structures]
    table = LineTable.from_references(references)
    rng = np.random.default_rng(0)
    index = rng.integers(0, len(table), 1_000_000)
    claims = draw_prior(table, index, rng)

    def many() -> int:
        return len(check_many(claims, table, index=index))

    def one_by_one(n: int = 3_000) -> int:
        for row in range(n):
            check(claims.claim(row), references[index[row]])
        return n

    def pymatgen_each_time(n: int = 60) -> int:
        for row in range(n):
            plain_oracle(structures[index[row]], float(claims.value[row]))
        return n

    show(
        {
            "check_many, cached lines": rate(many),
            "check in a loop, cached lines": rate(one_by_one),
            "pymatgen pattern for every claim": rate(pymatgen_each_time),
        },
        agreement(claims.take(np.arange(60)), table, index[:60], structures),
    )


def plain_oracle(structure: Structure, two_theta: float) -> bool:
    """The criterion as one would write it first: a new pattern for every claim, Kα1 only."""
    from pymatgen.analysis.diffraction.xrd import XRDCalculator

    pattern = XRDCalculator(CU_KALPHA1).get_pattern(
        structure, two_theta_range=(DEFAULT_WINDOW[0], DEFAULT_WINDOW[1])
    )
    angles, tolerances = np.asarray(pattern.x), Tolerances()
    strong = np.asarray(pattern.y) >= tolerances.intensity_floor
    return bool((np.abs(angles[strong] - two_theta) <= tolerances.two_theta).any())


def rate(work: Callable[[], int]) -> float:
    """Claims a second, the best of some repeats."""
    best = np.inf
    for _ in range(REPEATS):
        start = time.perf_counter()
        n = work()
        best = min(best, (time.perf_counter() - start) / n)
    return 1.0 / best


def agreement(
    claims: ClaimTable, table: LineTable, index: NDArray[np.intp], structures: Sequence[Structure]
) -> float:
    """Share of claims on which the plain oracle and `check_many` agree."""
    ours = check_many(claims, table, index=index).consistent
    plain = [
        plain_oracle(structures[where], float(value))
        for where, value in zip(index, claims.value, strict=True)
    ]
    return float((ours == np.array(plain)).mean())


def show(rates: dict[str, float], agreeing: float) -> None:
    """Rates and their ratio to the slowest."""
    slowest = min(rates.values())
    table = Table(
        title="Diffraction oracle, claims a second on one core",
        caption=f"first and last agree on {agreeing:.0%} of the claims compared",
    )
    for column in ("way", "claims/s", "ratio"):
        table.add_column(column, justify="left" if column == "way" else "right")
    for name, value in rates.items():
        table.add_row(name, f"{value:,.0f}", f"{value / slowest:,.0f}")
    Console().print(table)


if __name__ == "__main__":
    main()
