"""The frame of the project: pins that agree, commands that exist, chapters of the agreed form."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
import yaml

from matpcr_utils import __version__
from matpcr_utils.chapters.library import Chapter, listed, notebook, toc_files

ROOT = Path(__file__).resolve().parents[1]
CHAPTERS = listed(ROOT)


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def names(requirements: list[str]) -> set[str]:
    return {canonical(re.split(r"[\s<>=!~;\[]", line, maxsplit=1)[0]) for line in requirements}


def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def constraints() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text("utf-8").split()
    return {canonical(name): version for name, version in (line.split("==") for line in lines)}


def environment() -> dict[str, str]:
    entries = yaml.safe_load((ROOT / "environment.yml").read_text("utf-8"))["dependencies"]
    pins = next(entry["pip"] for entry in entries if isinstance(entry, dict))
    pairs = (line.split("==") for line in pins if not line.startswith("--"))
    return {canonical(name): version for name, version in pairs}


def test_environment_names_the_direct_dependencies_and_no_others() -> None:
    wanted = names(project()["dependencies"] + project()["optional-dependencies"]["test"])
    assert set(environment()) == wanted


def test_environment_and_constraints_pin_the_same_versions() -> None:
    pinned = constraints()
    assert environment() == {name: pinned[name] for name in environment()}


def test_every_dependency_of_the_extras_that_make_installs_is_pinned() -> None:
    extras = project()["optional-dependencies"]
    assert names(extras["test"] + extras["bench"]) <= set(constraints())


def test_environment_installs_the_package_on_a_python_that_it_supports() -> None:
    entries = yaml.safe_load((ROOT / "environment.yml").read_text("utf-8"))["dependencies"]
    python = next(e for e in entries if isinstance(e, str) and e.startswith("python="))
    assert tuple(map(int, python.removeprefix("python=").split("."))) >= (3, 11)
    pip = next(entry["pip"] for entry in entries if isinstance(entry, dict))
    assert "--editable ." in pip


def test_jupyter_book_is_of_the_generation_that_reads_this_configuration() -> None:
    assert constraints()["jupyter-book"].startswith("1.")
    assert "jupyter-book<2" in project()["dependencies"]


def test_the_version_is_the_same_everywhere() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert project()["version"] == __version__ == citation["version"]
    assert metadata.version("matpcr-utils") == __version__


@pytest.mark.parametrize(
    "target", ["book", "test", "lint", "notebooks", "bench", "clean", "pins", "help"]
)
def test_make_knows_the_target(target: str) -> None:
    done = subprocess.run(
        ["make", "--dry-run", target], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_make_refuses_an_old_python_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text((ROOT / "Makefile").read_text("utf-8"), "utf-8")
    old = tmp_path / "old"
    old.write_text("#!/bin/sh\nexit 1\n", "utf-8")
    old.chmod(0o755)
    done = subprocess.run(
        ["make", ".venv/bin/python", f"PYTHON={old}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert f"Error: {old} is missing or older than 3.11" in done.stderr
    assert not (tmp_path / ".venv").exists()


def test_the_readme_shows_the_two_commands_first() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    block = re.search(r"```(?:sh|bash)?\n(.*?)```", text, re.S)
    assert block is not None
    assert [line.split("#")[0].strip() for line in block[1].splitlines()] == [
        "make book",
        "make test",
    ]


def test_workflows_are_valid_and_pin_their_actions() -> None:
    files = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    assert len(files) == 3
    for file in files:
        jobs = yaml.safe_load(file.read_text("utf-8"))["jobs"]
        steps = [step for job in jobs.values() for step in job["steps"]]
        assert all(re.search(r"@v\d+$", step["uses"]) for step in steps if "uses" in step)


def test_every_page_of_the_table_of_contents_exists() -> None:
    pages = toc_files(ROOT)
    assert len(set(pages)) == len(pages) > len(CHAPTERS) >= 11
    for page in pages:
        assert any((ROOT / f"{page}{suffix}").is_file() for suffix in (".md", ".py")), page


def test_every_chapter_file_is_in_the_table_of_contents() -> None:
    files = {path.resolve() for path in (ROOT / "notebooks").rglob("*.py")}
    assert files == {chapter.path.resolve() for chapter in CHAPTERS}


# The form of a chapter (design, section 3)

by_chapter = pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.name)


def code_cells(chapter: Chapter) -> list[int]:
    """Lines of code of each cell."""
    sizes = []
    for cell in notebook(chapter).cells:
        if cell.cell_type == "code":
            lines = cell.source.splitlines()
            sizes.append(sum(bool(x.strip()) and not x.lstrip().startswith("#") for x in lines))
    return sizes


@by_chapter
def test_code_cells_are_short(chapter: Chapter) -> None:
    sizes = sorted(code_cells(chapter))
    assert sizes[-1] <= 20
    assert sizes[len(sizes) // 2] <= 8


@by_chapter
def test_parameters_are_typed_and_explained(chapter: Chapter) -> None:
    cells = [c for c in notebook(chapter).cells if "parameters" in c.metadata.tags]
    assert len(cells) == 1
    assert chapter.parameters
    assert all(isinstance(line, ast.AnnAssign) for line in ast.parse(cells[0].source).body)
    assert all(parameter.help for parameter in chapter.parameters)
    for parameter in chapter.parameters:
        assert parameter.parse(parameter.default) == parameter.default


@by_chapter
def test_a_chapter_has_its_parts(chapter: Chapter) -> None:
    text = "\n".join(c.source for c in notebook(chapter).cells if c.cell_type == "markdown")
    stem = chapter.path.stem
    assert f"({stem})=" in text
    assert "After this chapter you can" in text
    assert "## What the paper reports" in text
    assert "## In short" in text
    exercises = re.findall(r"\{exercise(?:-start)?\}.*\n(?:.*\n)?:label: (\S+)", text)
    assert len(exercises) >= 2
    assert all(label.startswith(f"ex-{stem}") for label in exercises)
    for label in exercises:
        assert re.search(rf"\{{solution(?:-start)?\}} {label}\n:class: dropdown", text)


def test_labels_of_exercises_and_figures_are_unique_over_the_book() -> None:
    found: list[str] = []
    for chapter in CHAPTERS:
        for cell in notebook(chapter).cells:
            found += re.findall(r"^:label: (\S+)", cell.source, re.MULTILINE)
            name = cell.metadata.get("mystnb", {}).get("figure", {}).get("name")
            found += [name] if name else []
    assert len(found) == len(set(found))


@by_chapter
def test_figures_carry_caption_and_alternative_text(chapter: Chapter) -> None:
    for cell in notebook(chapter).cells:
        figure = cell.metadata.get("mystnb", {}).get("figure")
        if figure:
            assert figure["caption"]
            assert len(cell.metadata["mystnb"]["image"]["alt"]) > 20
