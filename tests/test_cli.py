"""The command line: what it prints, and how it exits."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import small_book
from click.testing import CliRunner, Result

from matpcr_utils import __version__, evidence, oracles
from matpcr_utils.claims.model import CONSTRAINTS
from matpcr_utils.cli import main
from matpcr_utils.errors import MatPCRError

SILICON = """\
data_Si
_cell_length_a 5.4309
_cell_length_b 5.4309
_cell_length_c 5.4309
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
Si1 Si 0.125 0.125 0.125 {occupancy}
"""


def matpcr(*arguments: object, stdin: str | None = None) -> Result:
    return CliRunner().invoke(main, [str(a) for a in arguments], input=stdin)


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = small_book.write(tmp_path / "book")
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def silicon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MATPCR_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "Si.cif"
    path.write_text(SILICON.format(occupancy=1), "utf-8")
    return path


# Everything


def test_help_lists_every_command() -> None:
    done = matpcr("--help")
    assert done.exit_code == 0
    commands = {
        "book",
        "chapters",
        "check",
        "data",
        "evaluate",
        "transcripts",
        "items",
        "notebooks",
        "parameters",
        "run",
    }
    assert set(main.commands) == commands
    assert all(f"  {command} " in done.output for command in commands)


def test_version() -> None:
    assert matpcr("--version").output == f"matpcr, version {__version__}\n"


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys, matpcr_utils.cli\n"
        "heavy = {'numpy', 'pandas', 'scipy', 'pymatgen', 'jupytext', 'rich', 'yaml', 'pint'}\n"
        "print(sorted(heavy & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


# Chapters


def test_chapters_are_listed_with_their_titles(book: Path) -> None:
    done = matpcr("chapters")
    assert done.output.splitlines() == [
        "start/first              A first chapter",
        "start/second             A second chapter",
    ]


def test_parameters_as_table_and_json(book: Path) -> None:
    lines = matpcr("parameters", "first").output.splitlines()
    assert lines[0].split() == ["name", "type", "default", "meaning"]
    assert lines[1].split() == ["near_hull", "float", "0.05", "eV/atom;", "the", "threshold"]
    rows = json.loads(matpcr("parameters", "first", "--json").output)
    assert rows[1] == {
        "name": "window",
        "type": "tuple[float, float]",
        "default": [10.0, 90.0],
        "help": "degrees",
    }


def test_run_prints_what_it_left(book: Path) -> None:
    done = matpcr("run", "second", "-p", "factor", "3", "--out", "runs")
    assert done.exit_code == 0, done.output
    files = [Path(line) for line in done.output.splitlines()]
    assert [f.name for f in files] == ["manifest.json", "second.html", "second.ipynb"]
    assert all(f.is_file() for f in files)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ("run", "first", "-p", "near_hul", "0.1"),
            "Error: chapter start/first has no parameter 'near_hul': did you mean near_hull? Its "
            "parameters are near_hull, window, label, n, strict, seed",
        ),
        (
            ("run", "first", "-p", "n", "0.5"),
            "Error: parameter n = '0.5' is not of type int: a whole number is needed (default 3; "
            "draws)",
        ),
        (
            ("run", "first", "-p", "n", "1", "-p", "n", "2"),
            "Error: parameter n is given 2 times: give it once",
        ),
        (
            ("run", "second", "--out", "_toc.yml/runs"),
            "Error: can't write the run's folder _toc.yml/runs (Not a directory): name another by "
            "--out",
        ),
        (
            ("run", "frist"),
            "Error: there is no chapter 'frist': did you mean start/first? The book has "
            "start/first, start/second",
        ),
    ],
)
def test_a_wrong_run_is_one_line_and_exit_code_2(
    book: Path, arguments: tuple[str, ...], says: str
) -> None:
    done = matpcr(*arguments)
    assert (done.exit_code, done.stderr.strip()) == (2, says)


def test_a_failing_chapter_is_exit_code_1(book: Path) -> None:
    path = book / "notebooks/start/second.py"
    path.write_text(path.read_text("utf-8") + "\n# %%\nundefined\n", "utf-8")
    done = matpcr("run", "second")
    assert done.exit_code == 1
    assert "chapter start/second failed in cell 4" in done.stderr
    assert "NameError" in done.stderr
    assert "Traceback" not in done.stderr


def test_notebooks_are_written_beside_the_chapters(book: Path) -> None:
    done = matpcr("notebooks")
    assert done.output.splitlines() == [
        "notebooks/start/first.ipynb",
        "notebooks/start/second.ipynb",
    ]
    assert (book / "notebooks/start/first.ipynb").is_file()


def test_book_reports_what_it_did(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from matpcr_utils.chapters import book as building

    built = building.Built(book / "_build/html", ("start/first",), ("start/second",), True, 3.2)
    monkeypatch.setattr(building, "build", lambda **options: built)
    assert matpcr("book").output.splitlines() == [
        "1 chapters executed, 1 unchanged; rendered; 3 s",
        "open _build/html/index.html",
    ]


# Claims


@pytest.mark.parametrize(
    ("chain", "code", "word"),
    [
        ("The main peak is at 2θ = 28.44°.", 0, "consistent"),
        ("The main peak is at 2θ = 33.2°.", 1, "violation"),
        ("There is a peak at 2θ = 5°.", 3, "abstain"),
        ("Silicon is a semiconductor.", 3, "abstain"),
    ],
)
def test_check_on_a_structure(silicon: Path, chain: str, code: int, word: str) -> None:
    done = matpcr("check", "diffraction", "--structure", silicon, chain)
    assert done.exit_code == code, done.output
    assert done.output.splitlines()[0] == word


def test_check_prints_the_words_and_the_reason(silicon: Path) -> None:
    done = matpcr("check", "diffraction", "--structure", silicon, "The main peak is at 2θ = 33.2°.")
    assert "33.2" in done.output
    assert "violation (no_line): " in done.output


def test_check_as_json_from_standard_input(silicon: Path) -> None:
    chain = "A peak at 2θ = 28.44° and one at 33.2°."
    done = matpcr("check", "diffraction", "--structure", silicon, "-", "--json", stdin=chain)
    assert done.exit_code == 1
    answer = json.loads(done.stdout)
    assert (answer["constraint"], answer["outcome"]) == ("diffraction", "violation")
    assert [claim["outcome"] for claim in answer["claims"]] == ["consistent", "violation"]
    for claim in answer["claims"]:
        start, stop = claim["span"]
        assert chain[start:stop] == claim["text"]
        assert claim["unit"] == "degree"


def test_check_takes_the_optics_and_tolerances(silicon: Path) -> None:
    arguments = ("check", "diffraction", "--structure", silicon, "A peak at 2θ = 28.9°.")
    assert matpcr(*arguments).exit_code == 0
    assert matpcr(*arguments, "-t", "two_theta", "0.1").exit_code == 1
    assert matpcr(*arguments, "--wavelength", "0.7093").exit_code == 1
    assert matpcr(*arguments, "--window", "30", "90").exit_code == 3


@pytest.mark.parametrize(
    ("constraint", "chain", "code"),
    [
        ("stability", "LiF is stable.", 0),
        ("stability", "LiF is unstable.", 1),
        ("metallicity", "LiF is an insulator.", 0),
        ("metallicity", "LiF is a metal.", 1),
        ("magnetism", "LiF is non-magnetic.", 0),
        ("magnetism", "It orders antiferromagnetically.", 3),
        ("diffraction", "The strongest peak lies at 2θ = 44.5°.", 0),
    ],
)
def test_check_on_a_material(constraint: str, chain: str, code: int) -> None:
    done = matpcr("check", constraint, "--material", "mp-1138", chain)
    assert done.exit_code == code, done.output


def test_check_on_a_spectrum(tmp_path: Path) -> None:
    shift = np.arange(100.0, 1000.0, 1.0)
    rng = np.random.default_rng(0)
    counts = 1000 / (1 + ((shift - 520.5) / 4) ** 2) + rng.normal(100, 2, len(shift))
    path = tmp_path / "si.txt"
    np.savetxt(path, np.column_stack([shift, counts]))
    arguments = ("check", "spectra", "--spectrum", path)
    assert matpcr(*arguments, "The Raman peak is at 520 cm-1.").exit_code == 0
    assert matpcr(*arguments, "The Raman peak is at 700 cm-1.").exit_code == 1
    counts[5] = np.nan
    np.savetxt(path, np.column_stack([shift, counts]))
    done = matpcr(*arguments, "The Raman peak is at 520 cm-1.")
    assert done.exit_code == 2
    assert_one_line(done)


def assert_one_line(done: Result) -> None:
    assert done.stderr.startswith("Error: ")
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr


@pytest.mark.parametrize("chain", ["", "  \n"])
def test_an_empty_chain_is_an_error(silicon: Path, chain: str) -> None:
    done = matpcr("check", "diffraction", "--structure", silicon, chain)
    assert (done.exit_code, done.stderr) == (
        2,
        "Error: the chain is empty: give the text in which claims are to be judged\n",
    )


def test_a_cif_that_does_not_parse_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "bad.cif"
    path.write_text("data_x\nnot a structure\n", "utf-8")
    done = matpcr("check", "diffraction", "--structure", path, "2θ = 28.4°")
    assert done.exit_code == 2
    assert_one_line(done)
    assert "bad.cif" in done.stderr


def test_partial_occupancy_abstains_with_its_reason(silicon: Path) -> None:
    silicon.write_text(SILICON.format(occupancy=0.5), "utf-8")
    done = matpcr("check", "diffraction", "--structure", silicon, "A peak at 2θ = 28.44°.")
    assert done.exit_code == 3
    assert "partial_occupancy" in done.output


def test_an_image_without_a_scale_bar_is_one_line(tmp_path: Path) -> None:
    import tifffile

    path = tmp_path / "plain.tif"
    tifffile.imwrite(path, np.full((200, 300), 90, np.uint8))
    done = matpcr("check", "microscopy", "--image", path, "The particles are 50 nm wide.")
    assert done.exit_code == 2
    assert_one_line(done)
    assert "no scale bar" in done.stderr
    sized = matpcr(
        *("check", "microscopy", "--image", path, "--pixel-size", "2"),
        "The particles are 50 nm wide.",
    )
    assert sized.exit_code == 0, sized.output
    big = ("check", "microscopy", "--image", path, "--pixel-size", "2", "A particle is 3 µm wide.")
    assert matpcr(*big).exit_code == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("stability", "x"), "judged on one reference, not nothing: give --material mp-1138"),
        (("stability", "x", "--structure", "a.cif"), "stability can't be judged on --structure"),
        (("diffraction", "x", "--structure", "none.cif"), "none.cif"),
        (
            ("diffraction", "x", "--structure", "a.cif", "--material", "mp-1138"),
            "not --structure and --material",
        ),
        (("optics", "x"), "unknown constraint 'optics'"),
        (("stability", "x", "--material", "mp-0"), "'mp-0' is not among"),
        (
            ("stability", "x", "--material", "mp-1138", "-t", "near_hul", "1"),
            "the stability oracle has no parameter 'near_hul': did you mean near_hull?",
        ),
        (
            ("stability", "x", "--material", "mp-1138", "-t", "near_hull", "-1"),
            "near_hull = -1.0 must be",
        ),
        (
            ("stability", "x", "--material", "mp-1138", *("-t", "near_hull", "1") * 2),
            "tolerance near_hull is given 2 times: give it once",
        ),
        (("stability", "x \udcff", "--material", "mp-1138"), "the chain holds bytes that are no"),
        (
            ("stability", "x", "--material", "mp-1138", "--wavelength", "1"),
            "leave them out for stability",
        ),
        (("spectra", "x", "--spectrum", "none"), "no spectrum 'none'"),
        (("spectra", "x", "--spectrum", "none.txt"), "none.txt"),
    ],
)
def test_wrong_input_is_one_line(arguments: tuple[str, ...], says: str) -> None:
    done = matpcr("check", *arguments)
    assert done.exit_code == 2
    assert_one_line(done)
    assert says in done.stderr


def test_standard_input_that_is_no_utf_8_is_one_line() -> None:
    arguments = ["check", "stability", "--material", "mp-1138", "-"]
    done = CliRunner().invoke(main, arguments, input=b"LiF \xb0 is stable.")
    assert done.exit_code == 2
    assert done.stderr == (
        "Error: standard input is no UTF-8 (byte 0xb0 at 4): convert it to UTF-8\n"
    )


@pytest.mark.parametrize(
    ("constraint", "chain"),
    [
        ("stability", "The energy above hull is 5e300 eV per formula unit."),
        ("magnetism", "The magnetization is 1e308 μB."),
        ("metallicity", "The band gap is 1e308 eV."),
        ("diffraction", "A peak at 2θ = 1e-300° and a d-spacing of 1e300 Å."),
    ],
)
def test_json_has_finite_numbers_only(constraint: str, chain: str) -> None:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is no JSON")

    done = matpcr("check", constraint, "--material", "mp-1138", chain, "--json")
    assert done.exit_code in (0, 1, 3), done.output
    assert json.loads(done.stdout, parse_constant=refuse)["claims"]


def test_numbers_that_json_lacks_become_null() -> None:
    from matpcr_utils.claims.model import Claim
    from matpcr_utils.oracles.microscopy import FieldOfView, check

    claim = Claim("feature_size", float("inf"), text="1e300 m")
    verdict = check(claim, FieldOfView(2.0, 600, 400))
    judged = oracles.ChainVerdict(verdict.outcome, (claim,), (verdict,))
    answer = evidence.as_dict("microscopy", judged)
    assert answer["claims"][0]["value"] is None
    assert answer["claims"][0]["details"]["claimed"] is None
    json.dumps(answer, allow_nan=False)


def test_a_diffraction_pattern_is_no_spectrum(tmp_path: Path) -> None:
    path = tmp_path / "scan.csv"
    path.write_text("2theta,counts\n10.5,1\n20.5,5\n30.5,2\n", "utf-8")
    done = matpcr("check", "spectra", "--spectrum", path, "A band at 520 cm-1.")
    assert (done.exit_code, done.stderr) == (
        2,
        "Error: scan.csv holds a diffraction pattern: give a spectrum over 1/cm\n",
    )


def test_every_constraint_has_a_source_and_tolerances() -> None:
    assert evidence.SOURCES.keys() == CONSTRAINTS.keys()
    for constraint in CONSTRAINTS:
        kind = oracles.get(constraint).Tolerances
        assert evidence.tolerances(constraint, {}) == kind()
        with pytest.raises(MatPCRError, match="has no parameter 'nonsense'"):
            evidence.tolerances(constraint, {"nonsense": 1})


def test_a_tolerance_within_a_tolerance_can_be_set() -> None:
    changed = evidence.tolerances("spectra", {"smoothing": "2.5", "window": "7"})
    assert changed.preparation.smoothing == 2.5
    assert changed.window == 7.0


def test_a_shipped_spectrum_is_found_by_its_id() -> None:
    from matpcr_utils.references import spectra

    first = spectra.load()[0]
    assert evidence.reference("spectra", spectrum=first.spectrum_id) is first


def test_help_names_every_constraint() -> None:
    text = matpcr("check", "--help").output
    assert all(constraint in text for constraint in CONSTRAINTS)


# Data


def test_data_show_lists_files_with_their_licences() -> None:
    done = matpcr("data", "show")
    assert done.exit_code == 0, done.output
    assert "dft.parquet" in done.output
    assert "CC BY 4.0" in done.output


def test_data_build_reports_each_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from matpcr_utils.references import build

    def fake(out: Path, progress: object) -> dict[str, str]:
        assert out == tmp_path
        return {"dft.parquet": "ab" * 32}

    monkeypatch.setattr(build, "build", fake)
    done = matpcr("data", "build", "--out", tmp_path)
    assert done.output == "abababababababab  dft.parquet\n"


def test_own_errors_have_no_traceback_even_in_a_subcommand(monkeypatch: pytest.MonkeyPatch) -> None:
    from matpcr_utils.references import build

    def offline(out: Path, progress: object) -> dict[str, str]:
        raise MatPCRError("no index answers")

    monkeypatch.setattr(build, "build", offline)
    done = matpcr("data", "build")
    assert (done.exit_code, done.stderr) == (2, "Error: no index answers\n")


def test_a_file_that_the_system_refuses_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    from matpcr_utils.references import build

    def full(out: Path, progress: object) -> dict[str, str]:
        raise OSError(28, "No space left on device", "/data/dft.parquet")

    monkeypatch.setattr(build, "build", full)
    done = matpcr("data", "build")
    assert (done.exit_code, done.stderr) == (
        2,
        "Error: /data/dft.parquet: No space left on device: name a file or folder that you may "
        "use\n",
    )
