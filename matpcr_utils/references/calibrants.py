"""Line positions of powder standards: tabulated spacings, and structures to compute them from."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from matpcr_utils.errors import MatPCRError
from matpcr_utils.references import store

if TYPE_CHECKING:
    from pymatgen.core import Structure


@dataclass(frozen=True, eq=False)
class Calibrant:
    """Tabulated spacings of one standard.

    Attributes
    ----------
    name : str
        Material and, for a NIST standard reference material (SRM), its number.
    d : ndarray of float64, shape (n,)
        Lattice spacings in Å, descending; every allowed line, however weak.
    reference : str
        Where the lattice parameters come from.
    """

    name: str
    d: NDArray[np.float64]
    reference: str

    def two_theta(self, wavelength: float) -> NDArray[np.float64]:
        """Line positions in degrees for a wavelength in Å; spacings below λ/2 have none.

        Bragg's law in first order, λ = 2 d sin θ.
        """
        sine = wavelength / (2 * self.d)
        return 2 * np.degrees(np.arcsin(sine[sine <= 1]))


@dataclass(frozen=True)
class _Standard:
    """Published structure of a standard: lattice parameters in Å, asymmetric unit, citation."""

    space_group: str
    cell: tuple[float, ...]
    sites: tuple[tuple[Any, ...], ...]
    citation: str
    spacings: str

    @property
    def facts(self) -> dict[str, Any]:
        return {"space_group": self.space_group, "cell": self.cell, "sites": self.sites}


def _cubic(a: float) -> tuple[float, ...]:
    return (a, a, a, 90.0, 90.0, 90.0)


#: Line positions follow from cell and space group; the inner coordinates of LaB6 and Al2O3 set
#: intensities only, and are rounded.
STANDARDS: dict[str, _Standard] = {
    "Si": _Standard(
        "Fd-3m",
        _cubic(5.431179),
        (("Si", 0.0, 0.0, 0.0),),
        "NIST SRM 640e certificate: a = 5.431179 Å at 22.5 °C",
        "Si SRM 640e",
    ),
    "LaB6": _Standard(
        "Pm-3m",
        _cubic(4.156826),
        (("La", 0.0, 0.0, 0.0), ("B", 0.2, 0.5, 0.5)),
        "NIST SRM 660c certificate: a = 4.156826 Å at 22.5 °C",
        "LaB6 SRM 660c",
    ),
    "CeO2": _Standard(
        "Fm-3m",
        _cubic(5.411651),
        (("Ce", 0.0, 0.0, 0.0), ("O", 0.25, 0.25, 0.25)),
        "NIST SRM 674b certificate: a = 5.411651 Å",
        "CeO2 SRM 674b",
    ),
    "Al2O3": _Standard(
        "R-3c",
        (4.759355, 4.759355, 12.99231, 90.0, 90.0, 120.0),
        (("Al", 0.0, 0.0, 0.352), ("O", 0.306, 0.0, 0.25)),
        "NIST SRM 676a certificate (2015): a = 4.759355 Å, c = 12.99231 Å",
        "Al2O3 SRM 676a (2015)",
    ),
    "NaCl": _Standard(
        "Fm-3m",
        _cubic(5.6401),
        (("Na", 0.0, 0.0, 0.0), ("Cl", 0.5, 0.5, 0.5)),
        "Walker et al., Am. Mineral. 89 (2004) 204: a = 5.6401 Å",
        "NaCl",
    ),
    "Ni": _Standard(
        "Fm-3m",
        _cubic(3.52387),
        (("Ni", 0.0, 0.0, 0.0),),
        "Taylor, J. Inst. Metals 77 (1950) 585: a = 3.52387 Å",
        "Ni",
    ),
}


@cache
def load() -> dict[str, Calibrant]:
    """Tabulated spacings of every shipped standard, by name."""
    facts = json.loads(store.path("calibrants.json").read_text(encoding="utf-8"))
    return {
        name: Calibrant(name, np.array(entry["d"]), entry["reference"])
        for name, entry in facts.items()
    }


def tabulated(name: str) -> Calibrant:
    """The tabulated spacings that belong to ``structure(name)``."""
    return load()[_standard(name).spacings]


def structure(name: str) -> Structure:
    """The published structure of a standard, its conventional cell.

    Parameters
    ----------
    name : str
        A key of `STANDARDS`, e.g. ``"Si"``.

    Raises
    ------
    MatPCRError
        If no structure is known under this name.
    """
    from matpcr_utils.references.patterns import structure_from_facts

    return structure_from_facts(_standard(name).facts)


def _standard(name: str) -> _Standard:
    if name not in STANDARDS:
        raise MatPCRError(f"no standard {name!r}: choose one of {', '.join(STANDARDS)}")
    return STANDARDS[name]
