"""Figures of the metallicity chapter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from matpcr_utils.oracles.metallicity import LABELS, Tolerances
from matpcr_utils.plotting import COLORS, _dft, axes

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from matpcr_utils.references.dft import DFTTable

#: eV; gaps are written to four decimals, so the smallest that is not zero.
SMALLEST = 1e-4


def gaps(references: DFTTable, tolerances: Tolerances | None = None) -> Figure:
    """Band gaps of the references: exact zeros as a bar, the others on a logarithmic axis."""
    t = Tolerances() if tolerances is None else tolerances
    gap = references.band_gap[np.isfinite(references.band_gap)]
    figure, (left, right) = axes(1, 2, height=3.4, width_ratios=[1, 7])
    left.bar([0], [(gap <= 0).sum()], 0.6, color=COLORS["consistent"], alpha=0.75)
    left.annotate(
        f"{int((gap <= 0).sum())}",
        (0, (gap <= 0).sum()),
        (0, 3),
        textcoords="offset points",
        ha="center",
    )
    left.set_xticks([0], ["exactly 0"])
    left.set_xlim(-0.7, 0.7)
    left.set_ylabel("references")
    bins = np.geomspace(SMALLEST, 10, 51)
    right.hist(gap[gap > 0], bins=bins.tolist(), color=COLORS["reference"], alpha=0.55)
    right.set_xscale("log")
    right.set_xlim(SMALLEST, 10)
    low = max(t.zero_max, SMALLEST)
    right.axvspan(SMALLEST, low, color=COLORS["consistent"], alpha=0.15, linewidth=0)
    right.axvspan(low, max(t.nonzero_min, low), color=COLORS["abstain"], alpha=0.35, linewidth=0)
    right.axvspan(max(t.nonzero_min, low), 10, color=COLORS["highlight"], alpha=0.15, linewidth=0)
    top = right.get_ylim()[1]
    right.set_ylim(0, 1.2 * top)
    band = (gap > t.zero_max) & (gap < t.nonzero_min)
    small = (gap > 0) & (gap <= t.zero_max)
    for x, text in (
        (np.sqrt(SMALLEST * low), f"zero\n{int(small.sum())}"),
        (np.sqrt(low * max(t.nonzero_min, low)), f"abstains\n{int(band.sum())}"),
        (np.sqrt(max(t.nonzero_min, low) * 10), f"nonzero\n{int((gap >= t.nonzero_min).sum())}"),
    ):
        right.annotate(
            text, (x, 0.98), xycoords=("data", "axes fraction"), ha="center", va="top", fontsize=9
        )
    right.set_xlabel("band gap (eV)")
    return figure


def decisions(tolerances: Tolerances | None = None) -> Figure:
    """Verdict on each label, along the reference's band gap."""
    t = Tolerances() if tolerances is None else tolerances
    values = np.linspace(0, max(1.6 * t.nonzero_min, 0.1), 2001)
    return _dft.strips("metallicity", LABELS, _Gaps(values), values, "reference band gap (eV)", t)


def sensitivity(frame: pd.DataFrame) -> Figure:
    """Cost of the two ends of the band, from `controls.metallicity.sensitivity`."""
    return _dft.heat_maps(
        frame,
        "zero_max (eV)",
        "nonzero_min (eV)",
        [
            ("excluded share", ".1%"),
            ("small gaps called zero", ".0f"),
            ("missed, fixed truths", ".0f"),
        ],
    )


class _Gaps:
    """References that hold nothing but a band gap."""

    def __init__(self, band_gap: Any) -> None:
        self.band_gap = band_gap

    def __len__(self) -> int:
        return len(self.band_gap)
