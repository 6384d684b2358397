"""``matpcr/instrument``: no language model, but an instrument that reads the item itself.

Plots and micrographs are read from their pixels (OCR, image analysis), tables from their numbers,
structures by rules of thumb of chemistry. It sees what every model sees, the question and the
picture, and neither truth nor reference.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from typing import Any, ClassVar

import numpy as np
from inspect_ai.model import GenerateConfig
from numpy.typing import NDArray

from matpcr_utils.claims.model import Claim
from matpcr_utils.errors import MatPCRError
from matpcr_utils.evaluation.evaluees.wording import sentence
from matpcr_utils.evaluation.providers import Answer
from matpcr_utils.evaluation.question import Question

#: Pixels across at half height; narrower is a cosmic ray, drawn as one vertical line.
_NARROWEST = 2.5
#: Ink is a pixel or two wide, so that the top of a plotted peak is flat.
_SUMMIT = 0.02
_BAR = re.compile(r"Scale bar: ([\d.]+) pixels long, labelled “([^”]+)”")
_KIND = re.compile(
    r"(?:How large is|Determine the [\w ]+? of|What is the [\w ]+? of)"
    r" the \w+ (particle|fibre|pore)"
)
_SIZE = re.compile(r"Measured .+?: ([\d.]+) pixels")


@dataclass(frozen=True)
class Instrument:
    """The same answer for every seed: it draws nothing."""

    READS_IMAGES: ClassVar[bool] = True

    def answer(self, question: Question, config: GenerateConfig) -> Answer:
        """What is read off, or a sentence that says what could not be read."""
        return Answer(_said(question.text, question.image))


def create(**settings: Any) -> Instrument:
    """The evaluee; it has no settings."""
    return Instrument(**settings)


@lru_cache(maxsize=1024)
def _said(text: str, image: bytes | None) -> str:
    """The answer to a question, kept for its other seeds: reading a picture takes a second."""
    try:
        return sentence(measure(Question(text, image)))
    except MatPCRError as error:
        return f"No reading: {error}."


def measure(question: Question) -> Claim:
    """Read what is asked for off the question's picture or words.

    Raises
    ------
    MatPCRError
        If it can't be read.
    """
    constraint, asks = question.asked
    if constraint in ("diffraction", "spectra"):
        return Claim(asks, _peak(question))
    if constraint == "microscopy":
        return Claim(asks, _length(question, asks))
    from matpcr_utils.evaluation.evaluees import chemistry

    return chemistry.claim(question.text, asks)


def _peak(question: Question) -> float:
    if question.image is not None:
        from matpcr_utils.evaluation.evaluees import plots

        x, y = plots.curve(_pixels(question.image))
        return strongest(x, y, question.region, _NARROWEST, _SUMMIT)
    rows = question.rows
    if rows is None:
        raise MatPCRError("the question shows neither a plot nor a table")
    return strongest(rows[:, 0], rows[:, 1], question.region)


def strongest(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    region: tuple[float, float] | None = None,
    narrowest: float = 0.0,
    summit: float = 0.0,
) -> float:
    """Position of the peak that rises highest above its surroundings.

    Parameters
    ----------
    x, y : ndarray of float, shape (n,)
    region : tuple of float, optional
        Where peaks count, inclusive.
    narrowest : float
        Least width at half prominence, in points.
    summit : float
        The peak lies in the middle of the points that are lower by at most this share of its
        prominence.

    Raises
    ------
    MatPCRError
        If there is no point in the region.

    Notes
    -----
    Without a local maximum, which a coarse table may lack, the highest point is taken.
    """
    from scipy.signal import find_peaks

    peaks, found = find_peaks(y, prominence=0, width=narrowest)
    low, high = region or (x[0], x[-1])
    asked = (x >= low) & (x <= high)
    if not asked.any():
        raise MatPCRError("the curve does not reach the range that is asked about")
    if not asked[peaks].any():
        return float(x[np.where(asked, y, -np.inf).argmax()])
    best = int(np.where(asked[peaks], found["prominences"], -1.0).argmax())
    low_enough = y < y[peaks[best]] - summit * found["prominences"][best]
    left = np.flatnonzero(low_enough[: peaks[best]])
    right = np.flatnonzero(low_enough[peaks[best] :])
    first = left[-1] + 1 if len(left) else 0
    last = peaks[best] + right[0] if len(right) else len(x)
    return float(x[first:last].mean())


def _length(question: Question, asks: str) -> float:
    if question.image is not None:
        from matpcr_utils.evaluation.evaluees import micrograph

        pixels, kind = _pixels(question.image), _KIND.search(question.text)
        if asks == "scale":
            return micrograph.scale(pixels)
        return micrograph.largest(pixels, kind[1] if kind else "particle")
    from matpcr_utils.references.scalebar_text import parse_label

    bars, sizes = _BAR.findall(question.text), _SIZE.findall(question.text)
    label = parse_label(bars[-1][1]) if bars else None
    if label is None or (asks != "scale" and not sizes):
        raise MatPCRError("the question shows neither a micrograph nor its lengths")
    scale = label[0] / float(bars[-1][0])
    return scale if asks == "scale" else scale * float(sizes[-1])


def _pixels(png: bytes) -> NDArray[np.uint8]:
    from PIL import Image

    with Image.open(BytesIO(png)) as picture:
        return np.asarray(picture.convert("L"))
