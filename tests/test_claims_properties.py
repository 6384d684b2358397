"""What must hold for any chain."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matpcr_utils.claims import CONSTRAINTS, Claim, extract_claims, recovery
from matpcr_utils.claims.model import CANONICAL_UNITS, LABELS
from matpcr_utils.claims.wordings import DISTRACTORS, state
from matpcr_utils.errors import MatPCRError
from matpcr_utils.plotting import claims as show

PIECES = [
    *(
        "2θ",
        "=",
        "28.44",
        "°",
        "nm",
        "µm",
        "cm⁻¹",
        "eV",
        "eV/atom",
        "μB",
        "per atom",
        "not",
        "but",
        "stable",
    ),
    *(
        "unstable",
        "metal",
        "band gap",
        "E_hull",
        "ferromagnetic",
        "if",
        "?",
        ".",
        ",",
        "\n",
        "|",
        "---",
        "{",
        "}",
    ),
    *(
        "\\mathrm{",
        "$",
        "\\frac{",
        "^{",
        "⁻³",
        "×10",
        "–",
        "between",
        "and",
        "(111)",
        "±",
        "no",
        "zero",
        '"unit": "eV"',
    ),
    *(
        "peak",
        "d",
        "q",
        "\\u00b0",
        "<sup>",
        "rather than",
        "whether",
        "1,200",
        "\ud800",
        "İ",
        "A\u030a",
        "**",
    ),
]
ANY = st.text(max_size=80) | st.lists(st.sampled_from(PIECES), max_size=25).map(" ".join)
CONSTRAINT = st.sampled_from(list(CONSTRAINTS))
RANGES = {
    "two_theta": (5, 150),
    "d_spacing": (0.8, 12),
    "scattering_vector": (0.3, 8),
    "feature_size": (3, 90000),
    "scale": (0.02, 300),
    "raman_shift": (60, 4000),
    "energy_above_hull": (1e-4, 1.5),
    "band_gap": (0.05, 9),
    "magnetization": (-3, 12),
}
LABEL_QUANTITY = {
    **dict.fromkeys(LABELS[:3], "stability"),
    **dict.fromkeys(LABELS[3:6], "metallicity"),
    **dict.fromkeys(LABELS[6:], "magnetism"),
}
BASES = {
    "energy_above_hull": ["atom", "formula_unit", "cell"],
    "magnetization": ["atom", "formula_unit", "cell", None],
}


def constraint_of(quantity):
    return next(name for name, known in CONSTRAINTS.items() if quantity in known)


@st.composite
def claims(draw):
    quantity = draw(st.sampled_from(list(CANONICAL_UNITS)))
    if CANONICAL_UNITS[quantity] == "label":
        return Claim(
            quantity, draw(st.sampled_from([k for k, v in LABEL_QUANTITY.items() if v == quantity]))
        )
    value = float(f"{draw(st.floats(*RANGES[quantity])):.5g}")
    return Claim(quantity, value, basis=draw(st.sampled_from(BASES.get(quantity, [None]))))


def values(chain, constraint):
    return [(c.quantity, c.value, c.basis) for c in extract_claims(chain, constraint)]


@settings(max_examples=300, deadline=None)
@given(ANY, CONSTRAINT)
def test_any_text_gives_sorted_claims_that_index_the_chain(chain, constraint):
    found = extract_claims(chain, constraint)
    assert [c.span for c in found] == sorted(c.span for c in found)
    for claim in found:
        assert claim.text
        assert chain[slice(*claim.span)] == claim.text
        assert claim.quantity in CONSTRAINTS[constraint]
        assert claim.value in LABELS if isinstance(claim.value, str) else np.isfinite(claim.value)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(claims(), st.integers(0, 2**32 - 1), st.booleans())
def test_a_stated_claim_is_recovered(claim, seed, distract):
    chain = state(claim, np.random.default_rng(seed), distract=distract)
    (read,) = extract_claims(chain, constraint_of(claim.quantity))
    assert (read.quantity, read.basis) == (claim.quantity, claim.basis)
    expected = claim.value if isinstance(claim.value, str) else pytest.approx(claim.value, rel=2e-5)
    assert read.value == expected


@settings(max_examples=150, deadline=None, derandomize=True)
@given(claims(), st.integers(0, 2**32 - 1))
def test_text_that_claims_nothing_changes_nothing(claim, seed):
    constraint = constraint_of(claim.quantity)
    chain = state(claim, np.random.default_rng(seed))
    alone = values(chain, constraint)
    filler = "The sample was made in 2019 by J. Smith (see Figure 3)."
    assert values(f"{filler}\n{chain}\n{filler}", constraint) == alone
    assert values(f"\u200b{chain}", constraint) == alone


@settings(max_examples=100, deadline=None, derandomize=True)
@given(claims(), st.integers(0, 2**32 - 1))
def test_spelling_of_signs_and_letters_does_not_matter(claim, seed):
    constraint = constraint_of(claim.quantity)
    chain = state(claim, np.random.default_rng(seed))
    for one, other in (("−", "-"), ("μ", "µ"), ("Å", "Å"), ("m⁻¹", "m^-1"), (" ", "\u00a0")):
        assert values(chain.replace(one, other), constraint) == values(chain, constraint)


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_distractors_claim_nothing(constraint):
    for sentence in DISTRACTORS[constraint]:
        assert extract_claims(sentence, constraint) == []


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.floats(5, 150), st.floats(0.001, 0.4))
def test_uncertainty_leaves_the_centre(value, error):
    chain = f"2θ = {value:.4f} ± {error:.4f}°"
    (claim,) = extract_claims(chain, "diffraction")
    assert claim.value == pytest.approx(float(f"{value:.4f}"))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.floats(0.1, 8), st.floats(0.01, 1))
def test_a_range_is_its_midpoint(low, width):
    low, high = round(low, 3), round(low + width, 3)
    for chain in (f"a gap between {low} and {high} eV", f"the gap is {low}–{high} eV"):
        (claim,) = extract_claims(chain, "metallicity")
        assert claim.value == pytest.approx((low + high) / 2)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.floats(2, 80))
def test_a_bragg_angle_counts_twice(theta):
    (once,) = extract_claims(f"θ = {theta:.3f}°", "diffraction")
    (twice,) = extract_claims(f"2θ = {2 * float(f'{theta:.3f}'):.3f}°", "diffraction")
    assert once.value == pytest.approx(twice.value)


HUGE = {
    "digits": "9" * 50_000,
    "spaces": "1" + " " * 50_000 + "nm",
    "braces": "{" * 50_000,
    "fractions": "\\frac{" * 8_000,
    "negators": "not " * 12_000 + "stable",
    "list": "28.4°, " * 7_000,
    "operands": "1/" * 25_000,
    "brackets": "((1" * 16_000,
    "bars": "|--|\n" * 10_000,
    "labels": "not a metal but " * 3_000,
}


@pytest.mark.parametrize("name", HUGE)
@pytest.mark.parametrize("constraint", ["diffraction", "metallicity"])
def test_hostile_text_takes_linear_time(name, constraint):
    chain = HUGE[name]
    half = chain[: len(chain) // 2]
    took = []
    for text in (half, chain):
        start = time.process_time()
        extract_claims(text, constraint)
        took.append(time.process_time() - start)
    assert took[1] < 5 * took[0] + 0.5, took  # quadratic: 4 times a time of many seconds
    assert took[1] < 6


def test_wordings_refuse_what_they_cannot_state():
    rng = np.random.default_rng(0)
    with pytest.raises(MatPCRError, match="cannot be stated"):
        state(Claim("band_gap", float("nan")), rng)
    with pytest.raises(MatPCRError, match="no wording for 'glassy'"):
        state(Claim("stability", "glassy"), rng)


@pytest.mark.parametrize("quantity", CANONICAL_UNITS)
def test_recovery_counts_add_up(quantity):
    clean = recovery.recover(quantity, 40, seed=3)
    assert (clean.recovered.count, clean.read) == (40, 40)
    damaged = recovery.recover(quantity, 40, typos=0.3, seed=3)
    assert damaged.recovered.count + damaged.missed.count + damaged.misread.count == 40
    assert damaged.recovered.count < 40
    assert damaged == recovery.recover(quantity, 40, typos=0.3, seed=3)


def test_recovery_refuses_bad_input():
    with pytest.raises(MatPCRError, match="n = 0"):
        recovery.recover("band_gap", 0)
    with pytest.raises(MatPCRError, match=r"typos = 1\.5"):
        recovery.recover("band_gap", 3, typos=1.5)
    with pytest.raises(MatPCRError, match="unknown quantity 'hardness'"):
        recovery.recover("hardness", 3)


def test_damage_spares_digits_and_signs():
    text = "The peak is at 2θ = 28.44° −1"
    damaged = recovery.damage(text, 1.0, np.random.default_rng(0))
    assert damaged != text
    assert [c for c in damaged if not c.isalpha()] == [c for c in text if not c.isalpha()]


def test_figures_of_claims():
    results = recovery.recover_all(5, (0.0, 0.2), seed=1)
    figure = show.recovery(results)
    assert len(figure.axes[0].lines) == 3
    assert len(show.recovery_table(results).data) == 2 * len(CANONICAL_UNITS)


def test_marked_chain_shows_what_was_read():
    marked = show.mark("<b> the gap is 1.1 eV\nin a metal", "metallicity")
    html = marked._repr_html_()
    assert '<mark style="' in html and ">1.1 eV</mark><br>" in html and "&lt;b&gt;" in html
    assert repr(marked) == (
        "<b> the gap is [1.1 eV → band_gap = 1.1 eV]\nin a [metal → metallicity = zero_gap]"
    )


def test_table_of_cases():
    chains = {"stability": ["not stable", "E_hull = 0.4 eV/f.u."]}
    read = show.cases(chains, careful=["unstable", "0.4"]).data["Read here"].tolist()
    assert read == ["stability = unstable", "energy_above_hull = 0.4 eV per formula unit"]
    with pytest.raises(MatPCRError, match="1 careful readings for 2 chains"):
        show.cases(chains, careful=["x"])


@pytest.mark.parametrize(
    ("constraint", "chain"),
    [
        ("microscopy", "The particle is 1e308 mm wide."),
        ("metallicity", "E_g = 1e999 eV"),
        ("stability", "E_hull = 1e400 eV/atom"),
        ("magnetism", "the total moment is 1e400 μB per cell"),
        ("diffraction", "the peak is at 2θ = 1e400°"),
        ("spectra", "the band at 1e400 cm-1"),
    ],
)
def test_numbers_beyond_floating_point_are_no_claim(constraint, chain):
    assert extract_claims(chain, constraint) == []
