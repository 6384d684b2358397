"""The positive control of diffraction, and the exact share of the axis that a tolerance covers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pymatgen.core import Lattice, Structure

from matpcr_utils import controls
from matpcr_utils.claims.model import ClaimTable
from matpcr_utils.controls import diffraction as design
from matpcr_utils.errors import MatPCRError
from matpcr_utils.oracles.diffraction import (
    CU_KALPHA,
    DiffractionReference,
    LineTable,
    Tolerances,
    check_many,
)
from matpcr_utils.references.lines import CU_KALPHA1, Lines


@pytest.fixture(autouse=True, scope="module")
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        # One folder for the session: the modules of these tests share structures.
        patch.setenv("MATPCR_CACHE", str(tmp_path_factory.getbasetemp() / "lines"))
        yield


def made_up(two_theta: list[float], window: tuple[float, float] = (10.0, 90.0)) -> LineTable:
    d = CU_KALPHA1 / (2 * np.sin(np.radians(np.array(two_theta) / 2)))
    lines = Lines(d, np.full(len(d), 100.0), ("",) * len(d), CU_KALPHA1, 179.0)
    return LineTable.from_references([DiffractionReference(lines, (CU_KALPHA1,), window)])


@cache
def shipped() -> LineTable:
    """Forty materials and the standards."""
    return design.default_references(40, seed=3)


def test_default_references_are_the_sample_and_the_standards() -> None:
    table = shipped()
    assert len(table) == 46
    assert table.names[:40] == tuple(design.sample(40, 3).material_id)
    assert table.names[40:] == ("Si", "LaB6", "CeO2", "Al2O3", "NaCl", "Ni")
    assert table.has_lines.all()


def test_sample_is_fixed_by_its_seed() -> None:
    assert design.sample(30, 1).material_id.tolist() == design.sample(30, 1).material_id.tolist()
    assert set(design.sample(30, 1).material_id) != set(design.sample(30, 2).material_id)
    assert len(design.sample(None)) > 2900


@pytest.mark.parametrize("n", [0, -1, 10**6])
def test_sample_size_must_exist(n: int) -> None:
    with pytest.raises(MatPCRError, match=f"n_structures = {n}"):
        design.sample(n)


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5])
@pytest.mark.parametrize("tolerance", [0.05, 0.5, 1.0])
def test_every_planted_violation_is_found_and_no_true_claim_flagged(
    share: float, tolerance: float
) -> None:
    result = controls.run(
        "diffraction",
        planted=share,
        n=600,
        references=shipped(),
        tolerances=Tolerances(tolerance),
        seed=5,
    )
    result.require_no_miss()
    assert result.planted.sum() == 600 * share
    assert result.false_positives.count == 0
    assert result.abstentions.count == 0
    assert set(result.verdicts.reason_names[result.planted]) == {"no_line", "impossible"}
    assert len(np.unique(result.claims.quantity)) == 3


def test_planted_angles_keep_their_clearance() -> None:
    table, tolerances = shipped(), Tolerances(0.5)
    index = np.repeat(np.arange(len(table)), 50)
    rng = np.random.default_rng(0)
    true = design.true_claims(table, index, tolerances, rng)
    planted = design.plant(true, table, index, tolerances, rng)
    np.testing.assert_array_equal(planted.quantity, true.quantity)
    wider = Tolerances(0.5 * design.CLEARANCE - 1e-6)
    assert check_many(planted, table, wider, index=index).violation.all()
    narrower = Tolerances(0.5 * design.ERROR_SHARE + 1e-6)
    assert check_many(true, table, narrower, index=index).consistent.all()


def test_references_without_room_or_lines_are_not_eligible() -> None:
    alloy = Structure(Lattice.cubic(3.6), [{"Fe": 0.5, "Ni": 0.5}], [[0, 0, 0]])
    silicon = Structure.from_spacegroup("Fd-3m", Lattice.cubic(5.431), ["Si"], [[0, 0, 0]])
    references = [
        DiffractionReference.from_structure(silicon),
        DiffractionReference.from_structure(alloy),
        DiffractionReference(Lines(np.empty(0), np.empty(0), (), CU_KALPHA1, 179.0), (CU_KALPHA1,)),
    ]
    table = LineTable.from_references(references)
    assert design.eligible(table, Tolerances()).tolist() == [True, False, False]
    crowded = made_up(list(np.arange(10, 91, 1.0)))
    assert not design.eligible(crowded, Tolerances(0.5)).any()
    assert design.eligible(crowded, Tolerances(0.2)).all()
    with pytest.raises(MatPCRError, match="no reference can carry"):
        controls.run("diffraction", references=crowded)


@pytest.mark.parametrize(
    ("lines", "tolerance", "covered"),
    [
        ([50.0], 0.5, 1.0),
        ([50.0, 70.0], 0.5, 2.0),
        ([50.0, 50.6], 0.5, 1.6),  # overlapping intervals count once
        ([10.2], 0.5, 0.7),  # cut off by the window
        ([9.8, 50.0], 0.5, 1.3),  # a line outside reaches in
        ([90.0, 95.0], 0.5, 0.5),
        ([10.0, 90.0], 5.0, 10.0),
    ],
)
def test_coverage_is_the_union_of_the_intervals(
    lines: list[float], tolerance: float, covered: float
) -> None:
    share = design.coverage(made_up(lines), Tolerances(tolerance))
    np.testing.assert_allclose(share, [covered / 80.0], atol=1e-12)


def test_coverage_of_what_the_oracle_abstains_on_is_missing() -> None:
    assert np.isnan(design.coverage(made_up([]))).all()
    assert np.isnan(design.coverage(made_up([5.0]))).all()


@settings(deadline=None)
@given(
    lines=st.lists(st.floats(5, 94), min_size=1, max_size=30),
    tolerance=st.floats(0.01, 5),
)
def test_coverage_is_the_share_of_a_fine_grid_that_passes(
    lines: list[float], tolerance: float
) -> None:
    table = made_up(sorted(lines))
    grid = np.linspace(10, 90, 4001)[:-1] + 0.01
    zeros = np.zeros(len(grid), int)
    verdicts = check_many(
        ClaimTable.numbers("two_theta", grid), table, Tolerances(tolerance), index=zeros
    )
    exact = design.coverage(table, Tolerances(tolerance))[0]
    if np.isnan(exact):
        assert verdicts.abstain.all()
    else:
        assert verdicts.consistent.mean() == pytest.approx(exact, abs=62 * 0.02 / 80)


def test_chance_pass_rate_estimates_the_coverage() -> None:
    result = controls.chance("diffraction", references=shipped(), draws=2000, seed=1)
    exact = design.coverage(shipped())
    error = np.abs(result.by_reference - exact)
    # Five standard errors of 2,000 draws.
    assert (error <= 5 * np.sqrt(exact * (1 - exact) / 2000) + 1e-9).all()
    assert result.passes.lower <= exact.mean() <= result.passes.upper


def test_a_small_simple_cubic_cell_leaves_most_of_the_axis_free() -> None:
    polonium = Structure(Lattice.cubic(3.359), ["Po"], [[0, 0, 0]])
    lattice = Lattice.from_parameters(6.1, 7.3, 9.2, 83, 98, 107)
    sites = np.random.default_rng(0).random((20, 3)).tolist()
    triclinic = Structure(lattice, ["Na", "O"] * 10, sites)
    table = LineTable.from_structures([polonium, triclinic], ["cubic", "triclinic"], CU_KALPHA)
    cubic, dense = design.coverage(table)
    assert cubic < 0.2
    assert dense > 0.8
