"""Simulated powder patterns: positions, shapes, noise and reproducibility."""

import numpy as np
import pytest

from matpcr_utils.items.simulation import STEP, WINDOW, Settings, profile, scan
from matpcr_utils.references import calibrants
from matpcr_utils.references.lines import CU_KALPHA1, CU_KALPHA2, lines_of

SHARP = Settings(fwhm=0.08, peak_counts=10_000.0, background=0.05, noise_seed=3)


@pytest.fixture(scope="module")
def silicon():
    return lines_of(calibrants.structure("Si"), CU_KALPHA1, 95.0)


def test_lines_of_silicon_stand_where_the_certificate_has_them(silicon):
    angle, counts = profile(silicon, SHARP)
    assert angle[0] == WINDOW[0] and angle[-1] == pytest.approx(WINDOW[1])
    assert counts.max() == pytest.approx(10_000)
    # NIST SRM 640e, Kα1: 28.441, 47.300, 56.120 degree.
    for place in (28.441, 47.300, 56.120):
        near = np.abs(angle - place) < 0.3
        assert angle[near][np.argmax(counts[near])] == pytest.approx(place, abs=STEP)


def test_the_second_component_of_the_doublet_is_half_as_high(silicon):
    angle, counts = profile(silicon, SHARP)
    spacing = silicon.d[np.argmin(np.abs(silicon.two_theta() - 88.0))]
    first, second = (2 * np.degrees(np.arcsin(w / (2 * spacing))) for w in (CU_KALPHA1, CU_KALPHA2))
    heights = np.interp([first, second], angle, counts)
    assert heights[1] / heights[0] == pytest.approx(0.5, abs=0.06)


def test_width_at_half_maximum_is_the_one_asked_for():
    from matpcr_utils.references.lines import Lines

    one = Lines(np.array([2.0]), np.array([100.0]), ("100",), CU_KALPHA1, 95.0)
    wide = Settings(fwhm=0.35, peak_counts=1000.0, background=0.0, noise_seed=0)
    angle, counts = profile(one, wide)
    above = angle[counts >= 500]
    split = one.two_theta(CU_KALPHA2)[0] - one.two_theta()[0]
    assert 0.35 <= above[-1] - above[0] + STEP <= 0.35 + split + 2 * STEP


def test_noise_is_that_of_counting(silicon):
    angle, expected = profile(silicon, SHARP)
    found = np.array([scan(silicon, Settings(0.08, 10_000.0, 0.05, seed))[1] for seed in range(60)])
    flat = expected < 5
    mean, variance = found[:, flat].mean(), found[:, flat].var(axis=0).mean()
    assert variance == pytest.approx(mean, rel=0.05)
    assert (found >= 0).all() and (found == np.rint(found)).all()
    assert len(angle) == found.shape[1]


def test_the_same_name_gives_the_same_pattern(silicon):
    first, again, other = Settings.of("mp-1"), Settings.of("mp-1"), Settings.of("mp-2")
    assert first == again != other
    assert (scan(silicon, first)[1] == scan(silicon, again)[1]).all()
    for settings in (first, other):
        assert 0.08 <= settings.fwhm <= 0.35
        assert 400 <= settings.peak_counts <= 20_000
