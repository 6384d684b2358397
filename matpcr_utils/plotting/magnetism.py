"""Figures of the magnetism chapter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from matpcr_utils.claims.model import ClaimTable
from matpcr_utils.oracles import magnetism
from matpcr_utils.oracles.magnetism import LABELS, Tolerances, moment_per_atom
from matpcr_utils.plotting import COLORS, _dft, axes

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from matpcr_utils.references.dft import DFTTable

#: μB/atom; the ends of the logarithmic axes. Smaller moments are noise of the calculation.
LOWEST, HIGHEST = 1e-4, 1e1


def moments(references: DFTTable, tolerances: Tolerances | None = None) -> Figure:
    """Absolute moments per atom of the references, against the threshold."""
    t = Tolerances() if tolerances is None else tolerances
    moment = moment_per_atom(references)
    moment = moment[np.isfinite(moment)]
    finite = moment > t.finite_min
    figure, panel = axes(height=3.2)
    bins = np.geomspace(LOWEST, HIGHEST, 51).tolist()
    for mask, color, label in (
        (~finite, COLORS["abstain"], "zero"),
        (finite, COLORS["highlight"], "finite"),
    ):
        panel.hist(
            np.clip(moment[mask], LOWEST, HIGHEST),
            bins=bins,
            color=color,
            alpha=0.8,
            label=f"{label} ({int(mask.sum())})",
        )
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.set_xlim(LOWEST, HIGHEST)
    if t.finite_min > LOWEST:
        _dft.threshold(panel, t.finite_min, f"finite_min {t.finite_min:g}")
    panel.set_xlabel("|M| (μB/atom); smaller ones in the first bar")
    panel.set_ylabel("references")
    figure.legend(loc="outside upper center", ncols=2)
    return figure


def plane(tolerances: Tolerances | None = None) -> Figure:
    """Verdict on a claimed number, for every pair of claimed and reference moment."""
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    t = Tolerances() if tolerances is None else tolerances
    axis = np.geomspace(1e-3, HIGHEST, 401)
    reference, claimed = (grid.ravel() for grid in np.meshgrid(axis, axis))
    claims = ClaimTable.numbers("magnetization", claimed, "atom")
    passes = magnetism.check_many(claims, _Moments(reference), t).consistent
    figure, panel = axes(width=5.0, height=4.4)
    colors = [COLORS["violation"], COLORS["consistent"]]
    panel.pcolormesh(
        axis,
        axis,
        passes.reshape(len(axis), -1),
        cmap=ListedColormap(colors),
        alpha=0.6,
        rasterized=True,
    )
    panel.plot(axis, axis, color="white", linewidth=1)
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.set_xlabel("reference |M| (μB/atom)")
    panel.set_ylabel("claimed |M| (μB/atom)")
    names = ("violation", "consistent")
    patches = [Patch(color=c, alpha=0.6, label=n) for n, c in zip(names, colors, strict=True)]
    figure.legend(handles=patches, loc="outside upper center", ncols=2)
    return figure


def decisions(tolerances: Tolerances | None = None) -> Figure:
    """Verdict on each label, along the reference's moment per atom."""
    t = Tolerances() if tolerances is None else tolerances
    values = np.linspace(0, max(3 * t.finite_min, 0.05), 2001)
    return _dft.strips("magnetism", LABELS, _Moments(values), values, "reference |M| (μB/atom)", t)


def sensitivity(frame: pd.DataFrame) -> Figure:
    """Looseness over threshold and decade, from `controls.magnetism.sensitivity`."""
    return _dft.heat_maps(
        frame,
        "finite_min (μB/atom)",
        "decade",
        [
            ("chance-pass of numbers", ".2f"),
            ("missed, fixed truths", ".0f"),
            ("false alarms, fixed truths", ".0f"),
        ],
    )


class _Moments:
    """References of one atom that hold nothing but a magnetization."""

    def __init__(self, total_magnetization: Any) -> None:
        self.total_magnetization = total_magnetization
        self.nsites = np.ones(len(total_magnetization))
        self.formula_units = self.nsites

    def __len__(self) -> int:
        return len(self.total_magnetization)
