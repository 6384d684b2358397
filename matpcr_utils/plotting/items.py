"""Figures of the chapter on items and prompts."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from matpcr_utils import items as package
from matpcr_utils.errors import MatPCRError
from matpcr_utils.items.model import Item
from matpcr_utils.plotting import COLORS, axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: What `difficulty` shows: the fact, its name on the axis, and whether the axis is logarithmic.
_SHOWN: dict[str, tuple[str, str, bool]] = {
    "diffraction": ("signal_to_noise", "signal to noise of the line", True),
    "microscopy": ("bar_px", "length of the scale bar / px", False),
    "spectra": ("share_of_range", "band / strongest band", False),
    "stability": ("distance_to_threshold", "|E_hull − 0.05| / (eV/atom)", True),
    "metallicity": ("distance_to_threshold", "|gap − nearest threshold| / eV", True),
    "magnetism": ("distance_to_threshold", "|moment − 0.05| / (μB/atom)", True),
}
#: What colours the bars of each constraint type, and the names of its classes in order.
_GROUP: dict[str, str] = {
    "diffraction": "kind",
    "microscopy": "scene",
    "spectra": "sample",
    "stability": "class",
    "metallicity": "class",
    "magnetism": "class",
}
_HUES = ("consistent", "violation", "highlight", "second", "chance")


def gallery(shown: Sequence[Item]) -> Figure:
    """Items as a model sees them: the image, or the first lines of the text.

    Raises
    ------
    MatPCRError
        If there is no item.
    """
    if not shown:
        raise MatPCRError("a gallery of 0 items: give at least one")
    rows = -(-len(shown) // 2)
    figure, panels = axes(rows, 2, height=2.55 * rows, squeeze=False)
    for panel in panels.flat:
        panel.set_axis_off()
    for panel, item in zip(panels.flat, shown, strict=False):
        if item.modality == "image":
            _picture(panel, item)
        else:
            _words(panel, item)
        kind = ", simulated" if item.facts["simulated"] else ""
        panel.set_title(f"{item.constraint} ({item.modality}{kind})", fontsize=10, loc="left")
    return figure


def _picture(panel: Axes, item: Item) -> None:
    from PIL import Image

    picture = np.asarray(Image.open(BytesIO(package.image(item))))
    panel.imshow(picture, cmap="gray", interpolation="antialiased")


def _words(panel: Axes, item: Item, lines: int = 15, width: int = 58) -> None:
    all_lines = package.text(item).splitlines()
    cut = [line if len(line) <= width else line[: width - 1] + "…" for line in all_lines[:lines]]
    if len(all_lines) > lines:
        cut.append(f"… and {len(all_lines) - lines} more")
    style: dict[str, Any] = {
        "family": "monospace",
        "fontsize": 6.2,
        "va": "top",
        "transform": panel.transAxes,
    }
    panel.text(0.0, 0.98, "\n".join(cut), **style)


def rendering(item: Item) -> Figure:
    """A pattern or spectrum, and the readings of it that its text rendering keeps.

    Raises
    ------
    MatPCRError
        If the item is neither.
    """
    from matpcr_utils.items import curves, diffraction, spectra

    if item.constraint == "diffraction":
        x, y = diffraction.curve(item)
        label = "2θ (degree)"
    elif item.constraint == "spectra":
        x, y = spectra.curve(item)
        label = "Raman shift (cm⁻¹)"
    else:
        raise MatPCRError(f"{item.item_id} is no curve: give a diffraction or spectra item")
    figure, panel = axes(height=3.0)
    panel.plot(x, y, color=COLORS["abstain"], linewidth=0.8, label="what an image shows")
    at, highest = curves.highest(x, y)
    panel.plot(at, highest, ".", color=COLORS["violation"], label="what the text keeps")
    panel.axvline(
        item.truth["value"], color=COLORS["consistent"], linestyle=":", label="accurate answer"
    )
    panel.set_xlabel(label)
    panel.set_ylabel("counts")
    panel.legend()
    return figure


def difficulty(shown: Sequence[Item]) -> Figure:
    """How hard the items are, a panel a constraint type, coloured by class or kind of input."""
    names = [name for name in _SHOWN if any(item.constraint == name for item in shown)]
    if not names:
        raise MatPCRError("a distribution of 0 items: give at least one")
    rows = -(-len(names) // 2)
    figure, panels = axes(rows, 2, height=2.3 * rows, squeeze=False)
    for panel in panels.flat[len(names) :]:
        panel.set_axis_off()
    for panel, name in zip(panels.flat, names, strict=False):
        _histogram(panel, [item for item in shown if item.constraint == name], name)
    for panel in panels[:, 0]:
        panel.set_ylabel("items")
    return figure


def _histogram(panel: Axes, own: Sequence[Item], name: str) -> None:
    from matplotlib.ticker import NullFormatter

    fact, label, log = _SHOWN[name]
    values = np.array([float(item.difficulty[fact]) for item in own])
    groups = [str(item.difficulty[_GROUP[name]]) for item in own]
    kinds = sorted(set(groups))
    if log:
        values = np.maximum(values, 1e-4)
        low, high = np.log10(values.min()), np.log10(values.max())
        bins = np.logspace(low - 0.01, high + 0.01, 19)
        panel.set_xscale("log")
        panel.xaxis.set_minor_formatter(NullFormatter())
    else:
        bins = np.linspace(values.min(), values.max() + 1e-9, 19)
    stacks = [values[[g == kind for g in groups]] for kind in kinds]
    colors = [COLORS[hue] for hue in _HUES[: len(kinds)]]
    names = [
        kind.replace("_", " ").replace("titanium dioxide in a polymer", "TiO₂") for kind in kinds
    ]
    panel.hist(stacks, bins=bins.tolist(), stacked=True, color=colors, label=names)
    panel.set_title(name, fontsize=10, loc="left")
    panel.set_xlabel(label, fontsize=9)
    panel.legend(fontsize=7)
