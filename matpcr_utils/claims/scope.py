"""What is asserted: sentences, negation, questions, conditions.

Everything is found in one pass over the lower-case text and kept as sorted positions, so that a
question about one place costs a binary search, however long the chain.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right, insort
from enum import IntEnum


class Negation(IntEnum):
    """How a place is negated."""

    NONE = 0
    #: "not", "never": the opposite is said.
    FLIPPED = 1
    #: "rather than", "instead of", "unlike": nothing is said of it.
    EXCLUDED = 2


_EVENT = re.compile(
    r"""
    (?P<end>[.!?](?=["')\]*]{0,3}(?:\s|$))(?<!e\.g\.)(?<!i\.e\.)(?<!\bca\.)(?<!\bapprox\.)(?<!\bfig\.)(?<!\bvs\.)
       (?<!\bcf\.)(?<!\bf\.u\.)(?<!\bresp\.)|\n|;)
    |(?<![a-z0-9])(?:
     (?P<exempt>not\s(?:only|just|merely|simply|least)|no\s(?:doubt|question|surprise|wonder|wait)|nonetheless
       |cannot\s(?:rule\sout|exclude)|not\s(?:rule\sout|exclude|exceed)|wait,?\sno
       |no[,.:!](?=\s)|no\sfewer|no\s(?:more|less)\sthan|not\s(?:more|less)\sthan|whether\sor\snot|or\snot|if\snot)
     |(?P<excluded>rather\sthan|instead\sof|as\sopposed\sto|in\scontrast\s(?:to|with)|unlike(?![a-z])|compared\s(?:with|to)
       |not\s(?:necessarily|clear|sure|certain|known|obvious|mean|imply|guarantee|enough|conclusive)
       |cannot\s(?:tell|know|say|determine|decide|conclude|confirm)|unclear|unsure|not\s(?:tell|know|say|determine|decide)
       |for\sa\s\w{1,20}\sto\sbe|(?:classif|label|defin|report)\w{1,4}\s(?:by\sothers\s)?as\s(?:either|one)|(?:wrong|mistaken)\sabout|mistaken\sfor|mislabel\w+
       |no\s(?:information|data|evidence|indication|way\sto))
     |(?P<flipped>not\b|cannot|never|neither|nor\b|no\slonger|no\b|none\b|nobody|nothing|without|lacks?\b|lacking|hardly|scarcely
       |far\sfrom|anything\sbut|unlikely|fails?\sto|rules?\sout|ruled\sout|ruling\sout|excludes?\b|denies|deny|doubt
       |false\sthat|wrong\s(?:that|to)|absence\sof|lack\sof|isnt|doesnt|wont|cant|arent|non(?=\s))
     |(?P<suppose>would\s(?:make|render|turn|imply|mean|suggest)|(?:might|would)\sbe\sexpect|might\sexpect|one\s(?:would|might)\sexpect|if\b|whether|suppos\w+|assum(?:e|es|ing)\b|provided\sthat|unless|were\sit|had\sit|imagine|hypothetical\w*|in\scase)
     |(?P<menu>asks?\s(?:for|me|us|about)|asked\s(?:for|to|about|whether|if)|task\sis|options?\s?(?:are|:)
       |choices?\s?(?:are|:)|choose\s(?:between|from|one)|decide\sbetween|classify\s\w+\sas\s(?:either|one)|question\s?(?:is|:))
     |(?P<then>then\b)|(?P<would>would|could\b|might\b)
     |(?P<breaks>but\b|however|although|though\b|because|since\b|so\b|therefore|thus\b|hence|whereas|while\b|which\b|who\b
       |instead\b(?!\sof)|rather,|→|⇒|and\b(?!\s{0,2}(?:at\s|~|≈|about\s)?[\d~≈])|yet\b(?=\s(?:it|the|is|has)))
    )
    |(?P<excluded_nt>n't\s(?:necessarily|clear|sure|certain|known|obvious|mean|imply|guarantee|tell|know|say|determine)(?![a-z]))
    |(?P<nt>n't\b)
    |(?P<comma>,(?=\s?[^\s\d(~≈])(?!\s(?:or|nor|at\s\d|and\s\d))|:(?=\s)|—|\s–\s|(?<!\d\d\d)(?<!\d\s\d)\)|\|)
    """,
    re.VERBOSE,
)
_GENERIC = re.compile(
    r"[\s>*#\d.)-]{0,6}(?:(?:in general|generally|typically|usually"
    r"|by definition),?\s)?"
    r"(?:(?:most|many|all|some|typical|ordinary|common|other|several|pure|simple"
    r"|such|these kinds of)\s)?"
    r"(?:(?!the |this |it |its |both |my |our )[a-z-]{2,18}\s){0,2}"
    r"(?:metals|semiconductors|insulators|semimetals|oxides|sulfides|nitrides|alloys"
    r"|compounds|materials|phases"
    r"|ferromagnets|antiferromagnets|magnets|dielectrics|half-metals)\s"
    r"(?:\([^()]{1,40}\)\s)?(?:such|like|have|are|show|with|typically|usually"
    r"|generally|often|tend|can|exhibit|possess|lack)"
    r"|\s{0,3}an?\s(?:[a-z-]{2,16}\s)?(?:compound|material|phase|structure|metal"
    r"|semiconductor|insulator|semimetal"
    r"|ferromagnet|antiferromagnet|solid|crystal)\s(?:has|must|is\s(?:defined|one"
    r"|called|considered|said)|should|cannot"
    r"|requires|needs|lies|that|which)\s"
)

#: Negators that govern a phrase ("without a gap"), and how the clause after it begins.
_WITHOUT = ("without", "lacking", "lack of", "absence of")
_CLAUSE = re.compile(
    r"(?<![a-z])(?:the|this|it|that)(?:\s[a-z-]{1,20}){0,2}?\s(?:is|are|has|must|should|will|becomes)(?![a-z])"
)


#: Openings that reject a phrase, and how the clause after it begins.
_OPENS = ("instead", "unlike", "rather")
_FINDS = re.compile(
    r"(?<![a-z])(?:i|we)\s(?:find|see|read|get|measure|obtain|observe|estimate|have|would)(?![a-z])"
)


class Scope:
    """Sentences and negations of one plain lower-case text."""

    __slots__ = (
        *("_comma", "_ends", "_excluded", "_flipped", "_halt", "_marks", "_menu", "_starts"),
        *("_stop", "_suppose", "_would", "low"),
    )

    def __init__(self, low: str) -> None:
        self.low = low
        self._ends: list[int] = []
        self._starts = [0]
        self._marks: list[str] = []
        self._flipped: list[int] = []
        self._excluded: list[int] = []
        self._suppose: list[int] = []
        self._would: list[int] = []
        self._stop: list[int] = []
        self._halt: list[int] = []
        self._menu: list[int] = []
        self._comma: list[int] = []
        negator_end = -9
        for match in _EVENT.finditer(low):
            name, at = match.lastgroup, match.start()
            if name == "end":
                self._ends.append(at)
                self._starts.append(match.end())
                self._marks.append(low[at])
            elif name in ("flipped", "nt"):
                negator_end = match.end()
                self._flipped.append(at)
                if low.startswith("nor", at):  # "neither X nor Y" denies each once
                    self._stop.append(at)
                elif low.startswith(_WITHOUT, at) or low.endswith("with ", at - 5, at):
                    self._end_of_phrase(match.end())
            elif name in ("excluded", "excluded_nt"):
                self._excluded.append(at)
                found = _FINDS.search(low, at, at + 80) if low.startswith(_OPENS, at) else None
                if found is not None:  # "instead of X I find Y"
                    insort(self._stop, found.start())
            elif name == "suppose":
                self._suppose.append(at)
            elif name == "menu":
                self._menu.append(at)
            elif name == "would":
                self._would.append(at)
            elif name in ("breaks", "then"):
                self._stop.append(at)
                if not low.startswith("and", at):
                    self._halt.append(at)
            elif name == "comma" and at > negator_end + 1:
                self._comma.append(at)
        self._ends.append(len(low))
        self._marks.append("")

    def _end_of_phrase(self, at: int) -> None:
        """Stop a negator that governs a phrase where the main clause begins."""
        clause = _CLAUSE.search(self.low, at, at + 80)
        if clause is not None:
            insort(self._stop, clause.start())

    def sentence(self, at: int) -> tuple[int, int]:
        """Start and end of the sentence around a position."""
        i = bisect_left(self._ends, at)
        i = min(i, len(self._ends) - 1)
        return self._starts[i], self._ends[i]

    def mark(self, at: int) -> str:
        """The mark that ends the sentence around a position."""
        return self._marks[min(bisect_left(self._ends, at), len(self._marks) - 1)]

    def negation(self, at: int, since: int = 0) -> tuple[Negation, int]:
        """How a position is negated, and where the negator that decides it starts.

        Two negators in one clause cancel. Negators before `since` are not looked at.
        """
        start, _ = self.sentence(at)
        start = max(start, since)
        start = max(start, _last(self._stop, at, start), _last(self._comma, at, start))
        excluded = _last(self._excluded, at, start, -1)
        low = bisect_left(self._flipped, start)
        high = bisect_left(self._flipped, at)
        if excluded >= 0:
            return Negation.EXCLUDED, excluded
        if (high - low) % 2:
            return Negation.FLIPPED, self._flipped[high - 1]
        return Negation.NONE, self._flipped[low] if high > low else at

    def denies_within(self, start: int, end: int) -> bool:
        """Whether a phrase carries its own negator ("absence of a gap")."""
        return bisect_left(self._flipped, start) < bisect_left(self._flipped, end)

    def supposed(self, at: int) -> bool:
        """Whether a position stands in a condition, a question, or a general statement."""
        start, end = self.sentence(at)
        if self.mark(at) == "?":
            return True
        if _last(self._menu, end, start, -1) >= 0:
            return True
        i = bisect_left(self._suppose, start)
        if i < len(self._suppose) and self._suppose[i] < at:
            nearest = self._suppose[bisect_left(self._suppose, at) - 1]
            if _last(self._comma, at, nearest, -1) < 0 and _last(self._halt, at, nearest, -1) < 0:
                return True
            j = bisect_left(self._would, self._suppose[i])
            if j < len(self._would) and self._would[j] < end:
                return True
        if _last(self._would, at, start, -1) >= 0 and _last(self._suppose, end, at, -1) >= 0:
            return True  # "it would be stable if …"
        return bool(_GENERIC.match(self.low, start))

    def but(self, at: int) -> int:
        """Where a "but" follows in the same sentence; -1 if none does."""
        _, end = self.sentence(at)
        first = bisect_right(self._stop, at)
        for stop in self._stop[first : first + 8]:
            if stop >= end:
                break
            if self.low.startswith("but", stop):
                return stop
        return -1


def _last(positions: list[int], before: int, since: int, default: int | None = None) -> int:
    """The last position in [since, before); `default` (or `since`) if there is none."""
    i = bisect_left(positions, before) - 1
    if i >= 0 and positions[i] >= since:
        return positions[i]
    return since if default is None else default
