"""Rebuild the reference snapshot from the pinned archives, and compare it with the shipped one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from matpcr_utils.references import build_dft, build_patterns, build_spectra, store


def build(out: Path | None = None, progress: Callable[[str], None] | None = None) -> dict[str, str]:
    """Write every file of `store.SNAPSHOT`, and the counts of the joins beside them.

    Parameters
    ----------
    out : Path, optional
        Folder to write to; default, the package's own data folder.
    progress : callable, optional
        Called with one line before each step.

    Returns
    -------
    dict of str to str
        sha256 of each file. The same archives and the pinned pymatgen, spglib and pyarrow give
        the same bytes.

    Raises
    ------
    MatPCRError
        If an archive can't be fetched or is not the pinned one.
    """
    out = store.data_dir() if out is None else Path(out)
    say = progress or (lambda line: None)
    counts: dict[str, dict[str, int]] = {}
    say("joining the DFT table")
    table, structures, counts["dft"] = build_dft.tables()
    store.write_table(out / "dft.parquet", table)
    store.write_table(out / "structures.parquet", structures)
    say("reading the Raman spectra")
    table, counts["spectra"] = build_spectra.table()
    store.write_table(out / "spectra.parquet", table)
    say("reading the diffraction patterns and calibrants")
    store.write_table(out / "patterns.parquet", build_patterns.patterns())
    _write_json(out / "pattern_structures.json", build_patterns.structures())
    _write_json(out / "calibrants.json", build_patterns.calibrants())
    _write_json(out / "counts.json", counts)
    return hashes(out)


def hashes(folder: Path | None = None) -> dict[str, str]:
    """sha256 of each snapshot file in a folder (default, the shipped ones); absent files lack."""
    folder = store.data_dir() if folder is None else Path(folder)
    found = {name: folder / name for name in store.SNAPSHOT}
    return {
        name: hashlib.sha256(file.read_bytes()).hexdigest()
        for name, file in found.items()
        if file.is_file()
    }


def compare(target: Path) -> dict[str, bool]:
    """Whether each snapshot file in `target` is, byte for byte, the shipped one."""
    shipped, built = hashes(), hashes(target)
    return {name: shipped.get(name) == built.get(name) for name in store.SNAPSHOT}


def _write_json(target: Path, content: dict[str, Any]) -> None:
    text = json.dumps(content, ensure_ascii=False, indent=1)
    store.write_bytes(target, (text + "\n").encode("utf-8"))
