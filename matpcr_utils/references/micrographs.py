"""Micrographs with known truth: generated scenes with a burned-in scale bar and databar.

They are simulated, and marked so wherever they are shown. What is true of one (pixel size, length
and label of the bar, sizes of the features) is known exactly, so they measure a detector.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from matpcr_utils.errors import MatPCRError
from matpcr_utils.references import micrograph_overlay as overlay
from matpcr_utils.references.micrograph_overlay import Box, Style
from matpcr_utils.references.micrograph_scenes import KINDS

if TYPE_CHECKING:
    from PIL.Image import Image

#: Leading digits of a scale bar's label.
_NICE = (1.0, 2.0, 5.0)
_SHAPES = ((480, 640), (768, 1024), (768, 1024), (884, 1024), (960, 1280))


@dataclass(frozen=True)
class Micrograph:
    """A generated image and everything that is true of it.

    Attributes
    ----------
    pixels : ndarray of uint8, shape (height, width)
        Grey levels, databar included.
    pixel_size_nm : float
        nm per pixel.
    bar_px : int or None
        Length of the drawn bar in pixels: a solid bar's extent; between the centres of the
        ticks for a bracket. None without a bar. It is ``label_nm / pixel_size_nm`` rounded, as
        an instrument has to round it.
    bar_box, label_box : tuple of int or None
        x0, y0, x1, y1 in pixels; the last row and column lie outside.
    label, label_nm : str, float or None
        As written, and its length.
    features_nm : ndarray of float, shape (n,)
        True sizes: diameters of particles, widths of fibres, equivalent diameters of pores.
    databar_height : int
        Rows at the bottom that show no sample; 0 without a databar.
    kind : str
        A key of `KINDS`.
    style : Style
    seed : int
    simulated : bool
        Always True.
    """

    pixels: NDArray[np.uint8]
    pixel_size_nm: float
    bar_px: int | None
    bar_box: Box | None
    label_box: Box | None
    label: str | None
    label_nm: float | None
    features_nm: NDArray[np.float64]
    databar_height: int
    kind: str
    style: Style
    seed: int
    simulated: bool = True

    @property
    def name(self) -> str:
        """Kind and seed, which make the image again."""
        return f"{self.kind}-{self.seed} (simulated)"

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Style and truth as plain values, for a table."""
        plain = {f.name: getattr(self.style, f.name) for f in fields(self.style)}
        return {"kind": self.kind, "seed": self.seed, "label": self.label, **plain}


def generate(
    seed: int, *, kind: str | None = None, unusual: bool = False, **style: Any
) -> Micrograph:
    """A micrograph whose scene, scale and overlay are drawn from `seed`.

    Parameters
    ----------
    seed : int
        The same seed and options give the same pixels.
    kind : {"particles", "fibres", "porous"}, optional
        Drawn from the seed when not given.
    unusual : bool
        Draw the bar from `UNUSUAL_BARS` and store at low JPEG quality more often: the styles on
        which the detector's limits were not chosen.
    **style
        Fields of `Style` to fix, e.g. ``bar="bracket"``; the others are drawn.

    Returns
    -------
    Micrograph

    Raises
    ------
    MatPCRError
        If the kind or a field of the style is unknown.
    """
    if kind is not None and kind not in KINDS:
        raise MatPCRError(f"unknown kind {kind!r}: choose one of {', '.join(KINDS)}")
    rng = np.random.default_rng([seed, 0x5EA])
    kind = str(rng.choice(list(KINDS))) if kind is None else kind
    height, width = _SHAPES[int(rng.integers(len(_SHAPES)))]
    pixel_size = float(np.exp(rng.uniform(np.log(0.2), np.log(200))))
    label_nm, length = _bar(rng, pixel_size, width)
    chosen = _choose(_draw_style(rng, label_nm, width, unusual), style)
    if chosen.bar == "interrupted":  # a bar too short to hold its label is drawn whole
        left, _, right, _ = overlay.text_box(_label(label_nm, chosen), chosen)
        if length < right - left + 3 * chosen.font_px:
            chosen = replace(chosen, bar="bracket")
    levels, sizes = KINDS[kind](rng, height, width)
    canvas = _expose(levels, chosen, rng)
    tall = _databar_height(chosen, rng, height)
    image, truth, tone = _burn_in(canvas, chosen, length, label_nm, tall, pixel_size, rng)
    return Micrograph(
        pixels=_store(image, chosen),
        pixel_size_nm=pixel_size,
        bar_px=length if truth else None,
        bar_box=truth[0] if truth else None,
        label_box=truth[1] if truth else None,
        label=truth[2] if truth else None,
        label_nm=label_nm if truth else None,
        features_nm=sizes * pixel_size,
        databar_height=tall,
        kind=kind,
        style=replace(chosen, tone=tone),
        seed=seed,
    )


def _bar(rng: np.random.Generator, pixel_size: float, width: int) -> tuple[float, int]:
    """A label of one leading digit whose bar takes 5 to 33 % of the width."""
    wanted = rng.uniform(0.05, 0.33) * width * pixel_size
    decade = 10.0 ** np.floor(np.log10(wanted))
    nice = np.array([digit * decade * scale for digit in _NICE for scale in (0.1, 1.0)])
    label_nm = float(nice[(nice <= wanted) | (nice == nice.min())].max())
    if label_nm / pixel_size < 0.04 * width:
        label_nm *= 2
    return float(f"{label_nm:.3g}"), round(label_nm / pixel_size)


def _draw_style(rng: np.random.Generator, label_nm: float, width: int, unusual: bool) -> Style:
    scale = width / 1024
    place = str(rng.choice(["databar", "image"]))
    micro = label_nm >= 1000 or (label_nm >= 100 and rng.random() < 0.15)
    return Style(
        bar=str(rng.choice(overlay.UNUSUAL_BARS if unusual else overlay.BARS)),
        place=place,
        tone=str(rng.choice(["dark", "light"])),
        label_side=str(rng.choice(overlay.SIDES)),
        font=str(rng.choice(overlay.FONTS)),
        font_px=int(rng.integers(round(14 * scale) + 2, round(30 * scale) + 3)),
        bar_px=int(rng.integers(2, round(12 * scale) + 3)),
        line_px=int(rng.integers(1, 4)),
        tick_px=int(rng.integers(round(8 * scale) + 3, round(22 * scale) + 4)),
        unit="µm" if micro else "nm",
        micro=str(rng.choice(["µ", "µ", "μ", "u"])),
        blank=bool(rng.random() < 0.7),
        databar=place == "databar" or bool(rng.random() < 0.4),
        frame=bool(rng.random() < 0.4),
        backing=bool(rng.random() < 0.35),
        corner=str(rng.choice(["left", "right", "centre"])),
        top=bool(rng.random() < 0.2),
        smooth_text=bool(rng.random() < 0.8),
        noise=float(rng.uniform(1, 18)),
        blur=float(rng.uniform(0, 1.5)),
        after_blur=float(rng.choice([0, 0, 0, 0.5, 0.7])),
        jpeg=int(rng.choice([30, 45, 60] if unusual else [0, 0, 0, 75, 90])),
        levels=(float(rng.uniform(0, 70)), float(rng.uniform(140, 250))),
        inverted=bool(rng.random() < 0.3),
    )


def _choose(drawn: Style, wanted: Mapping[str, Any]) -> Style:
    unknown = set(wanted) - {f.name for f in fields(Style)}
    if unknown:
        raise MatPCRError(
            f"unknown style {', '.join(sorted(unknown))}: "
            f"choose of {', '.join(f.name for f in fields(Style))}"
        )
    style = replace(drawn, **wanted)
    if style.place == "databar" and not style.databar:
        style = replace(style, databar=True)
    if style.font == "default":  # has no micro sign, and writes u as instruments do then
        style = replace(style, micro="u")
    if style.bar not in (*overlay.BARS, *overlay.UNUSUAL_BARS, "none"):
        raise MatPCRError(
            f"unknown bar {style.bar!r}: "
            f"choose one of {', '.join((*overlay.BARS, *overlay.UNUSUAL_BARS, 'none'))}"
        )
    return style


def _expose(levels: NDArray[np.float64], style: Style, rng: np.random.Generator) -> Image:
    """Blur, stretch and add noise to a scene."""
    from PIL import Image
    from scipy.ndimage import gaussian_filter

    low, high = style.levels
    levels = 1 - levels if style.inverted else levels
    grey = low + (high - low) * gaussian_filter(levels, style.blur)
    grey += rng.normal(0, style.noise, grey.shape)
    return Image.fromarray(np.clip(np.rint(grey), 0, 255).astype(np.uint8))


def _databar_height(style: Style, rng: np.random.Generator, height: int) -> int:
    """Room for one or two lines of text, and for the bar with its label."""
    if not style.databar:
        return 0
    stacked = style.label_side in ("above", "below")
    need = max(style.tick_px, style.bar_px) + (style.font_px * 1.8 if stacked else 0)
    need = max(need, 1.5 * style.font_px) if style.place == "databar" else 1.5 * style.font_px
    return int(max(need + 14, rng.uniform(0.05, 0.1) * height))


def _burn_in(
    image: Image,
    style: Style,
    length: int,
    label_nm: float,
    tall: int,
    pixel_size: float,
    rng: np.random.Generator,
) -> tuple[Image, tuple[Box, Box, str] | None, str]:
    """Draw databar, bar and label; returns boxes of bar and label, the label, and the tone."""
    from PIL import ImageDraw

    width, height = image.size
    draw = ImageDraw.Draw(image)
    draw.fontmode = "L" if style.smooth_text else "1"
    ink, paper = (0, 255) if style.tone == "dark" else (255, 0)
    # A bar on the image leaves the databar its own tone.
    base = (ink, paper) if style.place == "databar" or rng.random() < 0.5 else (paper, ink)
    if tall:
        draw.rectangle((0, height - tall, width, height), fill=base[1])
        if style.frame:
            draw.rectangle((0, height - tall, width - 1, height - 1), outline=base[0])
    block = None if style.bar == "none" else overlay.layout(style, length, _label(label_nm, style))
    corner = _corner(style, block[2], width, height, tall, rng) if block else (0, 0)
    if tall:
        taken = (corner[0], corner[0] + block[2][0]) if block and style.place == "databar" else None
        _fill_databar(draw, style, base[0], (width, height, tall), taken, pixel_size, rng)
    if block is None:
        return image, None, style.tone
    label = _label(label_nm, style)
    if style.place == "image":
        ink, paper = _readable(image, style, corner, block[2], ink, draw)
    (x0, y0, x1, y1), anchor, _ = block
    bar_box = (x0 + corner[0], y0 + corner[1], x1 + corner[0], y1 + corner[1])
    left, top, right, bottom = overlay.text_box(label, style)
    at = (anchor[0] + corner[0], anchor[1] + corner[1])
    label_box = (at[0] + left, at[1] + top, at[0] + right, at[1] + bottom)
    gap = (label_box[0] - style.font_px // 2, label_box[2] + style.font_px // 2)
    overlay.draw_bar(draw, bar_box, style, ink, gap)
    draw.text(at, label, fill=ink, font=overlay.font(style.font, style.font_px))
    return image, (bar_box, label_box, label), "dark" if ink == 0 else "light"


def _label(label_nm: float, style: Style) -> str:
    number = f"{label_nm / 1000:g}" if style.unit == "µm" else f"{label_nm:g}"
    unit = style.unit.replace("µ", style.micro)
    return f"{number}{' ' if style.blank else ''}{unit}"


def _corner(
    style: Style,
    size: tuple[int, int],
    width: int,
    height: int,
    tall: int,
    rng: np.random.Generator,
) -> tuple[int, int]:
    """Upper left corner of the block of bar and label."""
    margin = int(rng.integers(10, 30))
    x = {"left": margin, "right": width - size[0] - margin, "centre": (width - size[0]) // 2}
    if style.place == "databar":
        y = height - tall + (tall - size[1]) // 2
    else:
        y = margin if style.top else height - tall - size[1] - margin
    return x[style.corner], y


def _readable(
    image: Image, style: Style, corner: tuple[int, int], size: tuple[int, int], ink: int, draw: Any
) -> tuple[int, int]:
    """Ink that stands out where the block lies; with a backing box, the ink asked for."""
    pad = 6
    area = (corner[0] - pad, corner[1] - pad, corner[0] + size[0] + pad, corner[1] + size[1] + pad)
    if style.backing:
        draw.rectangle(area, fill=255 - ink)
        return ink, 255 - ink
    mean = float(np.asarray(image.crop(area)).mean())
    # An operator picks the tone that can be read; only a clear scene leaves a choice.
    if abs(mean - ink) < 90:
        ink = 255 if mean < 128 else 0
    return ink, 255 - ink


def _fill_databar(
    draw: Any,
    style: Style,
    ink: int,
    size: tuple[int, int, int],
    taken: tuple[int, int] | None,
    pixel_size: float,
    rng: np.random.Generator,
) -> None:
    """Write fields from left to right where the bar leaves room."""
    width, height, tall = size
    small = replace(style, font_px=max(12, round(0.8 * style.font_px)))
    rows = [height - tall // 2 - small.font_px // 2]
    if tall > 3.2 * small.font_px:
        rows = [height - tall + 6, height - small.font_px - 8]
    x, row = 12, 0
    for text in overlay.databar_texts(rng, pixel_size * width):
        wide = overlay.text_box(text, small)[2] + 24
        if taken and x < taken[1] + 30 and x + wide > taken[0] - 30:
            x = taken[1] + 30
        if x + wide > width:
            row, x = row + 1, 12
            if taken and x < taken[1] + 30 and x + wide > taken[0] - 30:
                x = taken[1] + 30
        if row >= len(rows) or x + wide > width:
            return
        draw.text((x, rows[row]), text, fill=ink, font=overlay.font(small.font, small.font_px))
        x += wide


def _store(image: Image, style: Style) -> NDArray[np.uint8]:
    """What a file would hold: blurred by resampling and compressed, when the style says so."""
    from PIL import Image, ImageFilter

    if style.after_blur:
        image = image.filter(ImageFilter.GaussianBlur(style.after_blur))
    if style.jpeg:
        buffer = BytesIO()
        image.save(buffer, format="JPEG", quality=style.jpeg)
        image = Image.open(buffer)
    return np.asarray(image.convert("L"), np.uint8).copy()
