"""What an evaluee sees: the item's words and picture, and what was said since."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from inspect_ai.model import ChatMessage, ContentImage, ContentText
from numpy.typing import NDArray

from matpcr_utils.claims.model import CONSTRAINTS
from matpcr_utils.errors import MatPCRError

#: The words of a question that name what is asked for; the first that matches decides.
_ASKED = (
    ("microscopy", "scale", r"nm/p(?:x|ixel)|nm per pixel|nanomet\w+ (?:per|one) pixel"),
    ("microscopy", "feature_size", r"micrograph|scale bar|\bthe bar\b"),
    ("spectra", "raman_shift", r"raman|cm⁻¹"),
    ("diffraction", "two_theta", r"2θ"),
    ("stability", "stability", r"\bmetastable\b"),
    ("stability", "energy_above_hull", r"above the (?:convex )?hull|E_hull"),
    ("magnetism", "magnetization", r"μB|bohr magneton"),
    ("magnetism", "magnetism", r"net (?:magnet\w+|moment)"),
    ("metallicity", "band_gap", r"band gap.*\beV\b"),
    ("metallicity", "metallicity", r"\bmetal(?:lic)?\b"),
)
_RANGE = re.compile(r"between (\d+(?:\.\d+)?)°? and (\d+(?:\.\d+)?)(?:°| cm)")
_ROWS = re.compile(r"intensity \(%\):\n((?:-?\d+(?:\.\d+)? -?\d+(?:\.\d+)?\n?)+)")


@dataclass(frozen=True, slots=True)
class Question:
    """A request, as any model gets it.

    Attributes
    ----------
    text : str
        The words of the item's question.
    image : bytes or None
        Its picture, as a PNG file.
    seed : int
        0 for the greedy or first answer.
    turns : tuple of (str, str)
        Role and words of every message, in order; the question alone unless given.
    item_id : str
        The id that the task gives the question's message; empty for other messages. No model is
        sent it: it is for evaluees that are scripted.
    """

    text: str
    image: bytes | None = None
    seed: int = 0
    turns: tuple[tuple[str, str], ...] = ()
    item_id: str = ""

    def __post_init__(self) -> None:
        if not self.turns:
            object.__setattr__(self, "turns", (("user", self.text),))

    @classmethod
    def of(cls, messages: Sequence[ChatMessage], seed: int | None = None) -> Question:
        """Read a conversation.

        The question is the first user message that names a quantity of the items: those after it
        are follow-ups, which may name it as well. Without one it is the last user message.

        Raises
        ------
        MatPCRError
            If there is no user message, or its image is not part of the message.
        """
        asked = [message for message in messages if message.role == "user"]
        if not asked:
            raise MatPCRError("the conversation has no user message: nothing is asked")
        question = next((m for m in asked if _named(_words(m))), asked[-1])
        parts = [] if isinstance(question.content, str) else question.content
        images = [part.image for part in parts if isinstance(part, ContentImage)]
        identity = question.id or ""
        return cls(
            _words(question),
            _decoded(images[0]) if images else None,
            seed or 0,
            tuple((message.role, _words(message)) for message in messages),
            identity if identity.partition("-")[0] in CONSTRAINTS else "",
        )

    @property
    def last(self) -> str:
        """The words of the last user message: the question, or the last follow-up."""
        return next(words for role, words in reversed(self.turns) if role == "user")

    @property
    def asked(self) -> tuple[str, str]:
        """The constraint type and the quantity that the words ask for.

        Raises
        ------
        MatPCRError
            If they name none.
        """
        named = _named(self.text)
        if named is not None:
            return named
        raise MatPCRError(
            "the question names no quantity of the six constraint types: "
            "this evaluee answers the items of this package only"
        )

    @property
    def region(self) -> tuple[float, float] | None:
        """The range of the axis that is asked about; None for the whole."""
        found = _RANGE.search(self.text)
        return (float(found[1]), float(found[2])) if found else None

    @property
    def rows(self) -> NDArray[np.float64] | None:
        """Axis and intensity of a curve in words, shape (n, 2); None without one.

        The last table counts: worked examples come before the question's own input.
        """
        found = _ROWS.findall(self.text)
        if not found:
            return None
        return np.array([line.split() for line in found[-1].strip().splitlines()], np.float64)


def _named(words: str) -> tuple[str, str] | None:
    for constraint, quantity, pattern in _ASKED:
        if re.search(pattern, words, re.IGNORECASE | re.DOTALL):
            return constraint, quantity
    return None


def _words(message: ChatMessage) -> str:
    if isinstance(message.content, str):
        return message.content
    return "\n".join(part.text for part in message.content if isinstance(part, ContentText))


def _decoded(uri: str) -> bytes:
    if not uri.startswith("data:image/"):
        raise MatPCRError(f"the image {uri[:40]!r} is no data URI: these evaluees read no files")
    return base64.b64decode(uri.partition(",")[2])
