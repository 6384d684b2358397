"""The stability oracle: thresholds from the paper (sections 4.4, S1.3), edges from its wording."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matpcr_utils.claims.model import Claim, ClaimTable
from matpcr_utils.errors import MatPCRError
from matpcr_utils.oracles import get, stability
from matpcr_utils.oracles.base import Outcome
from matpcr_utils.oracles.stability import REASONS, Tolerances, check, check_many, strict
from matpcr_utils.references.dft import DFTEntry, from_frame


def entry(energy: float | None, nsites: int = 4, formula_units: int = 2) -> DFTEntry:
    return DFTEntry("x", "AB", nsites, formula_units, energy_above_hull=energy)


def says(label: str) -> Claim:
    return Claim("stability", label)


def energy(value: float, basis: str | None = "atom") -> Claim:
    return Claim("energy_above_hull", value, basis=basis)


@pytest.mark.parametrize(
    ("reference", "label", "reason"),
    [
        (0.0, "stable", "stable_on_hull"),
        (-0.0, "stable", "stable_on_hull"),
        (-0.03, "stable", "stable_on_hull"),
        (1e-7, "stable", "stable_on_hull"),
        (0.05, "stable", "stable_near_hull"),
        (np.nextafter(0.05, 1), "stable", "stable_above_threshold"),
        (0.0, "unstable", "unstable_on_hull"),
        (-0.0, "unstable", "unstable_on_hull"),
        (0.05, "unstable", "unstable_near_hull"),
        (np.nextafter(0.05, 1), "unstable", "unstable_above_threshold"),
        (0.0, "metastable", "metastable_on_hull"),
        (-0.2, "metastable", "metastable_on_hull"),
        (1e-5, "metastable", "metastable_in_range"),
        (0.2, "metastable", "metastable_in_range"),
        (np.nextafter(0.2, 1), "metastable", "metastable_out_of_range"),
    ],
)
def test_label_edges(reference: float, label: str, reason: str) -> None:
    verdict = check(says(label), entry(reference))
    assert (verdict.reason, verdict.outcome) == (reason, REASONS[reason])


@pytest.mark.parametrize("missing", [None, float("nan"), float("inf")])
@pytest.mark.parametrize("claim", [says("stable"), says("unstable"), energy(0.0)])
def test_a_missing_reference_abstains_and_is_never_zero(
    missing: float | None, claim: Claim
) -> None:
    verdict = check(claim, entry(missing))
    assert verdict.outcome is Outcome.ABSTAIN
    assert verdict.reason == "reference_missing"
    assert verdict.details["strict"] == "abstain"


@pytest.mark.parametrize(
    ("claimed", "reference", "reason"),
    [
        (0.05, 0.0, "energy_near_hull_agrees"),
        (-0.02, 0.0, "energy_near_hull_agrees"),
        (0.0500001, 0.05, "energy_claimed_too_high"),
        (0.05, 0.0500001, "energy_claimed_too_low"),
        (2.0, 0.06, "energy_above_threshold_agrees"),
    ],
)
def test_a_number_is_judged_by_its_side_of_the_threshold(
    claimed: float, reference: float, reason: str
) -> None:
    assert check(energy(claimed), entry(reference)).reason == reason


def test_numbers_are_converted_to_per_atom_before_the_threshold() -> None:
    # Fe2O3: ten atoms, two formula units. 0.2 eV per formula unit is 0.04 eV per atom.
    oxide = DFTEntry("x", "Fe2O3", 10, 2, energy_above_hull=0.0)
    verdict = check(energy(0.2, "formula_unit"), oxide)
    assert verdict.reason == "energy_near_hull_agrees"
    assert verdict.details["claimed_per_atom"] == 0.04
    assert check(energy(0.25, "formula_unit"), oxide).outcome is Outcome.CONSISTENT
    assert check(energy(0.26, "formula_unit"), oxide).outcome is Outcome.VIOLATION
    assert check(energy(0.5, "cell"), oxide).outcome is Outcome.CONSISTENT
    assert check(energy(0.51, "cell"), oxide).outcome is Outcome.VIOLATION
    assert check(energy(0.2), oxide).outcome is Outcome.VIOLATION
    assert check(energy(0.2, None), oxide).outcome is Outcome.VIOLATION


@pytest.mark.parametrize("atoms", range(1, 60))
def test_the_threshold_stays_inclusive_after_conversion(atoms: int) -> None:
    cell = entry(0.0, nsites=atoms, formula_units=1)
    assert check(energy(0.05 * atoms, "cell"), cell).outcome is Outcome.CONSISTENT


def test_an_unknown_size_abstains_instead_of_guessing() -> None:
    class NoSize:
        energy_above_hull = 0.0

    for basis in ("cell", "formula_unit"):
        verdict = check(energy(0.2, basis), NoSize())
        assert verdict.reason == "basis_unknown"
        assert basis.replace("_", " ") in verdict.sentence
    assert check(energy(0.02), NoSize()).outcome is Outcome.CONSISTENT


def test_the_strict_reading_stands_beside() -> None:
    verdict = check(says("stable"), entry(0.03))
    assert verdict.outcome is Outcome.CONSISTENT
    assert verdict.details["strict"] == "violation"
    assert check(says("unstable"), entry(0.03)).details["strict"] == "consistent"
    table = strict([says("stable")] * 3, [entry(0.0), entry(1e-7), entry(1e-5)])
    assert table.outcomes.tolist() == ["consistent", "consistent", "violation"]


def test_unstable_can_abstain_near_the_hull() -> None:
    t = Tolerances(abstain_near_hull=True)
    assert check(says("unstable"), entry(0.03), t).reason == "unstable_undecided"
    assert check(says("unstable"), entry(0.0), t).reason == "unstable_on_hull"
    assert check(says("unstable"), entry(0.06), t).reason == "unstable_above_threshold"
    assert check(says("stable"), entry(0.03), t).reason == "stable_near_hull"
    assert t.strict() == Tolerances(near_hull=0.0)


def test_a_threshold_of_zero_keeps_the_hull() -> None:
    t = Tolerances(near_hull=0.0)
    assert check(says("stable"), entry(0.0), t).outcome is Outcome.CONSISTENT
    assert check(says("stable"), entry(1e-5), t).outcome is Outcome.VIOLATION
    assert check(says("unstable"), entry(1e-5), t).outcome is Outcome.CONSISTENT


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"near_hull": -0.01}, "near_hull = -0.01"),
        ({"near_hull": float("nan")}, "near_hull = nan"),
        ({"near_hull": "0.05"}, "near_hull = '0.05'"),
        ({"near_hull": True}, "near_hull = True"),
        ({"metastable_max": float("inf")}, "metastable_max = inf"),
        ({"metastable_max": 0.0}, "metastable_max = 0"),
        ({"hull_tolerance": -1e-6}, "hull_tolerance = -1e-06"),
        ({"abstain_near_hull": 1}, "abstain_near_hull = 1"),
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
        (energy(float("nan")), "nan"),
        (energy(float("inf")), "inf"),
        (Claim("band_gap", 1.0), "band_gap"),
        (Claim("stability", "zero_gap"), "zero_gap"),
        (Claim("stability", "rock solid"), "rock solid"),
        (Claim("stability", 0.1), "stability"),
        (Claim("energy_above_hull", "stable"), "energy_above_hull"),
        (Claim("energy_above_hull", 0.1, basis="mole"), "mole"),
    ],
)
def test_claims_it_cannot_judge_are_refused(claim: Claim, named: str) -> None:
    with pytest.raises(MatPCRError, match=named) as caught:
        check(claim, entry(0.0))
    assert "\n" not in str(caught.value)


def test_a_bad_claim_among_many_is_named_by_its_row() -> None:
    with pytest.raises(MatPCRError, match="claim 1 "):
        check_many([energy(0.1), energy(float("nan"))], [entry(0.0)] * 2)


@pytest.mark.parametrize(
    ("index", "named"),
    [
        (None, "2 claims against 3 references"),
        (np.array([0]), "2 integers"),
        (np.array([0.0, 1.0]), "2 integers"),
        (np.array([0, 3]), "index 3"),
        (np.array([-1, 0]), "index -1"),
    ],
)
def test_claims_and_references_must_pair_up(index: np.ndarray | None, named: str) -> None:
    with pytest.raises(MatPCRError, match=named):
        check_many([says("stable")] * 2, [entry(0.0)] * 3, index=index)


def test_references_without_the_column_are_refused() -> None:
    class Nothing:
        def __len__(self) -> int:
            return 1

    with pytest.raises(MatPCRError, match="energy_above_hull"):
        check_many([says("stable")], Nothing())


def test_a_reference_of_another_kind_is_refused_and_none_is_missing() -> None:
    with pytest.raises(MatPCRError, match="no energy_above_hull"):
        check(says("stable"), {"energy_above_hull": 0.0})
    assert check(says("stable"), None).reason == "reference_missing"


def test_no_claims_give_no_verdicts() -> None:
    assert len(check_many([], [])) == 0


def test_it_is_registered() -> None:
    assert get("stability") is stability


claims = st.one_of(
    st.sampled_from(["stable", "unstable", "metastable"]).map(says),
    st.builds(
        energy,
        st.sampled_from([0.0, 0.05, 0.1, 0.2, 0.25]) | st.floats(-1, 3),
        st.sampled_from([None, "atom", "formula_unit", "cell"]),
    ),
)
energies = st.none() | st.sampled_from([-0.01, -0.0, 0.0, 0.05, 0.2]) | st.floats(-0.1, 1)
entries = st.builds(
    lambda e, units, atoms: entry(e, units * atoms, units),
    energies,
    st.integers(1, 4),
    st.integers(1, 6),
)
tolerances = st.builds(
    Tolerances,
    near_hull=st.sampled_from([0.0, 0.05, 0.3]),
    abstain_near_hull=st.booleans(),
)


@settings(deadline=None)  # the first example pays for imports
@given(st.lists(st.tuples(claims, entries), min_size=1, max_size=12), tolerances)
def test_check_and_check_many_agree(pairs: list, t: Tolerances) -> None:
    said, found = [c for c, _ in pairs], [e for _, e in pairs]
    columns = ("formula", "nsites", "formula_units", "energy_above_hull")
    frame = pd.DataFrame({name: [getattr(e, name) for e in found] for name in columns})
    table = from_frame(frame.assign(material_id=[str(i) for i in range(len(found))]))
    order = np.arange(len(pairs))[::-1]
    together = check_many(ClaimTable.from_claims(said).take(order), table, t, index=order)
    single = [check(said[i], found[i], t) for i in order]
    assert together.reason_names.tolist() == [v.reason for v in single]
    assert together.outcomes.tolist() == [str(v.outcome) for v in single]
    assert all(v.sentence and "None" not in v.sentence for v in single)


@given(energies.filter(lambda e: e is not None), tolerances)
def test_stable_and_unstable_never_both_pass_nor_both_fail(e: float, t: Tolerances) -> None:
    stable, unstable = (check(says(x), entry(e), t).outcome for x in ("stable", "unstable"))
    assert stable is not unstable


@given(st.floats(0, 1), st.floats(0, 0.5), st.floats(0, 0.5))
def test_a_wider_threshold_never_turns_stable_into_a_violation(
    e: float, first: float, second: float
) -> None:
    low, high = sorted((first, second))
    if check(says("stable"), entry(e), Tolerances(near_hull=low)).outcome is Outcome.CONSISTENT:
        wider = check(says("stable"), entry(e), Tolerances(near_hull=high))
        assert wider.outcome is Outcome.CONSISTENT


def test_a_threshold_in_another_unit_is_refused() -> None:
    with pytest.raises(MatPCRError, match="near_hull = 50 must be a number from 0 to 10 eV/atom"):
        Tolerances(near_hull=50)


@pytest.mark.parametrize("value", [1e297, 1e308])
def test_an_absurd_energy_is_judged_without_overflow(value: float) -> None:
    for basis in ("atom", "formula_unit", "cell"):
        verdict = check(energy(value, basis), entry(0.0))
        assert verdict.reason == "energy_claimed_too_high"
        assert np.isfinite(verdict.details["claimed_per_atom"])
