"""Tasks, scorers, grading and the evaluees that need no key."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai import eval as inspect_eval
from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageUser,
    ContentImage,
    ContentText,
    GenerateConfig,
    ModelOutput,
    ModelUsage,
    get_model,
)

from matpcr_utils import items, oracles
from matpcr_utils.claims import extract_claims
from matpcr_utils.claims.model import Claim
from matpcr_utils.errors import MatPCRError
from matpcr_utils.evaluation import _registry, catalog, grading, priors, tasks
from matpcr_utils.evaluation.evaluees import (
    chance,
    chemistry,
    guesser,
    instrument,
    smollm2,
    wording,
)
from matpcr_utils.evaluation.question import Question

assert _registry.matpcr  # registers the provider in this process
CONFIG = GenerateConfig()
ASKED = [(constraint, asks) for constraint, asked in items.QUESTIONS.items() for asks in asked]


def item_of(constraint: str, asks: str) -> items.Item:
    return next(i for i in items.load(constraint, 40) if i.asks == asks)


def question_of(item: items.Item, **how: Any) -> Question:
    shown = how.get("modality") or item.modality
    return Question(items.prompt(item, **how), items.image(item) if shown == "image" else None, 0)


# Questions


@pytest.mark.parametrize(("constraint", "asks"), ASKED)
@pytest.mark.parametrize("version", items.PROMPT_VERSIONS)
def test_every_wording_is_understood(constraint: str, asks: str, version: str) -> None:
    item = item_of(constraint, asks)
    for modality in {item.modality, "text"}:
        for examples in (0, 3):
            question = Question(items.prompt(item, version, modality, examples))
            assert question.asked == (constraint, asks)
            region = item.facts.get("region")
            assert question.region == (None if region is None else tuple(map(float, region)))
            if modality == "text" and constraint in ("diffraction", "spectra"):
                assert question.rows is not None and len(question.rows) > 40


def test_a_question_takes_words_and_picture_of_the_last_message() -> None:
    png = b"\x89PNG not really"
    uri = f"data:image/png;base64,{base64.b64encode(png).decode()}"
    content = [ContentText(text="Where? 2θ"), ContentImage(image=uri)]
    messages = [ChatMessageUser(content="first"), ChatMessageUser(content=content)]
    question = Question.of(messages, 2)
    turns = (("user", "first"), ("user", "Where? 2θ"))
    assert question == Question("Where? 2θ", png, 2, turns)
    assert question.asked == ("diffraction", "two_theta")


@pytest.mark.parametrize(("constraint", "asks"), ASKED)
def test_follow_ups_leave_the_question_as_it_is(constraint: str, asks: str) -> None:
    item = item_of(constraint, asks)
    sample = next(s for s in tasks.TASKS[constraint](40).dataset if s.id == item.item_id)
    follow_up = "The scale in nm/px, E_hull and the band gap in eV? In μB, 2θ or cm⁻¹? Once more."
    talk = [*sample.input, ChatMessageAssistant(content="It is 3."), ChatMessageUser(content="No.")]
    for last in ("No.", follow_up):
        talk[-1] = ChatMessageUser(content=last)
        question = Question.of(talk, 1)
        alone = Question.of(sample.input, 1)
        assert (question.text, question.image) == (alone.text, alone.image)
        assert question.asked == (constraint, asks)
        assert question.item_id == alone.item_id == item.item_id
        assert question.turns == (("user", alone.text), ("assistant", "It is 3."), ("user", last))
        assert (question.last, alone.last) == (last, alone.text)
        if item.modality == "text":
            for evaluee in (instrument.create(), guesser.create(), chance.create()):
                said = [evaluee.answer(q, CONFIG).text for q in (question, alone)]
                assert said[0] == said[1]


def test_the_small_model_is_sent_the_conversation(monkeypatch: pytest.MonkeyPatch) -> None:
    sent = []

    class Server:
        def handle_chat_completions(self, request: dict[str, Any]) -> dict[str, Any]:
            sent.append(request)
            choice = {"message": {"content": "Stable."}, "finish_reason": "stop"}
            return {"choices": [choice], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}

    monkeypatch.setattr(smollm2, "_server", lambda threads: Server())
    model = smollm2.create()
    model.answer(Question("Is NaCl stable?", None, 1), CONFIG)
    turns = (("user", "Is NaCl stable?"), ("assistant", "No."), ("user", "Sure?"))
    model.answer(Question("Is NaCl stable?", None, 1, turns), CONFIG)
    # A single turn is sent as it always was: recorded answers stay reproducible.
    assert json.dumps(sent[0]) == (
        '{"messages": [{"role": "user", "content": "Is NaCl stable?"}], "max_tokens": 256, '
        '"temperature": 0.7, "seed": 1, "cache_prompt": false}'
    )
    assert [tuple(message.values()) for message in sent[1]["messages"]] == list(turns)


def test_questions_of_others_are_refused() -> None:
    with pytest.raises(MatPCRError, match="names no quantity"):
        _ = Question("What is the capital of France?").asked
    with pytest.raises(MatPCRError, match="no user message"):
        Question.of([])
    with pytest.raises(MatPCRError, match="no data URI"):
        Question.of([ChatMessageUser(content=[ContentImage(image="/etc/passwd")])])


# Evaluees


@pytest.mark.parametrize(("constraint", "asks"), ASKED)
def test_guessers_state_exactly_one_claim_of_what_is_asked(constraint: str, asks: str) -> None:
    question = Question(items.prompt(item_of(constraint, asks), modality="text"))
    for evaluee in (guesser.create(), chance.create()):
        said = evaluee.answer(question, CONFIG).text
        assert [c.quantity for c in extract_claims(said, constraint)] == [asks]


def test_the_guesser_says_what_passes_most_often() -> None:
    claims, rates = guesser.pass_rates("magnetism", "magnetism")
    assert len(claims) == len(rates) == 2 and rates.sum() == pytest.approx(1.0)
    assert guesser.best("magnetism", "magnetism").value == "zero_net"
    # One nanometre fits into every field of view.
    assert guesser.pass_rates("microscopy", "feature_size")[1].max() == 1.0
    inside = guesser.best("spectra", "raman_shift", (950.0, 1200.0))
    assert 950 <= float(inside.value) <= 1200


def test_chance_repeats_itself_and_changes_with_the_seed() -> None:
    asked = Question(items.prompt(item_of("diffraction", "two_theta"), modality="text"))
    said = [chance.create().answer(replace(asked, seed=s), CONFIG).text for s in (0, 0, 1)]
    assert said[0] == said[1] != said[2]


def test_chance_estimates_the_chance_level() -> None:
    chosen = items.load("stability", 60)
    level = priors.chance_level("stability", tuple(i.item_id for i in chosen))
    passed = []
    for item in chosen:
        for seed in range(5):
            said = chance.create().answer(Question(items.prompt(item), None, seed), CONFIG).text
            passed.append(grading.grade(item, said).outcome == "consistent")
    # 300 draws: four standard errors.
    assert np.mean(passed) == pytest.approx(level, abs=4 * np.sqrt(0.25 / 300))


@pytest.mark.parametrize(
    ("constraint", "modality", "right"),
    [
        ("diffraction", "image", 3),
        ("diffraction", "text", 6),
        ("microscopy", "image", 3),
        ("microscopy", "text", 6),
        ("spectra", "image", 3),
        ("spectra", "text", 6),
    ],
)
def test_the_instrument_reads_curves_and_micrographs(
    constraint: str, modality: str, right: int
) -> None:
    n = 4 if modality == "image" else 6
    graded = []
    for item in items.load(constraint, n):
        said = instrument.create().answer(question_of(item, modality=modality), CONFIG).text
        graded.append(grading.grade(item, said))
    assert sum(g.accurate is True for g in graded) >= right
    assert all(g.outcome == "consistent" for g in graded)


def test_the_instrument_says_when_it_reads_nothing() -> None:
    blank = question_of(item_of("microscopy", "scale"))
    from io import BytesIO

    from PIL import Image

    stream = BytesIO()
    Image.new("L", (400, 300), 128).save(stream, "PNG")
    said = instrument.create().answer(replace(blank, image=stream.getvalue()), CONFIG).text
    assert said.startswith("No reading: ")
    assert not extract_claims(said, "microscopy")


def test_the_strongest_peak_rises_highest_above_its_surroundings() -> None:
    x = np.linspace(0.0, 100.0, 1001)
    slope = 50.0 - 0.5 * x
    y = slope + 10 * np.exp(-((x - 20) ** 2) / 2) + 15 * np.exp(-((x - 70) ** 2) / 2)
    assert instrument.strongest(x, y) == pytest.approx(70, abs=0.2)
    assert instrument.strongest(x, y, (10, 30)) == pytest.approx(20, abs=0.3)
    # No maximum: the highest point.
    assert instrument.strongest(x, slope, (40, 60)) == pytest.approx(40.0)
    with pytest.raises(MatPCRError, match="does not reach"):
        instrument.strongest(x, y, (200, 300))
    spiked = y.copy()
    spiked[500] += 100
    assert instrument.strongest(x, spiked, narrowest=2.5) == pytest.approx(70, abs=0.2)


def test_chemistry_knows_salts_metals_and_magnets() -> None:
    def said(formula: str, asks: str) -> float | str:
        return chemistry.claim(f"Formula: {formula} (1 formula unit, …)", asks).value

    assert said("NaCl", "stability") == "stable"
    assert said("NaCl", "metallicity") == "nonzero_gap"
    assert said("Cu3Au", "metallicity") == "zero_gap"
    assert said("FeCo", "magnetism") == "finite_net"
    assert said("MgO", "magnetism") == "zero_net"
    assert said("MnO", "magnetization") == pytest.approx(5.0)  # high-spin d5
    with pytest.raises(MatPCRError, match="no formula"):
        chemistry.claim("What is it?", "stability")
    with pytest.raises(MatPCRError, match="can't be read"):
        chemistry.read("Xx7")


@given(st.floats(0.02, 900.0))
def test_wordings_are_read_back(value: float) -> None:
    for constraint, asks in ASKED:
        if priors.is_label(asks):
            continue
        if asks == "two_theta" and value > 170:
            continue
        basis = {"energy_above_hull": "atom", "magnetization": "formula_unit"}.get(asks)
        claim = Claim(asks, value, basis=basis)
        (found,) = extract_claims(wording.sentence(claim), constraint)
        assert (found.quantity, found.basis) == (asks, basis)
        assert found.value == pytest.approx(value, rel=6e-3, abs=0.06)


# Grading


def test_a_chain_without_answer_or_claim_abstains() -> None:
    item = item_of("stability", "stability")
    assert grading.grade(item, " \n").reason == grading.NO_ANSWER
    assert grading.grade(item, "I can't say.").reason == grading.NO_CLAIM
    assert grading.unsupported().reason == grading.UNSUPPORTED


def test_a_number_that_no_oracle_takes_is_a_finding() -> None:
    graded = grading.grade(item_of("metallicity", "band_gap"), f"The band gap is 1{'0' * 400} eV.")
    assert graded.outcome == "abstain"
    assert graded.reason in (grading.NOT_JUDGED, grading.NO_CLAIM)


@pytest.mark.parametrize("constraint", items.QUESTIONS)
def test_the_truth_is_accurate(constraint: str) -> None:
    for item in items.load(constraint, 6):
        graded = grading.grade(item, items.answer(item))
        assert graded.accurate is True
        chain = oracles.check_chain(items.answer(item), constraint, items.reference(item))
        assert graded.outcome == chain.outcome


# Tasks and scorers


def mock(*answers: str) -> Any:
    outputs = []
    for answer in answers:
        output = ModelOutput.from_content("mockllm/model", answer)
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        outputs.append(output)
    return get_model("mockllm/model", custom_outputs=outputs, memoize=False)


def test_tasks_pose_items_as_the_paper_does() -> None:
    for name, make in tasks.TASKS.items():
        sample = make(n_items=1).dataset[0]
        kinds = [part.type for part in sample.input[0].content]
        assert kinds == (["text", "image"] if items.MODALITY[name] == "image" else ["text"])
        item = catalog.get(sample.id)
        assert sample.metadata["source_id"] == item.source_id
        assert not sample.target
        if len(kinds) > 1:
            _, _, data = sample.input[0].content[1].image.partition(",")
            assert base64.b64decode(data) == items.image(item)


def test_a_task_shows_image_items_as_text_and_names_what_it_shows() -> None:
    made = tasks.spectra(n_items=2, modality="text", prompt_version="v2", examples=2)
    sample = made.dataset[0]
    assert [part.type for part in sample.input[0].content] == ["text"]
    assert sample.metadata["modality"] == "text"
    assert made.version != tasks.spectra(n_items=2, modality="text").version
    assert (
        made.version
        == tasks.spectra(n_items=2, modality="text", prompt_version="v2", examples=2).version
    )


def test_bad_parameters_are_refused() -> None:
    with pytest.raises(MatPCRError, match="v9"):
        tasks.stability(n_items=1, prompt_version="v9")
    with pytest.raises(MatPCRError, match="posed as text"):
        tasks.stability(n_items=1, modality="image")
    with pytest.raises(MatPCRError, match="unknown evaluee matpcr/oracle"):
        get_model("matpcr/oracle")
    with pytest.raises(MatPCRError, match="no such setting"):
        get_model("matpcr/chance", luck=7)


def test_metrics_count_every_answer_of_every_seed(tmp_path: Any) -> None:
    said = [
        "This phase is stable.",
        "This phase is unstable.",
        "Who knows?",
        "This phase is stable.",
    ]
    (log,) = inspect_eval(
        tasks.stability(n_items=2),
        model=mock(*said),
        epochs=2,
        log_dir=str(tmp_path),
        display="none",
        max_connections=1,
    )
    assert log.status == "success"
    metrics = {s.name: {k: m.value for k, m in s.metrics.items()} for s in log.results.scores}
    values = [sample.scores["oracle"].value for sample in log.samples]
    judged = [v for v in values if v != "abstain"]
    assert len(values) == 4 and len(judged) == 3
    assert metrics["oracle"]["pcr"] == pytest.approx(judged.count("consistent") / 3)
    assert metrics["oracle"]["coverage"] == pytest.approx(3 / 4)
    assert metrics["oracle"]["abstention"] == 0
    assert 0 <= metrics["oracle"]["lower"] <= metrics["oracle"]["upper"] <= 1
    score = next(s.scores["oracle"] for s in log.samples if s.scores["oracle"].value != "abstain")
    assert score.explanation and score.metadata["claims"][0]["quantity"] == "stability"
    assert score.metadata["verdicts"][0]["reason"] in oracles.get("stability").REASONS


def test_importing_the_package_does_not_load_inspect() -> None:
    code = (
        "import sys, matpcr_utils.evaluation, matpcr_utils.cli_evaluate; "
        "print('inspect_ai' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
