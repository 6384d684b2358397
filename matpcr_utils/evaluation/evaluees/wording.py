"""One claim in one sentence, in words that the extractor of claims reads back."""

from __future__ import annotations

from matpcr_utils.claims.model import Claim

_LABELS = {
    "stable": "This phase is stable.",
    "unstable": "This phase is unstable.",
    "metastable": "This phase is metastable.",
    "zero_gap": "This compound is a metal.",
    "nonzero_gap": "This compound has a band gap.",
    "semimetal": "This compound is a semimetal.",
    "finite_net": "This compound has a net magnetic moment.",
    "zero_net": "This compound has no net magnetic moment.",
}
_NUMBERS = {
    "two_theta": "The strongest line is at 2θ = {value:.3f}°.",
    "feature_size": "The diameter of the feature is {value:.5g} nm.",
    "scale": "The scale is {value:.5g} nm/px.",
    "raman_shift": "The strongest band is at {value:.1f} cm⁻¹.",
    "energy_above_hull": "The energy above the hull is {value:.3g} eV/atom.",
    "band_gap": "The band gap is {value:.3g} eV.",
    "magnetization": "The net magnetization is {value:.3g} μB per {basis}.",
}


def sentence(claim: Claim) -> str:
    """A claim in words."""
    if isinstance(claim.value, str):
        return _LABELS[claim.value]
    basis = (claim.basis or "formula_unit").replace("_", " ")
    return _NUMBERS[claim.quantity].format(value=claim.value, basis=basis)
