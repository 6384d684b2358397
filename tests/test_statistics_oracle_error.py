from fractions import Fraction
from math import log, sqrt

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from matpcr_utils.errors import MatPCRError
from matpcr_utils.statistics import (
    bias_range,
    corrected_pcr,
    effective_sources,
    false_alarm_from_precision,
    hoeffding,
    hoeffding_half_width,
    oracle_bias,
    oracle_bias_bound,
    reported_pcr,
    required_n,
    rogan_gladen,
    total_error_bound,
)

few = settings(max_examples=60, deadline=None)
shares = st.floats(0, 1)


def test_hoeffding_at_the_papers_n():
    # Design, section 6: 0.1432 at n = 90 and 95 %; sqrt(ln 40 / 180).
    assert round(hoeffding_half_width(90), 4) == 0.1432
    assert hoeffding_half_width(90) == pytest.approx(sqrt(log(40) / 180), rel=1e-12)
    found = hoeffding(50, 90)
    assert (found.upper - found.lower) / 2 == pytest.approx(hoeffding_half_width(90))
    assert found.method == "hoeffding"
    # Three seeds of 30 items: the bound of 30 (paper, Supplementary Note 1.5).
    assert hoeffding(50, 90, 30).upper == pytest.approx(50 / 90 + hoeffding_half_width(30))


def test_hoeffding_is_cut_to_the_range_of_a_rate():
    assert hoeffding(90, 90).upper == 1.0 and hoeffding(0, 90).lower == 0.0
    nothing = hoeffding(0, 0)
    assert (nothing.lower, nothing.upper, nothing.estimate) == (0.0, 1.0, None)


@few
@given(st.integers(1, 100_000), st.sampled_from([0.8, 0.9, 0.95, 0.99]))
def test_required_n_is_the_least_that_reaches_the_width(n, level):
    half = hoeffding_half_width(n, level)
    assume(half < 1)
    assert required_n(half, level) == n
    found = required_n(half * 0.999, level)
    assert hoeffding_half_width(found, level) <= half * 0.999


def test_required_n_of_a_tenth():
    # ln 40 / (2 · 0.01) = 184.4.
    assert required_n(0.1) == 185


def test_effective_sources():
    assert effective_sources([3] * 30) == pytest.approx(30)
    assert effective_sources([1, 1, 1, 1, 6]) == pytest.approx(100 / 40)
    with pytest.raises(MatPCRError, match="positive"):
        effective_sources([1, 0])


def test_hoeffding_covers_more_than_it_promises():
    rng = np.random.default_rng(0)
    for p in (0.1, 0.5, 0.9):
        apart = np.abs(rng.binomial(90, p, 5_000) / 90 - p)
        assert (apart <= hoeffding_half_width(90)).mean() >= 0.95


@st.composite
def confusions(draw):
    planted = draw(st.integers(1, 200))
    sound = draw(st.integers(1, 200))
    return planted, draw(st.integers(0, planted)), sound, draw(st.integers(0, sound))


@few
@given(confusions())
def test_the_identity_counts_every_item(confusion):
    # PCR − PCR* from counted items, in exact fractions.
    planted, detected, sound, false_alarms = confusion
    n = planted + sound
    reported = Fraction(planted - detected + sound - false_alarms, n)
    bias = reported - Fraction(sound, n)
    tau, d, f = planted / n, detected / planted, false_alarms / sound
    assert oracle_bias(tau, d, f) == pytest.approx(float(bias), abs=1e-12)
    assert reported_pcr(tau, d, f) == pytest.approx(float(reported), abs=1e-12)
    assert abs(bias) <= oracle_bias_bound(d, f) + 1e-12
    if d > f:
        assert rogan_gladen(float(reported), d, f) == pytest.approx(sound / n, abs=1e-9)
    flagged = detected + false_alarms
    if flagged and detected:
        found = false_alarm_from_precision(detected / flagged, float(reported), d)
        assert found == pytest.approx(f, abs=1e-9)


@few
@given(shares, shares, shares)
def test_the_bias_stays_within_its_range_and_bound(tau, d, f):
    low, high = bias_range(d, f)
    assert low - 1e-12 <= oracle_bias(tau, d, f) <= high + 1e-12
    assert max(-low, high) <= oracle_bias_bound(d, f) + 1e-12
    # Paper, section 4.8: complete detection cannot overstate, a sound oracle cannot understate.
    assert oracle_bias(tau, 1.0, f) <= 0 <= oracle_bias(tau, d, 0.0)


def test_total_bound_adds_its_two_parts():
    found = total_error_bound(recall=0.95, false_alarm=0.02, n=90)
    assert found.oracle == pytest.approx(0.07)
    assert found.total == pytest.approx(0.07 + sqrt(log(40) / 180))
    assert total_error_bound(0.5, 0.5, 90).total == 1.0


def test_total_bound_covers_reported_rates():
    # Items drawn at random, judged by an oracle of recall 0.9 and false-alarm rate 0.05.
    rng = np.random.default_rng(1)
    bound = total_error_bound(0.9, 0.05, 90).total
    for tau in (0.05, 0.4, 0.8):
        reported = rng.binomial(90, reported_pcr(tau, 0.9, 0.05), 2_000) / 90
        assert (np.abs(reported - (1 - tau)) <= bound).mean() >= 0.95


def test_false_alarms_from_a_precision_audit():
    # 0.772 precise (paper, section 2.1, XRD) at an invented PCR of 0.6: 0.0912 of all items are
    # false alarms among 1 − 0.3088 consistent ones.
    assert false_alarm_from_precision(0.772, 0.6) == pytest.approx(0.0912 / 0.6912)
    assert false_alarm_from_precision(1.0, 0.6) == 0.0
    with pytest.raises(MatPCRError, match="contradict"):
        false_alarm_from_precision(0.9, 0.1, recall=0.5)
    with pytest.raises(MatPCRError, match="recall 0"):
        false_alarm_from_precision(0.9, 0.1, recall=0)


AUDIT = {"detected": 475, "planted": 500, "false_alarms": 10, "sound": 500}


@pytest.mark.parametrize("method", ["lang-reiczigel", "delta", "bootstrap"])
def test_corrected_rate_by_hand(method):
    # (0.6 − 0.05) / (0.95 − 0.02)
    found = corrected_pcr(300, 500, **AUDIT, method=method)
    assert found.estimate == pytest.approx(0.55 / 0.93)
    assert found.lower < found.estimate < found.upper
    assert (found.reported, found.recall, found.false_alarm) == (0.6, 0.95, 0.02)
    assert not found.degenerate
    assert (found.seed, found.resamples) == ((0, 10_000) if method == "bootstrap" else (None, None))
    assert str(found).startswith("0.6000 reported, 0.5914 [")


def test_a_perfect_and_endless_audit_leaves_the_plain_intervals():
    # With recall 1 and no false alarm known for certain, the delta method is the Wald interval and
    # Lang–Reiczigel's is Agresti and Coull's, both as statsmodels has them.
    perfect = {"detected": 10**9, "planted": 10**9, "false_alarms": 0, "sound": 10**9}
    for method, plain in (("delta", "normal"), ("lang-reiczigel", "agresti_coull")):
        found = corrected_pcr(49, 113, **perfect, method=method)
        expected = proportion_confint(49, 113, method=plain)
        assert (found.lower, found.upper) == pytest.approx(expected, abs=1e-6)


def test_delta_and_bootstrap_agree_on_large_samples():
    delta = corrected_pcr(3_000, 5_000, **AUDIT, method="delta")
    drawn = corrected_pcr(3_000, 5_000, **AUDIT, method="bootstrap", seed=3)
    assert (drawn.lower, drawn.upper) == pytest.approx((delta.lower, delta.upper), abs=3e-3)


def test_an_audit_without_an_error_still_leaves_uncertainty():
    clean = {"detected": 30, "planted": 30, "false_alarms": 0, "sound": 30}
    flat = corrected_pcr(5_000, 10_000, **clean, method="delta")
    wide = corrected_pcr(5_000, 10_000, **clean)
    assert flat.degenerate and not wide.degenerate
    assert wide.upper - wide.lower > 3 * (flat.upper - flat.lower)


def test_coverage_when_the_audit_sees_few_errors():
    rng = np.random.default_rng(4)
    true, d, f = 0.7, 0.97, 0.02
    hits = 0
    for _ in range(800):
        found = corrected_pcr(
            int(rng.binomial(300, reported_pcr(1 - true, d, f))),
            300,
            detected=int(rng.binomial(60, d)),
            planted=60,
            false_alarms=int(rng.binomial(60, f)),
            sound=60,
        )
        hits += found.lower <= true <= found.upper
    assert hits / 800 > 0.93


def test_an_audit_too_small_for_its_pseudo_counts_is_refused():
    with pytest.raises(MatPCRError, match="1 planted and 10 sound items are too few"):
        corrected_pcr(50, 100, detected=1, planted=1, false_alarms=9, sound=10)


def test_sources_widen_the_interval():
    alone = corrected_pcr(150, 270, **AUDIT)
    shared = corrected_pcr(150, 270, **AUDIT, n_sources=90)
    assert shared.estimate == alone.estimate
    assert shared.upper - shared.lower > 1.4 * (alone.upper - alone.lower)


def test_a_rate_outside_what_the_oracle_can_give_is_cut_and_shown():
    found = corrected_pcr(500, 500, **AUDIT)
    assert found.raw == pytest.approx(0.95 / 0.93) and found.estimate == 1.0
    assert found.upper <= 1.0


def test_a_bootstrap_with_useless_resamples_is_wide():
    poor = {"detected": 4, "planted": 6, "false_alarms": 2, "sound": 6}
    found = corrected_pcr(60, 100, **poor, method="bootstrap")
    assert (found.lower, found.upper) == (0.0, 1.0)


@pytest.mark.parametrize("method", ["lang-reiczigel", "delta", "bootstrap"])
def test_an_oracle_no_better_than_chance_is_refused(method):
    with pytest.raises(MatPCRError, match=r"recall 0\.2 is not above the false-alarm rate 0\.2"):
        corrected_pcr(50, 100, detected=10, planted=50, false_alarms=2, sound=10, method=method)
    with pytest.raises(MatPCRError, match="no correction exists"):
        rogan_gladen(0.5, 0.1, 0.3)


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"consistent": 101}, "consistent 101"),
        ({"consistent": 0, "n": 0}, "n is 0"),
        ({"detected": 501}, "detected 501"),
        ({"planted": 0, "detected": 0}, "planted is 0"),
        ({"sound": 0, "false_alarms": 0}, "sound is 0"),
        ({"n_sources": 101}, "101 sources"),
        ({"method": "wald"}, "'wald'"),
        ({"level": 0}, "level 0"),
        ({"method": "bootstrap", "resamples": 5}, "at least 40"),
    ],
)
def test_bad_input_is_named(changed, named):
    with pytest.raises(MatPCRError, match=named):
        corrected_pcr(**{"consistent": 60, "n": 100, **AUDIT, **changed})


def test_bad_shares_and_sizes_are_named():
    for call, named in (
        (lambda: oracle_bias(1.2, 0.9, 0.1), "inconsistent share 1.2"),
        (lambda: oracle_bias_bound(float("nan"), 0.1), "recall nan"),
        (lambda: bias_range(0.9, -0.1), "false-alarm rate -0.1"),
        (lambda: hoeffding_half_width(0), "n = 0"),
        (lambda: hoeffding_half_width(90, 1), "level 1"),
        (lambda: required_n(0), "half-width 0"),
        (lambda: hoeffding(5, 4), "count 5"),
        (lambda: hoeffding(3, 4, 5), "5 sources"),
    ):
        with pytest.raises(MatPCRError, match=named):
            call()
