"""The spectra oracle: every edge on curves whose bands are known, and the measured spectra."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matpcr_utils import oracles
from matpcr_utils.claims.model import Claim, ClaimTable
from matpcr_utils.errors import MatPCRError
from matpcr_utils.oracles.base import Outcome
from matpcr_utils.oracles.spectra import (
    REASONS,
    Preparation,
    SpectrumTable,
    Tolerances,
    accepted,
    check,
    check_many,
)
from matpcr_utils.references import spectra
from matpcr_utils.references.peaks import prepare
from matpcr_utils.references.spectra import Spectrum

AXIS = np.arange(100.0, 2001.0)
NOISE = np.random.default_rng(0).normal(0, 3, len(AXIS))


def lorentzian(position, half_width, height, axis=AXIS):
    return height / (1 + ((axis - position) / half_width) ** 2)


def gaussian(position, sigma, height, axis=AXIS):
    return height * np.exp(-(((axis - position) / sigma) ** 2) / 2)


def spectrum(intensity, shift=AXIS) -> Spectrum:
    return Spectrum.from_arrays(shift, intensity)


def reason(shift, reference, tolerances=None) -> str:
    return check(Claim("raman_shift", float(shift)), reference, tolerances).reason


BANDS = lorentzian(520, 4, 1000) + lorentzian(1000, 6, 300)
PLAIN = spectrum(BANDS)


@pytest.mark.parametrize(
    ("shift", "expected"),
    [
        (520, "peak"),
        (1000, "peak"),
        (515, "peak"),  # 5 = the window, inclusive
        (525, "peak"),
        (525.2, "no_maximum"),
        (514.8, "no_maximum"),
        (700, "no_maximum"),
    ],
)
def test_a_claim_is_a_band_when_a_maximum_is_within_the_window(shift, expected):
    assert reason(shift, PLAIN) == expected


def test_window_is_a_parameter():
    assert reason(530, PLAIN, Tolerances(window=10)) == "peak"
    assert reason(522, PLAIN, Tolerances(window=1)) == "no_maximum"


@pytest.mark.parametrize(("height", "expected"), [(100, "peak"), (20, "weak_maximum")])
def test_prominence_is_a_share_of_the_dynamic_range(height, expected):
    reference = spectrum(lorentzian(520, 6, 1000) + lorentzian(1000, 6, height))
    assert reason(1000, reference) == expected
    assert reason(1000, reference, Tolerances(prominence=0.005)) == "peak"
    assert reason(1000, reference, Tolerances(prominence=0.3)) == "weak_maximum"


@pytest.mark.parametrize(
    "background",
    [gaussian(1500, 500, 5000), 3 * AXIS, 4000 * np.exp(-(AXIS - 100) / 600)],
    ids=["fluorescence", "slope", "decay"],
)
@pytest.mark.parametrize("noise", [0.0, 1.0], ids=["quiet", "noisy"])
def test_a_slow_background_does_not_flip_a_verdict(background, noise):
    reference = spectrum(BANDS + background + noise * NOISE)
    assert reason(520, reference) == "peak"
    assert reason(1000, reference) == "peak"
    for shift in (300, 700, 1500, 1800):
        assert check(Claim("raman_shift", shift), reference).outcome is Outcome.VIOLATION


def test_top_of_the_fluorescence_is_no_band():
    for noise in (0.0, NOISE):
        hump = spectrum(gaussian(1500, 500, 5000) + noise)
        verdict = check(Claim("raman_shift", 1500.0), hump)
        assert verdict.outcome is Outcome.VIOLATION


@pytest.mark.parametrize("samples", [1, 2, 3])
def test_a_cosmic_spike_is_no_band(samples):
    spiked = BANDS + NOISE
    spiked[700 : 700 + samples] += 5000
    reference = spectrum(spiked)
    assert reason(800, reference) == "no_maximum"
    # Nor does it shrink the share that the real bands have of the dynamic range.
    assert reason(1000, reference) == "peak"


def test_noise_alone_has_no_band():
    random = np.random.default_rng(1)
    for _ in range(10):
        reference = spectrum(random.normal(size=len(AXIS)))
        claims = ClaimTable.numbers("raman_shift", np.arange(110.0, 1990.0, 3.0))
        verdicts = check_many(claims, [reference], index=np.zeros(len(claims), np.intp))
        assert verdicts.violation.all()


def test_a_maximum_at_the_end_of_the_axis_is_no_band():
    axis = np.arange(200.0, 1000.0)
    cut = lorentzian(195, 20, 1000, axis) + lorentzian(600, 6, 200, axis)
    for reference in (spectrum(cut, axis), spectrum(cut[::-1], axis[::-1])):
        assert reason(200, reference) == "edge_maximum"
        assert reason(204, reference) == "edge_maximum"
        assert reason(600, reference) == "peak"
    rising = spectrum(AXIS * 1.0)
    assert reason(2000, rising) == "edge_maximum"
    assert reason(100, rising) == "no_maximum"


def test_an_interior_maximum_near_the_end_is_a_band():
    assert reason(1990, spectrum(BANDS + lorentzian(1990, 4, 500))) == "peak"


@pytest.mark.parametrize(
    "intensity",
    [
        np.minimum(lorentzian(900, 20, 1000), 300),
        np.minimum(lorentzian(900, 20, 1000), 300) + AXIS / 3,
        np.minimum(lorentzian(900, 20, 1000) + AXIS / 9, 400),
    ],
    ids=["plain", "on a slope", "clipped with the slope"],
)
def test_a_saturated_band_counts_anywhere_on_its_plateau(intensity):
    reference = spectrum(intensity)
    for shift in (870, 885, 900, 915, 930):  # the plateau ends 30.6 from its centre
        assert reason(shift, reference) == "peak"
    for shift in (850, 950):
        assert reason(shift, reference) == "no_maximum"


@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_a_shoulder_abstains(noise):
    reference = spectrum(gaussian(1000, 15, 1000) + gaussian(1040, 15, 400) + noise * NOISE)
    verdict = check(Claim("raman_shift", 1040.0), reference)
    assert (verdict.outcome, verdict.reason) == (Outcome.ABSTAIN, "shoulder")
    assert reason(1000, reference) == "peak"
    assert reason(1080, reference) == "no_maximum"
    assert reason(970, reference) == "no_maximum"
    assert reason(1040, reference, Tolerances(shoulder=0.9)) == "no_maximum"


def test_a_resolved_neighbour_is_a_band_and_no_shoulder():
    reference = spectrum(gaussian(1000, 15, 1000) + gaussian(1060, 15, 400))
    assert reason(1060, reference) == "peak"


@pytest.mark.parametrize("level", [0.0, 5.0, -3.0])
def test_a_constant_spectrum_gives_nothing_to_judge(level):
    verdict = check(Claim("raman_shift", 500.0), spectrum(np.full(len(AXIS), level)))
    assert (verdict.outcome, verdict.reason) == (Outcome.ABSTAIN, "no_signal")


def test_a_constant_spectrum_with_a_spike_gives_nothing_to_judge_either():
    spiked = np.full(len(AXIS), 7.0)
    spiked[900] = 1000
    assert reason(1000, spectrum(spiked)) == "no_signal"


@pytest.mark.parametrize("shift", [-520.0, 0.0, 99.0, 2001.0, 1e9, -1e9])
def test_what_was_not_measured_abstains(shift):
    assert reason(shift, PLAIN) == "not_measured"


def test_ends_of_the_axis_belong_to_it():
    assert reason(100, PLAIN) == "no_maximum"
    assert reason(2000, PLAIN) == "no_maximum"


def test_below_the_cut_off_the_laser_line_abstains():
    axis = np.linspace(-200, 1000, 1201)
    laser = gaussian(0, 8, 1e5, axis) + gaussian(520, 8, 1000, axis)
    reference = spectrum(laser, axis)
    for shift in (-150, 0, 50, 99):
        assert reason(shift, reference) == "near_laser_line"
    assert reason(-300, reference) == "not_measured"
    assert reason(520, reference) == "peak"


def test_a_lower_cut_off_opens_the_low_shifts():
    axis = np.arange(10.0, 800.0)
    reference = spectrum(gaussian(47, 4, 500, axis) + gaussian(520, 8, 1000, axis), axis)
    assert reason(47, reference) == "near_laser_line"
    assert reason(47, reference, Tolerances(preparation=Preparation(min_shift=15))) == "peak"


def test_a_gap_of_the_axis_abstains():
    axis = np.concatenate([np.arange(100.0, 1201.0), np.arange(2700.0, 3201.0)])
    reference = spectrum(lorentzian(520, 4, 1000, axis) + lorentzian(2900, 8, 500, axis), axis)
    assert reason(1900, reference) == "not_measured"
    assert reason(520, reference) == reason(2900, reference) == "peak"
    assert "gap" in check(Claim("raman_shift", 1900.0), reference).sentence


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_claim_that_is_no_number_is_an_error(value):
    with pytest.raises(MatPCRError, match="finite number"):
        check(Claim("raman_shift", value), PLAIN)
    with pytest.raises(MatPCRError, match="claim 1"):
        check_many(ClaimTable.numbers("raman_shift", np.array([500.0, value])), [PLAIN, PLAIN])


def test_nan_in_a_spectrum_is_an_error():
    broken = replace(PLAIN, intensity=np.where(AXIS == 700, np.nan, BANDS))
    with pytest.raises(MatPCRError, match="NaN"):
        check(Claim("raman_shift", 520.0), broken)
    with pytest.raises(MatPCRError, match="NaN"):
        check_many([Claim("raman_shift", 520.0)], [broken])


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"window": 0}, "window"),
        ({"window": np.nan}, "window"),
        ({"prominence": 0}, "prominence"),
        ({"prominence": 1.5}, "prominence"),
        ({"noise_multiple": -1}, "noise_multiple"),
        ({"background_share": np.inf}, "background_share"),
        ({"shoulder": np.nan}, "shoulder"),
        ({"criterion": "maximum"}, "windowed_maximum"),
    ],
)
def test_tolerances_that_make_no_sense(options, name):
    with pytest.raises(MatPCRError, match=name):
        Tolerances(**options)


def test_indices_and_tables_that_do_not_fit():
    claims = ClaimTable.numbers("raman_shift", np.array([520.0, 521.0]))
    with pytest.raises(MatPCRError, match="shape"):
        check_many(claims, [PLAIN], index=np.zeros(3, np.intp))
    with pytest.raises(MatPCRError, match="2 claims against 1 references"):
        check_many(claims, [PLAIN])
    with pytest.raises(MatPCRError, match="no spectrum"):
        check_many(claims, [])
    table = SpectrumTable.from_spectra([PLAIN, PLAIN])
    with pytest.raises(MatPCRError, match="prepared"):
        check_many(claims, table, Tolerances(preparation=Preparation(smoothing=3)))


def test_verdict_says_what_it_rests_on():
    verdict = check(Claim("raman_shift", 522.0), PLAIN)
    assert verdict.details["nearest"] == pytest.approx(520, abs=0.05)
    assert verdict.details["distance"] == pytest.approx(2, abs=0.05)
    assert verdict.details["share"] == 1
    assert verdict.sentence == (
        "522 cm⁻¹ is a band: the nearest band, at 520.0 cm⁻¹ with 100% of the dynamic range, is "
        "2.0 cm⁻¹ away, within ±5."
    )
    flat_top = spectrum(np.minimum(lorentzian(900, 20, 1000), 300))
    assert "its top spans" in check(Claim("raman_shift", 928.0), flat_top).sentence
    noise = spectrum(np.random.default_rng(3).normal(size=len(AXIS)))
    assert "stands out of the noise" in check(Claim("raman_shift", 500.0), noise).sentence


def test_registered_under_its_constraint():
    assert oracles.get("spectra").check is check


# --- The superseded criterion ------------------------------------------------------------------


def test_windowed_maximum_passes_noise_and_drift_where_prominence_does_not():
    old = Tolerances(criterion="windowed_maximum")
    drifting = spectrum(BANDS + gaussian(1500, 500, 5000))
    noise = spectrum(np.random.default_rng(4).normal(size=len(AXIS)))
    for reference in (drifting, noise):
        assert reason(1400, reference, old) == "peak"
        assert reason(1400, reference) == "no_maximum"
    assert reason(700, PLAIN, old) == "no_maximum"
    assert reason(520, PLAIN, old) == "peak"
    assert reason(50, PLAIN, old) == "not_measured"
    sentence = check(Claim("raman_shift", 1400.0), noise, old).sentence
    assert sentence.startswith("1400 cm⁻¹: the highest reading within ±5")


# --- Invariants --------------------------------------------------------------------------------

NOISY = BANDS + gaussian(1500, 500, 2000) + NOISE
MIXED = [
    spectrum(NOISY),
    spectrum(gaussian(1000, 15, 1000) + gaussian(1040, 15, 400)),
    spectrum(np.zeros(len(AXIS))),
    spectrum(np.minimum(lorentzian(900, 20, 1000), 300) + AXIS / 3),
    spectrum(1000 * np.exp(-(AXIS - 100) / 50)),
    spectra.get("icv-bwtek-785-20x-tio2-100pc"),
    spectra.get("raman-fitting-testdw38c-1"),
]
TABLE = SpectrumTable.from_spectra(MIXED)


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.integers(0, len(MIXED) - 1), st.floats(-300, 4000)), min_size=1, max_size=30
    ),
    criterion=st.sampled_from(["prominence", "windowed_maximum"]),
)
def test_check_many_is_check(rows, criterion):
    tolerances = Tolerances(criterion=criterion)
    index = np.array([number for number, _ in rows])
    claims = [Claim("raman_shift", shift) for _, shift in rows]
    verdicts = check_many(claims, TABLE, tolerances, index=index)
    one_by_one = [check(c, MIXED[i], tolerances) for c, i in zip(claims, index, strict=True)]
    assert verdicts.reason_names.tolist() == [v.reason for v in one_by_one]
    assert verdicts.outcomes.tolist() == [str(v.outcome) for v in one_by_one]


@settings(max_examples=40, deadline=None)
@given(shift=st.floats(0, 2100))
def test_falling_axis_gives_the_same_verdict(shift):
    assert reason(shift, spectrum(NOISY[::-1], AXIS[::-1])) == reason(shift, MIXED[0])


@settings(max_examples=25, deadline=None)
@given(
    scale=st.floats(0.01, 1000),
    offset=st.floats(-1e4, 1e4),
    shift=st.sampled_from([300, 517, 520, 524, 533, 700, 1000, 1500, 1990]),
)
def test_gain_and_offset_do_not_flip_a_verdict(scale, offset, shift):
    assert reason(shift, spectrum(scale * NOISY + offset)) == reason(shift, MIXED[0])


@settings(max_examples=25, deadline=None)
@given(
    centre=st.floats(300, 1900),
    sigma=st.floats(450, 1500),
    height=st.floats(0, 5000),
    slope=st.floats(-1, 1),
    shift=st.sampled_from([300, 520, 700, 1000, 1300, 1700]),
)
def test_adding_a_slow_background_does_not_flip_a_verdict(centre, sigma, height, slope, shift):
    drifting = BANDS + NOISE + gaussian(centre, sigma, height) + slope * AXIS
    before = check(Claim("raman_shift", shift), spectrum(BANDS + NOISE)).outcome
    assert check(Claim("raman_shift", shift), spectrum(drifting)).outcome is before


@settings(max_examples=30, deadline=None)
@given(
    position=st.floats(200, 1900),
    width=st.floats(3, 40),
    claim=st.floats(-4.5, 4.5),
)
def test_a_lone_band_is_found_wherever_it_is(position, width, claim):
    reference = spectrum(lorentzian(position, width, 1000) + NOISE)
    assert reason(position + claim * 0.9, reference) == "peak"


# --- Measured spectra ---------------------------------------------------------------------------


def test_silicon_line_passes_on_every_measured_silicon_spectrum():
    silicon = [s for s in spectra.load() if s.sample == "silicon"]
    assert len(silicon) >= 30
    claims = ClaimTable.numbers("raman_shift", np.full(len(silicon), 520.7))
    verdicts = check_many(claims, silicon)
    failing = [s.spectrum_id for s, ok in zip(silicon, verdicts.consistent, strict=True) if not ok]
    assert failing == []


def test_strongest_bands_of_calcite_and_polystyrene_pass_where_the_axis_is_right():
    # The third grating of this instrument reads 5 to 6 too high, which the window does not cover.
    for sample, shift in (("calcite", 1085.91), ("polystyrene", 1001.4)):
        chosen = [s for s in spectra.load() if s.sample == sample and "785-03" not in s.spectrum_id]
        claims = ClaimTable.numbers("raman_shift", np.full(len(chosen), shift))
        assert check_many(claims, chosen).consistent.all()


def test_first_band_of_the_matrix_is_a_shoulder_of_anatase():
    # Polystyrene's band at 621 leans on anatase's at 639.
    assert reason(620, spectra.get("icv-bwtek-785-20x-tio2-100pc")) == "shoulder"


def test_every_measured_spectrum_is_prepared_and_has_a_band():
    table = SpectrumTable.from_spectra(spectra.load())
    bands = table.maxima.take(accepted(table, Tolerances())).owner
    assert set(bands.tolist()) == set(range(len(table)))


def test_a_prepared_spectrum_serves_as_reference():
    assert reason(520, prepare(PLAIN)) == "peak"


def test_reasons_keep_their_outcomes():
    assert [name for name, o in REASONS.items() if o is Outcome.CONSISTENT] == ["peak"]
    assert {name for name, o in REASONS.items() if o is Outcome.VIOLATION} == {
        "weak_maximum",
        "no_maximum",
        "edge_maximum",
    }
