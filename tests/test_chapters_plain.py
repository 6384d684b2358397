"""MyST turned into plain Markdown for downloads and single pages."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
import small_book
from hypothesis import given
from hypothesis import strategies as st

from matpcr_utils.chapters import freshness
from matpcr_utils.chapters.library import parse
from matpcr_utils.chapters.plain import plain, to_markdown, write_pairs


@pytest.mark.parametrize(
    ("myst", "markdown"),
    [
        ("(label)=\n# Title", "# Title"),
        ("```{note}\nMind $x$.\n```", "> **Note**\n>\n> Mind $x$."),
        (":::{tip} Faster\nDo.\n\nGo.\n:::", "> **Faster**\n>\n> Do.\n>\n> Go."),
        ("```{exercise} Twice\n:label: ex-a\nDouble.\n```", "**Exercise: Twice**\n\nDouble."),
        ("```{exercise}\n:label: ex-a\nDouble.\n```", "**Exercise**\n\nDouble."),
        (
            "```{solution} ex-a\n:class: dropdown\nDone.\n```",
            "<details><summary>Solution: Twice</summary>\n\nDone.\n\n</details>",
        ),
        ("````{exercise-start} A\n:label: ex-b\n````\nText", "**Exercise: A**\n\nText"),
        ("```{exercise-end}\n```", ""),
        ("```{math}\n:label: bragg\nE = 1\n```", "$$\nE = 1\n$$"),
        ("```{figure} a.png\n:alt: A line\nCaption.\n```", "![A line](a.png)\n\n*Caption.*"),
        ("```{code-block} python\nx = 1\n```", "```python\nx = 1\n```"),
        ("````{note}\n```{math}\na\n```\n````", "> **Note**\n>\n> $$\n> a\n> $$"),
        ("```python\nx = 1\n```", "```python\nx = 1\n```"),
        ("before\n```{exercise} A\nB\n```\nafter", "before\n\n**Exercise: A**\n\nB\n\nafter"),
        ("See {doc}`the data <../start/data>`.", "See the data."),
        ("See {doc}`../start/data` and {ref}`fig-a`.", "See data and fig-a."),
        ("A {term}`PCR` {cite}`jain2013` {math}`x^2`.", "A PCR [jain2013] $x^2$."),
        ("It is {glue:text}`near_hull:.2f` or {glue:text}`gone`.", "It is 0.05 or gone."),
    ],
)
def test_each_construct(myst: str, markdown: str) -> None:
    assert to_markdown(myst, {"near_hull": "0.0500"}, {"ex-a": "Twice"}) == markdown


@given(st.text())
def test_any_text_is_converted(text: str) -> None:
    assert isinstance(to_markdown(text), str)


@given(st.text(alphabet="abc .,$\n"))
def test_plain_markdown_is_left_alone(text: str) -> None:
    kept = to_markdown(text)
    assert "".join(kept.split()) == "".join(text.split())


def executed() -> nbformat.NotebookNode:
    nb = parse(small_book.FIRST)
    glued = nbformat.v4.new_output(
        "display_data",
        data={"application/papermill.record/text/plain": "0.07"},
        metadata={
            "scrapbook": {"name": "threshold", "mime_prefix": "application/papermill.record/"}
        },
    )
    nb.cells[2].outputs = [glued]
    nb.cells[2].metadata["mystnb"] = {"figure": {"caption": "A {term}`hull`."}}
    freshness.append_to(nb, "0" * 64)
    line = '<p class="x">Executed today.</p>'
    nb.cells[-1].outputs = [nbformat.v4.new_output("display_data", data={"text/html": line})]
    return nb


def test_an_executed_notebook_reads_without_myst() -> None:
    done = plain(executed())
    nbformat.validate(done)
    text = "\n".join(cell.source for cell in done.cells if cell.cell_type == "markdown")
    assert "The threshold is 0.07." in text
    assert "*Figure: A hull.*" in text
    assert "<summary>Solution: A threshold</summary>" in text
    assert done.cells[-1].source == "*Executed today.*"
    assert "{" not in text
    assert done.cells[2].outputs == []


def test_the_notebook_given_is_left_as_it_was() -> None:
    nb = executed()
    before = nbformat.writes(nb)
    plain(nb)
    assert nbformat.writes(nb) == before


def test_pairs_lie_beside_their_chapters_and_run(tmp_path: Path) -> None:
    book = small_book.write(tmp_path)
    written = write_pairs(book)
    assert [path.name for path in written] == ["first.ipynb", "second.ipynb"]
    nb = nbformat.read(written[0], as_version=4)
    nbformat.validate(nb)
    assert nb.metadata.kernelspec.name == "python3"
    assert "parameters" in nb.cells[1].metadata.tags
    assert not any("{exercise}" in cell.source for cell in nb.cells)
