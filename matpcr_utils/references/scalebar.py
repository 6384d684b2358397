"""The scale bar of a micrograph: found by image analysis, its label read by OCR.

An image is calibrated by the one thing on it whose length is written beside it: nm per pixel is the
labelled length over the length of the bar in pixels (paper, supplementary note 1.2).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from matpcr_utils.errors import MatPCRError
from matpcr_utils.references.scalebar_bars import Grey, Stroke, strokes
from matpcr_utils.references.scalebar_text import Label, TextLine, labels, read_lines

Box = tuple[float, float, float, float]


class ScaleBarNotFound(MatPCRError):
    """An image shows no scale bar that can be read; the message says what was missing."""


@dataclass(frozen=True, slots=True)
class ScaleBar:
    """A scale bar and its label, as found in an image.

    Attributes
    ----------
    length_px : float
        Length in pixels, to a fraction of one: the extent of a plain bar, the distance between
        the centres of the ticks of a bracket.
    label_nm : float
        The length that the label states.
    label : str
        Number and unit in one spelling, e.g. ``"0.5 µm"``.
    box, label_box : tuple of float
        x0, y0, x1, y1 in pixels of the bar (with its ticks) and of the label.
    outer_px : float
        The whole extent in pixels; more than `length_px` by the width of a tick for a bracket.
        Makers differ: Zeiss' brackets fit the header between the centres of their ticks, TVIPS'
        between the outer edges.
    bracket : bool
        Whether the bar ends in ticks.
    dark : bool
        Whether the bar is darker than its surroundings.
    score : float
        How well bar and label fit each other and what they should look like, in (0, 1].
    """

    length_px: float
    label_nm: float
    label: str
    box: Box
    label_box: Box
    outer_px: float
    bracket: bool
    dark: bool
    score: float

    @property
    def pixel_size_nm(self) -> float:
        """nm per pixel: labelled length over length in pixels."""
        return self.label_nm / self.length_px


#: Pairs of bar and label that score less are no scale bar.
_ACCEPT = 0.15
#: A pair that scores this much ends the search.
_SURE = 0.5
#: Bars around which text is read a second time.
_CROPS = 4


def detect(image: NDArray[np.generic]) -> ScaleBar:
    """Find and read the scale bar of a micrograph.

    Parameters
    ----------
    image : ndarray, shape (height, width) or (height, width, 3 or 4)
        Of any integer or float type; other types than uint8 are stretched to 0…255.

    Returns
    -------
    ScaleBar

    Raises
    ------
    ScaleBarNotFound
        If no text states a length, or no bar stands beside one that does.
    MatPCRError
        If the array is no image.

    Notes
    -----
    Text is read on the whole image, and bars are sought around every text that is a length. Where
    that gives no sure pair, the strokes that look most like a bar are sought on the whole image,
    and text is read again around each, enlarged and with the stroke painted over, which
    otherwise is taken for a letter.
    """
    picture = as_uint8(image)
    planes = _planes(picture)
    lines = read_lines(picture, zoom=max(1.0, 736 / min(picture.shape[:2])))
    best = _best(pair for label in labels(lines) for pair in _around(label, planes, lines))
    if best is None or best.score < _SURE or _touching(best):
        # Without the bar in the way the label is read better: a sure second reading stands alone.
        again = _second_reading(picture, planes, lines, best)
        best = again if best is None or (again and again.score >= min(_SURE, best.score)) else best
    if best is None or best.score < _ACCEPT:
        raise ScaleBarNotFound(_missing(lines))
    return best.scale_bar()


@dataclass(frozen=True, slots=True)
class _Pair:
    """A stroke and a text that could be a scale bar and its label."""

    bar: Stroke
    label: Label
    score: float

    def scale_bar(self) -> ScaleBar:
        return ScaleBar(
            length_px=self.bar.length,
            label_nm=self.label.length_nm,
            label=self.label.text,
            box=self.bar.box,
            label_box=self.label.line.tight,
            outer_px=self.bar.x1 - self.bar.x0,
            bracket=self.bar.bracket,
            dark=self.bar.dark,
            score=self.score,
        )


def _best(pairs: Iterable[_Pair]) -> _Pair | None:
    return max(pairs, key=lambda pair: pair.score, default=None)


def _touching(pair: _Pair) -> bool:
    """Whether bar and text share a box, so that a tick may have been read as a digit."""
    (x0, y0, x1, y1), (bx0, by0, bx1, by1) = pair.label.line.box, pair.bar.box
    return bx0 < x1 and bx1 > x0 and by0 < y1 and by1 > y0


def _missing(lines: list[TextLine]) -> str:
    texts = ", ".join(repr(label.text) for label in labels(lines)[:4])
    seen = ", ".join(repr(line.text) for line in lines[:4]) or "no text at all"
    reason = (
        f"no bar stands beside the text {texts}"
        if texts
        else f"no text in the image is a length such as '500 nm' (read: {seen})"
    )
    return f"no scale bar: {reason}; give the pixel size, or an image with its bar"


def as_uint8(image: NDArray[np.generic]) -> NDArray[np.uint8]:
    """An image as uint8, grey (height, width) or colour (height, width, 3).

    Raises
    ------
    MatPCRError
        If the array has another shape, is smaller than 32 pixels, or holds NaN or infinity.
    """
    if image.ndim not in (2, 3) or (image.ndim == 3 and image.shape[2] not in (3, 4)):
        raise MatPCRError(
            f"array of shape {image.shape} is no image: give (height, width) or (height, width, 3)"
        )
    if min(image.shape[:2]) < 32:
        raise MatPCRError(
            f"image of {image.shape[1]} x {image.shape[0]} pixels is too small: 32 at least"
        )
    image = image[..., :3] if image.ndim == 3 else image
    if image.dtype == np.uint8:
        return image  # type: ignore[return-value]
    values = image.astype(np.float64)
    if not np.isfinite(values).all():
        raise MatPCRError("image holds NaN or infinity: replace them before looking for its bar")
    low, high = values.min(), values.max()
    return np.rint((values - low) / max(high - low, 1e-300) * 255).astype(np.uint8)


def _planes(picture: NDArray[np.uint8]) -> list[Grey]:
    """Grey planes to search: one of a grey image; of colours, those in which any ink shows."""
    if picture.ndim == 2:
        return [picture.astype(np.float32)]
    low, high = picture.min(axis=2), picture.max(axis=2)
    if int((high - low).max()) < 24:
        return [picture.mean(axis=2, dtype=np.float32)]
    # A green bar on white is dark only in red and blue; on black it is bright only in green.
    return [low.astype(np.float32), high.astype(np.float32)]


def _around(label: Label, planes: list[Grey], lines: list[TextLine]) -> Iterator[_Pair]:
    """Pairs of a label with the strokes near it."""
    reach = 5 * label.line.height
    rows = (int(label.line.box[1] - reach), int(label.line.box[3] + reach))
    bars = [bar for plane in planes for bar in strokes(plane, rows)]
    return _pairs(label, _free(bars, [*lines, label.line]))


def _second_reading(
    picture: NDArray[np.uint8], planes: list[Grey], lines: list[TextLine], first: _Pair | None
) -> _Pair | None:
    """The best pair from text read again around the strokes that look most like a bar."""
    width = picture.shape[1]
    known = [line for line in lines if line.score > 0.6]
    if first and first.score >= _SURE:
        bars = [first.bar]
    else:
        bars = _free([bar for plane in planes for bar in strokes(plane)], known)
        bars.sort(key=lambda bar: -bar.quality * min(1.0, bar.length / (0.05 * width)))
    found: list[_Pair] = []
    for bar in bars[:_CROPS]:
        crop, (left, top) = _painted_over(picture, bar)
        read = read_lines(crop, zoom=2.0 if max(crop.shape) < 900 else 1.0)
        shift = np.array([left, top, left, top])
        moved = [replace(line, box=tuple((line.box + shift).tolist())) for line in read]
        moved = [line for line in moved if not any(_cut_from(line, other) for other in known)]
        for label in labels(moved):
            found += _around(label, planes, [*known, *moved])
        if any(pair.score >= _SURE for pair in found):
            break
    return _best(found)


def _cut_from(line: TextLine, whole: TextLine) -> bool:
    """Whether a line is what the edge of a crop left of a longer one, as of ``HFW 3.94 µm``."""
    x, y = (line.box[0] + line.box[2]) / 2, (line.box[1] + line.box[3]) / 2
    inside = whole.box[0] < x < whole.box[2] and whole.box[1] < y < whole.box[3]
    return inside and len(whole.text) >= len(line.text) + 3


def _painted_over(
    picture: NDArray[np.uint8], bar: Stroke
) -> tuple[NDArray[np.uint8], tuple[int, int]]:
    """The surroundings of a stroke without the stroke, and their upper left corner."""
    height, width = picture.shape[:2]
    x0, y0, x1, y1 = map(int, bar.box)
    side, rise = 40 + width // 7, 20 + height // 14
    left, top = max(0, x0 - side), max(0, y0 - rise)
    crop = picture[top : y1 + rise, left : x1 + side].copy()
    ground = np.median(picture[max(0, bar.y0 - 4) : max(1, bar.y0 - 1), x0:x1], axis=(0, 1))
    spans = [(x0, int(bar.gap[0])), (int(bar.gap[1]), x1)] if bar.gap else [(x0, x1)]
    for start, stop in spans:
        crop[y0 - top - 2 : y1 - top + 2, max(0, start - left - 2) : stop - left + 3] = ground
    return crop, (left, top)


def _free(bars: list[Stroke], lines: list[TextLine]) -> list[Stroke]:
    """Strokes that are not part of a letter.

    A text's box may have swallowed the bar above, below or beside it; that one is long.
    """
    words = [line for line in lines if sum(c.isalnum() for c in line.text) >= 2]
    return [bar for bar in bars if not any(_of_letter(bar, line) for line in words)]


def _of_letter(bar: Stroke, line: TextLine) -> bool:
    x0, y0, x1, y1 = line.box
    within = y0 < bar.middle < y1 and bar.x0 > x0 - 3 and bar.x1 < x1 + 3
    short = bar.length < min(1.2 * line.height, 0.5 * (line.tight[2] - line.tight[0]))
    return within and short


def _pairs(label: Label, bars: list[Stroke]) -> Iterator[_Pair]:
    """Every bar that could belong to a label, with a score."""
    halves, wholes = _interrupted(label, bars)
    for bar in (*(bar for bar in bars if bar not in halves), *wholes):
        if bar.length >= 0.8 * label.line.height:
            score = _fit(label.line, bar) * bar.quality * label.line.score
            yield _Pair(bar, label, score)


def _interrupted(label: Label, bars: list[Stroke]) -> tuple[list[Stroke], list[Stroke]]:
    """Bars that the label stands within: strokes left and right of it in one row, and whole."""
    x0, y0, x1, y1 = label.line.tight
    widest = x1 - x0 + 4 * label.line.height
    rows = [bar for bar in bars if y0 < bar.middle < y1]
    halves, wholes = [], []
    for left in rows:
        for right in rows:
            flank = left.x1 < (x0 + x1) / 2 < right.x0 and right.x0 - left.x1 < widest
            if flank and _alike(left, right):
                halves += [left, right]
                ticks, gap = (left.ticks[0], right.ticks[1]), (left.x1, right.x0)
                wholes.append(replace(left, x1=right.x1, ticks=ticks, gap=gap))
    return halves, wholes


def _alike(left: Stroke, right: Stroke) -> bool:
    """Whether two strokes look like the halves of one: a label stands in the middle."""
    return (
        left.dark == right.dark
        and abs(left.middle - right.middle) <= 1.5
        and abs((left.y1 - left.y0) - (right.y1 - right.y0)) <= 1
        and 0.6 < left.contrast / right.contrast < 1.7
        and 0.7 < left.length / right.length < 1.4
    )


def _fit(line: TextLine, bar: Stroke) -> float:
    """How well the places of label and bar agree, in [0, 1]; distances in heights of the text."""
    x0, y0, x1, y1 = line.tight
    bx0, by0, bx1, by1 = bar.box
    # Above or below: centred, or flush with one end.
    rise = max(by0 - y1, y0 - by1) / line.height
    shift = min(abs(x0 + x1 - bx0 - bx1) / 2, abs(x0 - bx0), abs(x1 - bx1)) / line.height
    stacked = np.exp(
        -max(0.0, rise - 0.5) - 3 * max(0.0, -rise - 0.3) - 0.5 * max(0.0, shift - 0.5)
    )
    # Left, right or within: on one level.
    aside = max(bx0 - x1, x0 - bx1) / line.height
    level = abs(y0 + y1 - by0 - by1) / 2 / line.height
    beside = np.exp(-max(0.0, aside - 0.5) - 2 * max(0.0, level - 0.25))
    return float(max(stacked, beside))
