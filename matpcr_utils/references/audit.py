"""Questions that a reader asks of the references themselves: where do they disagree?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from matpcr_utils.errors import MatPCRError
from matpcr_utils.references.dft import MATCH_QUALITIES, DFTTable

if TYPE_CHECKING:
    import pandas as pd

    from matpcr_utils.references.spectra import Spectrum

#: A Raman line is looked for this far (1/cm) from its literature position: the axes of the shipped
#: spectra are uncalibrated.
LINE_WINDOW = 10.0
#: Total magnetization per atom (bohr magneton) above which the net moment counts as finite (paper,
#: section 4.4).
FINITE_MOMENT = 0.05


def flipped(table: DFTTable, near_hull: float) -> np.ndarray:
    """Mask of the entries that are near-hull in one database version and not in the other.

    Parameters
    ----------
    table : DFTTable
    near_hull : float
        eV/atom, inclusive.
    """
    both = np.isfinite(table.energy_above_hull) & np.isfinite(table.energy_above_hull_recent)
    old, new = table.energy_above_hull <= near_hull, table.energy_above_hull_recent <= near_hull
    mask: np.ndarray = both & (old != new)
    return mask


def verdicts_by_version(table: DFTTable, near_hull: float) -> pd.DataFrame:
    """Entries by their near-hull verdict in the older and in the recent database version."""
    import pandas as pd

    both = np.isfinite(table.energy_above_hull_recent)
    label = np.array(["above", "near-hull"])
    return pd.crosstab(
        pd.Series(label[(table.energy_above_hull[both] <= near_hull).astype(int)], name="2018"),
        pd.Series(
            label[(table.energy_above_hull_recent[both] <= near_hull).astype(int)], name="recent"
        ),
        margins=True,
        margins_name="all",
    )


def movers(table: DFTTable, n: int = 5) -> pd.DataFrame:
    """The entries whose energy above hull (eV/atom) differs most between the two versions."""
    shift = np.abs(table.energy_above_hull_recent - table.energy_above_hull)
    rows = np.argsort(-np.nan_to_num(shift))[:n]
    columns = ["material_id", "formula", "space_group"]
    hulls = ["energy_above_hull", "energy_above_hull_recent"]
    return table.take(rows).to_frame()[columns + hulls].set_index("material_id")


def moments_by_match(table: DFTTable) -> pd.DataFrame:
    """Entries and finite net moments for each value of the match-quality column."""
    import pandas as pd

    finite = np.abs(table.total_magnetization) / table.nsites > FINITE_MOMENT
    rows = [
        {
            "match": name,
            "entries": int((table.match_quality == name).sum()),
            "with a finite net moment": int((finite & (table.match_quality == name)).sum()),
            "meaning": meaning,
        }
        for name, meaning in MATCH_QUALITIES.items()
    ]
    return pd.DataFrame([row for row in rows if row["entries"]]).set_index("match")


def line_positions(
    spectra: Sequence[Spectrum], sample: str, line: float, window: float = LINE_WINDOW
) -> pd.DataFrame:
    """Where each spectrum of a sample shows one line.

    Parameters
    ----------
    spectra : sequence of Spectrum
    sample : str
    line, window : float
        Literature position and how far from it to look, 1/cm. The most prominent local maximum
        within the window is taken, as measured.

    Returns
    -------
    DataFrame
        ``spectrum_id``, ``laboratory``, ``instrument``, ``laser_nm``, ``position`` (1/cm; NaN when
        there is no local maximum) and ``prominence`` as a share of the spectrum's range.

    Raises
    ------
    MatPCRError
        If no spectrum is of this sample.
    """
    import pandas as pd
    from scipy.signal import find_peaks, peak_prominences

    rows = []
    for spectrum in spectra:
        if spectrum.sample != sample:
            continue
        peaks, _ = find_peaks(spectrum.intensity)
        peaks = peaks[np.abs(spectrum.shift[peaks] - line) <= window]
        heights = peak_prominences(spectrum.intensity, peaks)[0]
        best = heights.argmax() if len(peaks) else None
        rows.append(
            {
                "spectrum_id": spectrum.spectrum_id,
                "laboratory": spectrum.laboratory or "not stated",
                "instrument": spectrum.instrument or "not stated",
                "laser_nm": spectrum.laser_nm,
                "position": np.nan if best is None else spectrum.shift[peaks[best]],
                "prominence": np.nan
                if best is None
                else heights[best] / np.ptp(spectrum.intensity),
            }
        )
    if not rows:
        known = sorted({spectrum.sample for spectrum in spectra})
        raise MatPCRError(f"no spectrum of {sample!r}: choose one of {', '.join(known)}")
    return pd.DataFrame(rows)


def calibrant_agreement(wavelength: float) -> pd.DataFrame:
    """Tabulated against computed line positions of every standard with a known structure.

    Parameters
    ----------
    wavelength : float
        Å.

    Returns
    -------
    DataFrame
        A row a standard: number of tabulated lines in reach and the largest |Δ2θ| in degrees.
    """
    import pandas as pd

    from matpcr_utils.references import calibrants
    from matpcr_utils.references.lines import DEFAULT_REACH, lines_of

    rows = []
    for name, standard in calibrants.STANDARDS.items():
        computed = lines_of(calibrants.structure(name), wavelength).two_theta()
        tabulated = calibrants.tabulated(name).two_theta(wavelength)
        tabulated = tabulated[tabulated < DEFAULT_REACH]
        apart = np.abs(tabulated[:, None] - computed).min(axis=1)
        rows.append(
            {
                "standard": standard.spacings,
                "lines": len(tabulated),
                "largest |Δ2θ| (degree)": apart.max(),
            }
        )
    return pd.DataFrame(rows).set_index("standard")


def metals_with_a_gap(table: DFTTable, below: float) -> pd.DataFrame:
    """Elemental metals whose computed gap is not zero but lies below a limit in eV."""
    from pymatgen.core import Element

    rows = [
        row
        for row in np.flatnonzero((table.band_gap > 0) & (table.band_gap < below))
        if str(table.formula[row]) in Element.__members__ and Element(table.formula[row]).is_metal
    ]
    frame = table.take(np.array(rows, np.intp)).to_frame()
    columns = ["material_id", "formula", "space_group", "band_gap"]
    return frame[columns].sort_values("band_gap").set_index("material_id")
