"""Chapters for readers without MyST: directives and roles turned into plain Markdown.

A downloaded notebook shows ````{exercise}```` as code. Here an exercise becomes a headed
paragraph, a solution a folded block, an admonition a quotation, a role its text.
"""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import TYPE_CHECKING

from matpcr_utils.chapters import display, freshness

if TYPE_CHECKING:
    from nbformat import NotebookNode

_FENCE = re.compile(r"^(?P<fence>`{3,}|:{3,}) *\{(?P<name>[\w-]+)\} *(?P<title>.*)$")
_OPTION = re.compile(r"^:(?P<key>[\w-]+):(?: +(?P<value>.*))?$")
_ROLE = re.compile(r"\{(?P<name>[\w:-]+)\}`(?P<text>[^`]+)`")
_TARGET = re.compile(r"^\([\w:. -]+\)= *$\n?", re.MULTILINE)
_TEXT_AND_TARGET = re.compile(r"^(?P<text>.*?) *<(?P<target>[^<>]+)>$", re.DOTALL)
_KINDS = {
    "note": "Note",
    "tip": "Tip",
    "hint": "Hint",
    "important": "Important",
    "warning": "Warning",
    "caution": "Caution",
    "attention": "Attention",
    "seealso": "See also",
}
#: Directives that structure a page and say nothing themselves.
_TRANSPARENT = ("div", "grid", "tab-set", "card", "dropdown", "admonition")
_DROPPED = ("tableofcontents", "contents", "bibliography", "solution-end", "exercise-end")


def plain(nb: NotebookNode) -> NotebookNode:
    """A copy of a notebook whose Markdown needs no MyST."""
    nb = copy.deepcopy(nb)
    glued = _glued(nb)
    titles = _titles(nb)
    cells = []
    for cell in nb.cells:
        tags = cell.metadata.get("tags", [])
        if display.TAG in tags:
            continue
        if freshness.TAG in tags:
            cells.append(_markdown_cell(_freshness_text(cell), freshness.TAG))
            continue
        if cell.cell_type == "markdown":
            cell.source = to_markdown(cell.source, glued, titles)
        else:
            cell.outputs = [output for output in cell.outputs if not _is_hidden(output)]
        cells.append(cell)
        caption = cell.metadata.get("mystnb", {}).get("figure", {}).get("caption", "")
        if caption:
            text = to_markdown(caption, glued, titles)
            cells.append(_markdown_cell(f"*Figure: {text}*", f"{cell.get('id', 'x')}-caption"))
    nb.cells = [cell for cell in cells if cell.source.strip()]
    return nb


def _markdown_cell(text: str, cell_id: str) -> NotebookNode:
    import nbformat

    cell = nbformat.v4.new_markdown_cell(text)
    cell.id = cell_id[:64]
    return cell


def _is_hidden(output: NotebookNode) -> bool:
    """Whether an output only stores a glued value, which no plain viewer can show."""
    kinds = list(output.get("data", {}))
    return bool(kinds) and all(kind.startswith("application/papermill.record/") for kind in kinds)


def to_markdown(
    text: str, glued: dict[str, str] | None = None, titles: dict[str, str] | None = None
) -> str:
    """Plain Markdown from MyST.

    Parameters
    ----------
    text : str
    glued : dict, optional
        What ``{glue}`` roles show, by name.
    titles : dict, optional
        Titles of exercises by label, for their solutions.
    """
    glued, titles = glued or {}, titles or {}
    text = _blocks(text, titles)
    text = _TARGET.sub("", text)
    text = re.sub(r"\n{3,}", "\n\n", text)
    return _ROLE.sub(lambda role: _role(role["name"], role["text"], glued), text).strip()


def _blocks(text: str, titles: dict[str, str]) -> str:
    lines, out = text.splitlines(), []
    position = 0
    while position < len(lines):
        opening = _FENCE.match(lines[position])
        if not opening or opening["name"] == "code-cell":
            out.append(lines[position])
            position += 1
            continue
        end = _closing(lines, position, opening["fence"])
        options, body = _split_options(lines[position + 1 : end])
        inner = _blocks("\n".join(body), titles)
        block = _block(opening["name"], opening["title"].strip(), options, inner, titles)
        out += ["", block, ""]
        position = end + 1
    return "\n".join(out)


def _closing(lines: list[str], start: int, fence: str) -> int:
    """The line that closes a fence; a fence left open runs to the end."""
    for position in range(start + 1, len(lines)):
        stripped = lines[position].strip()
        if set(stripped) == {fence[0]} and len(stripped) >= len(fence):
            return position
    return len(lines)


def _split_options(lines: list[str]) -> tuple[dict[str, str], list[str]]:
    options: dict[str, str] = {}
    for position, line in enumerate(lines):
        option = _OPTION.match(line)
        if not option:
            return options, lines[position:]
        options[option["key"]] = (option["value"] or "").strip()
    return options, []


def _block(
    name: str, title: str, options: dict[str, str], body: str, titles: dict[str, str]
) -> str:
    body = body.strip()
    if name in _DROPPED:
        return ""
    if name in ("exercise", "exercise-start"):
        return f"**Exercise{f': {title}' if title else ''}**\n\n{body}".rstrip()
    if name in ("solution", "solution-start"):
        of = f": {titles[title]}" if titles.get(title) else ""
        if name == "solution-start":
            return f"**Solution{of}**"
        return f"<details><summary>Solution{of}</summary>\n\n{body}\n\n</details>"
    if name == "math":
        return f"$$\n{body}\n$$"
    if name in ("figure", "image"):
        return f"![{options.get('alt', '')}]({title})" + (f"\n\n*{body}*" if body else "")
    if name in ("code-block", "code"):
        return f"```{title}\n{body}\n```"
    if name in _KINDS or name in _TRANSPARENT:
        heading = title or _KINDS.get(name, "")
        lead = [f"**{heading}**", ""] if heading else []
        return "\n".join(f"> {line}".rstrip() for line in [*lead, *body.splitlines()])
    return "\n\n".join(part for part in (f"**{title}**" if title else "", body) if part)


def _role(name: str, text: str, glued: dict[str, str]) -> str:
    named = _TEXT_AND_TARGET.match(text)
    if name.startswith("glue"):
        key, _, form = text.partition(":")
        return _formatted(glued.get(key, key), form)
    if name == "math":
        return f"${text}$"
    if name in ("code", "command", "file", "kbd"):
        return f"`{text}`"
    if name.startswith("cite"):
        return f"[{text}]"
    if named and named["text"]:
        return named["text"]
    return (named["target"] if named else text).rsplit("/", 1)[-1]


def _formatted(value: str, form: str) -> str:
    if not form:
        return value
    try:
        return format(float(value), form)
    except ValueError:
        return value


def _glued(nb: NotebookNode) -> dict[str, str]:
    """Text of every glued value of an executed notebook."""
    found = {}
    for cell in nb.cells:
        for output in cell.get("outputs", []):
            name = output.get("metadata", {}).get("scrapbook", {}).get("name")
            text = output.get("data", {}).get("text/plain") or output.get("data", {}).get(
                "application/papermill.record/text/plain"
            )
            if name and text:
                found[name] = text.strip("'\"")
    return found


def _titles(nb: NotebookNode) -> dict[str, str]:
    """Title of every exercise by its label."""
    found: dict[str, str] = {}
    pattern = re.compile(r"\{exercise(?:-start)?\} *(.*)\n(?::[\w-]+:.*\n)*?:label: *(\S+)")
    for cell in nb.cells:
        if cell.cell_type == "markdown":
            found |= {label: title.strip() for title, label in pattern.findall(cell.source)}
    return found


def _freshness_text(cell: NotebookNode) -> str:
    for output in cell.get("outputs", []):
        html = output.get("data", {}).get("text/html", "")
        if html:
            return f"*{re.sub('<[^>]+>', '', html).strip()}*"
    return ""


def write_pairs(root: Path | None = None) -> list[Path]:
    """Write the paired ``.ipynb`` (without outputs) beside every chapter's ``.py``.

    Parameters
    ----------
    root : Path, optional
        The book's folder.

    Returns
    -------
    list of Path
        The files written; ``papermill`` itself runs them.
    """
    import nbformat

    from matpcr_utils.chapters.library import listed, notebook

    written = []
    for chapter in listed(root):
        target = chapter.path.with_suffix(".ipynb")
        partial = target.with_name(f".{target.name}")
        nbformat.write(plain(notebook(chapter)), partial)
        partial.replace(target)
        written.append(target)
    return written
