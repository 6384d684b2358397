"""What an instrument burns into a micrograph: scale bar, its label, and the databar's text."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont

Box = tuple[int, int, int, int]

#: Fonts that every installation has: Pillow's own ("default"), and those of matplotlib.
FONTS = ("default", "DejaVuSans", "DejaVuSans-Bold", "DejaVuSansMono", "DejaVuSerif", "STIXGeneral")
SIDES = ("above", "below", "right", "left")
BARS = ("solid", "bracket")
#: Styles that only the held-out set holds; the detector's limits were not chosen on them.
UNUSUAL_BARS = ("half-bracket", "interrupted", "outlined", "arrow")
#: Bars that end in ticks: their length is taken between the centres of the ticks.
TICKED = ("bracket", "half-bracket", "interrupted")


@dataclass(frozen=True)
class Style:
    """How the overlay looks; every field can be chosen in `micrographs.generate`.

    Attributes
    ----------
    bar : str
        One of `BARS`, `UNUSUAL_BARS`, or ``"none"`` for an image without a scale bar.
    place : {"databar", "image"}
        Where the bar stands; an image may have a databar and carry its bar in the picture.
    tone : {"dark", "light"}
        Of bar and label: dark on light, or light on dark. On a scene that leaves no choice the
        readable one is taken.
    label_side : str
        Of the bar, one of `SIDES`.
    font : str
        One of `FONTS`.
    font_px, bar_px, line_px, tick_px : int
        Pixels: font size; bar thickness; thickness of a bracket's lines; height of its ticks.
    unit : {"nm", "µm"}
        Unit of the label.
    micro : str
        How the micro sign is written: ``"µ"`` (U+00B5), ``"μ"`` (U+03BC) or ``"u"``.
    blank : bool
        Whether a blank stands between number and unit.
    databar : bool
        Whether there is a databar.
    frame : bool
        Whether lines frame the databar.
    backing : bool
        Whether a plain box lies behind a bar on the image.
    corner : str
        ``"left"``, ``"right"`` or ``"centre"`` of the image or databar.
    top : bool
        Whether a bar on the image stands in its upper part.
    smooth_text : bool
        Whether letters are anti-aliased.
    noise : float
        Standard deviation, in grey levels, of the detector's noise.
    blur, after_blur : float
        Gaussian blur in pixels of the scene, and of the finished image (0 for none).
    jpeg : int
        JPEG quality of the stored image; 0 for none.
    levels : tuple of float
        Darkest and brightest grey level of the scene.
    inverted : bool
        Whether the scene is a negative, as in bright-field transmission.
    """

    bar: str
    place: str
    tone: str
    label_side: str
    font: str
    font_px: int
    bar_px: int
    line_px: int
    tick_px: int
    unit: str
    micro: str
    blank: bool
    databar: bool
    frame: bool
    backing: bool
    corner: str
    top: bool
    smooth_text: bool
    noise: float
    blur: float
    after_blur: float
    jpeg: int
    levels: tuple[float, float]
    inverted: bool


@cache
def font(name: str, size: int) -> FreeTypeFont:
    """A scalable font by its name in `FONTS`."""
    from PIL import ImageFont

    if name == "default":
        return ImageFont.load_default(size)  # type: ignore[return-value]
    from matplotlib import get_data_path

    return ImageFont.truetype(str(Path(get_data_path()) / "fonts" / "ttf" / f"{name}.ttf"), size)


def text_box(text: str, style: Style) -> Box:
    """Bounding box of a text drawn at the origin."""
    left, top, right, bottom = font(style.font, style.font_px).getbbox(text)
    return int(left), int(top), int(np.ceil(right)), int(np.ceil(bottom))


def layout(style: Style, length: int, label: str) -> tuple[Box, tuple[int, int], tuple[int, int]]:
    """Place label and bar relative to each other.

    Returns
    -------
    bar : tuple of int
        x0, y0, x1, y1 of the bar with its ticks, in a frame whose origin is the block's corner.
    anchor : tuple of int
        Where the label is drawn.
    size : tuple of int
        Width and height of the block.
    """
    left, top, right, bottom = text_box(label, style)
    text_w, text_h = right - left, bottom - top
    thick = style.line_px if style.bar in TICKED else 0
    tall = style.bar_px if style.bar in ("solid", "outlined") else style.tick_px
    bar_w, gap = length + thick, max(4, style.font_px // 3)
    if style.bar == "interrupted":
        tall = max(tall, text_h)
        bar = (0, 0, bar_w, tall)
        return bar, ((bar_w - text_w) // 2 - left, (tall - text_h) // 2 - top), (bar_w, tall)
    if style.label_side in ("above", "below"):
        wide = max(bar_w, text_w)
        bar_x, text_x = (wide - bar_w) // 2, (wide - text_w) // 2
        above = style.label_side == "above"
        bar_y, text_y = (text_h + gap, 0) if above else (0, tall + gap)
        size = (wide, text_h + gap + tall)
    else:
        high = max(tall, text_h)
        bar_y, text_y = (high - tall) // 2, (high - text_h) // 2
        right_of = style.label_side == "right"
        bar_x, text_x = (0, bar_w + gap) if right_of else (text_w + gap, 0)
        size = (bar_w + gap + text_w, high)
    bar = (bar_x, bar_y, bar_x + bar_w, bar_y + tall)
    return bar, (text_x - left, text_y - top), size


def draw_bar(draw: ImageDraw, box: Box, style: Style, ink: int, gap: tuple[int, int]) -> None:
    """Draw a scale bar into its box.

    Parameters
    ----------
    draw : PIL.ImageDraw.ImageDraw
    box : tuple of int
        x0, y0, x1, y1; the last row and column are not drawn.
    style : Style
    ink : int
        Grey level.
    gap : tuple of int
        Columns left free for the label of an interrupted bar.
    """
    x0, y0, x1, y1 = box
    middle, line = (y0 + y1 - style.line_px) // 2, style.line_px

    def fill(left: int, top: int, right: int, bottom: int, level: int = ink) -> None:
        draw.rectangle((left, top, right - 1, bottom - 1), fill=level)

    if style.bar == "outlined":
        fill(x0 - 1, y0 - 1, x1 + 1, y1 + 1, 255 - ink)
    if style.bar in ("solid", "outlined"):
        fill(x0, y0, x1, y1)
        return
    if style.bar == "half-bracket":
        middle = y1 - line
    if style.bar == "interrupted":
        fill(x0, middle, gap[0], middle + line)
        fill(gap[1], middle, x1, middle + line)
    else:
        fill(x0, middle, x1, middle + line)
    if style.bar == "arrow":
        half = max(3, style.tick_px // 3)
        centre = middle + line // 2
        draw.polygon(
            [(x0, centre), (x0 + 2 * half, centre - half), (x0 + 2 * half, centre + half)], ink
        )
        draw.polygon(
            [
                (x1 - 1, centre),
                (x1 - 1 - 2 * half, centre - half),
                (x1 - 1 - 2 * half, centre + half),
            ],
            ink,
        )
        return
    fill(x0, y0, x0 + line, y1)
    fill(x1 - line, y0, x1, y1)


def databar_texts(rng: np.random.Generator, width_nm: float) -> list[str]:
    """Fields of a databar, several of them numbers with units that are no scale bar's label."""
    kv, wd = rng.choice([1, 2, 3, 5, 10, 15, 20, 30]), rng.uniform(2, 15)
    mag = rng.choice([1, 2, 5, 10, 20, 50, 100, 200])
    width = f"{width_nm / 1000:.2f} µm" if width_nm >= 1000 else f"{width_nm:.1f} nm"
    month = rng.choice(["Jan", "Mar", "May", "Jul", "Oct", "Dec"])
    families = [
        [f"EHT = {kv:.2f} kV", f"WD = {wd:.1f} mm", f"Mag = {mag:.2f} K X", "Signal A = SE2",
         f"Width = {width}", f"Date :{rng.integers(1, 29)} {month} 2021"],
        [f"HV {kv:.2f} kV", f"WD {wd:.1f} mm", f"mag {mag * 1000:,} x", "det ETD", f"HFW {width}"],
        ["SEI", f"{kv:.1f}kV", f"X{mag * 1000:,}", f"WD {wd:.1f}mm"],
        [f"{kv:.1f}kV {wd:.1f}mm x{mag}.0k SE(U)", f"{rng.integers(1, 13)}/15/2019"],
    ]  # fmt: skip
    chosen = list(families[int(rng.integers(len(families)))])
    rng.shuffle(chosen)
    return chosen[: int(rng.integers(2, len(chosen) + 1))]
