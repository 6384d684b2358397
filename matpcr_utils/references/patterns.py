"""Measured powder diffraction patterns with the structures they were measured on."""

from __future__ import annotations

import bz2
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from matpcr_utils.errors import MatPCRError
from matpcr_utils.references import archives, store
from matpcr_utils.references.arrays import validated
from matpcr_utils.references.lines import CU_KALPHA1, CU_KALPHA2

if TYPE_CHECKING:
    from pymatgen.core import Structure

#: The member of the xrayutilities archive that holds the LaB6 pattern (GPL: read, never shipped).
LAB6_MEMBER = "examples/data/LaB6_d500_si_psd.xye.bz2"


@dataclass(frozen=True, eq=False)
class Pattern:
    """One diffraction scan.

    Attributes
    ----------
    name : str
    two_theta : ndarray of float64, shape (n,)
        Degrees, ascending.
    counts : ndarray of float64, shape (n,)
        As measured; the synchrotron pattern's are normalised, not whole numbers.
    wavelength : float
        Å; of Kα1 for a laboratory tube.
    second_wavelength : float or None
        Å, of Kα2 where the tube's doublet was not separated.
    source : str
        Archive and member, or file, that the numbers come from.
    """

    name: str
    two_theta: NDArray[np.float64]
    counts: NDArray[np.float64]
    wavelength: float
    second_wavelength: float | None
    source: str

    def __len__(self) -> int:
        return len(self.two_theta)

    @classmethod
    def from_arrays(
        cls,
        two_theta: ArrayLike,
        counts: ArrayLike,
        *,
        wavelength: float,
        name: str = "pattern",
        second_wavelength: float | None = None,
        source: str = "",
    ) -> Pattern:
        """A validated scan of one's own numbers; a descending axis is turned round.

        Parameters
        ----------
        two_theta, counts : array_like, shape (n,)
            Degrees within [0, 180], and any unit of intensity.
        wavelength : float
            Å.

        Raises
        ------
        MatPCRError
            As `arrays.validated`, or if an angle or the wavelength is not possible.
        """
        label = source or name
        x, y = validated(two_theta, counts, label)
        if x[0] > x[-1]:
            x, y = x[::-1], y[::-1]
        if x[0] < 0 or x[-1] > 180:
            raise MatPCRError(
                f"{label}: 2θ runs from {x[0]:g} to {x[-1]:g}, but lies within 0 and 180 degrees: "
                "convert the axis to degrees (GSAS files hold hundredths of a degree)"
            )
        if not 0 < wavelength < np.inf:
            raise MatPCRError(
                f"{label}: wavelength {wavelength} must be positive, in Å, e.g. 1.5406"
            )
        return Pattern(name, x, y, float(wavelength), second_wavelength, source)


@dataclass(frozen=True, eq=False)
class MeasuredPattern(Pattern):
    """A scan with the published crystal structure (pymatgen) of what was measured."""

    structure: Structure


@cache
def load() -> tuple[MeasuredPattern, ...]:
    """The two shipped patterns: fluorapatite (laboratory tube), Na2Ca3Al2F14 (synchrotron)."""
    table = store.read_table("patterns.parquet")
    facts = json.loads(store.path("pattern_structures.json").read_text(encoding="utf-8"))
    patterns = []
    for row in range(table.num_rows):
        cells = {name: table.column(name)[row] for name in table.column_names}
        axis, counts = (
            np.asarray(cells.pop(name).values.to_numpy(), np.float64)
            for name in ("two_theta", "counts")
        )
        text: dict[str, Any] = {name: cell.as_py() for name, cell in cells.items()}
        structure = structure_from_facts(facts[text["name"]])
        patterns.append(MeasuredPattern(**text, two_theta=axis, counts=counts, structure=structure))
    return tuple(patterns)


def get(name: str) -> MeasuredPattern:
    """One shipped pattern by name.

    Raises
    ------
    MatPCRError
        If there is none with this name.
    """
    found = {pattern.name: pattern for pattern in load()}
    if name not in found:
        raise MatPCRError(f"no measured pattern {name!r}: choose one of {', '.join(found)}")
    return found[name]


def lab6() -> MeasuredPattern:
    """The measured LaB6 pattern of the xrayutilities archive, fetched when it is asked for.

    Its licence (GPL-2.0-or-later) keeps it out of this package.

    Raises
    ------
    MatPCRError
        If the archive can't be fetched.
    """
    from matpcr_utils.references import calibrants

    text = bz2.decompress(archives.member("xrayutilities", LAB6_MEMBER)).decode("ascii")
    axis, counts, _ = np.loadtxt(text.splitlines(), unpack=True)
    return MeasuredPattern(
        name="LaB6",
        two_theta=axis,
        counts=counts,
        wavelength=CU_KALPHA1,
        second_wavelength=CU_KALPHA2,
        structure=calibrants.structure("LaB6"),
        source=f"xrayutilities:{LAB6_MEMBER}",
    )


def structure_from_facts(facts: Mapping[str, Any]) -> Structure:
    """A structure from its space group, cell and asymmetric unit.

    Parameters
    ----------
    facts : mapping
        ``space_group`` (Hermann–Mauguin symbol or number), ``cell`` (a, b, c in Å, then three
        angles in degrees), ``sites`` (element and three fractional coordinates each).
    """
    from pymatgen.core import Lattice, Structure
    from pymatgen.symmetry.groups import sg_symbol_from_int_number

    group = facts["space_group"]
    return Structure.from_spacegroup(
        sg_symbol_from_int_number(group) if isinstance(group, int) else group,
        Lattice.from_parameters(*facts["cell"]),
        [site[0] for site in facts["sites"]],
        [site[1:] for site in facts["sites"]],
    )
