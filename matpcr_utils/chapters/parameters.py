"""The parameters of a chapter: read from its `parameters` cell, and checked before it runs.

Papermill only logs a mistyped parameter, and then runs with the default. Here it is an error.
"""

from __future__ import annotations

import ast
import difflib
import io
import math
import tokenize
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from matpcr_utils.errors import MatPCRError


@dataclass(frozen=True)
class Parameter:
    """One line of a parameters cell: ``near_hull: float = 0.05  # eV/atom``.

    Attributes
    ----------
    name, type, help : str
        `type` is the annotation as written, or the default's type where there is none.
    default : object
    """

    name: str
    type: str
    default: Any
    help: str

    def parse(self, value: Any) -> Any:
        """The value in the parameter's type; text (from a command line) is converted.

        Raises
        ------
        MatPCRError
            If the value does not fit.
        """
        try:
            return _fit(ast.parse(self.type, mode="eval").body, value)
        except _MisfitError as error:
            detail = f": {error}" if str(error) else ""
            raise MatPCRError(
                f"parameter {self.name} = {_shown(value)} is not of type {self.type}{detail} "
                f"(default {self.default!r}{'; ' + self.help if self.help else ''})"
            ) from None


def parameters_in(source: str) -> list[Parameter]:
    """The parameters that a cell's source declares, in order.

    Parameters
    ----------
    source : str
        Python assignments of literals, annotated or not, each with an optional trailing comment.

    Raises
    ------
    MatPCRError
        If a line is no assignment of a literal, so that Papermill could not replace it safely.
    """
    try:
        body = ast.parse(source).body
    except SyntaxError as error:
        line = (error.text or "").strip()
        raise MatPCRError(
            f"parameters cell: line {error.lineno} ({line[:40]!r}) is no Python ({error.msg}): "
            "write `name: type = literal`"
        ) from None
    comments = _comments(source)
    found = []
    for statement in body:
        target, annotation, value = _assignment(statement)
        if target is None:
            line = (ast.get_source_segment(source, statement) or "").splitlines()[0]
            raise MatPCRError(
                f"parameters cell: {line!r} is not one parameter; write `name: type = literal`"
            )
        default = _literal(target, value)
        found.append(
            Parameter(
                name=target,
                type=ast.unparse(annotation) if annotation else _type_name(default),
                default=default,
                help=comments.get(statement.end_lineno or 0, ""),
            )
        )
    return found


def resolve(owner: str, known: list[Parameter], given: Mapping[str, Any]) -> dict[str, Any]:
    """Check given values against known parameters and convert text to their types.

    Parameters
    ----------
    owner : str
        Whose parameters they are, for the message: ``"chapter oracles/stability"``.
    known : list of Parameter
    given : mapping
        Values by name.

    Raises
    ------
    MatPCRError
        For an unknown name, naming the nearest and all that exist; for a value of another type.
    """
    by_name = {parameter.name: parameter for parameter in known}
    for name in given:
        if name not in by_name:
            raise MatPCRError(_unknown(owner, name, list(by_name)))
    return {name: by_name[name].parse(value) for name, value in given.items()}


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}…"


def _unknown(owner: str, name: str, names: list[str]) -> str:
    if not names:
        return f"{owner} has no parameters, so {name!r} can't be set"
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    return f"{owner} has no parameter {name!r}: {hint}Its parameters are {', '.join(names)}"


def _assignment(
    statement: ast.stmt,
) -> tuple[str | None, ast.expr | None, ast.expr | None]:
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        return statement.target.id, statement.annotation, statement.value
    if (
        isinstance(statement, ast.Assign)
        and len(statement.targets) == 1
        and isinstance(statement.targets[0], ast.Name)
    ):
        return statement.targets[0].id, None, statement.value
    return None, None, None


def _literal(name: str, value: ast.expr | None) -> Any:
    try:
        return ast.literal_eval(value)  # type: ignore[arg-type]
    except (ValueError, TypeError):
        raise MatPCRError(
            f"parameters cell: the default of {name} must be a literal, not a computed value"
        ) from None


def _type_name(default: Any) -> str:
    return "None" if default is None else type(default).__name__


def _comments(source: str) -> dict[int, str]:
    """The comment that ends each line, by line number."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {
        token.start[0]: token.string.lstrip("# ").strip()
        for token in tokens
        if token.type == tokenize.COMMENT
    }


class _MisfitError(Exception):
    """A value does not fit a type."""


def _fit(kind: ast.expr, value: Any) -> Any:
    """The value in the type that an annotation names, or `_MisfitError`."""
    if isinstance(kind, ast.Constant) and isinstance(kind.value, str):
        return _fit(ast.parse(kind.value, mode="eval").body, value)
    if isinstance(kind, ast.Constant) and kind.value is None:
        return _fit_none(value)
    if isinstance(kind, ast.BinOp):
        return _fit_any(_members(kind), value)
    if isinstance(kind, ast.Subscript):
        return _fit_container(ast.unparse(kind.value), kind.slice, value)
    name = ast.unparse(kind)
    if name not in _PLAIN:
        raise _MisfitError(f"type {name} can't be set from outside")
    return _PLAIN[name](value)


def _members(kind: ast.expr) -> list[ast.expr]:
    if isinstance(kind, ast.BinOp):
        return _members(kind.left) + _members(kind.right)
    return [kind]


def _fit_any(kinds: list[ast.expr], value: Any) -> Any:
    # Text comes last, or it would swallow every number and None.
    for kind in sorted(kinds, key=lambda kind: ast.unparse(kind) == "str"):
        try:
            return _fit(kind, value)
        except _MisfitError:
            continue
    raise _MisfitError


def _fit_container(name: str, inner: ast.expr, value: Any) -> Any:
    kinds = inner.elts if isinstance(inner, ast.Tuple) else [inner]
    if name == "Literal":
        options = [ast.literal_eval(kind) for kind in kinds]
        for option in options:
            if value == option or value == str(option):
                return option
        raise _MisfitError(f"choose one of {', '.join(map(str, options))}")
    if name == "Optional":
        return _fit_any([ast.Constant(None), *kinds], value)
    items = _items(name, value)
    if name == "dict":
        return {_fit(kinds[0], k): _fit(kinds[1], v) for k, v in items.items()}
    if name == "list" or (len(kinds) == 2 and ast.unparse(kinds[1]) in ("...", "Ellipsis")):
        return _PLAIN[name]([_fit(kinds[0], item) for item in items])
    if len(items) != len(kinds):
        raise _MisfitError(f"{len(kinds)} values are needed, not {len(items)}")
    return tuple(_fit(kind, item) for kind, item in zip(kinds, items, strict=True))


def _items(name: str, value: Any) -> Any:
    """The parts of a container, as such or as text: ``(10, 90)``, ``[10, 90]``, ``10, 90``."""
    if name not in ("tuple", "list", "dict"):
        raise _MisfitError(f"type {name} can't be set from outside")
    if isinstance(value, str):
        try:
            value = ast.literal_eval(value)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            # Bare words: a list of text typed without quotes.
            value = [part.strip() for part in value.split(",")]
    if name == "dict":
        if not isinstance(value, dict):
            raise _MisfitError
        return value
    return list(value) if isinstance(value, tuple | list) else [value]


def _fit_none(value: Any) -> None:
    if value is None or (isinstance(value, str) and value.lower() in ("none", "null")):
        return None
    raise _MisfitError


def _fit_bool(value: Any) -> bool:
    words = {"true": True, "false": False, "yes": True, "no": False, "1": True, "0": False}
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in words:
        return words[value.lower()]
    raise _MisfitError("true or false is needed")


def _fit_int(value: Any) -> int:
    if isinstance(value, str):
        try:
            return int(value)
        except ValueError:
            raise _MisfitError("a whole number is needed") from None
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise _MisfitError("a whole number is needed")


def _fit_float(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise _MisfitError("a number is needed")
    try:
        number = float(value)
    except ValueError:
        raise _MisfitError("a number is needed") from None
    if math.isnan(number):
        raise _MisfitError("a number is needed")
    return number


def _fit_str(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise _MisfitError("text is needed")


def _fit_dict(value: Any) -> dict[Any, Any]:
    return dict(_items("dict", value))


_PLAIN: dict[str, Any] = {
    "bool": _fit_bool,
    "int": _fit_int,
    "float": _fit_float,
    "str": _fit_str,
    "list": lambda value: list(_items("list", value)),
    "tuple": lambda value: tuple(_items("tuple", value)),
    "dict": _fit_dict,
    "None": _fit_none,
}
