"""What all six oracles share: how claims pair up with references."""

import numpy as np
import pytest

from matpcr_utils.claims.model import CONSTRAINTS, Claim
from matpcr_utils.errors import MatPCRError
from matpcr_utils.oracles import get
from matpcr_utils.oracles.base import positions_of, rows_of
from matpcr_utils.oracles.microscopy import FieldOfView
from matpcr_utils.references import calibrants, dft, spectra
from matpcr_utils.references.diffraction import DiffractionReference


def test_claims_pair_with_references_in_order():
    assert rows_of(3, 3, None) is None
    assert positions_of(3, 3, None).tolist() == [0, 1, 2]
    assert positions_of(3, 2, np.array([1, 0, 1])).tolist() == [1, 0, 1]


def test_no_claim_pairs_with_any_number_of_references():
    assert positions_of(0, 5, None).tolist() == []


@pytest.mark.parametrize(
    ("n", "size", "index", "named"),
    [
        (2, 1, None, "2 claims against 1 references"),
        (2, 1, np.zeros(3, int), "index must hold 2 integers"),
        (2, 1, np.array([0.0, 0.5]), "index must hold 2 integers"),
        (2, 1, np.array([0, 1]), "index 1 points at no reference"),
        (2, 1, np.array([0, -1]), "index -1 points at no reference"),
    ],
)
def test_what_does_not_pair_is_named(n, size, index, named):
    with pytest.raises(MatPCRError, match=named):
        positions_of(n, size, index)


def reference(constraint):
    """Something that the oracle judges claims of its own against."""
    if constraint == "diffraction":
        return DiffractionReference.from_structure(calibrants.structure("Si"))
    if constraint == "microscopy":
        return FieldOfView(1.0, 600, 400)
    return spectra.load()[0] if constraint == "spectra" else dft.entry("mp-1138")


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_a_claim_of_another_constraint_is_refused_alike(constraint):
    oracle, judged_against = get(constraint), reference(constraint)
    foreign = [Claim("raman_shift", 520.0), Claim("band_gap", 1.1), Claim("stability", "stable")]
    for claim in foreign:
        if claim.quantity in CONSTRAINTS[constraint]:
            continue
        says = (
            f"claim 0 states {claim.quantity} = {claim.value}: the {constraint} oracle judges "
            f"{', '.join(CONSTRAINTS[constraint])}"
        )
        for attempt in (
            lambda: oracle.check(claim, judged_against),  # noqa: B023
            lambda: oracle.check_many([claim], [judged_against]),  # noqa: B023
        ):
            with pytest.raises(MatPCRError) as caught:
                attempt()
            assert str(caught.value) == says
    assert "other_quantity" not in oracle.REASONS
