"""One chapter executed: what it leaves, what it refuses, how it fails."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import nbformat
import pytest
import small_book

from matpcr_utils.chapters import display, execute, freshness, mathjax, run
from matpcr_utils.chapters.library import find, parse
from matpcr_utils.errors import MatPCRError
from matpcr_utils.references import archives


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = small_book.write(tmp_path / "book")
    monkeypatch.chdir(root)
    monkeypatch.setattr(mathjax, "single_file", lambda: "/* MathJax inside */")
    return root


def outputs(path: Path) -> str:
    nb = nbformat.read(path, as_version=4)
    return "".join(
        output.get("text", "") for cell in nb.cells for output in cell.get("outputs", [])
    )


def test_a_run_leaves_notebook_page_and_manifest(book: Path) -> None:
    done = run.run("first", {"near_hull": "0.25", "window": "20, 60", "label": 'a "b"', "n": 4})
    assert done.folder.parent == (book / "_build" / "runs").resolve()
    assert sorted(p.name for p in done.folder.iterdir()) == [
        "first.html",
        "first.ipynb",
        "manifest.json",
    ]
    assert outputs(done.folder / "first.ipynb") == 'sum 24.25 False a "b"\n'
    manifest = json.loads((done.folder / "manifest.json").read_text("utf-8"))
    assert manifest["chapter"] == "start/first"
    assert manifest["parameters"] == {
        "near_hull": 0.25,
        "window": [20.0, 60.0],
        "label": 'a "b"',
        "n": 4,
        "strict": False,
        "seed": 0,
    }
    assert manifest["given"] == ["label", "n", "near_hull", "window"]
    assert manifest["seed"] == 0
    assert manifest["seconds"] > 0
    assert manifest["started"] <= manifest["finished"]
    assert len(manifest["data_hash"]) == len(manifest["content_hash"]) == 64
    assert {"python", "numpy", "matpcr_utils"} <= manifest["versions"].keys()
    assert manifest["cells_with_stderr"] == []
    assert [p.name for p in done.folder.parent.iterdir()] == [done.folder.name]


def test_the_page_stands_alone(book: Path) -> None:
    done = run.run("first")
    page = (done.folder / "first.html").read_text("utf-8")
    assert "/* MathJax inside */" in page
    assert '<script src="http' not in page
    assert "The threshold is 0.05." in page
    assert "{exercise}" not in page
    assert "Executed on" in page
    assert "matpcr_utils" in page


def test_images_keep_their_alternative_text(tmp_path: Path, book: Path) -> None:
    nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1")])
    pixel = base64.b64encode(b"any bytes").decode()
    nb.cells[0].outputs = [nbformat.v4.new_output("display_data", data={"image/png": pixel})]
    nb.cells[0].metadata["mystnb"] = {"image": {"alt": 'A "dot" < 1'}}
    run._write_html(nb, tmp_path / "page.html", "t")
    assert 'alt="A &quot;dot&quot; &lt; 1"' in (tmp_path / "page.html").read_text("utf-8")


def test_without_the_archive_the_page_still_comes(
    tmp_path: Path, book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def offline() -> str:
        raise MatPCRError("no network")

    monkeypatch.setattr(mathjax, "single_file", offline)
    run._write_html(parse(small_book.SECOND), tmp_path / "page.html", "t")
    assert "Load mathjax" in (tmp_path / "page.html").read_text("utf-8")


def test_an_unknown_parameter_runs_nothing(book: Path) -> None:
    with pytest.raises(MatPCRError, match="did you mean near_hull"):
        run.run("first", {"near_hul": "0.1"})
    assert not (book / "_build").exists()


def test_a_failing_cell_is_named_and_leaves_its_notebook(book: Path) -> None:
    path = book / "notebooks" / "start" / "second.py"
    path.write_text(path.read_text("utf-8") + "\n# %%\n1 / (factor - 2)\n", "utf-8")
    with pytest.raises(execute.ChapterError) as caught:
        run.run("second")
    lines = str(caught.value).splitlines()
    assert lines[0] == "chapter start/second failed in cell 4 (second.py):"
    assert lines[1].strip() == "1 / (factor - 2)"
    assert lines[2].strip() == "ZeroDivisionError: division by zero"
    partial = Path(lines[3].partition("up to there: ")[2])
    assert partial.parent.name.endswith("-failed")
    assert outputs(partial).startswith("42 MatPCRError")


def test_a_chapter_runs_in_its_own_folder_and_stderr_is_noted(book: Path) -> None:
    path = book / "notebooks" / "start" / "second.py"
    code = "\n# %%\nimport pathlib, sys\nprint(pathlib.Path.cwd().name, file=sys.stderr)\n"
    path.write_text(path.read_text("utf-8") + code, "utf-8")
    done = execute.execute(find("second"), book / "out.ipynb", {"factor": 3})
    assert done.warned == (5,)
    assert "start\n" in outputs(book / "out.ipynb")
    assert "papermill" not in done.notebook.metadata


def test_two_runs_in_one_second_do_not_meet(tmp_path: Path) -> None:
    for number in ("one", "two"):
        (tmp_path / number).mkdir()
    assert run._keep(tmp_path / "one", tmp_path / "run").name == "run"
    assert run._keep(tmp_path / "two", tmp_path / "run").name == "run-2"


def test_git_state_is_none_without_a_checkout(tmp_path: Path) -> None:
    assert run.git_state(tmp_path) is None


def test_the_reader_ties_the_cache_to_the_package() -> None:
    nb = freshness.reader(small_book.FIRST)
    last = nb.cells[-1]
    assert nb.cells[0].metadata.tags == ["remove-cell", display.TAG]
    assert last.metadata.tags == ["remove-input", freshness.TAG]
    assert 'freshness.show("' in last.source
    assert "seed=seed" in last.source
    assert "seed" not in freshness.reader(small_book.SECOND).cells[-1].source


def test_the_line_names_its_sources(capsys: pytest.CaptureFixture[str]) -> None:
    from matpcr_utils import __version__
    from matpcr_utils.references.provenance import data_hash

    line = freshness.line(seed=3, content_hash="abcdef0123456789")
    assert __version__ in line
    assert data_hash()[:8] in line
    assert line.endswith("seed 3, chapter abcdef01.")
    freshness.show("abcdef0123456789")
    assert "HTML" in capsys.readouterr().out


def test_mathjax_is_unpacked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def member(name: str, path: str) -> bytes:
        asked.append(path)
        return path.encode()

    prefix = "mathjax/static/mathjax/"
    files = [f"{prefix}es5/tex-chtml.js", f"{prefix}es5/tex-svg.js", f"{prefix}LICENSE"]
    files += [f"{prefix}es5/output/chtml/fonts/woff-v2/MathJax_Main-Regular.woff"]
    monkeypatch.setenv("MATPCR_CACHE", str(tmp_path))
    monkeypatch.setattr(archives, "members", lambda name: files)
    monkeypatch.setattr(archives, "member", member)
    folder = mathjax.directory()
    assert (folder / mathjax.SCRIPT).read_bytes() == files[0].encode()
    assert (folder / "mathjax/LICENSE").is_file()
    assert not (folder / "mathjax/es5/tex-svg.js").exists()
    assert mathjax.directory() == folder
    assert len(asked) == 3
    assert mathjax.single_file() == files[1]


def test_tables_are_shown_in_full_with_one_row_of_headings() -> None:
    import pandas as pd

    frame = pd.DataFrame({"text": ["long " * 30]}, index=pd.Index(["a"], name="key"))
    with pd.option_context("display.max_colwidth", 50):
        display.set_up()
        html = display._html(frame)
    assert html.count("long") == 30
    assert html.count("<th>key</th>") == 1
    assert html.count("<tr") == 2
    grouped = frame.set_index("text", append=True)
    assert display._html(grouped).count("key") == 1
    assert 'class="dataframe"' in display._styled(frame.style.hide(axis="index"))
