"""Where the formulas stand in a plain text written with `$…$` and `$$…$$`."""

from __future__ import annotations

import re
from dataclasses import dataclass

# A formula opens before a sign that is not a blank and closes after one; a price ("12 $") does
# neither, and a digit right after the closing dollar means two prices ("$5 and $6").
_FORMULA = re.compile(
    r"(?<!\\)\$\$(?P<block>(?:[^$\\]|\\.)+?)\$\$"
    r"|(?<![\\$])\$(?P<inline>(?![\s$])(?:[^$\\\n]|\\[^\n]|(?<=\{)\$[^$\n]*\$)*?(?<![\s\\]))\$(?![\d$])",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Span:
    """Characters `start:end` of a text; `tex` is None outside formulas."""

    start: int
    end: int
    tex: str | None = None
    display: bool = False


def spans(text: str) -> list[Span]:
    """The text cut into plain and formula spans, in order and without a gap."""
    found: list[Span] = []
    at = 0
    for match in _FORMULA.finditer(text):
        if match.start() > at:
            found.append(Span(at, match.start()))
        block = match.group("block")
        tex = block if block is not None else match.group("inline")
        found.append(Span(match.start(), match.end(), tex.strip(), block is not None))
        at = match.end()
    if at < len(text):
        found.append(Span(at, len(text)))
    return found
