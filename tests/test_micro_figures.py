"""Figures of the microscopy chapter draw what they are given."""

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")

from matplotlib import pyplot as plt

from matpcr_utils.controls import microscopy as control
from matpcr_utils.controls import scalebar
from matpcr_utils.errors import MatPCRError
from matpcr_utils.oracles.microscopy import FieldOfView, Tolerances
from matpcr_utils.plotting import microscopy as figures


@pytest.fixture(scope="module")
def trial():
    return scalebar.trial([0, 2, 3])


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


def test_the_gallery_frames_bars_and_names_images(trial):
    figure = figures.gallery(trial.images, trial.calibrations, truth=True)
    titles = [panel.get_title(loc="left") for panel in figure.axes]
    assert all("simulated" in title for title in titles)
    # True bar, detected bar and label.
    found = [c.bar is not None for c in trial.calibrations]
    assert [len(panel.patches) for panel in figure.axes] == [3 if f else 1 for f in found]
    with pytest.raises(MatPCRError, match="0 images"):
        figures.gallery([], [])


def test_the_field_of_view_shows_three_extents(trial):
    image, calibration = trial.images[1], trial.calibrations[1]
    field = FieldOfView.of(image, calibration)
    figure = figures.field_of_view(image, field, calibration)
    texts = " ".join(text.get_text() for text in figure.axes[0].texts)
    for extent in ("width", "height", "diagonal"):
        assert f"{extent} {field.extent_nm(extent):.4g} nm" in texts


def test_decisions_change_at_the_extents():
    field = FieldOfView(2.0, 1000, 750)
    panel = figures.decisions(field, Tolerances(size_tolerance=0.1)).axes[0]
    starts = sorted({bar.get_x() for bar in panel.patches})[1:]
    assert starts == pytest.approx([1650, 2200, 2750])
    with pytest.raises(MatPCRError, match="calibrate it first"):
        figures.decisions(FieldOfView(None, 10, 10))


def test_errors_and_tolerances(trial):
    first, _ = figures.length_errors(trial).axes
    counted = sum(bar.get_height() for bar in first.patches)
    assert counted == np.isfinite(trial.length_error[trial.correct]).sum()
    references = control.from_micrographs(trial.images)
    grid = control.by_scale_tolerance(references)
    panel = figures.scale_tolerances(grid).axes[0]
    assert [line.get_label() for line in panel.lines] == [
        "true", "off by 1.25", "off by 2", "off by 1000",
    ]  # fmt: skip
    assert panel.lines[0].get_ydata().tolist() == [1.0] * len(grid)
