"""Stability: is a phase on, near or above the convex hull of its chemical system?

A phase is thermodynamically stable when no mixture of other phases of the same composition has a
lower energy: its energy above the convex hull, E_hull, is zero. The paper (sections 4.4 and S1.3)
accepts "stable" up to E_hull = 0.05 eV/atom, a screening threshold (*near-hull*) in place of the
strict one, for DFT energies of competing phases carry errors of tens of meV per atom. Both
readings are given here: the verdict is the operational one, the strict one stands beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from matpcr_utils.claims.model import Claim, ClaimTable, basis_code, label_code
from matpcr_utils.errors import MatPCRError
from matpcr_utils.oracles import _dft
from matpcr_utils.oracles.base import Outcome, Verdict, VerdictTable, rows_of

CONSTRAINT = "stability"
LABELS = ("stable", "unstable", "metastable")
#: eV/atom; a larger threshold is one in another unit (50 meV typed as 50).
MAX_ENERGY = 10.0

REASONS: dict[str, Outcome] = {
    "stable_on_hull": Outcome.CONSISTENT,
    "stable_near_hull": Outcome.CONSISTENT,
    "stable_above_threshold": Outcome.VIOLATION,
    "unstable_above_threshold": Outcome.CONSISTENT,
    "unstable_near_hull": Outcome.VIOLATION,
    "unstable_on_hull": Outcome.VIOLATION,
    "unstable_undecided": Outcome.ABSTAIN,
    "metastable_in_range": Outcome.CONSISTENT,
    "metastable_on_hull": Outcome.VIOLATION,
    "metastable_out_of_range": Outcome.VIOLATION,
    "energy_near_hull_agrees": Outcome.CONSISTENT,
    "energy_above_threshold_agrees": Outcome.CONSISTENT,
    "energy_claimed_too_low": Outcome.VIOLATION,
    "energy_claimed_too_high": Outcome.VIOLATION,
    "basis_unknown": Outcome.ABSTAIN,
    "reference_missing": Outcome.ABSTAIN,
}

_SENTENCES = {
    "stable_on_hull": "the reference lies on the hull, as “stable” says",
    "stable_near_hull": "E_hull = {reference:.4g} eV/atom is within the near-hull threshold of "
    "{near_hull:g}, so “stable” passes (strictly, the phase lies above the hull)",
    "stable_above_threshold": "“stable” needs E_hull of at most {near_hull:g} eV/atom; the "
    "reference has {reference:.4g}",
    "unstable_above_threshold": "E_hull = {reference:.4g} eV/atom is above the near-hull "
    "threshold of {near_hull:g}, as “unstable” says",
    "unstable_near_hull": "“unstable” needs E_hull above {near_hull:g} eV/atom; the reference has "
    "{reference:.4g} (strictly, the phase does lie above the hull)",
    "unstable_on_hull": "“unstable” contradicts a reference on the hull",
    "unstable_undecided": "E_hull = {reference:.4g} eV/atom is above the hull but within the "
    "near-hull threshold of {near_hull:g}: “unstable” is not judged there",
    "metastable_in_range": "E_hull = {reference:.4g} eV/atom is above the hull by no more than "
    "{metastable_max:g}, as “metastable” says",
    "metastable_on_hull": "“metastable” contradicts a reference on the hull, which is stable",
    "metastable_out_of_range": "“metastable” needs E_hull of at most {metastable_max:g} eV/atom; "
    "the reference has {reference:.4g}",
    "energy_near_hull_agrees": "the claimed {claimed:.4g} and the reference's {reference:.4g} "
    "eV/atom are both within the near-hull threshold of {near_hull:g}",
    "energy_above_threshold_agrees": "the claimed {claimed:.4g} and the reference's "
    "{reference:.4g} eV/atom are both above the near-hull threshold of {near_hull:g}",
    "energy_claimed_too_low": "the claimed {claimed:.4g} eV/atom is near-hull, the reference's "
    "{reference:.4g} is above the threshold of {near_hull:g}",
    "energy_claimed_too_high": "the claimed {claimed:.4g} eV/atom is above the near-hull threshold "
    "of {near_hull:g}, the reference's {reference:.4g} is not",
    "basis_unknown": "the claimed energy counts a {basis}, and the reference does not say how many "
    "atoms that is",
    "reference_missing": "the reference has no energy above the hull",
}


@dataclass(frozen=True)
class Tolerances:
    """Thresholds on the energy above the hull.

    Attributes
    ----------
    near_hull : float
        eV/atom; at or below it "stable" is consistent, above it "unstable" is. The paper's 0.05.
    metastable_max : float
        eV/atom; "metastable" is consistent for an energy above the hull, up to and including this.
    hull_tolerance : float
        eV/atom; energies up to it are on the hull, which absorbs the rounding of databases.
        Negative ones are on the hull too.
    abstain_near_hull : bool
        Do not judge "unstable" between the hull and `near_hull`, where it is strictly right and
        operationally wrong.

    Raises
    ------
    MatPCRError
        If a threshold is negative or above `MAX_ENERGY`, or `metastable_max` leaves no room above
        the hull.
    """

    near_hull: float = 0.05
    metastable_max: float = 0.2
    hull_tolerance: float = 1e-6
    abstain_near_hull: bool = False

    def __post_init__(self) -> None:
        _dft.limit("near_hull", self.near_hull, 0, MAX_ENERGY, "eV/atom", 0.05)
        _dft.limit("metastable_max", self.metastable_max, 0, MAX_ENERGY, "eV/atom", 0.2)
        _dft.limit("hull_tolerance", self.hull_tolerance, 0, MAX_ENERGY, "eV/atom", 1e-6)
        _dft.switch("abstain_near_hull", self.abstain_near_hull)
        if self.metastable_max <= self.hull_tolerance:
            raise MatPCRError(
                f"metastable_max = {self.metastable_max:g} eV/atom must exceed hull_tolerance = "
                f"{self.hull_tolerance:g}, e.g. 0.2"
            )

    @property
    def threshold(self) -> float:
        """eV/atom; where "stable" ends: `near_hull`, but never below the hull's own tolerance."""
        return max(self.near_hull, self.hull_tolerance)

    def strict(self) -> Tolerances:
        """The thermodynamic reading: stable on the hull, unstable anywhere above it."""
        return replace(self, near_hull=0.0, abstain_near_hull=False)


def check(claim: Claim, reference: Any, tolerances: Tolerances | None = None) -> Verdict:
    """Judge one stability claim against one reference.

    Parameters
    ----------
    claim : Claim
        ``stability`` ("stable", "unstable", "metastable") or ``energy_above_hull`` (eV per basis;
        per atom when no basis is stated).
    reference : DFTEntry
        Read are ``energy_above_hull`` and, to convert a basis, ``nsites`` and ``formula_units``.
    tolerances : Tolerances, optional

    Returns
    -------
    Verdict
        ``details["strict"]`` is the outcome of the strict thermodynamic reading.

    Raises
    ------
    MatPCRError
        If the claim is another constraint's, or its number is not finite.
    """
    tolerances = Tolerances() if tolerances is None else tolerances
    table = check_many([claim], [reference], tolerances)
    reason = str(table.reason_names[0])
    number = not isinstance(claim.value, str)
    details: dict[str, Any] = {
        "energy_above_hull": getattr(reference, "energy_above_hull", None),
        "near_hull": tolerances.near_hull,
        "metastable_max": tolerances.metastable_max,
        "strict": str(strict([claim], [reference], tolerances).outcomes[0]),
    }
    if number:
        per_atom = float(_per_atom(ClaimTable.from_claims([claim]), [reference], None)[0])
        details["claimed_per_atom"] = per_atom if np.isfinite(per_atom) else None
    words = {
        "reference": details["energy_above_hull"],
        "claimed": details.get("claimed_per_atom"),
        "basis": str(claim.basis).replace("_", " "),
        "near_hull": tolerances.near_hull,
        "metastable_max": tolerances.metastable_max,
    }
    return Verdict(REASONS[reason], reason, _SENTENCES[reason].format_map(words), details)


def check_many(
    claims: ClaimTable | Sequence[Claim],
    references: Any,
    tolerances: Tolerances | None = None,
    *,
    index: NDArray[np.intp] | None = None,
) -> VerdictTable:
    """Judge claim i against reference ``index[i]`` (reference i when `index` is None).

    A claimed number is consistent when it puts the phase on the same side of the near-hull
    threshold as the reference does: the paper's criterion is a class, not a distance. A claimed
    negative energy is on the hull, like a negative reference.

    Parameters
    ----------
    claims : ClaimTable or sequence of Claim, n of them
    references : DFTTable or sequence of DFTEntry
    tolerances : Tolerances, optional
    index : ndarray of int, shape (n,), optional

    Raises
    ------
    MatPCRError
        As `check`; and when `index` does not fit.
    """
    t = Tolerances() if tolerances is None else tolerances
    table = _dft.table_of(claims, CONSTRAINT, LABELS)
    index = rows_of(len(table), len(references), index)
    energy = _dft.column(references, "energy_above_hull", index)
    claimed = _per_atom(table, references, index)

    missing = ~_dft.finite(energy)
    on_hull, near = energy <= t.hull_tolerance, energy <= t.threshold
    stable, unstable, metastable = (table.label == label_code(label) for label in LABELS)
    number, claimed_near = table.label < 0, claimed <= t.threshold
    undecided = unstable & near if t.abstain_near_hull else np.zeros_like(unstable)
    return VerdictTable(
        _dft.decide(
            REASONS,
            [
                ("reference_missing", missing),
                ("basis_unknown", number & np.isnan(claimed)),
                ("energy_near_hull_agrees", number & claimed_near & near),
                ("energy_claimed_too_low", number & claimed_near),
                ("energy_claimed_too_high", number & near),
                ("energy_above_threshold_agrees", number),
                ("stable_on_hull", stable & on_hull),
                ("stable_near_hull", stable & near),
                ("stable_above_threshold", stable),
                ("metastable_on_hull", metastable & on_hull),
                ("metastable_in_range", metastable & (energy <= t.metastable_max)),
                ("metastable_out_of_range", metastable),
                ("unstable_on_hull", unstable & on_hull),
                ("unstable_undecided", undecided),
                ("unstable_near_hull", unstable & near),
                ("unstable_above_threshold", unstable),
            ],
        ),
        REASONS,
    )


def strict(
    claims: ClaimTable | Sequence[Claim],
    references: Any,
    tolerances: Tolerances | None = None,
    *,
    index: NDArray[np.intp] | None = None,
) -> VerdictTable:
    """`check_many` by the strict thermodynamic reading, `Tolerances.strict`."""
    tolerances = Tolerances() if tolerances is None else tolerances
    return check_many(claims, references, tolerances.strict(), index=index)


def _per_atom(table: ClaimTable, references: Any, index: NDArray[np.intp] | None) -> _dft.Floats:
    """Claimed energies in eV/atom; NaN for labels and where the basis can't be converted."""
    if not (table.basis > basis_code("atom")).any():
        return _dft.rounded(table.value)
    atoms = _dft.atoms_per(table.basis, *_dft.sizes(references, index))
    return _dft.rounded(table.value / atoms)
