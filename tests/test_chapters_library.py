"""Finding chapters, and the fingerprint that says when one is stale."""

from __future__ import annotations

from pathlib import Path

import pytest
import small_book

from matpcr_utils.chapters import fingerprint as fp
from matpcr_utils.chapters import library
from matpcr_utils.errors import MatPCRError


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    small_book.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_table_of_contents_gives_the_order(book: Path) -> None:
    assert library.toc_files(book) == [
        "book/index",
        "notebooks/start/first",
        "notebooks/start/second",
    ]
    assert [c.name for c in library.listed()] == ["start/first", "start/second"]


def test_the_book_is_found_from_a_folder_inside_it(book: Path) -> None:
    assert library.book_root(book / "notebooks" / "start") == book.resolve()


@pytest.mark.parametrize(
    "name",
    [
        "first",
        "start/first",
        "first.py",
        "notebooks/start/first",
        "notebooks/start/first.py",
        "notebooks/start/first.ipynb",
    ],
)
def test_a_chapter_has_many_names(book: Path, name: str) -> None:
    found = library.find(name)
    assert found.path.resolve() == (book / "notebooks/start/first.py").resolve()
    assert found.name == "start/first"
    assert found.title == "A first chapter"


def test_an_unknown_chapter_names_the_nearest(book: Path) -> None:
    with pytest.raises(MatPCRError, match=r"no chapter 'frist': did you mean start/first\?"):
        library.find("frist")


def test_an_ambiguous_name_is_refused(book: Path) -> None:
    (book / "notebooks" / "other").mkdir()
    (book / "notebooks" / "other" / "first.py").write_text(small_book.SECOND, "utf-8")
    toc = small_book.TOC + "  - file: notebooks/other/first\n"
    (book / "_toc.yml").write_text(toc, "utf-8")
    with pytest.raises(MatPCRError, match="ambiguous: choose start/first or other/first"):
        library.find("first")


def test_a_missing_chapter_is_named(book: Path) -> None:
    (book / "notebooks/start/second.py").unlink()
    with pytest.raises(MatPCRError, match=r"no notebooks/start/second\.py"):
        library.listed()


def test_a_notebook_outside_a_book_is_a_chapter_too(tmp_path: Path) -> None:
    import nbformat

    path = tmp_path / "own.ipynb"
    nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("x = 1")])
    nbformat.write(nb, path)
    found = library.find(str(path))
    assert (found.name, found.title, found.parameters) == ("own", "own", [])
    assert library.notebook(found).cells[0].metadata.tags == []


def test_a_broken_notebook_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "broken.ipynb"
    path.write_text("{ not json", "utf-8")
    with pytest.raises(MatPCRError, match=r"broken\.ipynb can't be read as a notebook") as caught:
        library.notebook(library.find(str(path)))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("old.ipynb", b"{}", r"old\.ipynb can't be read as a notebook"),
        ("list.ipynb", b"[]", r"list\.ipynb can't be read as a notebook"),
        ("bytes.py", b"# caf\xe9", r"bytes\.py is no UTF-8 text"),
    ],
)
def test_a_file_that_is_no_chapter_is_one_line(
    tmp_path: Path, name: str, content: bytes, says: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(MatPCRError, match=says) as caught:
        library.notebook(library.find(str(tmp_path / name)))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["", ".", "/", "notebooks/start", "a\x00b", "_toc.yml"])
def test_what_names_no_chapter_is_refused(book: Path, name: str) -> None:
    with pytest.raises(MatPCRError, match="there is no chapter"):
        library.find(name)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"a: [b", "is no YAML"),
        (b"", "names no pages"),
        (b"- 1\n- file: [x]\n", "names no pages"),
        (b"\xff\xfe\x00", "is no UTF-8 text"),
    ],
)
def test_a_broken_table_of_contents_is_one_line(book: Path, content: bytes, says: str) -> None:
    (book / "_toc.yml").write_bytes(content)
    with pytest.raises(MatPCRError, match=says) as caught:
        library.listed()
    assert "\n" not in str(caught.value)


# Fingerprints


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of a package in miniature, which a test may change."""
    root = tmp_path / "matpcr_utils"
    files = {
        "__init__.py": "",
        "errors.py": "",
        "claims/__init__.py": "from matpcr_utils.claims.model import Claim\n",
        "claims/model.py": "Claim = object\n",
        "oracles/__init__.py": "from importlib import import_module\n"
        "def get(name):\n    return import_module(f'{__name__}.{name}')\n",
        "oracles/base.py": "from ..claims import model\n",
        "oracles/stability.py": "from . import base\n",
        "plotting.py": "def hull():\n    from matpcr_utils import oracles\n",
        "lonely.py": "text = 'import_module'\n",
        "cli.py": "",
        "data/table.csv": "1\n",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    monkeypatch.setattr(fp, "PACKAGE_DIR", root)
    _forget()
    yield root
    _forget()


def _forget() -> None:
    fp._modules.cache_clear()
    fp._edges.cache_clear()


ORACLES = {"oracles", "oracles.base", "oracles.stability", "claims", "claims.model"}


@pytest.mark.parametrize(
    ("code", "modules"),
    [
        ("from matpcr_utils.errors import MatPCRError", {"errors"}),
        ("from matpcr_utils import claims", {"claims", "claims.model"}),
        ("import matpcr_utils.claims.model", {"claims", "claims.model"}),
        # A registry that imports by name reaches all of its package.
        ("from matpcr_utils import oracles", ORACLES),
        ("from matpcr_utils.oracles import stability", ORACLES),
        # An import inside a function counts, in the chapter and in the package.
        ("def f():\n    from matpcr_utils import errors", {"errors"}),
        ("from matpcr_utils import plotting", {"plotting", *ORACLES}),
        # A word in a text is no import.
        ("from matpcr_utils import lonely", {"lonely"}),
        ("import numpy", set()),
    ],
)
def test_what_a_chapter_reaches(package: Path, code: str, modules: set[str]) -> None:
    reached = {name.removeprefix("matpcr_utils").strip(".") for name in fp.reachable(code)}
    assert reached - {""} == modules


@pytest.mark.parametrize(
    "code",
    [
        "import matpcr_utils",
        "!matpcr --help",
        "import subprocess",
        "from matpcr_utils import chapters",
    ],
)
def test_what_can_do_anything_reaches_everything(package: Path, code: str) -> None:
    assert fp.reachable(code) == set(fp._modules())


CHAPTER = "# %%\nfrom matpcr_utils.oracles import stability\n"


@pytest.mark.parametrize(
    ("file", "stale"),
    [
        ("oracles/stability.py", True),
        ("claims/model.py", True),
        ("data/table.csv", True),
        ("cli.py", False),
        ("plotting.py", False),
    ],
)
def test_a_chapter_is_stale_when_what_it_reaches_changed(
    package: Path, file: str, stale: bool
) -> None:
    before = fp.fingerprint(CHAPTER)
    path = package / file
    path.write_text(path.read_text("utf-8") + "\n# changed\n", "utf-8")
    _forget()
    assert (fp.fingerprint(CHAPTER) != before) is stale


def test_the_source_itself_and_new_data_count(package: Path) -> None:
    before = fp.fingerprint(CHAPTER)
    assert fp.fingerprint(CHAPTER) == before
    assert fp.fingerprint(CHAPTER + "\n# %%\n1 + 1\n") != before
    (package / "data" / "new.csv").write_text("", "utf-8")
    assert fp.fingerprint(CHAPTER) != before


def test_a_chapter_about_chapters_depends_on_them(book: Path) -> None:
    source = "# %%\nfrom matpcr_utils.chapters.library import listed\n"
    before = fp.fingerprint(source)
    path = book / "notebooks/start/second.py"
    path.write_text(path.read_text("utf-8") + "\n", "utf-8")
    assert fp.fingerprint(source) != before


def test_library_versions_are_the_installed_ones() -> None:
    from importlib import metadata

    found = fp.library_versions()
    assert found["numpy"] == metadata.version("numpy")
    assert "pytest" not in found


def test_every_module_of_the_package_can_be_read() -> None:
    modules = fp._modules()
    assert "matpcr_utils.chapters.fingerprint" in modules
    assert all(fp._edges(name) <= modules.keys() for name in modules)
    assert "matpcr_utils.oracles.stability" in fp.reachable("from matpcr_utils import oracles")
