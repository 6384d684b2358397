"""The six tasks: ``inspect eval matpcr/stability --model …``."""

from __future__ import annotations

import base64
import hashlib

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageUser, Content, ContentImage, ContentText

from matpcr_utils import items
from matpcr_utils.evaluation import catalog
from matpcr_utils.evaluation.scorers import accuracy, oracle
from matpcr_utils.evaluation.solver import ask
from matpcr_utils.evaluation.transcripts import versions

N_ITEMS = items.DEFAULT_N


@task
def stability(
    n_items: int = N_ITEMS,
    seed: int = 0,
    prompt_version: str = "v1",
    modality: str | None = None,
    examples: int = 0,
) -> Task:
    """Is the crystal stable against decomposition?"""
    return build("stability", n_items, seed, prompt_version, modality, examples)


@task
def metallicity(
    n_items: int = N_ITEMS,
    seed: int = 0,
    prompt_version: str = "v1",
    modality: str | None = None,
    examples: int = 0,
) -> Task:
    """Has the crystal a band gap?"""
    return build("metallicity", n_items, seed, prompt_version, modality, examples)


@task
def magnetism(
    n_items: int = N_ITEMS,
    seed: int = 0,
    prompt_version: str = "v1",
    modality: str | None = None,
    examples: int = 0,
) -> Task:
    """Has the crystal a net magnetic moment?"""
    return build("magnetism", n_items, seed, prompt_version, modality, examples)


@task
def diffraction(
    n_items: int = N_ITEMS,
    seed: int = 0,
    prompt_version: str = "v1",
    modality: str | None = None,
    examples: int = 0,
) -> Task:
    """Where is a peak of the diffraction pattern?"""
    return build("diffraction", n_items, seed, prompt_version, modality, examples)


@task
def microscopy(
    n_items: int = N_ITEMS,
    seed: int = 0,
    prompt_version: str = "v1",
    modality: str | None = None,
    examples: int = 0,
) -> Task:
    """How large is a feature of the micrograph?"""
    return build("microscopy", n_items, seed, prompt_version, modality, examples)


@task
def spectra(
    n_items: int = N_ITEMS,
    seed: int = 0,
    prompt_version: str = "v1",
    modality: str | None = None,
    examples: int = 0,
) -> Task:
    """Where is a band of the Raman spectrum?"""
    return build("spectra", n_items, seed, prompt_version, modality, examples)


TASKS = {
    "diffraction": diffraction,
    "microscopy": microscopy,
    "spectra": spectra,
    "stability": stability,
    "metallicity": metallicity,
    "magnetism": magnetism,
}


def build(
    constraint: str,
    n_items: int,
    seed: int,
    prompt_version: str,
    modality: str | None,
    examples: int,
) -> Task:
    """The task of one constraint type.

    Parameters
    ----------
    constraint : str
    n_items, seed : int
        Which items.
    prompt_version : str
        Of `items.PROMPT_VERSIONS`.
    modality : {"image", "text"}, optional
        How the items are shown; default, each as it is.
    examples : int
        Worked examples shown before the question.

    Raises
    ------
    MatPCRError
        If a parameter lies outside its range.
    """
    samples = [
        _sample(item, prompt_version, modality, examples)
        for item in catalog.load(constraint, n_items, seed).values()
    ]
    return Task(
        dataset=MemoryDataset(samples, name=constraint),
        solver=ask(),
        scorer=[oracle(), accuracy()],
        # A changed question or item is another task: an old log must not pass for it.
        version=_digest(samples),
        metadata={"versions": versions()},
    )


def _sample(item: items.Item, prompt_version: str, modality: str | None, examples: int) -> Sample:
    shown = modality or item.modality
    question = items.prompt(item, version=prompt_version, modality=shown, examples=examples)
    content: list[Content] = [ContentText(text=question)]
    if shown == "image":
        content.append(ContentImage(image=_data_uri(items.image(item)), detail="high"))
    return Sample(
        id=item.item_id,
        # The id tells scripted evaluees the item; it is neither sent nor part of a cache key.
        input=[ChatMessageUser(content=content, id=item.item_id)],
        metadata={
            "item_id": item.item_id,
            "source_id": item.source_id,
            "modality": shown,
            "difficulty": item.difficulty,
        },
    )


def _data_uri(png: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(png).decode('ascii')}"


def _digest(samples: list[Sample]) -> str:
    # Not the messages' ids, which are drawn anew each time.
    shown = [(sample.id, _content(sample)) for sample in samples]
    content = repr(shown)
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def _content(sample: Sample) -> list[str]:
    message = sample.input[0]
    assert not isinstance(message, str)
    return [part if isinstance(part, str) else part.model_dump_json() for part in message.content]
