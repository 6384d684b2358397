from time import perf_counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from matpcr_utils.errors import MatPCRError
from matpcr_utils.statistics import (
    bootstrap,
    bootstrap_counts,
    bootstrap_difference,
    bootstrap_pcr,
    rate,
    resampling,
)

few = settings(max_examples=40, deadline=None)
outcomes = st.lists(st.booleans(), min_size=1, max_size=60)
with_sources = st.lists(st.tuples(st.booleans(), st.integers(0, 12)), min_size=1, max_size=60)


def monte_carlo_error(sigma, step=0.0):
    """Five standard errors of the difference of two 2.5 % quantiles of 10,000 normal draws.

    The variance of a sample quantile is q(1 - q) / (R f(q)^2); a lattice adds one step.
    """
    density = stats.norm.pdf(stats.norm.ppf(0.025)) / sigma
    return 5 * np.sqrt(2) * np.sqrt(0.025 * 0.975 / 10_000) / density + step


def cluster_sigma(sums, sizes):
    """Linearised standard deviation of a ratio of sums over independent sources."""
    rest = sums - sums.sum() / sizes.sum() * sizes
    return np.sqrt((rest**2).sum()) / sizes.sum()


def scipy_ends(data, statistic, **options):
    found = stats.bootstrap(
        data,
        statistic,
        method="percentile",
        n_resamples=10_000,
        vectorized=True,
        rng=np.random.default_rng(7),
        **options,
    ).confidence_interval
    return found.low, found.high


@pytest.mark.parametrize("count", [1, 9, 50, 77, 89])
def test_item_interval_is_that_of_scipy_within_monte_carlo_error(count):
    passed = np.arange(90) < count
    found = bootstrap(passed, seed=3)
    expected = scipy_ends((passed.astype(float),), np.mean)
    sigma = np.sqrt(count / 90 * (1 - count / 90) / 90)
    assert (found.lower, found.upper) == pytest.approx(
        expected, abs=monte_carlo_error(sigma, step=1 / 90)
    )
    # With ever more resamples the ends become quantiles of the binomial distribution.
    limit = stats.binom.ppf([0.025, 0.975], 90, count / 90) / 90
    assert (found.lower, found.upper) == pytest.approx(limit, abs=1 / 90 + 1e-12)


@pytest.mark.parametrize("equal", [True, False])
def test_source_interval_is_that_of_scipy_within_monte_carlo_error(equal):
    rng = np.random.default_rng(5)
    sizes = np.full(60, 3) if equal else rng.integers(1, 6, 60)
    sources = np.repeat(np.arange(60), sizes)
    passed = rng.random(sizes.sum()) < np.repeat(rng.beta(1, 1, 60), sizes)
    sums = np.bincount(sources, weights=passed)

    def ratio(numerator, denominator, axis):
        return numerator.sum(axis) / denominator.sum(axis)

    found = bootstrap(passed, sources, seed=11)
    expected = scipy_ends((sums, sizes), ratio, paired=True)
    sigma = cluster_sigma(sums, sizes)
    assert (found.lower, found.upper) == pytest.approx(
        expected, abs=monte_carlo_error(sigma, step=1 / sizes.sum())
    )
    assert (found.n, found.n_sources) == (sizes.sum(), 60)
    assert str(found).endswith(f"n = {sizes.sum()} from 60 sources")
    assert found.method == "percentile bootstrap over sources"
    # Outcomes that agree within a source carry less than independent ones.
    plain = bootstrap(passed, seed=11)
    assert found.upper - found.lower > 1.2 * (plain.upper - plain.lower)


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95, 0.99])
def test_looking_up_the_tails_is_the_quantile_of_all_draws(level):
    # What `equal_sizes` shortens: every resample as one uniform through the binomial's inverse.
    uniforms = np.random.default_rng(2).random(1_000)
    draws = stats.binom.ppf(uniforms, 90, 0.3)
    expected = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    (found,) = resampling.equal_sizes(
        np.array([[0.7, 0.3]]), np.array([90]), resamples=1_000, level=level, seed=2
    )
    assert found == pytest.approx(expected, abs=1e-9)


def test_both_kernels_agree_where_both_apply():
    passed = np.arange(90) < 60
    (total,) = resampling.equal_sizes(
        np.array([[1 / 3, 2 / 3]]), np.array([90]), resamples=10_000, level=0.95, seed=0
    )
    (ends,) = resampling.unequal_sizes(
        passed[None].astype(float), np.ones((1, 90)), resamples=10_000, level=0.95, seed=1
    )
    assert total / 90 == pytest.approx(ends, abs=monte_carlo_error(0.0497, step=1 / 90))


@few
@given(with_sources, st.randoms(use_true_random=False), st.integers(0, 2**32))
def test_interval_lies_in_range_and_ignores_the_order_of_items(items, random, seed):
    passed, sources = zip(*items, strict=True)
    found = bootstrap(passed, sources, seed=seed, resamples=200)
    assert 0 <= found.lower <= found.upper <= 1
    assert found.n_sources == len(set(sources))
    random.shuffle(items)
    passed, sources = zip(*items, strict=True)
    assert bootstrap(passed, [f"source {s}" for s in sources], seed=seed, resamples=200) == found


@few
@given(outcomes)
def test_an_item_that_is_its_own_source_changes_nothing(passed):
    alone, sourced = bootstrap(passed), bootstrap(passed, range(len(passed)))
    assert (alone.lower, alone.upper) == (sourced.lower, sourced.upper)
    assert alone.n_sources == sourced.n_sources == alone.n == len(passed)


@few
@given(st.integers(1, 400), st.integers(0, 5))
def test_ends_rise_with_the_count(n, seed):
    lower, upper = bootstrap_counts(np.arange(n + 1), n, seed=seed, resamples=500)
    assert (np.diff(lower) >= 0).all() and (np.diff(upper) >= 0).all()
    assert (lower[0], upper[0], lower[-1], upper[-1]) == (0, 0, 1, 1)


def test_a_copied_item_adds_no_information():
    passed = np.arange(40) < 25
    once = bootstrap(passed)
    copied = bootstrap(np.repeat(passed, 3), np.repeat(np.arange(40), 3))
    assert (copied.lower, copied.upper) == pytest.approx((once.lower, once.upper), abs=1e-12)


def test_many_cells_at_once_are_the_cells_alone():
    rng = np.random.default_rng(0)
    n = rng.integers(1, 91, (9, 6))
    counts = rng.integers(0, n + 1)
    counts[0, 0] = n[0, 0] = 0
    lower, upper = bootstrap_counts(counts, n, seed=4)
    assert lower.shape == upper.shape == (9, 6)
    assert (lower[0, 0], upper[0, 0]) == (0, 1)
    for cell in [(0, 1), (4, 2), (8, 5)]:
        alone = bootstrap(np.arange(n[cell]) < counts[cell], seed=4)
        assert (lower[cell], upper[cell]) == pytest.approx((alone.lower, alone.upper), abs=1e-12)


def test_the_whole_table_takes_less_than_a_tenth_of_a_second():
    counts = np.random.default_rng(0).integers(0, 91, (9, 6))
    times = []
    for _ in range(3):
        start = perf_counter()
        bootstrap_counts(counts, 90, resamples=10_000)
        times.append(perf_counter() - start)
    assert min(times) < 0.1


def test_the_seed_is_recorded_and_decides():
    passed = np.arange(90) < 50
    first = bootstrap(passed, np.arange(90) // 4, seed=1)
    assert (first.seed, first.resamples, first.level) == (1, 10_000, 0.95)
    assert first == bootstrap(passed, np.arange(90) // 4, seed=1)
    other = bootstrap(passed, np.arange(90) // 4, seed=2)
    assert (first.lower, first.upper) != (other.lower, other.upper)


def test_degenerate_cells_say_so_and_have_closed_forms_beside():
    full = bootstrap([True] * 90)
    assert full.degenerate and (full.lower, full.upper) == (1.0, 1.0)
    assert "degenerate" in str(full)
    assert full.beside() == rate(90, 90, "wilson")
    # With every item passed the lower end solves p^n = 0.025 (Clopper & Pearson 1934).
    assert full.beside("clopper-pearson").lower == pytest.approx(0.025 ** (1 / 90), abs=1e-12)
    # Three seeds of 30 items are 30 independent observations.
    none = bootstrap([False] * 90, np.arange(90) // 3)
    assert none.degenerate and none.beside() == rate(0, 30, "wilson")


def test_one_source_or_sources_alike_are_degenerate_without_a_closed_form():
    for sources in ([0] * 4, [0, 0, 1, 1], [0, 1, 0, 1]):
        found = bootstrap([True, False, False, True], sources)
        assert found.degenerate == (sources != [0, 1, 1, 0])
        with pytest.raises(MatPCRError, match="share"):
            found.beside()
    assert not bootstrap([True, False, False, True], [0, 1, 1, 0]).degenerate


def test_closed_form_beside_independent_items():
    found = bootstrap(np.arange(113) < 67)
    assert not found.degenerate
    assert found.beside("wilson") == rate(67, 113, "wilson")


def test_no_item_gives_the_whole_range():
    found = bootstrap([])
    assert found.estimate is None and found.degenerate
    assert (found.lower, found.upper, found.n, found.n_sources) == (0.0, 1.0, 0, 0)
    assert str(found) == "no cases"
    assert found.beside() == rate(0, 0, "wilson")


def test_pcr_leaves_out_what_abstains():
    words = ["consistent"] * 67 + ["violation"] * 46 + ["abstain"] * 40
    found = bootstrap_pcr(words, range(153), seed=9)
    assert (found.count, found.n) == (67, 113)
    expected = bootstrap(np.arange(113) < 67, seed=9)
    assert (found.lower, found.upper) == (expected.lower, expected.upper)
    with pytest.raises(MatPCRError, match="maybe"):
        bootstrap_pcr(["maybe"])


def test_difference_is_that_of_scipy_within_monte_carlo_error():
    rng = np.random.default_rng(8)
    before = rng.random(113) < 0.43
    after = before | (rng.random(113) < 0.28)
    after[:4] = ~before[:4]
    found = bootstrap_difference(before, after, seed=1)
    change = after.astype(float) - before
    expected = scipy_ends((change,), np.mean)
    sigma = change.std() / np.sqrt(113)
    assert found.estimate == pytest.approx(change.mean(), abs=1e-15)
    assert (found.before, found.after) == (before.sum(), after.sum())
    assert (found.lower, found.upper) == pytest.approx(
        expected, abs=monte_carlo_error(sigma, step=1 / 113)
    )


@pytest.mark.parametrize("drop", [0, 7])
def test_difference_over_sources_is_that_of_scipy(drop):
    rng = np.random.default_rng(6)
    sources = np.repeat(np.arange(50), 3)[drop:]
    before = rng.random(len(sources)) < rng.random(50)[sources]
    after = rng.random(len(sources)) < rng.random(50)[sources]
    found = bootstrap_difference(before, after, sources, seed=2)
    sums = np.bincount(sources, weights=after.astype(float) - before)[drop // 3 :]
    sizes = np.bincount(sources)[drop // 3 :]

    def ratio(numerator, denominator, axis):
        return numerator.sum(axis) / denominator.sum(axis)

    expected = scipy_ends((sums, sizes), ratio, paired=True)
    assert (found.lower, found.upper) == pytest.approx(
        expected, abs=monte_carlo_error(cluster_sigma(sums, sizes), step=1 / len(sources))
    )


@few
@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 9)), min_size=1))
def test_swapping_before_and_after_changes_the_sign(items):
    before, after, sources = (list(column) for column in zip(*items, strict=True))
    found = bootstrap_difference(before, after, sources, resamples=100)
    swapped = bootstrap_difference(after, before, sources, resamples=100)
    assert -1 <= found.lower <= found.upper <= 1
    assert swapped.estimate == -found.estimate
    assert swapped.degenerate == found.degenerate


def test_no_change_is_degenerate():
    found = bootstrap_difference([True, False, True], [True, False, True])
    assert found.degenerate and (found.estimate, found.lower, found.upper) == (0, 0, 0)
    nothing = bootstrap_difference([], [])
    assert nothing.estimate is None and (nothing.lower, nothing.upper) == (-1, 1)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"passed": [True, 2]}, "2"),
        ({"passed": [0.0, float("nan")]}, "nan"),
        ({"passed": ["consistent"]}, "consistent"),
        ({"passed": [[True]]}, "2 dimensions"),
        ({"passed": [True], "sources": ["a", "b"]}, "2 sources for 1 items"),
        ({"passed": [True, False], "sources": ["a", None]}, "item 1 has no source"),
        ({"passed": [True], "level": 1.0}, "level 1.0"),
        ({"passed": [True], "level": float("nan")}, "level nan"),
        ({"passed": [True], "resamples": 10}, "at least 40"),
        ({"passed": [True], "resamples": 1e4}, "10000.0 resamples must be a whole"),
        ({"passed": [True], "seed": -1}, "seed -1"),
        ({"passed": [True], "seed": None}, "seed None"),
    ],
)
def test_bad_input_is_named(arguments, named):
    with pytest.raises(MatPCRError, match=named):
        bootstrap(**arguments)


def test_bad_counts_and_pairs_are_named():
    with pytest.raises(MatPCRError, match="count 5 must lie between 0 and n = 4"):
        bootstrap_counts([1, 5], 4)
    with pytest.raises(MatPCRError, match="whole numbers"):
        bootstrap_counts([1.5], 4)
    with pytest.raises(MatPCRError, match="2 items before but 1 after"):
        bootstrap_difference([True, False], [True])


def test_sources_may_be_any_hashable():
    passed = [True, False, True, True]
    plain = bootstrap(passed, [0, 0, 1, 2])
    assert bootstrap(passed, [("a", 1), ("a", 1), ("b", 1), "c"]) == plain
