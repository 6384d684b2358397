"""`make book`: run every stale chapter in parallel, then render all of them.

Executed notebooks are staged with the book's own ``_toc.yml`` and rendered without execution.
Nothing is done twice: a chapter whose fingerprint is unchanged keeps its outputs, and a site whose
inputs are unchanged is not rendered again.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matpcr_utils.chapters.execute import ChapterError, execute
from matpcr_utils.chapters.fingerprint import fingerprint, renderer_hash
from matpcr_utils.chapters.library import FOLDER, Chapter, book_root, listed, toc_files
from matpcr_utils.errors import MatPCRError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

#: Chapters that run at the same time.
DEFAULT_JOBS = min(4, max(2, os.cpu_count() or 2))


@dataclass(frozen=True)
class Built:
    """What `build` did.

    Attributes
    ----------
    site : Path
        The folder of the rendered book.
    executed, unchanged : tuple of str
        Names of the chapters that ran, and of those that did not have to.
    rendered : bool
        False when the site was up to date.
    seconds : float
    """

    site: Path
    executed: tuple[str, ...]
    unchanged: tuple[str, ...]
    rendered: bool
    seconds: float


def build(
    root: Path | None = None,
    *,
    jobs: int = DEFAULT_JOBS,
    force: bool = False,
    console: Console | None = None,
) -> Built:
    """Execute the stale chapters and render the book to ``_build/html``.

    Parameters
    ----------
    root : Path, optional
        The book's folder; default, the one around the working directory.
    jobs : int
        Chapters executed at the same time.
    force : bool
        Execute and render all, changed or not.
    console : rich.console.Console, optional
        Where progress is shown.

    Raises
    ------
    MatPCRError
        If a chapter fails (each failure is named), a page is missing, or Sphinx warns.
    """
    if jobs < 1:
        raise MatPCRError(f"jobs = {jobs} must be at least 1")
    started = time.monotonic()
    console = console or _console()
    root = root or book_root()
    _require_pages(root)
    chapters = listed(root)
    stale = [c for c in chapters if force or not _is_fresh(c, root)]
    unchanged = tuple(c.name for c in chapters if c not in stale)
    if unchanged:
        console.print(f"{len(unchanged)} of {len(chapters)} chapters are unchanged")
    _execute_all(stale, root, jobs, console)
    site = root / "_build" / "html"
    inputs = _site_inputs(chapters, root)
    render = force or not _is_rendered(site, inputs)
    if render:
        _render(chapters, root, site, inputs, console)
    seconds = time.monotonic() - started
    return Built(site, tuple(c.name for c in stale), unchanged, render, seconds)


def _console() -> Console:
    from rich.console import Console

    return Console(highlight=False)


def _require_pages(root: Path) -> None:
    for file in toc_files(root):
        if not any((root / f"{file}{suffix}").is_file() for suffix in ("", ".md", ".py")):
            raise MatPCRError(f"_toc.yml names {file}, but there is no such page")


# Executing


def _executed(chapter: Chapter, root: Path) -> Path:
    return root / "_build" / "chapters" / f"{chapter.name}.ipynb"


def _stamp(chapter: Chapter, root: Path) -> dict[str, Any]:
    """What the last execution recorded; empty without one."""
    path = _executed(chapter, root).with_suffix(".json")
    if not path.is_file() or not _executed(chapter, root).is_file():
        return {}
    return dict(json.loads(path.read_text(encoding="utf-8")))


def _is_fresh(chapter: Chapter, root: Path) -> bool:
    return _stamp(chapter, root).get("hash") == fingerprint(chapter.source, chapter.suffix, root)


def _execute_all(stale: list[Chapter], root: Path, jobs: int, console: Console) -> None:
    if not stale:
        return
    # The longest chapter first, so that it does not run alone at the end.
    order = sorted(stale, key=lambda c: -_stamp(c, root).get("seconds", 1e6))
    failures: dict[str, str] = {}
    context = multiprocessing.get_context("spawn")  # Papermill changes the working directory
    with (
        _progress(console) as progress,
        ProcessPoolExecutor(min(jobs, len(order)), mp_context=context) as pool,
    ):
        total = progress.add_task("executing chapters", total=len(order))
        running = {pool.submit(_execute_one, chapter, root): chapter for chapter in order}
        for future in as_completed(running):
            _report(future, running[future], failures, console)
            progress.advance(total)
    if failures:
        named = "\n".join(failures[c.name] for c in stale if c.name in failures)
        raise ChapterError(
            f"{len(failures)} of {len(stale)} chapters failed; up to the failing cell they are in "
            f"{(root / '_build' / 'failed').relative_to(root)}\n{named}"
        )


def _progress(console: Console) -> Progress:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    return Progress(*columns, TimeElapsedColumn(), console=console, transient=True)


def _report(
    future: Future[tuple[float, tuple[int, ...]]],
    chapter: Chapter,
    failures: dict[str, str],
    console: Console,
) -> None:
    try:
        seconds, warned = future.result()
    except MatPCRError as error:
        failures[chapter.name] = str(error)
        console.print(f"  [red]failed[/red]    {chapter.name}")
        return
    cells = ", ".join(map(str, warned))
    note = f"  [yellow]wrote to stderr in cell {cells}[/yellow]" if warned else ""
    console.print(f"  [green]executed[/green]  {chapter.name}  {seconds:.1f} s{note}")


def _execute_one(chapter: Chapter, root: Path) -> tuple[float, tuple[int, ...]]:
    """Run one chapter in a worker process; outputs appear only when it succeeded."""
    final = _executed(chapter, root)
    failed = root / "_build" / "failed" / f"{chapter.name}.ipynb"
    for path in (final, failed):
        path.parent.mkdir(parents=True, exist_ok=True)
    failed.unlink(missing_ok=True)
    partial = final.with_name(f".{final.name}")
    try:
        done = execute(chapter, partial, root=root)
    except ChapterError:
        if partial.is_file():
            partial.replace(failed)
        raise
    final.with_suffix(".json").unlink(missing_ok=True)
    partial.replace(final)
    _write_json(final.with_suffix(".json"), {"hash": done.content_hash, "seconds": done.seconds})
    return done.seconds, done.warned


# Rendering


def _site_inputs(chapters: list[Chapter], root: Path) -> str:
    """Hash of all that the rendered site depends on."""
    total = hashlib.sha256(renderer_hash().encode())
    pages = [path for path in sorted((root / "book").rglob("*")) if path.is_file()]
    executed = [_executed(chapter, root) for chapter in chapters]
    for path in (root / "_config.yml", root / "_toc.yml", *pages, *executed):
        total.update(path.relative_to(root).as_posix().encode())
        total.update(path.read_bytes())
    return total.hexdigest()


def _pages_hash(site: Path) -> str:
    total = hashlib.sha256()
    for page in sorted(site.rglob("*.html")):
        total.update(page.read_bytes())
    return total.hexdigest()


def _site_stamp(site: Path) -> Path:
    return site.with_name("html.json")


def _is_rendered(site: Path, inputs: str) -> bool:
    """Whether the site is what these inputs gave; an author's build may have overwritten it."""
    if not _site_stamp(site).is_file() or not (site / "index.html").is_file():
        return False
    stamp = json.loads(_site_stamp(site).read_text(encoding="utf-8"))
    return stamp == {"inputs": inputs, "pages": _pages_hash(site)}


def _render(chapters: list[Chapter], root: Path, site: Path, inputs: str, console: Console) -> None:
    stage, output = root / "_build" / "stage", root / "_build" / "render"
    for folder in (stage, output):
        shutil.rmtree(folder, ignore_errors=True)
    _stage(chapters, root, stage)
    with console.status("rendering"):
        _jupyter_book(stage, output, root / "_build" / "render.log")
    _site_stamp(site).unlink(missing_ok=True)
    shutil.rmtree(site, ignore_errors=True)
    (output / "_build" / "html").replace(site)
    shutil.rmtree(output)
    _write_json(_site_stamp(site), {"inputs": inputs, "pages": _pages_hash(site)})


def _stage(chapters: list[Chapter], root: Path, stage: Path) -> None:
    """Lay out executed notebooks as the book: same table of contents, nothing to execute."""
    import yaml

    shutil.copytree(root / "book", stage / "book")
    shutil.copytree(root / FOLDER, stage / FOLDER, ignore=shutil.ignore_patterns("*.ipynb", ".*"))
    for chapter in chapters:
        shutil.copy(_executed(chapter, root), stage / FOLDER / f"{chapter.name}.ipynb")
    shutil.copy(root / "_toc.yml", stage)
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    config["execute"] = {**config.get("execute", {}), "execute_notebooks": "off"}
    # The .py lies beside its notebook for download only.
    config["exclude_patterns"] = [f"{FOLDER}/**/*.py"]
    config["sphinx"]["config"].pop("nb_custom_formats", None)
    (stage / "_config.yml").write_text(yaml.safe_dump(config, allow_unicode=True), "utf-8")


def _jupyter_book(stage: Path, output: Path, log: Path) -> None:
    command = [
        *(sys.executable, "-c", "from jupyter_book.cli.main import main; main()"),
        *("build", str(stage), "--path-output", str(output)),
        *("--all", "-n", "-W", "--keep-going"),
    ]
    done = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHONUTF8": "1"},
        encoding="utf-8",
        check=False,
    )
    text = re.sub(r"\x1b\[[\d;]*[A-Za-z]", "", done.stdout).replace(f"{stage}{os.sep}", "")
    log.write_text(text, encoding="utf-8")
    if done.returncode:
        lines = text.splitlines()
        problems = [line for line in lines if "WARNING" in line or "rror:" in line] or lines[-5:]
        shown = "\n".join(f"    {line}" for line in list(dict.fromkeys(problems))[:20])
        raise MatPCRError(f"the book did not render without warnings (see {log}):\n{shown}")


def _write_json(path: Path, content: dict[str, Any]) -> None:
    partial = path.with_name(f".{path.name}")
    partial.write_text(json.dumps(content), encoding="utf-8")
    partial.replace(path)
