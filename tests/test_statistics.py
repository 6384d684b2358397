import pytest
from hypothesis import given
from hypothesis import strategies as st

from matpcr_utils.errors import MatPCRError
from matpcr_utils.statistics import pcr, rate


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
