"""The paper's figures, kept apart from ours.

Chapters quote the paper only through this module, so that a published figure stands in one place
and is never typed into prose; `beside` puts a figure measured here in a column of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from matpcr_utils.errors import MatPCRError

if TYPE_CHECKING:
    import pandas as pd
    from pandas.io.formats.style import Styler


@dataclass(frozen=True, slots=True)
class Figure:
    """One published figure.

    Attributes
    ----------
    id : str
    quantity : str
        What it is, in words.
    value : str
        As printed, without its unit.
    unit : str
        Empty for a pure number.
    section, page : str
        Where the paper prints it.
    chapters : tuple of str
        The chapters of this book that treat it.
    """

    id: str
    quantity: str
    value: str
    unit: str
    section: str
    page: str
    chapters: tuple[str, ...]

    @property
    def text(self) -> str:
        """Value and unit."""
        return f"{self.value} {self.unit}".strip()

    @property
    def source(self) -> str:
        """Section and page, as a reader would look them up."""
        return f"§{self.section}, p. {self.page}"


@cache
def figures() -> dict[str, Figure]:
    """Every published figure by its id, in the order of the paper."""
    import yaml

    text = (files("matpcr_utils") / "data" / "published.yml").read_text(encoding="utf-8")
    return {
        key: Figure(
            id=key,
            quantity=row["quantity"],
            value=row["value"],
            unit=row.get("unit", ""),
            section=row["section"],
            page=row["page"],
            chapters=tuple(row["chapters"]),
        )
        for key, row in yaml.safe_load(text).items()
    }


def get(figure_id: str) -> Figure:
    """One published figure.

    Raises
    ------
    MatPCRError
        If the id is not in `published.yml`.
    """
    try:
        return figures()[figure_id]
    except KeyError:
        raise MatPCRError(
            f"no published figure {figure_id!r}: choose one of {', '.join(figures())}"
        ) from None


def select(chapter: str | None = None, section: str | None = None) -> list[Figure]:
    """The figures of a chapter, of a section of the paper, or of both.

    Raises
    ------
    MatPCRError
        If nothing is selected.
    """
    chosen = [
        figure
        for figure in figures().values()
        if (chapter is None or chapter in figure.chapters)
        and (section is None or section == figure.section)
    ]
    if not chosen:
        raise MatPCRError(
            f"no published figure for chapter {chapter!r}, section {section!r}: "
            "add it to published.yml or mend the name"
        )
    return chosen


def table(chapter: str | None = None, section: str | None = None) -> Styler:
    """What the paper reports, a row each: quantity, published value, source.

    Returns
    -------
    Styler
        Shows every cell whole, which a bare frame does not; its ``data`` is the frame.

    Raises
    ------
    MatPCRError
        If nothing is selected.
    """
    return _frame(select(chapter, section)).style.hide(axis="index")


def _frame(chosen: list[Figure]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(
        {
            "Quantity": [figure.quantity for figure in chosen],
            "Published (paper)": [figure.text for figure in chosen],
            "Source": [figure.source for figure in chosen],
        },
    )


#: Shown where this book has no figure of its own for a published one.
NOT_MEASURED = "not measured in this chapter"


def beside(chapter: str, measured: Mapping[str, str]) -> Styler:
    """Published and measured, in two columns that are never mixed.

    Parameters
    ----------
    chapter : str
        All of its published figures are listed, measured or not.
    measured : mapping of str to str
        Our figure, with its interval and n, for the id of a published one.

    Raises
    ------
    MatPCRError
        If a key of `measured` is not a published figure of that chapter.
    """
    chosen = select(chapter)
    unknown = set(measured) - {figure.id for figure in chosen}
    if unknown:
        raise MatPCRError(
            f"{', '.join(sorted(unknown))}: not among the published figures of {chapter!r} "
            f"({', '.join(figure.id for figure in chosen)})"
        )
    shown = _frame(chosen)
    shown.insert(2, "Measured here", [measured.get(f.id, NOT_MEASURED) for f in chosen])
    return shown.style.hide(axis="index")
