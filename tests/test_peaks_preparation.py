"""Preparation of spectra: spikes, baseline, noise, maxima and shoulders of curves known exactly."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matpcr_utils.errors import MatPCRError
from matpcr_utils.references import peaks, spectra
from matpcr_utils.references.peaks import Preparation, prepare, prepared
from matpcr_utils.references.spectrum_cleaning import baseline_of, despike, local_noise

AXIS = np.arange(100.0, 2001.0)


def lorentzian(position: float, half_width: float, height: float, axis: np.ndarray = AXIS):
    return height / (1 + ((axis - position) / half_width) ** 2)


def gaussian(position: float, sigma: float, height: float, axis: np.ndarray = AXIS):
    return height * np.exp(-(((axis - position) / sigma) ** 2) / 2)


def spectrum(intensity: np.ndarray, shift: np.ndarray = AXIS) -> SimpleNamespace:
    return SimpleNamespace(shift=shift, intensity=intensity)


def strongest(found: peaks.PreparedSpectrum, n: int) -> np.ndarray:
    return np.sort(found.position[np.argsort(found.prominence)[-n:]])


TWO_BANDS = lorentzian(520.3, 4, 1000) + lorentzian(1000.6, 6, 300)


def test_positions_are_found_between_the_samples():
    found = prepare(spectrum(TWO_BANDS))
    assert strongest(found, 2) == pytest.approx([520.3, 1000.6], abs=0.1)
    assert found.has_signal
    # The Gaussian filter (sigma 1.5) lowers a Lorentzian of half-width 4 by about 13 %.
    assert found.dynamic_range == pytest.approx(0.88 * 1000, rel=0.05)


@pytest.mark.parametrize("samples", [1, 2, 3])
def test_spikes_up_to_three_samples_are_replaced(samples):
    noise = np.random.default_rng(1).normal(0, 2, len(AXIS))
    clean = TWO_BANDS + noise
    spiked = clean.copy()
    spiked[700 : 700 + samples] += 900
    found, spike = despike(spiked)
    assert np.flatnonzero(spike).tolist() == list(range(700, 700 + samples))
    assert np.abs(found - clean)[~spike].max() == 0
    assert np.abs(found[spike] - clean[spike]).max() < 15


def test_spike_with_unequal_samples_and_spike_near_the_end():
    values = np.random.default_rng(2).normal(0, 1, 400)
    values[200:202] += (100, 20)
    values[397] += 100
    _, spike = despike(values)
    assert spike[[200, 201, 397]].all()
    assert spike.sum() == 3


@pytest.mark.parametrize("width", [2.0, 2.5, 4.0])
@pytest.mark.parametrize("offset", [0.0, 0.5])
def test_a_line_that_the_sampling_can_carry_is_no_spike(width, offset):
    axis = np.arange(100.0)
    line = 1000 * np.exp(-4 * np.log(2) * ((axis - 50 - offset) / width) ** 2)
    _, spike = despike(line + np.random.default_rng(3).normal(0, 1, 100))
    assert not spike.any()


def test_no_measured_silicon_line_is_taken_for_a_spike():
    silicon = [s for s in spectra.load() if s.sample == "silicon"]
    for one in silicon:
        spikes = prepared(one).spikes
        assert not (np.abs(spikes - 520.5) < 10).any(), one.spectrum_id


@pytest.mark.parametrize("noise", [0.0, 5.0])
@pytest.mark.parametrize(
    "background",
    [gaussian(1500, 600, 5000), 2.0 * AXIS, 3000 * np.exp(-(AXIS - 100) / 800)],
    ids=["hump", "slope", "decay"],
)
def test_baseline_follows_the_background_and_not_the_bands(background, noise):
    random = np.random.default_rng(4).normal(0, noise, len(AXIS)) if noise else 0.0
    total = TWO_BANDS + background + random
    found = prepare(spectrum(total))
    inner = slice(100, -100)
    error = np.abs(found.baseline - background)[inner]
    assert error.max() < 0.06 * np.ptp(total)
    assert strongest(found, 2) == pytest.approx([520.3, 1000.6], abs=0.6)


def test_background_alone_leaves_almost_nothing():
    found = prepare(spectrum(gaussian(1500, 600, 5000)))
    assert found.dynamic_range < 0.01 * 5000
    assert found.background_span > 0.9 * np.ptp(gaussian(1500, 600, 5000))


def test_baseline_of_a_line_is_the_line():
    line = np.linspace(0, 1, len(AXIS))
    assert baseline_of(AXIS, line, 60.0) == pytest.approx(line, abs=1e-8)


@pytest.mark.parametrize("step", [0.5, 1.0, 2.5])
def test_noise_level_is_that_of_the_filtered_noise(step):
    noise = np.random.default_rng(5).normal(0, 3, 8000)
    measured = np.median(local_noise(noise, 1.0, step))
    assert measured == pytest.approx(3, rel=0.1)


def test_noise_alone_has_no_maximum_of_eight_sigma():
    random = np.random.default_rng(6)
    for _ in range(20):
        found = prepare(spectrum(random.normal(0, 10, len(AXIS))))
        assert (found.prominence < 8 * found.noise_at).all()


def test_interpolated_noise_is_not_underestimated():
    coarse = np.random.default_rng(7).normal(0, 1, 380)
    smooth = np.interp(AXIS, np.linspace(AXIS[0], AXIS[-1], 380), coarse)
    found = prepare(spectrum(smooth))
    assert (found.prominence < 8 * found.noise_at).all()


def test_saturated_top_is_one_summit_over_the_whole_plateau():
    clipped = np.minimum(lorentzian(900, 20, 1000), 300) + AXIS / 10
    flat = np.minimum(lorentzian(900, 20, 1000), 300)
    for intensity in (clipped, flat):
        found = prepare(spectrum(intensity))
        top = np.argmax(found.prominence)
        assert found.left[top] <= 875
        assert found.right[top] >= 925
        assert found.left[top] > 860
        assert found.right[top] < 940


def test_shoulder_is_found_with_its_height_and_no_maximum():
    # Separated by 2.7 standard deviations, the lower band has no maximum of its own.
    found = prepare(spectrum(gaussian(1000, 15, 1000) + gaussian(1040, 15, 300)))
    assert not (np.abs(found.position - 1040) < 15).any()
    nearest = np.argmin(np.abs(found.shoulder - 1040))
    assert found.shoulder[nearest] == pytest.approx(1042, abs=5)
    assert 50 < found.shoulder_height[nearest] <= 300


def test_single_bands_have_no_shoulder_worth_mentioning():
    found = prepare(spectrum(TWO_BANDS + gaussian(1600, 20, 500)))
    assert (found.shoulder_height < 0.01 * found.dynamic_range).all()


def test_gaps_of_the_axis_are_kept():
    axis = np.concatenate([np.arange(100.0, 1201.0), np.arange(2700.0, 3201.0)])
    found = prepare(spectrum(lorentzian(520, 4, 1000, axis), axis))
    assert found.gaps.tolist() == [[1200.0, 2700.0]]


def test_dispersive_axis_gives_the_same_bands():
    wavelength = np.linspace(536, 600, 1500)
    axis = 1e7 / 532 - 1e7 / wavelength
    found = prepare(spectrum(lorentzian(520, 5, 1000, axis) + lorentzian(1000, 5, 400, axis), axis))
    assert strongest(found, 2) == pytest.approx([520, 1000], abs=0.3)


def test_edge_rises():
    found = prepare(spectrum(1000 * np.exp(-(AXIS - 100) / 50)))
    assert found.edge_rise[0] == pytest.approx(1000, rel=0.05)
    assert found.edge_rise[1] == 0


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("where", ["shift", "intensity"])
def test_nan_and_infinity_are_errors_that_name_the_point(value, where):
    broken = spectrum(TWO_BANDS.copy(), AXIS.copy())
    getattr(broken, where)[7] = value
    with pytest.raises(MatPCRError, match=rf"{where} holds 1 value.*index 7"):
        prepare(broken)


@pytest.mark.parametrize(
    ("shift", "intensity", "message"),
    [
        (AXIS, TWO_BANDS[:-1], "equally long"),
        (np.r_[AXIS[:10], AXIS[5:]], np.r_[TWO_BANDS[:10], TWO_BANDS[5:]], "index 10"),
        (np.arange(100.0, 110.0), np.ones(10), "10 points above min_shift"),
        (np.arange(500.0), np.ones((500, 1)), "one-dimensional"),
    ],
)
def test_axes_that_cant_be_used(shift, intensity, message):
    with pytest.raises(MatPCRError, match=message):
        prepare(spectrum(intensity, shift))


@pytest.mark.parametrize(
    "field", ["min_shift", "spike_score", "baseline_length", "smoothing", "widest"]
)
@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
def test_preparation_refuses_what_makes_no_sense(field, value):
    with pytest.raises(MatPCRError, match=field):
        Preparation(**{field: value})


@pytest.mark.parametrize("field", ["spike_score", "baseline_length", "smoothing", "widest"])
def test_preparation_refuses_what_overflows(field):
    with pytest.raises(MatPCRError, match=rf"{field} = 1e\+308 must be positive and at most"):
        Preparation(**{field: 1e308})


def test_prepared_is_remembered_by_content():
    first, again = spectrum(TWO_BANDS), spectrum(TWO_BANDS.copy())
    assert prepared(first) is prepared(again)
    assert prepared(first, Preparation(smoothing=3)) is not prepared(first)
    again.intensity[3] += 1
    assert prepared(first) is not prepared(again)


def test_the_cache_is_bounded():
    for level in range(peaks._CACHE_SIZE + 5):
        prepared(spectrum(np.full(40, float(level)), np.arange(100.0, 140.0)))
    assert len(peaks._CACHE) == peaks._CACHE_SIZE


def _same_bands(one: peaks.PreparedSpectrum, other: peaks.PreparedSpectrum, scale: float = 1.0):
    assert other.position == pytest.approx(one.position, abs=1e-6)
    assert other.prominence == pytest.approx(scale * one.prominence, rel=1e-6, abs=1e-6 * scale)


NOISY = TWO_BANDS + gaussian(1500, 500, 2000) + np.random.default_rng(8).normal(0, 4, len(AXIS))


def test_falling_axis_is_the_same_spectrum():
    rising, falling = prepare(spectrum(NOISY)), prepare(spectrum(NOISY[::-1], AXIS[::-1]))
    assert len(rising.position) >= 2
    _same_bands(rising, falling)


@settings(max_examples=20, deadline=None)
@given(scale=st.floats(0.01, 1000), offset=st.floats(-1e4, 1e4))
def test_gain_and_offset_of_the_detector_change_nothing(scale, offset):
    base = prepare(spectrum(NOISY))
    found = prepare(spectrum(scale * NOISY + offset))
    tall = base.prominence > 8 * base.noise_at
    other = found.prominence > 8 * found.noise_at
    assert found.position[other] == pytest.approx(base.position[tall], abs=1e-3)
    assert found.prominence[other] == pytest.approx(scale * base.prominence[tall], rel=1e-3)


def test_smoothing_of_less_than_a_sample_is_one_sample():
    fine = prepare(spectrum(TWO_BANDS), Preparation(smoothing=1.0))
    less = prepare(spectrum(TWO_BANDS), replace(Preparation(), smoothing=0.1))
    assert less.signal == pytest.approx(fine.signal)
