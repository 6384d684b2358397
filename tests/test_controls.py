"""The counting of the positive control, on an oracle whose errors are known."""

from types import SimpleNamespace

import numpy as np
import pytest

from matpcr_utils import controls, oracles
from matpcr_utils.claims.model import ClaimTable
from matpcr_utils.errors import MatPCRError
from matpcr_utils.oracles.base import Outcome, VerdictTable

REASONS = {
    "agrees": Outcome.CONSISTENT,
    "disagrees": Outcome.VIOLATION,
    "unknown": Outcome.ABSTAIN,
}


def band_gap_oracle(limit):
    """References are true gaps; a claim violates when it is off by more than `limit`."""

    def check_many(claims, references, tolerances=None, *, index):
        truth = references[index]
        reason = np.where(np.abs(claims.value - truth) > limit, 1, 0)
        return VerdictTable(np.where(np.isnan(truth), 2, reason).astype(np.int8), REASONS)

    return SimpleNamespace(Tolerances=lambda: None, check_many=check_many, REASONS=REASONS)


DESIGN = SimpleNamespace(
    PRIOR="uniform on [0, 10) eV",
    eligible=lambda references, tolerances: ~np.isnan(references),
    true_claims=lambda references, index, t, rng: ClaimTable.numbers("band_gap", references[index]),
    plant=lambda claims, references, index, t, rng: ClaimTable.numbers(
        "band_gap", claims.value + 1.0
    ),
    draw_prior=lambda references, index, rng: ClaimTable.numbers(
        "band_gap", rng.uniform(0, 10, len(index))
    ),
)


@pytest.fixture
def install(monkeypatch):
    def _install(limit):
        oracle = band_gap_oracle(limit)
        monkeypatch.setattr(oracles, "get", lambda constraint: oracle)
        monkeypatch.setattr(controls, "design", lambda constraint: DESIGN)

    return _install


GAPS = np.linspace(0, 9, 100)


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5])
def test_a_right_oracle_misses_nothing(install, share):
    install(limit=0.5)
    result = controls.run("metallicity", planted=share, references=GAPS, n=600, seed=1)
    assert result.planted.sum() == share * 600
    assert (result.false_negatives.count, result.false_negatives.n) == (0, share * 600)
    assert (result.false_positives.count, result.false_positives.n) == (0, 600 - share * 600)
    assert np.bincount(result.index).tolist() == [6] * 100
    result.require_no_miss()


def test_a_blind_oracle_is_caught(install):
    install(limit=2.0)
    result = controls.run("metallicity", references=GAPS, n=500)
    assert result.false_negatives.estimate == 1.0
    assert len(result.misses()) == 150
    with pytest.raises(AssertionError, match="missed 150 of 150"):
        result.require_no_miss()


def test_a_harsh_oracle_is_counted(install):
    install(limit=-1.0)
    result = controls.run("metallicity", references=GAPS, n=500)
    assert result.false_positives.estimate == 1.0
    assert len(result.false_alarms()) == 350
    by_reference = result.false_positives_by_reference()
    assert (by_reference.count, by_reference.n) == (350, 350)
    assert by_reference.n_sources == len(set(result.index[~result.planted]))


def test_references_that_carry_no_violation_are_left_out(install):
    install(limit=0.5)
    gaps = np.where(np.arange(100) < 40, np.nan, GAPS)
    result = controls.run("metallicity", references=gaps, n=500)
    assert result.index.min() == 40
    assert result.abstentions.count == 0
    with pytest.raises(MatPCRError, match="no reference"):
        controls.run("metallicity", references=np.full(3, np.nan), n=500)


def test_chance_pass_rate_is_the_covered_share(install):
    install(limit=0.5)
    # A gap in the middle covers 1 eV of a 10 eV axis.
    result = controls.chance("metallicity", references=np.array([5.0, np.nan]), draws=20_000)
    assert result.passes.lower < 0.1 < result.passes.upper
    assert result.abstained.estimate == 0.5
    assert np.isnan(result.by_reference[1])
    assert result.prior == "uniform on [0, 10) eV"


def test_the_seed_fixes_every_draw(install):
    install(limit=0.5)
    first, again, other = (
        controls.run("metallicity", references=GAPS, n=500, seed=seed) for seed in (3, 3, 4)
    )
    assert np.array_equal(first.claims.value, again.claims.value)
    assert np.array_equal(first.planted, again.planted)
    assert not np.array_equal(first.planted, other.planted)


@pytest.mark.parametrize(
    ("options", "named"),
    [({"planted": 0.0}, "planted = 0.0"), ({"planted": 1.5}, "planted = 1.5"), ({"n": 1}, "n = 1")],
)
def test_bad_parameters_are_named(install, options, named):
    install(limit=0.5)
    with pytest.raises(MatPCRError, match=named):
        controls.run("metallicity", references=GAPS, **options)


def test_no_draw_is_refused(install):
    install(limit=0.5)
    with pytest.raises(MatPCRError, match="draws = 0"):
        controls.chance("metallicity", references=GAPS, draws=0)


def test_unknown_constraint_is_named():
    with pytest.raises(MatPCRError, match="'colour'"):
        controls.run("colour")
