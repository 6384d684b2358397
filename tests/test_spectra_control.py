"""Positive control, chance-pass rate and reports for spectra, on all measured spectra."""

import numpy as np
import pytest

from matpcr_utils import controls
from matpcr_utils.controls import spectra as design
from matpcr_utils.controls import spectra_report
from matpcr_utils.controls.spectra_edges import edges, with_spikes
from matpcr_utils.errors import MatPCRError
from matpcr_utils.oracles.spectra import Tolerances
from matpcr_utils.references import spectra
from matpcr_utils.references.bands import KNOWN_BANDS
from matpcr_utils.references.peaks import prepared
from matpcr_utils.references.spectra import Spectrum
from matpcr_utils.references.spectrum_table import SpectrumTable

REFERENCES = design.default_references()


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5])
def test_no_planted_violation_is_missed(share):
    result = controls.run("spectra", planted=share, n=2000, seed=3)
    result.require_no_miss()
    assert result.false_negatives.count == 0
    assert result.false_positives.estimate < 0.16
    assert result.abstentions.estimate < 0.02


def test_every_false_alarm_has_a_cause():
    result = controls.run("spectra", planted=0.1, n=2000, seed=1)
    causes = spectra_report.explain(result)
    assert causes["flagged"].sum() == len(result.false_alarms())
    assert set(causes["cause"]) <= {
        "axis off",
        "too weak",
        "axis off, and too weak",
        "in the noise",
        "no maximum of its own",
    }
    # No strong band of an instrument with a right axis is among them.
    strong = causes["band"].isin([520.45, 1085.91, 1001.4, 144.0])
    assert (causes.loc[strong, "cause"] == "axis off").all()


def test_axis_offset_of_the_third_grating_is_measured():
    causes = spectra_report.explain(controls.run("spectra", planted=0.1, n=2000, seed=1))
    off = causes.loc[causes["spectrum"] == "fnmt-horiba-785-03-scal", "axis off by"]
    assert off.between(4.5, 6.5).all()
    assert len(off)


def test_true_claims_are_known_bands_and_planted_ones_keep_clear():
    rng = np.random.default_rng(5)
    tolerances = Tolerances()
    index = np.flatnonzero(design.eligible(REFERENCES, tolerances))
    bands = design.known(REFERENCES)
    true = design.true_claims(REFERENCES, index, tolerances, rng)
    planted = design.plant(true, REFERENCES, index, tolerances, rng)
    for i, value, false in zip(index, true.value, planted.value, strict=True):
        assert np.abs(bands[i] - value).min() <= design.READING_ERROR
        assert np.abs(bands[i] - false).min() > tolerances.window
        low, high = REFERENCES.searched[i]
        assert low + tolerances.window < false < high - tolerances.window


def test_carbon_has_no_band_that_is_true_beforehand():
    eligible = design.eligible(REFERENCES, Tolerances())
    samples = np.array([s.sample for s in REFERENCES.spectra])
    assert not eligible[samples == "carbon"].any()
    assert eligible[samples != "carbon"].all()
    assert set(samples) - set(KNOWN_BANDS) == {"carbon"}


def test_chance_passes_little_and_the_superseded_criterion_much():
    new = controls.chance("spectra", draws=100)
    old = controls.chance("spectra", draws=100, tolerances=Tolerances(criterion="windowed_maximum"))
    assert new.passes.estimate < 0.03
    assert old.passes.estimate > 0.3
    assert 0.02 < new.abstained.estimate < 0.06


def test_comparison_of_the_criteria():
    table = spectra_report.compare_criteria(n=600, draws=20)
    assert table.index.tolist() == ["prominence", "windowed_maximum"]
    missed = table["missed of the planted"]
    assert missed["prominence"].startswith("0.0000")
    assert not missed["windowed_maximum"].startswith("0.0")


def test_sensitivity_grid_is_monotone():
    grid = spectra_report.sensitivity([2, 5, 10], [0.02, 0.05, 0.2], draws=20)
    assert (grid["planted"] == 0).all()
    for _, rows in grid.groupby("window"):
        assert rows["true"].is_monotonic_decreasing
        assert rows["chance"].is_monotonic_decreasing
    for _, rows in grid.groupby("prominence"):
        assert rows["true"].is_monotonic_increasing
    with pytest.raises(MatPCRError, match="at least one"):
        spectra_report.sensitivity([], [0.05])


def test_a_spectrum_without_room_or_bands_is_not_eligible():
    axis = np.arange(100.0, 200.0)
    short = Spectrum.from_arrays(axis, np.exp(-(((axis - 150) / 5) ** 2)), sample="silicon")
    assert not design.eligible(SpectrumTable.from_spectra([short]), Tolerances()).any()
    with pytest.raises(MatPCRError, match="no reference can carry"):
        controls.run("spectra", references=SpectrumTable.from_spectra([short]))


@pytest.mark.parametrize("tolerances", [Tolerances(), Tolerances(window=3, prominence=0.1)])
def test_edge_cases_of_the_chapter(tolerances):
    table = edges(tolerances).set_index("simulated spectrum")
    assert table["reason"].to_dict() == {
        "at the window's end": "peak",
        "just beyond it": "no_maximum",
        "half the least prominence": "weak_maximum",
        "twice the least prominence": "peak",
        "band on fluorescence": "peak",
        "top of the fluorescence": "no_maximum",
        "cosmic spike": "no_maximum",
        "maximum at the axis end": "edge_maximum",
        "end of a saturated top": "peak",
        "shoulder": "shoulder",
        "noise only": "no_maximum",
        "no signal at all": "no_signal",
        "beyond the axis": "not_measured",
        "negative shift": "not_measured",
    }
    assert table["same on the falling axis"].all()


def test_simulated_spikes_are_all_found_again():
    clean = spectra.get("icv-bwtek-785-100-s0p")
    spiked = with_spikes(clean, count=4, seed=1)
    changed = spiked.shift[spiked.intensity != clean.intensity]
    assert 4 <= len(changed) <= 8
    assert set(prepared(spiked).spikes) >= set(changed)


def test_silicon_lines_of_the_instruments():
    readings = spectra_report.line_readings("silicon", 520.45)
    assert len(readings) == sum(s.sample == "silicon" for s in spectra.load())
    assert readings["position"].between(518, 524).all()
    medians = readings.groupby("instrument")["position"].median()
    assert medians["TOP Horiba 633 nm"] < 520 < medians["FNMT Horiba 785 nm"]
    with pytest.raises(MatPCRError, match="no spectrum of 'gold'"):
        spectra_report.line_readings("gold", 100)
