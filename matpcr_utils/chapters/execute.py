"""One chapter through Papermill, for the book and for `matpcr run` alike."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matpcr_utils.chapters import display, freshness
from matpcr_utils.chapters.fingerprint import fingerprint
from matpcr_utils.chapters.library import Chapter, notebook
from matpcr_utils.errors import MatPCRError

if TYPE_CHECKING:
    from nbformat import NotebookNode

#: Seconds that one cell may take.
CELL_TIMEOUT = 900


class ChapterError(MatPCRError):
    """A cell of a chapter failed; the message names chapter, cell and error in a few lines."""


@dataclass(frozen=True)
class Executed:
    """What an execution left.

    Attributes
    ----------
    notebook : NotebookNode
        With outputs.
    content_hash : str
        Of all that the outputs depend on, the parameters aside.
    seconds : float
    warned : tuple of int
        Numbers (from 1) of the cells that wrote to standard error.
    """

    notebook: NotebookNode
    content_hash: str
    seconds: float
    warned: tuple[int, ...]


def execute(
    chapter: Chapter,
    output: Path,
    parameters: Mapping[str, Any] | None = None,
    *,
    root: Path | None = None,
) -> Executed:
    """Run a chapter in its own folder and write the executed notebook.

    Parameters
    ----------
    chapter : Chapter
    output : Path
        Written after every cell, so that a stopped run leaves what it had.
    parameters : mapping, optional
        Checked values (`parameters.resolve`), injected after the parameters cell.
    root : Path, optional
        The book's folder, for the content hash.

    Raises
    ------
    ChapterError
        When a cell fails, takes longer than `CELL_TIMEOUT`, or the kernel dies; `output` then
        holds the notebook up to that cell.
    """
    content_hash = fingerprint(chapter.source, chapter.suffix, root)
    nb = notebook(chapter)
    display.prepend_to(nb)
    freshness.append_to(nb, content_hash)
    started = time.monotonic()
    done = _papermill(chapter, nb, output, dict(parameters or {}))
    seconds = time.monotonic() - started
    _forget_the_machine(done)
    # The hidden first cell is not counted.
    warned = tuple(
        number
        for number, cell in enumerate(done.cells)
        if any(out.get("name") == "stderr" for out in cell.get("outputs", []))
    )
    import nbformat

    nbformat.write(done, output)
    return Executed(done, content_hash, seconds, warned)


def _papermill(
    chapter: Chapter, nb: NotebookNode, output: Path, parameters: dict[str, Any]
) -> NotebookNode:
    import papermill
    from nbclient.exceptions import CellTimeoutError, DeadKernelError
    from papermill.exceptions import PapermillExecutionError

    _translate_tuples()
    # Papermill logs each step and each line of output; failures are raised all the same.
    logging.getLogger("papermill").setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return papermill.execute_notebook(
                nb,
                output,
                parameters=parameters,
                progress_bar=False,
                cwd=chapter.path.parent,
                execution_timeout=CELL_TIMEOUT,
                # The kernel's own remarks are no output of the chapter.
                extra_arguments=["--log-level=CRITICAL"],
            )
    except PapermillExecutionError as error:
        raise ChapterError(_failure(chapter, error)) from None
    except CellTimeoutError:
        raise ChapterError(
            f"chapter {chapter.name}: a cell took longer than {CELL_TIMEOUT} s"
        ) from None
    except DeadKernelError:
        raise ChapterError(
            f"chapter {chapter.name}: the kernel died; memory may have run out"
        ) from None


def _failure(chapter: Chapter, error: Any) -> str:
    # Papermill counts from 0, and the hidden first cell with it.
    number = error.cell_index
    code = error.source.strip().splitlines() or [""]
    text = " ".join(str(error.evalue).split())
    shown = text if len(text) <= 400 else f"{text[:400]}…"
    return (
        f"chapter {chapter.name} failed in cell {number} ({chapter.path.name}):\n"
        f"    {code[0]}{' …' if len(code) > 1 else ''}\n"
        f"    {error.ename}: {shown}"
    )


def _translate_tuples() -> None:
    """Teach Papermill to write a tuple as one; it would inject the text "(1, 2)"."""
    from papermill.translators import PythonTranslator, papermill_translators

    class Translator(PythonTranslator):
        @classmethod
        def translate(cls, val: Any) -> str:
            if isinstance(val, tuple):
                return f"({''.join(cls.translate(item) + ', ' for item in val).strip()})"
            return str(super().translate(val))

    papermill_translators.register("python", Translator)


def _forget_the_machine(nb: NotebookNode) -> None:
    """Drop Papermill's record of paths and times: outputs are compared and published."""
    nb.metadata.pop("papermill", None)
    for cell in nb.cells:
        cell.metadata.pop("papermill", None)
        cell.metadata.pop("execution", None)
