"""Words that say what a number is about, one table a constraint.

A number is governed by the cue that stands right after it, else by the nearest one before it in
its sentence. A cue with a quantity makes it a claim of that quantity; one without makes it no
claim. Patterns are matched against lower-case plain text, at the start of a word.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

_KINDS = {
    **dict.fromkeys(("two_theta", "theta", "peak"), "angle"),
    **dict.fromkeys(("d_spacing", "feature_size"), "length"),
    **dict.fromkeys(("scattering_vector", "raman_shift"), "inverse_length"),
    **dict.fromkeys(("energy_above_hull", "band_gap"), "energy"),
    **{"scale": "scale", "magnetization": "moment"},
}
_IS = (
    r"(?=\s?(?:=|≈|:|~|≃|is\b|of\b|was\b|equals|≡|→|\||\"|[(\[/]\s?(?:å|nm|pm|1/"
    r"|a\))))"
)
_SIZE = (
    r"(?:\s?(?:is|are|of|=|:|size|width|height|range|spans?|runs?|covers?|extends?"
    r"|from))?"
)


@dataclass(frozen=True, slots=True)
class Cue:
    """A word that governs numbers.

    Attributes
    ----------
    quantity : str or None
        What a governed number claims; None for no claim. ``"theta"`` is a Bragg angle, claimed as
        twice its value; ``"peak"`` is a place on whichever axis the number's unit belongs to.
    kinds : frozenset of str
        Kinds of number (see `matpcr_utils.quantities.UNITS`) that it governs.
    pattern : str
    unit : str or None
        pint name of the unit of a number written without one, right after the cue; None if such
        a number is no claim.
    strict : bool
        A number without a unit must follow an "at" or an equals sign.
    trailing : bool
        Governs only the number right before it ("0.2° wide"), whatever else is near.
    """

    quantity: str | None
    kinds: frozenset[str]
    pattern: str
    unit: str | None = None
    strict: bool = False
    trailing: bool = False

    @property
    def kind(self) -> str:
        """Kind of the number that a number without a unit is taken for."""
        return _KINDS.get(self.quantity or "", "other")


def _yes(
    quantity: str, kinds: str, pattern: str, unit: str | None = None, strict: bool = False
) -> Cue:
    return Cue(quantity, frozenset(kinds.split()), pattern, unit, strict)


def _no(kinds: str, pattern: str, trailing: bool = False) -> Cue:
    return Cue(None, frozenset(kinds.split()), pattern, trailing=trailing)


_WIDTH = (
    r"fwhm|hwhm|(?:full|half)[\s-]?width(?:[\s-](?:at[\s-])?(?:the\s)?half[\s-](?:the\s)?"
    r"max\w*\.?(?:\s(?:height|intensity))?)?|line\s?width|(?:peak|line|band"
    r"|integral)\s(?:width|breadth)"
    r"|width|broadening|breadth|uncertainty|error|accuracy|precision|tolerance"
    r"|resolution|resolving"
    r"|step(?:\s?size)?s?\b|increments?|intervals?\b|spaced|separat\w+|splitting"
    r"|difference|differs?\b"
    r"|apart|shifted\s(?:up|down|to\s(?:higher|lower)\s\w+\s)?\s?by|offset|deviat\w+"
    r"|within(?!\sthe\s(?:\w+\s)?(?:window|range|scan|pattern))|zero[\s-]shift"
    r"|displace\w+|ticks?\b|tick\smarks?|grid\s?lines?|gridded|threshold|cut-?off"
)
_SPAN = (
    r"q_?(?:max|min)|(?:∈|in)\s?\[|(?:[xy2θ]-?\s?)?axis|abscissa|range[sd]?\b|ranging|window"
    r"|scan(?:ned|s)?\b|span(?:s|ned|ning)?\b|covers?\b|covering"
    r"|from\s\d{1,4}(?:\.\d{1,3})?\s?(?:°|deg\w*|cm\^?-1)?\s?(?:to|up\sto|through"
    r"|[-–])\s\d"
    r"|runs?\sfrom|extends?\sfrom|measured\s(?:from|between|over)|recorded\s(?:from"
    r"|between|over)"
    r"|collected\s(?:from|between|over)|region|pattern\s(?:from|between|covers"
    r"|spans)"
)
_CUES: dict[str, tuple[Cue, ...]] = {
    "diffraction": (
        _no(
            "angle none",
            (
                r"θ\s?[-–/]\s?2θ|theta\s?[-–/]\s?2\s?-?theta|[δ∆]\s?\(?2?θ|(?:sin|cos"
                r"|tan)\s?(?:\^2\s?)?\(?\s?(?:θ|2θ|theta)?"
            ),
        ),
        _yes(
            "two_theta",
            "angle none",
            (
                r"2\s?[-_*·×]?\s?θ|2\s?-?_?theta|two[\s_-]?(?:theta|θ)|2\s?-?th\b\.?|tth\b|twotheta"
                r"|(?:diffraction|scattering)\sangle"
            ),
            "degree",
        ),
        _yes(
            "theta", "angle none", r"θ|theta|(?:bragg|glancing)[\s_]angle(?!\s(?:2|two))", "degree"
        ),
        _yes(
            "d_spacing",
            "length none",
            (
                rf"(?<!\d\s)d(?:_?\(?[\dhkl,\s-]{{0,9}}\)?"
                rf"(?:_(?:a|å|nm|pm|ang\w*))?{_IS}|[\s_-]*(?:spacing|value|distance)s?)"
                r"|(?:inter)?-?plan(?:ar|e)[\s_-](?:spacing|distance|separation)s?"
                r"|(?:lattice[\s-])?spacings?(?!\sgroup)"
            ),
            "angstrom",
        ),
        _yes(
            "scattering_vector",
            "inverse_length none",
            (
                r"\|?q\|?(?:_(?:(?:inv\w{0,5}|per|1)_?(?:a|å|nm|ang\w*)|(?:nm|å|a)_?\^?-?1))?"
                rf"{_IS}|(?:scattering|momentum|diffraction)[\s_-](?:vector|transfer)s?"
                r"|wave[\s-]?vector(?:\stransfer)?|q[\s_-]?(?:value|vector)s?"
            ),
            "1/angstrom",
        ),
        _no("angle length", r"(?:half|mid)way\sbetween|between\sthe"),
        _no("angle", r"(?:wide|broad|apart)(?![a-z-])", trailing=True),
        _no("inverse_length", rf"s{_IS}"),
        _no("angle inverse_length", _WIDTH),
        _no("angle inverse_length", _SPAN),
        _no(
            "angle",
            (
                r"tilt\w*|rotat\w+|chi\b|phi\b|χ|φ|ψ|ω|omega\s?=|[αβγ]\s?[=≈:]|(?:alpha|beta"
                r"|gamma)\s?[=≈:]|contact\sangle|bond\sangle|slit|divergence|mosaic\w*|twist"
                r"|phase\b|take-?off|(?:monoclinic|cell|lattice|interaxial"
                r"|rhombohedral)\sangles?|temperature|heated|annealed|sintered|latitude"
                r"|azimuth\w*"
            ),
        ),
        _no(
            "length",
            (
                r"λ(?=\s?[=≈:(\d]|\sof|\sis)|wave-?length|(?:cu|mo|co|cr|ag|fe)[\s-]?k|kα"
                r"|x-?rays?\b|radiation|synchrotron"
            ),
        ),
        _no(
            "length",
            (
                rf"[abc]{_IS}|lattice\s(?:parameter|constant)s?|(?:unit[\s-])?cell|bond|radius"
                r"|radii|diameter|crystallite|grain|particle|scherrer|thick\w*|domain|size|depth"
                r"|edge"
            ),
        ),
        _yes(
            "peak",
            "angle length none",
            r"(?:peak|line|reflection|maxim|position)s?(?:um|a)?(?:[\s_]positions?)?",
            "degree",
            True,
        ),
        _yes("d_spacing", "length", r"(?:lattice\s)?planes?(?![a-z])"),
    ),
    "microscopy": (
        Cue("scale", frozenset({"length"}), r"pixels(?![a-z])", trailing=True),
        _yes(
            "scale",
            "length none",
            r"(?:one|each|1|per|every|a)\s(?:pixel|px)(?!\s(?:size|pitch))|(?:pixel|px)[\s_-]?(?:size|pitch|width)",
        ),
        _yes(
            "scale",
            "none",
            r"nm[\s_/]?(?:per_?)?(?:px|pixel)(?!s)|(?:nm|nanometers?)[\s_]per[\s_]pixel",
            "nanometer/pixel",
        ),
        _no(
            "length",
            (
                r"(?:scale[\s_-]?|micron[\s-])?(?:bar|marker)s?(?![a-z])(?:[\s_-]*(?:length"
                r"|label|size|value|reads?|nm|um)){0,2}|scale\s?(?=[=:])\s?[=:]|databar|info(?:rmation)?\sbar"
            ),
        ),
        _no(
            "length",
            (
                r"field[\s_-]?of[\s_-]?view|\bfov|hfw|horizontal\sfield(?:\swidth)?|(?:view"
                r"|image|micrograph|frame|picture|canvas|photo\w*)[\s_](?:width|height|size|area"
                rf"|field|dimensions?|itself|is|spans?|covers?|measures|edge|diagonal){_SIZE}"
                r"|(?:entire|whole|full|wide)\s(?:image|frame|micrograph|view|field)"
            ),
        ),
        _no(
            "length",
            (
                r"working[\s-]?distance|wd\b|wave-?length|λ|laser|excit\w+|resolution|resolv\w+"
                r"|(?:spot|step|probe|beam|tip|aperture|slit)[\s-]?(?:size|diameter|radius"
                r"|width)?|coat(?:ing|ed)|sputter\w*|depth\sof\sfield|penetration|mean\sfree"
                r"|tolerance|uncertainty|error|within(?!\s(?:the|a)\srange)|accuracy|precision|threshold|cut-?off"
                r"|sieve|filter|defocus|drift|larger\sthan\sthe|objective|focal"
                r"|standard\sdeviation|std\.?\b|σ|dev\b"
            ),
        ),
        _yes(
            "feature_size",
            "length none",
            (
                r"(?:feature|particle|grain|pore|crystallite|ligament|fib(?:er|re)|rod|wire|tube"
                r"|flake|sphere|platelet|crystal|cluster|island|void|crack|hole|domain|cell"
                r"|column|layer|film|diameter|radius|width|length|height|thickness|size"
                r"|dimension|object|structure|nanoparticle|nanowire)s?(?:[\s_-]?(?:size|diameter"
                r"|width|length|height|thickness|radius|dimension)s?)?(?:[\s_]in)?(?:[\s_]?(?:nm"
                r"|um|µm|pm|å))?(?![a-z])|wide\b|across|long\b|thick\b|tall\b|measur\w+"
            ),
        ),
    ),
    "spectra": (
        _no(
            "inverse_length",
            (
                r"absolute\swave-?numbers?|laser\sline|rayleigh|excit\w+\s(?:line|wave-?number"
                r"|(?:at|with)(?=\s\d+\s?nm\s?\())|notch|edge\sfilter|detector"
            ),
        ),
        _no("inverse_length", r"(?:wide|broad|apart)(?![a-z-])", trailing=True),
        _no(
            "inverse_length",
            _WIDTH + r"|(?:red|blue)-?shift\w*\s?(?:of|by)|(?:up|down|soften|harden)\w*\sby",
        ),
        _no("inverse_length", _SPAN),
        _yes(
            "raman_shift",
            "inverse_length none",
            (
                r"raman[\s_-]?(?:shift|band|peak|line|mode)s?|(?:wave-?number"
                r"|shift)s?(?:[\s_]cm\^?-?1)?|[νω](?:_?\d{1,2})?(?=\s?[=≈:(\[/])"
            ),
            "1/centimeter",
        ),
        _yes(
            "raman_shift",
            "inverse_length none",
            (
                r"(?:peak|band|line|mode|maxim|position|feature|signal|shoulder)s?(?:um"
                r"|a)?(?:[\s_](?:cm\^?[-_]?1|position|positions|wavenumbers?))?"
            ),
            "1/centimeter",
            True,
        ),
    ),
    "stability": (
        _no(
            "energy",
            (
                r"(?:formation|cohesive|total|binding|mixing|surface|lattice|internal|reaction"
                r"|adsorption|exfoliation|activation|ground-?state)[\s_-](?:energy|energies"
                r"|enthalpy)|(?:enthalpy|heat|energy)\sof\s(?:formation|mixing)|δ[he]_?f"
                r"|e_?f(?:orm)?\b"
            ),
        ),
        _no(
            "energy",
            (
                r"thresholds?|tolerance|cut-?off|criteri(?:on|a)|within(?!\s(?:the|a)\srange)|margin|accuracy"
                r"|precision|error\w*|uncertainty|kt\b|k_?b_?t|thermal|room\stemperature|barrier"
                r"|band[\s_-]?gap|gap\b|e_?g\b|fermi|window|limit|smearing|hubbard|u\s?="
                r"|below\sthe\s(?:\w+\s)?threshold|typical\w*"
            ),
        ),
        _yes(
            "energy_above_hull",
            "energy none",
            (
                r"e(?:nergy)?[\s_^-]*(?:above[\s_-]*(?:the[\s_-])?(?:convex[\s_-])?)?[\s_-]*hull(?:[\s_]energy)?(?:[\s_]in)?(?:_?e?v?_per_atom"
                r"|_?m?ev(?:_per|/)?_?atom|_m?ev)?|[δ∆]\s?e_?hull|[δ∆]h_?(?:d|hull|decomp)\b"
                r"|(?:energy|distance|energetic\sdistance)\s(?:above|to"
                r"|from)\s(?:the\s)?(?:convex\s|ground-state\s)?hull"
                r"|(?:convex[\s-])?hull[\s_-](?:energy|distance)|(?:above|over"
                r"|off)[\s_-](?:the[\s_-])?(?:convex[\s_-]|ground-state\s)?hull(?:[\s_-]energy)?"
                r"|decomposition[\s_](?:energy|enthalpy)|instability\senergy|(?:from|(?:relative\s|with"
                r"\srespect\s)?to|of|exceed\w*"
                r"|higher\s(?:in\senergy\s)?than)\sthe\s(?:convex\s)?hull"
            ),
            "electron_volt",
        ),
    ),
    "metallicity": (
        _no(
            "energy",
            (
                r"photon|exciton\w*|work\sfunction|fermi|band-?width|spin[\s-]?orbit|soc\b"
                r"|crystal[\s-]?field|formation|cohesive"
                r"|e(?:nergy)?[\s_]?(?:above[\s_](?:the[\s_])?)?hull|hull|cut-?off|plane-?wave"
                r"|hubbard|u\s?[=≈]|u_eff|smearing|threshold|tolerance|criterion|k_?b?t\b"
                r"|thermal|binding|electron\saffinity|ionization|ionisation|activation|barrier"
                r"|vbm|cbm|valence\sband|conduction\sband|dos\b|density\sof\sstates|above\sthe"
                r"|below\sthe|dft\s(?:error|underestimat)\w*|underestimat\w*\s?(?:\w+\s){0,3}by"
                r"|overestimat\w*\s?(?:\w+\s){0,3}by|scissors?|correction|splitting|laser"
                r"|excit\w+|phonon|luminescence|emission|within(?!\s(?:the|a)\srange)|accuracy|error\b|uncertainty"
                r"|width"
            ),
        ),
        _yes(
            "band_gap",
            "energy none",
            (
                r"(?:band|energy|optical|electronic|fundamental|direct|indirect|transport|mott"
                r"|charge|homo[-–]lumo|kohn-sham|quasiparticle|spin|wide"
                r"|narrow)?[\s_-]*gap(?:[\s_-](?:energy|width|size|value)|s)?(?:[\s_]in)?(?:[\s_]?m?ev)?(?![a-z])"
                r"|bandgap(?:[\s_]energy|s)?(?:[\s_]in)?(?:_m?ev)?(?![a-z])|e_?(?:g|9"
                r"|gap)(?:_?(?:dir|ind|opt|direct|indirect|optical))?(?:_ev)?(?![a-z])|egap"
            ),
            "electron_volt",
        ),
        _yes(
            "band_gap",
            "energy",
            r"(?:semi-?conductor|insulator|semiconducting|insulating|dielectric)\b",
        ),
    ),
    "magnetism": (
        _no(
            "moment",
            r"from\s(?:each|every)|on\s[a-z]{1,2}(?:\^?\d?[+-])?(?:\s(?:atom|ion|site)s?)?(?![a-z])",
            trailing=True,
        ),
        _no(
            "moment",
            (
                r"(?:local(?:i[sz]ed)?|site|sublattice|spin-only|effective|atomic"
                r"|ionic)(?:[\s-](?:magnetic\s|spin\s)?moments?)?"
                r"|each\s\w{1,4}\s(?:\w{1,10}\s){1,3}?moments?|µ_?eff|p_?eff|on\s(?:each|every"
                r"|the|a|per)\s(?!average|whole)|at\seach|each\b(?!\s(?:formula|unit|cell|f\.?u))|individual|threshold|tolerance"
                r"|cut-?off|criterion|antiparallel|staggered|orbital\s(?:moment|contribution)"
                r"|error|uncertainty|within(?!\s(?:the|a)\srange)|resolution|\w{1,2}\s(?:atom|ion|site)s?\s(?:carr|hav"
                r"|has|hold|possess|contribut)\w*|ordered\smoment\sper\s\w+\sion"
                r"|saturated\slocal"
            ),
        ),
        _yes(
            "magnetization",
            "moment none",
            (
                r"(?:total|net|overall|magnetic|spin|saturation|spontaneous|cell"
                r"|ordered)?[\s_-]*(?:magneti[sz]ation|magnetic[\s_]moment"
                r"|moment)s?(?:[\s_]in)?(?:_?(?:mu_?b|µ_?b"
                r"|bohr_?magnetons?))?(?:_?(?:per_)?(?:atom|cell|fu|formula_unit"
                r"|f\.u\.))?(?![a-z])|m_?(?:tot|total|net)(?![a-z])|\|?m\|?(?=\s?(?:[=≈]|[(\[/]\s?(?:µ|mu_?b|bohr)))"
            ),
            "bohr_magneton",
        ),
    ),
}
#: Kinds of number that are a claim even without a cue, and of what.
DEFAULTS: dict[str, dict[str, str]] = {
    "diffraction": {"angle": "two_theta", "inverse_length": "scattering_vector"},
    "microscopy": {"length": "feature_size", "scale": "scale", "inverse_scale": "scale"},
    "spectra": {"inverse_length": "raman_shift"},
    "stability": {},
    "metallicity": {},
    "magnetism": {"moment": "magnetization"},
}
#: What a chain that is nothing but a number of this kind claims.
BARE: dict[str, dict[str, str]] = {
    "diffraction": {"length": "d_spacing"},
    "stability": {"energy": "energy_above_hull"},
    "metallicity": {"energy": "band_gap"},
}
#: Constraints whose ranges may be the span of an axis, with the widest range that is a position.
WIDEST_RANGE: dict[str, float] = {"angle": 5.0, "inverse_length": 60.0}


@cache
def kinds(constraint: str) -> frozenset[str | None]:
    """The kinds of number that can be a claim under a constraint; None is a number alone."""
    named = {kind for cue in _CUES[constraint] if cue.quantity for kind in cue.kinds}
    return frozenset({None, *named, *DEFAULTS[constraint]} - {"none"})


@cache
def scanner(constraint: str) -> tuple[re.Pattern[str], tuple[Cue, ...]]:
    """One pattern that finds every cue of a constraint (group ``c<i>``), and the cues."""
    cues = _CUES[constraint]
    union = "|".join(f"(?P<c{i}>{cue.pattern})" for i, cue in enumerate(cues))
    return re.compile(rf"(?<![a-z0-9])(?=[^\s.,;()\[\]\"'])(?:{union})"), cues
