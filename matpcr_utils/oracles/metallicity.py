"""Metallicity: does the computed band gap vanish, or not?

The paper (section 4.4) calls a DFT gap of at most 0.05 eV zero, one of at least 0.20 eV nonzero,
and judges nothing in between, where smearing, the k-point mesh and the functional's own error
decide. A claimed number is classed by the same thresholds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from matpcr_utils.claims.model import Claim, ClaimTable, label_code
from matpcr_utils.errors import MatPCRError
from matpcr_utils.oracles import _dft
from matpcr_utils.oracles.base import Outcome, Verdict, VerdictTable, rows_of

CONSTRAINT = "metallicity"
LABELS = ("zero_gap", "nonzero_gap", "semimetal")
#: eV; a larger threshold is one in another unit (200 meV typed as 200).
MAX_GAP = 20.0

REASONS: dict[str, Outcome] = {
    "zero_gap_agrees": Outcome.CONSISTENT,
    "zero_gap_contradicted": Outcome.VIOLATION,
    "nonzero_gap_agrees": Outcome.CONSISTENT,
    "nonzero_gap_contradicted": Outcome.VIOLATION,
    "semimetal_agrees": Outcome.CONSISTENT,
    "semimetal_contradicted": Outcome.VIOLATION,
    "gap_zero_agrees": Outcome.CONSISTENT,
    "gap_zero_contradicted": Outcome.VIOLATION,
    "gap_nonzero_agrees": Outcome.CONSISTENT,
    "gap_nonzero_contradicted": Outcome.VIOLATION,
    "gap_negative": Outcome.VIOLATION,
    "claim_in_band": Outcome.ABSTAIN,
    "reference_in_band": Outcome.ABSTAIN,
    "reference_missing": Outcome.ABSTAIN,
}

_REFERENCE = "the reference gap of {reference:.4g} eV is "
_CLAIM = "the claimed gap of {claimed:.4g} eV is "
_SENTENCES = {
    "zero_gap_agrees": _REFERENCE + "zero (at most {zero_max:g}), as claimed",
    "zero_gap_contradicted": _REFERENCE + "nonzero (at least {nonzero_min:g}); a metal was claimed",
    "nonzero_gap_agrees": _REFERENCE + "nonzero (at least {nonzero_min:g}), as claimed",
    "nonzero_gap_contradicted": _REFERENCE + "zero (at most {zero_max:g}); a gap was claimed",
    "semimetal_agrees": _REFERENCE + "zero (at most {zero_max:g}), as that of a semimetal is",
    "semimetal_contradicted": _REFERENCE
    + "nonzero (at least {nonzero_min:g}); a semimetal has none",
    "gap_zero_agrees": _CLAIM + "zero, and so is the reference's {reference:.4g}",
    "gap_zero_contradicted": _CLAIM + "zero, the reference's {reference:.4g} is not",
    "gap_nonzero_agrees": _CLAIM + "nonzero, and so is the reference's {reference:.4g}",
    "gap_nonzero_contradicted": _CLAIM + "nonzero, the reference's {reference:.4g} is zero",
    "gap_negative": _CLAIM + "negative; a band gap is at least zero",
    "claim_in_band": _CLAIM + "neither zero (at most {zero_max:g}) nor nonzero "
    "(at least {nonzero_min:g})",
    "reference_in_band": _REFERENCE + "neither zero (at most {zero_max:g}) nor nonzero "
    "(at least {nonzero_min:g})",
    "reference_missing": "the reference has no band gap",
}


@dataclass(frozen=True)
class Tolerances:
    """Thresholds on the band gap; strictly between them the oracle abstains.

    Attributes
    ----------
    zero_max : float
        eV; a gap at or below it is zero. The paper's 0.05.
    nonzero_min : float
        eV; a gap at or above it is nonzero. The paper's 0.20. With both equal there is no band,
        and a gap of exactly that size is zero.

    Raises
    ------
    MatPCRError
        If a threshold is negative or above `MAX_GAP`, or ``zero_max > nonzero_min``.
    """

    zero_max: float = 0.05
    nonzero_min: float = 0.20

    def __post_init__(self) -> None:
        _dft.limit("zero_max", self.zero_max, 0, MAX_GAP, "eV", 0.05)
        _dft.limit("nonzero_min", self.nonzero_min, 0, MAX_GAP, "eV", 0.20)
        if self.zero_max > self.nonzero_min:
            raise MatPCRError(
                f"zero_max = {self.zero_max:g} eV must not exceed nonzero_min = "
                f"{self.nonzero_min:g} eV, or a gap would be both zero and nonzero"
            )


def check(claim: Claim, reference: Any, tolerances: Tolerances | None = None) -> Verdict:
    """Judge one metallicity claim against one reference.

    Parameters
    ----------
    claim : Claim
        ``metallicity`` ("zero_gap", "nonzero_gap", "semimetal") or ``band_gap`` (eV).
    reference : DFTEntry
        Read is ``band_gap`` (eV).
    tolerances : Tolerances, optional

    Raises
    ------
    MatPCRError
        If the claim is another constraint's, or its number is not finite.
    """
    t = Tolerances() if tolerances is None else tolerances
    reason = str(check_many([claim], [reference], t).reason_names[0])
    details = {
        "band_gap": getattr(reference, "band_gap", None),
        "zero_max": t.zero_max,
        "nonzero_min": t.nonzero_min,
    }
    if not isinstance(claim.value, str):
        details["claimed"] = float(claim.value)
    words = {"reference": details["band_gap"], "claimed": details.get("claimed"), **details}
    return Verdict(REASONS[reason], reason, _SENTENCES[reason].format_map(words), details)


def check_many(
    claims: ClaimTable | Sequence[Claim],
    references: Any,
    tolerances: Tolerances | None = None,
    *,
    index: NDArray[np.intp] | None = None,
) -> VerdictTable:
    """Judge claim i against reference ``index[i]`` (reference i when `index` is None).

    "Semimetal" counts as zero gap. A claimed number is classed like a reference; a negative one
    violates by definition.

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
    gap = _dft.column(references, "band_gap", index)

    missing = ~_dft.finite(gap)
    zero, nonzero = gap <= t.zero_max, gap >= t.nonzero_min
    said_zero, said_nonzero, semimetal = (table.label == label_code(label) for label in LABELS)
    number = table.label < 0
    claimed = _dft.rounded(table.value)
    claimed_zero, claimed_nonzero = claimed <= t.zero_max, claimed >= t.nonzero_min
    return VerdictTable(
        _dft.decide(
            REASONS,
            [
                ("reference_missing", missing),
                ("gap_negative", number & (claimed < 0)),
                ("reference_in_band", ~zero & ~nonzero),
                ("zero_gap_agrees", said_zero & zero),
                ("zero_gap_contradicted", said_zero),
                ("semimetal_agrees", semimetal & zero),
                ("semimetal_contradicted", semimetal),
                # `zero` goes first throughout: with equal thresholds a gap can be both.
                ("nonzero_gap_contradicted", said_nonzero & zero),
                ("nonzero_gap_agrees", said_nonzero),
                ("gap_zero_agrees", claimed_zero & zero),
                ("gap_zero_contradicted", claimed_zero),
                ("gap_nonzero_contradicted", claimed_nonzero & zero),
                ("gap_nonzero_agrees", claimed_nonzero),
                ("claim_in_band", number),
            ],
        ),
        REASONS,
    )


def band(references: Any, tolerances: Tolerances | None = None) -> NDArray[np.bool_]:
    """Mask of the references whose gap lies in the abstention band."""
    t = Tolerances() if tolerances is None else tolerances
    gap = _dft.column(references, "band_gap")
    return (gap > t.zero_max) & (gap < t.nonzero_min)
