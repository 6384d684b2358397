"""Where every shipped reference comes from, under which licence, and one hash of it all."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from matpcr_utils.references import archives, store

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Source:
    """One source of the snapshot.

    Attributes
    ----------
    name, holds : str
    kind : str
        ``"measured"`` or ``"computed"``.
    files : tuple of str
        Shipped files that carry its values.
    archive : Archive
        The pinned file that was read.
    members : tuple of str
        Which of its members.
    licence, citation, changes : str
    """

    name: str
    holds: str
    kind: str
    files: tuple[str, ...]
    archive: archives.Archive
    members: tuple[str, ...]
    licence: str
    citation: str
    changes: str


@cache
def sources() -> tuple[Source, ...]:
    """Every source, in the order of ``data/PROVENANCE.yml``."""
    import yaml

    text = store.path("PROVENANCE.yml").read_text(encoding="utf-8")
    entries: dict[str, dict[str, Any]] = yaml.safe_load(text)
    return tuple(_source(name, entry) for name, entry in entries.items())


def _source(name: str, entry: dict[str, Any]) -> Source:
    return Source(
        name=name,
        holds=entry["holds"],
        kind=entry["kind"],
        files=tuple(entry["files"]),
        archive=archives.get(entry["archive"]),
        members=tuple(entry["members"]),
        licence=entry["licence"],
        citation=entry["citation"],
        changes=entry["changes"],
    )


def table() -> pd.DataFrame:
    """One row a source: what it holds, the pinned archive, licence, citation, what was changed."""
    import pandas as pd

    return pd.DataFrame(
        [
            {
                "source": source.name.replace("_", " "),
                "holds": source.holds,
                "kind": source.kind,
                "package": f"{source.archive.package} {source.archive.version}",
                "sha256": source.archive.sha256[:16],
                "members": ", ".join(source.members),
                "licence": source.licence,
                "citation": source.citation,
                "changed": source.changes,
            }
            for source in sources()
        ]
    )


def rows() -> list[dict[str, str | int]]:
    """One row a shipped file that carries values: its size in bytes, packages and licences."""
    found: list[dict[str, str | int]] = []
    for name in store.SNAPSHOT:
        used = [source for source in sources() if name in source.files]
        if used:
            found.append(
                {
                    "file": name,
                    "bytes": store.path(name).stat().st_size,
                    "kind": _join(source.kind for source in used),
                    "packages": _join(
                        f"{source.archive.package} {source.archive.version}" for source in used
                    ),
                    "licence": _join(source.licence for source in used),
                }
            )
    return found


def _join(values: Any) -> str:
    return "; ".join(dict.fromkeys(values))


@cache
def counts() -> dict[str, dict[str, int]]:
    """Rows after each step of the joins, written by the build."""
    import json

    found: dict[str, dict[str, int]] = json.loads(
        store.path("counts.json").read_text(encoding="utf-8")
    )
    return found


@cache
def data_hash() -> str:
    """sha256 over the names and bytes of every file of the snapshot (hex, 64 digits)."""
    digest = hashlib.sha256()
    for name in store.SNAPSHOT:
        digest.update(name.encode())
        digest.update(hashlib.sha256(store.path(name).read_bytes()).digest())
    return digest.hexdigest()
