"""What a page of a course is made of, whatever language it was written in.

Every reader builds this tree; `plain`, `display` and `spoken` are its three renderings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class Math:
    tex: str
    display: bool = False


@dataclass(frozen=True, slots=True)
class Code:
    text: str


@dataclass(frozen=True, slots=True)
class Strong:
    children: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Emphasis:
    children: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Link:
    url: str
    children: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Break:
    """A line break the author asked for."""


Inline = Text | Math | Code | Strong | Emphasis | Link | Break


@dataclass(frozen=True, slots=True)
class Paragraph:
    inlines: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Item:
    blocks: tuple[Block, ...]
    label: tuple[Inline, ...] = ()


@dataclass(frozen=True, slots=True)
class Listing:
    """A list: `style` is bullet, number or term."""

    items: tuple[Item, ...]
    style: str = "bullet"
    start: int = 1


@dataclass(frozen=True, slots=True)
class Table:
    rows: tuple[tuple[tuple[Inline, ...], ...], ...]
    header: bool = True
    caption: tuple[Inline, ...] = ()


@dataclass(frozen=True, slots=True)
class CodeBlock:
    text: str
    language: str = ""


@dataclass(frozen=True, slots=True)
class Figure:
    caption: tuple[Inline, ...] = ()
    alt: str = ""
    files: tuple[str, ...] = ()
    words: tuple[tuple[Inline, ...], ...] = ()  # what is written inside a drawing


@dataclass(frozen=True, slots=True)
class Box:
    """A typed box. `name` is the word printed for it when the kind has no prefix of its own."""

    kind: str  # definition, important, example, formula, theorem, remark, exercise, solution, block
    blocks: tuple[Block, ...]
    title: tuple[Inline, ...] = ()
    name: str = ""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading inside a chunk (a `\\paragraph`, a `###`)."""

    inlines: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Note:
    """A footnote, shown after what it belongs to."""

    inlines: tuple[Inline, ...]


Block = Paragraph | Listing | Table | CodeBlock | Figure | Box | Heading | Note


def walk(blocks: Sequence[Block]) -> Iterator[Block]:
    """Every block, outer before inner, in reading order."""
    for block in blocks:
        yield block
        if isinstance(block, Box):
            yield from walk(block.blocks)
        elif isinstance(block, Listing):
            for item in block.items:
                yield from walk(item.blocks)


def inlines_of(block: Block) -> Iterator[tuple[Inline, ...]]:
    """The runs of inlines that stand directly in a block."""
    match block:
        case Paragraph(inlines=inlines) | Heading(inlines=inlines) | Note(inlines=inlines):
            yield inlines
        case Listing(items=items):
            for item in items:
                yield item.label
        case Table(rows=rows, caption=caption):
            yield caption
            for row in rows:
                yield from row
        case Figure(caption=caption, words=words):
            yield caption
            yield from words
        case Box(title=title):
            yield title
        case _:
            return


def flatten(inlines: Sequence[Inline]) -> Iterator[Inline]:
    """The leaves of a run of inlines."""
    for inline in inlines:
        if isinstance(inline, Strong | Emphasis | Link):
            yield from flatten(inline.children)
        else:
            yield inline


def formulas(blocks: Sequence[Block]) -> Iterator[Math]:
    """Every formula, in reading order."""
    for block in walk(blocks):
        for run in inlines_of(block):
            for inline in flatten(run):
                if isinstance(inline, Math):
                    yield inline
