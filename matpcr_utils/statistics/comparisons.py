"""Many tests at once: Holm's and Benjamini and Hochberg's corrections."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from matpcr_utils.errors import MatPCRError
from matpcr_utils.statistics._inputs import check_level

if TYPE_CHECKING:
    import pandas as pd


def adjust(p_values: Mapping[str, float], level: float = 0.95) -> pd.DataFrame:
    """Adjusted p values of a family of tests.

    Parameters
    ----------
    p_values : mapping of str to float
        Name of each comparison and its p value; the family is all of them.
    level : float
        1 − the error rate: of any false rejection (Holm), or of the share of false ones among the
        rejections (Benjamini–Hochberg).

    Returns
    -------
    DataFrame
        A row a comparison in the order given: ``comparison``, ``p_value``, ``holm``,
        ``holm_significant``, ``benjamini_hochberg``, ``benjamini_hochberg_significant``, ``tests``
        (size of the family).

    Raises
    ------
    MatPCRError
        If there is no test, or a p value is missing or outside [0, 1].

    Notes
    -----
    statsmodels' `multipletests`. Holm 1979; Benjamini & Hochberg 1995, valid for independent or
    positively dependent tests.
    """
    import pandas as pd
    from statsmodels.stats.multitest import multipletests

    check_level(level)
    values = {str(name): float(value) for name, value in p_values.items()}
    if not values:
        raise MatPCRError("no p value to correct: give at least one comparison")
    for name, value in values.items():
        if not 0 <= value <= 1:
            raise MatPCRError(
                f"p value {value} of {name!r} must lie between 0 and 1: leave out a comparison "
                "without a test"
            )
    table = pd.DataFrame({"comparison": [*values], "p_value": [*values.values()]})
    for column, method in (("holm", "holm"), ("benjamini_hochberg", "fdr_bh")):
        significant, adjusted, *_ = multipletests(table["p_value"], alpha=1 - level, method=method)
        table[column] = adjusted
        table[f"{column}_significant"] = significant
    return table.assign(tests=len(values))
