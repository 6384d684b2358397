"""Answers on which the oracle and the accuracy criterion disagree, made on purpose.

PCR is not accuracy under another name (paper, section 2.3). Here one plain kind of answer for each
constraint type shows why: most are wrong and consistent, one is right by the stricter reading and
flagged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from matpcr_utils import items
from matpcr_utils.claims.model import Claim
from matpcr_utils.items.model import Item

if TYPE_CHECKING:
    import pandas as pd

#: The answer in words, by constraint type.
ANSWERS: dict[str, str] = {
    "diffraction": "the strongest line elsewhere than was asked",
    "microscopy": "half the true size",
    "spectra": "another band of the same spectrum",
    "stability": "“unstable” of a phase up to 0.05 eV/atom above the hull",
    "metallicity": "twice the computed gap",
    "magnetism": "three times the computed moment",
}


def claim(item: Item) -> Claim | None:
    """The answer of `ANSWERS` to an item; None where it makes no sense."""
    return _ANSWERS[item.constraint](item)


def table(chosen: Sequence[Item]) -> pd.DataFrame:
    """How both yardsticks take the answers of `ANSWERS`, a row a constraint type."""
    import pandas as pd

    from matpcr_utils import oracles

    rows = []
    for name, answer in ANSWERS.items():
        pairs = [(i, c) for i in chosen if i.constraint == name and (c := claim(i)) is not None]
        if not pairs:
            continue
        oracle = oracles.get(name)
        outcomes = [str(oracle.check(c, items.reference(i)).outcome) for i, c in pairs]
        rows.append(
            {
                "constraint": name,
                "answer": answer,
                "items": len(pairs),
                "consistent": outcomes.count("consistent"),
                "flagged": outcomes.count("violation"),
                "accurate": sum(items.accurate(i, [c]) is True for i, c in pairs),
            }
        )
    return pd.DataFrame(rows)


def _diffraction(item: Item) -> Claim | None:
    lines = items.reference(item).table
    low, high = lines.window[0]
    fit = (lines.two_theta >= low) & (lines.two_theta <= high)
    fit &= np.abs(lines.two_theta - item.truth["value"]) > 1.0
    if not fit.any():
        return None
    best = int(np.argmax(np.where(fit, lines.intensity, -1.0)))
    return Claim("two_theta", float(lines.two_theta[best]))


def _microscopy(item: Item) -> Claim | None:
    if item.asks != "feature_size":
        return None
    return Claim("feature_size", item.truth["value"] / 2)


def _spectra(item: Item) -> Claim | None:
    from matpcr_utils.oracles import spectra as oracle
    from matpcr_utils.references.peaks import prepared
    from matpcr_utils.references.spectrum_table import SpectrumTable

    limits = oracle.Tolerances()
    found = prepared(items.reference(item), limits.preparation)
    bands = oracle.accepted(SpectrumTable.from_spectra([found], limits.preparation), limits)
    bands &= np.abs(found.position - item.truth["value"]) > 2 * limits.window
    if not bands.any():
        return None
    best = int(np.argmax(np.where(bands, found.prominence, -1.0)))
    return Claim("raman_shift", float(found.position[best]))


def _stability(item: Item) -> Claim | None:
    near = 1e-6 < items.reference(item).energy_above_hull <= 0.05
    return Claim("stability", "unstable") if near else None


def _metallicity(item: Item) -> Claim | None:
    gap = items.reference(item).band_gap
    return Claim("band_gap", 2 * gap) if gap > 0 else None


def _magnetism(item: Item) -> Claim | None:
    entry = items.reference(item)
    if item.difficulty["class"] != "finite_net":
        return None
    moment = abs(entry.total_magnetization) / entry.formula_units
    return Claim("magnetization", 3 * moment, basis="formula_unit")


_ANSWERS: dict[str, Callable[[Item], Claim | None]] = {
    "diffraction": _diffraction,
    "microscopy": _microscopy,
    "spectra": _spectra,
    "stability": _stability,
    "metallicity": _metallicity,
    "magnetism": _magnetism,
}
