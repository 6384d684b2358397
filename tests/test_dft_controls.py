"""Controls, chance and figures of the three DFT-grounded oracles, on the shipped references."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pytest

from matpcr_utils import controls, oracles
from matpcr_utils.claims.model import BASES, LABELS, ClaimTable, label_code
from matpcr_utils.controls import _dft as shared
from matpcr_utils.controls import magnetism, metallicity, stability
from matpcr_utils.errors import MatPCRError
from matpcr_utils.oracles.base import Outcome, VerdictTable
from matpcr_utils.plotting import magnetism as magnetism_figures
from matpcr_utils.plotting import metallicity as metallicity_figures
from matpcr_utils.plotting import stability as stability_figures
from matpcr_utils.references import dft

CONSTRAINTS = ("stability", "metallicity", "magnetism")


@pytest.fixture(scope="module")
def table() -> dft.DFTTable:
    return dft.load()


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    path = Path(__file__).parents[1] / "benchmarks" / "dft.py"
    spec = importlib.util.spec_from_file_location("bench_dft", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("constraint", CONSTRAINTS)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_no_planted_violation_is_missed_and_no_true_claim_flagged(
    constraint: str, seed: int, table: dft.DFTTable
) -> None:
    for share, result in zip(
        (0.1, 0.3, 0.5), controls.run_shares(constraint, seed=seed), strict=True
    ):
        result.require_no_miss()
        assert result.false_positives.count == 0
        assert result.abstentions.count == 0
        assert result.false_negatives.n == round(share * len(result.claims))
        assert len(result.claims) >= 2_800


def test_every_reference_is_visited_but_those_in_the_band(table: dft.DFTTable) -> None:
    gap = table.band_gap
    in_band = int(((gap > 0.05) & (gap < 0.20)).sum())
    assert len(controls.run("metallicity").claims) == len(table) - in_band
    assert in_band > 0
    for constraint in ("stability", "magnetism"):
        assert len(controls.run(constraint).claims) == len(table)


SETTINGS = [
    ("stability", {"near_hull": 0.0}),
    ("stability", {"near_hull": 0.1}),
    ("stability", {"near_hull": 0.3}),
    ("stability", {"near_hull": 0.0, "metastable_max": 0.01}),
    ("stability", {"abstain_near_hull": True}),
    ("stability", {"near_hull": 5.0}),
    ("metallicity", {"zero_max": 0.0, "nonzero_min": 0.0}),
    ("metallicity", {"zero_max": 0.0, "nonzero_min": 1.0}),
    ("metallicity", {"zero_max": 0.5, "nonzero_min": 0.5}),
    ("magnetism", {"finite_min": 0.0}),
    ("magnetism", {"finite_min": 0.2, "decade": 2.0}),
    ("magnetism", {"decade": 0.0}),
    ("magnetism", {"require_match": True}),
]


@pytest.mark.parametrize(("constraint", "options"), SETTINGS)
def test_the_control_holds_at_other_tolerances(constraint: str, options: dict) -> None:
    tolerances = oracles.get(constraint).Tolerances(**options)
    result = controls.run(constraint, planted=0.5, tolerances=tolerances, seed=3)
    result.require_no_miss()
    assert result.false_positives.count == 0


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_a_broken_oracle_is_caught(constraint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    oracle = oracles.get(constraint)
    right = oracle.check_many

    def swapped(*arguments: object, **options: object) -> VerdictTable:
        verdicts = right(*arguments, **options)
        consistent = list(oracle.REASONS.values()).index(Outcome.CONSISTENT)
        lenient = verdicts.reason.copy()
        lenient[np.flatnonzero(verdicts.violation)[:1]] = consistent
        return VerdictTable(lenient, verdicts.reasons)

    monkeypatch.setattr(oracle, "check_many", swapped)
    with pytest.raises(AssertionError, match=f"the {constraint} control missed 1 of"):
        controls.run(constraint).require_no_miss()


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_claims_are_labels_and_numbers_of_every_basis(constraint: str) -> None:
    claims = controls.run(constraint).claims
    numbers = claims.label < 0
    assert 0.45 < numbers.mean() < 0.55
    used = {BASES[b] for b in claims.basis[numbers] if b >= 0}
    assert used == (set() if constraint == "metallicity" else set(BASES))
    assert (claims.basis[~numbers] == -1).all()


def test_the_same_seed_gives_the_same_claims() -> None:
    for constraint in CONSTRAINTS:
        first, again, other = (controls.run(constraint, seed=s).claims for s in (5, 5, 6))
        np.testing.assert_array_equal(first.value, again.value)
        assert not np.array_equal(first.value, other.value, equal_nan=True)


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_a_coin_passes_half_the_time(constraint: str) -> None:
    result = controls.chance(constraint, draws=50)
    assert result.passes.lower < 0.5 < result.passes.upper or (
        abs(result.passes.count / result.passes.n - 0.5) < 0.005
    )
    assert "coin" in result.prior


def test_chance_of_numbers_follows_from_the_prior(table: dft.DFTTable) -> None:
    # A log-uniform energy on [1e-3, 1] is near-hull with probability log(50) / log(1000).
    near_prior = np.log(0.05 / 1e-3) / np.log(1e3)
    near = (table.energy_above_hull <= 0.05).mean()
    expected = near * near_prior + (1 - near) * (1 - near_prior)
    found = shared.chance_of_numbers("stability", draws=50)
    assert found.count / found.n == pytest.approx(expected, abs=0.01)
    with pytest.raises(MatPCRError, match="draws = 0"):
        shared.chance_of_numbers("stability", draws=0)


def test_stability_grid_counts_what_the_margin_admits(table: dft.DFTTable) -> None:
    frame = stability.sensitivity()
    energy = table.energy_above_hull
    for threshold, admitted in zip(
        frame["near_hull (eV/atom)"], frame["of them off the strict hull"], strict=True
    ):
        assert admitted == ((energy > 1e-6) & (energy <= threshold)).sum()
    assert frame["of them off the strict hull"].is_monotonic_increasing
    assert (frame[["missed", "false alarms"]] == 0).all(axis=None)


@pytest.mark.parametrize(
    ("module", "grids", "here"),
    [
        (stability, ([0.0, 0.05, 0.2],), {"near_hull (eV/atom)": 0.05}),
        (
            metallicity,
            ([0.0, 0.05], [0.2, 0.5]),
            {"zero_max (eV)": 0.05, "nonzero_min (eV)": 0.2},
        ),
        (magnetism, ([0.01, 0.05], [1.0, 2.0]), {"finite_min (μB/atom)": 0.05, "decade": 1.0}),
    ],
)
def test_fixed_truths_are_clean_only_where_they_were_made(
    module: ModuleType, grids: tuple, here: dict
) -> None:
    frame = module.sensitivity(*grids)
    mistakes = frame["missed, fixed truths"] + frame["false alarms, fixed truths"]
    at_home = (frame[list(here)] == list(here.values())).all(axis=1)
    assert at_home.sum() == 1
    assert (mistakes[at_home] == 0).all()
    assert (mistakes[~at_home] > 0).all()


def test_gap_grid_counts_what_the_band_excludes(table: dft.DFTTable) -> None:
    frame = metallicity.sensitivity([0.0, 0.05, 0.3], [0.2, 0.3])
    assert len(frame) == 5  # 0.3 > 0.2 is no band
    gap = table.band_gap
    for _, row in frame.iterrows():
        low, high = row["zero_max (eV)"], row["nonzero_min (eV)"]
        assert row["excluded"] == ((gap > low) & (gap < high)).sum()
        assert row["small gaps called zero"] == ((gap > 0) & (gap <= low)).sum()
    assert (frame[["missed", "false alarms"]] == 0).all(axis=None)


def test_moment_grid_loosens_with_the_decade() -> None:
    frame = magnetism.sensitivity([0.02, 0.05], [0.1, 1.0])
    wide = frame.pivot(
        index="finite_min (μB/atom)", columns="decade", values="chance-pass of numbers"
    )
    assert (wide[1.0] > wide[0.1]).all()
    assert (frame[["missed", "false alarms"]] == 0).all(axis=None)


@pytest.mark.parametrize("module", [stability, metallicity, magnetism])
def test_other_truths_start_from_a_clean_line(module: ModuleType) -> None:
    frame = module.other_truths()
    assert frame.iloc[0]["flagged"] == 0
    assert frame["flagged"].sum() > 0
    assert (frame["abstained"] + frame["flagged"] <= frame["claims"]).all()


def test_strict_labels_are_flagged_where_the_margin_admits(table: dft.DFTTable) -> None:
    known = table.take(np.isfinite(table.energy_above_hull_recent))
    energy = known.energy_above_hull
    flagged = stability.other_truths().loc["labels by the strict hull", "flagged"]
    assert flagged == ((energy > 1e-6) & (energy <= 0.05)).sum()


@pytest.mark.parametrize("module", [stability, metallicity, magnetism])
def test_edge_tables_agree_with_their_reasons(module: ModuleType) -> None:
    frame = module.edges()
    reasons = oracles.get(module.__name__.rsplit(".", 1)[1]).REASONS
    assert (frame["Verdict"] == [str(reasons[r]) for r in frame["Reason"]]).all()
    assert set(frame["Verdict"]) == {"consistent", "violation", "abstain"}


def test_one_of_picks_only_what_is_offered() -> None:
    rng = np.random.default_rng(0)
    options = rng.random((500, 3)) < 0.4
    picked = shared.one_of(options, rng)
    assert ((picked == -1) == ~options.any(axis=1)).all()
    rows = np.flatnonzero(picked >= 0)
    assert options[rows, picked[rows]].all()


def test_numbers_stay_per_atom_where_a_basis_cannot_be_converted() -> None:
    class OnlyEnergies:
        energy_above_hull = np.array([0.0, 0.3, 0.01])

        def __len__(self) -> int:
            return 3

    result = controls.run("stability", references=OnlyEnergies(), n=300)
    result.require_no_miss()
    assert {BASES[b] for b in result.claims.basis if b >= 0} == {"atom"}


def test_no_reference_that_can_carry_a_violation_is_an_error(table: dft.DFTTable) -> None:
    unknown = replace(table.take(np.arange(3)), band_gap=np.full(3, np.nan))
    with pytest.raises(MatPCRError, match="no reference"):
        controls.run("metallicity", references=unknown)


def test_planted_labels_are_the_opposite(table: dft.DFTTable) -> None:
    result = controls.run("metallicity", planted=0.5)
    labels = result.planted & (result.claims.label >= 0)
    zero = table.band_gap[result.index] <= 0.05
    said = result.claims.label
    assert (said[labels & zero] == label_code("nonzero_gap")).all()
    flat = {LABELS[code] for code in said[labels & ~zero]}
    assert flat == {"zero_gap", "semimetal"}


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_the_plain_oracle_agrees_claim_by_claim(constraint: str, bench: ModuleType) -> None:
    speed = bench.measure(constraint, n=3_000, n_single=500, repeats=1)
    assert speed["check_many"] > speed["check"]


def test_the_benchmark_prints_a_row_an_oracle(
    bench: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.main(n=2_000, n_single=50)
    printed = capsys.readouterr().out
    assert all(constraint in printed for constraint in CONSTRAINTS)


def test_a_million_claims_in_under_a_second(table: dft.DFTTable, bench: ModuleType) -> None:
    from time import perf_counter

    index = np.random.default_rng(0).integers(len(table), size=1_000_000)
    for constraint in CONSTRAINTS:
        claims = bench.claims_of(constraint, index, seed=0)
        start = perf_counter()
        verdicts = oracles.get(constraint).check_many(claims, table, index=index)
        assert perf_counter() - start < 1.0
        assert len(verdicts) == 1_000_000


def test_the_hull_is_known_at_every_entry() -> None:
    figure = stability_figures.hull(dft.chemical_system("Cu-O"))
    line = next(a for a in figure.axes[0].lines if a.get_label() == "hull")
    x, y = line.get_data()
    for entry in dft.chemical_system("Cu-O"):
        fraction = stability_figures._fraction(entry.formula, "O")
        height = entry.formation_energy_per_atom - entry.energy_above_hull
        assert np.interp(fraction, x, y) == pytest.approx(height, abs=1e-6)
    slopes = np.diff(y) / np.diff(x)
    assert (np.diff(slopes) > 0).all()


def test_a_hull_needs_two_elements() -> None:
    with pytest.raises(MatPCRError, match="two elements"):
        stability_figures.hull(dft.chemical_system("Si"))
    with pytest.raises(MatPCRError, match="no entry"):
        stability_figures.hull([])


def test_decision_strips_change_colour_at_the_thresholds() -> None:
    figure = metallicity_figures.decisions()
    edges = {round(patch.get_x(), 3) for patch in figure.axes[0].patches}
    assert edges == {0.0, 0.05, 0.2}


def test_figures_draw_at_unusual_tolerances(table: dft.DFTTable) -> None:
    for near_hull in (0.0, 0.05, 0.2, 1.0):
        t = oracles.get("stability").Tolerances(near_hull=near_hull)
        for figure in (stability_figures.energies(table, t), stability_figures.versions(table, t)):
            assert figure.axes[0].get_xlabel()
    for ends in ((0.0, 0.0), (0.0, 0.2), (0.5, 0.5)):
        gaps = metallicity_figures.gaps(table, oracles.get("metallicity").Tolerances(*ends))
        assert sum(patch.get_height() for patch in gaps.axes[0].patches) > 0
    for ends in ((0.0, 1.0), (0.05, 0.0)):
        t = oracles.get("magnetism").Tolerances(*ends)
        assert magnetism_figures.moments(table, t).axes[0].get_xscale() == "log"
        assert magnetism_figures.plane(t).axes[0].get_yscale() == "log"
    matplotlib.pyplot.close("all")


def test_heat_maps_write_every_number() -> None:
    frame = metallicity.sensitivity([0.0, 0.05], [0.2, 0.3])
    figure = metallicity_figures.sensitivity(frame)
    written = [text.get_text() for text in figure.axes[1].texts]
    assert written == [f"{value:.0f}" for value in frame["small gaps called zero"]]
    grid = magnetism.sensitivity([0.05], [1.0])
    assert magnetism_figures.sensitivity(grid).axes[1].texts[0].get_text() == "0"


def test_the_stability_curve_carries_its_counts() -> None:
    frame = stability.sensitivity([0.0, 0.05])
    texts = [text.get_text() for text in stability_figures.sensitivity(frame).axes[0].texts]
    assert texts == [str(n) for n in frame["of them off the strict hull"]]


def test_decisions_of_the_other_oracles() -> None:
    for module, labels in ((stability_figures, 3), (magnetism_figures, 3)):
        ticks = module.decisions().axes[0].get_yticklabels()
        assert len(ticks) == labels


def test_claims_of_the_prior_do_not_look_at_the_reference(table: dft.DFTTable) -> None:
    index = np.arange(len(table))
    for module in (stability, metallicity, magnetism):
        for draw in (module.draw_prior, module.draw_number_prior):
            drawn: list[ClaimTable] = [
                draw(references, index, np.random.default_rng(1))
                for references in (table, table.take(index[::-1]))
            ]
            np.testing.assert_array_equal(drawn[0].label, drawn[1].label)
            np.testing.assert_array_equal(drawn[0].value, drawn[1].value)


def test_a_gallery_reads_and_judges_chains_about_shipped_materials() -> None:
    cases = [
        ("mp-54", "Cobalt is a metal."),
        ("mp-1156", "GaSb is a semiconductor."),
        ("mp-10257", "This form of nickel is a metal."),
        ("mp-10257", "Nothing is known of it."),
    ]
    frame = metallicity.gallery(cases, oracles.get("metallicity").Tolerances())
    assert frame["Verdict"].tolist() == ["abstain", "violation", "consistent", "abstain"]
    assert frame["Reason"].tolist() == [
        "reference_in_band",
        "nonzero_gap_contradicted",
        "zero_gap_agrees",
        "no claim read",
    ]
    assert frame["Material"][0] == "Co (mp-54)"
