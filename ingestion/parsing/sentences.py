"""Where sentences end in French and English course prose."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ingestion.parsing.tree import Code, Emphasis, Inline, Link, Math, Strong, Text

if TYPE_CHECKING:
    from collections.abc import Sequence

_END = re.compile(
    r"(?:[.!?…]|(?<=[.!?…])\s?[»”\")\]])\s+(?=[«“\"(\[]?\s?[A-ZÀ-ÖØ-ÞŒ$\\])", re.UNICODE
)
_ABBREVIATION = re.compile(
    r"(?:^|[\s(«“'’])(?:[A-ZÀ-Þ]|p|pp|p\. ?ex|par ex|ex|cf|fig|figs|eq|éq|art|al|chap|ch|sec|sect|"
    r"no|nos|vol|M|MM|Mme|Mmes|Mlle|Dr|Pr|Prof|Mr|Mrs|Ms|St|Ste|vs|e\.g|i\.e|c\.-à-d|env|approx|"
    r"resp|max|min|tél|tel|ref|réf|def|déf|th|thm|prop|ed|éd|Inc|Ltd|Corp|Jr|Sr|\d{1,2})\.$",
    re.IGNORECASE,
)
_ONLY_CASE = re.compile(r"[A-ZÀ-Þ]\.$")


def boundaries(text: str, protected: Sequence[tuple[int, int]] = ()) -> list[int]:
    """Offsets at which a new sentence starts; never inside a protected range or brackets."""
    found: list[int] = []
    for match in _END.finditer(text):
        stop = match.end()
        head = text[max(0, match.start() - 14) : match.start() + 1]
        if text[match.start()] == "." and _ABBREVIATION.search(head) and not _closes(head):
            continue
        if any(start < stop - 1 < end or start < match.start() < end for start, end in protected):
            continue
        if _open_brackets(text, found[-1] if found else 0, match.start() + 1, protected):
            continue
        found.append(stop)
    return found


def _closes(head: str) -> bool:
    """An abbreviation list match that is in fact an ordinary short word ending a sentence."""
    word = re.split(r"[\s(«“'’]", head)[-1]
    return len(word) > 2 and word[:-1].isdigit() and len(word) > 3


def _open_brackets(text: str, start: int, end: int, protected: Sequence[tuple[int, int]]) -> bool:
    depth = 0
    for at in range(start, end):
        char = text[at]
        if char in "(«[":
            depth += 1
        elif char in ")»]":
            depth = max(0, depth - 1)
    return depth > 0 and not any(s <= start and end <= e for s, e in protected)


def cut(inlines: Sequence[Inline], at: int) -> tuple[tuple[Inline, ...], tuple[Inline, ...]]:
    """The inlines before and after `at` characters of their plain text; formulas stay whole."""
    before: list[Inline] = []
    rest = list(inlines)
    left = at
    while rest:
        inline = rest[0]
        size = width((inline,))
        if size <= left:
            before.append(rest.pop(0))
            left -= size
            if left == 0 and size:
                break
            continue
        if left and isinstance(inline, Text):
            before.append(Text(inline.text[:left]))
            rest[0] = Text(inline.text[left:])
        elif left and isinstance(inline, Strong | Emphasis):
            head, tail = cut(inline.children, left)
            before.append(type(inline)(head))
            rest[0] = type(inline)(tail)
        break
    return tuple(before), tuple(rest)


def width(inlines: Sequence[Inline]) -> int:
    """Characters of the plain text of inlines, as `raw` writes them."""
    return len(raw(inlines)[0])


def raw(inlines: Sequence[Inline]) -> tuple[str, list[tuple[int, int]]]:
    """Plain text of inlines on one line, and the ranges that hold formulas, code and links."""
    out: list[str] = []
    protected: list[tuple[int, int]] = []
    at = 0
    for inline in inlines:
        match inline:
            case Text(text=text):
                piece, inner = text, []
            case Math(tex=tex, display=display):
                mark = "$$" if display else "$"
                piece, inner = f"{mark}{tex}{mark}", [(0, len(tex) + 2 * len(mark))]
            case Code(text=text):
                piece, inner = text, [(0, len(text))]
            case Strong(children=children) | Emphasis(children=children):
                piece, inner = raw(children)
            case Link(children=children):
                piece, inner = raw(children)
                inner = [(0, len(piece))]
            case _:
                piece, inner = "\n", []
        out.append(piece)
        protected += [(start + at, end + at) for start, end in inner]
        at += len(piece)
    return "".join(out), protected


def split_sentences(inlines: Sequence[Inline]) -> list[tuple[Inline, ...]]:
    """The inlines sentence by sentence."""
    text, protected = raw(inlines)
    parts: list[tuple[Inline, ...]] = []
    rest: tuple[Inline, ...] = tuple(inlines)
    done = 0
    for stop in boundaries(text, protected):
        head, rest = cut(rest, stop - done)
        done = stop
        if head:
            parts.append(head)
    return [*parts, rest] if rest else parts
