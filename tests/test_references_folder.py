"""A folder of one's own files, and the live Materials Project, as references."""

from __future__ import annotations

import json
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from matpcr_utils.errors import MatPCRError, MissingDependencyError
from matpcr_utils.references import calibrants, folder, materials_project, textfiles

RRUFF = """##NAMES=Corundum
##RRUFFID=R060020
##IDEAL CHEMISTRY=Al_2_O_3_
##FILETYPE=Raman Processed
##RAMAN WAVELENGTH=514

179.5050, 136.8613
180.7290, 44.83008
181.9520, 48.55469
##END=
"""


def _opxrd(primary: str, secondary: str) -> str:
    # As the database's own writer does: JSON within strings, numbers as text.
    xray = json.dumps({"primary_wavelength": primary, "secondary_wavelength": secondary})
    label = json.dumps({"phases": [], "xray_info": xray, "is_simulated": False})
    return json.dumps(
        {"two_theta_values": [10, 20, 30], "intensities": [1, 5, 2], "label": label, "metadata": ""}
    )


def _cif(occupancy: float = 1.0) -> str:
    from pymatgen.io.cif import CifWriter

    structure = calibrants.structure("Si")
    if occupancy < 1:
        structure.replace_species({"Si": {"Si": occupancy}})
    return str(CifWriter(structure))


def _put(path, **files):
    for name, text in files.items():
        (path / name.replace("__", ".")).write_text(text, encoding="utf-8")
    return path


def test_every_kind_of_file_finds_its_place(tmp_path):
    _put(
        tmp_path,
        Si__cif=_cif(),
        Si__xy="# comment\n10 1\n20 5\n30 2\n",
        gel__csv="Raman shift (1/cm);Counts\n100,5;1\n101,5;3\n102,5;2\n",
        R060020__txt=RRUFF,
        opxrd__json=_opxrd("1.54439", "1.54056"),
        notes__md="not read",
        __hidden="",
    )
    (tmp_path / "image.TIF").write_bytes(b"II*\0")
    (tmp_path / "sub").mkdir()
    found = folder.load(tmp_path, wavelength=0.7)
    assert found.structures["Si.cif"].composition.formula == "Si8"
    assert found.disordered == {}
    assert set(found.patterns) == {"Si.xy", "opxrd.json"}
    assert set(found.spectra) == {"gel.csv", "R060020.txt"}
    assert [path.name for path in found.images] == ["image.TIF"]
    assert [path.name for path in found.ignored] == ["notes.md"]
    assert found.structure_of("Si.xy") is found.structures["Si.cif"]
    # A file's own wavelength goes before the argument; Kα1 is the shorter of the two.
    assert (found.patterns["Si.xy"].wavelength, found.patterns["opxrd.json"].wavelength) == (
        0.7,
        1.54056,
    )
    assert found.patterns["opxrd.json"].second_wavelength == 1.54439
    assert list(found.spectra["gel.csv"].shift) == [100.5, 101.5, 102.5]
    rruff = found.spectra["R060020.txt"]
    assert (rruff.sample, rruff.laser_nm, len(rruff)) == ("Corundum", 514.0, 3)


def test_headers_suffixes_and_axes_decide_the_kind(tmp_path):
    _put(
        tmp_path,
        a__csv="2theta,counts\n10,1\n200,1\n300,1\n",
        b__csv="10,1\n20,1\n30,1\n",
        c__csv="100,1\n500,1\n900,1\n",
        d__xy="100 1\n150 2\n170 1\n",
    )
    kinds = {
        file.name: folder._kind(textfiles.read_curve(file), file, "auto")
        for file in sorted(tmp_path.iterdir())
    }
    assert kinds == {
        "a.csv": "pattern",
        "b.csv": "pattern",
        "c.csv": "spectrum",
        "d.xy": "pattern",
    }
    assert (
        folder._kind(textfiles.read_curve(tmp_path / "b.csv"), tmp_path, "spectrum") == "spectrum"
    )


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("broken.cif", "data_x\n_cell_length_a 5\n", "broken.cif holds no structure"),
        ("empty.cif", " \n", "empty.cif holds no structure"),
        ("empty.txt", "", "empty.txt: the file is empty"),
        ("nan.csv", "raman shift,y\n1,2\n2,nan\n3,4\n", "nan.csv: value nan at point 2 of 3"),
        ("words.txt", "only words\nhere\n", "words.txt: no two columns of numbers"),
        ("gap.txt", "1 2\n2 3\nstop\n3 4\n", r"gap.txt: line 3 \('stop'\) is no pair of numbers"),
        ("short.csv", "raman,y\n1,2\n2,3\n", "short.csv: 2 points"),
        ("back.txt", "raman y\n1 2\n3 3\n2 4\n", "back.txt: axis goes from 3 to 2"),
        ("scan.xy", "10 1\n20 5\n30 2\n", "scan.xy: the file does not state its wavelength"),
        ("both.csv", "raman\n520,5,100,2\n521,5,90,1\n", "both.csv: '520,5,100,2' has commas that"),
        ("rows.txt", "raman\n0 99 5\n1 98 6\n2 97 5\n3 96 4\n", "the first of 3 columns counts"),
        ("bad.json", "{}", "bad.json: not an opXRD file"),
        ("worse.json", "[", "worse.json: not an opXRD file"),
    ],
)
def test_a_bad_file_is_one_clear_line(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(MatPCRError, match=message) as caught:
        folder.load(tmp_path)
    assert "\n" not in str(caught.value)
    found = folder.load(tmp_path, strict=False)
    assert list(found.problems) == [name]
    assert found.problems[name] == str(caught.value)


def test_partial_occupancy_is_kept_with_its_reason(tmp_path):
    _put(tmp_path, half__cif=_cif(0.5))
    found = folder.load(tmp_path)
    assert not found.structures["half.cif"].is_ordered
    assert "(Si:0.5) at (" in found.disordered["half.cif"]
    assert "partly or mixedly occupied" in found.disordered["half.cif"]


def test_subfolders_are_read_when_asked(tmp_path):
    (tmp_path / "deep").mkdir()
    _put(tmp_path / "deep", scan__xy="10 1\n20 5\n30 2\n")
    found = folder.load(tmp_path, wavelength=1.54, recursive=True)
    assert list(found.patterns) == ["deep/scan.xy"]
    assert found.structure_of("deep/scan.xy") is None


def test_folders_that_cannot_be_read(tmp_path):
    with pytest.raises(MatPCRError, match="is no folder"):
        folder.load(tmp_path / "none")
    with pytest.raises(MatPCRError, match=r"holds no file to read: put \.cif, \.xy"):
        folder.load(tmp_path)
    with pytest.raises(MatPCRError, match="unknown kind 'xrd'"):
        folder.load(tmp_path, kind="xrd")


BWTEK = """File Version;BWSpec4.11_1
laser_wavelength;784,82
Pixel;Wavelength;Raman Shift;Dark;Dark Subtracted #1;
0;  ;  ;10,0;1,0;
1;785,1;-3,25;10,0;2,5;
2;785,2;0,5;10,0;-1,0;
3;785,3;4,25;10,0;7,5;
"""


def test_instrument_files_are_read_by_their_column_names(tmp_path):
    _put(tmp_path, a__txt=BWTEK)
    spectrum = folder.load(tmp_path).spectra["a.txt"]
    assert list(spectrum.shift) == [-3.25, 0.5, 4.25]
    assert list(spectrum.intensity) == [2.5, -1.0, 7.5]
    assert spectrum.laser_nm == 784.82
    (tmp_path / "a.txt").write_text(BWTEK[:80])
    with pytest.raises(MatPCRError, match=r"a\.txt: not a whole B&W Tek file"):
        folder.load(tmp_path)


def test_an_empty_cell_never_shifts_the_columns(tmp_path):
    _put(tmp_path, a__csv="1;;5\n2;;6\n3;;7\n")
    with pytest.raises(MatPCRError, match="no two columns of numbers"):
        folder.load(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "520,5 100,25\n521 90\n522,5 -80,5e1\n",
        "520,5;100,25\n521;90\n522,5;-805\n",
        "520,5\t100,25\n521\t90\n522,5\t-805\n",
        "520.5,100.25\n521,90\n522.5,-805\n",
        "520.5, 100.25, 1\n521, 90, 1\n522.5, -805, 1\n",
    ],
)
def test_decimal_commas_are_told_from_separators(tmp_path, text):
    path = tmp_path / "scan.txt"
    path.write_text(text)
    curve = textfiles.read_curve(path)
    assert curve.x.tolist() == [520.5, 521.0, 522.5]
    assert curve.y.tolist() == [100.25, 90.0, -805.0]


def test_utf_16_files_are_read(tmp_path):
    path = tmp_path / "scan.txt"
    path.write_text("Raman shift\ty\n100.5\t7\n101.5\t8\n", encoding="utf-16")
    curve = textfiles.read_curve(path)
    assert (curve.x.tolist(), curve.kind) == ([100.5, 101.5], "spectrum")


def test_a_file_that_cannot_be_opened_is_named(tmp_path):
    with pytest.raises(MatPCRError, match=r"can't read .*scan: Is a directory"):
        (tmp_path / "scan").mkdir()
        textfiles.read_curve(tmp_path / "scan")


def test_latin_1_files_are_read(tmp_path):
    (tmp_path / "a.txt").write_bytes("Raman µ\n1 2\n2 3\n3 4\n".encode("latin-1"))
    assert len(folder.load(tmp_path).spectra["a.txt"]) == 3


# --- the Materials Project


def _document(name="mp-1", **changes):
    values = {
        "material_id": name,
        "formula_pretty": "Fe2O3",
        "symmetry": SimpleNamespace(symbol="R-3c", number=167),
        "nsites": 10,
        "formation_energy_per_atom": -1.7,
        "energy_above_hull": 0.01,
        "band_gap": 2.0,
        "total_magnetization": None,
        "structure": "a structure",
    }
    return SimpleNamespace(**(values | changes))


@pytest.fixture
def rester(monkeypatch):
    """A stand-in for mp-api's client that records the query and answers with `documents`."""
    state = SimpleNamespace(documents=[_document()], query=None, key=None, error=None)

    class MPRester:
        def __init__(self, key):
            state.key = key
            self.materials = SimpleNamespace(summary=self)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

        def search(self, **query):
            state.query = query
            if state.error:
                raise state.error
            return state.documents

    client = ModuleType("mp_api.client")
    client.MPRester = MPRester
    monkeypatch.setitem(sys.modules, "mp_api", ModuleType("mp_api"))
    monkeypatch.setitem(sys.modules, "mp_api.client", client)
    monkeypatch.setenv("MP_API_KEY", "secret-key")
    return state


def test_documents_become_the_same_table(rester):
    table = materials_project.load(material_ids=["mp-1"])
    assert rester.key == "secret-key"
    assert rester.query == {
        "fields": list(materials_project.FIELDS),
        "material_ids": ["mp-1"],
    }
    entry = table.entry("mp-1")
    assert (entry.formula, entry.space_group, entry.space_group_number) == ("Fe2O3", "R-3c", 167)
    assert (entry.nsites, entry.formula_units, entry.band_gap) == (10, 2, 2.0)
    assert entry.energy_above_hull == entry.energy_above_hull_recent == 0.01
    assert entry.total_magnetization is None
    assert entry.match_quality == "direct"
    assert entry.structure == "a structure"


def test_missing_values_stay_missing(rester):
    rester.documents = [_document(energy_above_hull=None, band_gap=None, symmetry=None)]
    table = materials_project.load(material_ids=["mp-1"])
    assert np.isnan(table.energy_above_hull[0])
    assert table.row(0).band_gap is table.row(0).space_group is None


def test_a_chemical_system_includes_its_subsystems(rester):
    materials_project.load(chemsys="O-Fe")
    assert rester.query["chemsys"] == ["Fe", "O", "Fe-O"]
    assert rester.query["include_gnome"] is False


def test_what_is_not_there_is_named(rester):
    with pytest.raises(MatPCRError, match="no entry for 'mp-2'"):
        materials_project.load(material_ids=["mp-1", "mp-2"])
    rester.documents = []
    with pytest.raises(MatPCRError, match="no entry for 'Fe-O'"):
        materials_project.load(chemsys="Fe-O")


def test_a_refusal_never_shows_the_key(rester):
    rester.error = RuntimeError("bad key secret-key\nmore")
    with pytest.raises(MatPCRError, match="refused the request") as caught:
        materials_project.load(material_ids=["mp-1"])
    assert "secret-key" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_key_extra_and_selection_are_asked_for(monkeypatch):
    monkeypatch.delenv("MP_API_KEY", raising=False)
    with pytest.raises(MatPCRError, match="set MP_API_KEY"):
        materials_project.load(material_ids=["mp-149"])
    monkeypatch.setitem(sys.modules, "mp_api.client", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'matpcr-utils\[mp\]'"):
        materials_project.load(material_ids=["mp-149"], api_key="k")
    with pytest.raises(MatPCRError, match="either material_ids or chemsys"):
        materials_project.load(api_key="k")
