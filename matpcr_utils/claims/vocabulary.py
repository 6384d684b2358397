"""Words that are claims themselves, one table a constraint.

Patterns are matched against lower-case plain text at the start of a word; the first row that
matches wins, so rows that claim nothing ("transition metal", "dynamically stable") come first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class Word:
    """A word or phrase that states a label.

    Attributes
    ----------
    label : str or None
        What it claims; None if nothing.
    negated : str or None
        What its negation claims; None if that leaves it open ("not a semimetal").
    pattern : str
    weak : bool
        Claims only when the chain states nothing else that the constraint can check.
    alone : bool
        Claims only when no number follows that says how much ("has a gap of 1.1 eV").
    upper : bool
        An abbreviation: must be written in capitals.
    """

    label: str | None
    negated: str | None
    pattern: str
    weak: bool = False
    alone: bool = False
    upper: bool = False


def _w(label: str | None, negated: str | None, pattern: str, flag: str = "") -> Word:
    return Word(label, negated, pattern, flag == "weak", flag == "alone", flag == "upper")


_OTHER_STABILITY = (
    r"(?:(?:dynamic|mechanic|kinetic|thermal|chemic|electrochemic|elastic|vibration"
    r"|structurall|environment"
    r"|colloid|numeric|phonon|optic|electr|photo|magnet|commerc|topologic|hydrolytic)\w*"
    r"|phase(?=-(?:un|meta)?stable))"
)
#: What may stand between a property and its verb: "the gap *of this compound* is".
_OF = r"(?:\s(?:of|in|for|at)\s(?:[a-z0-9-]{1,14}\s){0,2}?[a-z0-9-]{1,14}(?<!site|atom)(?<!ion))?"
_SHOWS = (
    r"(?:indicat|impl|confirm|suggest|signal|mean|demonstrat|show|point|evidenc|reveal)"
    r"(?:e|es|s|y|ies|ing|ying|ive)?\s(?:(?:to|of|its|the|a|clear|strong)\s){0,2}"
)
_STABILITY = (
    _w(
        None,
        None,
        (
            rf"{_OTHER_STABILITY}[\s-](?:(?:and|or|,)\s{_OTHER_STABILITY}\s)?"
            r"(?:,?\s?(?:it|the\s\w{1,14}|this)\s(?:is|should\sbe|seems)\s)?(?:un|meta)?stable"
        ),
    ),
    _w(
        None,
        None,
        (
            r"(?:more|less|equally|(?<=just )as|than(?:\sthe)?|almost|nearly"
            r"|as(?=\s(?:thermodynamically\s)?(?:un|meta)?stable\sas\b)"
            r"|(?:in)?to(?:\s(?:the|more|two|other))?|competing|other|relative\sto|nearby"
            r"|neighbou?ring|known|of\sthe)\s(?:thermodynamically\s)?(?:most\s)?(?:un"
            r"|meta)?stable(?!\sphase\sat)"
        ),
    ),
    _w(
        None,
        None,
        (
            r"(?:un|meta)?stable\s(?:isotopes?|nuclid\w+|in\s(?:air|water|moist\w*|humid\w*"
            r"|acid\w*|solution|aqueous)|measurement|operation|(?:competing\s|crystal\s"
            r"|solid\s)?(?:phases|compounds|polymorphs|structures|oxides|products|elements"
            r"|materials)|baseline|signal|solution|(?:if|when|only\sif|provided|unless"
            r"|whenever)\b)"
        ),
    ),
    _w(
        None,
        None,
        (
            r"(?:lack|absence|existence|search|presence)\s(?:of|for)\s(?:(?:an?|any|the|other)\s)?"
            r"(?:thermodynamically\s)?(?:un|meta)?stable"
        ),
    ),
    _w("unstable", "stable", r"lack(?:s|ing)\s(?:thermodynamic\s)?stability(?![a-z])"),
    _w("unstable", "stable", rf"{_SHOWS}thermodynamic\sinstability(?![a-z])"),
    _w("stable", "unstable", rf"{_SHOWS}thermodynamic\sstability(?![a-z])"),
    _w(None, None, r"most\s(?:thermodynamically\s)?stable\s\w{1,14}\s(?:is|of|are|at)(?![a-z])"),
    _w(None, None, r"stable\s(?:or|/|vs\.?|versus)\s(?:not|otherwise)\b"),
    _w("metastable", None, r"meta[\s-]?stable(?![a-z])|metastability(?=\"?\s?[:=])"),
    _w("unstable", "stable", r"(?:un|non|in)[\s-]?stable(?![a-z])"),
    _w("stable", "unstable", r"stable(?![a-z])"),
    _w(
        "stable",
        "unstable",
        (
            r"(?:on|onto|upon|touches|part\sof|a\svertex\sof)\s(?:the\s)?(?:convex[\s-]"
            r"|thermodynamic\s)?(?:hull|tie[\s-]?line)(?![a-z])"
        ),
        "weak",
    ),
    _w(
        "unstable",
        None,
        (
            r"(?:lies|sits|is|are|falls|located|positioned|well|far|slightly|just"
            r"|significantly)\s(?:\w{1,14}\s){0,2}?above\s(?:the\s)?(?:convex\s)?hull(?![a-z])"
        ),
        "weak",
    ),
    _w("unstable", "stable", r"decompos(?:e|es)(?=\s(?:spontaneously\s)?(?:in)?to\s)", "weak"),
)
_NOT_BULK = (
    r"(?:[\s-]+(?:oxide|halide|sul(?:f|ph)ide|nitride|carbide|hydride|chalcogenide"
    r"|fluoride|chloride|borate|phosphate"
    r"|atom|ion|cation|cent(?:er|re)|site|element|ligand|organic|complex|cluster"
    r"|content|contact|electrode"
    r"|film|layer|framework|bond|radius|radii|lust|glass|d[\s-]|s[\s-]|p[\s-]"
    r"|orbital|state|semiconductor|insulator|oxygen"
    r"|sublattice|species|alloy|foil|substrate|salt|to[\s-](?:insulator|ligand"
    r"|semiconductor|metal)|precursor|nanoparticle|coordination|poly)"
    r"|[-–](?!like|\s))"
)
_METALLICITY = (
    _w(
        None,
        None,
        (
            r"half[\s-]?metal\w*|metalloids?|metal[\s-]?organic|organometal\w*"
            r"|metal[\s–-]+(?:to[\s-])?(?:insulator|semiconductor)\stransition"
        ),
    ),
    _w(
        None,
        None,
        (
            r"(?:transition|alkali|alkaline[\s-]earth|earth|rare[\s-]earth|noble|heavy"
            r"|precious|base|light|coinage|refractory|d-block|p-block|parent|guest|host"
            r"|inner|main-group|post-transition)[\s-]metal\w*"
        ),
    ),
    _w(None, None, r"(?:super|photo|ionic\s|thermal\s|proton\s|ion\s)conduct\w+"),
    _w(
        None,
        None,
        (
            r"(?:insulating|metallic|semiconducting|metal|metals)\s(?:layer|substrate"
            r"|barrier|lust\w+|glass|bond\w*|radi\w+|element|character\sof\sthe\selement"
            r"|contact|film|coating|impurit\w+|grid|electrode|ring|ion"
            r"|surface\sstate)s?(?![a-z])"
        ),
    ),
    _w(
        "zero_gap",
        "nonzero_gap",
        (
            r"(?:zero|no)[\s-](?:band[\s-]?)?gap[\s-](?:semi-?conductor|material|compound"
            r"|solid)|zero[_-]gap(?![a-z])|gap-?less(?![a-z])"
        ),
    ),
    _w("nonzero_gap", "zero_gap", r"non-?zero[_-]gap(?![a-z])"),
    _w("semimetal", None, r"semi[\s-]?metal(?:lic)?(?![a-z])"),
    _w("nonzero_gap", "zero_gap", r"(?:non|un)[\s-]?metal(?:lic)?(?![a-z])"),
    _w(
        "zero_gap",
        "nonzero_gap",
        rf"metallic(?:ally|\sconductor)?(?![a-z])(?!{_NOT_BULK})"
        r"|(?<![a-z]-)(?<!contain\s)(?<!contains\s)(?<!of\s)(?<!with\s)(?<!the\s)(?<!each\s)(?<!per\s)(?<!between\s)"
        rf"(?<!from\s)(?<!by\s)(?<!on\s)(?<!two\s)metal(?![a-z])(?!{_NOT_BULK})",
    ),
    _w(
        "nonzero_gap",
        None,
        (
            r"insulat(?:or|ing)(?![a-z])|semi[\s-]?conduct(?:or|ing|ive)(?![a-z])|(?:a|is"
            r"|good)\sdielectric(?!\s(?:constant|function|response))(?![a-z])"
        ),
    ),
    _w(
        "zero_gap",
        "nonzero_gap",
        (
            r"(?:electrical|electronic|good|excellent|an?)\sconductor(?![a-z])"
            r"|electrically\sconducti(?:ng|ve)"
        ),
    ),
    _w("nonzero_gap", "zero_gap", r"gapped(?![a-z])"),
    _w(
        "zero_gap",
        "nonzero_gap",
        (
            r"(?:no|vanishing|negligible|without\s(?:an?y?|the)?|lack(?:s|ing"
            r"|\sof)?\s(?:an?y?)?|absence\sof\s(?:an?y?)?)\s?(?:(?:appreciable|electronic"
            r"|fundamental|direct|finite|real|true|measurable|energy|significant|such"
            r"|sizeable|sizable|band)\s)*(?:band[\s-]?)?gap(?![a-z])"
        ),
        "alone",
    ),
    _w(
        "nonzero_gap",
        "zero_gap",
        (
            r"(?:non-?(?:zero|vanishing)|finite|sizeable|sizable|appreciable|real|true"
            r"|clear)\s(?:(?:direct|indirect|electronic|optical|fundamental"
            r"|energy)\s)*(?:band[\s-]?)?gap(?![a-z])|(?:there\sis|has|have|having|with|exhibits?"
            r"|shows?|possess(?:es)?|opens?|find|see|expect|predict)\s(?:up\s)?(?:an?|any)\s(?:(?:wide"
            r"|large|small|narrow|direct|indirect|electronic|optical|fundamental|energy"
            r"|clear|substantial|moderate)[\s-])*(?:band[\s-]?)?gap(?![a-z])"
        ),
        "alone",
    ),
    _w(
        "zero_gap",
        "nonzero_gap",
        (
            rf"(?:band[\s-]?)?gap{_OF}\s(?:closes|vanishes|collapses|does\snot\sexist"
            r"|(?:is|are|must\sbe|remains?)\s(?:\w{1,12}ly\s)?(?:closed|absent|missing|negligible"
            r"|vanishing|nil|null|non-?existent|vanishingly\ssmall)"
            r"|(?:is|are)(?:\snot|n't)\s(?:finite|open))(?![a-z])"
        ),
        "",
    ),
    _w(
        "nonzero_gap",
        "zero_gap",
        (
            rf"(?:(?:band[\s-]?)?gap(?:\senergy)?|e_?g(?:ap)?){_OF}\s(?:(?:is|are|remains?|stays?"
            r"|(?:must|should|will)\sbe)\s(?:(?:\w{1,12}ly|thus|small\sbut|also)\s)?"
            r"(?:non-?(?:zero|vanishing)|finite|(?:greater|larger)\sthan\s(?:zero|0(?![.\d]))"
            r"|above\szero|open)(?![a-z])"
            r"|(?:is|are)(?:\snot|n't)\s(?:negligible|vanishing|closed)(?![a-z])"
            r"|(?:does(?:\snot|n't)|never)\s(?:fully\s|completely\s)?(?:vanish|close|collapse)|>\s?(?:zero|0(?:\.0)?(?![.\d])))"
        ),
    ),
    _w(
        "zero_gap",
        "nonzero_gap",
        r"(?:bands?|states)\s(?:\w{1,12}\s){0,3}?cross(?:es|ing)?\sthe\sfermi",
        "weak",
    ),
)
_MOMENT = (
    r"(?:net\s|total\s|overall\s|spontaneous\s|macroscopic\s|bulk\s|finite\s"
    r"|resulting\s|remanent\s)*(?:magnetic\s|spin\s)?(?:moments?"
    r"|magneti[sz]ation)(?![a-z])"
)
_PARTIAL = (
    r"(?!\s(?:super-?exchange|double|configuration|alignment|arrangement|starting"
    r"|initial|coupling|couples?|exchange|interaction|correlation|fluctuation"
    r"|element|metals\b|ions?\b|domain|resonance|impurit"
    r"|component|layer|sheet|plane|chain|contribution|sublattice|insulators\b"
    r"|materials\b|compounds\b|atoms\b|neighbou?r))"
)
_MAGNETISM = (
    _w(
        None,
        None,
        (r"(?:canted\s)?(?:local|site)\s(?:magnetic\s)?moments?\s(?:cancel|vanish)?(?!\w)"),
    ),
    _w(
        "zero_net",
        "finite_net",
        (
            r"zero[_-]net(?![a-z])|alter-?magnet(?:ic|ism)?(?![a-z])|(?:fully|exactly"
            r"|completely|perfectly)[\s-]compensated(?:\sferri-?magnet(?:ic)?)?"
            r"|compensated\sferri-?magnet(?:ic)?(?![a-z])"
        ),
    ),
    _w("finite_net", "zero_net", r"finite[_-]net(?![a-z_])(?!\s(?:magn|mom))"),
    _w("antiferromagnetic", None, rf"anti-?ferro-?magnet(?:ic(?:ally)?|ism|s)?(?![a-z]){_PARTIAL}"),
    _w("antiferromagnetic", None, r"afm(?![a-z])", "upper"),
    _w(None, None, r"anti-?ferro-?magnet\w*"),
    _w("finite_net", None, rf"ferri-?magnet(?:ic(?:ally)?|ism)?(?![a-z]){_PARTIAL}"),
    _w("finite_net", "zero_net", rf"ferro-?magnet(?:ic(?:ally)?|ism)?(?![a-z]){_PARTIAL}"),
    _w("finite_net", "zero_net", r"fi?m(?![a-z])", "upper"),
    _w("zero_net", "finite_net", r"non[\s-]?magnet(?:ic)?(?![a-z])|nonmagnetism"),
    _w("zero_net", "finite_net", r"nm(?![a-z])", "upper"),
    _w("zero_net", None, r"(?:dia|para)-?magnet(?:ic|ism)?(?![a-z])"),
    _w(
        "finite_net",
        "zero_net",
        (
            r"(?:moments?|magneti[sz]ation)(?:\s(?:is|are)(?:\snot|n't)\s(?:exactly\s"
            r"|quite\s)?zero|\s(?:does|do)(?:\snot|n't)\s(?:fully\s|completely\s"
            r"|exactly\s)?(?:vanish|cancel))(?![a-z])"
        ),
    ),
    _w(
        "zero_net",
        "finite_net",
        (
            r"(?:(?<!non-)(?:zero|vanishing|negligible|null)|no|without\s(?:an?y?)?"
            rf"|lack(?:s|ing|\sof)?\s(?:an?y?)?|absence\sof\s(?:an?y?)?)\s?{_MOMENT}"
        ),
    ),
    _w(
        "zero_net",
        "finite_net",
        (
            r"(?:net\s|total\s|overall\s|spontaneous\s)?(?:magnetic\s|spin\s)?(?:moments?"
            rf"|magneti[sz]ation)(?:\sper\s\w+(?:\s(?:unit|cell))?|{_OF})\"?\s?(?:is|are|=|:|of"
            r"|equals|becomes|must\sbe|should\sbe|will\sbe|would\sbe|averages\sto|sums?\sto"
            r"|adds?\sup\sto|goes\sto|remains)\s?\"?(?:exactly\s|essentially\s|nearly\s"
            r"|effectively\s|therefore\s|thus\s|also\s|practically\s|about\s|almost\s"
            r"|identically\s|(?:very\s)?close\sto\s|approximately\s|roughly\s|strictly\s)?(?:zero|null|nil|vanishing|negligible)(?!\s(?:bohr"
            r"|µ))(?![a-z])"
        ),
    ),
    _w(
        "zero_net",
        "finite_net",
        (
            r"(?:moments?|magneti[sz]ations?|spins"
            r"|sublattices)\s(?:\w{1,12}ly\s)?(?:vanish(?:es)?"
            r"|cancel(?:s)?(?:\s(?:each\sother|out))?|compensate)(?![a-z])"
        ),
    ),
    _w(
        "finite_net",
        "zero_net",
        (
            r"(?:finite|non-?(?:zero|vanishing)|sizeable|sizable|large|substantial|small)\s(?:net\s"
            r"|total\s|overall\s|spontaneous\s)*(?:magnetic\s|spin\s)?(?:moment"
            r"|magneti[sz]ation)(?![a-z])"
        ),
        "alone",
    ),
    _w(
        "finite_net",
        "zero_net",
        (
            rf"(?:moment|magneti[sz]ation){_OF}\s(?:is|remains|(?:must|should|will)\sbe)\s"
            r"(?:(?:\w{1,12}ly|thus|small\sbut)\s)?(?:finite|non-?(?:zero|vanishing)"
            r"|(?:greater|larger)\sthan\s(?:zero|0(?![.\d])))(?![a-z])"
        ),
    ),
    _w(
        "finite_net",
        "zero_net",
        (
            r"(?:there\sis|has|have|carr(?:y|ies)|exhibits?|shows?|possess(?:es)?|retains?"
            r"|with|develops?|find|see|expect|predict)\s(?:an?|any)\s(?:net\s|total\s|overall\s|spontaneous\s"
            r"|macroscopic\s)*(?:magnetic\s)?(?:moment|magneti[sz]ation)(?![a-z])"
        ),
        "alone",
    ),
    _w(
        "finite_net",
        "zero_net",
        r"magnetic(?=\s?[?]|\"?\s?[:=]\s?\"?(?:true|false|yes|no)(?![a-z]))",
    ),
    _w(
        "finite_net",
        "zero_net",
        (
            r"(?:(?<=is\s)|(?<=are\s)|(?<=neither\s)|(?<=nor\s)|(?<=not\s)|(?<=n't\s)|(?<=be\s)|(?<=remains\s)"
            r"|(?<=being\s)|(?<=ly\s))magnetic(?![a-z])(?!\s(?:moment|order|field|propert"
            r"|state|structure|ion|atom|unit|element|sublattice|moments|energy|space"
            r"|anisotropy|transition|cell))"
        ),
    ),
    _w(
        "finite_net",
        "zero_net",
        (
            r"(?<=\sa\s)magnetic\s(?:material|compound|solid|metal|insulator|oxide|alloy"
            r"|semiconductor|ground\sstate)(?![a-z])"
        ),
    ),
)
_WORDS: dict[str, tuple[str, tuple[Word, ...]]] = {
    "stability": ("stability", _STABILITY),
    "metallicity": ("metallicity", _METALLICITY),
    "magnetism": ("magnetism", _MAGNETISM),
}


@cache
def lexicon(constraint: str) -> tuple[str, re.Pattern[str], tuple[Word, ...]] | None:
    """The label quantity of a constraint, one pattern (group ``w<i>``), the words; None if none."""
    if constraint not in _WORDS:
        return None
    quantity, words = _WORDS[constraint]
    union = "|".join(f"(?P<w{i}>{word.pattern})" for i, word in enumerate(words))
    return quantity, re.compile(rf"(?:(?<![a-z0-9])|(?<=\"is))(?=[a-z])(?:{union})"), words
