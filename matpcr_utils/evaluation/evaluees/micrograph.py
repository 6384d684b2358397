"""Measuring a micrograph: nm per pixel by its scale bar, and the largest feature by its shape."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]

#: Pixels; features that are smaller than this across are noise.
_SMALLEST = 6
#: Room around the scale bar and its label that is left out, in pixels.
_MARGIN = 6


def scale(image: NDArray[np.uint8]) -> float:
    """nm per pixel.

    Raises
    ------
    ScaleBarNotFound
        If no scale bar can be read.
    """
    from matpcr_utils.references import scalebar

    return scalebar.detect(image).pixel_size_nm


def largest(image: NDArray[np.uint8], kind: str) -> float:
    """Size of the largest feature, in nm.

    Parameters
    ----------
    image : ndarray of uint8, shape (height, width)
    kind : {"particle", "fibre", "pore"}
        A particle is measured by the largest disc that fits into what is told from the background,
        a fibre by the median width along a stretch without a crossing, a pore by its area.

    Raises
    ------
    ScaleBarNotFound
        If no scale bar can be read.
    """
    from matpcr_utils.references import scalebar

    bar = scalebar.detect(image)
    hidden = np.zeros(image.shape, bool)
    for x0, y0, x1, y1 in (bar.box, bar.label_box):
        low_y, low_x = max(0, int(y0) - _MARGIN), max(0, int(x0) - _MARGIN)
        hidden[low_y : int(y1) + _MARGIN, low_x : int(x1) + _MARGIN] = True
    pixels = {"particle": _particle, "fibre": _fibre, "pore": _pore}[kind](image, hidden)
    return pixels * bar.pixel_size_nm


def _classes(image: NDArray[np.uint8], hidden: Mask) -> Mask:
    """Features, told from a slowly varying background; they cover less than half the picture."""
    from skimage.filters import gaussian, threshold_otsu

    smooth = gaussian(image.astype(float), 1.5)
    shown = smooth[~hidden]
    mask = smooth > threshold_otsu(shown)
    if mask[~hidden].mean() > 0.5:
        mask = ~mask
    return mask & ~hidden


def _width(distance: Any) -> Any:
    """Across, in pixels, from the distance of a middle pixel to the nearest one outside."""
    return np.maximum(2.0 * distance - 1.0, 0.0)


def _particle(image: NDArray[np.uint8], hidden: Mask) -> float:
    from scipy.ndimage import binary_fill_holes, distance_transform_edt

    mask = binary_fill_holes(_classes(image, hidden))
    return float(_width(distance_transform_edt(mask).max()))


def _fibre(image: NDArray[np.uint8], hidden: Mask) -> float:
    from scipy.ndimage import binary_dilation, convolve, distance_transform_edt, label
    from skimage.morphology import remove_small_objects, skeletonize

    mask = remove_small_objects(_classes(image, hidden), max_size=_SMALLEST**3)
    width = _width(distance_transform_edt(mask))
    middle = skeletonize(mask)
    neighbours = convolve(middle.astype(int), np.ones((3, 3), int), mode="constant") - 1
    crossings = middle & (neighbours > 2)
    reach = max(_SMALLEST, int(np.percentile(width[middle], 90))) if middle.any() else _SMALLEST
    disc = np.hypot(*np.mgrid[-reach : reach + 1, -reach : reach + 1]) <= reach
    branches, count = label(middle & ~binary_dilation(crossings, disc), np.ones((3, 3)))
    sizes = np.bincount(branches.ravel())
    widths = [
        float(np.median(width[branches == number]))
        for number in range(1, count + 1)
        if sizes[number] >= 4 * _SMALLEST
    ]
    return max(widths, default=float(width.max()))


def _pore(image: NDArray[np.uint8], hidden: Mask) -> float:
    from skimage.measure import label, regionprops
    from skimage.segmentation import clear_border

    inside = clear_border(label(_classes(image, hidden)))
    return max((r.equivalent_diameter_area for r in regionprops(inside)), default=0.0)
