"""`make book` in small: what runs, what does not run again, what a failure says."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
import small_book
from rich.console import Console

from matpcr_utils.chapters import book as building
from matpcr_utils.chapters import site
from matpcr_utils.chapters.execute import ChapterError
from matpcr_utils.chapters.library import listed
from matpcr_utils.errors import MatPCRError


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    cache = small_book.cache_with_mathjax(tmp_path / "cache")
    monkeypatch.setenv("MATPCR_CACHE", str(cache))
    return small_book.write(tmp_path / "book")


def build(root: Path, **options: object) -> tuple[building.Built, str]:
    screen = io.StringIO()
    built = building.build(root, jobs=2, console=Console(file=screen, width=100), **options)
    return built, screen.getvalue()


def append(path: Path, text: str) -> None:
    path.write_text(path.read_text("utf-8") + text, "utf-8")


def test_a_book_is_built_and_only_what_changed_is_built_again(root: Path) -> None:
    built, screen = build(root)
    assert sorted(built.executed) == ["start/first", "start/second"]
    assert built.rendered
    assert "executed  start/first" in screen
    pages = root / "_build" / "html"
    page = (pages / "notebooks/start/first.html").read_text("utf-8")
    assert "sum 13.05 False None" in page
    assert "The threshold is <span" in page or "The threshold is <strong" in page
    assert 'class="matpcr-freshness"' in page
    assert "mathjax/es5/tex-chtml.js" in page
    assert (pages / "_static/mathjax/es5/tex-chtml.js").is_file()
    assert "Built on" in (pages / "book/index.html").read_text("utf-8")

    # Both download buttons lead to a file, and the notebook needs no MyST.
    for suffix in ("ipynb", "py"):
        link = re.search(rf'href="([^"]+_sources/notebooks/start/first\.{suffix})"', page)
        assert link is not None
        assert (pages / "notebooks/start" / link[1]).resolve().is_file()
    notebook = json.loads((pages / "_sources/notebooks/start/first.ipynb").read_text("utf-8"))
    text = "".join("".join(cell["source"]) for cell in notebook["cells"])
    assert "{exercise}" not in text
    assert "The threshold is 0.05." in text

    again, screen = build(root)
    assert (again.executed, again.rendered) == ((), False)
    assert "2 of 2 chapters are unchanged" in screen

    append(root / "book/index.md", "\nMore.\n")
    append(root / "notebooks/start/second.py", "\n# %%\nprint('new')\n")
    changed, _ = build(root)
    assert (changed.executed, changed.unchanged) == (("start/second",), ("start/first",))
    assert changed.rendered
    assert "new" in (pages / "notebooks/start/second.html").read_text("utf-8")


def test_a_change_in_the_package_makes_chapters_stale(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chapter = listed(root)[1]
    building._execute_one(chapter, root)
    assert building._is_fresh(chapter, root)
    monkeypatch.setattr("matpcr_utils.chapters.fingerprint._data_files_hash", lambda: "other data")
    assert not building._is_fresh(chapter, root)


def test_every_failing_chapter_is_named_and_nothing_is_rendered(root: Path) -> None:
    append(root / "notebooks/start/first.py", "\n# %%\nraise KeyError('mp-1')\n")
    append(root / "notebooks/start/second.py", "\n# %%\nundefined\n")
    with pytest.raises(ChapterError) as caught:
        build(root)
    message = str(caught.value)
    assert message.startswith("2 of 2 chapters failed")
    assert "chapter start/first failed in cell 5 (first.py)" in message
    assert "KeyError: 'mp-1'" in message
    assert "NameError: name 'undefined' is not defined" in message
    assert (root / "_build/failed/start/first.ipynb").is_file()
    assert not (root / "_build/html").exists()
    assert not (root / "_build/chapters/start/first.ipynb").exists()


def test_a_sphinx_warning_is_an_error_and_the_old_site_stays(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "_execute_all", lambda *_: None)
    monkeypatch.setattr(building, "_executed", lambda chapter, root: root / "_build/stub.ipynb")
    (root / "_build" / "html").mkdir(parents=True)
    (root / "_build" / "html" / "old.html").write_text("old", "utf-8")
    title = nbformat.v4.new_markdown_cell("# A title")
    nbformat.write(nbformat.v4.new_notebook(cells=[title]), root / "_build/stub.ipynb")
    append(root / "book/index.md", "\nSee {doc}`nowhere`.\n")
    with pytest.raises(MatPCRError, match="unknown document: 'nowhere'"):
        build(root)
    assert (root / "_build" / "html" / "old.html").read_text("utf-8") == "old"


def test_a_page_that_does_not_exist_is_named(root: Path) -> None:
    append(root / "_toc.yml", "  - file: book/glossary\n")
    with pytest.raises(MatPCRError, match=r"_toc\.yml names book/glossary, but there is no such"):
        build(root)


def test_jobs_must_be_positive(root: Path) -> None:
    with pytest.raises(MatPCRError, match="jobs = 0 must be at least 1"):
        building.build(root, jobs=0)


def test_a_site_that_another_build_overwrote_is_rendered_again(tmp_path: Path) -> None:
    site = tmp_path / "html"
    site.mkdir()
    (site / "index.html").write_text("ours", "utf-8")
    stamp = {"inputs": "i", "pages": building._pages_hash(site)}
    building._write_json(building._site_stamp(site), stamp)
    assert building._is_rendered(site, "i")
    assert not building._is_rendered(site, "j")
    (site / "index.html").write_text("theirs", "utf-8")
    assert not building._is_rendered(site, "i")


def test_an_authors_build_reads_a_chapter_again_when_the_package_changed(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = {"notebooks/start/first": "notebooks/start/first.py", "book/index": "book/index.md"}
    env = SimpleNamespace(found_docs=set(paths), doc2path=lambda name: str(root / paths[name]))

    def stale() -> list[str]:
        return site._stale_chapters(None, env, set(), set(), set())

    assert stale() == ["notebooks/start/first"]
    assert stale() == []
    monkeypatch.setattr("matpcr_utils.chapters.fingerprint._data_files_hash", lambda: "other data")
    assert stale() == ["notebooks/start/first"]
