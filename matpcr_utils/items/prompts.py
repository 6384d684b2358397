"""Questions in words: versioned templates, filled in from an item."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from matpcr_utils.errors import MatPCRError
from matpcr_utils.items.model import MODALITIES, Item

if TYPE_CHECKING:
    from collections.abc import Mapping


@cache
def templates() -> Mapping[str, Any]:
    """The content of ``data/prompts.yml``: ``layouts``, ``questions`` and ``examples``."""
    from importlib.resources import files

    import yaml

    path = files("matpcr_utils") / "data" / "prompts.yml"
    content: Mapping[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return content


def key(item: Item) -> str:
    """What the templates of an item's question are filed under, e.g. ``"microscopy/scale"``."""
    return f"{item.constraint}/{item.asks}"


def prompt(item: Item, version: str = "v1", modality: str | None = None, examples: int = 0) -> str:
    """The question in words, with the input when that is text.

    Parameters
    ----------
    item : Item
    version : str
        One of `items.PROMPT_VERSIONS`.
    modality : {"text", "image"}, optional
        ``"text"`` puts `items.text` into the prompt, ``"image"`` expects the model to be shown
        `items.image`. By default that in which the item is posed.
    examples : int
        Worked examples to put before the question, so that small models keep to the form. They are
        never items; with an image they show the form only.

    Raises
    ------
    MatPCRError
        If the version or modality is unknown, a text item is to be shown as an image, or there
        are fewer examples.
    """
    layouts = templates()["layouts"]
    if version not in layouts:
        raise MatPCRError(f"unknown prompt version {version!r}: choose one of {', '.join(layouts)}")
    modality = item.modality if modality is None else modality
    if modality not in MODALITIES:
        raise MatPCRError(f"unknown modality {modality!r}: choose one of {', '.join(MODALITIES)}")
    if modality == "image" and item.modality != "image":
        raise MatPCRError(f"{item.item_id} is posed as text and has no image: use modality='text'")
    from matpcr_utils import items

    layout = layouts[version]
    words = items.wording(item)
    asked = templates()["questions"][key(item)][version]
    shape = layout["example" if modality == "text" else "image_example"]
    fields = {
        "question": asked["question"].format_map(words),
        "form": asked["form"].format_map(words),
        "examples": "".join(shape.format_map(shown) for shown in _examples(item, examples)),
        "input": items.text(item) if modality == "text" else "",
    }
    return str(layout[modality].format_map(fields))


def _examples(item: Item, count: int) -> list[dict[str, str]]:
    known: list[dict[str, str]] = templates()["examples"][key(item)]
    if not 0 <= count <= len(known):
        raise MatPCRError(f"examples = {count}: there are {len(known)} for {key(item)}")
    return known[:count]
