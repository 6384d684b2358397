"""Models side by side: tables, overall rates, pairs, figures; and the mean over groups."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot as plt

from matpcr_utils.errors import MatPCRError
from matpcr_utils.evaluation import comparison, recorded, results
from matpcr_utils.plotting import models as figures
from matpcr_utils.statistics import bootstrap, bootstrap_macro

FAST = {"resamples": 500}


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return results.judge(recorded.load(n_items=4, seeds=2))


@pytest.fixture(scope="module")
def summary(table: pd.DataFrame) -> pd.DataFrame:
    return results.summary(table, **FAST)


def made(outcomes: dict[tuple[str, str], str]) -> pd.DataFrame:
    """A judged table: outcomes as letters c, v, a of each (model, constraint)."""
    words = {"c": "consistent", "v": "violation", "a": "abstain"}
    rows = [
        {
            "model": model,
            "constraint": constraint,
            "modality": "text",
            "item_id": f"{constraint}-{number}",
            "source_id": f"source-{number}",
            "seed": 0,
            "outcome": words[letter],
        }
        for (model, constraint), letters in outcomes.items()
        for number, letter in enumerate(letters)
    ]
    return pd.DataFrame(rows)


# The mean over groups


def test_groups_weigh_the_same_however_large() -> None:
    found = bootstrap_macro([True] * 9 + [False], ["a"] * 9 + ["b"], **FAST)
    assert found.estimate == 0.5 and found.groups == 2 and found.n == 10
    assert found.degenerate and (found.lower, found.upper) == (0.5, 0.5)


def test_one_group_is_the_bootstrap_over_sources() -> None:
    rng = np.random.default_rng(0)
    passed, sources = rng.random(120) < 0.6, np.repeat(np.arange(40), 3)
    macro = bootstrap_macro(passed, ["a"] * 120, sources)
    plain = bootstrap(passed, sources)
    assert macro.estimate == pytest.approx(plain.estimate)
    assert macro.n_sources == plain.n_sources == 40
    # Monte-Carlo error of an end with 10,000 resamples of 40 sources.
    assert [macro.lower, macro.upper] == pytest.approx([plain.lower, plain.upper], abs=0.015)


def test_the_interval_of_two_equal_groups_is_narrower_by_root_two() -> None:
    passed = np.tile([True, False], 100)
    one = bootstrap_macro(passed, np.zeros(200))
    two = bootstrap_macro(np.tile(passed, 2), np.repeat([0, 1], 200))
    ratio = (one.upper - one.lower) / (two.upper - two.lower)
    assert ratio == pytest.approx(np.sqrt(2), rel=0.05)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 3), st.integers(0, 5)), min_size=1))
def test_the_mean_lies_in_its_range(items: list[tuple[bool, int, int]]) -> None:
    passed, groups, sources = (list(column) for column in zip(*items, strict=True))
    found = bootstrap_macro(passed, groups, sources, resamples=200)
    assert 0 <= found.lower <= found.upper <= 1
    by_group = pd.Series(passed, dtype=float).groupby(groups).mean()
    assert found.estimate == pytest.approx(by_group.mean())


def test_a_mean_without_items_is_refused() -> None:
    with pytest.raises(MatPCRError, match="no item can be judged"):
        bootstrap_macro(np.array([], bool), [])


# Tables


def test_a_cell_without_a_judged_chain_shows_a_dash(summary: pd.DataFrame) -> None:
    shown = comparison.cells(summary).data
    assert len(shown) == len(summary)
    image = shown[(shown["model"] == "smollm2") & (shown["constraint"] == "spectra")]
    assert image[["PCR [95%]", "coverage"]].to_numpy().tolist() == [["–", "–"]]


def test_where_all_chains_agree_wilson_s_interval_stands(summary: pd.DataFrame) -> None:
    shown = comparison.cells(summary).data
    flat = summary["degenerate"] & (summary["n"] > 0)
    assert flat.any() and not flat.all()
    for text, row in zip(shown["PCR [95%]"], summary.to_dict("records"), strict=True):
        assert text.endswith(" W") == bool(row["n"] and row["degenerate"])
        if row["n"]:
            lower = row["wilson_lower" if row["degenerate"] else "lower"]
            assert text.startswith(f"{row['pcr']:.3f} [{lower:.3f}, ")


def test_the_two_weightings_are_told_apart() -> None:
    table = made({("m", "stability"): "cccc", ("m", "spectra"): "vvaa"})
    (row,) = comparison.overall(table, **FAST).to_dict("records")
    assert row["macro"] == 0.5 and row["pooled"] == pytest.approx(4 / 6)
    assert (row["types"], row["n"]) == (2, 6)


def test_the_same_item_in_two_modalities_is_not_counted_twice() -> None:
    table = made({("m", "spectra"): "cv"})
    twice = pd.concat([table, table.assign(modality="image")])
    with pytest.raises(MatPCRError, match="count them twice"):
        comparison.overall(twice, **FAST)


def test_the_pooled_column_stands_last_and_pools() -> None:
    table = made({("m", "stability"): "cccc", ("m", "metallicity"): "vvvv"})
    found = comparison.dft_column(table, **FAST)
    assert list(found["constraint"]) == ["stability", "metallicity", "DFT, pooled"]
    assert list(found["pcr"]) == [1.0, 0.0, 0.5]
    with pytest.raises(MatPCRError, match="DFT-grounded"):
        comparison.dft_column(made({("m", "spectra"): "cv"}))


def test_pairs_are_exact_and_corrected() -> None:
    # Six items that only the second passes: 2 (1/2)^6; and none apart: 1.
    table = made(
        {
            ("one", "stability"): "vvvvvvcc",
            ("two", "stability"): "cccccccc",
            ("one", "spectra"): "cva",
            ("two", "spectra"): "cvc",
        }
    )
    found = comparison.pairs(table, "one", "two", **FAST).set_index("constraint")
    assert found.loc["stability", "p_value"] == 2 / 64
    assert found.loc["stability", "holm"] == 4 / 64
    assert found.loc["stability", "difference"] == 0.75
    assert found.loc["spectra", "n"] == 2 and found.loc["spectra", "p_value"] == 1.0


def test_pairs_that_cannot_be_made_are_refused() -> None:
    table = made({("one", "stability"): "c", ("two", "spectra"): "c"})
    with pytest.raises(MatPCRError, match="share no judged item"):
        comparison.pairs(table, "one", "two")
    with pytest.raises(MatPCRError, match="three is not in the table: choose of one, two"):
        comparison.pairs(table, "one", "three")


def test_copies_make_only_the_interval_over_chains_narrower(table: pd.DataFrame) -> None:
    widths = comparison.half_widths(table, "matpcr/instrument")
    varied = widths[widths["bootstrap over items"] > 0]
    assert len(varied)
    ratio = varied["bootstrap over items"] / varied["bootstrap over chains"]
    assert (ratio > 1.15).all()
    with pytest.raises(MatPCRError, match="no judged chain of nobody"):
        comparison.half_widths(table, "nobody")


def test_a_cell_is_traced_to_its_runs(table: pd.DataFrame) -> None:
    found = comparison.runs_behind(table, "matpcr/smollm2", "stability")
    assert found["chains"].sum() == 8 and found["examples"].item() == 3
    with pytest.raises(MatPCRError, match="no chain of nobody"):
        comparison.runs_behind(table, "nobody", "stability")


# Figures


def test_chance_is_drawn_in_every_panel(summary: pd.DataFrame) -> None:
    figure = figures.forest(summary)
    panels = [panel for panel in figure.axes if panel.get_visible()]
    assert len(panels) == 6
    for panel in panels:
        own = summary[summary["constraint"] == panel.get_title()]
        drawn = [line.get_xdata()[0] for line in panel.lines if line.get_linestyle() == "--"]
        assert drawn == [pytest.approx(own["chance"].mean())]
        said = [text.get_text() for text in panel.texts]
        assert said.count("not asked: image") == (own["unsupported"] > 0).sum()
    plt.close(figure)


def test_figures_show_every_row(table: pd.DataFrame) -> None:
    found = comparison.dft_column(table, **FAST)
    figure = figures.dft_column(found)
    marks = [line for line in figure.axes[0].lines if line.get_marker() not in ("None", "")]
    assert sum(len(line.get_xdata()) for line in marks) == len(found)
    widths = comparison.half_widths(table, "matpcr/instrument", **FAST)
    bars = figures.units(widths).axes[0].patches
    assert [bar.get_height() for bar in bars] == pytest.approx(widths.to_numpy().T.ravel())
    plt.close("all")
