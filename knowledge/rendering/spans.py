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


# Between two dollars of a shell or of code: a path, an option, an assignment.
_CODE = re.compile(r"[A-Za-z_]{3,}/|/[A-Za-z_]{3,}|(?:^|\s)--?[a-z]{3,}|::|=$|__|[\"`;]")


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
        block, inline = match.group("block"), match.group("inline")
        if inline is not None and "\\" not in inline and _CODE.search(inline):
            continue
        if match.start() > at:
            found.append(Span(at, match.start()))
        tex = block if block is not None else inline
        found.append(Span(match.start(), match.end(), tex.strip(), block is not None))
        at = match.end()
    if at < len(text):
        found.append(Span(at, len(text)))
    return found
