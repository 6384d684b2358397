"""What the diffraction oracle does on real data: the tables behind the chapter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from matpcr_utils.claims.model import Claim, ClaimTable
from matpcr_utils.controls.diffraction import coverage
from matpcr_utils.errors import MatPCRError
from matpcr_utils.oracles.diffraction import (
    DiffractionReference,
    LineTable,
    Tolerances,
    check,
    check_many,
)
from matpcr_utils.references import calibrants, patterns
from matpcr_utils.references.diffraction import measured_peaks
from matpcr_utils.references.lines import CU_KALPHA1, lines_of

if TYPE_CHECKING:
    import pandas as pd
    from pymatgen.core import Structure

    from matpcr_utils.references.dft import DFTTable

#: Crystal systems by the first space-group number of each.
SYSTEMS = {
    "triclinic": 1,
    "monoclinic": 3,
    "orthorhombic": 16,
    "tetragonal": 75,
    "trigonal": 143,
    "hexagonal": 168,
    "cubic": 195,
}


def crystal_system(space_group_number: NDArray[np.int64]) -> NDArray[np.str_]:
    """Name of the crystal system of each space-group number."""
    first = np.array(list(SYSTEMS.values()))
    return np.array(list(SYSTEMS))[np.searchsorted(first, space_group_number, side="right") - 1]


def judged(
    cases: Sequence[tuple[str, Claim]],
    reference: DiffractionReference,
    tolerances: Tolerances | None = None,
) -> pd.DataFrame:
    """Cases in words with the claim, the verdict and its sentence, a row each."""
    import pandas as pd

    verdicts = [check(claim, reference, tolerances) for _, claim in cases]
    return pd.DataFrame(
        {
            "Case": [case for case, _ in cases],
            "Outcome": [str(verdict.outcome) for verdict in verdicts],
            "Reason": [verdict.reason for verdict in verdicts],
            "In words": [verdict.sentence for verdict in verdicts],
        }
    )


def boundary_cases(reference: DiffractionReference, tolerances: Tolerances) -> pd.DataFrame:
    """The edges of the criterion on one reference: what passes, violates and is not judged.

    Raises
    ------
    MatPCRError
        If the reference has no line in its window.
    """
    table, wavelength = reference.table, reference.wavelengths[0]
    if not table.has_lines[0]:
        raise MatPCRError(f"{reference.name} has no line in its window to show edges on")
    (low, high), tolerance = reference.window, tolerances.two_theta
    seen = (table.two_theta >= low) & (table.two_theta <= high)
    seen &= table.kept(tolerances.intensity_floor)
    edge = float(table.two_theta[seen][0]) - tolerance
    last = float(table.two_theta[seen][-1])
    q_max = 4 * np.pi / wavelength
    return judged(
        [
            ("on the last component of the last line", Claim("two_theta", last)),
            ("exactly one tolerance below the first line", Claim("two_theta", edge)),
            ("0.01° further", Claim("two_theta", edge - 0.01)),
            ("just outside the window", Claim("two_theta", high + 0.01)),
            ("zero angle", Claim("two_theta", 0.0)),
            ("beyond back-reflection", Claim("two_theta", 190.0)),
            ("d = λ/2, back-reflection", Claim("d_spacing", wavelength / 2)),
            ("d just below λ/2", Claim("d_spacing", 0.999 * wavelength / 2)),
            ("q just above 4π/λ", Claim("scattering_vector", 1.001 * q_max)),
        ],
        reference,
        tolerances,
    )


def standards(wavelength: float = CU_KALPHA1, reach: float = 120.0) -> pd.DataFrame:
    """Computed lines of every standard against its tabulated ones, a row each."""
    import pandas as pd

    rows = []
    for name in calibrants.STANDARDS:
        computed = lines_of(calibrants.structure(name), wavelength, reach).two_theta()
        tabulated = calibrants.tabulated(name).two_theta(wavelength)
        tabulated = tabulated[tabulated <= reach]
        apart = np.abs(tabulated[:, None] - computed).min(axis=1)
        rows.append(
            {
                "Standard": calibrants.STANDARDS[name].spacings,
                "Lines tabulated": len(tabulated),
                "Lines computed": len(computed),
                "Largest distance (degree)": apart.max(),
                "Cell from": calibrants.STANDARDS[name].citation,
            }
        )
    return pd.DataFrame(rows).set_index("Standard")


class Measured(NamedTuple):
    """The peaks of one measured pattern, strongest first, and the verdicts on them."""

    pattern: patterns.MeasuredPattern
    reference: DiffractionReference
    two_theta: NDArray[np.float64]
    prominence: NDArray[np.float64]
    passes: NDArray[np.bool_]


def measured(
    pattern: patterns.MeasuredPattern, tolerances: Tolerances, share: float = 0.02
) -> Measured:
    """Every peak of a pattern, stated as a claim about the structure it was measured on."""
    reference = DiffractionReference.from_pattern(pattern)
    two_theta, prominence = measured_peaks(pattern, share)
    return Measured(
        pattern, reference, two_theta, prominence, _passes(two_theta, reference, tolerances)
    )


def measured_table(found: Sequence[Measured], tolerances: Tolerances) -> pd.DataFrame:
    """How many measured peaks pass on each pattern, and how much of its axis would pass anyway."""
    import pandas as pd

    return pd.DataFrame(
        [
            {
                "Pattern": m.pattern.name,
                "λ (Å)": f"{m.pattern.wavelength:.4f}",
                "Of the 12 strongest peaks pass": int(m.passes[:12].sum()),
                "Of all peaks pass": f"{int(m.passes.sum())} of {len(m.passes)}",
                "Axis covered": f"{coverage(m.reference.table, tolerances)[0]:.0%}",
            }
            for m in found
        ]
    ).set_index("Pattern")


def trade_off(
    found: Sequence[Measured],
    tolerances: Sequence[float] = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0),
    floors: Sequence[float] = (0.0, 0.1, 1.0, 5.0),
) -> pd.DataFrame:
    """True peaks flagged against axis covered, for every tolerance (degree) and floor (percent).

    One row for a pattern, tolerance and floor, with the share of its measured peaks that violate
    and the share of its window that passes by chance.
    """
    import pandas as pd

    rows = []
    for m in found:
        for tolerance in tolerances:
            for floor in floors:
                setting = Tolerances(tolerance, floor)
                rows.append(
                    {
                        "pattern": m.pattern.name,
                        "tolerance": tolerance,
                        "floor": floor,
                        "flagged": 1 - _passes(m.two_theta, m.reference, setting).mean(),
                        "covered": coverage(m.reference.table, setting)[0],
                    }
                )
    return pd.DataFrame(rows)


def coverage_frame(
    entries: DFTTable, references: LineTable, tolerances: Sequence[float], floor: float = 1.0
) -> pd.DataFrame:
    """Covered share of the window, a row for each material and tolerance (degree).

    `entries` are the first references of `references`, in the same order.
    """
    import pandas as pd

    n = len(entries)
    frame = pd.DataFrame(
        {
            "material_id": entries.material_id,
            "formula": entries.formula,
            "system": crystal_system(entries.space_group_number),
            "nsites": entries.nsites,
        }
    )
    return pd.concat(
        [
            frame.assign(
                tolerance=tolerance, covered=coverage(references, Tolerances(tolerance, floor))[:n]
            )
            for tolerance in tolerances
        ],
        ignore_index=True,
    )


def coverage_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Mean covered share by crystal system (rows) and tolerance (columns)."""
    table = frame.pivot_table("covered", "system", "tolerance", aggfunc="mean")
    table.insert(0, "materials", frame.groupby("system")["material_id"].nunique())
    return table.reindex([system for system in reversed(SYSTEMS) if system in table.index])


def confused(
    references: LineTable, tolerances: Tolerances, draws: int = 20_000, seed: int = 0
) -> float:
    """Share of claims that pass when the main line of another material is stated."""
    rng = np.random.default_rng(seed)
    visible = np.flatnonzero(references.has_lines)
    about, other = rng.choice(visible, (2, draws))
    about, other = about[about != other], other[about != other]
    claims = ClaimTable.numbers("two_theta", _main_lines(references)[other])
    verdicts = check_many(claims, references, tolerances, index=about)
    return float(verdicts.consistent.sum() / (~verdicts.abstain).sum())


def strained(
    strains: Sequence[float], tolerances: Sequence[float], floor: float = 1.0
) -> pd.DataFrame:
    """Share of the standards' lines flagged when the reference cell is longer than the true one.

    The lines of the published cell are stated, and judged against the cell with every length
    multiplied by 1 + strain (a simulation of the error of a calculated cell).
    """
    import pandas as pd

    cells = {name: calibrants.structure(name) for name in calibrants.STANDARDS}
    true = LineTable.from_structures(list(cells.values()), list(cells))
    low, high = true.window[true.owner].T
    stated = (true.two_theta > low) & (true.two_theta < high) & true.kept(floor)
    claims = ClaimTable.numbers("two_theta", true.two_theta[stated])
    rows = []
    for strain in strains:
        table = LineTable.from_structures([stretch(c, strain) for c in cells.values()], list(cells))
        for tolerance in tolerances:
            setting = Tolerances(tolerance, floor)
            verdicts = check_many(claims, table, setting, index=true.owner[stated])
            rows.append((strain, tolerance, float(verdicts.violation.mean())))
    frame = pd.DataFrame(rows, columns=["strain", "tolerance", "flagged"])
    return frame.pivot_table("flagged", "strain", "tolerance")


def stretch(structure: Structure, strain: float) -> Structure:
    """The structure with every length multiplied by 1 + strain."""
    stretched = structure.copy()
    stretched.scale_lattice(structure.volume * (1 + strain) ** 3)
    return stretched


def _main_lines(references: LineTable) -> NDArray[np.float64]:
    """2θ of the strongest line in each window, under the first component that is there."""
    low, high = references.window[references.owner].T
    inside = (references.two_theta >= low) & (references.two_theta <= high)
    strength = np.where(inside, references.intensity, -1.0)
    order = np.lexsort((-strength, references.owner))
    found = np.full(len(references), np.nan)
    owners, first = np.unique(references.owner[order], return_index=True)
    found[owners] = references.two_theta[order[first]]
    return found


def _passes(
    two_theta: NDArray[np.float64], reference: DiffractionReference, tolerances: Tolerances
) -> NDArray[np.bool_]:
    claims = ClaimTable.numbers("two_theta", two_theta)
    zeros = np.zeros(len(claims), np.intp)
    return check_many(claims, reference.table, tolerances, index=zeros).consistent
