"""Which chapters there are, where they lie, and how one is read as a notebook."""

from __future__ import annotations

import difflib
import re
import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matpcr_utils.chapters.parameters import Parameter, parameters_in
from matpcr_utils.errors import MatPCRError

if TYPE_CHECKING:
    from nbformat import NotebookNode

FOLDER = "notebooks"


@dataclass(frozen=True)
class Chapter:
    """One chapter's source.

    Attributes
    ----------
    path : Path
        The ``.py`` (py:percent) or ``.ipynb`` file.
    name : str
        Path below ``notebooks/`` without suffix (``oracles/stability``); for a file outside the
        book, its stem.
    """

    path: Path
    name: str

    @cached_property
    def source(self) -> str:
        """The file's text."""
        return _text(self.path)

    @property
    def suffix(self) -> str:
        """``.py`` or ``.ipynb``."""
        return self.path.suffix

    @cached_property
    def title(self) -> str:
        """The first heading, or the name where there is none."""
        for cell in notebook(self).cells:
            if cell.cell_type == "markdown" and (
                heading := re.search(r"^# +(.+)$", cell.source, re.MULTILINE)
            ):
                return heading[1].strip()
        return self.name

    @cached_property
    def parameters(self) -> list[Parameter]:
        """What the cell tagged ``parameters`` declares; empty without one."""
        for cell in notebook(self).cells:
            if "parameters" in cell.metadata.get("tags", []):
                return parameters_in(cell.source)
        return []


def book_root(start: Path | None = None) -> Path:
    """The folder of the book: the nearest one upwards that holds ``_toc.yml`` and ``notebooks/``.

    Falls back on the checkout that the package was installed from.

    Raises
    ------
    MatPCRError
        If neither exists.
    """
    here = (start or Path.cwd()).resolve()
    checkout = Path(__file__).resolve().parents[2]
    for folder in (here, *here.parents, checkout):
        if (folder / "_toc.yml").is_file() and (folder / FOLDER).is_dir():
            return folder
    raise MatPCRError(
        f"no book found in {here} or above it: run this in a checkout, which holds _toc.yml"
    )


def toc_files(root: Path) -> list[str]:
    """Every page that ``_toc.yml`` names, in order, without suffix.

    Raises
    ------
    MatPCRError
        If it can't be read, or names no page.
    """
    import yaml

    path = root / "_toc.yml"
    try:
        files = _files(yaml.safe_load(_text(path)))
    except yaml.YAMLError as error:
        reason = " ".join(str(error).split())
        raise MatPCRError(f"{path} is no YAML: {reason}; correct it") from None
    if not files or not all(isinstance(file, str) for file in files):
        raise MatPCRError(f"{path} names no pages: give it `root: page` and `- file: page` entries")
    return files


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise MatPCRError(f"{path} is no UTF-8 text ({error.reason}): save it as UTF-8") from None
    except OSError as error:
        raise MatPCRError(f"can't read {path}: {error.strerror}") from None


def _files(node: Any) -> list[str]:
    if isinstance(node, list):
        return [file for item in node for file in _files(item)]
    if not isinstance(node, dict):
        return []
    own = [node[key] for key in ("root", "file") if key in node]
    return own + [file for value in node.values() for file in _files(value)]


def listed(root: Path | None = None) -> list[Chapter]:
    """The chapters of the book, in reading order.

    Raises
    ------
    MatPCRError
        If ``_toc.yml`` names a chapter that does not exist.
    """
    root = root or book_root()
    chapters = []
    for file in toc_files(root):
        if not file.startswith(f"{FOLDER}/"):
            continue
        path = root / f"{file.removesuffix('.py')}.py"
        if not path.is_file():
            raise MatPCRError(f"_toc.yml names {file}, but there is no {path.relative_to(root)}")
        chapters.append(_chapter(path, root))
    return chapters


def find(name: str, root: Path | None = None) -> Chapter:
    """A chapter by name (``stability``, ``oracles/stability``) or path, with or without suffix.

    Raises
    ------
    MatPCRError
        If there is none, or the short name fits several.
    """
    named = bool(Path(name).name)  # "" and "." name no file
    for stem in (Path(name), Path(name).with_suffix("")) if named else ():
        # The .py is the source; an .ipynb beside it was generated from it.
        for path in (stem.with_name(f"{stem.name}.py"), stem.with_name(f"{stem.name}.ipynb"), stem):
            if path.is_file() and path.suffix in (".py", ".ipynb"):
                return _chapter(path.resolve(), root)
    chapters = listed(root)
    wanted = re.sub(r"\.(py|ipynb)$", "", name).removeprefix(f"{FOLDER}/")
    fits = [c for c in chapters if c.name == wanted or c.name.endswith(f"/{wanted}")]
    if len(fits) == 1:
        return fits[0]
    names = [chapter.name for chapter in chapters]
    if fits:
        raise MatPCRError(
            f"chapter {name!r} is ambiguous: choose {' or '.join(c.name for c in fits)}"
        )
    stems = {candidate: n for n in names for candidate in (n, n.rsplit("/", 1)[-1])}
    near = difflib.get_close_matches(wanted, list(stems), n=1)
    hint = f"did you mean {stems[near[0]]}? " if near else ""
    raise MatPCRError(f"there is no chapter {name!r}: {hint}The book has {', '.join(names)}")


def _chapter(path: Path, root: Path | None) -> Chapter:
    folder = (root or path.parent).resolve()
    for parent in (folder, *path.parents):
        if (parent / "_toc.yml").is_file() and path.is_relative_to(parent / FOLDER):
            return Chapter(path, path.relative_to(parent / FOLDER).with_suffix("").as_posix())
    return Chapter(path, path.stem)


def notebook(chapter: Chapter) -> NotebookNode:
    """The chapter as a notebook without outputs.

    Raises
    ------
    MatPCRError
        If the file can't be read as one.
    """
    return parse(chapter.source, chapter.suffix, str(chapter.path))


def parse(text: str, suffix: str = ".py", label: str = "the chapter") -> NotebookNode:
    """A notebook from text; every code cell gets a list of tags, which Papermill relies on."""
    import jupytext

    try:
        form = "ipynb" if suffix == ".ipynb" else "py:percent"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            nb = jupytext.reads(text, fmt=form)
        _ = nb.cells  # an old or empty .ipynb has none
    except Exception as error:  # jupytext and nbformat raise many kinds for a broken file
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise MatPCRError(f"{label} can't be read as a notebook: {reason}") from error
    for cell in nb.cells:
        cell.metadata.setdefault("tags", [])
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    nb.metadata.setdefault(
        "kernelspec", {"display_name": "Python 3", "language": "python", "name": "python3"}
    )
    return nb
