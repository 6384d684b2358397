"""What a chemist says of a composition without a calculation: rules of thumb, pymatgen's tables.

Nothing here was fitted to the items or to the DFT data that they are judged by.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from matpcr_utils.claims.model import Claim
from matpcr_utils.errors import MatPCRError

if TYPE_CHECKING:
    from pymatgen.core import Composition

#: eV/atom; what is said of a phase whose charges do, or do not, balance.
_ON_HULL, _OFF_HULL = 0.0, 0.1
#: Pauling; a smaller difference between the ends of a compound means shared electrons.
_POLAR = 0.9
#: Largest number of atoms in a formula for which oxidation states are tried.
_MOST_ATOMS = 60
_FORMULA = re.compile(r"^Formula: (\S+) \(", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Reading:
    """A composition as a chemist sees it.

    Attributes
    ----------
    balanced : bool
        Whether common oxidation states add up to zero.
    metals_only : bool
    polarity : float
        Largest difference of electronegativities (Pauling).
    moment : float
        Spin moment in μB per formula unit, of high-spin ions in octahedra, or of the elements
        when no oxidation states are found.
    """

    balanced: bool
    metals_only: bool
    polarity: float
    moment: float


def claim(text: str, asks: str) -> Claim:
    """What the rules of thumb say of a structure in words.

    Parameters
    ----------
    text : str
        Holds a line ``Formula: NaCl (…``; the last one counts.
    asks : str
        A quantity of stability, metallicity or magnetism.

    Raises
    ------
    MatPCRError
        If there is no formula.
    """
    found = _FORMULA.findall(text)
    if not found:
        raise MatPCRError("the question shows no formula")
    seen = read(found[-1])
    gap = _gap(seen)
    magnetic = seen.moment > 0.5
    # A balanced compound of unlike elements is what forms; others are found only as alloys.
    stable = seen.balanced or (seen.metals_only and seen.polarity < _POLAR)
    said: dict[str, tuple[float | str, str | None]] = {
        "stability": ("stable" if stable else "unstable", None),
        "energy_above_hull": (_ON_HULL if stable else _OFF_HULL, "atom"),
        "metallicity": ("nonzero_gap" if gap > 0 else "zero_gap", None),
        "band_gap": (gap, None),
        "magnetism": ("finite_net" if magnetic else "zero_net", None),
        "magnetization": (seen.moment if magnetic else 0.0, "formula_unit"),
    }
    value, basis = said[asks]
    return Claim(asks, value, basis=basis)


@lru_cache(maxsize=1024)
def read(formula: str) -> Reading:
    """Look a composition up.

    Raises
    ------
    MatPCRError
        If the formula can't be read.
    """
    from pymatgen.core import Composition

    try:
        composition = Composition(formula, strict=True)
    except ValueError as error:
        raise MatPCRError(f"formula {formula!r} can't be read: {error}") from error
    reduced, _ = composition.get_reduced_composition_and_factor()
    metals_only = all(element.is_metal for element in reduced)
    states: dict[str, float] = {}
    if not metals_only and len(reduced) > 1 and reduced.num_atoms <= _MOST_ATOMS:
        guesses = reduced.oxi_state_guesses(max_sites=-1)
        states = dict(guesses[0]) if guesses else {}
    strengths = [element.X for element in reduced if element.X == element.X]
    return Reading(
        balanced=bool(states),
        metals_only=metals_only,
        polarity=max(strengths) - min(strengths) if strengths else 0.0,
        moment=_moment(reduced, states),
    )


def _gap(seen: Reading) -> float:
    """eV; none in a metal, else wider the more polar the bonds are."""
    if seen.metals_only or not seen.balanced:
        return 0.0
    # Wide-gap fluorides differ by about 3 and have gaps near 7 eV; PBE gives a little less.
    return max(0.3, 2.5 * (seen.polarity - 0.5))


def _moment(composition: Composition, states: dict[str, float]) -> float:
    from pymatgen.core import Species

    total = 0.0
    for element, amount in composition.items():
        spins: Any = 0
        if element.is_transition_metal and element.row == 4 and element.symbol in states:
            try:
                spins = Species(element.symbol, states[element.symbol]).get_crystal_field_spin()
            except (AttributeError, ValueError):
                spins = 0
        elif element.is_rare_earth and element.symbol not in ("La", "Lu", "Y", "Sc"):
            electrons = max(0, int(element.Z) - 57)
            spins = min(electrons, 14 - electrons)
        elif element.symbol in ("Fe", "Co", "Ni", "Mn") and not states:
            spins = {"Fe": 2.2, "Co": 1.6, "Ni": 0.6, "Mn": 2.0}[element.symbol]
        total += float(spins) * amount
    return total
