"""Candidates for a scale bar: straight, even, horizontal strokes, and their exact ends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Grey = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Stroke:
    """A horizontal stroke of one ink.

    Attributes
    ----------
    x0, x1 : float
        Its ends in pixels, at half height of the edge; pixel i spans [i, i + 1].
    y0, y1 : int
        Its rows; the last lies outside.
    contrast : float
        Grey levels between ink and surroundings.
    dark : bool
        Whether the ink is darker than its surroundings.
    evenness : float
        1 for an ink of one grey level, less for texture.
    balance : float
        1 where the surroundings above and below are equally far from the ink; near 0 for the
        strip between a bar and the edge of its box.
    ticks : tuple of (float or None)
        Centres of the ticks at the left and the right end; a plain bar has none.
    tick_rows : tuple of int
        Rows that bar and ticks take together.
    gap : tuple of float or None
        Columns that a bar leaves free for its label; None for a whole one.
    """

    x0: float
    x1: float
    y0: int
    y1: int
    contrast: float
    dark: bool
    evenness: float = 1.0
    balance: float = 1.0
    ticks: tuple[float | None, float | None] = (None, None)
    tick_rows: tuple[int, int] = (0, 0)
    gap: tuple[float, float] | None = None

    @property
    def length(self) -> float:
        """Pixels from end to end; between the centres of the ticks for a bracket."""
        left, right = self.ticks
        return self.x1 - self.x0 if left is None or right is None else right - left

    @property
    def bracket(self) -> bool:
        """Whether both ends have ticks; one alone is a crossing, or half of a bracket."""
        return None not in self.ticks

    @property
    def middle(self) -> float:
        """Height of its axis in the image."""
        return (self.y0 + self.y1) / 2

    @property
    def quality(self) -> float:
        """How much it looks like a bar, whatever stands beside it, in [0, 1]."""
        return self.evenness * self.balance * min(1.0, self.contrast / 150)

    @property
    def box(self) -> tuple[float, float, float, float]:
        """x0, y0, x1, y1 with the ticks."""
        return self.x0, float(self.tick_rows[0]), self.x1, float(self.tick_rows[1])


#: Least contrast of a stroke, in grey levels, and its least length in pixels.
_CONTRAST = 25.0
_SHORTEST = 11


def strokes(grey: Grey, rows: tuple[int, int] | None = None) -> list[Stroke]:
    """Every horizontal stroke that could be a scale bar, dark or light.

    Parameters
    ----------
    grey : ndarray of float32, shape (height, width)
        Grey levels 0 to 255.
    rows : tuple of int, optional
        Search only there; the second lies outside.

    Notes
    -----
    A white top-hat along columns keeps what is thinner than 2.5 % of the image; an opening along
    rows then keeps what is straight and longer than a letter's stroke.
    """
    height, width = grey.shape
    first, last = (max(0, rows[0]), min(height, rows[1])) if rows else (0, height)
    thickest = max(9, round(0.025 * height))
    found = []
    for dark in (True, False):
        ink = 255 - grey if dark else grey
        for top, left, bottom, right in _runs(ink[first:last], thickest):
            stroke = measure(ink, left, right, top + first, bottom + first, dark)
            if stroke and not _frame(stroke, width):
                found.append(stroke)
    return found


def _frame(stroke: Stroke, width: int) -> bool:
    """Whether a stroke is a line that frames the databar: no bar leaves the image."""
    return stroke.x0 < 2 or stroke.x1 > width - 2 or stroke.x1 - stroke.x0 > 0.75 * width


def _runs(ink: Grey, thickest: int) -> Iterator[tuple[int, int, int, int]]:
    """Boxes (top, left, bottom, right) of straight thin runs of bright ink."""
    from scipy.ndimage import maximum_filter1d, minimum_filter1d
    from skimage.measure import label, regionprops

    thick = maximum_filter1d(minimum_filter1d(ink, thickest, axis=0), thickest, axis=0)
    thin = ink - thick
    # The longer filter frees a bar from texture that it crosses; the shorter finds small bars.
    for length in (_SHORTEST, max(_SHORTEST + 1, ink.shape[1] // 28)):
        runs = maximum_filter1d(minimum_filter1d(thin, length, axis=1), length, axis=1)
        for region in regionprops(label(runs > _CONTRAST, connectivity=1), intensity_image=runs):
            # Fainter texture that touches a bar would lengthen it: cut at half of the peak.
            strong = region.image_intensity > 0.5 * region.intensity_max
            for part in regionprops(label(strong, connectivity=1)):
                top, left, bottom, right = part.bbox
                tall, wide = bottom - top, right - left
                if part.extent >= 0.75 and tall <= thickest and wide >= max(length, 2 * tall):
                    y, x = region.bbox[:2]
                    yield top + y, left + x, bottom + y, right + x


def measure(ink: Grey, left: int, right: int, top: int, bottom: int, dark: bool) -> Stroke | None:
    """Exact ends of a roughly located stroke, and its ticks.

    Parameters
    ----------
    ink : ndarray of float32, shape (height, width)
        Grey levels in which the ink is bright.
    left, right, top, bottom : int
        Box of the stroke; right and bottom lie outside.
    dark : bool
        Passed on.

    Returns
    -------
    Stroke or None
        None when the stroke does not stand out from the rows above and below.
    """
    inner = slice(left + 2, max(left + 3, right - 2))
    rows = np.median(ink[:, inner][max(0, top - 5) : bottom + 5], axis=1)
    level = float(np.median(ink[top:bottom, inner]))
    half = (level + float(rows.min())) / 2
    high = np.flatnonzero(np.median(ink[top:bottom, inner], axis=1) > half)
    if not len(high):
        return None
    y0, y1 = top + int(high[0]), top + int(high[-1]) + 1
    ground = level - float(_drops(ink, level, y0, y1, inner).mean())
    profile = ink[y0:y1].mean(axis=0)
    x0, x1 = _end(profile, left, -1, level, ground), _end(profile, right - 1, 1, level, ground)
    # The ends may lie far from where the search began; what counts is the whole stroke.
    whole = slice(int(x0) + 2, max(int(x0) + 3, int(x1) - 2))
    drops = _drops(ink, level, y0, y1, whole)
    if drops.min() < _CONTRAST:
        return None
    lower, upper = np.percentile(profile[whole], (25, 75))
    stroke = Stroke(
        x0, x1, y0, y1,
        contrast=float(drops.min()),
        dark=dark,
        evenness=1.0 / (1.0 + float(upper - lower) / 20.0),
        balance=float(drops.min() / drops.max()),
        tick_rows=(y0, y1),
    )  # fmt: skip
    return _with_ticks(ink, stroke, level - float(drops.mean()) / 2)


def _drops(ink: Grey, level: float, y0: int, y1: int, columns: slice) -> NDArray[np.float64]:
    """How far the rows above and below a stroke lie under the level of its ink."""
    above = ink[max(0, y0 - 4) : max(1, y0 - 1), columns]
    below = ink[y1 + 1 : y1 + 4, columns]
    return level - np.array([np.median(side) if side.size else level for side in (above, below)])


def _end(profile: Grey, start: int, step: int, level: float, ground: float) -> float:
    """Where a profile falls to half between ink and what lies beyond its end, in pixels."""
    half = (level + ground) / 2
    i, last = start, len(profile) - 1
    # The rough box may begin a few pixels beyond the ink.
    for _ in range(4):
        if profile[i] < half:
            i -= step
    inner = i
    while 0 <= i + step <= last and profile[i + step] >= half:
        i += step
    if not 0 <= i + step <= last:
        return float(i + (step > 0))
    # The surroundings at the end itself set the height of the edge.
    beyond = profile[np.clip(np.arange(i + 2 * step, i + 5 * step, step), 0, last)].mean()
    half = (level + min(float(beyond), half)) / 2
    while profile[i] < half and i != inner:
        i -= step
    inside, outside = float(profile[i]), float(profile[i + step])
    share = (inside - half) / (inside - outside) if inside >= half > outside else 0.5
    return i + 0.5 + step * share


def _with_ticks(ink: Grey, stroke: Stroke, half: float) -> Stroke:
    """Look for a tick across each end."""
    centres: list[float | None] = []
    top, bottom = stroke.y0, stroke.y1
    for end in (stroke.x0, stroke.x1):
        sides = [_tick(ink, stroke, end, side, half) for side in (-1, 1)]
        found = [tick for tick in sides if tick]
        centres.append(float(np.mean([centre for centre, _ in found])) if found else None)
        top = min([top, *(row for _, row in found)])
        bottom = max([bottom, *(row + 1 for _, row in found)])
    return replace(stroke, ticks=(centres[0], centres[1]), tick_rows=(top, bottom))


def _tick(
    ink: Grey, stroke: Stroke, end: float, side: int, half: float
) -> tuple[float, int] | None:
    """Centre of a tick at one end, above (-1) or below (1) the bar, and the row it reaches."""
    near = stroke.y0 - 2 if side < 0 else stroke.y1 + 1
    rows = np.arange(near, near + 2 * side, side)
    widest = 9
    inward = 1 if end == stroke.x0 else -1
    first = round(end - 0.5 + 0.5 * inward)
    columns = first + inward * np.arange(-2, widest)
    if rows.min() < 0 or rows.max() >= len(ink) or columns.min() < 0:
        return None
    if columns.max() >= ink.shape[1]:
        return None
    profile = ink[rows][:, columns].min(axis=0)
    marked = profile > half
    if not marked.any() or marked[-1] or int(np.argmax(marked)) > 3:
        return None
    start = int(np.argmax(marked))
    stop = start + int(np.argmin(marked[start:]))
    weight = np.clip(profile[max(0, start - 1) : stop + 1] - profile.min(), 0, None)
    centre = float(np.average(columns[max(0, start - 1) : stop + 1] + 0.5, weights=weight))
    column = columns[(start + stop - 1) // 2]
    row = int(rows[-1])
    while 0 <= row + side < len(ink) and ink[row + side, column] > half:
        row += side
    return centre, row
