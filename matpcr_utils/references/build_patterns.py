"""Read the measured patterns, their structures and the calibrants' spacings from the archives."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from matpcr_utils.references import archives

if TYPE_CHECKING:
    import pyarrow as pa

EXAMPLES = "rietx/data/examples"
CALIBRATION = "pyFAI/resources/calibration"

#: Kα1 and Kα2 of the fluorapatite measurement, from the refinement file beside it (FAP.EXP).
FAP_WAVELENGTHS = (1.5405, 1.5443)
#: Of beamline 11-BM in the NAC measurement; the pattern's file does not state it.
NAC_WAVELENGTH = 0.413909

_STRUCTURES: dict[str, tuple[str, str]] = {
    "fluorapatite": (
        "fluorapatite.cif",
        "GSAS-II LabData tutorial, after Hughes, Cameron & Crowley, Am. Mineral. 74 (1989) 870",
    ),
    "Na2Ca3Al2F14": (
        "cod_1000236.cif",
        "COD 1000236; Courbion & Férey, J. Solid State Chem. 76 (1988) 426",
    ),
}

#: Calibrants by shipped name, each with pyFAI's file; those of doubtful origin are left out, and
#: the files that repeat a standard under a short name.
CALIBRANT_FILES: dict[str, str] = {
    "LaB6 SRM 660a": "LaB6_SRM660a",
    "LaB6 SRM 660b": "LaB6_SRM660b",
    "LaB6 SRM 660c": "LaB6_SRM660c",
    "Si SRM 640": "Si_SRM640",
    "Si SRM 640a": "Si_SRM640a",
    "Si SRM 640b": "Si_SRM640b",
    "Si SRM 640c": "Si_SRM640c",
    "Si SRM 640d": "Si_SRM640d",
    "Si SRM 640e": "Si_SRM640e",
    "CeO2 SRM 674b": "CeO2",
    "Cr2O3 SRM 674b": "Cr2O3",
    "TiO2 SRM 674b": "TiO2",
    "ZnO SRM 674b": "ZnO",
    "Al2O3 SRM 676": "alpha_Al2O3_SRM676",
    "Al2O3 SRM 676a (2008)": "alpha_Al2O3_SRM676a_2008",
    "Al2O3 SRM 676a (2015)": "alpha_Al2O3_SRM676a_2015",
    "Al": "Al",
    "Au": "Au",
    "Na2Ca3Al2F14": "verneite",
    "NaCl": "NaCl",
    "Ni": "Ni",
    "Pt": "Pt",
    "diamond": "diamond",
}


def patterns() -> pa.Table:
    """Both measured patterns as one table."""
    import pyarrow as pa

    fap, nac = _xra(_text("FAP.XRA")), _fxye(_text("11BM_NAC.fxye"))
    return pa.table(
        {
            "name": list(_STRUCTURES),
            "wavelength": [FAP_WAVELENGTHS[0], NAC_WAVELENGTH],
            "second_wavelength": pa.array([FAP_WAVELENGTHS[1], None], pa.float64()),
            "source": [f"rietx:{EXAMPLES}/FAP.XRA", f"rietx:{EXAMPLES}/11BM_NAC.fxye"],
            "two_theta": pa.array([fap[0], nac[0]], pa.list_(pa.float64())),
            "counts": pa.array([fap[1], nac[1]], pa.list_(pa.float64())),
        }
    )


def structures() -> dict[str, dict[str, Any]]:
    """Space group, cell and asymmetric unit of each pattern's structure."""
    return {name: _facts(_text(file), citation) for name, (file, citation) in _STRUCTURES.items()}


def calibrants() -> dict[str, dict[str, Any]]:
    """Spacings in Å, descending, and their reference, of each calibrant."""
    found = {}
    for name, file in CALIBRANT_FILES.items():
        text = archives.member("pyfai", f"{CALIBRATION}/{file}.D").decode("utf-8")
        reference = re.search(r"^# Ref: (.+)$", text, re.M)
        if reference is None:
            raise AssertionError(f"pyFAI's {file}.D has lost its reference")
        lines = [line.split()[0] for line in text.splitlines() if line and line[0] != "#"]
        spacings = sorted((float(line) for line in lines), reverse=True)
        found[name] = {"reference": reference[1].strip(), "d": spacings}
    return found


def _text(file: str) -> str:
    return archives.member("rietx", f"{EXAMPLES}/{file}").decode("utf-8")


def _fxye(text: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """GSAS FXYE: position in hundredths of a degree, counts, error, after the BANK line."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("BANK")) + 1
    values = np.array(
        [[float(cell) for cell in line.split()[:2]] for line in lines[start:] if line]
    )
    return np.round(values[:, 0] / 100, 6), values[:, 1]


def _xra(text: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """GSAS STD: the BANK line states start and step in hundredths of a degree; then (I2, F6)."""
    lines = text.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("BANK"))
    start, step = (float(cell) for cell in lines[at].split()[5:7])
    cells = [line[i + 2 : i + 8] for line in lines[at + 1 :] for i in range(0, 80, 8)]
    counts = np.array([float(cell) for cell in cells if cell.strip()])
    # The last line is filled up with zeros, and the BANK line counts some of them.
    counts = np.trim_zeros(counts, "b")
    return np.round((start + step * np.arange(len(counts))) / 100, 6), counts


def _facts(text: str, citation: str) -> dict[str, Any]:
    from pymatgen.io.cif import CifFile

    (block,) = CifFile.from_str(text).data.values()
    data = block.data
    cell = [data[f"_cell_length_{axis}"] for axis in "abc"]
    cell += [data[f"_cell_angle_{angle}"] for angle in ("alpha", "beta", "gamma")]
    symbols = [re.match(r"[A-Z][a-z]?", s)[0] for s in data["_atom_site_type_symbol"]]  # type: ignore[index]
    coords = zip(*(data[f"_atom_site_fract_{axis}"] for axis in "xyz"), strict=True)
    return {
        "space_group": int(data["_space_group_IT_number"]),
        "cell": [_number(value) for value in cell],
        "sites": [
            [symbol, *(_number(value) for value in point)]
            for symbol, point in zip(symbols, coords, strict=True)
        ],
        "citation": citation,
    }


def _number(text: str) -> float:
    """A CIF number without its standard uncertainty."""
    return float(text.partition("(")[0])
