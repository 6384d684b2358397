"""The diffraction oracle: every edge of its criterion, and one kernel behind both entry points."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pymatgen.core import Lattice, Structure

from matpcr_utils import oracles
from matpcr_utils.claims.model import Claim, ClaimTable, quantity_code
from matpcr_utils.errors import MatPCRError
from matpcr_utils.oracles import Outcome
from matpcr_utils.oracles.diffraction import (
    CU_KALPHA,
    REASONS,
    DiffractionReference,
    LineTable,
    Tolerances,
    check,
    check_many,
)
from matpcr_utils.references import calibrants, patterns
from matpcr_utils.references.lines import Lines

KALPHA1, KALPHA2, CENTROID = CU_KALPHA
QUANTITIES = ("two_theta", "d_spacing", "scattering_vector")


@pytest.fixture(autouse=True, scope="module")
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        # One folder for the session: the modules of these tests share structures.
        patch.setenv("MATPCR_CACHE", str(tmp_path_factory.getbasetemp() / "lines"))
        yield


@cache
def silicon(window: tuple[float, float] = (10.0, 90.0)) -> DiffractionReference:
    return DiffractionReference.from_structure(calibrants.structure("Si"), window=window, name="Si")


def made_up(
    two_theta: list[float],
    intensity: list[float] | None = None,
    window: tuple[float, float] = (10.0, 90.0),
    wavelengths: tuple[float, ...] = (KALPHA1,),
) -> DiffractionReference:
    """Lines at given angles of Cu Kα1, without a structure."""
    d = KALPHA1 / (2 * np.sin(np.radians(np.array(two_theta) / 2)))
    weight = np.full(len(d), 100.0) if intensity is None else np.array(intensity, float)
    labels = tuple(f"line {number}" for number in range(len(d)))
    return DiffractionReference(Lines(d, weight, labels, KALPHA1, 179.0), wavelengths, window)


def reason(value: float, reference: DiffractionReference, **tolerances: float) -> str:
    return check(Claim("two_theta", value), reference, Tolerances(**tolerances)).reason


def restate(two_theta: float, quantity: str, wavelength: float = KALPHA1) -> Claim:
    sine = np.sin(np.radians(two_theta / 2))
    values = {
        "two_theta": two_theta,
        "d_spacing": wavelength / (2 * sine),
        "scattering_vector": 4 * np.pi * sine / wavelength,
    }
    return Claim(quantity, float(values[quantity]))


# --- Bragg, the doublet, tolerance ---------------------------------------------------------------


def test_oracle_is_registered_with_its_reasons() -> None:
    oracle = oracles.get("diffraction")
    assert oracle.CONSTRAINT == "diffraction"
    assert oracle.REASONS is REASONS
    assert set(REASONS.values()) == set(Outcome)


@pytest.mark.parametrize("angle", [28.44, 28.47])
def test_both_readings_of_the_main_silicon_line_pass(angle: float) -> None:
    assert reason(angle, silicon(), two_theta=0.05) == "line"


@pytest.mark.parametrize("wavelength", CU_KALPHA, ids=["Kα1", "Kα2", "centroid"])
@pytest.mark.parametrize("line", range(6))
def test_every_component_of_the_doublet_passes(wavelength: float, line: int) -> None:
    angles = silicon().lines.two_theta(wavelength)  # type: ignore[union-attr]
    assert reason(float(angles[line]), silicon(), two_theta=0.05) == "line"


def test_at_high_angle_the_components_are_apart_and_single_radiation_sees_one() -> None:
    window = (10.0, 140.0)
    single = DiffractionReference.from_structure(calibrants.structure("Si"), KALPHA1, window)
    second = float(silicon(window).lines.two_theta(KALPHA2)[10])  # type: ignore[union-attr]
    first = float(silicon(window).lines.two_theta(KALPHA1)[10])  # type: ignore[union-attr]
    assert second - first > 0.7  # the 533 line
    assert reason(second, silicon(window), two_theta=0.05) == "line"
    assert reason(second, single, two_theta=0.05) == "no_line"


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("tolerance", [0.05, 0.1, 0.3, 0.5, 1.0])
@pytest.mark.parametrize("line", [12.3, 28.441, 47.7, 89.1])
def test_equality_passes_and_just_beyond_does_not(line: float, tolerance: float, sign: int) -> None:
    reference = made_up([line])
    if 10 <= line + sign * tolerance <= 90:
        assert reason(line + sign * tolerance, reference, two_theta=tolerance) == "line"
        beyond = line + sign * (tolerance + 1e-6)
        assert reason(beyond, reference, two_theta=tolerance) == "no_line"


@pytest.mark.parametrize("shift", [-0.1, 0.1])
@pytest.mark.parametrize("name", list(calibrants.STANDARDS))
def test_a_zero_shift_does_not_flip_a_true_claim(name: str, shift: float) -> None:
    reference = DiffractionReference.from_structure(calibrants.structure(name), name=name)
    table = LineTable.from_references([reference])
    seen = table.two_theta[(table.two_theta > 10.2) & (table.two_theta < 89.8) & table.kept(1.0)]
    claims = ClaimTable.numbers("two_theta", seen + shift)
    verdicts = check_many(claims, table, index=np.zeros(len(seen), int))
    assert len(seen) > 5
    assert verdicts.consistent.all()


# --- impossible and unmeasured -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("quantity", "value", "limit"),
    [
        ("two_theta", 0.0, "above 0"),
        ("two_theta", -28.44, "above 0"),
        ("two_theta", 180.001, "ends at 180°"),
        ("two_theta", 1e300, "ends at 180°"),
        ("d_spacing", 0.0, "above 0"),
        ("d_spacing", -3.135, "above 0"),
        ("d_spacing", 0.77, "λ/2 = 0.7703 Å"),
        ("d_spacing", 1e-320, "λ/2 = 0.7703 Å"),
        ("scattering_vector", 0.0, "above 0"),
        ("scattering_vector", -2.0, "above 0"),
        ("scattering_vector", 8.1570, "4π/λ = 8.1568 Å⁻¹"),
        ("scattering_vector", 1e308, "4π/λ = 8.1568 Å⁻¹"),
    ],
)
def test_what_bragg_forbids_violates(quantity: str, value: float, limit: str) -> None:
    verdict = check(Claim(quantity, value), silicon())
    assert (verdict.outcome, verdict.reason) == (Outcome.VIOLATION, "impossible")
    assert limit in verdict.sentence


@pytest.mark.parametrize(
    "claim",
    [
        Claim("two_theta", 180.0),
        Claim("d_spacing", KALPHA1 / 2),
        Claim("scattering_vector", 4 * np.pi / KALPHA1),
        Claim("two_theta", 1e-300),
        Claim("d_spacing", 1e308),
        Claim("scattering_vector", 1e-300),
        Claim("two_theta", 9.9999),
        Claim("two_theta", 90.0001),
        Claim("two_theta", 94.954),  # the 511 line, where this instrument did not look
    ],
    ids=str,
)
def test_possible_angles_outside_the_window_abstain(claim: Claim) -> None:
    verdict = check(claim, silicon())
    assert (verdict.outcome, verdict.reason) == (Outcome.ABSTAIN, "outside_window")
    assert "10 to 90°" in verdict.sentence


@pytest.mark.parametrize("edge", [10.0, 90.0])
@pytest.mark.parametrize("quantity", QUANTITIES)
def test_the_edge_of_the_window_is_inside(edge: float, quantity: str) -> None:
    claim = restate(edge, quantity)
    assert check(claim, made_up([50.0])).reason == "no_line"
    assert check(claim, made_up([edge, 50.0])).reason == "line"


def test_a_line_just_outside_the_window_counts_for_a_claim_inside() -> None:
    assert reason(89.8, made_up([50.0, 90.2])) == "line"
    assert reason(10.2, made_up([9.8, 50.0])) == "line"
    assert reason(89.8, made_up([50.0, 90.4])) == "no_line"


def test_no_reference_line_in_the_window_abstains() -> None:
    for reference in (made_up([]), made_up([5.0, 90.2])):
        verdict = check(Claim("two_theta", 50.0), reference)
        assert (verdict.outcome, verdict.reason) == (Outcome.ABSTAIN, "no_reference_lines")
    assert check(Claim("two_theta", 200.0), made_up([])).reason == "impossible"


def test_partial_occupancy_abstains_with_its_reason() -> None:
    alloy = Structure(Lattice.cubic(3.6), [{"Fe": 0.5, "Ni": 0.5}], [[0, 0, 0]])
    reference = DiffractionReference.from_structure(alloy)
    verdict = check(Claim("two_theta", 43.5), reference)
    assert (verdict.outcome, verdict.reason) == (Outcome.ABSTAIN, "partial_occupancy")
    assert "partial occupancy" in verdict.sentence
    assert check(Claim("d_spacing", 0.5), reference).outcome is Outcome.VIOLATION
    table = LineTable.from_structures([alloy, calibrants.structure("Si")], ["alloy", "Si"])
    verdicts = check_many([Claim("two_theta", 28.44)] * 2, table)
    assert verdicts.reason_names.tolist() == ["partial_occupancy", "line"]


# --- which lines count ---------------------------------------------------------------------------


def test_weak_lines_do_not_count_and_the_floor_itself_does() -> None:
    reference = made_up([20.0, 40.0, 60.0], [100.0, 1.0, 0.99])
    assert reason(40.0, reference) == "line"
    assert reason(60.0, reference) == "no_line"
    assert reason(60.0, reference, intensity_floor=0.0) == "line"
    assert reason(40.0, reference, intensity_floor=100.0) == "no_line"
    assert reason(20.0, reference, intensity_floor=100.0) == "line"


def test_the_floor_is_relative_to_the_strongest_line_that_the_instrument_sees() -> None:
    # The strongest line lies below the window; what is seen is scaled to the next.
    reference = made_up([5.0, 40.0, 60.0], [100.0, 0.5, 0.004])
    assert reason(40.0, reference) == "line"
    assert reason(60.0, reference) == "no_line"
    assert reason(60.0, reference, intensity_floor=0.8) == "line"


def test_forbidden_reflections_are_no_lines() -> None:
    # 200 of diamond-type silicon, at 32.96°, is forbidden.
    assert reason(32.96, silicon(), intensity_floor=0.0) == "no_line"


def test_supercell_gives_the_verdicts_of_the_primitive_cell() -> None:
    cell = calibrants.structure("Si")
    larger = cell.make_supercell([2, 1, 3], in_place=False)
    table = LineTable.from_structures([cell.get_primitive_structure(), larger], ["one", "six"])
    claims = ClaimTable.numbers("two_theta", np.arange(10, 90, 0.01))
    first, second = (check_many(claims, table, index=np.full(len(claims), i)) for i in (0, 1))
    np.testing.assert_array_equal(first.reason, second.reason)


@pytest.mark.parametrize("name", ["fluorapatite", "Na2Ca3Al2F14"])
def test_the_strongest_measured_lines_pass(name: str) -> None:
    from scipy.signal import find_peaks

    pattern = patterns.get(name)
    reference = DiffractionReference.from_pattern(pattern)
    peaks, found = find_peaks(pattern.counts, prominence=0.02 * np.ptp(pattern.counts))
    strongest = peaks[np.argsort(found["prominences"])[-12:]]
    claims = ClaimTable.numbers("two_theta", pattern.two_theta[strongest])
    verdicts = check_many(claims, [reference], Tolerances(two_theta=0.1), index=np.zeros(12, int))
    assert len(strongest) == 12
    assert verdicts.consistent.all()


@pytest.mark.network
def test_measured_lanthanum_hexaboride_passes() -> None:
    from scipy.signal import find_peaks

    try:
        pattern = patterns.lab6()
    except MatPCRError as error:
        pytest.skip(str(error))
    peaks, found = find_peaks(pattern.counts, prominence=0.01 * np.ptp(pattern.counts))
    strongest = peaks[np.argsort(found["prominences"])[-12:]]
    reference = DiffractionReference.from_pattern(pattern)
    claims = ClaimTable.numbers("two_theta", pattern.two_theta[strongest])
    verdicts = check_many(claims, [reference], Tolerances(two_theta=0.05), index=np.zeros(12, int))
    assert verdicts.consistent.all()


# --- one verdict, whichever way it is stated or asked --------------------------------------------


@settings(deadline=None)
@given(angle=st.floats(0.01, 179.0), tolerance=st.floats(0.01, 5.0))
@example(angle=10.0, tolerance=0.5)
@example(angle=90.0, tolerance=0.5)
def test_d_and_q_give_the_verdict_of_two_theta(angle: float, tolerance: float) -> None:
    reference = silicon((10.0, 120.0))
    reasons = {
        check(restate(angle, quantity), reference, Tolerances(tolerance)).reason
        for quantity in QUANTITIES
    }
    assert len(reasons) == 1


@cache
def references() -> tuple[DiffractionReference, ...]:
    alloy = Structure(Lattice.cubic(3.6), [{"Fe": 0.5, "Ni": 0.5}], [[0, 0, 0]])
    return (
        silicon(),
        made_up([]),
        DiffractionReference.from_structure(alloy),
        DiffractionReference.from_pattern(patterns.get("Na2Ca3Al2F14")),
        made_up([5.0, 12.0, 12.05, 91.0], [100, 30, 0.1, 50], (10.0, 90.0), CU_KALPHA),
        DiffractionReference.from_structure(calibrants.structure("Al2O3"), 0.7093, (5.0, 180.0)),
    )


values = st.one_of(
    st.floats(0.1, 180), st.floats(-10, 400), st.sampled_from([10.0, 90.0, 180.0, 0.0, 28.941])
)
claims = st.one_of(
    st.builds(Claim, st.sampled_from(QUANTITIES), values),
    st.builds(Claim, st.sampled_from(QUANTITIES), st.floats(-1, 600)),
)


@settings(deadline=None)
@given(
    rows=st.lists(st.tuples(claims, st.integers(0, 5)), max_size=12),
    tolerance=st.floats(0.001, 5.0),
    floor=st.sampled_from([0.0, 1.0, 7.5, 100.0]),
)
def test_check_many_gives_the_verdicts_of_check(
    rows: list[tuple[Claim, int]], tolerance: float, floor: float
) -> None:
    tolerances = Tolerances(tolerance, floor)
    table = check_many(
        [claim for claim, _ in rows],
        references(),
        tolerances,
        index=np.array([row for _, row in rows], int),
    )
    singles = [check(claim, references()[row], tolerances) for claim, row in rows]
    assert table.reason_names.tolist() == [verdict.reason for verdict in singles]
    assert all(verdict.outcome is REASONS[verdict.reason] for verdict in singles)
    assert all(verdict.sentence.endswith(".") for verdict in singles)


@settings(deadline=None)
@given(angle=st.floats(10, 90), row=st.integers(0, 5))
def test_a_wider_tolerance_never_flags_more(angle: float, row: int) -> None:
    claim, reference = Claim("two_theta", angle), references()[row]
    passes = [
        check(claim, reference, Tolerances(tolerance)).outcome is Outcome.CONSISTENT
        for tolerance in (0.05, 0.2, 0.5, 1.0)
    ]
    assert passes == sorted(passes)


def test_the_sentence_names_the_nearest_line_and_the_tolerance() -> None:
    verdict = check(Claim("two_theta", 33.2), silicon())
    assert verdict.outcome is Outcome.VIOLATION
    assert verdict.sentence == (
        "2θ = 33.2° lies 4.69° from the nearest line of Si, 111 at 28.51°: beyond ±0.5°."
    )
    assert verdict.details["nearest_hkl"] == "111"
    assert verdict.details["distance"] == pytest.approx(33.2 - 28.5139, abs=1e-3)
    stated = check(Claim("d_spacing", 3.135), silicon())
    assert stated.sentence.startswith("d = 3.135 Å (2θ = 28.45°) lies 0.01°")
    assert stated.details["d_spacing"] == pytest.approx(3.135)


# --- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("quantity", QUANTITIES)
def test_claims_that_are_no_number_are_errors(quantity: str, value: float) -> None:
    with pytest.raises(MatPCRError, match="must be a finite number"):
        check(Claim(quantity, value), silicon())
    many = [Claim("two_theta", 28.44), Claim(quantity, value)]
    with pytest.raises(MatPCRError, match="claim 1"):
        check_many(many, [silicon(), silicon()])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"two_theta": 0.0}, "two_theta tolerance = 0.0"),
        ({"two_theta": -0.5}, "two_theta tolerance = -0.5"),
        ({"two_theta": 5.1}, "two_theta tolerance = 5.1"),
        ({"two_theta": float("nan")}, "two_theta tolerance = nan"),
        ({"intensity_floor": -1.0}, "intensity_floor = -1.0"),
        ({"intensity_floor": 101.0}, "intensity_floor = 101.0"),
    ],
)
def test_bad_tolerances_are_refused(options: dict[str, float], message: str) -> None:
    with pytest.raises(MatPCRError, match=message):
        Tolerances(**options)


@pytest.mark.parametrize(
    ("wavelengths", "window", "message"),
    [
        (CU_KALPHA, (90.0, 10.0), "window"),
        (CU_KALPHA, (-1.0, 90.0), "window"),
        (CU_KALPHA, (10.0, 181.0), "window"),
        (CU_KALPHA, (float("nan"), 90.0), "window"),
        ((), (10.0, 90.0), "wavelength = "),
        (-1.54, (10.0, 90.0), "wavelength = "),
        (float("nan"), (10.0, 90.0), "wavelength = "),
    ],
)
def test_bad_instruments_are_refused(
    wavelengths: float | tuple[float, ...], window: tuple[float, float], message: str
) -> None:
    with pytest.raises(MatPCRError, match=message):
        DiffractionReference.from_structure(calibrants.structure("Si"), wavelengths, window)
    if isinstance(wavelengths, tuple):
        with pytest.raises(MatPCRError, match=message):
            LineTable.from_structures([], [], wavelengths, window)


def test_lines_that_end_before_the_window_are_refused() -> None:
    short = Lines(np.array([3.0]), np.array([100.0]), ("100",), KALPHA1, 60.0)
    with pytest.raises(MatPCRError, match="compute them to 95°"):
        DiffractionReference(short)


def test_index_must_fit() -> None:
    claims_ = ClaimTable.numbers("two_theta", np.array([28.44, 47.3]))
    with pytest.raises(MatPCRError, match="shape"):
        check_many(claims_, [silicon()], index=np.zeros(3, int))
    with pytest.raises(MatPCRError, match="2 claims against 1 references"):
        check_many(claims_, [silicon()])
    with pytest.raises(MatPCRError, match="index -1 points at no reference"):
        check_many(claims_, [silicon()], index=np.array([0, -1]))


def test_no_claims_give_no_verdicts() -> None:
    assert len(check_many([], [])) == 0
    assert len(check_many([], [silicon()])) == 0


def test_reference_from_a_cif(tmp_path: Path) -> None:
    file = tmp_path / "Si.cif"
    calibrants.structure("Si").to(filename=str(file))
    reference = DiffractionReference.from_cif(file)
    assert reason(28.44, reference) == "line"
    assert reference.name == "Si"


def test_partial_occupancy_in_a_cif_abstains(tmp_path: Path) -> None:
    file = tmp_path / "alloy.cif"
    alloy = Structure(Lattice.cubic(3.6), [{"Fe": 0.5, "Ni": 0.5}], [[0, 0, 0]])
    alloy.to(filename=str(file))
    assert reason(43.5, DiffractionReference.from_cif(file)) == "partial_occupancy"


def test_quantities_can_be_mixed_in_one_table() -> None:
    stated = [restate(47.3, quantity) for quantity in QUANTITIES]
    table = ClaimTable.from_claims(stated)
    assert table.quantity.tolist() == [quantity_code(quantity) for quantity in QUANTITIES]
    verdicts = check_many(table, [silicon()], index=np.zeros(3, int))
    assert verdicts.reason_names.tolist() == ["line"] * 3


@pytest.mark.parametrize("quantity", ["two_theta", "d_spacing", "scattering_vector"])
@pytest.mark.parametrize("value", [5e-324, 1e-300, 1e300, 1.7e308])
def test_extreme_numbers_get_a_verdict_and_finite_details(quantity, value):
    reference = DiffractionReference.from_structure(calibrants.structure("Si"), name="Si")
    verdict = check(Claim(quantity, value), reference)
    assert verdict.reason in ("impossible", "outside_window")
    assert all(np.isfinite(v) for v in verdict.details.values() if isinstance(v, float))


@pytest.mark.parametrize("wavelength", [100.0, 1e300])
def test_a_wavelength_beyond_every_spacing_leaves_no_line_to_judge_by(wavelength):
    reference = DiffractionReference.from_structure(calibrants.structure("Si"), wavelength)
    assert check(Claim("two_theta", 28.44), reference).reason == "no_reference_lines"
