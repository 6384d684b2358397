"""What an evaluee sees of an item: the words and the picture of the request, and nothing else."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from inspect_ai.model import ChatMessage, ContentImage, ContentText
from numpy.typing import NDArray

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
        The words of the last user message.
    image : bytes or None
        The picture, as a PNG file.
    seed : int
        0 for the greedy or first answer.
    """

    text: str
    image: bytes | None = None
    seed: int = 0

    @classmethod
    def of(cls, messages: Sequence[ChatMessage], seed: int | None = None) -> Question:
        """Read the last user message of a conversation.

        Raises
        ------
        MatPCRError
            If there is none, or its image is not part of the message.
        """
        asked = [message for message in messages if message.role == "user"]
        if not asked:
            raise MatPCRError("the conversation has no user message: nothing is asked")
        content = asked[-1].content
        if isinstance(content, str):
            return cls(content, None, seed or 0)
        words = [part.text for part in content if isinstance(part, ContentText)]
        images = [part.image for part in content if isinstance(part, ContentImage)]
        return cls("\n".join(words), _decoded(images[0]) if images else None, seed or 0)

    @property
    def asked(self) -> tuple[str, str]:
        """The constraint type and the quantity that the words ask for.

        Raises
        ------
        MatPCRError
            If they name none.
        """
        for constraint, quantity, pattern in _ASKED:
            if re.search(pattern, self.text, re.IGNORECASE | re.DOTALL):
                return constraint, quantity
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


def _decoded(uri: str) -> bytes:
    if not uri.startswith("data:image/"):
        raise MatPCRError(f"the image {uri[:40]!r} is no data URI: these evaluees read no files")
    return base64.b64decode(uri.partition(",")[2])
