"""Drawings: what is written in them is text that a student sees."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ingestion.parsing.plain import line
from ingestion.parsing.tree import Figure, Inline

if TYPE_CHECKING:
    from ingestion.parsing.latex.nodes import Builder

_NODE = re.compile(
    r"(?:\\node|\bnode|\bcoordinate|edge\s+label\s*=|\\umlcall|\\umlobject|\\pgfputat|label\s*=)"
    r"(?:\s*(?:\[(?:[^\[\]]|\[[^\[\]]*\])*\]|\([^()]*\)|at\s*\([^()]*\)|foreach\s*\\\w+\s*in\s*\{[^{}]*\}))*"
    r"\s*(?:[a-z ]+:)?\s*(?=\{)"
)
_LABELLED = re.compile(
    r"(?:\b(?:xlabel|ylabel|zlabel|title|legend entries|xticklabels|yticklabels|label|name|class|pin)"  # noqa: E501
    r"\s*=\s*|\\(?:addlegendentry|legend|put\s*\([^()]*\)|rput\s*\([^()]*\)|uput\s*\([^()]*\)|"
    r"makebox\s*(?:\([^()]*\))?|framebox\s*(?:\([^()]*\))?|text|caption|pgftext|umlactor|umlclass|"
    r"umlbasiccomponent)(?:\s*\[[^\[\]]*\])*\s*)(?=\{)"
)
_LONGEST = 200
_MOST = 80


def figure(source: str, builder: Builder) -> Figure:
    """A drawing by its words, in the order of the source."""
    words: list[tuple[Inline, ...]] = []
    seen: set[str] = set()
    loops = {
        name for names in re.findall(r"\\foreach\s*((?:\\[a-zA-Z]+[\s/,]*)+)", source)
        for name in re.findall(r"\\[a-zA-Z]+", names)
    }  # fmt: skip
    for at in sorted(
        {match.end() for pattern in (_NODE, _LABELLED) for match in pattern.finditer(source)}
    ):
        text = _group(source, at)
        if text is None or len(text) > 2_000:
            continue
        inlines = builder.read_inline(re.sub(r"\\\\(?:\[[^\]]*\])?", " ", text))
        shown = line(inlines)
        if not re.search(r"[^\W_]", shown) or len(shown) > _LONGEST or shown in seen:
            continue
        if loops & set(re.findall(r"\\[a-zA-Z]+", text + shown)):
            continue
        if re.fullmatch(r"[a-z ]+=.*|[\d.]+(?:pt|cm|em)|#\d", shown):
            continue
        seen.add(shown)
        words.append(inlines)
        if len(words) >= _MOST:
            break
    if not words and "\\begin{forest}" in source:
        words = _forest(source, builder)
    return Figure(words=tuple(words))


def _group(source: str, at: int) -> str | None:
    depth = 0
    for pos in range(at, min(len(source), at + 4_000)):
        if source[pos] == "{":
            depth += 1
        elif source[pos] == "}":
            depth -= 1
            if depth == 0:
                return source[at + 1 : pos]
    return None


def _forest(source: str, builder: Builder) -> list[tuple[Inline, ...]]:
    body = source.split("}", 1)[-1].rsplit("\\end", 1)[0]
    words = [piece.strip() for piece in re.split(r"[\[\]]", body)]
    shown = [re.split(r",\s*[a-z ]+(?:=|$)", word)[0].strip() for word in words if word]
    return [inlines for word in shown[:_MOST] if word and (inlines := builder.read_inline(word))]
