"""The paper's models: how each would be run here, and what it can read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from matpcr_utils.errors import MatPCRError

READS = ("text", "image")
PASSES = ("original", "refresh", "third", "domain")


@dataclass(frozen=True, slots=True)
class Entry:
    """One model of the paper.

    Attributes
    ----------
    name : str or None
        As the paper writes it; None for a model that the paper's summary does not name.
    model : str or None
        Inspect's ``provider/model``; None when unknown or not served by one.
    reads : tuple of str
        Of `READS`.
    cutoff : str or None
        ``YYYY-MM``, or None when unknown or not disclosed.
    cutoff_kind, cutoff_source : str
        What the date means, and who says so.
    paper_pass : str
        Of `PASSES` (paper, section 4.9).
    command : str or None
        What would run the model here.
    needs, note : str
    """

    name: str | None
    model: str | None
    reads: tuple[str, ...]
    cutoff: str | None
    cutoff_kind: str
    cutoff_source: str
    paper_pass: str
    command: str | None
    needs: str
    note: str = ""


@cache
def load() -> tuple[Entry, ...]:
    """All entries, in the file's order.

    Raises
    ------
    MatPCRError
        If the file lacks a key or holds an unknown value.
    """
    import yaml

    from matpcr_utils.references import store

    rows = yaml.load(store.path("roster.yml").read_text(encoding="utf-8"), yaml.BaseLoader)
    return tuple(_entry(row) for row in rows)


def reads_images(model: str) -> bool | None:
    """Whether a model takes images; None for a model that the roster does not know."""
    for entry in load():
        if entry.model == model:
            return "image" in entry.reads
    return None


def _entry(row: Mapping[str, Any]) -> Entry:
    try:
        entry = Entry(
            name=_known(row["name"]),
            model=_known(row["model"]),
            reads=tuple(row["reads"]),
            cutoff=_known(row["cutoff"]["date"]),
            cutoff_kind=row["cutoff"]["kind"],
            cutoff_source=row["cutoff"]["source"],
            paper_pass=row["pass"],
            command=_known(row["command"]),
            needs=row["needs"],
            note=row.get("note", ""),
        )
    except KeyError as error:
        raise MatPCRError(f"roster.yml: {row.get('name')} lacks {error}: add it") from None
    if not set(entry.reads) <= set(READS) or entry.paper_pass not in PASSES:
        raise MatPCRError(
            f"roster.yml: {entry.name} reads {entry.reads} in pass {entry.paper_pass!r}: "
            f"choose of {READS} and {PASSES}"
        )
    return entry


def _known(text: str) -> str | None:
    """The base loader keeps dates and nulls as they are written."""
    return None if text == "null" else text
