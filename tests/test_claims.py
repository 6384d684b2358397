"""The probe corpora, and what `extract_claims` promises about any input."""

from pathlib import Path

import pytest
import yaml

from matpcr_utils.claims import CONSTRAINTS, Claim, extract_claims
from matpcr_utils.claims.model import CANONICAL_UNITS
from matpcr_utils.claims.normal import Normal
from matpcr_utils.claims.numbers import numbers
from matpcr_utils.claims.tables import headers
from matpcr_utils.errors import MatPCRError

DATA = Path(__file__).parent / "data"
PROBES = [
    probe
    for name in ("claims.yml", "claims_more.yml")
    for probe in yaml.safe_load((DATA / name).read_text("utf-8"))
]


@pytest.mark.parametrize("probe", PROBES, ids=lambda p: f"{p['constraint']}: {p['chain'][:60]}")
def test_probe(probe):
    claims = extract_claims(probe["chain"], probe["constraint"])
    expected = probe["claims"]
    assert [c.quantity for c in claims] == [e["quantity"] for e in expected]
    for claim, want in zip(claims, expected, strict=True):
        if isinstance(want["value"], str):
            assert claim.value == want["value"]
        else:
            assert claim.value == pytest.approx(want["value"], rel=1e-6, abs=1e-12)
        if "basis" in want:
            assert claim.basis == want["basis"]
        assert claim.unit == CANONICAL_UNITS[claim.quantity]
        assert probe["chain"][slice(*claim.span)] == claim.text


def test_every_constraint_is_probed_with_and_without_claims():
    for constraint in CONSTRAINTS:
        mine = [p for p in PROBES if p["constraint"] == constraint]
        assert sum(bool(p["claims"]) for p in mine) >= 40
        assert sum(not p["claims"] for p in mine) >= 20


def test_every_quantity_is_probed():
    seen = {claim["quantity"] for probe in PROBES for claim in probe["claims"]}
    assert seen == set(CANONICAL_UNITS)


def test_claims_of_other_constraints_are_not_read():
    chain = "2θ = 28.44°, the particle is 250 nm wide, and the band gap is 1.1 eV."
    read = {c: [x.quantity for x in extract_claims(chain, c)] for c in CONSTRAINTS}
    assert read["diffraction"] == ["two_theta"]
    assert read["microscopy"] == ["feature_size"]
    assert read["metallicity"] == ["band_gap"]
    assert read["spectra"] == read["stability"] == read["magnetism"] == []


def test_claim_text_is_what_the_chain_says():
    chain = r"so $d_{111} = 0.3135\,\mathrm{nm}$ and **2θ ≈ 28.44°**"
    spacing, angle = extract_claims(chain, "diffraction")
    assert spacing.text == r"0.3135\,\mathrm{nm"  # the closing brace belongs to the wrapper
    assert spacing == Claim(
        "d_spacing", pytest.approx(3.135), "angstrom", None, spacing.span, spacing.text
    )
    assert angle.text == "28.44°"


def test_negated_label_is_read_with_its_negator():
    (claim,) = extract_claims("I would not call it unstable.", "stability")
    assert (claim.value, claim.text) == ("stable", "not call it unstable")


def test_energy_basis_is_assumed_and_moment_basis_is_not():
    assert extract_claims("E_hull = 0.03 eV", "stability")[0].basis == "atom"
    assert extract_claims("the moment is 2.2 μB", "magnetism")[0].basis is None


@pytest.mark.parametrize(
    "chain", ["", " ", "\n", "\0", "\ud800", "°", "2θ", "−", "|", "{}", "**", "$"]
)
@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_nothing_is_stated(chain, constraint):
    assert extract_claims(chain, constraint) == []


@pytest.mark.parametrize("chain", [None, 3, b"2theta = 28.4", ["28.4"]])
def test_a_chain_is_text(chain):
    with pytest.raises(MatPCRError, match="a chain must be text"):
        extract_claims(chain, "diffraction")


@pytest.mark.parametrize("constraint", ["", "Diffraction", "hardness", None, 1])
def test_unknown_constraint_names_the_known_ones(constraint):
    with pytest.raises(MatPCRError, match="choose one of diffraction, microscopy"):
        extract_claims("2θ = 28.44°", constraint)


def test_overflowing_number_is_no_claim():
    assert extract_claims("band gap = " + "9" * 400 + " eV", "metallicity") == []
    assert extract_claims("band gap = 1e999 eV", "metallicity") == []


def test_normal_keeps_powers_of_ten():
    assert Normal("1.5 × 10⁻³").text == "1.5 × 10^-3"
    assert Normal(r"$1.5\times10^{-3}$").text == "1.5×10^-3"
    assert Normal("cm⁻¹").text == "cm^-1"


def test_normal_of_nested_and_unbalanced_braces():
    assert Normal(r"\mathrm{a{b}c}").text == "a{b}c"
    assert Normal("}{").text == "}{"
    assert Normal(r"\SIrange{20}{30}{\nano\metre}").text == "20–30 nm"
    assert Normal(r"\ang{28.4}").text == "28.4°"


def test_normal_of_escapes_and_entities():
    assert Normal(r"28.44\u00b0 cm\u207b\u00b9").text == "28.44° cm^-1"
    assert Normal("2&theta; &unknown; 5&nbsp;nm").text == "2θ &unknown; 5 nm"


def test_lower_case_keeps_positions():
    plain = Normal("İİ 28.4°")
    assert len(plain.low) == len(plain.text)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1,200 and 1'200", [1200, 1200]),
        ("0,25 nm", [0.25]),
        ("28,47", [28, 47]),
        ("1.2e-3, 1.2 × 10^-3, 10^-3", [1.2e-3, 1.2e-3, 1e-3]),
        ("28.44(5)°", [28.44]),
        ("0.9 to 1.1 µm", [1.0]),
        ("900 nm to 1.1 µm", [1000]),
        ("Fe2O3 mp-149 3d 2θ (111) {220} [1 1 0]", []),
        ("2 × 14.22° = 28.44°", [28.44]),
    ],
)
def test_numbers(text, values):
    read = [number.value for number in numbers(text) if not number.dropped]
    assert read == pytest.approx(values)


def test_table_headers():
    text = "a\n| x | y |\n|---|---|\n| 1 | 2 |\nb | c"
    cells = [(text[a:b].strip(), text[c:d].strip()) for a, b, c, d in headers(text)]
    assert cells[:2] == [("1", "x"), ("2", "y")]
    assert headers("| x | y |\n| 1 | 2 |") == []
