"""Measured spectra, measured patterns and calibrants."""

from __future__ import annotations

import bz2
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matpcr_utils.errors import MatPCRError
from matpcr_utils.references import archives, calibrants, patterns, spectra
from matpcr_utils.references.spectra import Spectrum

# --- spectra


def test_at_least_forty_spectra_of_two_makers():
    shipped = spectra.load()
    assert len(shipped) == 80
    assert {s.instrument for s in shipped} == {"B&W Tek", "Horiba", ""}
    assert {s.laser_nm for s in shipped} == {532.0, 633.0, 785.0, None}
    assert {s.sample for s in shipped} == {
        "silicon",
        "calcite",
        "polystyrene",
        "carbon",
        "titanium dioxide in a polymer",
    }
    assert len({s.spectrum_id for s in shipped}) == 80


def test_every_shipped_spectrum_passes_its_own_checks():
    for s in spectra.load():
        Spectrum.from_arrays(s.shift, s.intensity, spectrum_id=s.spectrum_id)
        assert len(s) == len(s.shift) >= 700
        assert s.source.split(":")[0] in archives.ARCHIVES


@pytest.mark.parametrize(
    ("sample", "line"), [("silicon", 520.5), ("calcite", 1086.0), ("polystyrene", 1001.4)]
)
def test_the_strongest_line_lies_near_its_literature_value(sample, line):
    # Si: Parker et al., Phys. Rev. 155 (1967) 712; calcite and polystyrene: ASTM E1840. Axes are
    # uncalibrated, so 7 1/cm; the laser line and fluorescence are cut off.
    found = []
    for s in spectra.load():
        if s.sample == sample and s.laboratory in ("ICV", "TOP"):
            near = np.abs(s.shift - line) < 30
            found.append(s.shift[near][s.intensity[near].argmax()] - line)
    assert len(found) >= 5
    assert np.abs(found).max() < 7


def test_silicon_reads_what_the_sources_read():
    shift = spectra.get("top-horiba-633-010-s0b")
    near = np.abs(shift.shift - 520) < 20
    assert shift.shift[near][shift.intensity[near].argmax()] == pytest.approx(518.7, abs=0.1)


def test_unknown_spectrum():
    with pytest.raises(MatPCRError, match=r"no spectrum 'x': .* lists all 80"):
        spectra.get("x")


def test_spectra_table_lists_all():
    table = spectra.table()
    assert len(table) == 80
    assert (table["to"] > table["from"]).all()


@pytest.mark.parametrize(
    ("shift", "intensity", "message"),
    [
        ([1, 2], [1, 2], "2 points, but a peak needs at least 3"),
        ([1, 2, 3], [1, np.nan, 3], "value nan at point 2 of 3"),
        ([1, np.inf, 3], [1, 2, 3], "axis inf at point 2 of 3"),
        ([1, 2, 3], [1, 2], "do not pair"),
        ([[1, 2, 3]], [[1, 2, 3]], "do not pair"),
        ([1, 2, 2], [1, 2, 3], "axis goes from 2 to 2 at point 2"),
        ([1, 3, 2], [1, 2, 3], "axis goes from 3 to 2 at point 2"),
        ([1, 1, 2], [1, 2, 3], "axis goes from 1 to 1 at point 1"),
    ],
)
def test_bad_curves_are_refused_in_one_line(shift, intensity, message):
    with pytest.raises(MatPCRError, match=message) as caught:
        Spectrum.from_arrays(shift, intensity, source="my.txt")
    assert str(caught.value).startswith("my.txt: ")
    assert "\n" not in str(caught.value)


def test_a_descending_axis_is_kept():
    s = Spectrum.from_arrays([3, 2, 1], [1, 5, 2])
    assert list(s.shift) == [3, 2, 1] and list(s.intensity) == [1, 5, 2]


@given(
    st.lists(st.floats(-1e4, 1e4).map(lambda x: round(x, 6)), min_size=3, max_size=30, unique=True)
)
def test_any_sorted_axis_is_accepted_both_ways(values):
    axis = np.sort(values)
    for x in (axis, axis[::-1]):
        assert np.array_equal(Spectrum.from_arrays(x, np.zeros(len(x))).shift, x)


# --- patterns


def test_the_two_measured_patterns_and_their_structures():
    fap, nac = patterns.load()
    assert (fap.name, nac.name) == ("fluorapatite", "Na2Ca3Al2F14")
    assert (len(fap), len(nac)) == (5751, 59498)
    assert (fap.two_theta[0], fap.two_theta[-1]) == (15.0, 130.0)
    assert nac.two_theta[-1] == 59.9893  # hundredths of a degree in the file
    assert (fap.wavelength, fap.second_wavelength) == (1.5405, 1.5443)
    assert (nac.wavelength, nac.second_wavelength) == (0.413909, None)
    assert fap.structure.composition.formula == "Ca10 P6 O24 F2"
    assert nac.structure.composition.formula == "Na8 Ca12 Al8 F56"
    assert fap.counts[0] == 609 and fap.counts.min() > 0


@pytest.mark.parametrize("name", ["fluorapatite", "Na2Ca3Al2F14"])
def test_the_twelve_strongest_computed_lines_are_peaks_of_the_measurement(name):
    from pymatgen.analysis.diffraction.xrd import XRDCalculator
    from scipy.signal import find_peaks

    pattern = patterns.get(name)
    window = (pattern.two_theta[0], 60.0)
    computed = XRDCalculator(pattern.wavelength).get_pattern(
        pattern.structure, two_theta_range=window
    )
    peaks, _ = find_peaks(pattern.counts, prominence=0.01 * np.ptp(pattern.counts))
    for line in computed.x[np.argsort(-computed.y)[:12]]:
        assert np.abs(pattern.two_theta[peaks] - line).min() < 0.06


def test_unknown_pattern():
    with pytest.raises(MatPCRError, match="no measured pattern 'LaB6': choose one of fluorapatite"):
        patterns.get("LaB6")


def test_lab6_is_read_from_the_archive(monkeypatch):
    text = b"4.5 950.1 548.5\n4.6 1583.6 709.2\n4.7 1.0 1.0\n"
    monkeypatch.setattr(archives, "member", lambda name, path: bz2.compress(text))
    pattern = patterns.lab6()
    assert list(pattern.two_theta) == [4.5, 4.6, 4.7]
    assert pattern.structure.composition.formula == "La1 B6"
    assert pattern.wavelength == 1.540593


@pytest.mark.network
def test_the_real_lab6_pattern_shows_its_strongest_lines():
    from pymatgen.analysis.diffraction.xrd import XRDCalculator
    from scipy.signal import find_peaks

    try:
        pattern = patterns.lab6()
    except MatPCRError as error:
        pytest.skip(str(error))
    assert len(pattern) == 17381
    computed = XRDCalculator(pattern.wavelength).get_pattern(
        pattern.structure, two_theta_range=(15, 120)
    )
    peaks, _ = find_peaks(pattern.counts, prominence=0.02 * np.ptp(pattern.counts))
    strongest = computed.x[np.argsort(-computed.y)[:12]]
    assert max(np.abs(pattern.two_theta[peaks] - x).min() for x in strongest) < 0.02


@pytest.mark.parametrize(
    ("axis", "wavelength", "message"),
    [
        ([500, 1000, 1500], 1.54, "2θ runs from 500 to 1500, but lies within 0 and 180"),
        ([-1, 2, 3], 1.54, "2θ runs from -1"),
        ([1, 2, 3], 0.0, "wavelength 0.0 must be positive"),
        ([1, 2, 3], float("nan"), "wavelength nan must be positive"),
    ],
)
def test_impossible_patterns_are_refused(axis, wavelength, message):
    with pytest.raises(MatPCRError, match=message):
        patterns.Pattern.from_arrays(axis, [1, 2, 3], wavelength=wavelength)


def test_a_descending_pattern_is_turned_round():
    pattern = patterns.Pattern.from_arrays([30, 20, 10], [3, 2, 1], wavelength=1.54)
    assert list(pattern.two_theta) == [10, 20, 30] and list(pattern.counts) == [1, 2, 3]
    assert len(pattern) == 3


# --- calibrants


@pytest.mark.parametrize("name", list(calibrants.STANDARDS))
def test_computed_lines_of_a_standard_match_the_tabulated_ones(name):
    from pymatgen.analysis.diffraction.xrd import XRDCalculator

    wavelength = 1.540593
    computed = XRDCalculator(wavelength).get_pattern(
        calibrants.structure(name), two_theta_range=(0, 150)
    )
    tabulated = calibrants.tabulated(name).two_theta(wavelength)
    tabulated = tabulated[tabulated < 150]
    assert len(tabulated) >= 5
    assert max(np.abs(computed.x - line).min() for line in tabulated) < 1e-4


def test_silicon_640e_first_line_is_the_certificates():
    # NIST SRM 640e certificate: 111 at 28.441 degrees for Cu Kα1.
    first = calibrants.load()["Si SRM 640e"].two_theta(1.540593)[0]
    assert first == pytest.approx(28.441, abs=0.001)


def test_spacings_descend_and_short_ones_have_no_angle():
    for calibrant in calibrants.load().values():
        assert (np.diff(calibrant.d) < 0).all() and calibrant.reference
    lab6 = calibrants.load()["LaB6 SRM 660c"]
    assert len(lab6.two_theta(1.540593)) == int((lab6.d >= 1.540593 / 2).sum())


def test_unknown_standard():
    with pytest.raises(MatPCRError, match="no standard 'Fe': choose one of Si, LaB6"):
        calibrants.structure("Fe")


def test_structure_facts_are_json_with_citation():
    from matpcr_utils.references import store

    facts = json.loads(store.path("pattern_structures.json").read_text(encoding="utf-8"))
    assert facts["Na2Ca3Al2F14"]["space_group"] == 199
    assert "COD 1000236" in facts["Na2Ca3Al2F14"]["citation"]
