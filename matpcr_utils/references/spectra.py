"""Measured Raman spectra, as the instruments wrote them: no baseline, spike or axis correction."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from matpcr_utils.errors import MatPCRError
from matpcr_utils.references import store
from matpcr_utils.references.arrays import validated

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class Spectrum:
    """One Raman spectrum.

    Attributes
    ----------
    spectrum_id : str
    sample : str
        What was measured, e.g. ``"silicon"``.
    instrument : str
        Maker, or the empty string when unknown.
    laser_nm : float or None
        Excitation wavelength in nm; None when the source doesn't state it.
    shift : ndarray of float64, shape (n,)
        Raman shift in 1/cm, strictly ascending or strictly descending, as measured.
    intensity : ndarray of float64, shape (n,)
        Counts.
    source : str
        Archive and member, or file, that the numbers come from.
    laboratory : str
        Who measured, as the source names it.
    """

    spectrum_id: str
    sample: str
    instrument: str
    laser_nm: float | None
    shift: NDArray[np.float64]
    intensity: NDArray[np.float64]
    source: str
    laboratory: str = ""

    def __len__(self) -> int:
        return len(self.shift)

    @classmethod
    def from_arrays(
        cls,
        shift: ArrayLike,
        intensity: ArrayLike,
        *,
        spectrum_id: str = "spectrum",
        sample: str = "",
        instrument: str = "",
        laser_nm: float | None = None,
        source: str = "",
        laboratory: str = "",
    ) -> Spectrum:
        """A validated spectrum of one's own numbers.

        Parameters
        ----------
        shift, intensity : array_like, shape (n,)
            At least three finite points. A descending axis is kept as it is.

        Raises
        ------
        MatPCRError
            If the arrays differ in length or dimension, hold NaN or infinity, have fewer than
            three points, or the axis neither ascends nor descends strictly.
        """
        x, y = validated(shift, intensity, source or spectrum_id)
        return cls(spectrum_id, sample, instrument, laser_nm, x, y, source, laboratory)


@cache
def load() -> tuple[Spectrum, ...]:
    """All shipped spectra, ordered by id."""
    table = store.read_table("spectra.parquet")
    return tuple(_spectrum(table, row) for row in range(table.num_rows))


def get(spectrum_id: str) -> Spectrum:
    """One shipped spectrum.

    Raises
    ------
    MatPCRError
        If there is none with this id.
    """
    for spectrum in load():
        if spectrum.spectrum_id == spectrum_id:
            return spectrum
    raise MatPCRError(
        f"no spectrum {spectrum_id!r}: references.spectra.table() lists all {len(load())}"
    )


def table() -> pd.DataFrame:
    """One row a shipped spectrum: what it is, and the extent of its axis in 1/cm."""
    import pandas as pd

    rows = [
        {
            "spectrum_id": s.spectrum_id,
            "sample": s.sample,
            "instrument": s.instrument,
            "laser_nm": s.laser_nm,
            "laboratory": s.laboratory,
            "points": len(s),
            "from": s.shift.min(),
            "to": s.shift.max(),
            "source": s.source,
        }
        for s in load()
    ]
    return pd.DataFrame(rows)


def _spectrum(table: pa.Table, row: int) -> Spectrum:
    def cell(name: str) -> Any:
        return table.column(name)[row]

    def numbers(name: str) -> NDArray[np.float64]:
        return np.asarray(cell(name).values.to_numpy(), np.float64)

    text = {
        name: cell(name).as_py()
        for name in ("spectrum_id", "sample", "instrument", "source", "laboratory", "laser_nm")
    }
    return Spectrum(**text, shift=numbers("shift"), intensity=numbers("intensity"))
