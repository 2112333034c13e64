"""A tree as plain text: what is quoted, and what is embedded."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

from ingestion.parsing import labels
from ingestion.parsing.sentences import boundaries
from ingestion.parsing.tree import (
    Block,
    Box,
    Break,
    Code,
    CodeBlock,
    Emphasis,
    Figure,
    Heading,
    Inline,
    Item,
    Link,
    Listing,
    Math,
    Note,
    Paragraph,
    Strong,
    Table,
    Text,
)

Speak = Callable[[str], str]
_SPACES = re.compile(r"[ \t\r\f\v\u00a0\u2002\u2003\u2009\u202f]+")


def plain(blocks: Sequence[Block], language: str, *, speak: Speak | None = None) -> str:
    """The text of blocks, a line for each sentence, list item, row or equation.

    Formulas stand as `$…$` and `$$…$$`, or in words when `speak` is given (for searching).
    """
    return "\n".join(_Writer(language, speak).blocks(blocks))


def line(inlines: Sequence[Inline], *, speak: Speak | None = None) -> str:
    """Inlines on one line."""
    return _SPACES.sub(" ", _Writer("fr", speak).run(inlines)[0].replace("\n", " ")).strip()


class _Writer:
    def __init__(self, language: str, speak: Speak | None) -> None:
        self.language = language
        self.speak = speak

    def blocks(self, blocks: Sequence[Block]) -> list[str]:
        lines: list[str] = []
        for block in blocks:
            lines += self.block(block)
        return lines

    def block(self, block: Block) -> list[str]:
        match block:
            case Paragraph(inlines=inlines):
                return self.sentences(inlines)
            case Listing():
                return self.listing(block)
            case Table():
                return self.table(block)
            case CodeBlock(text=text):
                return [row.rstrip() for row in text.expandtabs(4).split("\n")]
            case Figure():
                return self.figure(block)
            case Box():
                return self.box(block)
            case Heading(inlines=inlines):
                return self.whole(inlines)
            case Note(inlines=inlines):
                label = labels.word("note", self.language) + labels.colon(self.language)
                return self.whole((Text(label), *inlines))

    def run(self, inlines: Sequence[Inline]) -> tuple[str, list[tuple[int, int]]]:
        """Text of inlines with line breaks, and the ranges in which no sentence may end."""
        out: list[str] = []
        protected: list[tuple[int, int]] = []
        at = 0

        def put(piece: str, *, keep: bool = False) -> None:
            nonlocal at
            if keep and piece:
                protected.append((at, at + len(piece)))
            out.append(piece)
            at += len(piece)

        def visit(inlines: Sequence[Inline]) -> None:
            for inline in inlines:
                match inline:
                    case Text(text=text):
                        put(text.replace("\n", " "))
                    case Math(tex=tex, display=display):
                        self._formula(tex, display, put)
                    case Code(text=text):
                        put(text, keep=True)
                    case Strong(children=children) | Emphasis(children=children):
                        visit(children)
                    case Link(children=children):
                        before = at
                        visit(children)
                        protected.append((before, at))
                    case Break():
                        put("\n")

        visit(inlines)
        return "".join(out), protected

    def _formula(self, tex: str, display: bool, put: Callable[..., None]) -> None:  # noqa: FBT001
        if self.speak is not None:
            edge = "\n" if display else " "
            put(f"{edge}{self.speak(tex)}{edge}", keep=True)
        elif display:
            put("\n")
            put(f"$${tex}$$", keep=True)
            put("\n")
        else:
            put(f"${tex}$", keep=True)

    def whole(self, inlines: Sequence[Inline]) -> list[str]:
        """A line for each line break of the author; sentences stay together."""
        text, _ = self.run(inlines)
        lines = (_SPACES.sub(" ", row).strip() for row in text.split("\n"))
        return [row for row in lines if row]

    def sentences(self, inlines: Sequence[Inline]) -> list[str]:
        text, protected = self.run(inlines)
        lines: list[str] = []
        done = 0
        for stop in [*boundaries(text, protected), len(text)]:
            for row in text[done:stop].split("\n"):
                if cleaned := _SPACES.sub(" ", row).strip():
                    lines.append(cleaned)  # noqa: PERF401
            done = stop
        return lines

    def listing(self, listing: Listing) -> list[str]:
        lines: list[str] = []
        number = listing.start - 1
        for item in listing.items:
            marker = "- "
            if listing.style == "number" and not item.label:
                number += 1
                marker = f"{number}. "
            elif listing.style == "number":
                number += 1
            content = self.item(item, listing.style)
            if not content:
                continue
            lines.append(marker + content[0])
            lines += ["  " + row for row in content[1:]]
        return lines

    def item(self, item: Item, style: str) -> list[str]:
        lines: list[str] = []
        blocks = list(item.blocks)
        if item.label:
            joint = labels.colon(self.language) if style == "term" else " "
            first = blocks.pop(0) if blocks and isinstance(blocks[0], Paragraph) else None
            label: tuple[Inline, ...] = item.label
            if isinstance(first, Paragraph):
                label = (*label, Text(label_joint(item.label, joint)), *first.inlines)
            lines += self.whole(label)
        for block in blocks:
            lines += (
                self.whole(block.inlines) if isinstance(block, Paragraph) else self.block(block)
            )
        return lines

    def table(self, table: Table) -> list[str]:
        lines: list[str] = []
        if table.caption:
            label = labels.word("table", self.language) + labels.colon(self.language)
            lines += self.whole((Text(label), *table.caption))
        for row in table.rows:
            cells = [" ".join(self.whole(cell)) for cell in row]
            if any(cells):
                lines.append(" | ".join(cells))
        return lines

    def figure(self, figure: Figure) -> list[str]:
        label = labels.word("figure", self.language) + labels.colon(self.language)
        lines: list[str] = []
        if figure.caption:
            lines += [" ".join(self.whole((Text(label), *figure.caption)))]
        elif name := figure_name(figure):
            lines.append(label + name)
        words = [text for word in figure.words if (text := " ".join(self.whole(word)))]
        if words:
            lines.append(" ; ".join(words))
        return lines

    def box(self, box: Box) -> list[str]:
        label = labels.box_label(box, self.language)
        blocks = list(box.blocks)
        lines: list[str] = []
        if blocks and isinstance(blocks[0], Paragraph):
            first = blocks.pop(0)
            assert isinstance(first, Paragraph)  # noqa: S101
            run = (*label, Text(labels.joiner(label, first.inlines)), *first.inlines)
            lines += self.sentences(run)
        elif label:
            lines += self.whole(label)
        return lines + self.blocks(blocks)


def label_joint(label: Sequence[Inline], joint: str) -> str:
    """The sign between a term and its text, unless the author wrote one."""
    return " " if line(label).endswith((":", ".", "?", "!", ")", ",", ";")) else joint


def figure_name(figure: Figure) -> str:
    """The best name of a picture without a caption."""
    if figure.alt:
        return figure.alt
    names = [PurePosixPath(name).stem for name in figure.files]
    return ", ".join(re.sub(r"[_-]+", " ", name).strip() for name in names if name)


def is_code(inline: Inline) -> bool:
    return isinstance(inline, Code)
