"""Claims that are words: stable, metallic, ferromagnetic, and their denials."""

from __future__ import annotations

import re
from bisect import bisect_left

from matpcr_utils.claims.context import is_denied
from matpcr_utils.claims.measured import Found
from matpcr_utils.claims.scope import Negation, Scope
from matpcr_utils.claims.tables import headers
from matpcr_utils.claims.vocabulary import Word, lexicon

_ANSWER = re.compile(
    r"[\"'`*)]{0,3}\s{0,3}[:=|?]\s{0,3}[\"'`*|(]{0,4}\s{0,2}(true|yes|false|no"
    r"|1(?=[,}])|0(?=[,}]))(?![a-z0-9])"
)
_KEY = re.compile(
    r"[\"']\s{0,2}:|\s?=\s?(?:none|null|true|false)|_[a-z]|\s{0,2}:\s{0,2}(?:null"
    r"|none)(?![a-z])"
)
_OR = re.compile(
    (
        r"\s{0,2}(?:,?\s?(?:or|vs\.?|versus)\s|/)\s{0,2}(?:(?:an?|the|is|it|be|rather"
        r"|thermodynamically|instead)\s){0,2}"
    ),
)
_MIGHT = re.compile(
    r"(?:may|might|could|can)\s(?:well\s|possibly\s|perhaps\s|also\s|still\s|be\s"
    r"|in\sprinciple\s)*(?:an?\s)?$"
)
_TO_BE = re.compile(
    r"(?:for|criterion|criteria|condition|required|requirement"
    r"|threshold)\s[^.;]{0,40}(?:to\sbe|for\sbeing|of\sbeing)\s(?:an?\s"
    r"|thermodynamically\s)?$"
)
_PART = re.compile(
    r"(?:ion|atom|site|element|cent(?:er|re)|cation|layer|sublattice|sheet|plane"
    r"|chain|surface|bond|precursor"
    r"|constituent|competitor|defect|dopant|interstitial|vacanc(?:y|ie))s?\s(?:is"
    r"|are|being|itself\sis)\s(?:\w{1,12}\s){0,2}$"
)
_REPLY = re.compile(r"[?]\s{0,3}(?:[aA]nswer:\s)?(yes|no)(?![a-z])")
_CELL = re.compile(r"[\s*\"'`]{0,4}(true|yes|false|no)[\s*\"'`.]{0,4}")
_INSTEAD = re.compile(r"\s{0,2}[,(–—-]?\s?(?:and\s)?")
#: How far before a number a phrase that needs to stand alone may end.
_ALONE = 40


def read_labels(
    text: str, low: str, scope: Scope, constraint: str, measured: list[Found], numbers: list[int]
) -> list[Found]:
    """The label claims of a plain text.

    `measured` are its number claims, already read; `numbers` is where numbers of a kind that the
    constraint knows start.
    """
    vocabulary = lexicon(constraint)
    if vocabulary is None:
        return []
    quantity, pattern, words = vocabulary
    strong: list[tuple[Found, Word, Negation]] = []
    weak: list[Found] = []
    columns = _columns(text, low)
    since = 0  # a negator inside an earlier phrase is spent
    for match in pattern.finditer(low):
        word = words[int(str(match.lastgroup)[1:])]
        answered = columns.get(low.rfind("|", 0, match.start()) + 1) if columns else None
        if answered:
            strong += _below(answered, word, quantity)
            continue
        claim = None
        if not (word.alone and _has_number(numbers, match, scope)):
            claim = _claim(match, word, quantity, text, low, scope, since)
        if scope.denies_within(*match.span()):
            since = match.end()
        if claim is None:
            continue
        if word.weak:
            weak += [claim[0]] if claim[0].value else []
        else:
            strong.append((claim[0], word, claim[1]))
    found = _contrasts(strong, low, scope)
    if weak and not found and not measured:
        return weak[:1]
    return found


def _claim(
    match: re.Match[str],
    word: Word,
    quantity: str,
    text: str,
    low: str,
    scope: Scope,
    since: int,
) -> tuple[Found, Negation] | None:
    start, end = match.span()
    if word.label is None or (word.upper and not _capital(text[start:end])):
        return None
    answer = _ANSWER.match(low, end)
    reply = _reply(low, end, scope) if scope.mark(start) == "?" else None
    if answer is not None and low[end : answer.start(1)].count("?") == 0:
        polarity = answer[1] in ("true", "yes", "1")
        value = word.label if polarity else word.negated
        begin, stop = start, answer.end()
        return (Found(quantity, value, begin, stop, start), Negation.NONE) if value else None
    if _KEY.match(low, end) or (start and low[start - 1] == "_" and not word.upper):
        return None
    if reply is not None:
        value = word.label if reply == "yes" else word.negated
        return (Found(quantity, value, start, end, start), Negation.NONE) if value else None
    before = low[max(0, start - 60) : start]
    if scope.supposed(start) or _MIGHT.search(before) or _TO_BE.search(before):
        return Found(quantity, "", start, end, start), Negation.NONE
    if is_denied(low, end) or _PART.search(before):
        return None
    negated, at = scope.negation(start, since)
    if negated is Negation.EXCLUDED:
        return None
    value = word.negated if negated is Negation.FLIPPED else word.label
    begin = at if negated is Negation.FLIPPED or at < start else start
    return Found(quantity, value or "", begin, end, start), negated


def _columns(text: str, low: str) -> dict[int, list[re.Match[str]]]:
    """The yes and no cells of every table column, by where its header starts."""
    columns: dict[int, list[re.Match[str]]] = {}
    for start, end, header, _ in headers(text) if "|" in text else []:
        answer = _CELL.fullmatch(low, start, end)
        if answer:
            columns.setdefault(header, []).append(answer)
    return columns


def _below(
    answers: list[re.Match[str]], word: Word, quantity: str
) -> list[tuple[Found, Word, Negation]]:
    """What the yes and no cells below a header that names a label claim."""
    found = []
    for answer in answers:
        value = word.label if answer[1] in ("true", "yes") else word.negated
        if value:
            at, end = answer.span(1)
            found.append((Found(quantity, value, at, end, at), word, Negation.NONE))
    return found


def _contrasts(found: list[tuple[Found, Word, Negation]], low: str, scope: Scope) -> list[Found]:
    """Drop what is only weighed ("stable or unstable") and what a "but" takes back."""
    dropped: set[int] = set()
    for i, (claim, _, negated) in enumerate(found[:-1]):
        other, _, other_negated = found[i + 1]
        if negated is Negation.NONE and other_negated is Negation.NONE:
            if claim.value != other.value and _OR.fullmatch(low[claim.end : other.at][:40]):
                dropped |= {i, i + 1}
        elif negated is Negation.NONE and other_negated is Negation.FLIPPED:
            if claim.value != other.value and _INSTEAD.fullmatch(low[claim.end : other.start][:9]):
                dropped.add(i + 1)  # "X, not Y" claims X alone
        elif other.value and negated is Negation.FLIPPED and other_negated is Negation.NONE:
            but = scope.but(claim.end)
            if (
                0 <= but < other.at
                and other.at - but < 60
                and scope.sentence(other.at) == scope.sentence(claim.at)
            ):
                dropped.add(i)  # "not X but Y" claims Y alone
    return [claim for i, (claim, _, _) in enumerate(found) if i not in dropped and claim.value]


def _has_number(numbers: list[int], match: re.Match[str], scope: Scope) -> bool:
    """Whether a number says how much the phrase means: "has a gap of 1.1 eV"."""
    i = bisect_left(numbers, match.start())
    reach = min(match.end() + _ALONE, scope.sentence(match.start())[1])
    return i < len(numbers) and numbers[i] <= reach


def _capital(written: str) -> bool:
    return written.isupper() or written == "FiM"


def _reply(low: str, end: int, scope: Scope) -> str | None:
    """The yes or no that follows a question right away."""
    _, stop = scope.sentence(end)
    match = _REPLY.match(low, stop)
    return match[1] if match else None
