"""The line under every chapter that says when, and from what, its outputs were made."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nbformat import NotebookNode

#: The tag of the cell that `append_to` adds.
TAG = "matpcr-freshness"


def append_to(nb: NotebookNode, content_hash: str) -> None:
    """End a notebook with a cell that shows its freshness when it is executed.

    The cell holds the hash of all that the chapter depends on. So MyST-NB's cache, which hashes
    code cells only, can't serve outputs that a change in the package or in the data made stale.
    """
    import nbformat

    seed = ", seed=seed" if _declares_seed(nb) else ""
    cell = nbformat.v4.new_code_cell(
        "from matpcr_utils.chapters import freshness\n\n"
        f'freshness.show("{content_hash[:16]}"{seed})',
        metadata={"tags": ["remove-input", TAG]},
    )
    cell.id = TAG
    nb.cells.append(cell)


def show(content_hash: str, seed: object = None) -> None:
    """Display the line; runs as the last cell of a chapter."""
    from IPython.display import HTML, display

    display(HTML(f'<p class="{TAG}">{line(seed, content_hash)}</p>'))


def line(seed: object = None, content_hash: str = "") -> str:
    """One sentence: the day, the package, its data, the seed, the chapter's hash."""
    from matpcr_utils import __version__
    from matpcr_utils.references.provenance import data_hash

    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    parts = [f"Executed on {today} with matpcr_utils {__version__}", f"data {data_hash()[:8]}"]
    if seed is not None:
        parts.append(f"seed {seed}")
    if content_hash:
        parts.append(f"chapter {content_hash[:8]}")
    return ", ".join(parts) + "."


def reader(text: str, **_: Any) -> NotebookNode:
    """Read a py:percent chapter for MyST-NB; ``nb_custom_formats`` in ``_config.yml`` is it."""
    from matpcr_utils.chapters import display
    from matpcr_utils.chapters.fingerprint import fingerprint
    from matpcr_utils.chapters.library import parse

    nb = parse(text)
    display.prepend_to(nb)
    append_to(nb, fingerprint(text))
    return nb


def _declares_seed(nb: NotebookNode) -> bool:
    from matpcr_utils.chapters.parameters import parameters_in

    return any(
        parameter.name == "seed"
        for cell in nb.cells
        if "parameters" in cell.metadata.get("tags", [])
        for parameter in parameters_in(cell.source)
    )
