"""The tables and figures of the diffraction chapter, on real data."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot as plt

from matpcr_utils.claims.model import Claim
from matpcr_utils.controls import diffraction as design
from matpcr_utils.controls import diffraction_failures as failures
from matpcr_utils.controls import diffraction_studies as studies
from matpcr_utils.errors import MatPCRError
from matpcr_utils.oracles.diffraction import (
    CU_KALPHA,
    DiffractionReference,
    LineTable,
    Tolerances,
)
from matpcr_utils.plotting import diffraction as figures
from matpcr_utils.references import calibrants, patterns
from matpcr_utils.references.diffraction import TUBES, doublet, radiation
from matpcr_utils.references.lines import CU_KALPHA1, Lines

matplotlib.use("Agg")


@pytest.fixture(autouse=True, scope="module")
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        # One folder for the session: the modules of these tests share structures.
        patch.setenv("MATPCR_CACHE", str(tmp_path_factory.getbasetemp() / "lines"))
        yield


@pytest.fixture(autouse=True)
def closed_figures() -> Iterator[None]:
    yield
    plt.close("all")


@cache
def silicon() -> DiffractionReference:
    return DiffractionReference.from_structure(calibrants.structure("Si"), name="Si")


@cache
def measured(tolerance: float = 0.5) -> list[studies.Measured]:
    return [studies.measured(p, Tolerances(tolerance), share=0.005) for p in patterns.load()]


@cache
def references() -> LineTable:
    return design.default_references(30, seed=2)


@pytest.mark.parametrize(
    ("value", "components"),
    [
        (1.540593, CU_KALPHA),
        (1.5406, CU_KALPHA),
        (1.5418, CU_KALPHA),
        (0.7093, doublet(*TUBES["Mo"])),
        (0.413909, (0.413909,)),
        (1.55, (1.55,)),
    ],
)
def test_one_wavelength_means_its_tube(value: float, components: tuple[float, ...]) -> None:
    assert radiation(value) == components


def test_crystal_systems_start_at_their_first_space_group() -> None:
    # International Tables A: first and last numbers of the seven systems.
    numbers = np.array([1, 2, 3, 15, 16, 74, 75, 142, 143, 167, 168, 194, 195, 230])
    expected = np.repeat(list(studies.SYSTEMS), 2)
    np.testing.assert_array_equal(studies.crystal_system(numbers), expected)


def test_boundary_cases_have_their_outcomes() -> None:
    table = studies.boundary_cases(silicon(), Tolerances())
    assert table["Reason"].tolist() == [
        "line",
        "line",
        "no_line",
        "outside_window",
        "impossible",
        "impossible",
        "outside_window",
        "impossible",
        "impossible",
    ]
    empty = Lines(np.empty(0), np.empty(0), (), CU_KALPHA1, 179.0)
    with pytest.raises(MatPCRError, match="no line in its window"):
        studies.boundary_cases(DiffractionReference(empty, (CU_KALPHA1,)), Tolerances())


def test_standards_agree_within_the_stated_limit() -> None:
    table = studies.standards()
    assert len(table) == len(calibrants.STANDARDS)
    assert (table["Largest distance (degree)"] < 0.03).all()
    assert (table["Lines computed"] >= table["Lines tabulated"]).all()


def test_twelve_strongest_measured_peaks_pass() -> None:
    table = studies.measured_table(measured(), Tolerances())
    assert table["Of the 12 strongest peaks pass"].tolist() == [12, 12]


def test_trade_off_is_monotonic() -> None:
    grid = studies.trade_off(measured(), (0.05, 0.5), (0.0, 1.0))
    assert len(grid) == 8
    by_tolerance = grid.pivot_table(["flagged", "covered"], ["pattern", "floor"], "tolerance")
    assert (by_tolerance["flagged"][0.05] >= by_tolerance["flagged"][0.5]).all()
    assert (by_tolerance["covered"][0.05] < by_tolerance["covered"][0.5]).all()


def test_every_flagged_measured_peak_has_a_cause() -> None:
    flagged = failures.explained(measured(0.1), Tolerances(0.1))
    synchrotron = flagged[flagged["Pattern"] == "Na2Ca3Al2F14"]
    # CaF2 111, 220 and 311 at 0.413909 Å: 7.52°, 12.30° and 14.43°.
    fluorite = synchrotron[synchrotron["Cause"] == "line of the impurity CaF2"]["2θ (degree)"]
    for angle in (7.52, 12.30, 14.43):
        assert np.abs(fluorite - angle).min() < 0.01
    noise = flagged[flagged["Cause"] == "no line: noise?"]
    assert (noise["Prominence / noise"] < 5).all()
    assert len(noise) <= 2


def test_nothing_flagged_gives_an_empty_table() -> None:
    strongest = [m._replace(passes=np.ones_like(m.passes)) for m in measured()]
    assert len(failures.explained(strongest, Tolerances())) == 0


def test_coverage_grows_with_tolerance_in_every_system() -> None:
    entries = design.sample(30, 2)
    frame = studies.coverage_frame(entries, references(), (0.1, 0.5))
    assert len(frame) == 60
    table = studies.coverage_table(frame)
    assert table["materials"].sum() == 30
    assert (table[0.1] < table[0.5]).all()


def test_confusing_materials_passes_more_often_with_a_wider_tolerance() -> None:
    narrow, wide = (studies.confused(references(), Tolerances(t), draws=4000) for t in (0.05, 1.0))
    assert 0 < narrow < wide < 1
    one = LineTable.from_references([silicon(), silicon()])
    assert studies.confused(one, Tolerances(0.05), draws=100) == 1.0


def test_a_longer_cell_flags_true_lines_as_bragg_predicts() -> None:
    table = studies.strained((0.0, 0.01), (0.1, 5.0))
    assert table.loc[0.0].tolist() == [0.0, 0.0]
    # Δ2θ = 2 tan θ · 0.01 exceeds 0.1° above 2θ = 10°, and stays below 5° to 2θ = 154°.
    assert table.loc[0.01, 0.1] > 0.9
    assert table.loc[0.01, 5.0] == 0.0


def test_gallery_shows_what_its_titles_say() -> None:
    cases = failures.gallery(design.sample(30, 2), references(), Tolerances())
    table = failures.summary(cases)
    impurity, fluorite, weak, cell, crowd = (row for _, row in table.iterrows())
    assert impurity["Consistent"] == 0 and impurity["Violation"] >= 3
    assert fluorite["Violation"] == 0 and fluorite["Consistent"] == impurity["Violation"]
    assert weak["Consistent"] == 0 and weak["Violation"] >= 1
    assert cell["Consistent"] and cell["Violation"]
    assert crowd["Consistent"] > crowd["Violation"]


def test_weak_lines_pass_without_a_floor() -> None:
    assert failures.weak_lines(Tolerances(0.5, 0.0)).claims == ()


def test_covered_parts_add_up_to_the_coverage() -> None:
    tolerances = Tolerances(0.5)
    starts, widths = figures.covered(silicon(), tolerances)
    assert (widths > 0).all()
    assert (starts[1:] >= (starts + widths)[:-1]).all()
    assert widths.sum() / 80 == pytest.approx(design.coverage(silicon().table, tolerances)[0])


def test_sticks_show_one_triangle_a_possible_claim() -> None:
    claims = [Claim("two_theta", a) for a in (28.44, 33.2, 47.3, 200.0)]
    figure = figures.sticks(silicon(), Tolerances(), claims)
    (panel,) = figure.axes
    triangles = [line for line in panel.get_lines() if line.get_marker() == "v"]
    assert [float(line.get_xdata()[0]) for line in triangles] == [28.44, 33.2, 47.3]
    labels = panel.get_legend_handles_labels()[1]
    assert labels.count("consistent") == 1 and "violation" in labels


def test_bragg_picture_marks_the_spacings_that_have_an_angle() -> None:
    figure = figures.bragg(spacings=[0.5, 3.1357])
    marked = figure.axes[1].get_lines()[-1]
    assert marked.get_xdata().tolist() == [3.1357]
    assert marked.get_ydata()[0] == pytest.approx(28.44, abs=0.01)


def test_measured_picture_marks_flagged_peaks_too() -> None:
    one = measured()[0]._replace(passes=np.arange(len(measured()[0].passes)) % 2 == 0)
    figure = figures.measured([one])
    labels = figure.axes[0].get_legend_handles_labels()[1]
    assert labels == ["6 of the 12 strongest: consistent", "6 of the 12 strongest: violation"]


def test_chapter_figures_have_a_panel_for_each_part() -> None:
    frame = studies.coverage_frame(design.sample(30, 2), references(), (0.1, 0.5))
    assert len(figures.coverage(frame, 0.5).axes) == 2
    assert len(figures.trade_off(studies.trade_off(measured(), (0.1, 0.5))).axes) == 2
    cases = failures.gallery(design.sample(30, 2), references(), Tolerances())
    assert len(figures.gallery(cases).axes) == len(cases)
