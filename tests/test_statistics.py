import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matpcr_utils.errors import MatPCRError
from matpcr_utils.statistics import pcr, rate, rate_by_source


def test_clopper_pearson_at_zero_is_the_exact_tail():
    # With no success the upper end solves (1 - p)^n = 0.025 (Clopper & Pearson 1934).
    found = rate(0, 500)
    assert found.lower == 0.0
    assert found.upper == pytest.approx(1 - 0.025 ** (1 / 500), abs=1e-12)


def test_clopper_pearson_known_value():
    # 2 of 20: [0.0123, 0.3170] (statsmodels documentation and tables of exact binomial limits).
    found = rate(2, 20)
    assert (found.lower, found.upper) == pytest.approx((0.012349, 0.316983), abs=1e-6)


def test_wilson_known_value():
    # Closed form of Wilson (1927) at 81 of 263: [0.2553, 0.3662], Newcombe 1998, table I.
    found = rate(81, 263, method="wilson")
    assert (found.lower, found.upper) == pytest.approx((0.2553, 0.3662), abs=5e-5)


def test_no_case_gives_the_whole_interval_and_no_estimate():
    found = rate(0, 0)
    assert found.estimate is None
    assert (found.lower, found.upper) == (0.0, 1.0)
    assert str(found) == "no cases"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"count": 3, "n": 2}, "count 3"),
        ({"count": -1, "n": 2}, "count -1"),
        ({"count": 1, "n": 2, "level": 1.0}, "level 1.0"),
        ({"count": 1, "n": 2, "method": "wald"}, "'wald'"),
    ],
)
def test_bad_input_is_named(arguments, named):
    with pytest.raises(MatPCRError, match=named):
        rate(**arguments)


@given(
    st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))),
    st.sampled_from(["clopper-pearson", "wilson"]),
)
def test_the_interval_holds_the_estimate(counts, method):
    found = rate(*counts, method=method)
    assert 0.0 <= found.lower <= found.estimate + 1e-12
    assert found.estimate - 1e-12 <= found.upper <= 1.0


def test_pcr_counts_checkable_items_only():
    # GPT-4o after CGSV: 67 of 113 consistent is the paper's 0.593 (section 2.4).
    found = pcr(["consistent"] * 67 + ["violation"] * 46 + ["abstain"] * 40)
    assert (found.count, found.n) == (67, 113)
    assert round(found.estimate, 3) == 0.593
    assert pcr(["abstain"]).estimate is None
    with pytest.raises(MatPCRError, match="maybe"):
        pcr(["maybe"])


# Rates of cases that share sources


@given(st.lists(st.booleans(), min_size=1, max_size=60))
def test_single_cases_are_clopper_pearson(passed):
    found = rate_by_source(passed, range(len(passed)))
    assert found == rate(sum(passed), len(passed))


@given(st.lists(st.booleans(), min_size=12, max_size=60), st.integers(2, 4))
def test_copies_narrow_no_interval(passed, copies):
    alone = rate_by_source(passed, range(len(passed)))
    together = rate_by_source(np.repeat(passed, copies), np.repeat(np.arange(len(passed)), copies))
    assert together.n == copies * alone.n and together.estimate == alone.estimate
    # As wide as that of the sources, or a little wider: there are few of them.
    assert together.lower <= alone.lower + 1e-9 and together.upper >= alone.upper - 1e-9
    assert together.upper - together.lower <= 1.2 * (alone.upper - alone.lower)


def test_what_a_source_can_not_tell():
    mixed, alike = rate_by_source([True, False], "aa"), rate_by_source([True] * 3, "aaa")
    assert (mixed.lower, mixed.upper) == (0.0, 1.0)
    assert (alike.lower, alike.upper) == (pytest.approx(0.025), 1.0)
    assert str(rate_by_source([], [])) == "no cases"
    agree = rate_by_source([True] * 6, "aabbcc")
    assert (agree.lower, agree.upper) == (pytest.approx(0.025 ** (1 / 3)), 1.0)
    # Each source half and half: as sure as independent cases, not surer, but for few sources.
    even = rate_by_source([True, False] * 10, np.repeat(np.arange(10), 2))
    assert even.lower < rate(10, 20).lower < rate(10, 20).upper < even.upper
    with pytest.raises(MatPCRError, match="one source an item"):
        rate_by_source([True], "ab")


def test_the_interval_covers_rates_of_few_correlated_cases():
    # 20 sources of 1 to 3 cases, alike within a source in 60 %: the truth is 0.2.
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(400):
        sources = np.repeat(np.arange(20), rng.integers(1, 4, 20))
        common = (rng.random(20) < 0.2)[sources]
        own = rng.random(len(sources)) < 0.2
        found = rate_by_source(np.where((rng.random(20) < 0.6)[sources], common, own), sources)
        covered += found.lower <= 0.2 <= found.upper
    # Three standard errors below 95 %.
    assert covered >= 400 * 0.95 - 3 * np.sqrt(400 * 0.95 * 0.05)
