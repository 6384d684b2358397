import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matpcr_utils.claims.model import (
    BASES,
    CANONICAL_UNITS,
    CONSTRAINTS,
    LABELS,
    QUANTITIES,
    Claim,
    ClaimTable,
)

NUMBERS = [name for name, unit in CANONICAL_UNITS.items() if unit != "label"]

claims = st.one_of(
    st.builds(
        Claim,
        quantity=st.sampled_from(NUMBERS),
        value=st.floats(-1e6, 1e6),
        basis=st.sampled_from([None, *BASES]),
    ),
    st.builds(
        Claim,
        quantity=st.sampled_from(["stability", "metallicity", "magnetism"]),
        value=st.sampled_from(LABELS),
    ),
)


def test_units_are_those_of_the_design():
    assert Claim("two_theta", 28.44).unit == "degree"
    assert Claim("stability", "stable").unit == "label"
    assert Claim("magnetization", 2.2, basis="atom").unit == "bohr magneton"


def test_every_quantity_belongs_to_one_constraint():
    listed = [quantity for group in CONSTRAINTS.values() for quantity in group]
    assert sorted(listed) == sorted(QUANTITIES)


def test_an_unknown_quantity_is_no_claim():
    with pytest.raises(KeyError):
        Claim("colour", "red")


@given(st.lists(claims, max_size=30))
def test_columns_and_claims_are_the_same(rows):
    table = ClaimTable.from_claims(rows)
    assert len(table) == len(rows)
    assert [table.claim(i) for i in range(len(table))] == rows


def test_whole_columns_and_chosen_rows():
    numbers = ClaimTable.numbers("band_gap", np.array([0.0, 1.1, 3.4]))
    assert numbers.take(np.array([2])).claim(0) == Claim("band_gap", 3.4)
    labels = ClaimTable.labels("magnetism", ["finite_net", "zero_net"])
    assert labels.take(np.array([False, True])).claim(0) == Claim("magnetism", "zero_net")
