"""The live Materials Project as the same table as the shipped snapshot."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from matpcr_utils.errors import MatPCRError, MissingDependencyError
from matpcr_utils.references import dft

if TYPE_CHECKING:
    from pymatgen.core import Structure

#: What is asked of the summary documents (names of mp-api 0.46, emmet-core 0.88).
FIELDS = (
    "material_id",
    "formula_pretty",
    "symmetry",
    "nsites",
    "formation_energy_per_atom",
    "energy_above_hull",
    "band_gap",
    "total_magnetization",
    "structure",
)


def load(
    *,
    material_ids: Sequence[str] | None = None,
    chemsys: str | None = None,
    api_key: str | None = None,
) -> dft.DFTTable:
    """Entries of the current database, by id or by chemical system.

    Parameters
    ----------
    material_ids : sequence of str, optional
        E.g. ``["mp-149"]``.
    chemsys : str, optional
        E.g. ``"Fe-O"``; its subsystems (Fe, O) are included, as in `dft.chemical_system`.
        Entries of the GNoME data set, whose licence forbids commercial use, are left out.
    api_key : str, optional
        Default, the environment variable ``MP_API_KEY``.

    Returns
    -------
    DFTTable
        With structures; magnetization belongs to the entry (``match_quality`` is ``"direct"``),
        and both columns of the energy above hull hold the one current value.

    Raises
    ------
    MatPCRError
        Without a key, without one selection, when an id is not found, or when the service refuses.
    MissingDependencyError
        Without the extra ``[mp]``.

    Notes
    -----
    Materials Project data are licensed CC BY 4.0: cite Jain et al., APL Mater. 1 (2013) 011002.
    """
    if (material_ids is None) == (chemsys is None):
        raise MatPCRError("give either material_ids or chemsys, e.g. material_ids=['mp-149']")
    key = api_key or os.environ.get("MP_API_KEY")
    if not key:
        raise MatPCRError(
            "the Materials Project needs a key: set MP_API_KEY to the one that your page "
            "next-gen.materialsproject.org/api shows"
        )
    query: dict[str, Any] = {"fields": list(FIELDS)}
    if chemsys is None:
        query["material_ids"] = list(material_ids or ())
    else:
        query |= {"chemsys": _subsystems(chemsys), "include_gnome": False}
    documents = _search(key, query)
    found = {str(document.material_id) for document in documents}
    missing = [name for name in query.get("material_ids", ()) if name not in found]
    if missing or not found:
        what = missing[0] if missing else chemsys
        raise MatPCRError(
            f"the Materials Project has no entry for {what!r}: check the id or the chemical system"
        )
    return table(documents)


def table(documents: Iterable[Any]) -> dft.DFTTable:
    """The table of summary documents that carry `FIELDS` as attributes; missing values are None."""
    import pandas as pd

    rows: list[dict[str, Any]] = []
    structures: dict[str, Structure] = {}
    for document in documents:
        name = str(document.material_id)
        hull = _number(document.energy_above_hull)
        structures[name] = document.structure
        symmetry = document.symmetry
        rows.append(
            {
                "material_id": name,
                "formula": document.formula_pretty,
                "space_group": symmetry.symbol if symmetry else "",
                "space_group_number": symmetry.number if symmetry else 0,
                "nsites": document.nsites,
                "formation_energy_per_atom": _number(document.formation_energy_per_atom),
                "energy_above_hull": hull,
                "energy_above_hull_recent": hull,
                "band_gap": _number(document.band_gap),
                "total_magnetization": _number(document.total_magnetization),
            }
        )
    return dft.from_frame(pd.DataFrame(rows), structures)


def _number(value: float | None) -> float:
    return np.nan if value is None else float(value)


def _subsystems(chemsys: str) -> list[str]:
    symbols = sorted({part.strip() for part in chemsys.split("-")})
    return [
        "-".join(group)
        for size in range(1, len(symbols) + 1)
        for group in combinations(symbols, size)
    ]


def _search(key: str, query: dict[str, Any]) -> list[Any]:
    try:
        from mp_api.client import MPRester
    except ImportError:
        raise MissingDependencyError(
            "mp-api is not installed: pip install 'matpcr-utils[mp]'"
        ) from None
    try:
        with MPRester(key) as rester:
            return list(rester.materials.summary.search(**query))
    except Exception as error:  # the client raises errors of several libraries
        reason = (str(error).splitlines() or [type(error).__name__])[0].replace(key, "<key>")
        raise MatPCRError(
            f"the Materials Project refused the request ({reason}): "
            "check MP_API_KEY and the network"
        ) from None
