"""Read the text files that diffractometers, spectrometers and open databases hand out."""

from __future__ import annotations

import codecs
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from matpcr_utils.errors import MatPCRError
from matpcr_utils.references.arrays import MIN_POINTS

_PATTERN_WORDS = re.compile(r"2[\s_-]*(theta|θ)|two[\s_-]*theta|diffraction|\bxrd\b|x-ray", re.I)
_SPECTRUM_WORDS = re.compile(r"raman|wave\s*number|cm\s*(\^?-1|⁻¹)|1/cm|shift", re.I)
_COMMENT = "#!%'/"
#: Numbers with decimal commas, apart by blanks: ``520,5 100,2``.
_DECIMAL_COMMAS = re.compile(r"[+-]?\d+(,\d+)?([eE][+-]?\d+)?( +[+-]?\d+(,\d+)?([eE][+-]?\d+)?)+")
#: How a file of B&W Tek's software starts.
BWTEK_START = "File Version;BW"


@dataclass(frozen=True)
class Curve:
    """Two columns and what the file says of them.

    Attributes
    ----------
    x, y : ndarray of float64, shape (n,)
        Not validated: NaN stays NaN.
    kind : str
        ``"pattern"``, ``"spectrum"``, or ``""`` when the file doesn't say.
    title : str
    wavelength : float or None
        Of a pattern in Å, of a spectrum's laser in nm.
    second_wavelength : float or None
        Å.
    """

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    kind: str = ""
    title: str = ""
    wavelength: float | None = None
    second_wavelength: float | None = None


def read_curve(path: Path) -> Curve:
    """Two columns from XY, XYE, TXT, CSV, an RRUFF, B&W Tek or opXRD (JSON) file.

    Lines before the first pair of numbers are a header; columns may be apart by blanks, tabs,
    commas or semicolons, and decimals may be commas where columns are not apart by commas. Columns
    beyond the second are not read.

    Raises
    ------
    MatPCRError
        If the file is empty, holds no two columns of numbers, or a later line is not numbers; if
        commas can be decimal marks as well as separators; if the first of several columns only
        counts the rows.
    """
    text = _text(path)
    if path.suffix.lower() == ".json":
        return _opxrd(path, text)
    if not text.startswith(BWTEK_START):
        return _columns(path, text)
    try:
        return bwtek(text)
    except (IndexError, StopIteration, ValueError) as error:
        raise MatPCRError(
            f"{path.name}: not a whole B&W Tek file ({type(error).__name__}: {error}): it needs "
            "the columns Raman Shift and Dark Subtracted #1; export it again"
        ) from None


def _text(path: Path) -> str:
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise MatPCRError(
            f"can't read {path}: {error.strerror}; name a file that you may read"
        ) from error
    if not raw.strip():
        raise MatPCRError(f"{path.name}: the file is empty: copy it again from the instrument")
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return raw.decode("utf-16", errors="replace")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _columns(path: Path, text: str) -> Curve:
    header: list[str] = []
    rows: list[tuple[float, float]] = []
    lines: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if line.upper().startswith("##END"):
            break
        if not line or line[0] in _COMMENT:
            header += [line] if not rows else []
            continue
        pair = _pair(line)
        if pair is not None:
            rows.append(pair)
            lines.append(line)
        elif rows:
            raise MatPCRError(
                f"{path.name}: line {number} ({line[:30]!r}) is no pair of numbers: remove it, "
                "or start it with #"
            )
        else:
            header.append(line)
    if not rows:
        raise MatPCRError(
            f"{path.name}: no two columns of numbers: export the scan as axis and intensity"
        )
    values = np.array(rows)
    _refuse_commas_of_both_kinds(path, lines)
    _refuse_row_numbers(path, values[:, 0], lines)
    return _described(values[:, 0], values[:, 1], header)


def _refuse_commas_of_both_kinds(path: Path, lines: list[str]) -> None:
    """``520,5,100,2``: 520 and 5, or 520.5 and 100.2?"""
    first = lines[0]
    apart = first.count(",") > 1 and not re.search(r"[;\t]", first)
    apart = apart and not _DECIMAL_COMMAS.fullmatch(first)
    if apart and not any(re.search(r"[.eE]", line) for line in lines):
        raise MatPCRError(
            f"{path.name}: {first[:30]!r} has commas that can be decimal marks or separators: "
            "write decimals with points, or put semicolons between the columns"
        )


def _refuse_row_numbers(path: Path, x: NDArray[np.float64], lines: list[str]) -> None:
    """``0 100.5 812``: a column of row numbers, as data frames write one, is no axis."""
    columns = len(re.split(r"[\s;,]+", lines[0]))
    counts = x[0] in (0, 1) and len(x) > MIN_POINTS and (np.diff(x) == 1).all()
    if columns > 2 and counts:
        raise MatPCRError(
            f"{path.name}: the first of {columns} columns counts the rows from {x[0]:g}: leave it "
            "out, so that the axis comes first"
        )


def _pair(line: str) -> tuple[float, float] | None:
    if ";" in line or "\t" in line:
        separator, line = (";" if ";" in line else None), line.replace(",", ".")
    else:
        separator = "," if "," in line else None
        if _DECIMAL_COMMAS.fullmatch(line):
            separator, line = None, line.replace(",", ".")
    # An empty cell stays: dropping it would shift the columns.
    cells = line.split(separator)
    try:
        return float(cells[0]), float(cells[1])
    except (IndexError, ValueError):
        return None


def bwtek(text: str) -> Curve:
    """Raman shift and dark-subtracted counts of a B&W Tek file (``;`` apart, decimal commas)."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("Pixel;"))
    names = lines[start].split(";")
    x, y = names.index("Raman Shift"), names.index("Dark Subtracted #1")
    cells = [line.split(";") for line in lines[start + 1 :]]
    # Pixels outside the calibrated range have no shift.
    pairs = [(row[x], row[y]) for row in cells if len(row) > y and row[x].strip()]
    values = np.array([[float(cell.replace(",", ".")) for cell in pair] for pair in pairs])
    laser = re.search(r"^laser_wavelength;([\d.,]+)", text, re.M)
    wavelength = float(laser[1].replace(",", ".")) if laser else None
    return Curve(values[:, 0], values[:, 1], "spectrum", wavelength=wavelength)


def _described(x: NDArray[np.float64], y: NDArray[np.float64], header: list[str]) -> Curve:
    # RRUFF writes its header as lines of ##KEY=value.
    facts = dict(line[2:].split("=", 1) for line in header if line[:2] == "##" and "=" in line)
    facts = {key.strip().upper(): value.strip() for key, value in facts.items()}
    words = facts.get("FILETYPE", "") if facts else " ".join(header)
    kind = "spectrum" if _SPECTRUM_WORDS.search(words) else ""
    if _PATTERN_WORDS.search(words):
        kind = "" if kind else "pattern"
    wavelength = _leading_number(facts.get("RAMAN WAVELENGTH") or facts.get("LASER_WAVELENGTH"))
    if wavelength is None:
        wavelength = _leading_number(facts.get("X-RAY WAVELENGTH"))
        kind = kind or ("pattern" if wavelength is not None else "")
    else:
        kind = "spectrum"
    return Curve(x, y, kind, facts.get("NAMES", ""), wavelength)


def _leading_number(text: str | None) -> float | None:
    found = re.match(r"\s*\d+(\.\d+)?", text or "")
    return float(found[0]) if found else None


def _opxrd(path: Path, text: str) -> Curve:
    """opXRD's JSON: two lists, and a label that is JSON within a string, as is its X-ray part."""
    try:
        data = json.loads(text)
        x, y = (np.asarray(data[key], np.float64) for key in ("two_theta_values", "intensities"))
        xray = _inner(_inner(data.get("label")).get("xray_info"))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise MatPCRError(
            f"{path.name}: not an opXRD file ({type(error).__name__}: {error}): it needs the lists "
            "two_theta_values and intensities"
        ) from None
    wavelengths = [
        _leading_number(str(xray.get(f"{n}_wavelength"))) for n in ("primary", "secondary")
    ]
    # Its writer states the two in either order; Kα1 is the shorter.
    known = sorted(value for value in wavelengths if value is not None)
    return Curve(
        x,
        y,
        kind="pattern",
        wavelength=known[0] if known else None,
        second_wavelength=known[1] if len(known) > 1 else None,
    )


def _inner(value: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(value) if isinstance(value, str) else (value or {})
    return found
