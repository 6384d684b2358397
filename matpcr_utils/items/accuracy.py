"""Is the answer right? A criterion of its own, tighter than the oracle's.

The oracle asks whether a claim agrees with the physics of the reference; accuracy asks whether it
answers the question that was put. The two disagree both ways (paper, section 2.3): a line that
exists but is not the strongest one is consistent and wrong; a phase 0.01 eV/atom above the hull
that is called unstable is right by the strict hull and flagged by the near-hull threshold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from matpcr_utils.claims.model import CONSTRAINTS, Claim
from matpcr_utils.items.model import Item
from matpcr_utils.oracles.base import Outcome

#: Degree on 2θ between the claim and the line asked for.
TWO_THETA = 0.1
#: Relative error of a feature's size, and of the scale.
FEATURE_SIZE = 0.1
SCALE = 0.03
#: 1/cm between the claim and the band asked for.
RAMAN_SHIFT = 2.0
#: Relative error of an energy, a gap or a magnetization.
SHARE = 0.2
#: The least room for such numbers: eV/atom, eV, and μB/atom.
ENERGY_ABOVE_HULL = 0.02
BAND_GAP = 0.05
MAGNETIZATION = 0.01

#: The criterion of each constraint type in words.
CRITERIA: dict[str, str] = {
    "diffraction": f"within {TWO_THETA}° on 2θ of the line asked for (d and q are converted)",
    "microscopy": f"within {FEATURE_SIZE:.0%} of the size asked for, {SCALE:.0%} of the scale",
    "spectra": f"within {RAMAN_SHIFT:g} cm⁻¹ of the band asked for",
    "stability": "a class by the strict hull (“stable” only at 0 eV/atom, “unstable” anywhere "
    f"above, “metastable” above by at most 0.2); a number within {SHARE:.0%} or "
    f"{ENERGY_ABOVE_HULL} eV/atom, whichever is more",
    "metallicity": "a class by whether the computed gap is above 0; a number within "
    f"{SHARE:.0%} or {BAND_GAP} eV, whichever is more",
    "magnetism": "the oracle's class; a number within "
    f"{SHARE:.0%} or {MAGNETIZATION} μB/atom, whichever is more",
}

#: Relative room for binary rounding at the inclusive ends.
_ROUNDING = 1e-9


def accurate(item: Item, claims: Sequence[Claim]) -> bool | None:
    """Whether the claims of an answer are right, by `CRITERIA`.

    Parameters
    ----------
    item : Item
    claims : sequence of Claim
        As read from the answer. Claims of another constraint are passed over, and so, on
        micrographs, is a size where the scale was asked for, or the reverse. An answer by class
        counts where a number was asked for.

    Returns
    -------
    bool or None
        True if every claim that can be judged is right, False if one is wrong, None if there is
        none to judge.
    """
    judge = _JUDGES[item.constraint]
    known = CONSTRAINTS[item.constraint]
    found = [judge(item, claim) for claim in claims if claim.quantity in known]
    judged = [right for right in found if right is not None]
    return all(judged) if judged else None


def _near(claimed: float, true: float, room: float) -> bool:
    return abs(claimed - true) <= room * (1 + _ROUNDING)


def _diffraction(item: Item, claim: Claim) -> bool | None:
    from matpcr_utils import items
    from matpcr_utils.oracles import diffraction

    verdict = diffraction.check(claim, items.reference(item))
    angle = verdict.details.get("two_theta")
    # A spacing or angle that Bragg's law forbids has no angle to compare.
    return False if angle is None else _near(angle, item.truth["value"], TWO_THETA)


def _microscopy(item: Item, claim: Claim) -> bool | None:
    if claim.quantity != item.asks:
        return None
    share = FEATURE_SIZE if item.asks == "feature_size" else SCALE
    return _near(float(claim.value), item.truth["value"], share * item.truth["value"])


def _spectra(item: Item, claim: Claim) -> bool | None:
    return _near(float(claim.value), item.truth["value"], RAMAN_SHIFT)


def _stability(item: Item, claim: Claim) -> bool | None:
    from matpcr_utils import items
    from matpcr_utils.oracles import stability

    entry = items.reference(item)
    if isinstance(claim.value, str):
        return _verdict(str(stability.strict([claim], [entry]).outcomes[0]))
    claimed = stability.check(claim, entry).details["claimed_per_atom"]
    energy = entry.energy_above_hull
    return (
        None if claimed is None else _near(claimed, energy, max(SHARE * energy, ENERGY_ABOVE_HULL))
    )


def _metallicity(item: Item, claim: Claim) -> bool | None:
    from matpcr_utils import items
    from matpcr_utils.oracles import metallicity

    entry = items.reference(item)
    if isinstance(claim.value, str):
        strict = metallicity.Tolerances(zero_max=0.0, nonzero_min=0.0)
        return _verdict(str(metallicity.check(claim, entry, strict).outcome))
    return _near(float(claim.value), entry.band_gap, max(SHARE * entry.band_gap, BAND_GAP))


def _magnetism(item: Item, claim: Claim) -> bool | None:
    from matpcr_utils import items
    from matpcr_utils.oracles import magnetism

    entry = items.reference(item)
    if isinstance(claim.value, str):
        return _verdict(str(magnetism.check(claim, entry).outcome))
    # Formula units are asked for; an answer that names no basis is taken to follow the question.
    atoms = {"atom": 1.0, "cell": float(entry.nsites)}.get(
        claim.basis or "", entry.nsites / entry.formula_units
    )
    moment = abs(entry.total_magnetization) / entry.nsites
    claimed = abs(float(claim.value)) / atoms
    return _near(claimed, moment, max(SHARE * moment, MAGNETIZATION))


def _verdict(outcome: str) -> bool | None:
    return None if outcome == Outcome.ABSTAIN else outcome == Outcome.CONSISTENT


_JUDGES: dict[str, Callable[[Item, Claim], bool | None]] = {
    "diffraction": _diffraction,
    "microscopy": _microscopy,
    "spectra": _spectra,
    "stability": _stability,
    "metallicity": _metallicity,
    "magnetism": _magnetism,
}
