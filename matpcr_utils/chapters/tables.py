"""The chapters, their parameters and their dependencies, for the chapter about chapters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matpcr_utils.chapters.fingerprint import PACKAGE, chapter_code, reachable
from matpcr_utils.chapters.library import find, listed

if TYPE_CHECKING:
    import pandas as pd

#: The parts of the package that a reader may change and would want to see followed.
PARTS = ("claims", "references", "oracles", "controls", "items", "evaluation", "plotting")


def chapters() -> pd.DataFrame:
    """One row a chapter: title, and the names of its parameters."""
    import pandas as pd

    rows = [
        (chapter.name, chapter.title, ", ".join(p.name for p in chapter.parameters))
        for chapter in listed()
    ]
    return pd.DataFrame(rows, columns=["chapter", "title", "parameters"]).set_index("chapter")


def parameters(chapter: str) -> pd.DataFrame:
    """One row a parameter of a chapter: type, default, meaning.

    Raises
    ------
    MatPCRError
        If there is no such chapter.
    """
    import pandas as pd

    rows = [(p.name, p.type, repr(p.default), p.help) for p in find(chapter).parameters]
    columns = ["parameter", "type", "default", "meaning"]
    return pd.DataFrame(rows, columns=columns).set_index("parameter")


def dependencies() -> pd.DataFrame:
    """Modules of each part of the package that a chapter can reach; a change there re-runs it."""
    import pandas as pd

    counts = {}
    for chapter in listed():
        reached = reachable(chapter_code(chapter.source, chapter.suffix))
        counts[chapter.name] = [
            sum(name.startswith(f"{PACKAGE}.{part}.") for name in reached) for part in PARTS
        ]
    return pd.DataFrame.from_dict(counts, orient="index", columns=list(PARTS))
