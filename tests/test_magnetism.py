"""The magnetism oracle: class first, then the decade, on any basis (paper, section 4.4)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matpcr_utils.claims.model import BASES, Claim, ClaimTable
from matpcr_utils.errors import MatPCRError
from matpcr_utils.oracles import get, magnetism
from matpcr_utils.oracles.base import Outcome
from matpcr_utils.oracles.magnetism import (
    REASONS,
    Tolerances,
    check,
    check_many,
    moment_per_atom,
    trusted,
)
from matpcr_utils.references.dft import DFTEntry


def entry(total: float | None, nsites: int = 4, units: int = 2, match: str = "direct") -> DFTEntry:
    return DFTEntry("x", "AB", nsites, units, total_magnetization=total, match_quality=match)


def says(label: str) -> Claim:
    return Claim("magnetism", label)


def moment(value: float, basis: str | None = "atom") -> Claim:
    return Claim("magnetization", value, basis=basis)


@pytest.mark.parametrize(
    ("total", "label", "reason"),
    [
        (0.2, "finite_net", "finite_net_contradicted"),  # 0.05 μB/atom is not above 0.05
        (0.2, "zero_net", "zero_net_agrees"),
        (0.2001, "finite_net", "finite_net_agrees"),
        (0.2001, "zero_net", "zero_net_contradicted"),
        (-8.0, "finite_net", "finite_net_agrees"),
        (-8.0, "zero_net", "zero_net_contradicted"),
        (-0.0, "zero_net", "zero_net_agrees"),
        (0.0, "antiferromagnetic", "antiferromagnetic_undecided"),
        (8.0, "antiferromagnetic", "antiferromagnetic_undecided"),
    ],
)
def test_label_edges(total: float, label: str, reason: str) -> None:
    verdict = check(says(label), entry(total))
    assert (verdict.reason, verdict.outcome) == (reason, REASONS[reason])


@pytest.mark.parametrize(
    ("claimed", "total", "reason"),
    [
        # Reference 1 μB/atom: an order of magnitude either way, ends included.
        (10.0, 4.0, "moment_within_decade"),
        (10.001, 4.0, "moment_too_large"),
        (0.1, 4.0, "moment_within_decade"),
        (0.0999, 4.0, "moment_too_small"),
        (-1.0, 4.0, "moment_within_decade"),
        (1.0, -4.0, "moment_within_decade"),
        # The class comes first: 0.04 is within a decade of 0.1 but counts as zero.
        (0.04, 0.4, "moment_claimed_zero"),
        (0.06, 0.2, "moment_claimed_finite"),
        # Zero is an absolute check: 1e-9 against 0.04 passes, though their ratio is huge.
        (1e-9, 0.16, "moment_zero_agrees"),
        (0.05, 0.0, "moment_zero_agrees"),
        (0.0, 0.0, "moment_zero_agrees"),
        (0.0501, 0.0, "moment_claimed_finite"),
    ],
)
def test_number_edges(claimed: float, total: float, reason: str) -> None:
    verdict = check(moment(claimed), entry(total))
    assert (verdict.reason, verdict.outcome) == (reason, REASONS[reason])


def test_a_reference_of_zero_gives_no_ratio() -> None:
    assert check(moment(0.01), entry(0.0)).details["ratio"] is None
    assert check(moment(0.0), entry(4.0)).details["ratio"] is None
    assert check(moment(2.0), entry(4.0)).details["ratio"] == 2.0


def test_bases_are_converted() -> None:
    # Magnetite: 14 atoms, two formula units; the same moment on three bases.
    magnetite = DFTEntry("x", "Fe3O4", 14, 2, total_magnetization=8.0)
    for value, basis in ((8.0, "cell"), (4.0, "formula_unit"), (4 / 7, "atom")):
        details = check(moment(value, basis), magnetite).details
        assert details["claimed_per_atom"] == pytest.approx(4 / 7, abs=1e-12)
        assert details["ratio"] == pytest.approx(1)
    assert check(moment(0.7, "cell"), magnetite).reason == "moment_claimed_zero"
    assert check(moment(0.71, "cell"), magnetite).reason == "moment_too_small"
    assert check(moment(0.71, "atom"), magnetite).reason == "moment_within_decade"


@pytest.mark.parametrize(
    ("claimed", "total", "nsites", "reason"),
    [
        # 3 μB means 3, 1.5 or 0.75 per atom: always within a decade of 1.
        (3.0, 4.0, 4, "moment_within_decade"),
        # 30 means 30, 15 or 7.5: too large on two bases, right on the third.
        (30.0, 4.0, 4, "basis_unstated"),
        (300.0, 4.0, 4, "moment_too_large"),
        # 0.1 means 0.1, 0.05 or 0.025: finite on one basis, zero on two.
        (0.1, 0.0, 4, "basis_unstated"),
        (0.05, 0.0, 4, "moment_zero_agrees"),
        (5.0, 0.0, 4, "moment_claimed_finite"),
        # 15 means 15, 0.3 or 0.15 with 50 atoms a formula unit: too large, and twice right.
        (15.0, 100.0, 100, "basis_unstated"),
        # 4.9 means 4.9 (too large), 0.098 and 0.049: wrong, each time for another reason.
        (4.9, 10.0, 100, "basis_unstated"),
    ],
)
def test_without_a_basis_the_common_verdict_counts(
    claimed: float, total: float, nsites: int, reason: str
) -> None:
    verdict = check(moment(claimed, None), entry(total, nsites, 2))
    assert verdict.reason == reason
    assert set(verdict.details["by_basis"]) == set(BASES)
    expected = {str(check(moment(claimed, b), entry(total, nsites, 2)).outcome) for b in BASES}
    assert set(verdict.details["by_basis"].values()) == expected
    if len(expected) == 1:
        assert str(verdict.outcome) == expected.pop()
    else:
        assert verdict.outcome is Outcome.ABSTAIN


def test_wrong_on_every_basis_for_different_reasons() -> None:
    # One formula unit of 100 atoms; reference 0.06 μB/atom; 4 means 4, 0.04 and 0.04.
    verdict = check(moment(4.0, None), entry(6.0, 100, 1))
    assert verdict.reason == "moment_wrong_on_every_basis"
    assert verdict.outcome is Outcome.VIOLATION


@pytest.mark.parametrize("missing", [None, float("nan"), float("inf")])
@pytest.mark.parametrize(
    "claim", [says("zero_net"), says("antiferromagnetic"), moment(0.0), moment(0.0, None)]
)
def test_a_missing_reference_abstains_and_is_never_zero(
    missing: float | None, claim: Claim
) -> None:
    verdict = check(claim, entry(missing))
    assert (verdict.outcome, verdict.reason) == (Outcome.ABSTAIN, "reference_missing")


def test_a_missing_size_abstains() -> None:
    class NoSize:
        total_magnetization = 4.0

    class NoUnits(NoSize):
        nsites = 4

    assert check(says("finite_net"), NoSize()).reason == "size_missing"
    assert check(moment(1.0), NoSize()).reason == "size_missing"
    assert check(moment(1.0, "formula_unit"), NoUnits()).reason == "basis_unknown"
    assert check(moment(1.0, None), NoUnits()).reason == "basis_unstated"
    assert check(moment(4.0, "cell"), NoUnits()).reason == "moment_within_decade"


def test_a_doubtful_match_is_shown_and_can_abstain() -> None:
    doubtful = entry(12.0, 10, 2, "shared")
    assert check(says("finite_net"), doubtful).outcome is Outcome.CONSISTENT
    assert check(says("finite_net"), doubtful).details["match_quality"] == "shared"
    for claim in (says("finite_net"), moment(1.2), moment(1.2, None)):
        verdict = check(claim, doubtful, Tolerances(require_match=True))
        assert (verdict.outcome, verdict.reason) == (Outcome.ABSTAIN, "poor_match")
        assert "shared" in verdict.sentence
    good = entry(12.0, 10, 2, "moments_agree")
    assert check(says("finite_net"), good, Tolerances(require_match=True)).outcome == "consistent"
    assert trusted([doubtful, good]).tolist() == [False, True]
    assert trusted([doubtful, good], np.array([1, 1])).tolist() == [True, True]


def test_the_decade_is_a_parameter() -> None:
    assert check(moment(20.0), entry(4.0), Tolerances(decade=2.0)).outcome is Outcome.CONSISTENT
    assert check(moment(2.0), entry(4.0), Tolerances(decade=0.3)).outcome is Outcome.VIOLATION
    assert check(moment(1.0), entry(4.0), Tolerances(decade=0.0)).outcome is Outcome.CONSISTENT
    assert check(moment(0.001), entry(0.004), Tolerances(finite_min=0)).outcome == "consistent"


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"finite_min": -0.05}, "finite_min = -0.05"),
        ({"decade": float("nan")}, "decade = nan"),
        ({"decade": 400.0}, "decade = 400"),
        ({"require_match": "yes"}, "require_match = 'yes'"),
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
        (moment(float("nan")), "nan"),
        (moment(float("inf"), None), "inf"),
        (Claim("band_gap", 1.0), "band_gap"),
        (Claim("magnetism", "stable"), "stable"),
        (Claim("magnetism", "spin glass"), "spin glass"),
    ],
)
def test_claims_it_cannot_judge_are_refused(claim: Claim, named: str) -> None:
    with pytest.raises(MatPCRError, match=named):
        check(claim, entry(0.0))


def test_it_is_registered() -> None:
    assert get("magnetism") is magnetism


claims = st.one_of(
    st.sampled_from(["finite_net", "zero_net", "antiferromagnetic"]).map(says),
    st.builds(
        moment,
        st.sampled_from([0.0, 0.05, 0.5, 1.0, 10.0]) | st.floats(-50, 50),
        st.sampled_from([None, *BASES]),
    ),
)
totals = st.none() | st.sampled_from([-0.0, 0.2, 4.0, -12.0]) | st.floats(-50, 50)
entries = st.builds(
    lambda total, units, atoms, match: entry(total, units * atoms, units, match),
    totals,
    st.integers(1, 4),
    st.integers(1, 30),
    st.sampled_from(["unique", "shared", "direct"]),
)
tolerances = st.builds(
    Tolerances,
    finite_min=st.sampled_from([0.0, 0.05, 0.2]),
    decade=st.sampled_from([0.0, 0.5, 1.0]),
    require_match=st.booleans(),
)


@settings(deadline=None)  # the first example pays for imports
@given(st.lists(st.tuples(claims, entries), min_size=1, max_size=12), tolerances)
def test_check_and_check_many_agree(pairs: list, t: Tolerances) -> None:
    said, found = [c for c, _ in pairs], [e for _, e in pairs]
    together = check_many(ClaimTable.from_claims(said), found, t)
    single = [check(c, e, t) for c, e in zip(said, found, strict=True)]
    assert together.reason_names.tolist() == [v.reason for v in single]
    assert together.outcomes.tolist() == [str(v.outcome) for v in single]
    assert all("None" not in v.sentence for v in single)


@given(claims, entries, tolerances)
def test_signs_do_not_matter(claim: Claim, reference: DFTEntry, t: Tolerances) -> None:
    if reference.total_magnetization is None:
        return
    turned = entry(
        -reference.total_magnetization,
        reference.nsites,
        reference.formula_units,
        reference.match_quality,
    )
    other = claim if isinstance(claim.value, str) else moment(-claim.value, claim.basis)
    assert check(claim, reference, t).reason == check(other, turned, t).reason


@given(entries, tolerances, st.sampled_from(BASES))
def test_the_reference_itself_passes_on_every_basis(
    reference: DFTEntry, t: Tolerances, basis: str
) -> None:
    per_atom = float(moment_per_atom([reference])[0])
    if np.isnan(per_atom) or (t.require_match and reference.match_quality == "shared"):
        return
    atoms = {"atom": 1, "cell": reference.nsites}
    size = atoms.get(basis, reference.nsites / reference.formula_units)
    verdict = check(moment(per_atom * size, basis), reference, t)
    assert verdict.outcome is Outcome.CONSISTENT


@given(entries, st.integers(2, 5), claims)
def test_a_supercell_is_judged_like_its_cell(reference: DFTEntry, times: int, claim: Claim) -> None:
    if reference.total_magnetization is None or claim.basis in ("cell", None):
        return
    larger = entry(
        reference.total_magnetization * times,
        reference.nsites * times,
        reference.formula_units * times,
    )
    assert check(claim, reference).reason == check(claim, larger).reason


def test_a_threshold_in_another_unit_is_refused() -> None:
    with pytest.raises(MatPCRError, match="finite_min = 50 must be a number from 0 to 20 μB/atom"):
        Tolerances(finite_min=50)


@pytest.mark.parametrize("basis", [None, "atom", "formula_unit", "cell"])
def test_an_absurd_moment_is_judged_without_overflow(basis: str | None) -> None:
    verdict = check(moment(1e308, basis), entry(4.0))
    assert verdict.outcome is Outcome.VIOLATION
    assert np.isfinite(verdict.details["claimed_per_atom"])
