"""Questions asked of the references, and the figures that show the answers."""

from __future__ import annotations

import matplotlib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matpcr_utils.errors import MatPCRError
from matpcr_utils.plotting import data as plots
from matpcr_utils.references import audit, dft, patterns, provenance, spectra
from matpcr_utils.references.spectra import Spectrum

matplotlib.use("Agg")


def _table(old, new, **columns):
    n = len(old)
    base = {
        "material_id": [f"m{i}" for i in range(n)],
        "formula": ["NaCl"] * n,
        "nsites": [2] * n,
        "energy_above_hull": old,
        "energy_above_hull_recent": new,
        "total_magnetization": np.zeros(n),
        "band_gap": np.zeros(n),
    }
    return dft.from_frame(pd.DataFrame(base | columns))


def test_a_verdict_flips_only_across_the_threshold_and_never_where_one_is_missing():
    table = _table([0.0, 0.05, 0.0, 0.2, 0.06], [0.0, 0.051, np.nan, 0.0, 0.3])
    assert list(audit.flipped(table, 0.05)) == [False, True, False, True, False]


def test_the_cross_table_counts_the_same_flips():
    counts = audit.verdicts_by_version(dft.load(), 0.05)
    assert counts.loc["all", "all"] == 2860
    changed = counts.loc["above", "near-hull"] + counts.loc["near-hull", "above"]
    assert changed == audit.flipped(dft.load(), 0.05).sum() == 47


@settings(max_examples=30, deadline=None)
@given(st.floats(0, 1))
def test_flips_are_symmetric_in_the_two_versions(near_hull):
    table = dft.load()
    swapped = table.to_frame().rename(
        columns={
            "energy_above_hull": "energy_above_hull_recent",
            "energy_above_hull_recent": "energy_above_hull",
        }
    )
    there, back = audit.flipped(table, near_hull), audit.flipped(dft.from_frame(swapped), near_hull)
    assert np.array_equal(there, back)


def test_movers_are_sorted_by_how_far_they_moved():
    table = _table([0.0, 0.5, 0.0], [0.1, 0.0, np.nan])
    assert list(audit.movers(table, 2).index) == ["m1", "m0"]


def test_moments_are_counted_by_match_quality():
    table = _table(
        [0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0],
        total_magnetization=[0.11, -0.11, 0.10],
        match_quality=["unique", "unique", "shared"],
    )
    counts = audit.moments_by_match(table)
    assert counts["with a finite net moment"].to_dict() == {"unique": 2, "shared": 0}
    assert audit.moments_by_match(dft.load())["entries"].sum() == 2938


def test_the_silicon_line_spreads_over_five_wavenumbers():
    positions = audit.line_positions(spectra.load(), "silicon", 520.5)["position"]
    assert len(positions) == 36
    assert positions.min() == pytest.approx(518.663, abs=1e-3)
    assert positions.max() == pytest.approx(523.665, abs=1e-3)


def test_no_maximum_in_the_window_is_missing_and_not_zero():
    flat = Spectrum.from_arrays([500, 520, 540], [1, 1, 1], sample="silicon")
    assert np.isnan(audit.line_positions([flat], "silicon", 520.5)["position"][0])
    with pytest.raises(MatPCRError, match="no spectrum of 'gold': choose one of silicon"):
        audit.line_positions([flat], "gold", 100.0)


def test_standards_agree_within_a_thousandth_of_a_degree():
    found = audit.calibrant_agreement(1.540593)
    assert {"Si SRM 640e", "LaB6 SRM 660c", "CeO2 SRM 674b"} <= set(found.index)
    assert (found["lines"] >= 5).all()
    assert found["largest |Δ2θ| (degree)"].max() < 1e-3


def test_metals_with_leftover_gaps_are_found():
    found = audit.metals_with_a_gap(dft.load(complete=False), 0.1)
    assert {"Ni", "Co"} <= set(found["formula"])
    assert not {"Ne", "He", "NaCl", "C"} & set(found["formula"])
    assert found["band_gap"].is_monotonic_increasing


# --- figures


def test_the_funnel_has_a_bar_a_step():
    (panel,) = plots.funnel(provenance.counts()["dft"]).axes
    assert [bar.get_width() for bar in panel.patches] == [3938, 3909, 2951, 2938, 2860]
    assert "2,938" in [text.get_text() for text in panel.texts]


def test_distributions_count_every_entry_once():
    table = dft.load()
    for panel in plots.distributions(table, 0.05).axes:
        assert sum(bar.get_height() for bar in panel.patches) == len(table)


def test_hull_versions_name_the_flips():
    figure = plots.hull_versions(dft.load(), 0.05)
    (legend,) = figure.legends
    texts = [text.get_text() for text in legend.get_texts()]
    assert texts == ["same verdict (2,813)", "verdict changes (47)"]


def test_spectra_are_stacked_and_named():
    chosen = [spectra.get("top-horiba-633-010-s0b"), spectra.get("raman-fitting-testdw38c-1")]
    (panel,) = plots.spectra(chosen).axes
    assert len(panel.lines) == 2
    names = [text.get_text() for text in panel.texts]
    assert "carbon (laser not stated)" in names and "silicon (Horiba, 633 nm)" in names


def test_line_positions_have_a_row_an_instrument():
    positions = audit.line_positions(spectra.load(), "silicon", 520.5)
    (panel,) = plots.line_positions(positions, 520.5).axes
    labels = [label.get_text() for label in panel.get_yticklabels()]
    assert len(labels) == 6 and "TOP, Horiba, 633 nm" in labels
    assert len(panel.collections[0].get_offsets()) == 36


def test_patterns_carry_their_computed_ticks():
    figure = plots.measured_patterns(patterns.load(), strongest=5)
    assert [panel.get_title(loc="left") for panel in figure.axes] == [
        "fluorapatite, λ = 1.5405 Å",
        "Na2Ca3Al2F14, λ = 0.413909 Å",
    ]
    assert all(len(panel.collections[0].get_segments()) == 5 for panel in figure.axes)
