"""A quote of a chunk's text, found again inside the chunk's display HTML."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import unescape

_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)((?:[^<>\"']|\"[^\"]*\"|'[^']*')*)>")
_ATTRIBUTE = re.compile(r"\s(data-text|data-tex)=\"([^\"]*)\"")
_ENTITY = re.compile(r"&(?:#\d+|#[xX][0-9a-fA-F]+|[a-zA-Z][a-zA-Z0-9]*);|[^&]|&")


@dataclass(slots=True)
class _Sign:
    """One visible sign: where its markup starts and ends; a virtual one has no markup."""

    char: str
    start: int
    end: int
    whole: bool = False  # a sign of a formula: marked with the formula or not at all


@dataclass(slots=True)
class _Page:
    signs: list[_Sign] = field(default_factory=list)

    def text(self, value: str, start: int, end: int, *, whole: bool = False) -> None:
        self.signs.extend(_Sign(char, start, end, whole) for char in value if not char.isspace())


def _read(html: str) -> _Page:
    """Every visible sign of `html`: text, formulas by `data-tex`, markers by `data-text`."""
    page = _Page()
    at = 0
    while at < len(html):
        tag = _TAG.match(html, at) if html[at] == "<" else None
        if tag:
            at = tag.end()
            for name, value in _ATTRIBUTE.findall(tag.group(3)):
                if name == "data-tex":
                    end = _closing(html, tag)
                    page.text(unescape(value), tag.start(), end, whole=True)
                    at = end
                else:
                    page.text(unescape(value), -1, -1)
            continue
        entity = _ENTITY.match(html, at)
        end = entity.end() if entity else at + 1
        page.text(unescape(html[at:end]), at, end)
        at = end
    return page


def _closing(html: str, opening: re.Match[str]) -> int:
    """Where the element that `opening` opens ends."""
    name, depth, at = opening.group(2), 1, opening.end()
    for tag in _TAG.finditer(html, at):
        if tag.group(2) != name:
            continue
        depth += -1 if tag.group(1) else 1
        if depth == 0:
            return tag.end()
    return len(html)


def visible_text(html: str) -> str:
    """What a reader sees, without blanks; formulas and list markers as in the plain text."""
    return "".join(sign.char for sign in _read(html).signs)


def highlight(display_html: str, quote: str) -> str:
    """`display_html` with the quote in `<mark>`; unchanged when the quote is not found there.

    Blanks do not count, so that a line break of the text may be a paragraph of the page. Marks
    never cross a tag: each run of text is wrapped on its own.
    """
    wanted = "".join(char for char in quote if not char.isspace())
    page = _read(display_html)
    at = "".join(sign.char for sign in page.signs).find(wanted) if wanted else -1
    if at < 0:
        return display_html
    runs: list[list[int]] = []
    for sign in page.signs[at : at + len(wanted)]:
        if sign.start < 0:
            continue
        if runs and runs[-1][0] <= sign.start and sign.end <= runs[-1][1]:
            continue
        if runs and not sign.whole and _joins(display_html, runs[-1][1], sign.start):
            runs[-1][1] = sign.end
        else:
            runs.append([sign.start, sign.end])
    out: list[str] = []
    done = 0
    for start, end in runs:
        out += [display_html[done:start], "<mark>", display_html[start:end], "</mark>"]
        done = end
    return "".join([*out, display_html[done:]])


def _joins(html: str, end: int, start: int) -> bool:
    """Whether only blanks stand between two signs, so that one mark may hold both."""
    between = html[end:start]
    return not between or unescape(between).isspace()
