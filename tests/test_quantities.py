"""Units: pint's factors, and the written forms that chains use."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matpcr_utils import quantities
from matpcr_utils.claims.model import CANONICAL_UNITS
from matpcr_utils.errors import MatPCRError


def test_one_registry_for_the_process():
    assert quantities.registry() is quantities.registry()


def test_every_number_quantity_has_a_pint_unit():
    assert set(quantities.PINT_UNITS) == {q for q, u in CANONICAL_UNITS.items() if u != "label"}


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("°", ("angle", "degree", None)),
        ("degrees", ("angle", "degree", None)),
        ("rad", ("angle", "radian", None)),
        ("Å", ("length", "angstrom", None)),
        ("ångström", ("length", "angstrom", None)),
        ("nm", ("length", "nanometer", None)),
        ("microns", ("length", "micrometer", None)),
        ("um", ("length", "micrometer", None)),
        ("µm", ("length", "micrometer", None)),
        ("cm^-1", ("inverse_length", "1/centimeter", None)),
        ("cm-1", ("inverse_length", "1/centimeter", None)),
        ("wavenumbers", ("inverse_length", "1/centimeter", None)),
        ("1/Å", ("inverse_length", "1/angstrom", None)),
        ("inverse angstroms", ("inverse_length", "1/angstrom", None)),
        ("nm/px", ("scale", "nanometer/pixel", None)),
        ("Å per pixel", ("scale", "angstrom/pixel", None)),
        ("px/nm", ("inverse_scale", "nanometer/pixel", None)),
        ("nm^2", ("area", "nanometer", None)),
        ("meV/atom", ("energy", "millielectron_volt", "atom")),
        ("eV atom^-1", ("energy", "electron_volt", "atom")),
        ("eV per formula unit", ("energy", "electron_volt", "formula_unit")),
        ("eV/f.u.", ("energy", "electron_volt", "formula_unit")),
        ("µ_B per unit cell", ("moment", "bohr_magneton", "cell")),
        ("µB/Fe", ("moment", "bohr_magneton", "atom")),
        ("K", ("other", "", None)),
        ("°C", ("other", "", None)),
        ("kV", ("other", "", None)),
    ],
)
def test_read_unit(written, expected):
    kind, name, basis = quantities.read_unit(written)
    assert (kind, basis) == (expected[0], expected[2])
    assert name == expected[1]


@pytest.mark.parametrize("written", ["", "nmol", "apples", "parsec", "eVs"])
def test_what_is_no_unit(written):
    assert quantities.read_unit(written) is None


@pytest.mark.parametrize(
    ("quantity", "value", "unit", "expected"),
    [
        ("d_spacing", 0.3135, "nanometer", 3.135),
        ("d_spacing", 313.5, "picometer", 3.135),
        ("feature_size", 1.5, "micrometer", 1500.0),
        ("feature_size", 2.56, "micrometer", 2560.0),
        ("energy_above_hull", 50, "millielectron_volt", 0.05),
        ("scattering_vector", 20.04, "1/nanometer", 2.004),
        ("scale", 543, "picometer/pixel", 0.543),
    ],
)
def test_canonical_gives_the_number_one_would_write(quantity, value, unit, expected):
    assert quantities.canonical(quantity, value, unit) == pytest.approx(expected, rel=1e-15)


def test_radian_is_pi_over_180():
    assert quantities.canonical("two_theta", math.pi, "radian") == pytest.approx(180, rel=1e-12)


def test_kilojoule_per_mole_is_codata():
    # 1 eV = 96.48533212 kJ/mol (CODATA 2018)
    one = quantities.factor("kilojoule/avogadro_constant/mole", "electron_volt")
    assert one == pytest.approx(1 / 96.48533212, rel=1e-8)


@given(
    st.sampled_from(
        [
            *(("d_spacing", "nanometer"), ("feature_size", "micrometer")),
            *(("feature_size", "angstrom"), ("band_gap", "millielectron_volt")),
            *(("scale", "picometer/pixel"), ("two_theta", "radian")),
        ]
    ),
    st.floats(1e-6, 1e6),
)
def test_units_round_trip(pair, value):
    quantity, unit = pair
    there = quantities.canonical(quantity, value, unit)
    back = there * quantities.factor(quantities.PINT_UNITS[quantity], unit)
    assert back == pytest.approx(value, rel=1e-12)


def test_wrong_dimension_names_both_units():
    with pytest.raises(MatPCRError, match="'nanometer' to 'electron_volt'"):
        quantities.canonical("band_gap", 1.0, "nanometer")


def test_unknown_unit_is_an_error():
    with pytest.raises(MatPCRError, match="quux"):
        quantities.factor("quux", "nanometer")


def test_labels_have_no_number():
    with pytest.raises(MatPCRError, match="'stability' is no number"):
        quantities.canonical("stability", 1.0, "degree")
