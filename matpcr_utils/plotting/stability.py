"""Figures of the stability chapter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from matpcr_utils.errors import MatPCRError
from matpcr_utils.oracles.stability import LABELS, Tolerances
from matpcr_utils.plotting import COLORS, _dft, axes

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from matpcr_utils.references.dft import DFTEntry, DFTTable


def hull(entries: Sequence[DFTEntry], tolerances: Tolerances | None = None) -> Figure:
    """Formation energies of a binary system over its convex hull.

    The hull belongs to the whole database, of which the entries may be a few. But each of them
    tells its height at their own composition, E_f − E_hull; between these points and the elements
    (zero by definition) the drawn line is a chord, and the true hull lies on it or below.

    Parameters
    ----------
    entries : sequence of DFTEntry
        Of a binary system, e.g. of ``dft.chemical_system("Cu-O")``.
    tolerances : Tolerances, optional

    Raises
    ------
    MatPCRError
        If the entries with both energies are not of two elements.
    """
    t = Tolerances() if tolerances is None else tolerances
    known = [e for e in entries if None not in (e.formation_energy_per_atom, e.energy_above_hull)]
    first, second = _two_elements(known)
    fraction = np.array([_fraction(e.formula, second) for e in known])
    formation = np.array([e.formation_energy_per_atom for e in known], float)
    above = np.array([e.energy_above_hull for e in known], float)
    x, floor = _envelope(fraction, formation - above)

    figure, panel = axes(height=4.0)
    panel.plot(x, floor, color=COLORS["reference"], linewidth=1.2, label="hull")
    panel.fill_between(
        x,
        floor,
        floor + t.threshold,
        color=COLORS["consistent"],
        alpha=0.2,
        linewidth=0,
        label=f"near-hull, up to {t.near_hull:g} eV/atom",
    )
    panel.vlines(fraction, formation - above, formation, color=COLORS["highlight"], linewidth=2.5)
    near = above <= t.threshold
    for mask, color, label in (
        (near, COLORS["consistent"], "“stable” passes"),
        (~near, COLORS["violation"], "“stable” violates"),
    ):
        panel.plot(fraction[mask], formation[mask], "o", color=color, label=label, zorder=3)
    _name_once(panel, known, fraction, formation)
    panel.axhline(0, color=COLORS["abstain"], linewidth=0.6)
    panel.set_xlim(-0.04, 1.09)
    panel.set_xlabel(f"fraction of {second} in {first}–{second}")
    panel.set_ylabel("formation energy (eV/atom)")
    figure.legend(loc="outside upper center", ncols=4, fontsize=9)
    return figure


def energies(references: DFTTable, tolerances: Tolerances | None = None) -> Figure:
    """How many references lie at or below each energy above the hull."""
    t = Tolerances() if tolerances is None else tolerances
    energy = references.energy_above_hull[np.isfinite(references.energy_above_hull)]
    figure, panel = axes(height=3.2)
    panel.ecdf(np.maximum(energy, 1e-4), color=COLORS["reference"])
    panel.set_xscale("log")
    panel.set_xlim(1e-4, 3)
    panel.set_ylim(min(0.7, float((energy <= t.hull_tolerance).mean()) - 0.05), 1.005)
    panel.axvspan(1e-4, max(t.threshold, 1e-4), color=COLORS["consistent"], alpha=0.15, linewidth=0)
    if t.near_hull > 1e-4:
        _dft.threshold(panel, t.near_hull, f"near_hull\n{t.near_hull:g}", height=0.3, left=True)
    if t.metastable_max != t.near_hull:
        text = f"metastable_max\n{t.metastable_max:g}"
        _dft.threshold(panel, t.metastable_max, text, height=0.3)
    panel.set_xlabel("energy above hull (eV/atom); on the hull: left edge")
    panel.set_ylabel("share of references")
    return figure


def decisions(tolerances: Tolerances | None = None) -> Figure:
    """Verdict on each label, along the reference's energy above the hull."""
    t = Tolerances() if tolerances is None else tolerances
    top = 1.25 * max(t.near_hull, t.metastable_max)
    values = np.linspace(-0.1 * top, top, 2201)
    return _dft.strips(
        "stability", LABELS, _Energies(values), values, "energy above hull (eV/atom)", t
    )


def versions(references: DFTTable, tolerances: Tolerances | None = None) -> Figure:
    """Energy above hull in two database versions, and where the verdict on "stable" changes."""
    t = Tolerances() if tolerances is None else tolerances
    known = references.take(np.isfinite(references.energy_above_hull_recent))
    old, new = known.energy_above_hull, known.energy_above_hull_recent
    changed = (old <= t.threshold) != (new <= t.threshold)
    figure, panel = axes(width=5.4, height=4.4)
    for mask, color, label in (
        (~changed, COLORS["consistent"], "same verdict"),
        (changed, COLORS["violation"], "verdict changes"),
    ):
        label = f"{label} ({int(mask.sum())})"
        panel.plot(old[mask], new[mask], "o", color=color, label=label, markersize=4, alpha=0.6)
    # Linear around the hull, logarithmic beyond: most energies are exactly zero.
    for scale in (panel.set_xscale, panel.set_yscale):
        scale("symlog", linthresh=0.01)
    panel.axvline(t.threshold, color=COLORS["reference"], linestyle="--", linewidth=1)
    panel.axhline(t.threshold, color=COLORS["reference"], linestyle="--", linewidth=1)
    panel.set_xlabel("energy above hull, version of the snapshot (eV/atom)")
    panel.set_ylabel("energy above hull, recent version (eV/atom)")
    panel.set_xlim(-0.002, 4)
    panel.set_ylim(-0.002, 4)
    figure.legend(loc="outside upper center", ncols=2)
    return figure


def sensitivity(frame: pd.DataFrame) -> Figure:
    """What the near-hull threshold admits and what it gets wrong by truths that stay.

    Parameters
    ----------
    frame : DataFrame
        From `controls.stability.sensitivity`.
    """
    figure, (left, right) = axes(1, 2, height=3.0)
    x = frame["near_hull (eV/atom)"]
    share = 100 * frame["admitted share"]
    left.plot(x, share, "o-", color=COLORS["highlight"])
    for at, height, count in zip(x, share, frame["of them off the strict hull"], strict=True):
        left.annotate(f"{count}", (at, height), (0, 6), textcoords="offset points", ha="center")
    left.set_ylim(0, max(1.18 * float(share.max()), 1))
    left.set_ylabel("off the strict hull, yet near-hull (%)")
    for name, color, marker in (
        ("missed, fixed truths", COLORS["violation"], "o-"),
        ("false alarms, fixed truths", COLORS["consistent"], "s--"),
    ):
        right.plot(x, frame[name], marker, color=color, label=name, markersize=5)
    right.set_ylim(bottom=0)
    right.set_ylabel("claims")
    right.legend(fontsize=9)
    for panel in (left, right):
        panel.set_xlabel("near_hull (eV/atom)")
    return figure


class _Energies:
    """References that hold nothing but an energy above the hull."""

    def __init__(self, energy_above_hull: Any) -> None:
        self.energy_above_hull = energy_above_hull

    def __len__(self) -> int:
        return len(self.energy_above_hull)


def _two_elements(entries: Sequence[DFTEntry]) -> tuple[str, str]:
    from pymatgen.core import Composition

    found = {str(element) for e in entries for element in Composition(e.formula)}
    if len(found) != 2:
        raise MatPCRError(
            f"a hull diagram needs a system of two elements, got {len(found)} "
            f"({', '.join(sorted(found)) or 'no entry'}): give a binary one, e.g. 'Cu-O'"
        )
    first, second = sorted(found, key=lambda name: Composition(name).elements[0].X)
    return first, second


def _fraction(formula: str, element: str) -> float:
    from pymatgen.core import Composition

    return float(Composition(formula).get_atomic_fraction(element))


def _envelope(x: np.ndarray, height: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lower convex envelope through the known hull heights and the two elements."""
    points = sorted({(0.0, 0.0), (1.0, 0.0), *zip(x.round(9), height, strict=True)})
    lower: list[tuple[float, float]] = []
    for point in points:
        while len(lower) > 1 and _turns_right(lower[-2], lower[-1], point):
            lower.pop()
        lower.append(point)
    return np.array([p[0] for p in lower]), np.array([p[1] for p in lower])


def _turns_right(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> bool:
    """Whether b lies on or above the chord from a to c (Andrew's monotone chain)."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) <= 0


def _name_once(
    panel: Any, entries: Sequence[DFTEntry], fraction: np.ndarray, formation: np.ndarray
) -> None:
    """Write each formula beside its lowest phase."""
    lowest: dict[str, int] = {}
    for row in np.argsort(formation):
        lowest.setdefault(entries[row].formula, int(row))
    for formula, row in lowest.items():
        place = (fraction[row], formation[row])
        panel.annotate(formula, place, (7, -4), textcoords="offset points")
