import matplotlib as mpl
import numpy as np
import pytest

from matpcr_utils import controls
from matpcr_utils.plotting import controls as plots

mpl.use("Agg")


@pytest.fixture(scope="module")
def results():
    return [controls.run(name, n=500) for name in ("stability", "metallicity")]


def test_rates_show_one_row_a_control_with_its_counts(results):
    figure = plots.rates(results)
    missed, flagged = figure.axes
    assert [label.get_text() for label in missed.get_yticklabels()] == [
        "stability, 30% planted",
        "metallicity, 30% planted",
    ]
    assert [text.get_text() for text in missed.texts] == ["0 of 150", "0 of 150"]
    assert [text.get_text() for text in flagged.texts] == ["0 of 350", "0 of 350"]
    assert figure.get_facecolor() == (1.0, 1.0, 1.0, 1.0)


def test_chance_shows_every_judged_reference():
    result = controls.chance("stability", draws=10)
    panel = plots.chance(result).axes[0]
    assert sum(bar.get_height() for bar in panel.patches) == np.isfinite(result.by_reference).sum()
    bars = plots.chance_by_oracle([result]).axes[0]
    assert bars.patches[0].get_width() == pytest.approx(result.passes.estimate)
