"""A hash of everything a chapter's outputs depend on, so that only stale chapters run again.

jupyter-cache hashes a notebook's code cells only: after a change in an imported module, it serves
the old outputs. Here the hash covers the chapter, the modules of this package that it can reach by
imports (those inside functions too), the package's data, and the versions of the libraries.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from matpcr_utils.chapters.library import FOLDER, book_root, parse
from matpcr_utils.errors import MatPCRError

PACKAGE = "matpcr_utils"
PACKAGE_DIR = Path(__file__).resolve().parents[1]

# Code that finds modules by name at run time reaches its whole package.
_DYNAMIC = ("import_module", "__import__", "pkgutil", "__getattr__", "entry_points")
# A chapter that starts programs, or looks at chapters, may depend on anything in the checkout.
_ANYTHING = ("subprocess", "os.system", "importlib", f"{PACKAGE}.cli", f"{PACKAGE}.chapters")


def fingerprint(source: str, suffix: str = ".py", root: Path | None = None) -> str:
    """Hash (64 hexadecimal digits) of a chapter's source and of all that it depends on."""
    code = chapter_code(source, suffix)
    parts = [source, environment_hash(), _data_files_hash(), _modules_hash(reachable(code))]
    if _may_use_anything(code):
        parts.append(_notebooks_hash(root))
    return _digest(parts)


def reachable(code: str) -> set[str]:
    """Dotted names of this package's modules that a piece of code can import, directly or not.

    Code that can't be parsed (IPython magics), or that may use anything, reaches all of them.
    """
    if _may_use_anything(code):
        return set(_modules())
    return _closure(_imports(code, PACKAGE, is_package=False))


def renderer_hash() -> str:
    """Hash of the code that turns executed chapters into pages, its data and its libraries."""
    modules = _closure([f"{PACKAGE}.chapters.book", f"{PACKAGE}.chapters.site"])
    return _digest([environment_hash(), _data_files_hash(), _modules_hash(modules)])


def _closure(names: Iterable[str]) -> set[str]:
    todo, seen = list(names), set[str]()
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo += _edges(name)
    return seen


def _data_files_hash() -> str:
    """Hash of the names and contents of all data files, the published figures among them."""
    files = [path for path in sorted((PACKAGE_DIR / "data").rglob("*")) if path.is_file()]
    return _tree_hash(files, PACKAGE_DIR)


@cache
def environment_hash() -> str:
    """Hash of the Python version and of the versions of the libraries that the package requires."""
    return _digest(
        [
            f"python {sys.version_info.major}.{sys.version_info.minor}",
            *(f"{name} {version}" for name, version in library_versions().items()),
        ]
    )


@cache
def library_versions() -> dict[str, str]:
    """Installed version of each library that the package requires, extras aside."""
    import re
    from importlib import metadata

    found = {}
    for requirement in metadata.requires("matpcr-utils") or []:
        if "extra ==" not in requirement:
            name = re.split(r"[\s<>=!~;\[(]", requirement, maxsplit=1)[0]
            found[name] = metadata.version(name)
    return dict(sorted(found.items(), key=lambda item: item[0].lower()))


def chapter_code(source: str, suffix: str = ".py") -> str:
    """The code cells of a chapter's source, one after the other."""
    cells = parse(source, suffix).cells
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "code")


def _may_use_anything(code: str) -> bool:
    try:
        ast.parse(code)
    except SyntaxError:
        return True
    bare = f"import {PACKAGE}\n" in f"{code}\n"
    chapters = f"from {PACKAGE} import chapters" in code
    return bare or chapters or any(word in code for word in _ANYTHING)


@cache
def _modules() -> dict[str, Path]:
    """Every module of the package by dotted name."""
    found = {}
    for path in sorted(PACKAGE_DIR.rglob("*.py")):
        parts = path.relative_to(PACKAGE_DIR.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def _edges(name: str) -> frozenset[str]:
    """The modules that importing one module, or calling into it, can load."""
    path = _modules()[name]
    text = path.read_text(encoding="utf-8")
    is_package = path.name == "__init__.py"
    found = set(_imports(text, name, is_package))
    if _finds_modules_by_name(text):
        package = name if is_package else name.rpartition(".")[0]
        found |= {other for other in _modules() if other.startswith(f"{package}.")}
    # Importing a.b.c runs a and a.b first.
    parts = name.split(".")
    found |= {".".join(parts[:n]) for n in range(1, len(parts))}
    return frozenset(found & _modules().keys())


def _finds_modules_by_name(code: str) -> bool:
    nodes = ast.walk(ast.parse(code))
    names = {getattr(node, key, None) for node in nodes for key in ("id", "attr", "name")}
    return not names.isdisjoint(_DYNAMIC)


def _imports(code: str, module: str, is_package: bool) -> Iterable[str]:
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(node, module, is_package)
            names = [base, *(f"{base}.{alias.name}" for alias in node.names)]
        else:
            continue
        yield from (name for name in names if name in _modules())


def _absolute(node: ast.ImportFrom, module: str, is_package: bool) -> str:
    if not node.level:
        return node.module or ""
    parts = module.split(".")
    up = node.level - 1 if is_package else node.level
    return ".".join([*parts[: len(parts) - up], *([node.module] if node.module else [])])


def _notebooks_hash(root: Path | None) -> str:
    try:
        root = root or book_root()
    except MatPCRError:
        return ""
    files = [*sorted((root / FOLDER).rglob("*.py")), root / "_toc.yml"]
    return _tree_hash(files, root)


def _modules_hash(names: Iterable[str]) -> str:
    return _digest([f"{name} {_file_hash(_modules()[name])}" for name in sorted(names)])


def _tree_hash(files: Iterable[Path], base: Path) -> str:
    return _digest([f"{path.relative_to(base).as_posix()} {_file_hash(path)}" for path in files])


def _file_hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _digest(parts: Iterable[str]) -> str:
    total = hashlib.sha256()
    for part in parts:
        total.update(part.encode())
        total.update(b"\0")
    return total.hexdigest()
