"""What the Sphinx extension adds to pages, and the tables about chapters."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
import small_book

from matpcr_utils.chapters import mathjax, site, tables
from matpcr_utils.chapters.library import parse
from matpcr_utils.errors import MatPCRError

FIRST = "notebooks/start/first"


@pytest.fixture
def app(tmp_path: Path) -> Any:
    """As much of Sphinx as the extension asks."""
    root = small_book.write(tmp_path / "stage")
    nbformat.write(parse(small_book.FIRST), root / f"{FIRST}.ipynb")
    paths = {FIRST: f"{FIRST}.ipynb", "book/index": "book/index.md"}
    env = SimpleNamespace(found_docs=set(paths), doc2path=lambda name: str(root / paths[name]))
    builder = SimpleNamespace(format="html")
    return SimpleNamespace(env=env, builder=builder, outdir=tmp_path / "html")


def context() -> dict[str, Any]:
    group = {"label": "download-buttons", "buttons": [{"text": ".ipynb"}, {"text": ".pdf"}]}
    other = {"label": "fullscreen-button"}
    return {"header_buttons": [group, other], "pathto": lambda name, resource: f"../../{name}"}


def test_a_chapter_offers_its_source_beside_its_notebook(app: Any) -> None:
    page = context()
    site._offer_source(app, FIRST, "page.html", page, None)
    buttons = page["header_buttons"][0]["buttons"]
    assert [button["text"] for button in buttons] == [".ipynb", ".py", ".pdf"]
    assert buttons[1]["url"] == f"../../_sources/{FIRST}.py"


@pytest.mark.parametrize("page", ["book/index", "genindex"])
def test_other_pages_are_left_alone(app: Any, page: str) -> None:
    before = context()
    site._offer_source(app, page, "page.html", before, None)
    assert len(before["header_buttons"][0]["buttons"]) == 2


def test_downloads_are_a_plain_notebook_and_the_script(app: Any) -> None:
    site._write_downloads(app, None)
    target = app.outdir / "_sources" / FIRST
    nb = nbformat.read(target.with_suffix(".ipynb"), as_version=4)
    assert not any("{exercise}" in cell.source for cell in nb.cells)
    assert target.with_suffix(".py").read_text("utf-8") == small_book.FIRST
    assert not (app.outdir / "_sources" / "book").exists()


@pytest.mark.parametrize(
    ("exception", "form"), [(RuntimeError("a page failed"), "html"), (None, "latex")]
)
def test_nothing_is_written_without_a_site(
    app: Any, exception: Exception | None, form: str
) -> None:
    app.builder.format = form
    site._write_downloads(app, exception)
    assert not app.outdir.exists()


def config() -> Any:
    substitutions = {"name": "value"}
    return SimpleNamespace(
        html_static_path=["own"], mathjax_path="remote", myst_substitutions=substitutions
    )


def test_mathjax_ships_with_the_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mathjax, "directory", lambda: tmp_path)
    settings = config()
    site._ship_mathjax(None, settings)
    assert settings.html_static_path == ["own", str(tmp_path)]
    assert settings.mathjax_path == mathjax.SCRIPT


def test_without_the_archive_math_comes_from_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def offline() -> Path:
        raise MatPCRError("no index answers")

    monkeypatch.setattr(mathjax, "directory", offline)
    settings = config()
    site._ship_mathjax(None, settings)
    assert (settings.html_static_path, settings.mathjax_path) == (["own"], "remote")


def test_the_landing_page_can_say_when_the_book_was_built() -> None:
    settings = config()
    site._substitute_freshness(None, settings)
    assert settings.myst_substitutions["name"] == "value"
    assert settings.myst_substitutions["freshness"].startswith("Built on ")


def test_setup_connects_to_sphinx() -> None:
    events: list[str] = []
    app = SimpleNamespace(connect=lambda event, *_, **__: events.append(event))
    assert site.setup(app)["parallel_read_safe"]
    assert set(events) == {
        "config-inited",
        "env-get-outdated",
        "html-page-context",
        "build-finished",
    }


def test_tables_about_chapters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(small_book.write(tmp_path / "book"))
    listed = tables.chapters()
    assert list(listed.index) == ["start/first", "start/second"]
    assert listed.loc["start/second", "parameters"] == "factor"
    parameters = tables.parameters("first")
    assert parameters.loc["near_hull"].tolist() == ["float", "0.05", "eV/atom; the threshold"]
    # Neither chapter uses a part of the package.
    assert tables.dependencies().to_numpy().sum() == 0


def test_dependencies_are_drawn_with_their_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from matplotlib import pyplot as plt

    from matpcr_utils.plotting import dependencies

    root = small_book.write(tmp_path / "book")
    source = root / "notebooks/start/second.py"
    text = source.read_text("utf-8")
    source.write_text(text + "\n# %%\nfrom matpcr_utils.oracles import stability\n", "utf-8")
    monkeypatch.chdir(root)
    counts = tables.dependencies()
    assert counts.loc["start/second", "oracles"] >= 6
    figure = dependencies.matrix(counts)
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert texts == [str(count) for count in counts.to_numpy().ravel()]
    plt.close(figure)
