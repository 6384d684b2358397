"""Text in a micrograph: reading it by OCR, and telling the label of a scale bar from the rest."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: nm in one unit. "pm" is the micrometre: OCR reads µ as p, and no micrograph carries a bar of
#: picometres (the smallest bars, of atomic-resolution TEM, are written in nm or Å).
_UNITS_NM = {"nm": 1.0, "um": 1e3, "pm": 1e3, "micron": 1e3, "microns": 1e3, "mm": 1e6, "å": 0.1}
_MICRO = str.maketrans({"µ": "u", "μ": "u", "Å": "å", "\u212b": "å"})
#: Letters that OCR gives for a digit; only inside a number.
_DIGITS = str.maketrans({"O": "0", "o": "0", "l": "1", "I": "1"})
_NUMBER_PATTERN = r"[0-9OolI]+(?:\s?[.,]\s?[0-9OolI]+)?"
_UNIT_PATTERN = r"nm|[uUpPμµ]\s?m|microns?|mm|[åÅ]"
_NUMBER, _UNIT = re.compile(_NUMBER_PATTERN), re.compile(_UNIT_PATTERN)
_LABEL = re.compile(
    rf"[^0-9A-Za-z]*(?:[Il]\s+)?(?P<number>{_NUMBER_PATTERN})\s*(?P<unit>{_UNIT_PATTERN})"
    r"(?:\s+[Il])?[^0-9A-Za-z]*"
)
_PART = r"(?P<part>[0-9]{1,4}(?:[.,][0-9]+)?\s*(?:nm|[uUpPμµ]\s?m))"
_LEADING = re.compile(rf"{_PART}(?=\s)")
_TRAILING = re.compile(rf"(?:[0-9]\s?[A-Za-z]{{0,2}}|\s[kK]?[VX])\s+{_PART}$")


@dataclass(frozen=True, slots=True)
class TextLine:
    """One line of text found in an image.

    Attributes
    ----------
    text : str
    score : float
        Confidence of the recognition, in [0, 1].
    box : tuple of float
        x0, y0, x1, y1 in pixels.
    """

    text: str
    score: float
    box: tuple[float, float, float, float]

    @property
    def tight(self) -> tuple[float, float, float, float]:
        """The box without the margin that the text detector adds on every side."""
        x0, y0, x1, y1 = self.box
        margin = 0.22 * (y1 - y0)
        return x0 + margin, y0 + margin, x1 - margin, y1 - margin

    @property
    def height(self) -> float:
        """Height of the letters in pixels."""
        return self.tight[3] - self.tight[1]


@dataclass(frozen=True, slots=True)
class Label:
    """A line of text that can be the label of a scale bar.

    Attributes
    ----------
    line : TextLine
    length_nm : float
    text : str
        Number and unit in one spelling, e.g. ``"0.5 µm"``.
    """

    line: TextLine
    length_nm: float
    text: str


def parse_label(text: str) -> tuple[float, str] | None:
    """Length in nm of a text that is nothing but a number and a unit of length.

    Parameters
    ----------
    text : str
        As OCR gave it. Confusions are mended only inside the number (O for 0, l and I for 1) and
        in the unit (``pm`` and ``um`` for µm). A decimal comma is read as a point, a comma before
        three digits as a thousands separator.

    Returns
    -------
    tuple of (float, str) or None
        Length in nm and the text in one spelling; None for anything else, such as
        ``"WD = 5 mm"`` or ``"Width = 556.0 nm"``.
    """
    match = _LABEL.fullmatch(text.strip())
    if not match:
        return None
    number = re.sub(r"\s", "", match["number"]).translate(_DIGITS)
    thousands = re.fullmatch(r"[1-9]\d{0,2},\d{3}", number)
    number = number.replace(",", "" if thousands else ".")
    unit = re.sub(r"\s", "", match["unit"].translate(_MICRO).lower())
    value = float(number)
    if value <= 0:
        return None
    shown = {"um": "µm", "pm": "µm", "micron": "µm", "microns": "µm", "å": "Å"}.get(unit, unit)
    return float(f"{value * _UNITS_NM[unit]:.12g}"), f"{value:g} {shown}"


def labels(lines: list[TextLine]) -> list[Label]:
    """The lines that can label a scale bar; a number and its unit may be two lines in a row."""
    numbers = [line for line in lines if _NUMBER.fullmatch(line.text.strip())]
    units = [line for line in lines if _UNIT.fullmatch(line.text.strip())]
    joined = [_joined(a, b) for a in numbers for b in units if _follows(a, b)]
    whole = [(line, parse_label(line.text)) for line in (*lines, *joined)]
    parts = [part for line, parsed in whole if not parsed for part in _parts(line)]
    found = [*whole, *((part, parse_label(part.text)) for part in parts)]
    return [Label(line, *parsed) for line, parsed in found if parsed]


def _parts(line: TextLine) -> Iterator[TextLine]:
    """A length at the start of a longer line, or at its end after another field's value.

    OCR joins a label with the text beside it. At the end, ``5.00 kV 200 nm`` ends with a label;
    ``WD 5 mm`` and ``Width = 12 µm`` end with the value of a field. A part counts for less.
    """
    x0, y0, x1, y1 = line.box
    for match in (_LEADING.match(line.text), _TRAILING.search(line.text)):
        if match:
            start, stop = (match.start("part"), match.end("part"))
            width = (x1 - x0) / len(line.text)
            box = (x0 + start * width, y0, x0 + stop * width, y1)
            yield TextLine(match["part"], 0.7 * line.score, box)


def _follows(left: TextLine, right: TextLine) -> bool:
    """Whether one line stands right of another as the next word does."""
    (_, a0, a1, a2), (b0, c1, _, c2) = left.box, right.box
    overlap = min(a2, c2) - max(a0, c1)
    return overlap > 0.5 * min(left.height, right.height) and abs(b0 - a1) < 1.5 * left.height


def _joined(left: TextLine, right: TextLine) -> TextLine:
    low, high = np.minimum(left.box, right.box), np.maximum(left.box, right.box)
    box = (float(low[0]), float(low[1]), float(high[2]), float(high[3]))
    return TextLine(f"{left.text} {right.text}", min(left.score, right.score), box)


@cache
def _engine() -> Any:
    """The OCR engine, started once a process: it loads 30 MB of models."""
    import logging

    from rapidocr import RapidOCR

    # One thread an engine: chapters and tests run side by side, and small crops gain nothing.
    engine = RapidOCR(
        params={
            "Global.log_level": "critical",
            "Global.use_cls": False,
            # Crops stay as small as they are; the caller enlarges what needs it.
            "Det.limit_type": "max",
            "Det.limit_side_len": 2000,
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
    )
    logging.getLogger("RapidOCR").setLevel(logging.CRITICAL)
    return engine


def read_lines(image: NDArray[np.uint8], zoom: float = 1.0) -> list[TextLine]:
    """Every line of text in an image, by OCR (RapidOCR, PP-OCR models).

    Parameters
    ----------
    image : ndarray of uint8, shape (height, width) or (height, width, 3)
    zoom : float
        Enlarge the image before reading; boxes come back in its own pixels.

    Returns
    -------
    list of TextLine
        From top to bottom; empty when there is no text.
    """
    from PIL import Image

    rgb = np.repeat(image[..., None], 3, axis=2) if image.ndim == 2 else image
    if zoom != 1:
        size = (round(rgb.shape[1] * zoom), round(rgb.shape[0] * zoom))
        rgb = np.asarray(Image.fromarray(rgb).resize(size, Image.Resampling.BICUBIC))
    result = _engine()(np.ascontiguousarray(rgb), use_det=True, use_cls=False, use_rec=True)
    boxes = getattr(result, "boxes", None)
    if boxes is None or result.txts is None:
        return []
    corners = np.asarray(boxes, np.float64) / zoom
    low, high = corners.min(axis=1), corners.max(axis=1)
    return [
        TextLine(text, float(score), (*map(float, a), *map(float, b)))  # type: ignore[arg-type]
        for text, score, a, b in zip(result.txts, result.scores, low, high, strict=True)
    ]
