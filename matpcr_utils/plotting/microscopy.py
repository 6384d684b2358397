"""Figures of the microscopy chapter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from matpcr_utils.errors import MatPCRError
from matpcr_utils.oracles.microscopy import EXTENTS, FieldOfView, Tolerances
from matpcr_utils.plotting import COLORS, axes

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from matpcr_utils.controls.scalebar import Trial
    from matpcr_utils.references.micrographs import Micrograph
    from matpcr_utils.references.sem import Calibration, SEMImage


def gallery(
    images: Sequence[Micrograph | SEMImage],
    calibrations: Sequence[Calibration],
    *,
    columns: int = 3,
    truth: bool = False,
    close: bool = False,
) -> Figure:
    """Micrographs with the detected bar and label framed, and what was read as the title.

    Parameters
    ----------
    images, calibrations : sequences of equal length
    columns : int
    truth : bool
        Frame the true bar of generated images too.
    close : bool
        Show the surroundings of the bar only.

    Raises
    ------
    MatPCRError
        If there is no image.
    """
    if not len(images):
        raise MatPCRError("a gallery of 0 images: give at least one")
    columns = min(columns, len(images))
    rows = -(-len(images) // columns)
    figure, panels = axes(rows, columns, height=rows * (6.4 / columns) + 0.1, squeeze=False)
    for panel in panels.flat:
        panel.set_axis_off()
    for panel, image, calibration in zip(panels.flat, images, calibrations, strict=False):
        _show(panel, image)
        box = getattr(image, "bar_box", None)
        if truth and box:
            _frame(panel, box, COLORS["second"], pad=9)
        bar = calibration.bar
        if bar:
            _frame(panel, bar.box, COLORS["violation"])
            _frame(panel, bar.label_box, COLORS["highlight"])
            read = f"{bar.label}, {bar.length_px:.1f} px → {bar.pixel_size_nm:.3g} nm/px"
        else:
            read = "no scale bar found"
        if close and (box or bar):
            _close_up(panel, image, [b for b in (box, bar and bar.box, bar and bar.label_box) if b])
        size = 9 if columns > 2 else 10
        panel.set_title(f"{image.name}\n{read}", fontsize=size, loc="left")
    return figure


def field_of_view(
    image: Micrograph | SEMImage, field: FieldOfView, calibration: Calibration
) -> Figure:
    """An image with its bar, and the three extents that the bar makes known."""
    figure, panel = axes(height=5.6)
    _show(panel, image)
    panel.set_axis_off()
    if calibration.bar:
        _frame(panel, calibration.bar.box, COLORS["violation"], pad=5)
        _frame(panel, calibration.bar.label_box, COLORS["highlight"])
    width, height = field.width_px, field.height_px
    lines = {
        "width": ((0.02 * width, 0.06 * height), (0.98 * width, 0.06 * height)),
        "height": ((0.04 * width, 0.02 * height), (0.04 * width, 0.98 * height)),
        "diagonal": ((0.02 * width, 0.02 * height), (0.98 * width, 0.98 * height)),
    }
    for extent, (start, stop) in lines.items():
        style = {"arrowstyle": "<->", "color": COLORS["highlight"], "linewidth": 2}
        panel.annotate("", stop, start, arrowprops=style)
        size = field.extent_nm(extent)
        text = f"{extent} {size:.4g} nm" if size else extent
        at = ((start[0] + stop[0]) / 2, (start[1] + stop[1]) / 2)
        panel.text(
            *at,
            text,
            ha="center",
            va="center",
            rotation=90 if extent == "height" else 0,
            fontsize=9,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 2},
        )
    panel.set_title(f"{image.name}: {calibration.note}", fontsize=9, loc="left", wrap=True)
    return figure


def decisions(field: FieldOfView, tolerances: Tolerances | None = None) -> Figure:
    """The verdict on a claimed size along the axis of lengths, for each extent."""
    t = Tolerances() if tolerances is None else tolerances
    if field.pixel_size_nm is None:
        raise MatPCRError("a field of view without a pixel size bounds nothing: calibrate it first")
    low, high = field.pixel_size_nm / 10, float(field.extent_nm("diagonal") or 0) * 30
    figure, panel = axes(height=2.3)
    for y, extent in enumerate(EXTENTS):
        limit = float(field.extent_nm(extent) or 0) * (1 + t.size_tolerance)
        panel.barh(y, limit - low, left=low, height=0.6, color=COLORS["consistent"], alpha=0.75)
        panel.barh(y, high - limit, left=limit, height=0.6, color=COLORS["violation"], alpha=0.75)
        panel.annotate(f"{limit:.4g} nm", (limit, y), (4, -3), textcoords="offset points")
    panel.axvline(field.pixel_size_nm, color=COLORS["reference"], linestyle=":", linewidth=1.2)
    panel.annotate(
        "one pixel", (field.pixel_size_nm, len(EXTENTS) - 0.45), (4, 0), textcoords="offset points"
    )
    panel.set_xscale("log")
    panel.set_xlim(low, high)
    panel.set_ylim(-0.6, len(EXTENTS) - 0.1)
    panel.set_yticks(range(len(EXTENTS)), EXTENTS)
    panel.set_xlabel("claimed size / nm (blue: consistent, orange: violation)")
    return figure


def length_errors(trial: Trial) -> Figure:
    """Error of the bar's length and of the pixel size on each image where a bar was found."""
    figure, panels = axes(1, 2, height=2.9, sharey=True)
    kinds = (
        (trial.length_error, "length in pixels, against the drawn bar"),
        (trial.pixel_size_error, "nm per pixel, against the truth"),
    )
    for panel, (error, title) in zip(panels, kinds, strict=True):
        known = 100 * error[np.isfinite(error) & trial.correct]
        panel.hist(known, bins=np.linspace(-3, 3, 49).tolist(), color=COLORS["consistent"])
        panel.set_title(title, fontsize=10)
        panel.set_xlabel("relative error / %")
        panel.set_xlim(-3, 3)
    panels[0].set_ylabel("images")
    return figure


def scale_tolerances(grid: pd.DataFrame) -> Figure:
    """Shares of true and of wrong scale claims that pass, against the tolerance."""
    figure, panel = axes(height=3.0)
    colors = ("consistent", "highlight", "violation", "chance")
    markers = "osD^"
    names = [column for column in grid.columns if column.endswith("passes")]
    for name, color, marker in zip(names, colors, markers, strict=True):
        x, y = grid["scale tolerance"], grid[name]
        label = name.removesuffix(", passes")
        panel.plot(x, y, f"{marker}-", color=COLORS[color], label=label)
    panel.set_xscale("log")
    panel.set_xlabel("scale tolerance, relative")
    panel.set_ylabel("share of claims that pass")
    panel.set_ylim(-0.05, 1.05)
    panel.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), title="claimed scale")
    return figure


def _show(panel: Axes, image: Micrograph | SEMImage) -> None:
    panel.imshow(image.pixels, cmap="gray", vmin=0, vmax=255, interpolation="antialiased")


def _close_up(panel: Axes, image: Micrograph | SEMImage, boxes: list[tuple[float, ...]]) -> None:
    """Limit a panel to what surrounds some boxes, in the image's own proportions."""
    height, width = image.pixels.shape[:2]
    corners = np.array(boxes, np.float64)
    low, high = corners[:, :2].min(axis=0), corners[:, 2:].max(axis=0)
    share = min(1.0, max(0.4, 1.5 * float(((high - low) / (width, height)).max())))
    for limit, middle, extent in (
        (panel.set_xlim, (low[0] + high[0]) / 2, width),
        (panel.set_ylim, (low[1] + high[1]) / 2, height),
    ):
        start = float(np.clip(middle - share * extent / 2, 0, extent - share * extent))
        limit(start, start + share * extent)
    panel.invert_yaxis()


def _frame(panel: Axes, box: tuple[float, float, float, float], color: str, pad: float = 4) -> None:
    from matplotlib.patches import Rectangle

    x0, y0, x1, y1 = box
    corner, width, height = (x0 - pad, y0 - pad), x1 - x0 + 2 * pad, y1 - y0 + 2 * pad
    panel.add_patch(
        Rectangle(corner, width, height, fill=False, edgecolor=color, linewidth=1.6, clip_on=False)
    )
