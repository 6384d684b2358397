"""The microscopy oracle: every edge, and one kernel for one claim and for many."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matpcr_utils import controls, oracles
from matpcr_utils.claims.model import Claim, ClaimTable
from matpcr_utils.controls import microscopy as control
from matpcr_utils.errors import MatPCRError
from matpcr_utils.oracles import microscopy
from matpcr_utils.oracles.base import Outcome
from matpcr_utils.oracles.microscopy import FieldOfView, FieldOfViewTable, Tolerances
from matpcr_utils.references import micrographs, sem
from matpcr_utils.references.scalebar import ScaleBar

# 2000 nm wide, 1500 nm high, 2500 nm across: a 3-4-5 triangle.
FIELD = FieldOfView(2.0, 1000, 750, "field", "bar")
BLIND = FieldOfView(None, 1000, 750)


def judge(value, quantity="feature_size", field=FIELD, **tolerances):
    return microscopy.check(Claim(quantity, value), field, Tolerances(**tolerances))


@pytest.mark.parametrize(
    ("extent", "limit"), [("width", 2000.0), ("height", 1500.0), ("diagonal", 2500.0)]
)
def test_as_large_as_the_field_of_view_passes_and_more_violates(extent, limit):
    assert FIELD.extent_nm(extent) == limit
    assert judge(limit, extent=extent).reason == "fits_field_of_view"
    assert judge(limit * (1 + 1e-6), extent=extent).reason == "larger_than_field_of_view"
    assert judge(limit * 1.02, extent=extent, size_tolerance=0.03).outcome is Outcome.CONSISTENT


def test_equality_survives_binary_rounding():
    field = FieldOfView(0.543, 1024, 691)
    assert judge(1024 * 0.543, field=field, extent="width").outcome is Outcome.CONSISTENT
    assert judge(556.032, field=field, extent="width").outcome is Outcome.CONSISTENT


@pytest.mark.parametrize(
    ("value", "quantity", "reason"),
    [
        (100.0, "feature_size", "fits_field_of_view"),
        (2.0, "feature_size", "fits_field_of_view"),
        (1.9, "feature_size", "smaller_than_pixel"),
        (1e12, "feature_size", "larger_than_field_of_view"),
        (0.0, "feature_size", "not_a_length"),
        (-5.0, "feature_size", "not_a_length"),
        (np.inf, "feature_size", "not_a_length"),
        (2.0, "scale", "scale_agrees"),
        (2.2, "scale", "scale_agrees"),
        (1.8, "scale", "scale_agrees"),
        (2.21, "scale", "scale_differs"),
        (1.79, "scale", "scale_differs"),
        (0.5, "scale", "scale_differs"),
        (0.0, "scale", "not_a_length"),
        (-2.0, "scale", "not_a_length"),
    ],
)
def test_reasons(value, quantity, reason):
    verdict = judge(value, quantity)
    assert verdict.reason == reason
    assert verdict.outcome is microscopy.REASONS[reason]
    assert f"{verdict.details['claimed']:g}" == f"{value:g}"


@pytest.mark.parametrize("quantity", ["feature_size", "scale"])
def test_no_scale_abstains_but_nonsense_still_violates(quantity):
    assert judge(100.0, quantity, BLIND).reason == "no_scale"
    assert judge(100.0, quantity, BLIND).outcome is Outcome.ABSTAIN
    assert judge(-1.0, quantity, BLIND).reason == "not_a_length"
    assert BLIND.extent_nm() is None


def test_sentences_name_the_numbers():
    assert judge(3000.0).sentence == (
        "3000 nm is larger than the field of view, whose diagonal is 2500 nm"
    )
    assert "within 10% of the calibrated 2 nm/pixel" in judge(2.1, "scale").sentence
    assert "no calibration" in judge(5.0, field=BLIND).sentence
    assert "-1 nm is no size" in judge(-1.0).sentence
    assert judge(3000.0).details["field_of_view_nm"] == 2500.0


@pytest.mark.parametrize(
    ("words", "outcome"),
    [
        ("The particle diameter is 2.4 µm.", Outcome.CONSISTENT),
        ("The particle diameter is 2.6 µm.", Outcome.VIOLATION),
        ("The particle diameter is 0.25 mm.", Outcome.VIOLATION),
        ("The pore size is 45 Å.", Outcome.CONSISTENT),
        ("The pore size is 900 pm.", Outcome.CONSISTENT),
        ("Nothing can be measured here.", Outcome.ABSTAIN),
    ],
)
def test_units_of_a_chain(words, outcome):
    assert oracles.check_chain(words, "microscopy", FIELD).outcome is outcome


def test_foreign_claims_nan_and_misfits_are_refused():
    with pytest.raises(MatPCRError, match="judges feature_size, scale"):
        microscopy.check(Claim("band_gap", 1.0), FIELD)
    with pytest.raises(MatPCRError, match="claim 0 is NaN"):
        judge(np.nan)
    two = ClaimTable.numbers("feature_size", np.array([1.0, 2.0]))
    with pytest.raises(MatPCRError, match="2 claims against 1 references"):
        microscopy.check_many(two, [FIELD])
    with pytest.raises(MatPCRError, match="index 1 points at no reference"):
        microscopy.check_many(two, [FIELD], index=np.array([0, 1]))
    with pytest.raises(MatPCRError, match="index must hold 2 integers"):
        microscopy.check_many(two, [FIELD], index=np.array([0.0, 0.0]))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"extent": "area"}, "must be one of width, height, diagonal"),
        ({"size_tolerance": -0.1}, "size_tolerance = -0.1"),
        ({"scale_tolerance": 1.0}, "scale_tolerance = 1.0"),
        ({"scale_tolerance": float("nan")}, "scale_tolerance = nan"),
    ],
)
def test_tolerances_are_validated(options, words):
    with pytest.raises(MatPCRError, match=words):
        Tolerances(**options)


@pytest.mark.parametrize("size", [0.0, -1.0, np.nan, np.inf, 1e308])
def test_a_field_of_view_needs_a_pixel_size_or_none(size):
    with pytest.raises(MatPCRError, match="must be positive and at most"):
        FieldOfView(size, 10, 10)
    with pytest.raises(MatPCRError, match="at least 1"):
        FieldOfView(1.0, 0, 10)


fields = st.builds(
    FieldOfView,
    st.none() | st.floats(1e-3, 1e4),
    st.integers(1, 5000),
    st.integers(1, 5000),
)
claims = st.builds(
    Claim,
    st.sampled_from(["feature_size", "scale"]),
    st.floats(allow_nan=False),
)
tolerance_sets = st.builds(
    Tolerances,
    st.sampled_from(microscopy.EXTENTS),
    st.floats(0, 1),
    st.floats(0, 0.99),
)


@given(st.lists(st.tuples(claims, fields), min_size=1, max_size=8), tolerance_sets)
def test_many_and_one_give_the_same_verdicts(rows, tolerances):
    table = microscopy.check_many([c for c, _ in rows], [f for _, f in rows], tolerances)
    for (claim, field), reason in zip(rows, table.reason_names, strict=True):
        verdict = microscopy.check(claim, field, tolerances)
        assert verdict.reason == reason
        assert verdict.sentence


@given(st.floats(1e-3, 1e9), st.floats(1.0, 1e3), fields)
def test_a_larger_size_never_fits_better(size, factor, field):
    order = {Outcome.CONSISTENT: 0, Outcome.ABSTAIN: 0, Outcome.VIOLATION: 1}
    small, large = judge(size, field=field).outcome, judge(size * factor, field=field).outcome
    assert order[small] <= order[large]


def test_a_field_of_view_leaves_out_the_databar():
    image = micrographs.generate(1, kind="particles", bar="solid", place="databar")
    field = FieldOfView.of(image, sem.calibrate(image))
    assert field.height_px == image.pixels.shape[0] - image.databar_height
    assert field.width_px == image.pixels.shape[1]
    assert field.pixel_size_nm == pytest.approx(image.pixel_size_nm, rel=0.02)
    assert field.source == "bar"


@pytest.fixture(scope="module")
def references():
    return control.from_micrographs([micrographs.generate(seed) for seed in range(9)])


@pytest.mark.parametrize("extent", microscopy.EXTENTS)
def test_the_control_misses_nothing_and_flags_nothing_under_the_true_scale(references, extent):
    tolerances = Tolerances(extent)
    for result in controls.run_shares("microscopy", references=references, tolerances=tolerances):
        result.require_no_miss()
        assert len(result.claims) == 500
        assert result.false_negatives.count == 0
        assert result.false_positives.count == 0
        assert len(set(result.claims.quantity.tolist())) == 2


def test_planted_values_fit_no_reference(references):
    index = np.arange(len(references))
    tolerances = Tolerances(size_tolerance=0.05)
    rng = np.random.default_rng(1)
    true = control.true_claims(references, index, tolerances, rng)
    planted = control.plant(true, references, index, tolerances, rng)
    for row in range(len(references)):
        everywhere = microscopy.check_many(
            planted, references, tolerances, index=np.full(len(planted), row)
        )
        assert everywhere.violation.all()
    assert (planted.quantity == true.quantity).all()


def test_a_misread_scale_flags_true_claims(references):
    off = control.MicrographReferences(
        references.pixel_size_nm / 1000,
        references.width_px,
        references.height_px,
        references.names,
        true_pixel_size_nm=references.true_pixel_size_nm,
        features_nm=references.features_nm,
    )
    result = controls.run("microscopy", references=off, planted=0.1)
    assert result.false_negatives.count == 0
    assert result.false_positives.estimate > 0.9
    assert set(result.false_alarms()["reason"]) == {"larger_than_field_of_view", "scale_differs"}


def test_references_without_a_scale_carry_no_violation(references):
    blind = FieldOfViewTable.from_fields([FIELD, BLIND])
    assert control.eligible(blind, Tolerances()).tolist() == [True, False]
    with pytest.raises(MatPCRError, match="1 calibrations for 2 images"):
        control.from_micrographs(
            [micrographs.generate(0)] * 2, [sem.Calibration(None, "none", *[None] * 4, "")]
        )


def test_chance_passes_grow_with_the_field_of_view():
    table = FieldOfViewTable.from_fields([FieldOfView(s, 1000, 1000) for s in (0.01, 1.0, 100.0)])
    chance = controls.chance("microscopy", references=table, draws=4000)
    # A log-uniform size over six decades from 1 nm passes up to the diagonal.
    expected = np.log10(table.extent_nm()) / 6
    assert chance.by_reference == pytest.approx(expected, abs=0.03)
    assert chance.abstained.count == 0


def test_tables_of_the_chapter(references):
    edges = control.edges()
    verdicts = dict(zip(edges["case"], edges["verdict"], strict=True))
    assert verdicts["exactly the extent that bounds it"] == "consistent"
    assert verdicts["one part in a million more"] == "violation"
    assert verdicts["a size, no calibration"] == "abstain"
    assert verdicts["the scale at its tolerance"] == "consistent"
    assert verdicts["the scale beyond its tolerance"] == "violation"
    extents = control.by_extent(references, planted=0.3, n=50, seed=0)
    assert extents["extent"].tolist() == list(microscopy.EXTENTS)
    grid = control.by_scale_tolerance(references, [0.01, 0.3])
    assert grid["true, passes"].tolist() == [1.0, 1.0]
    assert grid["off by 1.25, passes"].tolist() == [0.0, 1.0]
    assert grid["off by 1000, passes"].tolist() == [0.0, 0.0]


def test_every_flag_of_the_control_has_a_cause():
    from matpcr_utils.controls import scalebar

    images = [micrographs.generate(seed) for seed in range(4)]
    calibrations = []
    for image, factor in zip(images, (1.0, 1.02, 0.98, 0.4), strict=True):
        bar = ScaleBar(
            image.bar_px / factor,
            image.label_nm,
            image.label,
            (0, 0, 1, 1),
            (0, 0, 1, 1),
            1.0,
            False,
            True,
            1.0,
        )
        size = image.pixel_size_nm * factor
        calibrations.append(sem.Calibration(size, "bar", bar, None, None, None, "made up"))
    trial = scalebar.Trial(tuple(images), tuple(calibrations), np.zeros(4))
    assert trial.correct.tolist() == [True, True, True, False]
    references = control.from_micrographs(images, calibrations)
    tolerances = Tolerances(scale_tolerance=0.01)
    results = [controls.run("microscopy", references=references, tolerances=tolerances)]
    table = control.explain(results, trial, tolerances)
    images_by_cause = table.groupby("cause")["images"].max().to_dict()
    assert images_by_cause["detection failed"] == 1
    assert table["claims"].sum() == len(results[0].false_alarms())
    assert set(table["reason"]) == {"larger_than_field_of_view", "scale_differs"}
    with pytest.raises(AssertionError, match="flagged without a cause"):
        control.explain(results, trial, Tolerances(scale_tolerance=0.9, size_tolerance=0.5))
