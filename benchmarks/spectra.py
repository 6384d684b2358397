"""Speed of the spectra oracle, in claims a second on one core, its peers in the same run."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from matpcr_utils.claims.model import ClaimTable
from matpcr_utils.controls.spectra import default_references, draw_prior
from matpcr_utils.oracles.spectra import SpectrumTable, Tolerances, check, check_many
from matpcr_utils.references import spectra
from matpcr_utils.references.peaks import prepare
from matpcr_utils.references.spectra import Spectrum

REPEATS = 3


def main() -> None:
    """Print the table."""
    references = default_references()
    measured = spectra.load()
    rng = np.random.default_rng(0)
    index = rng.integers(0, len(references), 1_000_000)
    claims = draw_prior(references, index, rng)
    old = Tolerances(criterion="windowed_maximum")

    def many() -> int:
        return len(check_many(claims, references, index=index))

    def superseded() -> int:
        return len(check_many(claims, references, old, index=index))

    def one_by_one(n: int = 1_000) -> int:
        for row in range(n):
            check(claims.claim(row), measured[index[row]])
        return n

    def plain(n: int = 500) -> int:
        for row in range(n):
            plain_oracle(measured[index[row]], float(claims.value[row]))
        return n

    def preparing(n: int = 20) -> int:
        for spectrum in measured[:n]:
            prepare(spectrum)
        return n

    rates = {
        "check_many, prepared spectra": rate(many),
        "check_many, superseded criterion": rate(superseded),
        "check in a loop, prepared spectra remembered": rate(one_by_one),
        "scipy.signal.find_peaks for every claim": rate(plain),
    }
    table = Table(
        title="Spectra oracle, claims a second on one core",
        caption=f"preparing a spectrum, once: {1000 / rate(preparing):.1f} ms; the plain oracle, "
        f"without baseline and noise, agrees on {agreement(claims, references, index):.1%}",
    )
    for column in ("way", "claims/s", "ratio"):
        table.add_column(column, justify="left" if column == "way" else "right")
    for name, value in rates.items():
        table.add_row(name, f"{value:,.0f}", f"{value / min(rates.values()):,.1f}")
    Console().print(table)


def plain_oracle(spectrum: Spectrum, shift: float) -> bool:
    """The criterion as one would write it first: prominence of the raw readings, no preparation."""
    from scipy.signal import find_peaks

    tolerances = Tolerances()
    floor = tolerances.prominence * np.ptp(spectrum.intensity)
    maxima, _ = find_peaks(spectrum.intensity, prominence=floor)
    return bool((np.abs(spectrum.shift[maxima] - shift) <= tolerances.window).any())


def rate(work: Callable[[], int]) -> float:
    """Claims a second, the best of some repeats."""
    best = np.inf
    for _ in range(REPEATS):
        start = time.perf_counter()
        n = work()
        best = min(best, (time.perf_counter() - start) / n)
    return 1.0 / best


def agreement(
    claims: ClaimTable, references: SpectrumTable, index: NDArray[np.intp], n: int = 2_000
) -> float:
    """Share of the judged claims on which the plain oracle and `check_many` agree."""
    verdicts = check_many(claims.take(np.arange(n)), references, index=index[:n])
    plain = [
        plain_oracle(references.spectra[i], float(value))
        for i, value in zip(index[:n], claims.value[:n], strict=True)
    ]
    judged = ~verdicts.abstain
    return float((verdicts.consistent == np.array(plain))[judged].mean())


if __name__ == "__main__":
    main()
