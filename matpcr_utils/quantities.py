"""Units: one `pint` registry for the process, and the written forms of the units that chains use.

The registry is built on first use (it takes a few tenths of a second). Conversion factors come
from it once each and are then remembered, so that reading a chain never asks pint twice.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any

from matpcr_utils.errors import MatPCRError

#: pint's spelling of the canonical unit of every number quantity; an energy above the hull is
#: converted per whatever it counts (atom, formula unit, cell), so only the energy is named here.
PINT_UNITS: dict[str, str] = {
    "two_theta": "degree",
    "d_spacing": "angstrom",
    "scattering_vector": "1/angstrom",
    "feature_size": "nanometer",
    "scale": "nanometer/pixel",
    "raman_shift": "1/centimeter",
    "energy_above_hull": "electron_volt",
    "band_gap": "electron_volt",
    "magnetization": "bohr_magneton",
}

#: (kind, pint name, how a chain writes it). Kinds: angle, length, energy, moment, pixel, and
#: ``other`` for units that no claim is stated in; reading those keeps "300 K" from being a gap.
#: Symbols are case-sensitive, words are not. Earlier rows win.
UNITS: tuple[tuple[str, str, str], ...] = (
    ("angle", "degree", r"°(?!\s?[CFK](?!\w))|(?i:degrees?|degs?)(?!\w|\s?(?:C|F|Celsius)(?!\w))"),
    ("angle", "milliradian", r"mrad(?!\w)"),
    ("angle", "radian", r"(?i:radians?|rad)(?!\w)"),
    ("length", "angstrom", r"Å|(?i:[åa]ngstr[öo]ms?|ang)(?!\w)|A(?![\w'’])"),
    ("length", "nanometer", r"nm|(?i:nanomet(?:er|re)s?)"),
    ("length", "picometer", r"pm|(?i:picomet(?:er|re)s?)"),
    ("length", "micrometer", r"[µu]m|mum(?!\w)|(?i:microns?|micromet(?:er|re)s?)|µ(?![\w_])"),
    ("length", "millimeter", r"mm|(?i:millimet(?:er|re)s?)"),
    ("length", "centimeter", r"(?i:cm|centimet(?:er|re)s?)"),
    ("length", "meter", r"(?i:met(?:er|re)s?)|m(?![\w/])"),
    ("wavenumber", "1/centimeter", r"(?i:wave[\s-]?numbers?)"),
    ("energy", "millielectron_volt", r"m[eE][vV]|(?i:milli[\s-]?electron[\s-]?volts?)"),
    ("energy", "kiloelectron_volt", r"k[eE][vV]"),
    ("energy", "microelectron_volt", r"[µu]eV"),
    ("energy", "electron_volt", r"[eE][vV]|(?i:electron[\s-]?volts?)"),
    ("energy", "rydberg", r"Ry(?!\w)"),
    ("energy", "hartree", r"(?:Ha|hartrees?|Hartrees?)(?!\w)"),
    ("energy", "kilojoule/avogadro_constant/mole", r"kJ\s?(?:/\s?mol|mol\^-1)(?!\w)"),
    ("energy", "kilocalorie/avogadro_constant/mole", r"kcal\s?(?:/\s?mol|mol\^-1)(?!\w)"),
    (
        "moment",
        "bohr_magneton",
        r"(?:µ|[mM][uU]|u)\s?_?\s?(?:[Bβ]|b(?!\w))|(?i:bohr[\s_-]?magnetons?)|B\.?M\.?(?!\w)",
    ),
    ("pixel", "pixel", r"(?i:pixels?|px|pix)(?![a-z])"),
    (
        "other",
        "",
        r"°\s?[CFK]|(?i:degrees?|deg)\s?(?:C|F|Celsius)|[kMm]?V|K|[kMGT]?Pa|[kMGT]?Hz|[mkµ]?W|m?T|Oe"
        r"|emu(?:/\w+)?|at\.?\s?%|wt\.?\s?%|%|‰|[mµn]?s|min|h|[kmµ]?g|kA|mA|counts?|cps|a\.?u\.?"
        r"|fps|[x×](?!\s?\(?\d)|[\s-]?fold|times",
    ),
)
#: What a unit can be stated per.
PER: dict[str, str] = {
    "pixel": r"(?i:pixels?|px|pix)",
    "formula_unit": r"f\.?\s?u\.?|(?i:formula(?:[\s_-]?units?)?)|fu",
    "cell": (
        r"(?i:(?:(?:primitive|unit|conventional|calculation|simulation|computational|magnetic"
        r"|crystallographic|crystal|periodic)[\s_-]?)*(?:super)?cell)|u\.\s?c\.|uc"
    ),
    "atom": r"(?i:(?:[a-z]{1,2}[\s-]|metal[\s-]|magnetic[\s-])?atoms?)|at\.?",
}
_ANY_UNIT = "|".join(pattern for _, _, pattern in UNITS)
_ANY_PER = "|".join(PER.values())
_ELEMENT = r"[A-Z][a-z]?"
#: A unit as written: ``1/Å``, ``inverse angstrom``, ``cm^-1``, ``nm^2``, ``eV/atom``, ``nm px^-1``.
UNIT_PATTERN = (
    rf"(?P<inverse>1\s?/\s?|/\s?|per\s|(?i:inverse|reciprocal|inv\.?)[\s-])?(?P<base>{_ANY_UNIT})"
    r"(?![A-Za-zÅµ])"
    r"(?P<power>(?:\s?\^?\s?[-–]\s?1|\s?\^\s?\(\s?[-–]\s?1\s?\))(?!\d|\.\d|\s?[µunpm]m)|(?:\s?\^\s?[-–]?|[-–])?[23](?!\d|\.\d|[\wθ]|\s?θ))?"
    rf"(?:(?:\s?/\s?\(?|\s(?:per|for\s(?:each|every|one|a)|in\s(?:the|each|every|one|a))\s)"
    rf"(?:(?:an?|one|the|each)\s)?(?:(?P<per>{_ANY_PER})(?!\w)|(?P<element>{_ELEMENT})(?!\w))\)?"
    r"|[\s·](?P<each>atom|at|f\.?u\.?|cell|pixel|px|u\.c\.)\s?\^?\s?[-–]1"
    r"|\s?/\s?(?P<length>Å|nm|pm|[µu]m|mm|(?i:angstroms?|nanomet(?:er|re)s?|microns?))(?!\w)"
    r"|\sper\s(?P<length2>Å|nm|pm|[µu]m|mm|(?i:angstroms?|nanomet(?:er|re)s?|microns?))(?!\w))?"
)


@cache
def registry() -> Any:
    """The process's one `pint.UnitRegistry`, with ``atom``, ``formula_unit`` and ``cell`` added."""
    import pint

    units: Any = pint.UnitRegistry()
    for name in ("atom", "formula_unit", "cell"):
        units.define(f"{name} = [{name}]")
    return units


@cache
def factor(unit: str, target: str) -> float:
    """What a number in `unit` is multiplied by to be in `target` (pint spellings).

    Raises
    ------
    MatPCRError
        If pint does not know one of them or their dimensions differ.
    """
    import pint

    try:
        return _snap(float(registry().Quantity(1.0, unit).to(target).magnitude))
    except (pint.PintError, AttributeError, AssertionError, TypeError) as problem:
        raise MatPCRError(f"cannot convert {unit!r} to {target!r}: {problem}") from None


def canonical(quantity: str, value: float, unit: str) -> float:
    """A number in the canonical unit of its quantity.

    Parameters
    ----------
    quantity : str
        A key of `PINT_UNITS`.
    value : float
    unit : str
        As pint spells it, e.g. ``"nanometer"``.

    Raises
    ------
    MatPCRError
        If there is no such number quantity, or the unit does not measure it.
    """
    if quantity not in PINT_UNITS:
        raise MatPCRError(f"{quantity!r} is no number: choose one of {', '.join(PINT_UNITS)}")
    scale = factor(unit, PINT_UNITS[quantity])
    # Dividing by 10 gives the nearest float where multiplying by 0.1 does not.
    return value / round(1 / scale) if scale < 1 and _is_whole(1 / scale) else value * scale


def _is_whole(number: float) -> bool:
    return abs(number - round(number)) < 1e-12 * number


def _snap(scale: float) -> float:
    """Powers of ten without the rounding of the way pint got there."""
    if scale >= 1 and _is_whole(scale):
        return float(round(scale))
    return 1 / round(1 / scale) if 0 < scale < 1 and _is_whole(1 / scale) else scale


_UNIT = re.compile(UNIT_PATTERN)
_TABLE = [(kind, name, re.compile(pattern)) for kind, name, pattern in UNITS]
_PER_TABLE = [(name, re.compile(pattern)) for name, pattern in PER.items()]


@lru_cache(maxsize=4096)
def read_unit(written: str) -> tuple[str, str, str | None] | None:
    """Kind, pint name and basis of a unit as a chain writes it; None if it is no unit.

    Kinds are those of `UNITS` and ``inverse_length``, ``scale`` (length per pixel),
    ``inverse_scale`` (pixels per length) and ``area`` (any higher power).

    Examples
    --------
    >>> read_unit("meV/atom")
    ('energy', 'millielectron_volt', 'atom')
    >>> read_unit("cm^-1")
    ('inverse_length', '1/centimeter', None)
    """
    match = _UNIT.fullmatch(written)
    if match is None:
        return None
    base = match["base"]
    kind, name = next((k, n) for k, n, pattern in _TABLE if pattern.fullmatch(base))
    power = (match["power"] or "").replace(" ", "").lstrip("^")
    per = match["per"] or match["each"]
    basis = next((b for b, pattern in _PER_TABLE if per and pattern.fullmatch(per)), None)
    if match["element"]:
        basis = "atom"
    below = match["length"] or match["length2"]
    if kind == "wavenumber":
        return "inverse_length", name, None
    if power in ("2", "3") or power[1:] in ("2", "3"):
        return "area", name, None
    if match["inverse"] or power:
        return ("inverse_length", f"1/{name}", None) if kind == "length" else ("other", "", None)
    if kind == "length" and basis == "pixel":
        return "scale", f"{name}/pixel", None
    if kind == "pixel" and below:
        length = next(n for k, n, pattern in _TABLE if pattern.fullmatch(below))
        return "inverse_scale", f"{length}/pixel", None
    return kind, name, basis
