"""A chunk's plain text cut into quotable units, each an exact substring with its offsets.

Two cuts. `split_sentences` finds sentences, lines, list items and table rows in French and English
and never cuts inside mathematics, a decimal or an abbreviation. `units` joins what cannot stand
alone: a lead-in ending in a colon, a table's header row, anything too short to be a quote.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass

#: A quote has at least 20 characters after trimming (the specification's answer gate).
MIN_QUOTE = 20
#: A lead-in takes the list it announces along up to this many characters; a choice: about a slide.
LEAD_IN_CHARS = 500
#: A line shorter than this that ends without punctuation is a heading or an item, not wrapped
#: prose.
_WRAPPED_LINE = 55

_ABBREVIATIONS = frozenset(
    """
    p pp ex art al cf fig figs tab éq eq eqs chap ch vol sect sec réf ref no nos nº n° env
    approx dr mr mrs ms m mm mme mlle me prof st ste vs resp ann hab janv févr avr juil sept oct
    nov déc jan feb mar apr jun jul aug dec inc ltd ltée co dept univ ibid op cit viz ca incl
    excl min max tél s.o av bd éd ed eds trad suppl n.b p.ex c.-à-d i.e e.g a.m p.m
    """.split()  # noqa: SIM905  a block of words reads better than quoted strings
)
_END = re.compile("(?:\\.{2,}|[.!?\u2026])+(?:[ \u00a0\u202f]?[»\u201d\u2019\"')\\]])*(?=\\s)")
_STARTS = re.compile("[\"'«\u201c\u2018(\\[\u2014\u2013$\\\\*_•-]|\\d")
_ITEM = re.compile(
    "[ \\t]*(?:[-*+•\u2013\u2014▪◦‣·►▸]|\\d{1,3}[.)]|[a-zA-Z][.)]|\\(\\w{1,3}\\))[ \\t\u00a0]+\\S"
)
_MARKER = re.compile("[ \\t]*(?:\\(?[\\da-zA-Z]{1,3}|(?:\\d+\\.)+\\d*)$")
_ROW = re.compile("\\||\\t")
_RULE = re.compile("[\\s|:+=-]+$")
_LABEL = re.compile("[^\\W\\d_][\\w'\u2019]*(?: [\\w'\u2019]+){0,3}[ \u00a0\u202f]?:\\s")
_STOPS = ".!?;\u2026$|"
_WHERE = re.compile("(?:où|avec|where|with)\\b")
_QUOTATION = re.compile("«[^»\\n]{1,400}»|\u201c[^\u201d\\n]{1,400}\u201d")
_MATH_HINT = re.compile("[\\\\^_]")

_At = Callable[[int], bool]


@dataclass(frozen=True, slots=True)
class Unit:
    """`text == source[start:end]`, without blanks at either end."""

    start: int
    end: int
    text: str


@dataclass(slots=True)
class _Part:
    start: int
    end: int
    line: int
    block: int
    item: bool
    row: bool


def math_spans(text: str) -> list[tuple[int, int]]:
    """The spans of `$…$` and `$$…$$`, delimiters included.

    A dollar is money unless it opens against a character and closes against one, with no digit
    after it (pandoc's rule, manual, `tex_math_dollars`); `\\$` is never a delimiter.
    """
    spans: list[tuple[int, int]] = []
    at = 0
    while at < len(text):
        if text[at] == "\\":
            at += 2
        elif text.startswith("$$", at):
            close = text.find("$$", at + 2)
            if close > 0:
                spans.append((at, close + 2))
                at = close + 2
            else:
                at += 2
        elif text[at] == "$":
            close = _inline_close(text, at)
            if close:
                spans.append((at, close))
            at = close or at + 1
        else:
            at += 1
    return spans


def _inline_close(text: str, start: int) -> int:
    """The offset just after the dollar that closes the one at `start`, or 0."""
    spaced = start + 1 < len(text) and text[start + 1].isspace()
    at = start + 1
    while at < len(text) and at - start < 2000:
        if text[at] == "\\":
            at += 2
            continue
        if text[at] == "\n" and text[at + 1 : at + 2] == "\n":
            return 0
        if text[at] == "$":
            inside = text[start + 1 : at]
            follows_digit = at + 1 < len(text) and text[at + 1].isdigit()
            if not inside.strip() or follows_digit:
                return 0
            if spaced or inside[-1].isspace():  # "$ x^2 $" in a source, or "5 $ et 7 $"
                return at + 1 if spaced and _MATH_HINT.search(inside) else 0
            return at + 1
        at += 1
    return 0


def split_sentences(text: str) -> list[tuple[int, int]]:
    """Spans of the sentences, list items, lines and table rows of `text`, in order, trimmed."""
    return [(part.start, part.end) for part in _parts(text)]


def units(text: str) -> list[Unit]:
    """Quotable units of `text`, in order, not overlapping.

    Each has at least `MIN_QUOTE` characters unless the whole text is shorter; together they cover
    every character that is not blank.
    """
    parts = _join_rows(_join_lead_ins(_join_explanations(_parts(text), text), text), text)
    parts = _join_short(parts)
    return [Unit(part.start, part.end, text[part.start : part.end]) for part in parts]


def table_spans(text: str) -> list[tuple[int, int]]:
    """Spans of the tables of `text`: two rows or more that follow each other. The first row is the
    header."""
    spans: list[tuple[int, int]] = []
    previous: _Part | None = None
    for part in _parts(text):
        if part.row and previous is not None and previous.row and previous.block == part.block:
            if not spans or spans[-1][1] != previous.end:
                spans.append((previous.start, part.end))
            else:
                spans[-1] = (spans[-1][0], part.end)
        previous = part
    return spans


def _parts(text: str) -> list[_Part]:
    math = math_spans(text)
    in_math = _within(math)
    in_quotation = _within([match.span() for match in _QUOTATION.finditer(text)])
    parts: list[_Part] = []
    block = 0
    for number, (start, end) in enumerate(_lines(text, in_math)):
        start, end = _trim(text, start, end)
        if start == end:
            block += 1
            continue
        line = text[start:end]
        item = _ITEM.match(line) is not None
        row = _ROW.search(_outside(line, start, math)) is not None
        ends = [] if row else _sentence_ends(text, start, end, in_math, in_quotation)
        at = start
        for cut in [*ends, end]:
            low, high = _trim(text, at, cut)
            if low < high:
                parts.append(_Part(low, high, number, block, item and at == start, row))
            at = cut
    return parts


def _outside(line: str, offset: int, math: list[tuple[int, int]]) -> str:
    """The line with its mathematics blanked: a bar in `$P(A|B)$` does not make a table."""
    out = line
    for start, end in math:
        if start < offset + len(line) and end > offset:
            low, high = max(start - offset, 0), min(end - offset, len(line))
            out = out[:low] + " " * (high - low) + out[high:]
    return out


def _within(spans: list[tuple[int, int]]) -> _At:
    """Whether an offset lies in one of `spans`, which are in order and do not overlap."""
    starts = [start for start, _ in spans]

    def within(at: int) -> bool:
        index = bisect_right(starts, at) - 1
        return index >= 0 and at < spans[index][1]

    return within


def _lines(text: str, in_math: _At) -> list[tuple[int, int]]:
    """Logical lines: a break inside mathematics or inside wrapped prose is no boundary."""
    lines: list[tuple[int, int]] = []
    start = 0
    for match in re.finditer("\\r\\n|[\\n\\r\\f\\v\\x1c-\\x1e\\x85\u2028\u2029]", text):
        if in_math(match.start()) or _wrapped(text, start, match.start(), match.end()):
            continue
        lines.append((start, match.start()))
        start = match.end()
    lines.append((start, len(text)))
    return lines


def _wrapped(text: str, start: int, end: int, following: int) -> bool:
    """Whether the break from `end` to `following` was put by an editor at the right margin."""
    before = text[max(start, text.rfind("\n", start, end) + 1) : end].rstrip()
    after = text[following : following + 200].split("\n", 1)[0]
    return (
        len(before) >= _WRAPPED_LINE
        and before[-1] not in ".!?:;\u2026|"
        and after[:1].islower()
        and _ITEM.match(after) is None
        and _ROW.search(before + after) is None
    )


def _sentence_ends(text: str, start: int, end: int, in_math: _At, in_quotation: _At) -> list[int]:
    """Where sentences end on one line; a quotation of several sentences is not cut."""
    ends = []
    for match in _END.finditer(text, start, end):
        if in_math(match.start()) or in_quotation(match.end()):
            continue
        following = text[match.end() : end].lstrip()
        if not following or not (following[0].isupper() or _STARTS.match(following)):
            continue
        if match.group()[0] in "…." and _is_elision(text, match, following):
            continue
        if match.group()[0] == "." and len(match.group().rstrip("»\u201d\"')] ")) == 1:
            word = text[start : match.start()].rsplit(None, 1)
            last = word[-1].lstrip("([«\"'\u201c\u2018") if word else ""
            last = re.split("['\u2019]", last)[-1]
            if _is_abbreviation(last) or _MARKER.fullmatch(text[start : match.start()]):
                continue
        ends.append(match.end())
    return ends


def _is_elision(text: str, match: re.Match[str], following: str) -> bool:
    """`[…]` and the `…` before a number leave something out; they end nothing."""
    dots = match.group().rstrip("»”’\"')] \u00a0\u202f")
    if dots == ".":
        return False
    return text[match.start() - 1 : match.start()] in {"[", "("} or following[0].isdigit()


def _is_abbreviation(word: str) -> bool:
    """Whether `word`, without its final dot, is an abbreviation, an initial or dotted letters."""
    return (
        word.lower() in _ABBREVIATIONS
        or (len(word) == 1 and word.isalpha())
        or re.fullmatch("(?:\\w\\.)+\\w", word) is not None
    )


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _merge(left: _Part, right: _Part) -> _Part:
    return _Part(left.start, right.end, right.line, right.block, left.item, right.row)


def _join_lead_ins(parts: list[_Part], text: str) -> list[_Part]:
    out: list[_Part] = []
    at = 0
    while at < len(parts):
        part = parts[at]
        at += 1
        while at < len(parts) and _leads_in(text, part, parts[at]):
            listing = parts[at].item
            part = _merge(part, parts[at])
            at += 1
            while (
                listing
                and at < len(parts)
                and (parts[at].item or parts[at].line == parts[at - 1].line)
                and parts[at].end - part.start <= LEAD_IN_CHARS
            ):
                part = _merge(part, parts[at])
                at += 1
        out.append(part)
    return out


def _leads_in(text: str, part: _Part, following: _Part) -> bool:
    """A colon or dash at the end announces what follows; so do a clause that breaks off before a
    displayed formula, and the heading of a box (« Exemple : rue des Lilas ») on its own line."""
    line = text[part.start : part.end]
    if line.endswith((":", "—", "–")):
        return True
    if part.block != following.block or part.line == following.line or line[-1] in _STOPS:
        return False
    if "\n" in line:
        return False
    formula = text.startswith("$$", following.start) and not part.row
    return formula or (_LABEL.match(line) is not None and not part.row)


def _join_explanations(parts: list[_Part], text: str) -> list[_Part]:
    """« où $k$ est le taux » goes with the formula whose letters it explains."""
    out: list[_Part] = []
    for part in parts:
        explains = _WHERE.match(text, part.start, part.end) is not None
        if explains and out and text[: out[-1].end].endswith("$"):
            out[-1] = _merge(out[-1], part)
        else:
            out.append(part)
    return out


def _join_rows(parts: list[_Part], text: str) -> list[_Part]:
    """The header row stands with the first row below it; a rule between them says nothing alone."""
    out: list[_Part] = []
    at = 0
    while at < len(parts):
        part = parts[at]
        first = part.row and (at == 0 or not parts[at - 1].row or parts[at - 1].block != part.block)
        at += 1
        while (
            part.row
            and at < len(parts)
            and parts[at].row
            and parts[at].block == part.block
            and (first or _RULE.match(text, parts[at].start, parts[at].end) is not None)
        ):
            first = _RULE.match(text, parts[at].start, parts[at].end) is not None
            part = _merge(part, parts[at])
            at += 1
        out.append(part)
    return out


def _join_short(parts: list[_Part]) -> list[_Part]:
    """A part too short to be quoted joins the next of its block, else the one before, else any."""
    out = list(parts)
    at = 0
    while at < len(out):
        if out[at].end - out[at].start >= MIN_QUOTE or len(out) == 1:
            at += 1
            continue
        has_next = at + 1 < len(out)
        next_same = has_next and out[at + 1].block == out[at].block
        previous_same = at > 0 and out[at - 1].block == out[at].block
        if next_same or (has_next and not previous_same):
            out[at : at + 2] = [_merge(out[at], out[at + 1])]
        else:
            out[at - 1 : at + 1] = [_merge(out[at - 1], out[at])]
            at -= 1
    return out
