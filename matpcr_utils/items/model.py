"""One item: an input with a question about it that exposes exactly one checkable claim."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

#: The modality in which the paper poses each constraint type (section 4.2).
MODALITY: dict[str, str] = {
    "diffraction": "image",
    "microscopy": "image",
    "spectra": "image",
    "stability": "text",
    "metallicity": "text",
    "magnetism": "text",
}
MODALITIES = ("text", "image")

#: What can be asked, by constraint type: the quantity whose value the answer has to state.
QUESTIONS: dict[str, tuple[str, ...]] = {
    "diffraction": ("two_theta",),
    "microscopy": ("feature_size", "scale"),
    "spectra": ("raman_shift",),
    "stability": ("stability", "energy_above_hull"),
    "metallicity": ("metallicity", "band_gap"),
    "magnetism": ("magnetism", "magnetization"),
}


@dataclass(frozen=True)
class Item:
    """An input and a question about it.

    Attributes
    ----------
    item_id : str
        Names the item for good: whatever `seed` and `n_items` it was loaded with, an id stands for
        one question about one input, and `items.get` makes it again.
    source_id : str
        The material, pattern, image or spectrum; items of one source are resampled together.
    constraint : str
        A key of `claims.CONSTRAINTS`.
    modality : {"text", "image"}
        The modality in which the paper poses it; `items.text` renders image items as text, too.
    facts : mapping
        What is needed to render the input and to rebuild the reference, as JSON values.
        ``facts["asks"]`` is the quantity asked for, one of `QUESTIONS`.
    difficulty : mapping
        Facts that make an item harder or easier, numbers and words.
    truth : mapping
        The accurate answer: ``quantity``, ``value``, ``unit``, ``basis`` and a ``sentence``.
    """

    item_id: str
    source_id: str
    constraint: str
    modality: str
    facts: Mapping[str, Any] = field(repr=False)
    difficulty: Mapping[str, float | str] = field(repr=False)
    truth: Mapping[str, Any]

    @property
    def asks(self) -> str:
        """The quantity whose value the answer has to state."""
        return str(self.facts["asks"])
