"""One plain spelling for what chains write in many, with a way back to the chain.

LaTeX, Markdown, HTML, JSON escapes, Unicode minus signs, superscripts and look-alike letters are
rewritten piece by piece; every piece remembers where it came from. Unicode's NFKC is not used: it
turns ``10⁻³`` into ``10−3``, a different number. Here it becomes ``10^-3``.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right

_SAME = {
    "−﹣－‐‑₋": "-",
    "‒": "–",
    "µμ": "µ",
    "ÅÅ": "Å",
    "θϑΘϴ": "θ",
    "°˚º∘◦": "°",
    "~∼～": "~",
    "≈≅≃⋍≒≐": "≈",
    "≤≦⩽": "≤",
    "≥≧⩾": "≥",
    "×✕✖⨯": "×",
    "·⋅∙•": "·",
    "/⁄∕／": "/",
    "'’‘ʼ": "'",
    '"“”„': '"',
    "Bʙᵦ": "B",
    "gᵍ": "g",
    "λƛ": "λ",
    "=＝": "=",
    "(（₍": "(",
    ")）₎": ")",
    "，": ",",
    "。": ".",
    "：": ":",
    "；": ";",
    "？": "?",
    # no-break and thin spaces may group thousands: they stay apart from the plain space
    "\u2009\u00a0\u202f\u2007\u2006\u2005\u2008\u200a": "\u2009",
}
#: One character for one, so positions do not move.
_TABLE: dict[int, str] = {ord(c): plain for many, plain in _SAME.items() for c in many}
_TABLE |= {ord(c): plain for c, plain in zip("₀₁₂₃₄₅₆₇₈₉", "0123456789", strict=True)}
_TABLE |= {ord(c): plain for c, plain in zip("ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", "aehijklmnoprstuvx", strict=True)}
_TABLE |= {0xFF10 + digit: str(digit) for digit in range(10)} | {0xFF0E: "."}
for _code in range(0x1D400, 0x1D800):  # mathematical alphanumeric letters, one for one
    _plain = unicodedata.normalize("NFKC", chr(_code))
    if len(_plain) == 1:
        _TABLE[_code] = _TABLE.get(ord(_plain), _plain)

_SUPERSCRIPT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")

_SYMBOLS = {
    **dict.fromkeys(("theta", "vartheta", "Theta"), "θ"),
    **dict.fromkeys(("mu", "textmu", "upmu", "micro"), "µ"),
    **dict.fromkeys(("AA", "angstrom", "Angstrom"), "Å"),
    **dict.fromkeys(("circ", "degree", "degrees", "textdegree", "deg"), "°"),
    **dict.fromkeys(("approx", "simeq", "cong", "approxeq"), "≈"),
    **dict.fromkeys(("sim", "thicksim"), "~"),
    **dict.fromkeys(("le", "leq", "leqslant"), "≤"),
    **dict.fromkeys(("ge", "geq", "geqslant"), "≥"),
    **dict.fromkeys(("cdot", "bullet"), "·"),
    **dict.fromkeys(("to", "rightarrow", "Rightarrow", "implies", "therefore"), " → "),
    **dict.fromkeys(("left", "right", "rm", "bf", "it", "displaystyle", "big", "Big", "hbox"), ""),
    **dict.fromkeys(("quad", "qquad", "space", "thinspace", "enspace", "hspace"), " "),
    **dict.fromkeys(("newline", "linebreak", "par", "item"), "\n"),
    **{"lambda": "λ", "alpha": "α", "beta": "β", "gamma": "γ", "nu": "ν", "Delta": "Δ"},
    **{"delta": "δ", "pi": "π", "times": "×", "pm": "±", "mp": "±", "minus": "-", "equiv": "="},
    **{"ll": "<", "lt": "<", "gg": ">", "gt": ">", "div": "÷", "ldots": "...", "dots": "..."},
    **{"nano": "n", "pico": "p", "milli": "m", "centi": "c", "kilo": "k"},
    **{"per": "/", "electronvolt": "eV", "eV": "eV", "percent": "%", "bohrmagneton": "µB"},
    **dict.fromkeys(("metre", "meter"), "m"),
    **{"nm": "nm", "um": "µm", "pixel": "px", "atom": "atom", "volt": "V", "kelvin": "K"},
}
_SIUNITX = {"SI": "si", "qty": "si", "SIrange": "range", "qtyrange": "range"}
_ENTITIES = {
    **{"nbsp": " ", "thinsp": "\u2009", "deg": "°", "mu": "µ", "micro": "µ", "theta": "θ"},
    **{"Aring": "Å", "angst": "Å", "minus": "-", "times": "×", "plusmn": "±", "ndash": "–"},
    **{"mdash": "—", "lambda": "λ", "lt": "<", "gt": ">", "amp": "&", "asymp": "≈", "le": "≤"},
    **{"ge": "≥", "Delta": "Δ", "quot": '"', "middot": "·", "alpha": "α", "sup2": "^2"},
}
_SPECIAL = re.compile(
    r"""
    (?P<degree>\^\s?\{?\s?(?:\\circ|\\degree|°)(?![A-Za-z])\s?\}?|\^\{(?:\\(?:rm|mathrm)\s?\{?\s?)?o\}{1,2})
    |(?P<ring>\\mathring\s?\{?\s?(?:\\mathrm\s?\{\s?)?A\s?\}{0,2}|A\u030a)
    |(?P<escape>(?:\\u[0-9a-fA-F]{4})+)
    |(?P<font>\\(?:rm|bf|it|sf)(?![A-Za-z])\s?)
    |\\(?P<command>[A-Za-z]+)\*?(?:\[[^\]\[]{0,40}\])?(?P<open>\s{0,2}\{)?
    |(?P<space>\\[,;:> ])
    |(?P<literal>\\[{}_%&\#$])
    |(?P<nothing>\\[()\[\]!"/\\]|\${1,2}|`{1,3}|[\u200b\u200c\u200d\u2060\ufeff]|</su[bp]>)
    |(?P<power>(?<=\d)\*\*(?=[-+]?\d))
    |(?P<mark>\*{2,3}|(?<![\s\d*])\*(?=[\s.,;:)]|$)|(?<![^\s(])\*(?=[^\s*]))
    |(?P<group>\{,\})
    |(?P<sup>\^\s?\{|<sup>)
    |(?P<sub>_\s?\{|<sub>)
    |(?P<pair>\}\s{0,2}\{)
    |(?P<brace>[{}])
    |(?P<raised>\^?[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+[⁺⁻]?)
    |&(?P<entity>[A-Za-z]{2,6}\d?);
    """,
    re.VERBOSE,
)
# Where a special piece can start; searching for these first is several times faster.
_START = re.compile(r"[\\$`*{}<&^⁰-⁻¹²³\u200b-\u200d\u2060\ufeff]|_(?=\s?\{)|A(?=\u030a)")


class Normal:
    """A chain in plain spelling.

    Attributes
    ----------
    text : str
        The plain text.
    low : str
        The same in lower case, position for position.
    """

    __slots__ = ("_pieces", "_starts", "low", "text")

    def __init__(self, chain: str) -> None:
        plain = chain if chain.isascii() else chain.translate(_TABLE)
        self._starts: list[int] = []
        self._pieces: list[tuple[int, int, bool]] = []
        self.text = self._rewrite(plain)
        low = self.text.lower()
        if len(low) != len(self.text):  # a few letters grow: "İ".lower() has two characters
            low = "".join(c.lower() if len(c.lower()) == 1 else c for c in self.text)
        self.low = low

    def _rewrite(self, plain: str) -> str:
        candidate = _START.search(plain)
        if candidate is None:
            return plain
        parts: list[str] = []
        opened: list[str] = []
        done = length = 0
        while candidate is not None:
            match = _SPECIAL.match(plain, candidate.start())
            if match is None:
                candidate = _START.search(plain, candidate.end())
                continue
            start, end = match.span()
            candidate = _START.search(plain, end)
            if start > done:
                self._add(length, done, start, True)
                parts.append(plain[done:start])
                length += start - done
            new = _replacement(match, opened)
            if new:
                self._add(length, start, end, False)
                parts.append(new)
                length += len(new)
            done = end
        if done < len(plain):
            self._add(length, done, len(plain), True)
            parts.append(plain[done:])
        return "".join(parts)

    def _add(self, at: int, start: int, end: int, kept: bool) -> None:
        self._starts.append(at)
        self._pieces.append((start, end, kept))

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where ``text[start:end]`` stands in the chain."""
        if not self._starts:
            return start, end
        first = bisect_right(self._starts, start) - 1
        last = bisect_right(self._starts, end - 1) - 1
        a, _, kept = self._pieces[first]
        begin = a + start - self._starts[first] if kept else a
        a, b, kept = self._pieces[last]
        return begin, a + end - self._starts[last] if kept else b


def _replacement(match: re.Match[str], opened: list[str]) -> str:
    """What one special piece becomes; `opened` is the stack of braces that are open."""
    name = match.lastgroup
    if name in ("command", "open"):
        return _command(match["command"], match["open"], opened)
    if name == "brace":
        return _brace(match[0], opened)
    if name == "pair":
        return _pair(match[0], opened)
    if name in ("sup", "sub"):
        if match[0][0] != "<":
            opened.append("silent")
        return "^" if name == "sup" else "_"
    if name == "raised":
        return "^" + match[0].lstrip("^").translate(_SUPERSCRIPT)
    if name == "escape":
        letters = "".join(chr(int(code, 16)) for code in match[0].split("\\u")[1:])
        letters = re.sub("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻]+", lambda m: "^" + m[0].translate(_SUPERSCRIPT), letters)
        return letters.translate(_TABLE)
    if name == "entity":
        return _ENTITIES.get(match["entity"], match[0])
    if name == "literal":
        return match[0][1:]
    if name == "space":
        return "\u2009" if match[0] == "\\," else " "
    return {"degree": "°", "ring": "Å", "group": ",", "power": "^"}.get(str(name), "")


def _command(name: str, brace: str | None, opened: list[str]) -> str:
    if brace:
        opened.append(_SIUNITX.get(name, "frac" if name.endswith("frac") else "silent"))
    if name in _SYMBOLS:
        return _SYMBOLS[name]
    if name == "ang":
        opened[-1:] = ["ang"]
        return ""
    if name == "bar":
        return "-"
    # wrappers such as \mathrm{…} leave no trace; "\nThe" is a line feed that was escaped twice
    return "" if brace or name in _SIUNITX else "\n" + name[1:] if name[0] == "n" else " " + name


def _brace(brace: str, opened: list[str]) -> str:
    if brace == "{":
        opened.append("plain")
        return "{"
    kind = opened.pop() if opened else "plain"
    return "}" if kind == "plain" else "°" if kind == "ang" else ""


def _pair(pair: str, opened: list[str]) -> str:
    kind = opened[-1] if opened else "plain"
    if kind == "si":
        return " "
    if kind == "range":
        opened[-1] = "si"
        return "–"
    if kind == "frac":
        return "/"
    return _brace("}", opened) + _brace("{", opened)
