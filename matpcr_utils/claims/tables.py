"""Markdown tables: which header a cell stands under."""

from __future__ import annotations

import re
from itertools import pairwise

_RULE = re.compile(
    r"^[ \t]{0,8}\|?[ \t]{0,8}:?-{2,}:?[ \t]{0,8}(?:\|[ \t]{0,8}:?-{2,}:?[ \t]{0,8})*\|?[ \t]*$",
    re.M,
)


def headers(text: str) -> list[tuple[int, int, int, int]]:
    """Cells below a header, as (cell start, cell end, header start, header end), in order."""
    found: list[tuple[int, int, int, int]] = []
    for rule in _RULE.finditer(text):
        if "|" not in rule[0]:
            continue
        top = text.rfind("\n", 0, max(rule.start() - 1, 0)) + 1
        columns = _cells(text, top, rule.start() - 1)
        line = rule.end() + 1
        while line < len(text):
            end = text.find("\n", line)
            end = len(text) if end < 0 else end
            cells = _cells(text, line, end)
            if len(cells) < 2:
                break
            found.extend((*cell, *column) for cell, column in zip(cells, columns, strict=False))
            line = end + 1
    return found


def _cells(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Spans of the cells of one row."""
    bars = [i for i in range(start, end) if text[i] == "|"]
    if not bars:
        return []
    edges = bars if not text[start : bars[0]].strip() else [start - 1, *bars]
    if text[bars[-1] + 1 : end].strip():
        edges = [*edges, end]
    return [(a + 1, b) for a, b in pairwise(edges)]
