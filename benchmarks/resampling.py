"""Speed of the bootstrap, its peers in the same run: SciPy's, and Inspect AI's over clusters.

Run ``python -m benchmarks resampling``. Intervals are compared before they are timed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from time import perf_counter
from typing import Any

import numpy as np
from inspect_ai.scorer import SampleScore, Score, ci
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from matpcr_utils.statistics import bootstrap, bootstrap_counts

MODELS, CONSTRAINTS, ITEMS, SEEDS = 9, 6, 90, 3
RESAMPLES = 10_000
#: Monte-Carlo error of an end between two runs of 10,000 resamples: a few thousandths at 90 items,
#: or one step of the rate, 1/90.
AGREE = 0.015
METRIC: Any = ci(method="bootstrap", num_samples=RESAMPLES, cluster="source")


def scipy_ends(passed: NDArray[np.bool_], batch: int) -> NDArray[np.float64]:
    """Ends of all cells by SciPy, vectorised over resamples and cells."""
    from scipy.stats import bootstrap as scipy_bootstrap

    interval = scipy_bootstrap(
        (passed.astype(float),),
        np.mean,
        axis=-1,
        vectorized=True,
        method="percentile",
        n_resamples=RESAMPLES,
        batch=batch,
        rng=np.random.default_rng(0),
    ).confidence_interval
    return np.stack([interval.low, interval.high], axis=-1)


def inspect_ends(passed: NDArray[np.bool_], sources: NDArray[np.intp]) -> NDArray[np.float64]:
    """Ends of one cell by Inspect AI's metric `ci`, resampling clusters.

    The scores are made beforehand, so that only the metric is timed.
    """
    np.random.seed(0)  # noqa: NPY002 (the generator that the metric draws from)
    ends = METRIC(_scores(passed.tobytes(), sources.tobytes()))
    return np.array([ends["lower"], ends["upper"]])


@lru_cache
def _scores(passed: bytes, sources: bytes) -> list[SampleScore]:
    return [
        SampleScore(score=Score(value=float(value)), sample_metadata={"source": int(source)})
        for value, source in zip(
            np.frombuffer(passed, bool), np.frombuffer(sources, np.intp), strict=True
        )
    ]


def agree(name: str, ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> None:
    """Refuse to time two ways that give different intervals."""
    apart = float(np.abs(ours - theirs).max())
    if apart > AGREE:
        raise AssertionError(f"{name}: ends differ by {apart:.4f}, more than Monte-Carlo error")


def best(run: Callable[[], Any], repeats: int = 3) -> float:
    """Seconds of the fastest of `repeats` runs."""
    times = []
    for _ in range(repeats):
        start = perf_counter()
        run()
        times.append(perf_counter() - start)
    return min(times)


def main() -> None:
    """Print the table."""
    rng = np.random.default_rng(1)
    rates = rng.uniform(0.1, 0.95, (MODELS, CONSTRAINTS, 1))
    passed = rng.random((MODELS, CONSTRAINTS, ITEMS)) < rates
    counts = passed.sum(axis=-1)

    sources = np.repeat(np.arange(ITEMS), SEEDS)
    shared = rng.random(ITEMS * SEEDS) < np.repeat(rng.beta(2, 2, ITEMS), SEEDS)
    ragged = np.delete(np.arange(ITEMS * SEEDS), rng.choice(ITEMS, 10, replace=False) * SEEDS)

    def ours_of(rows: NDArray[np.intp] | slice) -> NDArray[np.float64]:
        found = bootstrap(shared[rows], sources[rows], resamples=RESAMPLES)
        return np.array([found.lower, found.upper])

    everything = slice(None)
    agree("items", np.stack(bootstrap_counts(counts, ITEMS), -1), scipy_ends(passed, 100))
    for name, rows in (("equal sources", everything), ("unequal sources", ragged)):
        agree(name, ours_of(rows), inspect_ends(shared[rows], sources[rows]))

    shown = Table(title=f"Percentile bootstrap, {RESAMPLES:,} resamples, milliseconds")
    for column in ("what", "peer"):
        shown.add_column(column)
    for column in ("ours", "peer's", "ratio"):
        shown.add_column(column, justify="right")
    all_cells = f"{MODELS} × {CONSTRAINTS} cells of {ITEMS} items"
    one_cell = f"1 cell, {ITEMS} sources of {SEEDS} seeds"
    items = best(lambda: bootstrap_counts(counts, ITEMS, resamples=RESAMPLES), repeats=10)
    rows_of_table = [
        (all_cells, f"SciPy, batch {batch}", items, best(lambda b=batch: scipy_ends(passed, b)))
        for batch in (100, 1000)
    ]
    rows_of_table += [
        (
            label,
            "Inspect AI, ci(cluster)",
            best(lambda r=rows: ours_of(r), repeats=5),
            best(lambda r=rows: inspect_ends(shared[r], sources[r]), repeats=1),
        )
        for label, rows in ((one_cell, everything), (f"{one_cell}, 10 missing", ragged))
    ]
    for what, peer, ours, theirs in rows_of_table:
        shown.add_row(
            what, peer, f"{1e3 * ours:.2f}", f"{1e3 * theirs:,.1f}", f"{theirs / ours:,.0f}"
        )
    Console().print(shown)


if __name__ == "__main__":
    main()
