"""Cases, on real data, in which the diffraction oracle's verdict misleads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from matpcr_utils.claims.model import Claim, ClaimTable
from matpcr_utils.controls.diffraction import coverage
from matpcr_utils.controls.diffraction_studies import Measured, judged, stretch
from matpcr_utils.oracles.diffraction import (
    DiffractionReference,
    LineTable,
    Tolerances,
    check_many,
)
from matpcr_utils.references import calibrants, patterns
from matpcr_utils.references.diffraction import measured_peaks, radiation
from matpcr_utils.references.lines import CU_KALPHA1

if TYPE_CHECKING:
    import pandas as pd

    from matpcr_utils.references.dft import DFTTable

#: CaF2, an impurity of the synchrotron sample (ICDD 35-0816: a = 5.46305 Å).
FLUORITE = {
    "space_group": "Fm-3m",
    "cell": (5.46305, 5.46305, 5.46305, 90.0, 90.0, 90.0),
    "sites": (("Ca", 0.0, 0.0, 0.0), ("F", 0.25, 0.25, 0.25)),
}
#: Calculated cells are of this order too long with the usual functional (PBE).
CELL_ERROR = 0.01


class Case(NamedTuple):
    """Claims about one reference, and what goes wrong."""

    title: str
    reference: DiffractionReference
    claims: tuple[Claim, ...]
    tolerances: Tolerances

    def table(self) -> pd.DataFrame:
        """The verdict on each claim."""
        return judged(
            [(self.title, claim) for claim in self.claims], self.reference, self.tolerances
        )


def impurity(tolerance: float = 0.1) -> tuple[Case, Case]:
    """Measured peaks of a second phase: against the stated structure, and against their own."""
    pattern = patterns.get("Na2Ca3Al2F14")
    window, components = (5.0, 16.0), (pattern.wavelength,)
    fluorite = DiffractionReference.from_structure(
        patterns.structure_from_facts(FLUORITE), components, window, "CaF2"
    )
    stated = DiffractionReference.from_structure(
        pattern.structure, components, window, pattern.name
    )
    angles, _ = measured_peaks(pattern, 0.02)
    settings = Tolerances(tolerance)
    strange = _farther(angles[(angles > window[0]) & (angles < window[1])], stated, settings)
    claims = tuple(Claim("two_theta", float(angle)) for angle in sorted(strange))
    return (
        Case("Real peaks of an impurity, judged as the sample's", stated, claims, settings),
        Case("The same peaks, judged as the impurity's", fluorite, claims, settings),
    )


def weak_lines(tolerances: Tolerances) -> Case:
    """Tabulated lines of corundum that a pattern shows, but below the intensity floor."""
    reference = DiffractionReference.from_structure(calibrants.structure("Al2O3"))
    angles = calibrants.tabulated("Al2O3").two_theta(CU_KALPHA1)
    low, high = reference.window
    inside = angles[(angles > low) & (angles < high)]
    flagged = _farther(inside, reference, tolerances)
    return Case(
        "Tabulated lines of Al2O3 below the intensity floor",
        reference,
        tuple(Claim("two_theta", float(angle)) for angle in flagged),
        tolerances,
    )


def crowded(
    entries: DFTTable, references: LineTable, tolerances: Tolerances, seed: int = 0, n: int = 8
) -> Case:
    """The material whose lines cover most of the window, and claims drawn blindly."""
    share = coverage(references, tolerances)[: len(entries)]
    entry = entries.row(int(np.nanargmax(share)))
    window = (float(references.window[0, 0]), float(references.window[0, 1]))
    components = radiation(float(references.wavelength[0]))
    reference = DiffractionReference.from_structure(entry.structure, components, window)
    angles = np.random.default_rng(seed).uniform(*window, n)
    return Case(
        f"{n} angles drawn blindly, on {entry.formula} ({entry.material_id})",
        reference,
        tuple(Claim("two_theta", float(angle)) for angle in angles),
        tolerances,
    )


def long_cell(tolerances: Tolerances) -> Case:
    """The certified lines of silicon against a cell as much too long as calculated ones are."""
    silicon = calibrants.structure("Si")
    true = DiffractionReference.from_structure(silicon)
    assert true.lines is not None
    low, high = true.window
    angles = true.lines.two_theta()
    angles = angles[(angles > low) & (angles < high)]
    return Case(
        f"True lines of Si, judged by a cell {CELL_ERROR:.0%} too long",
        DiffractionReference.from_structure(stretch(silicon, CELL_ERROR)),
        tuple(Claim("two_theta", float(angle)) for angle in angles),
        tolerances,
    )


def gallery(
    entries: DFTTable, references: LineTable, tolerances: Tolerances, seed: int = 0
) -> list[Case]:
    """The cases of the chapter."""
    return [
        *impurity(),
        weak_lines(tolerances),
        long_cell(tolerances),
        crowded(entries, references, tolerances, seed),
    ]


def summary(cases: Sequence[Case]) -> pd.DataFrame:
    """Outcomes by case, a row each."""
    import pandas as pd

    tables = [case.table() for case in cases]
    return pd.DataFrame(
        [
            {
                "Case": case.title,
                "Tolerance": f"±{case.tolerances.two_theta:g}°",
                "Consistent": int((table["Outcome"] == "consistent").sum()),
                "Violation": int((table["Outcome"] == "violation").sum()),
            }
            for case, table in zip(cases, tables, strict=True)
        ]
    ).set_index("Case")


def explained(found: Sequence[Measured], tolerances: Tolerances) -> pd.DataFrame:
    """Every measured peak that is flagged, with the likeliest cause, a row each.

    The cause is a line of the structure below the intensity floor, a line of the known impurity,
    or none of the two. The last column is the peak's prominence in standard deviations of Poisson
    counting noise at its top (meaningful for the counts of the laboratory pattern).
    """
    import pandas as pd

    rows = []
    for m in found:
        counts = np.interp(m.two_theta, m.pattern.two_theta, m.pattern.counts)
        noise = m.prominence * np.ptp(m.pattern.counts) / np.sqrt(counts)
        causes = _causes(m, tolerances)
        rows += [
            {
                "Pattern": m.pattern.name,
                "2θ (degree)": m.two_theta[i],
                "Prominence (% of range)": 100 * m.prominence[i],
                "Cause": causes[i],
                "Prominence / noise": noise[i],
            }
            for i in np.flatnonzero(~m.passes)
        ]
    return pd.DataFrame(rows, columns=list(rows[0]) if rows else ["Pattern"])


def _causes(found: Measured, tolerances: Tolerances) -> NDArray[np.str_]:
    """A cause for every peak, as if it were flagged."""
    reference, narrow = found.reference, min(tolerances.two_theta, 0.1)
    fluorite = DiffractionReference.from_structure(
        patterns.structure_from_facts(FLUORITE), reference.wavelengths, reference.window
    )
    weak = ~np.isin(found.two_theta, _farther(found.two_theta, reference, Tolerances(narrow, 0.0)))
    strange = ~np.isin(found.two_theta, _farther(found.two_theta, fluorite, Tolerances(narrow)))
    # Only the synchrotron sample is known to hold fluorite.
    strange &= found.pattern.name == "Na2Ca3Al2F14"
    return np.select(
        [strange, weak], ["line of the impurity CaF2", "line below the floor"], "no line: noise?"
    )


def _farther(
    angles: NDArray[np.float64], reference: DiffractionReference, tolerances: Tolerances
) -> NDArray[np.float64]:
    """The angles that no line reaches."""
    claims = ClaimTable.numbers("two_theta", angles)
    index = np.zeros(len(claims), np.intp)
    return angles[check_many(claims, reference.table, tolerances, index=index).violation]
