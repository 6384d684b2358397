"""What stands right before and after a number, and what it makes of the number."""

from __future__ import annotations

import re

from matpcr_utils.quantities import read_unit

#: The longest stretch of text before a number that is looked at.
REACH = 120

# Words that may stand between a cue and a number without a unit that it introduces.
_INTRODUCES = re.compile(
    r"[\s\"'*\])\u2009]{0,4}(?:[(\[][^()\[\]\d]{0,24}[)\]][\"'*]{0,2})?"
    r"(?:\s{0,3}(?:[\"'\[({*|:=≈~→]|is|are|of|was|at|as|be|to|about|around|approximately|approx\.?"
    r"|roughly|nearly|exactly|essentially|equals?|values?|near|estimated|likely|probably|would|should"
    r"|therefore|thus|simply|predicted|calculated|measured|computed|found|located|sits?|lies?|appears?"
    r"|occurs?|observed|cent(?:red|ered)|positions?)){0,9}\s{0,3}"
)
_AT = re.compile(r"(?:\bat|near|around|[=:≈→|\[])[\s\"'\[(|~*]{0,6}$")
_ASSIGNED = re.compile(r"[\s\"'_*)\]]{0,4}(?:=|≈|:|~|\||\bis|\bof|\bat|\bwas|\breads)[\s\"'~≈*(\[]{0,6}(?:about\s|approximately\s|roughly\s|around\s)?")
_ADJACENT = re.compile(
    r"[\s\"')\]*-]{0,3}(?:(?:in|of|on|for|as|a|an|its|mean|average|direct|indirect|optical)\s){0,3}\(?"
)
_INTRODUCES_OTHER = re.compile(r"[\s\"'_]{0,3}(?:=|:|≈|~|is\b|of\b|was\b|at\b|\(?\d|are\b|reads|equals)")
_BOUND = re.compile(
    r"(?:[<>≤≥≲≳]=?|(?<![a-z])(?:below|under|above|over|beyond|exceed(?:s|ing)?|at\s(?:least|most)|no\s(?:more|less)\sthan"
    r"|(?:less|more|fewer|greater|larger|smaller|lower|higher|wider|longer|shorter|bigger)\sthan|within|up\sto))"
    r"\s{0,2}(?:about\s|roughly\s|~\s?|≈\s?|±\s?|or\sequal\sto\s|(?:the|a|an|our|its)\s){0,2}$"
)
_UP_TO = re.compile(r"up\sto\s{0,2}(?:about\s|roughly\s|~\s?|≈\s?)?$")
_DENIED = re.compile(
    r"[\s,)*\"']{0,3}(?:(?:peak|line|gap|band|reflection|value|estimate|reading)\s)?"
    r"(?:is|was|are|were|would\sbe|seems|looks|cannot\sbe|can't\sbe)\s(?:clearly\s|definitely\s|simply\s|far\s)?"
    r"(?:wrong|incorrect|absent|missing|impossible|unlikely|unphysical|right|correct|not\s(?:present|observed"
    r"|visible|seen|there|right|correct|possible|found|detected|the\scase|it)|too\s(?:large|small|high|low|big))"
)
_GRANTED = re.compile(r".{0,40}?(?<!not )(?<!cannot be )(?<!can't be )(?:right|correct)", re.DOTALL)
_RESETS = re.compile(
    r"(?<![a-z])(?:so|thus|therefore|hence|giving|gives|yields|implies|corresponds\sto|which\smeans|and\sthe"
    r"|but)(?![a-z])|[→⇒;]|,\s(?:the|we|i|it|this|so|its|my)\s"
)
_RESTATES = re.compile(r"\s{0,2}(?:[=≈]|\(?=|\(|or|\(?i\.e\.,?)\s{0,2}(?:about\s|~\s?|≈\s?)?")
_HINT = re.compile(
    r"(?:^|[\s_(\[,/\"])(°|[dD]eg(?:ree)?s?|[nµupm]m|Å|A|[aA]ngstroms?|m?[eE][vV]|µ_?B|[mM][uU]_?[bB]|uB"
    r"|[bB]ohr[\s_][mM]agnetons?|cm\s?\^?[-_]?1|1/cm|[ÅA]\s?\^?[-_]?1|1/[ÅA]|inv(?:erse)?[_\s][aA]ngstroms?"
    r"|nm\s?\^?-1|px|pixels?)(?:(?:/|_?per_|\sper\s|_)(atom|f\.?u\.?|formula[_\s]unit|(?:unit[_\s])?cell"
    r"|px|pixel))?(?=[\s)\]\"'_:=|,]|$)"
)
_WRITTEN = {"inv": "1/Å", "A": "Å", "1/A": "1/Å"}
_PER = re.compile(
    r"(?:(?<![a-z])per[\s_-](?:the\s|one\s|each\s)?|/\s?)"
    r"(f\.\s?u\.|(?:(?:primitive|unit|conventional|calculation|simulation|formula|[a-z]{1,2})[\s_-])?[a-z]{2,7})"
)
_BEFORE_UNIT = re.compile(r"\"units?\"\s?:\s?\"([^\"]{1,24})\"\s?,\s?\"[a-z_]{1,20}\"\s?:\s?\"?$")


def introduces(gap: str, strict: bool) -> bool:
    """Whether `gap` leads from a cue to the number without a unit that it states.

    A `strict` cue ("peak") must be followed by "at", "=" or the like.
    """
    if len(gap) > 80 or not _INTRODUCES.fullmatch(gap):
        return False
    return not strict or bool(_AT.search(gap))


def assigns(gap: str) -> bool:
    """Whether `gap` is no more than an equals sign or the word for it."""
    return len(gap) <= 30 and bool(_ASSIGNED.fullmatch(gap))


def adjacent(gap: str, low: str, cue_end: int) -> bool:
    """Whether a cue after a number, `gap` away, is about that number and not about a next one."""
    return len(gap) <= 24 and bool(_ADJACENT.fullmatch(gap)) and not _INTRODUCES_OTHER.match(low, cue_end)


def spent(gap: str) -> bool:
    """Whether a cue without a quantity no longer reaches the number at the end of `gap`."""
    return len(gap) > 60 or bool(_RESETS.search(gap))


def restates(gap: str) -> bool:
    """Whether two numbers are the same value twice: "500 nm (0.5 µm)"."""
    return len(gap) <= 12 and bool(_RESTATES.fullmatch(gap))


def is_bound(before: str, upper_counts: bool) -> bool:
    """Whether a number is only a limit ("below 0.05 eV"); "up to" may count as the value."""
    return bool(_BOUND.search(before)) and not (upper_counts and _UP_TO.search(before))


def is_denied(low: str, end: int) -> bool:
    """Whether the words after a number say that it is wrong or absent."""
    match = _DENIED.match(low, end)
    return match is not None and not _GRANTED.fullmatch(match[0])


def unit_hint(region: str) -> tuple[str, str, str | None] | None:
    """A unit that stands apart from its number: "gap (eV)", "d_nm", ``"unit": "eV", "value":``."""
    apart = _BEFORE_UNIT.search(region)
    if apart:
        return read_unit(apart[1])
    for match in _HINT.finditer(region):
        written, per = match[1], match[2]
        written = _WRITTEN.get(written, "1/Å" if written.startswith("inv") else written)
        written = re.sub(r"[\s_]1$|-_1$", "^-1", written).replace("A", "Å", written[0] == "A")
        full = f"{written}/{per.replace('_', ' ')}" if per else written
        read = read_unit(full)
        if read:
            return read
    return None


def basis_hint(region: str) -> str | None:
    """What the last "per …" of a stretch of text counts; None if there is none."""
    for match in reversed(list(_PER.finditer(region))):
        read = read_unit("eV/" + match[1].replace("_", " "))
        if read and read[2]:
            return read[2]
    return None
