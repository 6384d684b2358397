"""What stands right before and after a number, and what it makes of the number."""

from __future__ import annotations

import re

from matpcr_utils.quantities import read_unit

#: The longest stretch of text before a number that is looked at.
REACH = 120

# Words that may stand between a cue and a number without a unit that it introduces.
_INTRODUCES = re.compile(
    r"(?:_[a-z0-9µå°^/-]{1,12}){0,4}(?:\s?/\s?[a-zåµ°_]{1,4}(?:\^?-1)?"
    r"|\sin\s[a-zåµ°_]{1,11}(?:\^?-1)?)?"
    r"(?:\s(?:of|for|in)\s(?:[a-z0-9-]{1,14}\s){0,2}?[a-z0-9-]{1,14}(?=\s(?:is|was|equals|=)\s))?"
    r"[\s\"'*\])\u2009]{0,4}"
    r"(?:[(\[](?:1/)?[^()\[\]\d]{0,24}(?:\^?-1)?[)\]][\"'*]{0,2})?"
    r"(?:\s{0,3}(?:[\"'\[({*|:=≈~→]|is|isn't|not|are|of|was|at|as|be|to|about|around"
    r"|approximately|approx\.?"
    r"|roughly|nearly|exactly|essentially|equals?|values?|near|estimated|likely"
    r"|probably|would|should"
    r"|therefore|thus|simply|predicted|expected|reported|calculated|measured|computed|found|located"
    r"|sits?|lies?|appears?"
    r"|occurs?|observed|cent(?:red|ered)|positions?)){0,9}\s{0,3}"
)
_AT = re.compile(r"(?:\bat|near|around|[=:≈→|\[])[\s\"'\[(|~*]{0,6}$")
_ASSIGNED = re.compile(
    r"[\s\"'_*)\]]{0,4}(?:=|≈|:|~|\||\bis|\bof|\bat|\bwas"
    r"|\breads)[\s\"'~≈*(\[]{0,6}(?:about\s|approximately\s|roughly\s|around\s)?"
)
_ADJACENT = re.compile(
    r"[\s\"')\]*-]{0,3}(?:(?:in|of|on|for|as|a|an|its|mean|average|direct|indirect"
    r"|optical|(?:is|as|for)\sthe|is\sits)\s){0,3}\(?"
)
_LEADS_ON = re.compile(
    r"[\s\"'_]{0,3}(?:(?:=|:|≈|~|is|of|was|at|are|reads|equals)[\s\"']{0,2})?\(?"
    r"(?:about\s|approximately\s|roughly\s)?"
)
_PLACE = re.compile(
    r"(?:\bat|near|around|[=≈:]|corresponds?\sto|\bof)\s{0,2}(?:d\s?=\s?)?(?:about\s|roughly\s|[~≈]\s?)?$"
)
_WHEREIN = re.compile(
    r"(?<![a-z])(?:in|within|on|inside|over|at|of)\s(?:the|this|our|a)\s(?:[a-z0-9-]{1,14}\s)?$"
)
_PREDICATE = re.compile(
    r"(?<![a-z])(?:is|are|occurs?|appears?|lies?|sits?|stands?|falls?)\s(?:[a-z]{1,12}\s){0,2}"
    r"(?:at|near|around|close\sto)\s"
)
_VERB_ENDS = re.compile(r"\s(?:is|spans?|covers?|measures)$")
_COMPLEMENT = re.compile(
    r"\s(?:of|for|in|to)\s(?:(?:the|this|that|these|each|its|all|a|an|main|strongest"
    r"|first|largest|same)\s){0,3}(?:(?:[({\[]?[\d\s-]{1,9}[)}\]]?|[a-z]{1,10})\s){0,2}"
)
_BOUND = re.compile(
    r"(?:[<>≤≥≲≳]=?|(?<![a-z])(?:below|under|above|over|beyond|exceed(?:s|ing)?"
    r"|at\s(?:least|most)|no\s(?:more|less)\sthan"
    r"|(?:less|more|fewer|greater|larger|smaller|lower|higher|wider|longer|shorter"
    r"|bigger)\sthan|within|up\sto))"
    r"\s{0,2}(?:about\s|roughly\s|~\s?|≈\s?|±\s?|or\sequal\sto\s|(?:the|a|an|our"
    r"|its)\s){0,2}$"
)
# What the text before a number ends in when `_BOUND` may hold.
_BOUND_ENDS = (
    *(
        "<",
        ">",
        "≤",
        "≥",
        "≲",
        "≳",
        "±",
        "than",
        "least",
        "most",
        "below",
        "under",
        "above",
        "over",
    ),
    *(
        "beyond",
        "exceed",
        "exceeds",
        "exceeding",
        "within",
        "up to",
        "about",
        "roughly",
        "equal to",
    ),
    *(" the", " a", " an", " our", " its"),
)
_UP_TO = re.compile(r"up\sto\s{0,2}(?:about\s|roughly\s|~\s?|≈\s?)?$")
_DENIED = re.compile(
    r"[\s,)*\"']{0,3}(?:(?:peak|line|gap|band|reflection|value|estimate|reading)\s)?"
    r"(?:is|was|are|were|would\sbe|seems|looks|cannot\sbe|can't\sbe)\s(?:clearly\s"
    r"|definitely\s|simply\s|far\s)?"
    r"(?:wrong|incorrect|absent|missing|impossible|unlikely|unphysical|right|correct"
    r"|ruled\sout|excluded|not\s(?:present|observed"
    r"|visible|seen|there|right|correct|possible|found|detected|the\scase|it)"
    r"|too\s(?:large|small|high|low|big))"
)
_RELATIVE = re.compile(
    r"\s(?:larger|smaller|higher|lower|more|less|wider|narrower|greater|longer"
    r"|shorter|bigger)\sthan(?!\sthe\s(?:convex\s)?hull)"
)
# "200 nm < d < 300 nm" bounds d; "0.03 eV < 0.05 eV" states the first number.
_LOWER_END = re.compile(r"\s?[<≤>≥]\s?[a-zθ_]{1,8}\s?[<≤>≥=]")
_GRANTED = re.compile(r".{0,40}?(?<!not )(?<!cannot be )(?<!can't be )(?:right|correct)", re.DOTALL)
_RESETS = re.compile(
    r"(?<![a-z])(?:so|thus|therefore|hence|giving|gives|yields|implies"
    r"|which\s(?:corresponds|means|is|gives)|and\sthe"
    r"|but)(?![a-z])|[→⇒;]|,\s(?:the|we|i|it|this|so|its|my)\s"
)
_RESTATES = re.compile(r"\s{0,2}(?:[=≈]|\(?=|\(|or|\(?i\.e\.,?)\s{0,2}(?:about\s|~\s?|≈\s?)?")
_HINT = re.compile(
    r"(?:^|[\s_(\[,/\"]|(?<=[a-z])(?=[A-Z]))(°|[dD]eg(?:ree)?s?|[nµupm]m|[NUP]m|(?<=[a-z])M[eE][vV]|Å|A|[aA]ngstroms?|m?[eE][vV]"
    r"|µ_?B|[mM][uU]_?[bB]|uB"
    r"|[bB]ohr[\s_][mM]agnetons?|cm\s?\^?[-_]?1|1/cm|[ÅA]\s?\^?[-_]?1|1/[ÅA]"
    r"|inv(?:erse)?[_\s][aA]ngstroms?"
    r"|inv(?:erse)?_nm|nm\s?\^?-1|px|pixels?(?!_(?:size|pitch|width)))(?:(?:/|_?per_|\sper\s|_)(atom|f\.?u\.?"
    r"|formula[_\s]unit|(?:unit[_\s])?cell"
    r"|px|pixel))?(?=[\s)\]\"'_:=|,]|$)"
)
_WRITTEN = {
    **{"A": "Å", "1/A": "1/Å", "inv_nm": "1/nm", "inverse_nm": "1/nm"},
    **{"Nm": "nm", "Um": "µm", "Pm": "pm", "MeV": "meV", "Mev": "meV", "MEV": "meV"},  # camel case
}
_PER = re.compile(
    r"(?:(?<![a-z])(?:per[\s_-]|(?:per|basis)\"\s?:\s?\")(?:the\s|one\s|each\s)?(?:[a-z]{1,2}\^?\d?\+\s)?|/\s?)"
    r"(f\.\s?u\.|(?:(?:primitive|unit|conventional|calculation|simulation|formula"
    r"|[a-z]{1,2})[\s_-])?[a-z]{2,7})"
)
_OWNER = re.compile(
    r"(?<![a-z])(?:each|every|the|one|a)\s(formula\sunit|(?:(?:unit|primitive|magnetic)\s)?cell)(?=\s)"
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
    return not gap.strip(" \"'(") or (len(gap) <= 30 and bool(_ASSIGNED.fullmatch(gap)))


def adjacent(gap: str) -> bool:
    """Whether a cue stands right after a number, `gap` away."""
    return len(gap) <= 24 and bool(_ADJACENT.fullmatch(gap))


def leads_on(gap: str) -> bool:
    """Whether a cue is about the number that follows it, `gap` away."""
    return len(gap) <= 24 and bool(_LEADS_ON.fullmatch(gap))


def locates(gap: str) -> bool:
    """Whether `gap` ends by saying where something is: "… is at about"."""
    return bool(_PLACE.search(gap))


def sets_scene(before: str, cue: str, gap: str) -> bool:
    """Whether a cue only says where to look: "the peak *in the scan* is at".

    The cue may hold the verb of what stands before it: "the particle in this *image is*".
    """
    said = _PREDICATE.search(gap) or _VERB_ENDS.search(cue)
    return bool(said and _WHEREIN.search(before))


def complements(gap: str) -> bool:
    """Whether the second of two cues only completes the first: "FWHM of the peak"."""
    return len(gap) <= 30 and bool(_COMPLEMENT.fullmatch(gap))


def spent(gap: str) -> bool:
    """Whether a cue without a quantity no longer reaches the number at the end of `gap`."""
    return len(gap) > 60 or bool(_RESETS.search(gap))


def restates(gap: str) -> bool:
    """Whether two numbers are the same value twice: "500 nm (0.5 µm)"."""
    return len(gap) <= 12 and bool(_RESTATES.fullmatch(gap))


def is_bound(before: str, upper_counts: bool) -> bool:
    """Whether a number is only a limit ("below 0.05 eV"); "up to" may count as the value."""
    if not before.rstrip("\u2009 ~≈=").endswith(_BOUND_ENDS):
        return False
    return bool(_BOUND.search(before)) and not (upper_counts and _UP_TO.search(before))


def is_denied(low: str, end: int) -> bool:
    """Whether the words after a number say that it is wrong or absent."""
    if _RELATIVE.match(low, end) or _LOWER_END.match(low, end):
        return True
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


def owner_basis(region: str) -> str | None:
    """As `basis_hint`, where the thing counted has the number: "each formula unit carries"."""
    owners = _OWNER.findall(region)
    return ("cell" if owners[-1].endswith("cell") else "formula_unit") if owners else None
