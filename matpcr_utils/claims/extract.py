"""From a reasoning chain to the claims that an oracle can check."""

from __future__ import annotations

import math
import re
from itertools import zip_longest

from matpcr_utils.claims.labels import read_labels
from matpcr_utils.claims.measured import Found, Reader
from matpcr_utils.claims.model import CONSTRAINTS, Claim
from matpcr_utils.claims.normal import Normal
from matpcr_utils.claims.scope import Scope
from matpcr_utils.errors import MatPCRError

_RETRACTS = re.compile(
    r"(?:no,?\swait|wait,?\sno|wait,|scratch\sthat|correction|i\smean\b|let\sme\scorrect|or\srather|make\sthat|sorry"
    r"|i\smisread|on\ssecond\sthought|strike\sthat)"
)


def extract_claims(chain: str, constraint: str) -> list[Claim]:
    """Read the checkable claims of a reasoning chain.

    Parameters
    ----------
    chain : str
        Any text: prose, Markdown, LaTeX, JSON.
    constraint : str
        A key of `matpcr_utils.claims.CONSTRAINTS`; only quantities that it can check are read.

    Returns
    -------
    list of Claim
        By position. Numbers are in canonical units; ``chain[a:b] == claim.text`` for each span
        ``(a, b)``. Empty when nothing checkable is stated.

    Raises
    ------
    MatPCRError
        If `chain` is no text or there is no such constraint.

    Notes
    -----
    Where a chain leaves a choice, this is how it is read.

    - A value that is taken back ("28.4°… no wait, 33.1°") or rejected ("not 1.2 eV but 3.4 eV")
      is no claim; of labels too, "not X but Y" claims Y alone.
    - A range is its midpoint, an uncertainty its centre; a limit ("below 0.05 eV/atom") states no
      value, but "up to 250 nm" states the size of the largest feature.
    - "may be stable" commits to nothing, "probably stable" does. Conditions, questions and lists
      of options claim nothing, but a yes or no right after a question does.
    - Only thermodynamic stability is stability. "On the hull", "above the hull" and "decomposes
      into" count only in a chain that states nothing else the constraint can check.
    - "No gap" is the label ``zero_gap``, "zero gap" the number 0; "the net moment is zero" is
      ``zero_net``, "0 μB" the number. Paramagnets and diamagnets have no net moment,
      ferrimagnets have one. Local, site and effective moments are no magnetization; "per Fe atom"
      counts as per atom.
    - A moment without a basis has none; an energy above the hull is per atom unless said.

    Examples
    --------
    >>> [claim.value for claim in extract_claims("It is not stable.", "stability")]
    ['unstable']
    """
    if not isinstance(chain, str):
        raise MatPCRError(f"a chain must be text, not {type(chain).__name__}: pass a str")
    if not isinstance(constraint, str) or constraint not in CONSTRAINTS:
        raise MatPCRError(
            f"unknown constraint {constraint!r}: choose one of {', '.join(CONSTRAINTS)}"
        )
    if not chain:
        return []
    plain = Normal(chain)
    scope = Scope(plain.low)
    reader = Reader(plain.text, plain.low, scope, constraint)
    # A number beyond the floating-point range can't be held against anything.
    measured = [
        claim
        for claim in reader.claims()
        if isinstance(claim.value, str) or math.isfinite(claim.value)
    ]
    found = measured + read_labels(
        plain.text, plain.low, scope, constraint, measured, reader.quantified()
    )
    found.sort(key=lambda claim: (claim.start, claim.end))
    claims = []
    for claim in _standing(found, plain.low):
        a, b = plain.span(claim.start, claim.end)
        claims.append(
            Claim(claim.quantity, claim.value, basis=claim.basis, span=(a, b), text=chain[a:b])
        )
    return claims


def _standing(found: list[Found], low: str) -> list[Found]:
    """Without the claims that the chain takes back right before the next of the same quantity."""
    kept = []
    for claim, later in zip_longest(found, found[1:]):
        if later is not None and claim.quantity == later.quantity:
            gap = low[claim.end : later.start]
            if len(gap) <= 120 and _RETRACTS.search(gap):
                continue
        kept.append(claim)
    return kept
