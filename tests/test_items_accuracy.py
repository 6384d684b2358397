"""Accuracy: each criterion at and just beyond its edge, and what can't be judged."""

import math

from matpcr_utils import items
from matpcr_utils.claims.model import Claim
from matpcr_utils.items import accuracy


def first(constraint, asks=None, fits=lambda item: True):
    chosen = items.load(constraint, 60 if constraint != "microscopy" else 8)
    return next(i for i in chosen if asks in (None, i.asks) and fits(i))


def judge(item, quantity, value, basis=None):
    return items.accurate(item, [Claim(quantity, value, basis=basis)])


def test_every_constraint_states_its_criterion():
    assert list(accuracy.CRITERIA) == list(items.QUESTIONS)
    assert str(accuracy.TWO_THETA) in accuracy.CRITERIA["diffraction"]
    assert f"{accuracy.SCALE:.0%}" in accuracy.CRITERIA["microscopy"]


def test_nothing_to_judge_is_none():
    item = first("diffraction")
    assert items.accurate(item, []) is None
    assert items.accurate(item, [Claim("band_gap", 1.0)]) is None


def test_diffraction_within_a_tenth_of_a_degree_in_any_quantity():
    item = first("diffraction", fits=lambda i: i.facts["simulated"])
    place = item.truth["value"]
    for away, right in ((0.0, True), (0.1, True), (-0.1, True), (0.11, False), (-0.11, False)):
        sine = math.sin(math.radians((place + away) / 2))
        assert judge(item, "two_theta", place + away) is right
        assert judge(item, "d_spacing", 1.540593 / (2 * sine)) is right
        assert judge(item, "scattering_vector", 4 * math.pi * sine / 1.540593) is right
    assert judge(item, "d_spacing", 0.5) is False
    assert judge(item, "two_theta", 200.0) is False


def test_microscopy_judges_only_what_was_asked():
    size, scale = first("microscopy", "feature_size"), first("microscopy", "scale")
    for item, room in ((size, 0.1), (scale, 0.03)):
        true = item.truth["value"]
        for share, right in ((1 + room, True), (1 - room, True), (1.01 + room, False)):
            assert judge(item, item.asks, share * true) is right
    assert judge(size, "scale", 1.0) is None
    assert judge(scale, "feature_size", 1.0) is None


def test_spectra_within_two_wavenumbers():
    item = first("spectra")
    for away, right in ((2.0, True), (-2.0, True), (2.01, False), (-2.01, False)):
        assert judge(item, "raman_shift", item.truth["value"] + away) is right


def test_stability_by_the_strict_hull():
    on = first("stability", fits=lambda i: items.reference(i).energy_above_hull == 0)
    near = first("stability", fits=lambda i: 0 < items.reference(i).energy_above_hull <= 0.05)
    far = first("stability", fits=lambda i: items.reference(i).energy_above_hull > 0.2)
    table = (
        (on, {"stable": True, "metastable": False, "unstable": False}),
        (near, {"stable": False, "metastable": True, "unstable": True}),
        (far, {"stable": False, "metastable": False, "unstable": True}),
    )
    for item, labels in table:
        for label, right in labels.items():
            assert judge(item, "stability", label) is right


def test_stability_numbers_on_every_basis():
    item = first("stability", fits=lambda i: items.reference(i).energy_above_hull > 0.2)
    entry = items.reference(item)
    energy = entry.energy_above_hull
    for share, right in ((1.2, True), (0.8, True), (1.21, False), (0.79, False)):
        value = share * energy
        assert judge(item, "energy_above_hull", value, "atom") is right
        assert judge(item, "energy_above_hull", value * entry.nsites, "cell") is right
        unit = value * entry.nsites / entry.formula_units
        assert judge(item, "energy_above_hull", unit, "formula_unit") is right
    on = first("stability", fits=lambda i: items.reference(i).energy_above_hull == 0)
    assert judge(on, "energy_above_hull", 0.02, "atom") is True
    assert judge(on, "energy_above_hull", 0.021, "atom") is False


def test_metallicity_by_class_and_number():
    gapped = first("metallicity", fits=lambda i: items.reference(i).band_gap > 1)
    metal = first("metallicity", fits=lambda i: items.reference(i).band_gap == 0)
    gap = items.reference(gapped).band_gap
    assert judge(gapped, "metallicity", "nonzero_gap") is True
    assert judge(gapped, "metallicity", "zero_gap") is False
    assert judge(gapped, "metallicity", "semimetal") is False
    assert judge(metal, "metallicity", "semimetal") is True
    for value, right in ((1.2 * gap, True), (0.8 * gap, True), (1.21 * gap, False)):
        assert judge(gapped, "band_gap", value) is right
    assert judge(metal, "band_gap", 0.05) is True
    assert judge(metal, "band_gap", 0.06) is False


def test_magnetism_by_class_and_number():
    finite = first("magnetism", fits=lambda i: i.difficulty["class"] == "finite_net")
    zero = first("magnetism", fits=lambda i: i.difficulty["class"] == "zero_net")
    entry = items.reference(finite)
    total = abs(entry.total_magnetization)
    assert judge(finite, "magnetism", "finite_net") is True
    assert judge(finite, "magnetism", "zero_net") is False
    assert judge(zero, "magnetism", "zero_net") is True
    assert judge(zero, "magnetism", "antiferromagnetic") is None
    for share, right in ((1.2, True), (0.8, True), (-1.0, True), (1.25, False)):
        assert judge(finite, "magnetization", share * total, "cell") is right
        assert judge(finite, "magnetization", share * total / entry.nsites, "atom") is right
        for basis in ("formula_unit", None):  # the question asks per formula unit
            value = share * total / entry.formula_units
            assert judge(finite, "magnetization", value, basis) is right


def test_one_wrong_claim_makes_an_answer_wrong():
    item = first("spectra")
    right = Claim("raman_shift", item.truth["value"])
    wrong = Claim("raman_shift", item.truth["value"] + 50)
    assert items.accurate(item, [right, right]) is True
    assert items.accurate(item, [right, wrong]) is False
    zero = first("magnetism", fits=lambda i: i.difficulty["class"] == "zero_net")
    undecided = Claim("magnetism", "antiferromagnetic")
    assert items.accurate(zero, [undecided, Claim("magnetism", "zero_net")]) is True
