"""What is told between answers: nothing of the reference at the levels that must not tell it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

from matpcr_utils import items, oracles
from matpcr_utils.claims.model import CONSTRAINTS, Claim
from matpcr_utils.errors import MatPCRError
from matpcr_utils.evaluation import feedback, grading
from matpcr_utils.evaluation.conditions import LEVELS
from matpcr_utils.items import Item
from matpcr_utils.oracles.base import Outcome

VIOLATIONS = [
    (constraint, reason)
    for constraint in CONSTRAINTS
    for reason, outcome in oracles.get(constraint).REASONS.items()
    if outcome is Outcome.VIOLATION
]
#: Claims that between them break every law; numbers in canonical units.
CLAIMS: dict[str, list[Claim]] = {
    "diffraction": [
        *(Claim("two_theta", value) for value in np.arange(11.0, 89.0, 0.7)),
        *(Claim("two_theta", -3.0), Claim("d_spacing", 0.1), Claim("scattering_vector", 50.0)),
    ],
    "microscopy": [
        *(Claim("feature_size", value) for value in (-1.0, 0.0, 1e3, 1e6, 1e12)),
        *(Claim("scale", value) for value in (1e-6, 0.02, 1.0, 1e6)),
    ],
    "spectra": [Claim("raman_shift", value) for value in np.arange(100.0, 3500.0, 7.3)],
    "stability": [
        *(Claim("stability", label) for label in ("stable", "unstable", "metastable")),
        *(Claim("energy_above_hull", value, basis="atom") for value in (0.0, 0.04, 0.06, 3.0)),
    ],
    "metallicity": [
        *(Claim("metallicity", label) for label in ("zero_gap", "nonzero_gap", "semimetal")),
        *(Claim("band_gap", value) for value in (-1.0, 0.0, 0.5, 5.0)),
    ],
    "magnetism": [
        *(Claim("magnetism", label) for label in ("finite_net", "zero_net")),
        *(
            Claim("magnetization", value, basis=basis)
            for value in (0.0, 0.06, 0.5, 30.0, 500.0)
            for basis in ("atom", "formula_unit", "cell", None)
        ),
    ],
}
_NUMBER = re.compile(r"\d+(?:[.,]\d+)?")
_NUMBER_WORDS = re.compile(
    r"\b(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|fifty|hundred|"
    r"thousand|million|half|third|quarter|twice|dozen|per ?cent)\b",
    re.IGNORECASE,
)


def graded(item: Item, claim: Claim) -> grading.Graded:
    verdict = oracles.get(item.constraint).check(claim, items.reference(item))
    return grading.Graded(verdict.outcome, verdict.reason, verdict.sentence, (claim,), (verdict,))


def violations(constraint: str, n_items: int) -> Iterator[tuple[Item, grading.Graded]]:
    """Items with each of the claims that violates them, once a reason."""
    for item in items.load(constraint, n_items):
        yield from ((item, found) for found in broken(item.item_id))


@cache
def broken(item_id: str) -> list[grading.Graded]:
    item, graded_by = items.get(item_id), {}
    for claim in CLAIMS[item.constraint]:
        found = graded(item, claim)
        if found.outcome is Outcome.VIOLATION:
            graded_by.setdefault(found.reason, found)
    return list(graded_by.values())


def values(item: Item) -> set[float]:
    """The numbers of a reference in every unit in which they are usually given."""
    reference: Any = items.reference(item)
    if item.constraint == "diffraction":
        table = reference.table
        lines = table.index(1.0).two_theta
        lines = lines[(lines > 0) & (lines < 180)]
        spacings = reference.wavelengths[0] / (2 * np.sin(np.radians(lines / 2)))
        return {*lines, *(lines / 2), *spacings, *(2 * np.pi / spacings)}
    if item.constraint == "microscopy":
        pixel = reference.pixel_size_nm
        sizes = {pixel, *(reference.extent_nm(e) for e in ("width", "height", "diagonal"))}
        return {value * factor for value in sizes for factor in (1e3, 1.0, 1e-3, 1e-6)}
    if item.constraint == "spectra":
        from matpcr_utils.references.spectrum_table import SpectrumTable

        return {float(v) for v in SpectrumTable.from_spectra([reference]).position}
    moment = abs(reference.total_magnetization or 0.0)
    energies = {reference.energy_above_hull, reference.band_gap}
    moments = {moment, moment / reference.nsites, moment / reference.formula_units}
    return {value * factor for value in energies | moments for factor in (1.0, 1e3) if value}


@pytest.mark.parametrize(("constraint", "reason"), VIOLATIONS)
def test_every_violation_has_words(constraint: str, reason: str) -> None:
    for version, words in feedback.wordings().items():
        assert words["reasons"][constraint][reason].strip(), version


def test_there_are_words_for_nothing_else() -> None:
    for words in feedback.wordings().values():
        said = [(c, reason) for c, reasons in words["reasons"].items() for reason in reasons]
        assert said == VIOLATIONS or sorted(said) == sorted(VIOLATIONS)


def test_these_claims_break_every_law() -> None:
    found = {(c, g.reason) for c in CONSTRAINTS for _, g in violations(c, 24)}
    # Every readings of a moment without a basis differs, in its own way, on few materials only.
    assert set(VIOLATIONS) - found <= {
        ("magnetism", "moment_wrong_on_every_basis"),
        ("spectra", "edge_maximum"),
    }


@pytest.mark.parametrize("level", ["verdict", "reason"])
@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_no_value_of_a_reference_is_told(constraint: str, level: str) -> None:
    said: dict[str, set[str]] = {}
    for item, found in violations(constraint, 24):
        message = feedback.message(item, found, level)
        assert not _NUMBER.search(message) and not _NUMBER_WORDS.search(message), message
        said.setdefault(found.reason, set()).add(message)
    # Nor anything else of the item: the words depend on the law alone.
    assert said and all(len(messages) == 1 for messages in said.values())
    if level == "verdict":
        assert len(set.union(*said.values())) == 1


@pytest.mark.parametrize(
    ("constraint", "mirrored"),
    [
        ("stability", ("stable_above_threshold", "unstable_near_hull", "metastable_on_hull")),
        ("stability", ("energy_claimed_too_low", "energy_claimed_too_high")),
        ("metallicity", ("zero_gap_contradicted", "nonzero_gap_contradicted")),
        ("metallicity", ("gap_zero_contradicted", "gap_nonzero_contradicted")),
        ("magnetism", ("finite_net_contradicted", "zero_net_contradicted")),
        ("magnetism", ("moment_claimed_finite", "moment_claimed_zero")),
        ("magnetism", ("moment_too_small", "moment_too_large")),
    ],
)
def test_mirrored_reasons_do_not_tell_the_class(constraint: str, mirrored: list[str]) -> None:
    for words in feedback.wordings().values():
        assert len({words["reasons"][constraint][reason] for reason in mirrored}) == 1


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_the_reference_level_tells_the_value(constraint: str) -> None:
    """The test above could fail: here the same values are found."""
    told = 0
    for item, found in violations(constraint, 12):
        message = feedback.message(item, found, "reference")
        assert message.startswith(feedback.message(item, found, "reason").split(":")[0])
        numbers = [float(text) for text in _NUMBER.findall(message.replace("2θ", ""))]
        assert numbers, message
        # A value of zero is told as such; a line that was asked for is a measured one.
        known = {0.0, *values(item)} | (
            {item.truth["value"]} if constraint == "diffraction" else set()
        )
        for number in numbers:
            distance = min(abs(number - v) - 1e-4 * abs(v) for v in known)
            assert distance <= (0.051 if constraint == "spectra" else 0.006), message
        told += 1
    assert told


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_who_claims_what_was_told_is_consistent(constraint: str) -> None:
    quantity = {"°": "two_theta", "cm⁻¹": "raman_shift", "eV/atom": "energy_above_hull"}
    quantity |= {"eV": "band_gap", "μB per atom": "magnetization", "nm/px": "scale"}
    told = re.compile(r"(-?\d+(?:\.\d+)?) ?(°|cm⁻¹|eV/atom|eV|μB per atom|nm/px|nm)")
    for item, found in violations(constraint, 24):
        value, unit = told.findall(feedback.message(item, found, "reference"))[-1]
        basis = "atom" if "atom" in unit else None
        claim = Claim(quantity.get(unit, "feature_size"), float(value), basis=basis)
        assert graded(item, claim).outcome is Outcome.CONSISTENT, (item.item_id, claim)


def test_every_broken_law_is_named_once() -> None:
    item = next(i for i in items.load("metallicity", 24) if items.reference(i).band_gap > 1)
    answer = "It is a metal, so its band gap is 0 eV. No: the gap is 0.01 eV. The gap is −1 eV."
    found = grading.grade(item, answer)
    reasons = {v.reason for v in found.verdicts if v.outcome is Outcome.VIOLATION}
    assert len(reasons) >= 2
    message = feedback.message(item, found, "reason")
    words = feedback.wordings()[feedback.VERSION]["reasons"]["metallicity"]
    for text in {words[reason] for reason in reasons}:
        assert message.count(text) == 1


def test_consistent_answers_get_no_feedback() -> None:
    item = items.load("stability", 1)[0]
    found = grading.grade(item, items.answer(item))
    assert found.outcome is Outcome.CONSISTENT
    with pytest.raises(MatPCRError, match="violates nothing"):
        feedback.message(item, found, "reason")


def test_unknown_levels_and_versions_are_refused() -> None:
    item, found = next(violations("stability", 4))
    with pytest.raises(MatPCRError, match="unknown feedback 'hint'"):
        feedback.message(item, found, "hint")
    with pytest.raises(MatPCRError, match="unknown wording 'v0'"):
        feedback.message(item, found, "verdict", "v0")


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_neutral_words_are_about_as_long_as_feedback(constraint: str, level: str) -> None:
    for item, found in violations(constraint, 4):
        length = len(feedback.message(item, found, level))
        assert abs(len(feedback.neutral(length)) - length) <= 50


def test_neutral_words_hint_at_nothing() -> None:
    said = feedback.neutral()
    hints = r"wrong|right|correct|mistake|error|conflict|violat|check|physics|again|improve|sure"
    assert not re.search(hints, said, re.IGNORECASE)
    assert not _NUMBER.search(said)
    assert re.search("physics", feedback.refine()) and not _NUMBER.search(feedback.refine())
    lengths = [len(feedback.neutral(n)) for n in range(0, 600, 20)]
    assert lengths == sorted(lengths)
