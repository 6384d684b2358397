import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from matpcr_utils.errors import MatPCRError
from matpcr_utils.statistics import bootstrap, chance_corrected

few = settings(max_examples=40, deadline=None)


def test_one_chance_for_all_moves_the_interval_linearly():
    passed = np.arange(90) < 60
    plain, found = bootstrap(passed, seed=2), chance_corrected(passed, 0.4, seed=2)
    for name in ("estimate", "lower", "upper"):
        assert getattr(found, name) == pytest.approx((getattr(plain, name) - 0.4) / 0.6)
    assert (found.pcr, found.chance, found.seed) == (plain.estimate, 0.4, 2)
    # The same rate written out for every item is the same correction.
    assert chance_corrected(passed, np.full(90, 0.4), seed=2).lower == pytest.approx(found.lower)


def test_a_guesser_scores_nothing_and_perfection_one():
    assert chance_corrected([True, False], 0.5).estimate == 0.0
    perfect = chance_corrected([True] * 5, [0.1, 0.2, 0.3, 0.4, 0.9])
    assert (perfect.estimate, perfect.lower, perfect.upper) == (1.0, 1.0, 1.0)
    assert perfect.degenerate
    assert chance_corrected([False] * 4, 0.2).estimate == pytest.approx(-0.25)


@pytest.mark.parametrize("shared", [False, True])
def test_chance_an_item_is_that_of_scipy_within_monte_carlo_error(shared):
    rng = np.random.default_rng(3)
    chance = rng.uniform(0.1, 0.8, 120)
    passed = rng.random(120) < 0.4 + 0.6 * chance
    sources = np.arange(120) // 3 if shared else np.arange(120)
    found = chance_corrected(passed, chance, sources if shared else None, seed=1)
    assert found.estimate == pytest.approx((passed.mean() - chance.mean()) / (1 - chance.mean()))
    above = np.bincount(sources, weights=passed - chance)
    room = np.bincount(sources, weights=1 - chance)
    expected = stats.bootstrap(
        (above, room),
        lambda a, r, axis: a.sum(axis) / r.sum(axis),
        paired=True,
        vectorized=True,
        method="percentile",
        n_resamples=10_000,
        rng=np.random.default_rng(8),
    ).confidence_interval
    sigma = np.sqrt(((above - found.estimate * room) ** 2).sum()) / room.sum()
    # Five standard errors of the difference of two 2.5 % quantiles of 10,000 draws.
    density = stats.norm.pdf(stats.norm.ppf(0.025)) / sigma
    error = 5 * np.sqrt(2 * 0.025 * 0.975 / 10_000) / density
    assert (found.lower, found.upper) == pytest.approx(expected, abs=error)
    assert found.n_sources == len(above)


@few
@given(
    st.lists(st.tuples(st.booleans(), st.floats(0, 0.95)), min_size=1, max_size=40),
    st.randoms(use_true_random=False),
)
def test_it_never_exceeds_one_and_ignores_the_order(items, random):
    passed, chance = zip(*items, strict=True)
    found = chance_corrected(passed, chance, resamples=100)
    assert found.lower <= found.upper <= 1 + 1e-12
    assert found.estimate <= found.pcr + 1e-12
    random.shuffle(items)
    passed, chance = zip(*items, strict=True)
    again = chance_corrected(passed, chance, resamples=100)
    assert (again.lower, again.upper) == pytest.approx((found.lower, found.upper), abs=1e-9)


def test_no_item():
    found = chance_corrected([], 0.5)
    assert found.estimate is None and found.pcr is None
    assert (found.lower, found.upper) == (-1.0, 1.0)
    unknown = chance_corrected([], [])
    assert unknown.chance is None and unknown.lower == -np.inf


@pytest.mark.parametrize(
    ("chance", "named"),
    [
        (1.0, "chance rate is 1"),
        ([0.5, 1.0], "of 1 items is 1"),
        (1.1, "1.1 must lie"),
        ([0.5, float("nan")], "nan must lie"),
        ([0.5], "1 chance rates for 2 items"),
    ],
)
def test_bad_chance_is_named(chance, named):
    with pytest.raises(MatPCRError, match=named):
        chance_corrected([True, False], chance)
