"""Structures from CIF files, right and wrong."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from pymatgen.core import Lattice, Structure

from matpcr_utils.errors import MatPCRError
from matpcr_utils.references.cif import structure_from_cif, structure_from_text
from matpcr_utils.references.lines import lines_of

SILICON = """\
data_Si
_cell_length_a 5.4309(2)
_cell_length_b 5.4309(2)
_cell_length_c 5.4309(2)
_cell_angle_alpha 90
_cell_angle_beta 90
_cell_angle_gamma 90
_symmetry_space_group_name_H-M 'F d -3 m'
_symmetry_Int_Tables_number 227
loop_
_atom_site_label
_atom_site_type_symbol
_atom_site_fract_x
_atom_site_fract_y
_atom_site_fract_z
_atom_site_occupancy
Si1 Si 0.0 0.0 0.0 1
"""
SYMMETRY = "_symmetry_space_group_name_H-M 'F d -3 m'\n_symmetry_Int_Tables_number 227\n"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MATPCR_CACHE", str(tmp_path / "cache"))


def silicon() -> Structure:
    return Structure.from_spacegroup("Fd-3m", Lattice.cubic(5.4311946), ["Si"], [[0, 0, 0]])


def test_cif_is_read(tmp_path: Path) -> None:
    file = tmp_path / "Si.cif"
    silicon().to(filename=str(file))
    read = lines_of(structure_from_cif(file))
    assert read.hkl == lines_of(silicon()).hkl
    np.testing.assert_allclose(read.d, lines_of(silicon()).d, rtol=1e-7)


@pytest.mark.parametrize("text", ["", "this is no CIF", "data_x\n_cell_length_a 5\n", "\x00\xff"])
def test_cif_that_cannot_be_parsed_is_one_line_with_its_name(tmp_path: Path, text: str) -> None:
    file = tmp_path / "broken.cif"
    file.write_text(text, encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(MatPCRError, match=r"broken\.cif") as caught:
            structure_from_cif(file)
    assert "\n" not in str(caught.value)


def test_missing_cif_is_named(tmp_path: Path) -> None:
    with pytest.raises(MatPCRError, match=r"can't read .*absent\.cif"):
        structure_from_cif(tmp_path / "absent.cif")


def test_symmetry_makes_all_atoms() -> None:
    assert len(structure_from_text(SILICON, "Si.cif")) == 8
    by_number = SILICON.replace(SYMMETRY, "_symmetry_Int_Tables_number 227\n")
    assert len(structure_from_text(by_number, "Si.cif")) == 8
    plain = SILICON.replace(SYMMETRY, "_symmetry_space_group_name_H-M 'P 1'\n")
    assert len(structure_from_text(plain, "Si.cif")) == 1


def test_a_block_without_a_cell_is_passed_over() -> None:
    text = f"data_global\n_publ_section_title 'Silicon'\n\n{SILICON}"
    assert len(structure_from_text(text, "Si.cif")) == 8


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (SYMMETRY, "", "Si.cif states no space group or symmetry operation that is known"),
        (SYMMETRY, "_symmetry_space_group_name_H-M 'Zz 99'\n", "states no space group"),
        (SYMMETRY, "_symmetry_Int_Tables_number 999\n", "states no space group"),
        ("length_a 5.4309(2)", "length_a nan", "Si.cif states _cell_length_a = nan, which must"),
        ("length_b 5.4309(2)", "length_b -5.43", "states _cell_length_b = -5.43, which must"),
        ("length_c 5.4309(2)", "length_c inf", "states _cell_length_c = inf, which must"),
        ("length_c 5.4309(2)", "length_c 0", "states _cell_length_c = 0, which must"),
        ("alpha 90", "alpha 200", "_cell_angle_alpha = 200, which must be positive and below 180"),
        ("gamma 90", "gamma nan", "_cell_angle_gamma = nan, which must be positive and below 180"),
        ("0.0 1\n", "0.0 1.7\n", r"Occupancy 1.7 exceeded tolerance"),
        ("Si1 Si 0.0", "Si1 Si nan", "holds no structure that can be read"),
        ("Si1 Si 0.0", "Si1 Si ?", "holds no structure that can be read"),
    ],
)
def test_what_a_parser_would_bend_is_refused(old: str, new: str, says: str) -> None:
    assert old in SILICON
    with pytest.raises(MatPCRError, match=says) as caught:
        structure_from_text(SILICON.replace(old, new), "Si.cif")
    assert "\n" not in str(caught.value)


def test_several_structures_leave_open_which_is_meant() -> None:
    other = SILICON.replace("data_Si", "data_Ge").replace("Si1 Si", "Ge1 Ge")
    with pytest.raises(MatPCRError, match=r"both\.cif holds 2 structures \(Si, Ge\)"):
        structure_from_text(f"{SILICON}\n{other}", "both.cif")
