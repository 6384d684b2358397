"""Items on micrographs: read the scale bar, then state the scale or the size of a feature.

The micrographs are generated, so that the truth is known, and marked as simulated. Some
questions ask for a size, the others for the scale; items on one micrograph share its source id.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from io import BytesIO
from itertools import count
from typing import TYPE_CHECKING, Any

from matpcr_utils.items.model import Item

if TYPE_CHECKING:
    from matpcr_utils.oracles.microscopy import FieldOfView
    from matpcr_utils.references.micrographs import Micrograph

SAMPLING = (
    "generated micrographs (simulated) of particles, fibres and pores in turn; the size of the "
    "largest particle or widest fibre, and of every second image the scale"
)
#: Seeds below it serve the controls and the chapter on microscopy.
FIRST_SEED = 500_000
#: Images of one `seed` of `load`.
STRIDE = 10_000

#: Kinds of scene, in turn.
KINDS = ("particles", "fibres", "porous")
#: What is asked for, and which of its sizes. No size of a pore is asked for: pores run into each
#: other, and which one is the largest is a matter of taste.
FEATURES: dict[str, tuple[str, str]] = {
    "particles": ("the largest particle", "diameter"),
    "fibres": ("the widest fibre", "width"),
}


def candidates(constraint: str, seed: int) -> Iterator[Item]:
    """Without end: every question on each micrograph in turn."""
    for number in count(seed * STRIDE):
        for asks in _questions(number):
            yield _item(number, asks)


def _questions(number: int) -> list[str]:
    sized = KINDS[number % len(KINDS)] in FEATURES
    return ["feature_size"] * sized + ["scale"] * (number % 2)


def build(constraint: str, key: str) -> Item | None:
    """The item of a key such as ``"0017-size"``."""
    number, _, what = key.partition("-")
    asks = {"size": "feature_size", "scale": "scale"}.get(what)
    if asks is None or not number.isdecimal() or asks not in _questions(int(number)):
        return None
    return _item(int(number), asks)


def reference(item: Item) -> FieldOfView:
    """The field of view under the true pixel size, which the scale bar states to half a pixel."""
    from matpcr_utils.oracles.microscopy import FieldOfView

    facts = item.facts
    width, height = facts["width_px"], facts["height_px"]
    return FieldOfView(facts["pixel_size_nm"], width, height, item.source_id, "truth")


def image(item: Item) -> bytes:
    """The generated micrograph, losslessly."""
    from PIL import Image

    stream = BytesIO()
    Image.fromarray(_micrograph(item.facts["number"]).pixels).save(stream, "PNG", optimize=True)
    return stream.getvalue()


def text(item: Item) -> str:
    """Lengths in pixels and the bar's label, from which the answer follows by a division."""
    facts = item.facts
    lines = [
        f"Electron micrograph, {facts['width_px']} × {facts['height_px']} pixels.",
        f"Scale bar: {facts['bar_px']} pixels long, labelled “{facts['label']}”.",
    ]
    if item.asks == "feature_size":
        what, size = FEATURES[facts["kind"]]
        lines.append(f"Measured {size} of {what}: {facts['feature_px']:.1f} pixels.")
    return "\n".join(lines)


def wording(item: Item) -> Mapping[str, str]:
    """The feature that is asked for and which of its sizes; for the scale, the image's size."""
    if item.asks == "scale":  # a provider may shrink what it shows the model
        return {"pixels": f"{item.facts['width_px']} × {item.facts['height_px']} pixels"}
    what, size = FEATURES[item.facts["kind"]]
    return {"feature": what, "size": size}


@lru_cache(maxsize=4)
def _micrograph(number: int) -> Micrograph:
    from matpcr_utils.references.micrographs import generate

    # A databar would hide what lies below it, and the largest feature with it.
    kind = KINDS[number % len(KINDS)]
    return generate(FIRST_SEED + number, kind=kind, place="image", databar=False)


@cache
def _facts(number: int) -> Mapping[str, Any]:
    """What is true of a micrograph, without its pixels."""
    picture = _micrograph(number)
    height, width = picture.pixels.shape
    largest = float(picture.features_nm.max())
    return {
        "number": number,
        "kind": picture.kind,
        "width_px": width,
        "height_px": height,
        "pixel_size_nm": picture.pixel_size_nm,
        "bar_px": picture.bar_px,
        "label": picture.label,
        "feature_nm": largest,
        "feature_px": largest / picture.pixel_size_nm,
        "bar": picture.style.bar,
        "noise": picture.style.noise,
        "simulated": True,
    }


def _item(number: int, asks: str) -> Item:
    facts = {"asks": asks, **_facts(number)}
    size = asks == "feature_size"
    value = facts["feature_nm"] if size else facts["pixel_size_nm"]
    if size:
        what, kind = FEATURES[facts["kind"]]
        sentence = f"The {kind} of {what} is {value:.6g} nm."
    else:
        sentence = f"The scale is {value:.6g} nm/px."
    difficulty: dict[str, float | str] = {
        "bar_px": facts["bar_px"],
        "bar": facts["bar"],
        "noise": facts["noise"],
        "scene": facts["kind"],
    }
    if size:
        difficulty["feature_px"] = facts["feature_px"]
    return Item(
        item_id=f"microscopy-{number:04d}-{'size' if size else 'scale'}",
        source_id=f"micrograph-{number:04d}",
        constraint="microscopy",
        modality="image",
        facts=facts,
        difficulty=difficulty,
        truth={
            "quantity": asks,
            "value": value,
            "unit": "nm" if size else "nm/pixel",
            "basis": None,
            "sentence": sentence,
        },
    )
