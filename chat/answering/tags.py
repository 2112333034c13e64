"""One grammar for the tags of an answer: [S1] and all that models write in its place.

    group  = open element { separator element } close
    element = "S" number | "S" number dash ["S"] number
    open    = [ ［ 【 〔 ⟦ 〖        close = their partners
    "S"     = S, s, full-width or mathematical letters, and the Cyrillic, Armenian, Cherokee and
    Lisu letters that look like it; blanks may stand anywhere between the parts

Every form is mapped to its numbers and checked alike. `(S1)` is text: it also means a semester, and
taking it for a tag would let such a sentence pass as sourced.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_OPEN = "\\[\uff3b\u3010\u3014\u27e6\u3016"
_CLOSE = "\\]\uff3d\u3011\u3015\u27e7\u3017"
# Cyrillic Dze, Armenian Seh, Cherokee Du, Lisu Sa, small capital S, mathematical S and s.
_LOOK_ALIKE = (
    "\uff33\uff53\u0405\u0455\u054f\u13da\ua4e2\ua731"
    "\U0001d412\U0001d42c\U0001d446\U0001d460\U0001d47a\U0001d494\U0001d4ae\U0001d4c8"
    "\U0001d4e2\U0001d4fc\U0001d516\U0001d530\U0001d54a\U0001d564\U0001d57e\U0001d598"
    "\U0001d5b2\U0001d5cc\U0001d5e6\U0001d600\U0001d61a\U0001d634\U0001d64e\U0001d668"
    "\U0001d682\U0001d69c"
)
_S = f"[Ss{_LOOK_ALIKE}]"
_BLANK = "[\\s\u00ad\u200b-\u200d\u2060\ufeff]*"
_DASH = "(?:[-\u2010-\u2015\u2212~\u301c\uff0d]|\\bto\\b|\\bà\\b)"
_SEPARATOR = "(?:[,;/&+\uff0c\uff1b\u3001|]|\\bet\\b|\\band\\b|\\s)"
_NUMBER = "\\d{1,4}"
_FIRST = f"{_S}{_BLANK}{_NUMBER}"
_NEXT = f"(?:{_S}{_BLANK})?{_NUMBER}"
_RANGE = f"(?:{_BLANK}{_DASH}{_BLANK}{_NEXT})?"
GROUP = re.compile(
    f"[{_OPEN}]{_BLANK}{_FIRST}{_RANGE}"
    f"(?:{_BLANK}{_SEPARATOR}{_BLANK}{_NEXT}{_RANGE}){{0,40}}{_BLANK}[{_CLOSE}]"
)
_ELEMENT = re.compile(
    f"(?:{_S}{_BLANK})?(?P<first>{_NUMBER})(?:{_BLANK}{_DASH}{_BLANK}(?:{_S}{_BLANK})?(?P<last>{_NUMBER}))?"
)
#: What may still grow into a group at the end of a stream.
UNFINISHED = re.compile(f"[{_OPEN}][^{_OPEN}{_CLOSE}\\n]{{0,200}}$")
#: A range wider than any context is one forged tag, not a thousand.
MAX_RANGE = 12


@dataclass(frozen=True, slots=True)
class TagGroup:
    """Where a group stands in a text, and the numbers that it names, in order, without doubles."""

    start: int
    end: int
    numbers: tuple[int, ...]


def find_tags(text: str) -> list[TagGroup]:
    """All tag groups of `text` in order."""
    groups = []
    for match in GROUP.finditer(text):
        numbers: dict[int, None] = {}
        for element in _ELEMENT.finditer(match.group()):
            first = int(element["first"])
            last = int(element["last"]) if element["last"] else first
            low, high = min(first, last), max(first, last)
            if high - low >= MAX_RANGE:
                high = low
                numbers[0] = None  # 0 is never given: the range counts as one unknown tag
            numbers.update(dict.fromkeys(range(low, high + 1)))
        groups.append(TagGroup(match.start(), match.end(), tuple(numbers)))
    return groups


def tag(number: int) -> str:
    """The name of the n-th evidence of a turn, from 1."""
    return f"S{number}"


def written(tag_name: str) -> str:
    """A tag as an answer writes it."""
    return f"[{tag_name}]"


def replace_tags(text: str, replacement: Callable[[TagGroup], str]) -> str:
    """`text` with each group replaced by `replacement(group)`; nothing else moves."""
    out: list[str] = []
    at = 0
    for group in find_tags(text):
        out += [text[at : group.start], replacement(group)]
        at = group.end
    out.append(text[at:])
    return "".join(out)


def strip_tags(text: str) -> str:
    """`text` without any tag group, for comparing its words with those of a source."""
    return replace_tags(text, lambda _: "")
