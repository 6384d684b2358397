"""How tables look on a page; set by a hidden first cell of every chapter that is executed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd
    from nbformat import NotebookNode
    from pandas.io.formats.style import Styler

#: The tag of the cell that `prepend_to` adds.
TAG = "matpcr-display"


def prepend_to(nb: NotebookNode) -> None:
    """Begin a notebook with a cell, hidden on the page, that calls `set_up`."""
    import nbformat

    cell = nbformat.v4.new_code_cell(
        "from matpcr_utils.chapters import display as _display\n\n_display.set_up()",
        metadata={"tags": ["remove-cell", TAG]},
    )
    cell.id = TAG
    nb.cells.insert(0, cell)


def set_up() -> None:
    """Show tables in full words, and the name of their index in the one row of headings."""
    import pandas as pd
    from IPython.core.getipython import get_ipython

    pd.set_option("display.max_colwidth", None)
    shell = get_ipython()
    if shell is not None and shell.display_formatter is not None:
        html = shell.display_formatter.formatters["text/html"]
        html.for_type(pd.DataFrame, _html)
        html.for_type_by_name("pandas.io.formats.style", "Styler", _styled)


def _html(frame: pd.DataFrame) -> str:
    # pandas gives the name of the index a row of its own, of which all other cells are empty.
    flat = frame.index.nlevels == frame.columns.nlevels == 1
    if flat and frame.index.name is not None and frame.columns.name is None:
        frame = frame.rename_axis(index=None, columns=str(frame.index.name))
    return str(frame._repr_html_())  # type: ignore[operator]


def _styled(table: Styler) -> str:
    # The theme knows a table by this class, and sets others on a light card, on dark pages too.
    return str(table.to_html(table_attributes='class="dataframe"'))
