"""Rebuilding the snapshot: the join on a small made-up source, and the whole one bit for bit."""

from __future__ import annotations

import gzip
import io
import json
import zipfile

import pytest

from matpcr_utils.errors import MatPCRError
from matpcr_utils.references import (
    archives,
    build,
    build_dft,
    build_patterns,
    build_spectra,
    provenance,
    store,
)

CUBE = [[3.0, 0, 0], [0, 3.0, 0], [0, 0, 3.0]]


def _row(name: str, symbols: list[str], hull: float, moments: list[float] | None = None) -> str:
    sites = [
        {
            "species": [{"element": symbol, "occu": 1}],
            "abc": [0.5 * (i % 2)] * 3,
            "properties": {} if moments is None else {"magmom": moments[i]},
        }
        for i, symbol in enumerate(symbols)
    ]
    structure = repr({"lattice": {"matrix": CUBE}, "sites": sites})
    return f'{name},"x",{hull},{len(symbols)},"{structure}",-1.0,-2.0'


def _json_zip(name: str, content: dict) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as inner:
        inner.writestr(name, json.dumps(content))
    return buffer.getvalue()


@pytest.fixture
def sources(monkeypatch):
    """Six entries that show every kind of match, in the sources' own formats."""
    columns = "formation_energy_per_atom,formation_energy"
    header = f"# ref\nmaterial_id,formula,e_above_hull,nsites,structure,{columns}"
    flla = [
        _row("mp-1", ["Cs", "Cl"], 0.0),
        _row("mp-2", ["Na", "Na"], 0.3),
        _row("mp-3", ["Fe", "Al"], 0.02, [2.0, 0.1]),
        _row("mp-4", ["Ni", "Al"], 0.02, [1.0, 0.0]),
        _row("mp-5", ["Mg", "O"], 0.0),
        _row("mp-6", ["Mg", "O"], 0.0005),
        _row("mp-7", ["Li", "Cl"], 0.0),
        _row("mp-8", ["K", "Cl"], 0.0),
    ]
    gaps = {"train": {"mp-1": "5.5", "mp-3": "0.0", "mp-4": "0.0081"}, "val": {}, "test": {}}
    hulls = ["CsCl,0.0", "AlFe,0.0205", "AlNi,0.02", "MgO,0.0", "LiCl,0.0", "KCl,0.5", "Na3N,0.1"]
    moments = ["CsCl,-0.0", "AlFe,2.0", "AlNi,9.0", "MgO,0.0", "LiCl,0.0", "KCl,0.0", "Na3N,0.0"]
    recent = {
        "CsCl": [[0.004, ["Pm-3m", 221]], [0.2, ["Fm-3m", 225]]],
        "LiCl": [[0.0, ["Fm-3m", 225]], [0.008, ["Pm-3m", 221]]],
    }
    members = {
        build_dft.FLLA: "\n".join([header, *flla]).encode(),
        build_dft.GAPS: _json_zip("megnet_gappbe.json", gaps),
        build_dft.HULL_2018.format(part="train"): "\n".join(["formula,target", *hulls]).encode(),
        build_dft.MOMENT_2018.format(part="train"): "\n".join(
            ["formula,target", *moments]
        ).encode(),
        build_dft.RECENT: gzip.compress(json.dumps(recent).encode()),
    }
    for part in ("val", "test"):
        for name in (build_dft.HULL_2018, build_dft.MOMENT_2018):
            members[name.format(part=part)] = b"formula,target\n"
    monkeypatch.setattr(archives, "member", lambda archive, path: members[path])
    return members


def test_the_join_of_a_small_source(sources):
    table, structures, counts = build_dft.tables()
    rows = {row["material_id"]: row for row in table.to_pylist()}
    assert list(counts.values()) == [8, 3, 6, 3, 1]
    assert {name: row["match_quality"] for name, row in rows.items()} == {
        "mp-1": "unique",
        "mp-2": "none",
        "mp-3": "moments_agree",
        "mp-4": "moments_disagree",
        "mp-5": "shared",
        "mp-6": "shared",
        "mp-7": "polymorphs",
        "mp-8": "none",
    }
    first = rows["mp-1"]
    assert (first["formula"], first["space_group_number"], first["formula_units"]) == (
        "CsCl",
        221,
        1,
    )
    assert first["energy_above_hull_recent"] == 0.004
    assert str(first["total_magnetization"]) == "-0.0"
    assert rows["mp-2"]["formula"] == "Na" and rows["mp-2"]["formula_units"] == 2
    assert rows["mp-4"]["band_gap"] == 0.0081
    assert rows["mp-5"]["energy_above_hull_recent"] != rows["mp-5"]["energy_above_hull_recent"]
    assert structures.to_pylist()[0] == {
        "material_id": "mp-1",
        "lattice": [3.0, 0, 0, 0, 3.0, 0, 0, 0, 3.0],
        "numbers": [55, 17],
        "coords": [0, 0, 0, 0.5, 0.5, 0.5],
    }


def test_tables_that_are_not_row_aligned_stop_the_build(sources):
    sources[build_dft.MOMENT_2018.format(part="train")] = sources[
        build_dft.MOMENT_2018.format(part="train")
    ].replace(b"AlNi", b"AlCo")
    with pytest.raises(AssertionError, match="not row-aligned at AlNi / AlCo"):
        build_dft.tables()


BWTEK = """File Version;BWSpec4.11_1
title;BWS415-785S
Pixel;Wavelength;Raman Shift;Dark;Dark Subtracted #1;
0;  ;  ;10,0;1,0;
1;785,1;-3,25;10,0;2,5;
2;785,2;0,5;10,0;-1,0;
3;785,3;4,25;10,0;7,5;
"""


def test_spectra_are_chosen_and_read(monkeypatch):
    def item(sample, name, **more):
        base = {"OP": "01", "device": "BWtek", "laser_wl": "785", "provider": "ICV"}
        return base | {"sample": sample, "filename": f"./{name}"} | more

    index = [
        item("S0B", "a/si.txt"),
        item("S0B", "a/si_full.txt"),
        item("Neon", "a/ne.txt"),
        item("S0P", "a/noise.txt", device="Horiba", provider="FNMT"),
        item("TiO2", "a/t_40(106mW)_1.txt", laser_power_percent="42", replicate="1"),
        item("TiO2", "a/t_40(106mW)_2.txt", laser_power_percent="42", replicate="2"),
    ]
    base = build_spectra.RAMANCHADA
    members = {
        f"{base}/__init__.py": f"import pandas\ndata = {index!r}\n".encode(),
        f"{base}/a/si.txt": BWTEK.encode(),
        f"{base}/a/t_40(106mW)_1.txt": b"1\t2\t\r\n2\t3\t\r\n3\t1\t\r\n",
        f"{build_spectra.CARBON}/testDW38C_pos2.txt": b"1 2\n2 3\n3 1\n",
        f"{build_spectra.CARBON}/__init__.py": b"",
    }
    monkeypatch.setattr(archives, "member", lambda archive, path: members[path])
    monkeypatch.setattr(archives, "members", lambda archive: sorted(members))
    table, counts = build_spectra.table()
    rows = table.to_pylist()
    assert list(counts.values()) == [6, 2, 1, 3]
    assert [row["spectrum_id"] for row in rows] == [
        "icv-bwtek-785-01-s0b",
        "icv-bwtek-785-01-tio2-40pc",
        "raman-fitting-testdw38c-2",
    ]
    assert rows[0]["shift"] == [-3.25, 0.5, 4.25]
    assert rows[0]["intensity"] == [2.5, -1.0, 7.5]
    assert (rows[0]["sample"], rows[0]["laser_nm"]) == ("silicon", 785.0)
    assert (rows[2]["sample"], rows[2]["laser_nm"]) == ("carbon", None)


def test_a_moved_index_stops_the_build(monkeypatch):
    monkeypatch.setattr(archives, "member", lambda archive, path: b"other = 1\n")
    with pytest.raises(AssertionError, match="index has moved"):
        build_spectra.table()


FXYE = """NAC
# comment
BANK 1 3 3 CONST 50 .1 0 0 FXYE
 50.0 10.5 1.0
 50.1 11.5 1.0
 50.2 9.5 1.0
"""
XRA = (
    " 15.000 .020\nBANK 1  12  2 CONST 1500 2 0 0 STD\n"
    + "".join(f"{n:8d}" for n in range(609, 619))
    + "\n"
    + f"{5:8d}"
    + "       0" * 9
    + "\n"
)
CIF = """data_x
_space_group_IT_number 225
_cell_length_a 5.64(1)
_cell_length_b 5.64(1)
_cell_length_c 5.64(1)
_cell_angle_alpha 90
_cell_angle_beta 90
_cell_angle_gamma 90
loop_
_atom_site_type_symbol
_atom_site_fract_x
_atom_site_fract_y
_atom_site_fract_z
Na1+ 0 0 0
Cl1- 0.5(1) 0.5 0.5
"""
D_FILE = "# Calibrant: X\n# Cell: y\n# Ref: NIST SRM 1\n\n# d\n 1.5 # (1 1 1)\n 3.0 # (1 0 0)\n"


def test_patterns_structures_and_calibrants_are_read(monkeypatch):
    def member(archive, path):
        name = path.rsplit("/", 1)[1]
        return {"FAP.XRA": XRA, "11BM_NAC.fxye": FXYE}.get(
            name, CIF if name.endswith(".cif") else D_FILE
        ).encode()

    monkeypatch.setattr(archives, "member", member)
    fap, nac = build_patterns.patterns().to_pylist()
    assert fap["two_theta"][:2] == [15.0, 15.02] and len(fap["counts"]) == 11
    assert fap["counts"][0] == 609 and fap["counts"][-1] == 5
    assert nac["two_theta"] == [0.5, 0.501, 0.502] and nac["counts"] == [10.5, 11.5, 9.5]
    facts = build_patterns.structures()["fluorapatite"]
    assert facts["space_group"] == 225 and facts["cell"][0] == 5.64
    assert facts["sites"] == [["Na", 0.0, 0.0, 0.0], ["Cl", 0.5, 0.5, 0.5]]
    assert build_patterns.calibrants()["Ni"] == {"reference": "NIST SRM 1", "d": [3.0, 1.5]}


def test_build_writes_hashes_and_reports_each_step(sources, monkeypatch, tmp_path):
    import pyarrow as pa

    monkeypatch.setattr(build_spectra, "table", lambda: (pa.table({"a": [1]}), {"spectra": 1}))
    monkeypatch.setattr(build_patterns, "patterns", lambda: pa.table({"b": [1.5]}))
    monkeypatch.setattr(build_patterns, "structures", lambda: {"x": {"cell": [1]}})
    monkeypatch.setattr(build_patterns, "calibrants", lambda: {"é": {"d": [1.0]}})
    said: list[str] = []
    first = build.build(tmp_path / "one", said.append)
    assert len(said) == 3
    assert set(first) == set(store.SNAPSHOT)
    assert build.build(tmp_path / "two") == first
    assert sorted(f.name for f in (tmp_path / "one").iterdir()) == sorted(store.SNAPSHOT)
    assert not any(build.compare(tmp_path / "one").values())


def test_compare_says_which_file_differs(tmp_path):
    for name in store.SNAPSHOT:
        (tmp_path / name).write_bytes(store.path(name).read_bytes())
    (tmp_path / "dft.parquet").write_bytes(b"x")
    (tmp_path / "counts.json").unlink()
    differ = {name for name, same in build.compare(tmp_path).items() if not same}
    assert differ == {"dft.parquet", "counts.json"}


def test_a_failed_write_leaves_nothing(tmp_path):
    target = tmp_path / "taken"
    target.mkdir()
    with pytest.raises(OSError):
        store.write_bytes(target, b"x")
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


def test_a_missing_data_file_is_named():
    with pytest.raises(MatPCRError, match=r"data file none\.parquet is missing from the package"):
        store.path("none.parquet")


@pytest.mark.network
def test_the_whole_snapshot_is_rebuilt_bit_for_bit(tmp_path):
    try:
        for source in provenance.sources():
            archives.fetch(next(n for n, a in archives.ARCHIVES.items() if a is source.archive))
    except MatPCRError as error:
        pytest.skip(str(error))
    build.build(tmp_path)
    assert all(build.compare(tmp_path).values()), build.compare(tmp_path)


# --- provenance


def test_every_shipped_value_has_a_source_and_a_licence():
    covered = {name for source in provenance.sources() for name in source.files}
    assert covered == set(store.SNAPSHOT) - {"counts.json"}
    for source in provenance.sources():
        assert source.kind in ("measured", "computed")
        assert source.licence and source.citation and source.changes and source.members
    assert len(provenance.table()) == len(provenance.sources()) == 8
    assert [row["file"] for row in provenance.rows()] == list(store.SNAPSHOT[:-1])


def test_no_copyleft_source_is_shipped():
    assert not {"xrayutilities", "crystals", "hyperspy"} & {
        source.archive.package for source in provenance.sources()
    }
    assert not any("GPL" in source.licence for source in provenance.sources())


def test_notices_name_every_package_and_the_attribution():
    notice = store.path("NOTICE.md").read_text(encoding="utf-8")
    for word in ("Materials Project", "Attribution 4.0", "CrabNet", "dara-xrd", "rietx", "pyFAI"):
        assert word in notice
    for word in ("ramanchada2", "raman-fitting", "matminer", "National Institute of Standards"):
        assert word in notice


def test_counts_tell_the_join():
    assert list(provenance.counts()["dft"].values()) == [3938, 3909, 2951, 2938, 2860]
    assert provenance.counts()["spectra"]["spectra"] == 80


def test_the_data_hash_covers_every_file(monkeypatch, tmp_path):
    before = provenance.data_hash()
    assert len(before) == 64
    for name in store.SNAPSHOT:
        (tmp_path / name).write_bytes(store.path(name).read_bytes())
    monkeypatch.setattr(store, "data_dir", lambda: tmp_path)
    provenance.data_hash.cache_clear()
    assert provenance.data_hash() == before
    (tmp_path / "counts.json").write_text("{}")
    provenance.data_hash.cache_clear()
    assert provenance.data_hash() != before
    provenance.data_hash.cache_clear()


def test_the_snapshot_stays_small():
    assert sum(file.stat().st_size for file in store.data_dir().iterdir()) < 6_000_000
