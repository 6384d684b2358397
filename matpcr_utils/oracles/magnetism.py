"""Magnetism: does the computed cell carry a net moment, and of what size?

The paper (section 4.4) calls the absolute total magnetization per atom finite above 0.05 μB, and
checks a claimed number by class first, then, for finite moments only, to within one order of
magnitude. For zero moments a ratio means nothing: there the check is the absolute threshold.

The oracle sees the *net* moment alone. A near-zero one does not rule out antiferromagnetic or
compensated ferrimagnetic order, so "antiferromagnetic" is not judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from matpcr_utils.claims.model import BASES, Claim, ClaimTable, basis_code, label_code
from matpcr_utils.oracles import _dft
from matpcr_utils.oracles.base import Outcome, Verdict, VerdictTable, rows_of

CONSTRAINT = "magnetism"
LABELS = ("finite_net", "zero_net", "antiferromagnetic")

REASONS: dict[str, Outcome] = {
    "finite_net_agrees": Outcome.CONSISTENT,
    "finite_net_contradicted": Outcome.VIOLATION,
    "zero_net_agrees": Outcome.CONSISTENT,
    "zero_net_contradicted": Outcome.VIOLATION,
    "moment_within_decade": Outcome.CONSISTENT,
    "moment_zero_agrees": Outcome.CONSISTENT,
    "moment_claimed_finite": Outcome.VIOLATION,
    "moment_claimed_zero": Outcome.VIOLATION,
    "moment_too_small": Outcome.VIOLATION,
    "moment_too_large": Outcome.VIOLATION,
    "moment_wrong_on_every_basis": Outcome.VIOLATION,
    "antiferromagnetic_undecided": Outcome.ABSTAIN,
    "basis_unstated": Outcome.ABSTAIN,
    "basis_unknown": Outcome.ABSTAIN,
    "poor_match": Outcome.ABSTAIN,
    "size_missing": Outcome.ABSTAIN,
    "reference_missing": Outcome.ABSTAIN,
}

_REFERENCE = "the reference's {reference:.4g} μB/atom is "
_CLAIM = "the claimed {claimed:.4g} μB/atom is "
_SENTENCES = {
    "finite_net_agrees": _REFERENCE + "finite (above {finite_min:g}), as claimed",
    "finite_net_contradicted": _REFERENCE + "zero (at most {finite_min:g}); a net moment was "
    "claimed",
    "zero_net_agrees": _REFERENCE + "zero (at most {finite_min:g}), as claimed",
    "zero_net_contradicted": _REFERENCE + "finite (above {finite_min:g}); no net moment was "
    "claimed",
    "moment_within_decade": _CLAIM + "within a factor {factor:g} of the reference's "
    "{reference:.4g}",
    "moment_zero_agrees": _CLAIM + "zero (at most {finite_min:g}), and so is the reference's "
    "{reference:.4g}",
    "moment_claimed_finite": _CLAIM + "finite (above {finite_min:g}), the reference's "
    "{reference:.4g} is not",
    "moment_claimed_zero": _CLAIM + "zero (at most {finite_min:g}), the reference's "
    "{reference:.4g} is not",
    "moment_too_small": _CLAIM + "less than 1/{factor:g} of the reference's {reference:.4g}",
    "moment_too_large": _CLAIM + "more than {factor:g} times the reference's {reference:.4g}",
    "moment_wrong_on_every_basis": "the claimed {stated:.4g} μB contradicts the reference's "
    "{reference:.4g} μB/atom per atom, per formula unit and per cell",
    "antiferromagnetic_undecided": "a net moment ({reference:.4g} μB/atom) can't tell "
    "antiferromagnetic order",
    "basis_unstated": "the claimed {stated:.4g} μB does not say per what, and the verdict depends "
    "on it",
    "basis_unknown": "the claimed moment counts a {basis}, and the reference does not say how many "
    "atoms that is",
    "poor_match": "the reference's magnetization is not known to belong to this material "
    "(match: {match_quality})",
    "size_missing": "the reference has a magnetization per cell but no number of atoms",
    "reference_missing": "the reference has no total magnetization",
}

#: Values of `match_quality` under which the magnetization is known to be the entry's own.
TRUSTED_MATCHES = ("moments_agree", "unique", "direct")

#: μB/atom; no atom has a larger moment, so that no claim could be finite.
MAX_MOMENT = 20.0
#: Beyond this many orders of magnitude the ratio of two moments excludes nothing.
MAX_DECADE = 100.0

#: Relative slack on the inclusive ends of the decade, for binary rounding of the ratio.
_SLACK = 1e-9


@dataclass(frozen=True)
class Tolerances:
    """Thresholds on the absolute total magnetization.

    Attributes
    ----------
    finite_min : float
        μB/atom; a moment above it is finite, at or below it zero. The paper's 0.05.
    decade : float
        A finite claim may be off by a factor of 10**decade either way, ends included. The paper's
        one order of magnitude.
    require_match : bool
        Abstain where the reference's `match_quality` is not one of `TRUSTED_MATCHES`: its
        magnetization may be that of another cell or magnetic order. The paper has no such switch.

    Raises
    ------
    MatPCRError
        If `finite_min` lies outside [0, `MAX_MOMENT`], or `decade` outside [0, `MAX_DECADE`].
    """

    finite_min: float = 0.05
    decade: float = 1.0
    require_match: bool = False

    def __post_init__(self) -> None:
        _dft.limit("finite_min", self.finite_min, 0, MAX_MOMENT, "μB/atom", 0.05)
        _dft.limit("decade", self.decade, 0, MAX_DECADE, "orders of magnitude", 1.0)
        _dft.switch("require_match", self.require_match)

    @property
    def factor(self) -> float:
        """10**decade: the largest accepted ratio of claim and reference."""
        return float(10.0**self.decade)


def moment_per_atom(references: Any, index: NDArray[np.intp] | None = None) -> _dft.Floats:
    """Absolute total magnetization in μB/atom; NaN where it or the number of atoms is missing."""
    total = _dft.column(references, "total_magnetization", index)
    cell = _dft.atoms_per(basis_code("cell"), *_dft.sizes(references, index))
    return _dft.rounded(np.abs(total) / cell)


def check(claim: Claim, reference: Any, tolerances: Tolerances | None = None) -> Verdict:
    """Judge one magnetism claim against one reference.

    Parameters
    ----------
    claim : Claim
        ``magnetism`` ("finite_net", "zero_net", "antiferromagnetic") or ``magnetization`` (Bohr
        magnetons per basis; the sign is not used). Without a basis the claim is judged per atom,
        per formula unit and per cell, and the verdict is theirs when they agree.
    reference : DFTEntry
        Read are ``total_magnetization`` (per cell), ``nsites``, ``formula_units`` and
        ``match_quality``.
    tolerances : Tolerances, optional

    Returns
    -------
    Verdict
        ``details["ratio"]`` is claim over reference, None where one of them is zero or unknown;
        ``details["by_basis"]`` the outcome of each reading of a claim without a basis.

    Raises
    ------
    MatPCRError
        If the claim is another constraint's, or its number is not finite.
    """
    t = Tolerances() if tolerances is None else tolerances
    reason = str(check_many([claim], [reference], t).reason_names[0])
    moment = float(moment_per_atom([reference])[0])
    details: dict[str, Any] = {
        "moment_per_atom": moment if np.isfinite(moment) else None,
        "total_magnetization": getattr(reference, "total_magnetization", None),
        "match_quality": getattr(reference, "match_quality", None),
        "finite_min": t.finite_min,
        "decade": t.decade,
    }
    words = {**details, "reference": details["moment_per_atom"], "factor": t.factor}
    if not isinstance(claim.value, str):
        details |= _number_details(claim, reference, moment, t)
        words |= {
            "claimed": details["claimed_per_atom"],
            "stated": float(claim.value),
            "basis": str(claim.basis).replace("_", " "),
        }
    sentence = _SENTENCES[reason].format_map(words)
    if "by_basis" in details and reason in _BY_NUMBER:
        sentence = f"whatever it counts (here: per atom), {sentence}"
    return Verdict(REASONS[reason], reason, sentence, details)


def check_many(
    claims: ClaimTable | Sequence[Claim],
    references: Any,
    tolerances: Tolerances | None = None,
    *,
    index: NDArray[np.intp] | None = None,
) -> VerdictTable:
    """Judge claim i against reference ``index[i]`` (reference i when `index` is None).

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
    total = _dft.column(references, "total_magnetization", index)
    nsites, formula_units = _dft.sizes(references, index)
    moment = moment_per_atom(references, index)

    is_finite = moment > t.finite_min
    said_finite, said_zero, said_anti = (table.label == label_code(label) for label in LABELS)
    poor = np.zeros(len(table), bool)
    if t.require_match:
        poor = ~trusted(references, index)
    reason = _dft.decide(
        REASONS,
        [
            ("reference_missing", ~_dft.finite(total)),
            ("size_missing", np.isnan(moment)),
            ("poor_match", poor),
            ("antiferromagnetic_undecided", said_anti),
            ("finite_net_agrees", said_finite & is_finite),
            ("finite_net_contradicted", said_finite),
            ("zero_net_contradicted", said_zero & is_finite),
            ("zero_net_agrees", np.ones(len(table), bool)),
        ],
    )
    judged = (table.label < 0) & _dft.finite(total) & ~np.isnan(moment) & ~poor
    rows = slice(None) if judged.all() else np.flatnonzero(judged)
    reason[rows] = _judge_numbers(
        table.value[rows], table.basis[rows], moment[rows], nsites[rows], formula_units[rows], t
    )
    return VerdictTable(reason, REASONS)


def trusted(references: Any, index: NDArray[np.intp] | None = None) -> NDArray[np.bool_]:
    """Mask of the references whose magnetization is known to be their own."""
    quality = getattr(references, "match_quality", None)
    if quality is None:
        quality = [str(getattr(entry, "match_quality", None)) for entry in references]
    mask = np.isin(np.asarray(quality), TRUSTED_MATCHES)
    return mask if index is None else mask[index]


_UNSTATED, _EVERY = (
    np.int8(list(REASONS).index(reason))
    for reason in ("basis_unstated", "moment_wrong_on_every_basis")
)
_VIOLATES = np.array([outcome is Outcome.VIOLATION for outcome in REASONS.values()])
_BY_NUMBER = (
    "moment_within_decade",
    "moment_zero_agrees",
    "moment_claimed_finite",
    "moment_claimed_zero",
    "moment_too_small",
    "moment_too_large",
)


def _judge_numbers(
    value: _dft.Floats,
    basis: NDArray[np.int8],
    moment: _dft.Floats,
    nsites: _dft.Floats,
    formula_units: _dft.Floats,
    t: Tolerances,
) -> NDArray[np.int8]:
    """Reason codes of claimed numbers; those without a basis get the verdict common to all."""
    claimed = _per_atom(value, basis, nsites, formula_units)
    reason = _judge_moments(claimed, moment, t)
    unstated = np.flatnonzero(basis < 0)
    if len(unstated):
        value, moment = value[unstated], moment[unstated]
        nsites, formula_units = nsites[unstated], formula_units[unstated]
        readings = np.stack(
            [
                _judge_moments(_per_atom(value, basis_code(name), nsites, formula_units), moment, t)
                for name in BASES
            ]
        )
        same = (readings == readings[0]).all(axis=0)
        wrong = _VIOLATES[readings].all(axis=0)
        reason[unstated] = np.where(same, readings[0], np.where(wrong, _EVERY, _UNSTATED))
    return reason


def _judge_moments(claimed: _dft.Floats, moment: _dft.Floats, t: Tolerances) -> NDArray[np.int8]:
    """Class first, then the ratio, which only finite moments have."""
    claimed_finite, is_finite = claimed > t.finite_min, moment > t.finite_min
    highest = moment * (t.factor * (1 + _SLACK))
    lowest = moment / (t.factor * (1 + _SLACK))
    return _dft.decide(
        REASONS,
        [
            ("basis_unknown", np.isnan(claimed)),
            ("moment_claimed_finite", claimed_finite & ~is_finite),
            ("moment_claimed_zero", ~claimed_finite & is_finite),
            ("moment_zero_agrees", ~is_finite),
            ("moment_too_small", claimed < lowest),
            ("moment_too_large", claimed > highest),
            ("moment_within_decade", is_finite),
        ],
    )


def _per_atom(
    value: _dft.Floats,
    basis: NDArray[np.int8] | int,
    nsites: _dft.Floats,
    formula_units: _dft.Floats,
) -> _dft.Floats:
    atoms = _dft.atoms_per(basis, nsites, formula_units)
    return _dft.rounded(np.abs(value) / atoms)


def _number_details(claim: Claim, reference: Any, moment: float, t: Tolerances) -> dict[str, Any]:
    """Claim per atom, its ratio to the reference and, without a basis, the three readings."""
    size = _dft.sizes([reference])
    value = np.array([float(claim.value)])
    claimed = float(_per_atom(value, basis_code(claim.basis), *size)[0])
    has_ratio = np.isfinite(claimed) and claimed > 0 and np.isfinite(moment) and moment > 0
    details: dict[str, Any] = {
        "claimed_per_atom": claimed if np.isfinite(claimed) else None,
        "ratio": claimed / moment if has_ratio else None,
    }
    if claim.basis is None:
        readings = [ClaimTable.numbers("magnetization", value, name) for name in BASES]
        details["by_basis"] = {
            name: str(check_many(reading, [reference], t).outcomes[0])
            for name, reading in zip(BASES, readings, strict=True)
        }
    return details
