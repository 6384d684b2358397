"""Figures of the chapter on spectra show what they are given."""

import matplotlib
import numpy as np
import pandas as pd
import pytest

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from matpcr_utils.plotting import COLORS
from matpcr_utils.plotting import spectra as plots
from matpcr_utils.references import spectra
from matpcr_utils.references.peaks import prepared
from matpcr_utils.references.spectra import Spectrum


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def test_preparation_marks_spikes_and_bands():
    source = spectra.get("icv-bwtek-785-100-scal")
    spiked = source.intensity.copy()
    spiked[900] += 30000
    figure = plots.preparation(Spectrum.from_arrays(source.shift, spiked))
    raw, below, result = figure.axes
    assert raw.lines[1].get_xdata().tolist() == [source.shift[900]]
    assert below.lines[1].get_label() == "baseline"
    bands = result.lines[2].get_xdata()
    assert np.abs(bands - 1086).min() < 1


def test_judged_colours_each_claim_by_its_verdict():
    figure = plots.judged(spectra.get("icv-bwtek-785-100-s0n"), [520.5, 700.0])
    (panel,) = figure.axes
    colors = [line.get_color() for line in panel.lines[1:]]
    assert colors == [COLORS["consistent"], COLORS["violation"]]


def test_gallery_has_a_panel_for_each_case_and_names_the_reason():
    tio2 = spectra.get("icv-bwtek-785-20x-tio2-100pc")
    figure = plots.gallery([("a", tio2, 620.0), ("b", tio2, 639.0), ("c", tio2, 700.0)])
    titles = [panel.get_title(loc="left") for panel in figure.axes]
    assert titles[0].endswith("shoulder")
    assert titles[1].endswith("peak")
    assert titles[3] == ""


def test_line_positions_has_a_row_for_each_instrument():
    readings = pd.DataFrame({"instrument": ["a", "a", "b"], "position": [520.0, 521.0, 519.0]})
    (panel,) = plots.line_positions(readings, 520.45, 5.0).axes
    assert [label.get_text() for label in panel.get_yticklabels()] == ["a", "b"]


def test_sensitivity_prints_every_rate():
    grid = pd.DataFrame(
        [(2, 0.05, 0.9, 0.0, 0.02), (5, 0.05, 0.95, 0.0, 0.03)],
        columns=["window", "prominence", "true", "planted", "chance"],
    )
    figure = plots.sensitivity(grid)
    texts = [text.get_text() for panel in figure.axes for text in panel.texts]
    assert texts == ["0.900", "0.950", "0.000", "0.000", "0.020", "0.030"]


def test_bands_of_the_cached_spectrum_are_not_changed_by_plotting():
    spectrum = spectra.get("raman-fitting-si-1")
    before = prepared(spectrum).position.copy()
    plots.judged(spectrum, [520.0])
    assert (prepared(spectrum).position == before).all()
