"""Claims that are numbers: which of a chain's numbers state a checkable quantity."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass

from matpcr_utils.claims import context
from matpcr_utils.claims.cues import BARE, DEFAULTS, WIDEST_RANGE, Cue, kinds, scanner
from matpcr_utils.claims.numbers import Number, numbers
from matpcr_utils.claims.scope import Negation, Scope
from matpcr_utils.claims.tables import headers
from matpcr_utils.quantities import canonical, factor

_PLURAL = re.compile(r"(?:peak|line|reflection|band|maxim|mode|gap)(?:s|a)(?![a-z])")
_RANGE = re.compile(r"rang(?:e|ing)|from\s|region|window")
_CONTRAST = re.compile(r"\s?,?\s?(?:but|and|or|rather)\s(?:rather\s|is\s|about\s)?")
_FRAME = re.compile(r"(?i:answer|final|value|about|approximately|result)|\W")


@dataclass(slots=True)
class Found:
    """A claim in the plain text; `at` is where its number or word itself starts."""

    quantity: str
    value: float | str
    start: int
    end: int
    at: int
    basis: str | None = None


class Reader:
    """The numbers of one plain text, judged for one constraint."""

    def __init__(self, text: str, low: str, scope: Scope, constraint: str) -> None:
        self.text, self.low, self.scope, self.constraint = text, low, scope, constraint
        self.numbers = numbers(text)
        self._number_starts = [number.start for number in self.numbers]
        self._cues: list[tuple[int, int, Cue]] = []
        if self.numbers:
            pattern, cues = scanner(constraint)
            for match in pattern.finditer(low):
                cue = cues[int(str(match.lastgroup)[1:])]
                self._cues.append((match.start(), match.end(), cue))
        self._starts = [start for start, _, _ in self._cues]
        self._used: set[int] = set()
        self._headers = headers(text) if "|" in text and self.numbers else []
        self._header_starts = [cell[0] for cell in self._headers]
        self._last: tuple[int, str | None, int] = (-1, None, -1)  # end, kind, cue of the last group

    def claims(self) -> list[Found]:
        """The number claims, in order of position."""
        found: list[Found] = []
        group: list[Number] = []
        for number in self.numbers:
            if group and number.listed and number.kind == group[-1].kind:
                group.append(number)
            else:
                found += self._judge(group)
                group = [number]
        return found + self._judge(group)

    def quantified(self) -> list[int]:
        """Where the numbers start that are of a kind the constraint knows."""
        known = kinds(self.constraint) - {None}
        return [number.start for number in self.numbers if number.kind in known or number.word]

    def _judge(self, group: list[Number]) -> list[Found]:
        """The claims of a number, or of a list of numbers that share what is said of them."""
        if not group or group[0].kind not in kinds(self.constraint):
            return []
        first = group[0]
        kind = first.kind
        cue = self._governing(group)
        self._last = (group[-1].end, kind, cue)
        if cue >= 0:
            self._use(cue)
            quantity = self._cues[cue][2].quantity
            if quantity == "peak":
                quantity = "d_spacing" if first.kind == "length" else "two_theta"
        else:
            quantity = DEFAULTS[self.constraint].get(kind or "")
            if quantity is None and self._is_bare(group):
                quantity = BARE.get(self.constraint, {}).get(kind or "")
        if quantity is None or self.scope.supposed(first.start):
            return []
        negated, _ = self.scope.negation(first.start)
        if negated is Negation.FLIPPED and first.word and quantity == "band_gap":
            return [Found("metallicity", "nonzero_gap", first.start, first.end, first.start)]
        if negated is not Negation.NONE:
            return []
        return [claim for number in group if (claim := self._claim(number, quantity, cue))]

    def _use(self, cue: int) -> None:
        """Mark a cue as used, and those that stand right before it: "scissor correction"."""
        self._used.add(cue)
        while cue and self._cues[cue][0] - self._cues[cue - 1][1] <= 2:
            cue -= 1
            self._used.add(cue)

    def _between(self, start: int, end: int) -> str:
        """The text between two places, cut where no rule looks any further."""
        return self.low[start : min(end, start + context.REACH)]

    # --- which cue governs ---------------------------------------------------------------

    def _governing(self, group: list[Number]) -> int:
        """Position in `_cues` of the cue that says what the group is about; -1 for none."""
        first, last = group[0], group[-1]
        if first.kind is None:
            return self._unitless(group)
        header = self._header(first)
        if header >= 0:
            return header
        end, kind, cue = self._last
        if kind == first.kind and context.restates(self._between(end, first.start)):
            return cue
        before, after = self._before(first), self._after(last)
        if after >= 0 and self._cues[after][2].trailing:
            return after
        if before >= 0:
            gap = self._between(self._cues[before][1], first.start)
            if context.assigns(gap):
                return before
        return after if after >= 0 else before

    def _after(self, last: Number) -> int:
        i = bisect_left(self._starts, last.end)
        for j in range(i, min(i + 2, len(self._cues))):
            start, end, cue = self._cues[j]
            if not context.adjacent(self._between(last.end, start)):
                break
            if last.kind in cue.kinds and not self._leads_on(last, end):
                return j
        return -1

    def _leads_on(self, last: Number, cue_end: int) -> bool:
        """Whether the cue that ends at `cue_end` introduces the number after `last`."""
        i = bisect_right(self._number_starts, last.start)
        if i == len(self.numbers) or self.numbers[i].start < cue_end:
            return False
        following = self.numbers[i]
        same = following.kind in (None, last.kind)
        return same and context.leads_on(self._between(cue_end, following.start))

    def _before(self, first: Number) -> int:
        kind = first.kind
        sentence, _ = self.scope.sentence(first.start)
        blocked = False
        i = bisect_left(self._starts, first.start) - 1
        for j in range(i, max(i - 8, -1), -1):
            start, end, cue = self._cues[j]
            overlaps = end > first.start and cue.quantity is not None
            if kind not in cue.kinds or cue.trailing or overlaps:
                continue
            if start < sentence:
                carries = cue.quantity not in (None, "theta") and not blocked
                return j if carries and sentence - start <= 300 else -1
            gap = self._between(end, first.start)
            if self._is_narrow(first) and _RANGE.match(self.low, start):
                continue  # "in the range 28.4–28.6°" is a place
            if cue.quantity is None and self._is_spent(j, gap):
                blocked = True
                continue
            if cue.quantity == "peak" and kind == "length" and not context.locates(gap):
                continue
            return j if context.assigns(gap) and gap.strip() == "at" else self._head(j, kind)
        return -1

    def _is_spent(self, j: int, gap: str) -> bool:
        """Whether a cue without a quantity no longer reaches the number at the end of `gap`."""
        if j in self._used or context.spent(gap):
            return True
        start, end, _ = self._cues[j]
        before, cue = self.low[max(0, start - 40) : start], self.low[start:end]
        return context.sets_scene(before, cue, gap)

    def _head(self, j: int, kind: str | None) -> int:
        """The cue that `j` only completes, as "peak" does in "FWHM of the peak"; else `j`."""
        if j and j - 1 not in self._used:
            cue = self._cues[j - 1][2]
            if self._completes(j) and cue.quantity is None and kind in cue.kinds:
                return j - 1
        return j

    def _completes(self, j: int) -> bool:
        """Whether a cue only completes the one before it."""
        return context.complements(self._between(self._cues[j - 1][1], self._cues[j][0]))

    def _unitless(self, group: list[Number]) -> int:
        """As `_governing`, for numbers without a unit; on success they are given one."""
        first = group[0]
        if first.word and self.constraint == "magnetism":
            return -1  # "the net moment is zero" is a label
        header = self._header(first)
        if header >= 0:
            _, _, a, b = self._cell(first)  # type: ignore[misc]
            if self._cues[header][2].strict and first.value <= 30 and not first.decimal:
                return -1  # a column that numbers the peaks
            return header if self._give_unit(group, self._cues[header][2], self.text[a:b]) else -1
        i = bisect_left(self._starts, first.start) - 1
        for j in range(i, max(i - 3, -1), -1):
            start, end, cue = self._cues[j]
            if end > first.start or "none" not in cue.kinds:
                continue
            gap = self._between(end, first.start)
            if not context.introduces(gap, cue.strict and not first.word):
                if j and cue.strict and self._completes(j):
                    continue  # "the 2θ of the peak is 28.4"
                break
            region = self.text[max(start, first.start - context.REACH) : first.start]
            return j if self._give_unit(group, cue, region) else -1
        return self._unitless_after(group)

    def _unitless_after(self, group: list[Number]) -> int:
        """ "zero band gap", "28.44 two-theta"."""
        last = group[-1]
        i = bisect_left(self._starts, last.end)
        if i < len(self._cues):
            start, end, cue = self._cues[i]
            near = context.adjacent(self._between(last.end, start))
            near = near and not self._leads_on(last, end)
            states = last.word or cue.quantity == "two_theta"
            if near and states and not cue.strict and "none" in cue.kinds:
                return i if self._give_unit(group, cue, "") else -1
        return -1

    def _give_unit(self, group: list[Number], cue: Cue, region: str) -> bool:
        hint = context.unit_hint(region)
        if cue.quantity is None:
            return False
        if hint is None and cue.unit is None:
            return False
        kind, unit, basis = hint or (cue.kind, cue.unit, None)
        if kind not in cue.kinds and kind != cue.kind:
            return False
        for number in group:
            if group[0].decimal and not number.decimal and cue.quantity in ("two_theta", "peak"):
                number.dropped = True
            number.kind, number.unit, number.basis = kind, unit, number.basis or basis
        return True

    def _cell(self, number: Number) -> tuple[int, int, int, int] | None:
        i = bisect_left(self._header_starts, number.start + 1) - 1
        if i >= 0 and number.start < self._headers[i][1]:
            return self._headers[i]
        return None

    def _header(self, number: Number) -> int:
        """The cue in the header of the table column that a number stands in; -1 for none."""
        cell = self._cell(number)
        if cell is None:
            return -1
        i = bisect_left(self._starts, cell[2])
        while i < len(self._cues) and self._cues[i][0] < cell[3]:
            if (number.kind or "none") in self._cues[i][2].kinds:
                return self._row(number, i)
            i += 1
        return -1

    def _row(self, number: Number, header: int) -> int:
        """The cue in the first cell of a number's row if it makes it no claim; else `header`."""
        line = self.low.rfind("\n", 0, number.start) + 1
        kind = number.kind or self._cues[header][2].kind
        i = bisect_left(self._starts, line)
        if i < len(self._cues) and self._cues[i][0] < number.start:
            start, end, cue = self._cues[i]
            first = not self.low[line:start].strip(" |*") and self.low.find("|", end) >= 0
            if first and cue.quantity is None and kind in cue.kinds:
                return i
        return header

    # --- what the number says ------------------------------------------------------------

    def _is_bare(self, group: list[Number]) -> bool:
        before, after = self.text[: group[0].start], self.text[group[-1].end :]
        return len(before) + len(after) < 40 and not _FRAME.sub("", before + after)

    def _claim(self, number: Number, quantity: str, cue: int) -> Found | None:
        low = self.low
        before = low[max(0, number.start - 40) : number.start]
        if (
            number.dropped
            or number.unit is None
            or context.is_bound(before, self.constraint == "microscopy")
            or context.is_denied(low, number.end)
            or self._is_span(number, cue)
        ):
            return None
        value = number.value
        if quantity == "theta":
            quantity, value = "two_theta", 2 * value
        if number.kind == "inverse_scale":
            if value == 0:
                return None
            value = factor(number.unit, "nanometer/pixel") / value
        else:
            per = "/pixel" if quantity == "scale" and number.kind == "length" else ""
            value = canonical(quantity, value, number.unit + per)
        if cue < 0 and quantity == "two_theta" and not 0 < value <= 180:
            return None
        basis = self._basis(number, quantity)
        return Found(quantity, value, number.start, number.end, number.start, basis)

    def _is_narrow(self, number: Number) -> bool:
        """Whether a range can be the place of one peak."""
        widest = WIDEST_RANGE.get(number.kind or "", 0)
        return 0 < number.width <= widest and number.unit in ("degree", "1/centimeter")

    def _is_span(self, number: Number, cue: int) -> bool:
        """Whether a range is the span of an axis and not the place of a peak."""
        widest = WIDEST_RANGE.get(number.kind or "")
        if not number.width or widest is None or number.width <= widest:
            return False
        if cue < 0:
            return True
        start, end, _ = self._cues[cue]
        return end > number.start or bool(_PLURAL.match(self.low, start))

    def _follows(self, i: int) -> bool:
        """Whether a number shares what is said before the number it follows: "not 4 μB but 5"."""
        last, number = self.numbers[i - 1], self.numbers[i]
        gap = self._between(last.end, number.start)
        return last.kind == number.kind and last.basis is None and bool(_CONTRAST.fullmatch(gap))

    def _basis(self, number: Number, quantity: str) -> str | None:
        if quantity not in ("energy_above_hull", "magnetization"):
            return None
        if number.basis is None:
            sentence, end = self.scope.sentence(number.start)
            i = bisect_left(self._number_starts, number.start)
            j = i
            while j and number.start - self.numbers[j - 1].end <= 40 and self._follows(j):
                j -= 1
            begin = self.numbers[j - 1].end if j else 0
            begin = max(begin, sentence, number.start - context.REACH)
            stop = self.numbers[i + 1].start if i + 1 < len(self.numbers) else len(self.low)
            after = self.low[number.end : min(stop, end, number.end + 24)]
            before = self.low[begin : number.start]
            number.basis = context.basis_hint(after) or context.basis_hint(before)
            if number.basis is None and quantity == "magnetization":
                number.basis = context.owner_basis(before)
        if quantity == "energy_above_hull":
            return number.basis or "atom"
        return number.basis
