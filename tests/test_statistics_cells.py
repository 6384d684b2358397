import numpy as np
import pandas as pd
import pytest

from matpcr_utils.errors import MatPCRError
from matpcr_utils.statistics import bootstrap_counts, bootstrap_pcr, pcr_cells


def judged(seed=0, models=3, constraints=2, items=30, seeds=3, abstain=0.1):
    rng = np.random.default_rng(seed)
    rows = [
        (f"model {m}", f"constraint {c}", f"item {i}", s)
        for m in range(models)
        for c in range(constraints)
        for i in range(items)
        for s in range(seeds)
    ]
    frame = pd.DataFrame(rows, columns=["model", "constraint", "item", "seed"])
    chances = [0.6 * (1 - abstain), 0.4 * (1 - abstain), abstain]
    frame["outcome"] = rng.choice(["consistent", "violation", "abstain"], len(frame), p=chances)
    return frame


@pytest.mark.parametrize("abstain", [0.0, 0.1])
@pytest.mark.parametrize("source", [None, "item"])
def test_each_row_is_the_bootstrap_of_its_cell(abstain, source):
    frame = judged(abstain=abstain).sample(frac=1, random_state=1)
    table = pcr_cells(frame, ["model", "constraint"], source=source, seed=5)
    assert len(table) == 6
    for row in table.itertuples():
        cell = frame[(frame.model == row.model) & (frame.constraint == row.constraint)]
        alone = bootstrap_pcr(cell.outcome, None if source is None else cell[source], seed=5)
        assert (row.n, row.n_sources, row.pcr) == (alone.n, alone.n_sources, alone.estimate)
        assert (row.lower, row.upper) == pytest.approx((alone.lower, alone.upper), abs=1e-12)
        assert row.abstained == (cell.outcome == "abstain").sum()
        assert not row.degenerate and row.seed == 5
        if source is None:
            beside = alone.beside("wilson")
            assert (row.wilson_lower, row.wilson_upper) == pytest.approx(
                (beside.lower, beside.upper)
            )
        else:
            assert row.wilson_lower is pd.NA and row.wilson_upper is pd.NA


def test_items_alone_agree_with_counts():
    frame = judged(seeds=1, abstain=0.0)
    table = pcr_cells(frame, ["model", "constraint"])
    lower, upper = bootstrap_counts(table["count"], table["n"])
    assert np.allclose(table.lower, lower, atol=1e-12)
    assert np.allclose(table.upper, upper, atol=1e-12)


def test_cells_at_the_edges():
    frame = pd.DataFrame(
        {
            "model": ["all"] * 4 + ["none"] * 4 + ["silent"] * 2 + ["single"],
            "outcome": ["consistent"] * 4 + ["violation"] * 4 + ["abstain"] * 2 + ["violation"],
            "item": [1, 1, 2, 2] * 2 + [1, 2, 1],
        }
    )
    table = pcr_cells(frame, ["model"], source="item").set_index("model")
    assert table.degenerate.all()
    assert table["count"].tolist() == [4, 0, 0, 0]
    assert table.abstained.tolist() == [0, 0, 2, 0]
    assert table.loc["silent", "pcr"] is pd.NA
    assert (table.loc["silent", "lower"], table.loc["silent", "upper"]) == (0, 1)
    # Two sources that agree: Wilson's lower end is n / (n + z^2) (Wilson 1927, at p = 1).
    assert table.loc["all", "wilson_lower"] == pytest.approx(2 / (2 + 1.959964**2), abs=1e-6)
    assert table.loc["none", "wilson_upper"] == pytest.approx(
        1 - table.loc["all", "wilson_lower"], abs=1e-12
    )


def test_the_order_of_rows_and_other_cells_do_not_matter():
    frame = judged()
    table = pcr_cells(frame, ["model", "constraint"], source="item")
    shuffled = pcr_cells(
        frame.sample(frac=1, random_state=3), ["model", "constraint"], source="item"
    )
    keys = ["model", "constraint"]
    pd.testing.assert_frame_equal(
        table.sort_values(keys, ignore_index=True), shuffled.sort_values(keys, ignore_index=True)
    )
    only = pcr_cells(frame[frame.model == "model 1"], keys, source="item")
    pd.testing.assert_frame_equal(
        only, table[table.model == "model 1"].reset_index(drop=True), check_exact=False
    )


def test_an_empty_table_gives_no_row():
    frame = judged().iloc[:0]
    table = pcr_cells(frame, ["model"], source="item")
    assert len(table) == 0 and "pcr" in table


def test_bad_tables_are_named():
    frame = judged()
    with pytest.raises(MatPCRError, match="no column 'provider'"):
        pcr_cells(frame, ["provider"])
    with pytest.raises(MatPCRError, match="names the cells"):
        pcr_cells(frame, [])
    with pytest.raises(MatPCRError, match="passed"):
        pcr_cells(frame.assign(outcome="passed"), ["model"])
    with pytest.raises(MatPCRError, match="item 0 has no source"):
        pcr_cells(frame.assign(item=None), ["model"], source="item")
