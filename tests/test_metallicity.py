"""The metallicity oracle: both thresholds and the band between them (paper, section 4.4)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matpcr_utils.claims.model import Claim, ClaimTable
from matpcr_utils.errors import MatPCRError
from matpcr_utils.oracles import get, metallicity
from matpcr_utils.oracles.base import Outcome
from matpcr_utils.oracles.metallicity import REASONS, Tolerances, band, check, check_many
from matpcr_utils.references.dft import DFTEntry


def entry(gap: float | None) -> DFTEntry:
    return DFTEntry("x", "AB", 2, 1, band_gap=gap)


def says(label: str) -> Claim:
    return Claim("metallicity", label)


def gap(value: float) -> Claim:
    return Claim("band_gap", value)


@pytest.mark.parametrize(
    ("reference", "label", "reason"),
    [
        (0.0, "zero_gap", "zero_gap_agrees"),
        (0.05, "zero_gap", "zero_gap_agrees"),
        (np.nextafter(0.05, 1), "zero_gap", "reference_in_band"),
        (np.nextafter(0.20, 0), "zero_gap", "reference_in_band"),
        (0.20, "zero_gap", "zero_gap_contradicted"),
        (0.05, "nonzero_gap", "nonzero_gap_contradicted"),
        (np.nextafter(0.05, 1), "nonzero_gap", "reference_in_band"),
        (np.nextafter(0.20, 0), "nonzero_gap", "reference_in_band"),
        (0.20, "nonzero_gap", "nonzero_gap_agrees"),
        (0.0, "semimetal", "semimetal_agrees"),
        (0.1, "semimetal", "reference_in_band"),
        (1.1, "semimetal", "semimetal_contradicted"),
    ],
)
def test_label_edges(reference: float, label: str, reason: str) -> None:
    verdict = check(says(label), entry(reference))
    assert (verdict.reason, verdict.outcome) == (reason, REASONS[reason])


@pytest.mark.parametrize(
    ("claimed", "reference", "reason"),
    [
        (0.05, 0.0, "gap_zero_agrees"),
        (0.0, 0.2, "gap_zero_contradicted"),
        (0.2, 0.0, "gap_nonzero_contradicted"),
        (0.2, 5.0, "gap_nonzero_agrees"),
        (0.06, 0.0, "claim_in_band"),
        (0.19, 5.0, "claim_in_band"),
        (-0.01, 0.0, "gap_negative"),
        (-1.0, 0.1, "gap_negative"),
        (-0.0, 0.0, "gap_zero_agrees"),
        (0.1, 0.1, "reference_in_band"),
    ],
)
def test_a_claimed_number_is_classed_like_a_reference(
    claimed: float, reference: float, reason: str
) -> None:
    verdict = check(gap(claimed), entry(reference))
    assert (verdict.reason, verdict.outcome) == (reason, REASONS[reason])
    assert verdict.details["claimed"] == claimed


@pytest.mark.parametrize("missing", [None, float("nan"), float("inf")])
@pytest.mark.parametrize("claim", [says("zero_gap"), says("nonzero_gap"), gap(0.0), gap(-1.0)])
def test_a_missing_reference_abstains_and_is_never_zero(
    missing: float | None, claim: Claim
) -> None:
    verdict = check(claim, entry(missing))
    assert (verdict.outcome, verdict.reason) == (Outcome.ABSTAIN, "reference_missing")


def test_without_a_band_zero_wins_at_the_shared_edge() -> None:
    t = Tolerances(0.1, 0.1)
    assert check(says("zero_gap"), entry(0.1), t).outcome is Outcome.CONSISTENT
    assert check(says("nonzero_gap"), entry(0.1), t).outcome is Outcome.VIOLATION
    assert check(gap(0.1), entry(0.1), t).reason == "gap_zero_agrees"
    assert check(gap(0.1000001), entry(0.1), t).reason == "gap_nonzero_contradicted"


def test_the_band_is_open_at_both_ends() -> None:
    entries = [entry(g) for g in (0.0, 0.05, 0.0501, 0.1999, 0.2, None)]
    assert band(entries).tolist() == [False, False, True, True, False, False]
    assert not band(entries, Tolerances(0.1, 0.1)).any()


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"zero_max": 0.3}, "zero_max = 0.3"),
        ({"zero_max": -0.1}, "zero_max = -0.1"),
        ({"nonzero_min": float("nan")}, "nonzero_min = nan"),
        ({"nonzero_min": None}, "nonzero_min = None"),
    ],
)
def test_bad_tolerances_are_refused_in_one_line(options: dict, named: str) -> None:
    with pytest.raises(MatPCRError) as caught:
        Tolerances(**options)
    assert named in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("claim", "named"),
    [
        (gap(float("nan")), "nan"),
        (gap(float("-inf")), "inf"),
        (Claim("magnetization", 1.0), "magnetization"),
        (Claim("metallicity", "stable"), "stable"),
        (Claim("metallicity", "half_metal"), "half_metal"),
        (Claim("band_gap", "zero_gap"), "band_gap"),
    ],
)
def test_claims_it_cannot_judge_are_refused(claim: Claim, named: str) -> None:
    with pytest.raises(MatPCRError, match=named):
        check(claim, entry(0.0))


def test_it_is_registered() -> None:
    assert get("metallicity") is metallicity


claims = st.one_of(
    st.sampled_from(["zero_gap", "nonzero_gap", "semimetal"]).map(says),
    (st.sampled_from([0.0, 0.05, 0.1, 0.2]) | st.floats(-1, 10)).map(gap),
)
gaps = st.none() | st.sampled_from([0.0, 0.05, 0.1, 0.2]) | st.floats(0, 10)
tolerances = st.sampled_from([Tolerances(), Tolerances(0.0, 0.0), Tolerances(0.1, 1.0)])


@settings(deadline=None)  # the first example pays for imports
@given(st.lists(st.tuples(claims, gaps), min_size=1, max_size=12), tolerances)
def test_check_and_check_many_agree(pairs: list, t: Tolerances) -> None:
    said, found = [c for c, _ in pairs], [entry(g) for _, g in pairs]
    together = check_many(ClaimTable.from_claims(said), found, t)
    single = [check(c, e, t) for c, e in zip(said, found, strict=True)]
    assert together.reason_names.tolist() == [v.reason for v in single]
    assert together.outcomes.tolist() == [str(v.outcome) for v in single]
    assert all("None" not in v.sentence for v in single)


@given(st.floats(0, 10), tolerances)
def test_metal_and_insulator_are_opposites_outside_the_band(g: float, t: Tolerances) -> None:
    zero, nonzero = (check(says(x), entry(g), t).outcome for x in ("zero_gap", "nonzero_gap"))
    if zero is Outcome.ABSTAIN:
        assert nonzero is Outcome.ABSTAIN
    else:
        assert {zero, nonzero} == {Outcome.CONSISTENT, Outcome.VIOLATION}


@given(st.integers(0, 100_000).map(lambda i: i / 10_000), tolerances)
def test_the_reference_itself_never_violates(g: float, t: Tolerances) -> None:
    assert check(gap(g), entry(g), t).outcome is not Outcome.VIOLATION


def test_a_threshold_in_another_unit_is_refused() -> None:
    with pytest.raises(MatPCRError, match="nonzero_min = 50 must be a number from 0 to 20 eV"):
        Tolerances(nonzero_min=50)
