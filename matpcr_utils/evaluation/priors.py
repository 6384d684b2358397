"""What a guesser without any knowledge would say: the plain priors, by the quantity asked for.

They are the priors of the chance-pass rate in `controls`; only the prior of a micrograph's scale,
which no control draws, is stated here.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from matpcr_utils import controls, items, oracles
from matpcr_utils.claims.model import CANONICAL_UNITS, ClaimTable
from matpcr_utils.evaluation import catalog

#: nm per pixel; the scale of a micrograph is log-uniform between these.
SCALE_PRIOR = (1e-2, 1e3)
#: Of the energies, gaps and moments among `items.QUESTIONS`.
_NUMBERS = ("energy_above_hull", "band_gap", "magnetization")


def draw(
    constraint: str,
    asks: str,
    references: Any,
    index: NDArray[np.intp],
    rng: np.random.Generator,
) -> ClaimTable:
    """One claim about each ``references[index[i]]`` from the plain prior.

    Parameters
    ----------
    constraint, asks : str
        A constraint type, and one of its quantities among `items.QUESTIONS`.
    references : optional
        As `controls.Design.draw_prior` takes them.
    index : ndarray of int, shape (n,)
    rng : Generator
    """
    design: Any = controls.design(constraint)
    if asks in _NUMBERS:
        return design.draw_number_prior(references, index, rng)
    if asks == "scale":
        low, high = np.log(SCALE_PRIOR)
        return ClaimTable.numbers("scale", np.exp(rng.uniform(low, high, len(index))))
    return design.draw_prior(references, index, rng)


@lru_cache(maxsize=256)
def chance_level(constraint: str, item_ids: tuple[str, ...], draws: int = 200) -> float:
    """How often a claim from the plain prior is consistent on these items, of those judged.

    Parameters
    ----------
    constraint : str
    item_ids : tuple of str
    draws : int
        Claims an item; the seed is fixed.

    Returns
    -------
    float
        NaN where no claim could be judged.
    """
    oracle, rng = oracles.get(constraint), np.random.default_rng(0)
    chosen = [catalog.get(item_id) for item_id in item_ids]
    passed = judged = 0
    for asks in sorted({item.asks for item in chosen}):
        group = [items.reference(item) for item in chosen if item.asks == asks]
        table, index = columns(constraint, group), np.repeat(np.arange(len(group)), draws)
        claims = draw(constraint, asks, table, index, rng)
        verdicts = oracle.check_many(claims, table, index=index)
        passed += int(verdicts.consistent.sum())
        judged += int((~verdicts.abstain).sum())
    return passed / judged if judged else float("nan")


def columns(constraint: str, references: Sequence[Any]) -> Any:
    """References of one constraint type in the form that controls and oracles take."""
    if constraint == "diffraction":
        from matpcr_utils.references.diffraction import LineTable

        return LineTable.from_references(references)
    if constraint == "microscopy":
        from matpcr_utils.oracles.microscopy import FieldOfViewTable

        return FieldOfViewTable.from_fields(references)
    if constraint == "spectra":
        from matpcr_utils.references.spectrum_table import SpectrumTable

        return SpectrumTable.from_spectra(references)
    return list(references)


def is_label(asks: str) -> bool:
    """Whether a class and not a number is asked for."""
    return CANONICAL_UNITS[asks] == "label"
