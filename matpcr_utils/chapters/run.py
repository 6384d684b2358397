"""`matpcr run`: one chapter with other parameters, kept with all that is needed to repeat it."""

from __future__ import annotations

import datetime
import html
import json
import logging
import os
import platform
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matpcr_utils import __version__
from matpcr_utils.chapters import mathjax
from matpcr_utils.chapters.execute import ChapterError, Executed, execute
from matpcr_utils.chapters.fingerprint import library_versions
from matpcr_utils.chapters.library import Chapter, book_root, find
from matpcr_utils.chapters.parameters import resolve
from matpcr_utils.errors import MatPCRError
from matpcr_utils.references.provenance import data_hash

if TYPE_CHECKING:
    from nbformat import NotebookNode


@dataclass(frozen=True)
class Run:
    """Where a run's files are, and what its manifest says.

    Attributes
    ----------
    folder : Path
        Holds the executed notebook, its HTML page and ``manifest.json``.
    manifest : mapping
    """

    folder: Path
    manifest: Mapping[str, Any]


def run(name: str, given: Mapping[str, Any] | None = None, *, runs_dir: Path | None = None) -> Run:
    """Execute a chapter with some of its parameters changed.

    Parameters
    ----------
    name : str
        A chapter's name or path, see `library.find`.
    given : mapping, optional
        Values by parameter name; text is converted to the parameter's type.
    runs_dir : Path, optional
        The run gets a folder of its own in it; default, ``_build/runs`` of the book.

    Raises
    ------
    ChapterError
        If a cell fails; the message says where the partial notebook is.
    MatPCRError
        If there is no such chapter or parameter, a value does not fit, or `runs_dir` can't be
        written.
    """
    chapter = find(name)
    values = resolve(f"chapter {chapter.name}", chapter.parameters, given or {})
    runs_dir = runs_dir or _book_of(chapter) / "_build" / "runs"
    started = datetime.datetime.now(datetime.UTC)
    label = f"{chapter.name.replace('/', '-')}-{started:%Y%m%d-%H%M%S}"
    scratch = _scratch(runs_dir, label)
    output = scratch / f"{chapter.path.stem}.ipynb"
    try:
        done = execute(chapter, output, values)
        _write_html(done.notebook, output.with_suffix(".html"), chapter.title)
        manifest = _manifest(chapter, values, done, started)
        text = json.dumps(manifest, indent=2, ensure_ascii=False)
        (scratch / "manifest.json").write_text(f"{text}\n", encoding="utf-8")
    except ChapterError as error:
        folder = _keep(scratch, runs_dir / f"{label}-failed")
        raise ChapterError(
            f"{error}\n    the notebook up to there: {folder / output.name}"
        ) from None
    except BaseException:
        shutil.rmtree(scratch, ignore_errors=True)
        raise
    return Run(_keep(scratch, runs_dir / label), manifest)


def _scratch(runs_dir: Path, label: str) -> Path:
    """A folder to work in, hidden until the run is done."""
    try:
        runs_dir.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=f".{label}-", dir=runs_dir))
        scratch.chmod(0o755)
    except OSError as error:
        raise MatPCRError(
            f"can't write the run's folder {runs_dir} ({error.strerror}): name another by --out"
        ) from error
    return scratch


def _book_of(chapter: Chapter) -> Path:
    try:
        return book_root(chapter.path.parent)
    except MatPCRError:
        return Path.cwd()


def _keep(scratch: Path, wanted: Path) -> Path:
    """Rename the finished folder; two runs in the same second get different names."""
    for number in range(1, 1000):
        folder = wanted if number == 1 else wanted.with_name(f"{wanted.name}-{number}")
        if not folder.exists():
            try:
                return scratch.rename(folder)
            except OSError:
                continue
    raise MatPCRError(f"{wanted} and its numbered neighbours exist: tidy up {wanted.parent}")


def _manifest(
    chapter: Chapter, given: Mapping[str, Any], done: Executed, started: datetime.datetime
) -> dict[str, Any]:
    parameters = {p.name: p.default for p in chapter.parameters} | dict(given)
    finished = datetime.datetime.now(datetime.UTC)
    return {
        "chapter": chapter.name,
        "title": chapter.title,
        "parameters": parameters,
        "given": sorted(given),
        "seed": parameters.get("seed"),
        "started": started.isoformat(timespec="seconds"),
        "finished": finished.isoformat(timespec="seconds"),
        "seconds": round(done.seconds, 3),
        "content_hash": done.content_hash,
        "data_hash": data_hash(),
        "versions": {
            "python": platform.python_version(),
            "matpcr_utils": __version__,
            **library_versions(),
        },
        "git": git_state(chapter.path.parent),
        "cells_with_stderr": list(done.warned),
    }


def git_state(folder: Path) -> dict[str, Any] | None:
    """Commit of the checkout around a folder, and whether files differ from it; or None."""

    def git(*arguments: str) -> str | None:
        try:
            done = subprocess.run(
                ["git", "-C", str(folder), *arguments],
                capture_output=True,
                text=True,
                check=False,
                env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},
            )
        except OSError:
            return None
        return done.stdout.strip() if done.returncode == 0 else None

    commit = git("rev-parse", "HEAD")
    if commit is None:
        return None
    return {"commit": commit, "modified": bool(git("status", "--porcelain"))}


# The page


_MATHJAX_BLOCK = re.compile(r"<!-- Load mathjax -->.*?<!-- End of mathjax configuration -->", re.S)
_REMOTE_SCRIPT = re.compile(r'<script src="https?://[^"]*(?:require|jquery)[^"]*"></script>')
_UNDESCRIBED = "No description has been provided for this image"
_NO_ALT = f'alt="{_UNDESCRIBED}"'
_MATHJAX_SETTINGS = """<script>
window.MathJax = {
  tex: {inlineMath: [["$", "$"], ["\\\\(", "\\\\)"]], processEscapes: true, tags: "ams"}
};
</script>"""


def _write_html(nb: NotebookNode, path: Path, title: str) -> None:
    """One page that needs nothing beside it: images and MathJax are inside."""
    from nbconvert import HTMLExporter

    from matpcr_utils.chapters.plain import plain

    readable = plain(nb)
    exporter = HTMLExporter(
        embed_images=True, exclude_input_prompt=True, exclude_output_prompt=True
    )
    exporter.log.setLevel(logging.ERROR)
    page, _ = exporter.from_notebook_node(readable, {"metadata": {"name": title}})
    page = _REMOTE_SCRIPT.sub("", page)
    # nbconvert drops the alternative texts of outputs; its images are in the notebook's order.
    texts = iter(_alternative_texts(readable))
    page = re.sub(_NO_ALT, lambda found: f'alt="{next(texts, None) or _UNDESCRIBED}"', page)
    try:
        script = f"{_MATHJAX_SETTINGS}\n<script>{mathjax.single_file()}</script>"
        page = _MATHJAX_BLOCK.sub(lambda _: script, page)
    except MatPCRError:
        pass  # the page then loads MathJax from the network, as nbconvert's own do
    path.write_text(page, encoding="utf-8")


def _alternative_texts(nb: NotebookNode) -> list[str]:
    return [
        html.escape(cell.metadata.get("mystnb", {}).get("image", {}).get("alt", ""))
        for cell in nb.cells
        for output in cell.get("outputs", [])
        if any(kind.startswith("image/") for kind in output.get("data", {}))
    ]
