"""What all six oracles share: how claims pair up with references."""

import numpy as np
import pytest

from matpcr_utils.errors import MatPCRError
from matpcr_utils.oracles.base import positions_of, rows_of


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
