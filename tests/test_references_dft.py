"""The DFT table: what it holds, its traps, and tables of one's own."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matpcr_utils.errors import MatPCRError
from matpcr_utils.references import dft


def test_submodules_are_found_by_name_and_nothing_else_is():
    from matpcr_utils import references

    assert references.dft is dft
    assert {"archives", "dft", "spectra", "patterns"} <= set(dir(references))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = references.nothing


def test_counts_are_those_of_the_join():
    table, everything = dft.load(), dft.load(complete=False)
    assert (len(table), len(everything)) == (2938, 3938)
    assert int((~np.isnan(everything.band_gap)).sum()) == 3909
    assert int((~np.isnan(everything.total_magnetization)).sum()) == 2951
    assert int((everything.band_gap == 0).sum()) == 1593
    assert int((~np.isnan(table.energy_above_hull_recent)).sum()) == 2860


def test_complete_rows_lack_nothing_but_the_recent_hull():
    table = dft.load()
    for name in dft.NUMBER_COLUMNS:
        if name != "energy_above_hull_recent":
            assert not np.isnan(getattr(table, name)).any(), name
    assert (table.energy_above_hull >= 0).all()
    assert (table.band_gap >= 0).all()
    assert set(table.match_quality) <= set(dft.MATCH_QUALITIES) - {"none", "direct"}
    assert len(set(table.material_id)) == len(table)


def test_cells_are_whole_numbers_of_formula_units():
    from pymatgen.core import Composition

    table = dft.load()
    atoms = np.array([Composition(formula).num_atoms for formula in table.formula[:300]])
    assert np.array_equal(table.formula_units[:300] * atoms, table.nsites[:300])


def test_chromium_oxide_carries_a_ferromagnetic_total():
    entry = dft.entry("mp-19399")
    assert (entry.formula, entry.nsites, entry.space_group) == ("Cr2O3", 10, "R-3c")
    assert entry.total_magnetization == 12.0000422
    assert entry.match_quality == "unique"
    assert entry.total_magnetization / entry.nsites == pytest.approx(1.2, abs=1e-4)


def test_tiny_gaps_of_metals_are_kept():
    assert dft.entry("mp-54").band_gap == pytest.approx(0.0547, abs=1e-4)  # cobalt
    assert dft.entry("mp-54").total_magnetization is None
    assert dft.entry("mp-10257").band_gap == pytest.approx(0.0076, abs=1e-4)  # nickel


def test_hulls_moved_between_database_versions():
    entry = dft.load(complete=False).entry("mp-11310")
    assert entry.formula == "CdNi"
    assert entry.energy_above_hull == pytest.approx(0.394, abs=5e-4)
    table = dft.load()
    both = ~np.isnan(table.energy_above_hull_recent)
    old, new = table.energy_above_hull[both] <= 0.05, table.energy_above_hull_recent[both] <= 0.05
    assert int((old != new).sum()) == 47


def test_structures_are_decoded_with_their_cells():
    entry = dft.load().entry("mp-10000")
    structure = entry.structure
    assert structure.composition.reduced_formula == entry.formula == "Hf2S"
    assert len(structure) == entry.nsites
    assert structure.lattice.a == pytest.approx(3.38667876)
    assert entry.structure is structure
    assert len(entry.structures) == 3938
    assert "mp-10000" in set(entry.structures)


def test_rows_entries_and_frames_agree():
    table = dft.load().take(np.array([5, 2]))
    assert [entry.material_id for entry in table] == list(table.material_id)
    again = dft.from_frame(table.to_frame())
    assert list(again) == list(table)
    assert again.row(0).band_gap == table.band_gap[0]


def test_missing_values_of_an_entry_are_none():
    frame = pd.DataFrame({"material_id": ["a"], "formula": ["Fe2O3"], "nsites": [10]})
    entry = dft.from_frame(frame).row(0)
    assert entry.formula_units == 2
    assert entry.band_gap is entry.energy_above_hull is entry.space_group is None
    assert entry.match_quality == "direct"
    with pytest.raises(MatPCRError, match=r"a \(Fe2O3\) carries no structure"):
        _ = entry.structure


def test_chemical_system_takes_any_order_and_includes_the_elements():
    found = dft.chemical_system("O-Si")
    assert [e.material_id for e in dft.chemical_system("Si-O")] == [e.material_id for e in found]
    assert {e.formula for e in found} == {"SiO2", "Si", "O2"}
    with pytest.raises(MatPCRError, match="'Xx' is no element"):
        dft.chemical_system("Xx-O")


def test_unknown_id_is_named():
    with pytest.raises(MatPCRError, match="'mp-0' is not among the 2938 entries"):
        dft.load().entry("mp-0")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"material_id": ["a", "a"]}, "occurs twice"),
        ({"nsites": [0, 4]}, "nsites = 0 of a must be at least 1"),
        ({"band_gap": [-0.1, 1.0]}, r"band_gap = -0.1 of a is not possible"),
        ({"energy_above_hull": [np.inf, 0.0]}, "energy_above_hull = inf of a is not possible"),
        ({"match_quality": ["good", "unique"]}, "unknown match_quality 'good'"),
        ({"band_gap": ["wide", "1"]}, "'band_gap' holds a value that is no number"),
    ],
)
def test_impossible_values_are_refused(change, message):
    columns = {"material_id": ["a", "b"], "formula": ["Si", "Fe"], "nsites": [2, 1]}
    with pytest.raises(MatPCRError, match=message):
        dft.from_frame(pd.DataFrame(columns | change))


def test_needed_columns_are_named():
    with pytest.raises(MatPCRError, match="column 'nsites' is missing"):
        dft.from_frame(pd.DataFrame({"material_id": ["a"], "formula": ["Si"]}))


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 2937), max_size=20))
def test_take_keeps_order_and_repeats(rows):
    table = dft.load()
    chosen = table.take(np.array(rows, np.intp))
    assert list(chosen.material_id) == [str(table.material_id[i]) for i in rows]


def test_loading_the_table_imports_neither_pandas_nor_pymatgen():
    code = (
        "import sys; from matpcr_utils import references; references.dft.load();"
        "print({'pandas', 'pymatgen', 'scipy'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
