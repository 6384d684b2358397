"""Items as a data set for other harnesses: JSONL, PNG and a dataset card."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from matpcr_utils import __version__, items
from matpcr_utils.claims.model import CONSTRAINTS
from matpcr_utils.errors import MatPCRError
from matpcr_utils.items.model import Item

#: Snapshot files that the items of each constraint type rest on; micrographs rest on none.
_DFT = {"dft.parquet", "structures.parquet"}
_FILES: dict[str, set[str]] = {
    "diffraction": {"structures.parquet", "patterns.parquet", "pattern_structures.json"},
    "microscopy": set(),
    "spectra": {"spectra.parquet"},
    "stability": _DFT,
    "metallicity": _DFT,
    "magnetism": _DFT,
}
TABLE, CARD, IMAGES = "items.jsonl", "README.md", "images"

#: Column of the table, and what it holds.
COLUMNS: dict[str, str] = {
    "item_id": "stable name of the item",
    "source_id": "material, pattern, image or spectrum; resample items of one source together",
    "constraint": "constraint type: " + ", ".join(CONSTRAINTS),
    "modality": "how the paper poses the item: text or image",
    "asks": "the quantity whose value the answer has to state",
    "simulated": "whether the input is simulated",
    "image": "path of the PNG in this folder; null for text items",
    "text": "the input in words and numbers",
    "prompts": "the question by wording: for an image item, to be sent along with the image; for a "
    "text item, with the input inside",
    "truth": "the accurate answer: quantity, value, unit, basis and a sentence that states it",
    "difficulty": "facts that make the item harder or easier",
    "facts": "what rebuilds the input and the reference",
}


def record(item: Item) -> dict[str, Any]:
    """One row of the table as JSON values."""
    return {
        "item_id": item.item_id,
        "source_id": item.source_id,
        "constraint": item.constraint,
        "modality": item.modality,
        "asks": item.asks,
        "simulated": bool(item.facts["simulated"]),
        "image": image_path(item),
        "text": items.text(item),
        "prompts": {v: items.prompt(item, v) for v in items.PROMPT_VERSIONS},
        "truth": dict(item.truth),
        "difficulty": dict(item.difficulty),
        "facts": dict(item.facts),
    }


def image_path(item: Item) -> str | None:
    """Where the item's image stands in the data set; items of one source share it."""
    if item.modality != "image":
        return None
    return f"{IMAGES}/{item.constraint}-{item.source_id}.png"


def export(
    folder: str | Path,
    constraint: str = "all",
    n_items: int | None = None,
    seed: int = 0,
) -> Path:
    """Write items to a folder: `TABLE`, the images and a dataset card.

    Everything is written beside the folder first and moved into place when it is complete. An
    earlier export in the folder is replaced.

    Parameters
    ----------
    folder : str or Path
    constraint, n_items, seed
        As for `items.load`.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    MatPCRError
        If the folder holds something else, can't be written, or `items.load` refuses.
    """
    target = Path(folder)
    _require_ours(target)
    chosen = items.load(constraint, n_items, seed)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
    except OSError as error:
        raise MatPCRError(f"can't write to {target.parent}: {error.strerror}") from error
    try:
        fresh = scratch / "new"
        (fresh / IMAGES).mkdir(parents=True)
        with (fresh / TABLE).open("w", encoding="utf-8") as stream:
            stream.writelines(_lines(chosen))
        for path, item in {p: i for i in chosen if (p := image_path(i)) is not None}.items():
            (fresh / path).write_bytes(items.image(item))
        (fresh / CARD).write_text(card(chosen, seed), encoding="utf-8")
        _swap(fresh, target, scratch / "old")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return target


def _swap(fresh: Path, target: Path, aside: Path) -> None:
    """Put `fresh` where `target` is; on failure what was there stays."""
    if not target.exists():
        fresh.rename(target)
        return
    target.rename(aside)
    try:
        fresh.rename(target)
    except BaseException:
        aside.rename(target)
        raise


def _lines(chosen: Sequence[Item]) -> Iterator[str]:
    for item in chosen:
        yield json.dumps(record(item), ensure_ascii=False, allow_nan=False) + "\n"


def _require_ours(target: Path) -> None:
    if not target.exists():
        return
    if not target.is_dir():
        raise MatPCRError(f"{target} is a file: name a folder")
    held = {path.name for path in target.iterdir()}
    if held and not ({TABLE, CARD} <= held <= {TABLE, CARD, IMAGES}):
        other = sorted(held - {TABLE, CARD, IMAGES}) or sorted(held)
        raise MatPCRError(f"{target} holds {other[0]}, no earlier export: name a new folder")


def card(chosen: Sequence[Item], seed: int) -> str:
    """The dataset card: what the items are, how they were sampled, whose data they rest on."""
    from matpcr_utils.items import report
    from matpcr_utils.items.accuracy import CRITERIA
    from matpcr_utils.references import provenance

    present = [name for name in CONSTRAINTS if any(i.constraint == name for i in chosen)]
    used = {file for name in present for file in _FILES[name]}
    sources = [
        f"| {s.holds} | {s.kind} | {s.archive.package} {s.archive.version} | {s.licence} | "
        f"{' '.join(s.citation.split())} |"
        for s in provenance.sources()
        if used.intersection(s.files)
    ]
    counts = [
        f"| {name} | {sum(i.constraint == name for i in chosen)} | "
        f"{len({i.source_id for i in chosen if i.constraint == name})} | "
        f"{sum(i.constraint == name and bool(i.facts['simulated']) for i in chosen)} | "
        f"{items.MODALITY[name]} | {report.SAMPLING[name]} | {CRITERIA[name]} |"
        for name in present
    ]
    return "\n".join(
        [
            *("---", "license: cc-by-4.0", "task_categories: [question-answering]"),
            *("language: [en]", "tags: [materials-science, evaluation]", "---", ""),
            *("# MatPCR items", ""),
            "Questions on materials data whose answers physics can check. Each exposes exactly one",
            "checkable claim; the oracles of matpcr-utils judge it. The prompts are part of the "
            "package and come in three independent wordings.",
            *("", f"Made by matpcr-utils {__version__}, seed {seed}, from the reference snapshot"),
            *(f"`{provenance.data_hash()}`.", "", "## Items", ""),
            "| constraint | items | sources | simulated | modality | sampling | accurate if |",
            *("|---|---|---|---|---|---|---|", *counts, "", "## Columns", ""),
            f"One JSON object a line in `{TABLE}`:",
            *("", "| column | holds |", "|---|---|"),
            *(f"| {name} | {meaning} |" for name, meaning in COLUMNS.items()),
            *("", "## Provenance and licences", ""),
            "Micrographs, and the diffraction patterns marked so, are simulated, the latter from",
            "the structures below. All other inputs are measured or computed by others. Prompts",
            "and simulated inputs are CC BY 4.0. The rest keeps its licence:",
            "",
            *("| data | kind | read from | licence | citation |", "|---|---|---|---|---|"),
            *(*sources, ""),
            "## Limits",
            "",
            "The truth of DFT items is a calculation, of a database version of 2018 or before, and "
            "not an experiment.",
            "The materials are public, so a model may have seen the answers in training. "
            "Classes are balanced on purpose: their shares say nothing about materials at large.",
            "",
        ]
    )
