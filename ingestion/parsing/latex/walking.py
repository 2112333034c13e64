"""Small questions about pylatexenc's nodes, and runs of inlines made tidy."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pylatexenc.latexwalker import LatexGroupNode

from ingestion.parsing.plain import plain
from ingestion.parsing.tree import (
    Block,
    Break,
    Code,
    CodeBlock,
    Heading,
    Inline,
    Note,
    Paragraph,
    Text,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Node = Any  # pylatexenc ships no types
BLANKS = re.compile(r"\s+")


def as_inlines(blocks: Iterable[Block]) -> tuple[Inline, ...]:
    """Blocks on one line, for a title or a cell."""
    out: list[Inline] = []
    for block in blocks:
        match block:
            case Paragraph(inlines=inlines) | Heading(inlines=inlines) | Note(inlines=inlines):
                piece: tuple[Inline, ...] = inlines
            case CodeBlock(text=text):
                piece = (Code(BLANKS.sub(" ", text)),)
            case _:
                rows = plain([block], "fr").split("\n")
                piece = (Text(" ; ".join(row.strip().removeprefix("- ") for row in rows)),)
        if out and piece:
            out.append(Text(" "))
        out += [Text(" ") if isinstance(inline, Break) else inline for inline in piece]
    return trim(out)


def trim(inlines: Sequence[Inline]) -> tuple[Inline, ...]:
    """Inlines without blanks and line breaks at either end, and without doubled blanks."""
    joined: list[Inline] = []
    for inline in inlines:
        if isinstance(inline, Text):
            text = BLANKS.sub(" ", inline.text)
            if joined and isinstance(joined[-1], Text):
                text = BLANKS.sub(" ", joined.pop().text + text)  # type: ignore[union-attr]
            if text:
                joined.append(Text(text))
        else:
            joined.append(inline)
    while joined and (isinstance(joined[0], Break) or blank(joined[0])):
        joined.pop(0)
    while joined and (isinstance(joined[-1], Break) or blank(joined[-1])):
        joined.pop()
    if joined and isinstance(joined[0], Text):
        joined[0] = Text(joined[0].text.lstrip())
    if joined and isinstance(joined[-1], Text):
        joined[-1] = Text(joined[-1].text.rstrip())
    return tuple(joined)


def blank(inline: Inline) -> bool:
    return isinstance(inline, Text) and not inline.text.strip()


def contents(node: Node | None) -> list[Node]:
    """The nodes inside an argument."""
    if node is None:
        return []
    return list(node.nodelist) if isinstance(node, LatexGroupNode) else [node]


def arguments_of(node: Node) -> list[Node | None]:
    found = getattr(node, "nodeargd", None)
    return list(found.argnlist or []) if found is not None else []


def last(arguments: Sequence[Node | None]) -> Node | None:
    return arguments[-1] if arguments else None


def given(arguments: Sequence[Node | None]) -> list[Node]:
    return [argument for argument in arguments if argument is not None]


def source_of(node: Node | None) -> str:
    """The LaTeX inside an argument."""
    if node is None:
        return ""
    text = str(node.latex_verbatim())
    return text[1:-1] if text[:1] in "{[" and text[-1:] in "}]" else text
