"""Crystal structures from CIF, refused where the file leaves open what is meant."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matpcr_utils.errors import MatPCRError

if TYPE_CHECKING:
    from pymatgen.core import Structure

_LENGTHS = ("_cell_length_a", "_cell_length_b", "_cell_length_c")
_ANGLES = ("_cell_angle_alpha", "_cell_angle_beta", "_cell_angle_gamma")
#: What pymatgen notes when it finds no symmetry that it knows, and goes on without any.
_NO_SYMMETRY = "Defaulting to P1"


def structure_from_cif(path: str | os.PathLike[str]) -> Structure:
    """Read the structure of a CIF.

    Raises
    ------
    MatPCRError
        In one line with the file's name: if it can't be read or holds no structure; if it holds
        several; if its cell is none, or its symmetry is missing or unknown (the atoms that the
        symmetry makes would be missing, and with them or without them the lines differ).
    """
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise MatPCRError(f"can't read {file}: {error.strerror}; name an existing CIF") from error
    return structure_from_text(text, file.name)


def structure_from_text(text: str, name: str) -> Structure:
    """`structure_from_cif` on the text of a file."""
    from pymatgen.io.cif import CifParser

    notes: list[str] = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parser: Any = CifParser.from_str(text)
            notes = parser.warnings  # filled as it goes
            _require_cells(parser.as_dict(), name)
            structures = parser.parse_structures(primitive=False)
    except MatPCRError:
        raise
    except Exception as error:  # the parser fails in many ways on text that is no CIF
        why = " ".join((notes or [str(error)])[-1].split())[:160] or type(error).__name__
        raise MatPCRError(
            f"{name} holds no structure that can be read ({why}): "
            "give a CIF with cell, symmetry and atom sites"
        ) from error
    if len(structures) > 1:
        formulas = ", ".join(s.composition.reduced_formula for s in structures[:4])
        raise MatPCRError(
            f"{name} holds {len(structures)} structures ({formulas}): give a CIF with only the one "
            "that is meant"
        )
    if any(_NO_SYMMETRY in note for note in notes) and _lacks_symmetry(text):
        raise MatPCRError(
            f"{name} states no space group or symmetry operation that is known: add "
            "_symmetry_space_group_name_H-M, 'P 1' where all atoms of the cell are listed"
        )
    return structures[0]


def _lacks_symmetry(text: str) -> bool:
    """Whether a block with a cell states no known symmetry; a block of the article's text may."""
    from pymatgen.io.cif import CifFile, CifParser

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parser: Any = CifParser.from_str(text)
        for block in CifFile.from_str(text).data.values():
            if _LENGTHS[0] in block.data:
                parser.get_symops(block)
        return any(_NO_SYMMETRY in note for note in parser.warnings)


def _require_cells(blocks: Mapping[str, Mapping[str, Any]], name: str) -> None:
    """Refuse cells that the parser would bend into some lattice, or die of."""
    from pymatgen.io.cif import str2float

    for block in blocks.values():
        for keys, top in ((_LENGTHS, float("inf")), (_ANGLES, 180.0)):
            for key in keys:
                try:
                    value = str2float(block[key])
                except (KeyError, ValueError):
                    continue  # the parser says what it lacks
                if not 0 < value < top:
                    limit = "below 180 degree" if keys is _ANGLES else "finite, in angstrom"
                    raise MatPCRError(
                        f"{name} states {key} = {block[key]}, which must be positive and {limit}: "
                        "correct the cell"
                    )
