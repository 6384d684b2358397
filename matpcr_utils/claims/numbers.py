"""Numbers with their units, as a chain writes them.

Reads thousands separators, powers of ten, uncertainties (the centre counts), ranges (the midpoint
counts) and lists whose unit stands once, and leaves out operands of a calculation and Miller
indices. What a number is *about* is decided elsewhere.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from itertools import pairwise, zip_longest

from matpcr_utils.errors import MatPCRError
from matpcr_utils.quantities import UNIT_PATTERN, factor, read_unit


@dataclass(slots=True)
class Number:
    """A number in the plain text of a chain.

    Attributes
    ----------
    start, end : int
        Of the number with its unit.
    value : float
        In `unit`; the midpoint of a range.
    kind, unit, basis : str or None
        As `matpcr_utils.quantities.read_unit` gives them; None without a unit.
    word : bool
        Written as the word "zero".
    width : float
        Of the range whose midpoint `value` is; 0 for a single number.
    decimal : bool
        Written with a decimal point.
    dropped : bool
        Not a statement of a value: an uncertainty, an operand, an item number.
    listed : bool
        Continues the list that the number before began.
    """

    start: int
    end: int
    value: float
    kind: str | None = None
    unit: str | None = None
    basis: str | None = None
    word: bool = False
    width: float = 0.0
    decimal: bool = False
    dropped: bool = False
    listed: bool = False


# Between a number and its unit: a space, a hyphen, a closing or a short bracket, or JSON.
_GLUE = (
    r"\s{0,3}\|\s{0,3}(?=(?:m?eV|[nµup]m|Å|°|deg|cm|1/|µ|mu_?B|[Bb]ohr)[^|\n]{0,16}\|)|"
    r"[\s~-]{0,2}|\s\[|\s[(\[](?:in\s)?(?=(?:cm|°|deg|Å|nm|[µu]m|m?eV|µ)[^()\[\]\s]{0,10}[)\]])|\)[\s-]{0,2}|\s?\([^()\d]{1,15}\)\s?"
    r"|\"?\s{0,4},\s{0,4}[\"'][a-z_]{0,20}units?[\"']\s{0,2}:\s{0,2}[\"']"
)
_NUMBER = re.compile(
    rf"""
    (?P<hkl>(?:[({{<⟨]|(?<!:)(?<!:\s)\[)\s?[-–]?\d
       (?:[-–]?\d[-–]?\d(?:[-–]?\d)?|(?:,?\s[-–]?\d){{2,3}}|(?:,[-–]?\d){{2,3}})
       \s?[)\]}}>⟩](?!\s?(?:°|nm\b|cm\b)))
    |(?<![\w.^°])(?<![A-Za-z][-–])(?P<sign>(?<![\w°)\]%.])[-+–])?
     (?P<digits>10\^[-+–]?\d{{1,3}}(?!\d)
        |[1-9]\d{{0,2}}(?:[,\u2009']\d{{3}})+(?:\.\d+)?(?![\d,']\d|\d)
        |[1-9]\d{{0,2}}(?:\s\d{{3}})+(?=(?:\.\d+)?\s?(?:[nµup]?m|Å|cm[\^-]*1|px)(?![A-Za-z]))(?:\.\d+)?
        |\d+,\d+(?![\d.]|,\d)
        |\d+(?:\.\d+)?|\.\d+)
     (?P<times>\s{{0,2}}[×x*·]\s{{0,2}}10(?:\^\s?\(?[-+–]?|[-–+])\d{{1,3}}\)?(?!\d)
        |[eE][-+–]?\d{{1,3}}(?![\w.]))?
     (?P<error>\(\d{{1,3}}\)|\s\(\d{{1,2}}\)(?=\s?(?:°|Å|nm|cm|eV)))?
     (?:(?:{_GLUE})(?P<unit>{UNIT_PATTERN}))?
    |(?<![\w-])(?P<zero>[Zz]ero|ZERO)(?![\w-])
     (?:\s(?P<zero_unit>eV|meV|µ_?B|[Bb]ohr\smagnetons?)(?!\w))?
    """,
    re.VERBOSE,
)
_EXPONENT = re.compile(r"([-+–]?)(\d{1,3})\)?$")
_TWO_THETA = re.compile(r"\s?[-_*·×]?\s?(?:θ|[Tt]het|[Tt]h\b)")
_RANGE = re.compile(r"\s{0,2}(?:-{1,2}|–|—|to|~|through|\.{2,3}|…)\s{0,2}(?:about\s|~\s?)?")
_AND = re.compile(r"\s{1,2}and\s{1,2}(?:about\s|~\s?)?")
_BETWEEN = re.compile(r"between\s{1,2}(?:about\s|roughly\s|~\s?|≈\s?)?$")
_LIST = re.compile(
    r"\s{0,2}(?:\([^()]{0,25}\)|\[[^\[\]]{0,25}\])?\s{0,2}"
    r"(?:[,;&/]|,?\s?(?:and|or|as well as|nor|plus)|,\s?&)"
    r"\s{0,2}(?:(?:also\s)?(?:at|near|around|about|approximately|~|≈)\s{0,2}){0,2}"
    r"(?:\([^()]{0,25}\)\s{0,2}(?:at\s)?)?[*\"']{0,2}"
)
_OPERATOR = re.compile(
    r"\s{0,2}(?:[*×·÷/+]|\bx\b|\bby\b)\s{0,2}\(?\s{0,2}(?:\d?\s?(?:sin|cos|tan)\s?\(?)?"
)
_DIFFERENCE = re.compile(r"\s{1,2}[-–]\s{0,2}\(?|\s?[-–]\s?\(")
_EQUALS = re.compile(r"\s{0,2}\)?\s{0,2}(?:=|≈)")
_OPERAND = re.compile(
    r"\s{0,2}(?:[*×·÷]\s{0,2}[\d(A-Za-zλθ]|/\s{0,2}[\d(λ√]|/\s?sqrt|\s?\(\s?1\s?/|(?:/\s{0,2}"
    r"|\s?)(?:arc)?(?:sin|cos|tan)\b|\s?[π√]|\s?sqrt)"
)
_AFTER_OPERATOR = re.compile(r"[\w)λθ]\s{0,2}[*×·÷/]\s{0,2}\(?$")
_BEFORE = re.compile(
    (
        r"(?:±|\+/-|\+-|\bby|\bevery|\bin steps of)\s{0,2}(?:a further\s|about\s"
        r"|roughly\s|~\s?)?$"
    ),
    re.IGNORECASE,
)
_BY_WAY = re.compile(
    r"(?:given|estimated|described|represented|dominated|marked|characteri[sz]ed|followed|hull|planes?\s(?:are\s)?(?:separat|spac)ed)\sby\s{0,2}\S{0,8}\s?$"
)
# What the text before a number ends in when `_BEFORE` or `_AFTER_OPERATOR` may hold.
_SHIFTS = ("±", "+/-", "+-", "by", "By", "every", "of", "further", "about", "roughly")
_OPERATORS = ("*", "×", "·", "÷", "/")
_ITEM = re.compile(
    r"(?:peaks?|lines?|reflections?|bands?|fig(?:ure|s)?\.?|tables?|eqs?\.?|equation"
    r"|step|section|refs?\.?"
    r"|sample|item|mode|particle|grain|image|panel|no\.|#|group|card|[Pp]df|icsd"
    r"|mp-?)\s?$",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?:\bin|since|from|by|et al\.,?|of)\s{0,2}\(?$", re.IGNORECASE)
_PM = re.compile(r"\s{0,2}(?:±|\+/-|\+-)\s{0,2}")
_PER_PIXELS = re.compile(r"\s(?:per|over|across|in|for)\s")
_STOP = re.compile(r"[\s.,;:)\]}\"'|!?]|$")
#: Units of peak positions, which a slash lists and seldom divides.
_PLACES = ("degree", "1/centimeter")
#: How far apart two numbers may stand and still be one range, list or calculation.
_REACH = 60


def numbers(text: str) -> list[Number]:
    """Every number of a plain text, in order; the dropped ones are marked, not left out.

    Parameters
    ----------
    text : str
        In the spelling of `matpcr_utils.claims.normal.Normal`.
    """
    found: list[Number] = []
    for match in _NUMBER.finditer(text):
        if match["zero"]:
            unit = match["zero_unit"] and read_unit(match["zero_unit"])
            kind, name, basis = unit or (None, None, None)
            found.append(Number(*match.span(), 0.0, kind, name, basis, word=True))
        elif match["digits"]:
            found.extend(_read(match, text))
    if len(found) > 1:
        _relate(found, text)
    _drop_noise(found, text)
    return [number for number in found if math.isfinite(number.value)]


def _read(match: re.Match[str], text: str) -> list[Number]:
    digits, unit = match["digits"], match["unit"]
    start, end = match.span()
    if unit is None:
        end = match.end("error") if match["error"] else match.end("times")
        end = end if end > 0 else match.end("digits")
        following = text[end : end + 1]
        if following.isalpha() or following == "_":
            return []
        if digits == "2" and _TWO_THETA.match(text, end):
            return []
    read = read_unit(unit) if unit else None
    kind, name, basis = read or (None, None, None)
    if "," in digits and not _grouped(digits):
        if unit is None:  # "28,47" without a unit is a list, not a decimal comma
            left, right = digits.split(",")
            at = match.start("digits")
            middle = at + len(left)
            return [
                Number(start, middle, float(left)),
                Number(middle + 1, middle + 1 + len(right), float(right)),
            ]
        digits = digits.replace(",", ".")
    value = _value(digits, match["times"])
    if match["sign"] in ("-", "–"):
        value = -value
    return [Number(start, end, value, kind, name, basis, decimal="." in digits)]


def _grouped(digits: str) -> bool:
    head, *rest = digits.split(",")
    return head[0] != "0" and len(head) <= 3 and all(len(part.split(".")[0]) == 3 for part in rest)


def _value(digits: str, times: str | None) -> float:
    if digits.startswith("10^"):
        return float("1e" + digits[3:].replace("–", "-"))
    plain = re.sub(r"[,'\s]", "", digits)
    if times is None:
        return float(plain)
    sign, power = _EXPONENT.search(times).groups()  # type: ignore[union-attr]
    return float(f"{plain}e{sign.replace('–', '-')}{power}")


def _relate(found: list[Number], text: str) -> None:
    """Merge ranges and uncertainties, share units along lists, drop operands. In place."""
    kept = [found[0]]
    for number in found[1:]:
        last = kept[-1]
        gap = text[last.end : number.start] if number.start - last.end <= _REACH else None
        if gap is None or last.word or number.word:
            kept.append(number)
            continue
        if _PM.fullmatch(gap):
            _share_unit(last, number)
            last.end = number.end
        elif _is_range(last, number, gap, text):
            _merge(last, number)
        elif _is_definition(last, number, gap, text):
            last.dropped = number.dropped = True
            kept.append(number)
        elif last.kind == "length" and number.kind == "pixel" and _PER_PIXELS.fullmatch(gap):
            last.dropped = True
            kept.append(number)
        elif _OPERATOR.fullmatch(gap):
            _operate(last, number, gap, text)
            kept.append(number)
        else:
            if _DIFFERENCE.fullmatch(gap) and _EQUALS.match(text, number.end):
                last.dropped = number.dropped = True
            number.listed = bool(_LIST.fullmatch(gap))
            kept.append(number)
    for left, right in zip(reversed(kept[:-1]), reversed(kept[1:]), strict=True):
        if right.listed and left.kind is None and right.kind not in (None, "other", "pixel"):
            left.kind, left.unit, left.basis = right.kind, right.unit, right.basis
    for left, right in pairwise(kept):
        if (
            right.listed
            and right.kind is None
            and left.kind in ("angle", "inverse_length")
            and (right.decimal or not left.decimal)
            and _STOP.match(text, right.end)
        ):
            right.kind, right.unit = left.kind, left.unit
    found[:] = kept


def _is_definition(last: Number, number: Number, gap: str, text: str) -> bool:
    """Whether two numbers only relate two units: "1 µm = 1000 nm"."""
    if last.value != 1 or last.kind is None or last.kind != number.kind or last.unit == number.unit:
        return False
    before = text[max(0, last.start - 12) : last.start].rstrip()
    opens = not before or before.endswith((".", ",", ";", "(", "as", "since", "because", "that"))
    return opens and gap.strip() in ("=", "equals", "is")


def _is_range(last: Number, number: Number, gap: str, text: str) -> bool:
    between = _AND.fullmatch(gap) and _BETWEEN.search(
        text[max(0, last.start - 24) : last.start].lower()
    )
    if not between and not _RANGE.fullmatch(gap):
        return False
    if _BEFORE.search(text[max(0, last.start - 24) : last.start]):
        return False  # "shifts by 0.1° to 28.5°"
    if number.kind is None and last.kind is None:
        return bool(between)
    if last.kind is not None and number.kind is not None and last.kind != number.kind:
        return False
    if last.kind is None and _ITEM.search(text[max(0, last.start - 16) : last.start]):
        return False  # "Peak 1 – 28.44°"
    return not (gap.strip() in ("-", "–") and _EQUALS.match(text, number.end))


def _share_unit(a: Number, b: Number) -> None:
    if a.kind is None:
        a.kind, a.unit, a.basis = b.kind, b.unit, b.basis


def _merge(low: Number, high: Number) -> None:
    _share_unit(low, high)
    _share_unit(high, low)
    top = high.value
    if low.unit != high.unit and low.unit and high.unit:
        try:
            top *= factor(high.unit, low.unit)
        except MatPCRError:
            low.dropped = True
            return
    low.width = abs(top - low.value)
    low.value = round((low.value + top) / 2, 12) if abs(top) < 1e6 else (low.value + top) / 2
    low.end = high.end
    low.basis = low.basis or high.basis
    low.decimal |= high.decimal


def _operate(last: Number, number: Number, gap: str, text: str) -> None:
    both = last.kind == number.kind == "length"
    if both and gap.strip() in ("×", "x", "by") and not _EQUALS.match(text, number.end):
        number.listed = True  # "200 nm × 300 nm" are two lengths
    elif gap.strip() == "/" and last.kind is None and number.unit in _PLACES:
        number.listed = True  # "28.4/47.3°"
    elif gap.strip() == "/" and last.unit == number.unit == "degree":
        number.listed = not _EQUALS.match(text, number.end)
    else:
        last.dropped = number.dropped = True


def _drop_noise(found: list[Number], text: str) -> None:
    for number, following in zip_longest(found, found[1:]):
        before = text[max(0, number.start - 24) : number.start]
        listed = following is not None and following.listed
        bare = before.rstrip("\u2009 (~")
        if (
            (
                bare.endswith(_SHIFTS)
                and not number.listed
                and _BEFORE.search(before)
                and not _BY_WAY.search(before)
            )
            or (_OPERAND.match(text, number.end) and not listed)
            or (bare.endswith(_OPERATORS) and not number.listed and _AFTER_OPERATOR.search(before))
        ):
            number.dropped = True
        elif number.decimal or number.value < 0 or number.width:
            continue
        elif (number.value <= 20 and number.kind is None and _ITEM.search(before)) or (
            1900 <= number.value <= 2100
            and (number.kind is None or text[number.end - 1].isdigit())
            and _YEAR.search(before)
        ):
            number.dropped = True
