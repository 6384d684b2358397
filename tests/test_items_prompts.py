"""Prompts: three wordings of every question, worked examples that are no items."""

from functools import cache

import pytest

from matpcr_utils import items
from matpcr_utils.claims import CONSTRAINTS, extract_claims
from matpcr_utils.errors import MatPCRError
from matpcr_utils.items import prompts
from matpcr_utils.references import dft, spectra

KEYS = [f"{c}/{asks}" for c in CONSTRAINTS for asks in items.QUESTIONS[c]]


@cache
def one_of_each():
    found = {}
    for constraint in CONSTRAINTS:
        for item in items.load(constraint, 24):
            found.setdefault(prompts.key(item), item)
    return found


def test_every_question_has_three_wordings_and_three_examples():
    templates = prompts.templates()
    assert (
        set(one_of_each()) == set(KEYS) == set(templates["questions"]) == set(templates["examples"])
    )
    assert set(templates["layouts"]) == set(items.PROMPT_VERSIONS)
    for key in KEYS:
        asked = templates["questions"][key]
        assert set(asked) == set(items.PROMPT_VERSIONS)
        assert len({wording["question"] for wording in asked.values()}) == 3
        assert len(templates["examples"][key]) == 3


@pytest.mark.parametrize("key", KEYS)
def test_prompts_hold_input_and_question_and_no_placeholder(key):
    item = one_of_each()[key]
    texts = [items.prompt(item, version, "text") for version in items.PROMPT_VERSIONS]
    assert len(set(texts)) == 3
    for text in texts:
        assert items.text(item) in text
        assert "{" not in text and "}" not in text
        if not isinstance(item.truth["value"], str):  # a class is named beside the others
            assert items.answer(item) not in text
        assert "mp-" not in text
        for word in items.wording(item).values():
            assert word in text


@pytest.mark.parametrize("key", [k for k in KEYS if items.MODALITY[k.split("/")[0]] == "image"])
def test_image_prompts_leave_the_input_to_the_image(key):
    item = one_of_each()[key]
    for version in items.PROMPT_VERSIONS:
        shown = items.prompt(item, version)
        assert shown == items.prompt(item, version, "image")
        assert items.text(item) not in shown
        with_form = items.prompt(item, version, examples=2)
        for example in prompts.templates()["examples"][key][:2]:
            assert example["answer"] in with_form and example["input"] not in with_form


@pytest.mark.parametrize("key", KEYS)
def test_examples_answer_by_one_claim_of_what_is_asked(key):
    constraint, _, asks = key.partition("/")
    for example in prompts.templates()["examples"][key]:
        claims = extract_claims(example["answer"], constraint)
        assert [claim.quantity for claim in claims] == [asks]
    item = one_of_each()[key]
    shown = items.prompt(item, "v1", "text", examples=3)
    positions = [shown.index(e["answer"]) for e in prompts.templates()["examples"][key]]
    assert positions == sorted(positions) and positions[-1] < shown.index(items.text(item))


def test_examples_are_no_items():
    """They are elements, of which the complete entries hold none, and spectra of other samples."""
    formulas = set(dft.load().formula)
    assert not any(len(dft.elements(formula)) == 1 for formula in formulas)
    for key, examples in prompts.templates()["examples"].items():
        for example in examples:
            first = example["input"].splitlines()[0]
            if first.startswith("Formula: "):
                assert first.split()[1] not in formulas
            if key.startswith("diffraction"):
                assert first.split(" of ")[1].split(",")[0] not in formulas
    for example in prompts.templates()["examples"]["spectra/raman_shift"]:
        rows = [line.split() for line in example["input"].splitlines()[2:]]
        shifts = {f"{x:.1f}" for s in spectra.load()[:3] for x in s.shift}
        assert sum(row[0] in shifts for row in rows) < len(rows)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"version": "v9"}, "unknown prompt version 'v9': choose one of v1, v2, v3"),
        ({"modality": "smell"}, "unknown modality 'smell'"),
        ({"modality": "image"}, "posed as text"),
        ({"examples": 4}, "examples = 4: there are 3"),
        ({"examples": -1}, "examples = -1"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(MatPCRError, match=message):
        items.prompt(one_of_each()["stability/stability"], **options)
