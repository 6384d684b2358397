"""Microstructures with known feature sizes, drawn as an electron microscope might show them.

Each scene returns grey levels in [0, 1] and the sizes of what was drawn, both in pixels; the
caller scales, darkens and blurs. Shading imitates secondary electrons (bright edges) and is no
model of contrast formation.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Scene = tuple[NDArray[np.float64], NDArray[np.float64]]


def particles(rng: np.random.Generator, height: int, width: int) -> Scene:
    """Discs with log-normal diameters; the sizes are the diameters.

    Parameters
    ----------
    rng : numpy.random.Generator
    height, width : int
        Pixels.

    Returns
    -------
    levels : ndarray of float, shape (height, width)
    sizes : ndarray of float, shape (n_particles,)
        Diameters in pixels of the particles whose centre lies in the image.
    """
    levels = _cloud(rng, height, width) * 0.15 + 0.15
    count = int(rng.integers(20, 90))
    radius = np.clip(rng.lognormal(np.log(width / 45), 0.4, count), 3.0, width / 8)
    centre_x, centre_y = rng.uniform(0, width, count), rng.uniform(0, height, count)
    shade = rng.uniform(0.4, 0.65, count)
    for x, y, r, base in zip(centre_x, centre_y, radius, shade, strict=True):
        rows = slice(max(0, int(y - r)), min(height, int(y + r) + 2))
        columns = slice(max(0, int(x - r)), min(width, int(x + r) + 2))
        yy, xx = np.ogrid[rows, columns]
        inside = ((xx - x) ** 2 + (yy - y) ** 2) / r**2
        levels[rows, columns] = np.where(
            inside <= 1, base + 0.35 * inside**2, levels[rows, columns]
        )
    return levels, 2 * radius


def fibres(rng: np.random.Generator, height: int, width: int) -> Scene:
    """Straight fibres across the image at random angles; the sizes are their widths.

    Parameters and returns are those of `particles`.
    """
    levels = _cloud(rng, height, width) * 0.1 + 0.1
    count = int(rng.integers(8, 24))
    thickness = np.clip(rng.lognormal(np.log(width / 70), 0.4, count), 4.0, width / 12)
    x = np.arange(width, dtype=np.float64)[None, :]
    y = np.arange(height, dtype=np.float64)[:, None]
    for t in thickness:
        angle = rng.uniform(0, np.pi)
        offset = (x - rng.uniform(0, width)) * np.sin(angle)
        offset = (offset - (y - rng.uniform(0, height)) * np.cos(angle)) / (t / 2)
        inside = np.abs(offset) <= 1
        levels[inside] = rng.uniform(0.4, 0.6) + 0.35 * offset[inside] ** 2
    return levels, thickness


def porous(rng: np.random.Generator, height: int, width: int) -> Scene:
    """A solid with pores, a level cut of a smooth random field; the sizes are pore diameters.

    Parameters and returns are those of `particles`; a size is the diameter of the disc with the
    pore's area, for pores that do not touch the border.
    """
    from scipy.ndimage import gaussian_filter, zoom
    from skimage.measure import label, regionprops
    from skimage.segmentation import clear_border

    coarse = 4  # the field is smooth on this scale, and a sixteenth of the pixels is quick
    shape = (-(-height // coarse), -(-width // coarse))
    field = gaussian_filter(rng.standard_normal(shape), rng.uniform(2.5, 6.0), mode="wrap")
    field = (field - field.mean()) / field.std()
    cut = rng.uniform(0.3, 0.9)
    fine = zoom(field, coarse, order=1)[:height, :width]
    pores = regionprops(label(clear_border(field > cut)))
    sizes = np.array([p.equivalent_diameter_area * coarse for p in pores if p.area >= 6])
    edge = np.exp(-(((fine - cut) / 0.18) ** 2))
    depth = np.clip(fine - cut, 0, 1.5)
    return np.clip(0.55 - 0.35 * depth + 0.3 * edge * (fine < cut), 0, 1), sizes


def _cloud(rng: np.random.Generator, height: int, width: int) -> NDArray[np.float64]:
    """A slowly varying background in [0, 1]."""
    from scipy.ndimage import zoom

    knots = rng.uniform(0, 1, (5, 6))
    smooth = zoom(knots, (height / 5, width / 6), order=3)[:height, :width]
    return np.clip(smooth, 0, 1)


KINDS: dict[str, Callable[[np.random.Generator, int, int], Scene]] = {
    "particles": particles,
    "fibres": fibres,
    "porous": porous,
}
