"""Power of the exact McNemar test."""

from __future__ import annotations

from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matpcr_utils.errors import MatPCRError
from matpcr_utils.statistics import mcnemar_pairs, mcnemar_power
from matpcr_utils.statistics.paired import mcnemar


def enumerated(n: int, fixes: float, regressions: float, alpha: float) -> float:
    """Every pair of numbers that the test rejects, with its multinomial chance."""
    rest = 1 - fixes - regressions
    return sum(
        comb(n, i) * comb(n - i, j) * fixes**i * regressions**j * rest ** (n - i - j)
        for i in range(n + 1)
        for j in range(n + 1 - i)
        if mcnemar(i, j) <= alpha
    )


@pytest.mark.parametrize(
    ("n", "fixes", "regressions", "alpha"),
    [
        (20, 0.3, 0.05, 0.05),
        (25, 0.2, 0.2, 0.05),
        (18, 0.5, 0.1, 0.01),
        # Levels that a p value meets exactly: 2 / 2^5 and 2 / 2^6.
        (12, 0.4, 0.0, 2**-4),
        (15, 0.3, 0.3, 2**-5),
        (9, 0.0, 0.7, 0.05),
    ],
)
def test_power_is_what_enumeration_gives(
    n: int, fixes: float, regressions: float, alpha: float
) -> None:
    power = mcnemar_power(n, fixes, regressions, alpha)
    assert power == pytest.approx(enumerated(n, fixes, regressions, alpha), abs=1e-12)
    # Neither direction is preferred.
    assert power == pytest.approx(mcnemar_power(n, regressions, fixes, alpha), abs=1e-12)


def test_six_fixes_are_the_fewest() -> None:
    # 2 / 2^5 is above 0.05, 2 / 2^6 below.
    assert mcnemar_power(5, 1.0) == 0.0
    assert mcnemar_power(6, 1.0) == pytest.approx(1.0)
    assert mcnemar_pairs(1.0) == 6
    # Without regressions: 6 or more fixes among n, P(Bin(20, 0.3) >= 6) = 0.5836.
    assert mcnemar_power(20, 0.3) == pytest.approx(0.5836, abs=1e-4)


@given(st.integers(0, 200), st.floats(0.0, 0.5), st.sampled_from([0.01, 0.05, 0.1]))
def test_the_size_never_exceeds_alpha(n: int, share: float, alpha: float) -> None:
    assert 0 <= mcnemar_power(n, share, share, alpha) <= alpha * (1 + 1e-9)


@given(st.integers(10, 150), st.floats(0.05, 0.4), st.floats(0.0, 0.2))
def test_more_fixes_and_more_pairs_help(n: int, fixes: float, regressions: float) -> None:
    power = mcnemar_power(n, fixes, regressions)
    assert mcnemar_power(n, fixes + 0.1, regressions) >= power - 1e-9 or fixes < regressions
    if fixes > regressions + 0.05:
        assert mcnemar_power(4 * n, fixes, regressions) >= power - 1e-9


def test_the_published_effect_needed_few_items() -> None:
    # GPT-4o's row: 18 fixes and no regression of 113 items.
    needed = mcnemar_pairs(18 / 113)
    assert needed == 49
    assert mcnemar_power(49, 18 / 113) >= 0.8 > mcnemar_power(48, 18 / 113)
    assert mcnemar_power(113, 18 / 113) > 0.999


def test_no_net_change_is_never_found_often() -> None:
    assert mcnemar_pairs(0.1, 0.1) is None
    assert mcnemar_pairs(0.0) is None
    assert mcnemar_power(0, 0.5) == 0.0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((-1, 0.1), "n = -1"),
        ((10.0, 0.1), "n = 10.0"),
        ((5001, 0.1), "5000"),
        ((10, 1.2), "fixes 1.2"),
        ((10, 0.1, -0.1), "regressions -0.1"),
        ((10, 0.7, 0.7), "can't exceed 1"),
        ((10, 0.1, 0.0, 1.0), "alpha = 1.0"),
    ],
)
def test_bad_parameters_are_refused(arguments: tuple[float, ...], told: str) -> None:
    with pytest.raises(MatPCRError, match=told):
        mcnemar_power(*arguments)  # type: ignore[arg-type]


def test_a_power_is_a_share() -> None:
    with pytest.raises(MatPCRError, match=r"power 80 must lie"):
        mcnemar_pairs(0.2, power=80)
