"""Markdown by headings, with its formulas, tables, lists and code."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt

from ingestion.parsing import glossaries, workshops
from ingestion.parsing.chunking import Draft
from ingestion.parsing.encoding import decode
from ingestion.parsing.plain import line
from ingestion.parsing.tree import (
    Block,
    Box,
    Break,
    Code,
    CodeBlock,
    Emphasis,
    Figure,
    Inline,
    Item,
    Link,
    Listing,
    Math,
    Paragraph,
    Strong,
    Table,
    Text,
)
from ingestion.parsing.types import DocumentError, ScannedDocument

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from markdown_it.token import Token

_FRONT = re.compile(r"\A---\n.*?\n(?:---|\.\.\.)\n", re.DOTALL)
_MATH = re.compile(
    r"(?P<code>^(?P<fence>```+|~~~+).*?^(?P=fence)[^\n]*$|(?<!`)(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`))"
    r"|\$\$(?P<block>.+?)\$\$|\\\[(?P<bracket>.+?)\\\]|\\\((?P<round>.+?)\\\)"
    r"|(?<![\\$\w])\$(?P<inline>(?![\s$])(?:[^$\\\n]|\\.)+?(?<![\s\\]))\$(?![\d$])",
    re.DOTALL | re.MULTILINE,
)
_MARK = re.compile("\ue000(\\d+)\ue001")
_ADMONITION = re.compile(r"^\s*\[!(\w+)\]\s*(.*)$|^\s*\*\*(.{2,60}?)\*\*\s*:?\s*$")
_KINDS = {"note": "remark", "tip": "remark", "important": "important", "warning": "important",
          "caution": "important", "attention": "important", "danger": "important",
          "example": "example", "exemple": "example", "definition": "definition",
          "définition": "definition", "formule": "formula", "formula": "formula"}  # fmt: skip


class _Reader:
    """Tokens of markdown-it into blocks."""

    def __init__(self, formulas: list[Math]) -> None:
        self.formulas = formulas

    def blocks(self, tokens: Sequence[Token]) -> list[Block]:
        found: list[Block] = []
        at = 0
        while at < len(tokens):
            token = tokens[at]
            end = self.closing(tokens, at)
            inner = tokens[at + 1 : end]
            match token.type:
                case "paragraph_open" | "heading_open":
                    found += self.paragraph(inner)
                case "bullet_list_open" | "ordered_list_open":
                    found.append(self.listing(token, inner))
                case "table_open":
                    found.append(self.table(inner))
                case "blockquote_open":
                    found += self.quote(inner)
                case "fence" | "code_block":
                    text = self.restore(token.content.rstrip("\n"))
                    found.append(CodeBlock(text, token.info.split(" ")[0] if token.info else ""))
                case "html_block":
                    text = re.sub(r"<!--.*?-->|<[^>]+>", " ", token.content, flags=re.DOTALL)
                    if text.strip():
                        found.append(Paragraph((Text(" ".join(text.split())),)))
                case "inline":
                    found += self.paragraph([token])
                case _:
                    pass
            at = end + 1
        return found

    @staticmethod
    def closing(tokens: Sequence[Token], at: int) -> int:
        if tokens[at].nesting != 1:
            return at
        depth = 0
        for index in range(at, len(tokens)):
            depth += tokens[index].nesting
            if depth == 0:
                return index
        return len(tokens)

    def restore(self, text: str) -> str:
        return _MARK.sub(lambda mark: _source(self.formulas[int(mark.group(1))]), text)

    def paragraph(self, tokens: Sequence[Token]) -> list[Block]:
        inlines: list[Inline] = []
        figures: list[Block] = []
        for token in tokens:
            if token.type == "inline":
                inlines += self.inlines(token.children or [], figures)
        return [*([Paragraph(tuple(inlines))] if line(inlines) else []), *figures]

    def inlines(self, tokens: Sequence[Token], figures: list[Block]) -> tuple[Inline, ...]:
        found: list[Inline] = []
        at = 0
        while at < len(tokens):
            token = tokens[at]
            end = self.closing(tokens, at)
            inner = self.inlines(tokens[at + 1 : end], figures) if token.nesting == 1 else ()
            match token.type:
                case "text":
                    found += self.text(token.content)
                case "code_inline":
                    found.append(Code(self.restore(token.content)))
                case "softbreak":
                    found.append(Text(" "))
                case "hardbreak":
                    found.append(Break())
                case "strong_open":
                    found.append(Strong(inner))
                case "em_open":
                    found.append(Emphasis(inner))
                case "link_open":
                    found.append(Link(str(token.attrGet("href") or ""), inner))
                case "image":
                    alt = token.content
                    figures.append(Figure(alt=alt, files=(str(token.attrGet("src") or ""),)))
                case "html_inline":
                    found += [Break()] if re.match(r"<br\s*/?>", token.content) else []
                case _:
                    found += inner
            at = end + 1
        return tuple(found)

    def text(self, content: str) -> list[Inline]:
        found: list[Inline] = []
        at = 0
        for mark in _MARK.finditer(content):
            if mark.start() > at:
                found.append(Text(content[at : mark.start()]))
            found.append(self.formulas[int(mark.group(1))])
            at = mark.end()
        if at < len(content):
            found.append(Text(content[at:]))
        return found

    def listing(self, opening: Token, tokens: Sequence[Token]) -> Block:
        items: list[Item] = []
        at = 0
        while at < len(tokens):
            end = self.closing(tokens, at)
            items.append(Item(tuple(self.blocks(tokens[at + 1 : end]))))
            at = end + 1
        ordered = opening.type == "ordered_list_open"
        start = opening.attrGet("start")
        return Listing(tuple(items), "number" if ordered else "bullet", int(start) if start else 1)

    def table(self, tokens: Sequence[Token]) -> Block:
        rows: list[tuple[tuple[Inline, ...], ...]] = []
        row: list[tuple[Inline, ...]] = []
        for token in tokens:
            if token.type == "tr_open":
                row = []
            elif token.type == "inline":
                row.append(self.inlines(token.children or [], []))
            elif token.type == "tr_close":
                rows.append(tuple(row))
        return Table(tuple(rows), header=True)

    def quote(self, tokens: Sequence[Token]) -> list[Block]:
        """A quotation; one that opens with `[!NOTE]` or a bold word is a box."""
        blocks = self.blocks(tokens)
        first = blocks[0] if blocks else None
        if isinstance(first, Paragraph):
            head = line(first.inlines[:1])
            match = re.match(r"\[!(\w+)\]\s*", line(first.inlines))
            strong = first.inlines and isinstance(first.inlines[0], Strong)
            word = (match.group(1) if match else head if strong else "").strip(" :.").lower()
            kind = _KINDS.get(word.split(" ")[0]) if word else None
            if kind:
                rest = list(first.inlines)
                if match and isinstance(rest[0], Text):
                    rest[0] = Text(rest[0].text.split("]", 1)[1].lstrip())
                elif strong:
                    rest = rest[1:]
                    if rest and isinstance(rest[0], Text):
                        rest[0] = Text(rest[0].text.lstrip(" :.—–"))
                body = [Paragraph(tuple(rest))] if line(rest) else []
                return [Box(kind, (*body, *blocks[1:]))]
        return blocks


def _source(math: Math) -> str:
    return f"$${math.tex}$$" if math.display else f"${math.tex}$"


def read(text: str) -> list[tuple[int, tuple[Inline, ...], list[Block]]]:
    """Sections of a Markdown text: level (0 before any heading), heading, blocks."""
    text = _FRONT.sub("", re.sub("[\ue000-\ue0ff]", "", text))
    formulas: list[Math] = []

    def keep(match: re.Match[str]) -> str:
        if match.group("code"):
            return match.group()
        block = match.group("block") or match.group("bracket")
        tex = block or match.group("round") or match.group("inline")
        formulas.append(Math(" ".join(tex.split()), display=block is not None))
        return f"\ue000{len(formulas) - 1}\ue001"

    text = _MATH.sub(keep, text)
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(text)
    reader = _Reader(formulas)
    sections: list[tuple[int, tuple[Inline, ...], list[Block]]] = []
    level, start = 0, 0
    title: tuple[Inline, ...] = ()
    at = 0
    while at < len(tokens):
        token = tokens[at]
        end = reader.closing(tokens, at)
        if token.type == "heading_open":
            sections.append((level, title, reader.blocks(tokens[start:at])))
            level = int(token.tag[1])
            title = reader.inlines(tokens[at + 1].children or [], [])
            start = end + 1
        at = end + 1
    sections.append((level, title, reader.blocks(tokens[start:])))
    return [section for section in sections if section[1] or section[2]]


def drafts(path: Path, document: ScannedDocument, language: str) -> list[Draft]:
    """A chunk for each heading, by what the document is."""
    try:
        text, _ = decode(path.read_bytes())
    except OSError as error:
        raise DocumentError(f"cannot be read: {error.strerror}") from None
    found: list[Draft] = []
    above: dict[int, str] = {}
    for level, title, blocks in read(text):
        for lower in [key for key in above if key >= level]:
            del above[lower]
        parents = [above[key] for key in sorted(above)]
        name = line(title)
        if level:
            above[level] = name
        if not blocks:
            continue
        shown = title or (Text(document.title),)
        section = parents[-1] if parents else (name or document.title)
        if document.kind in {"workshop", "solution", "exam"}:
            exercises = workshops.exercises(
                shown, blocks, section, solution=document.kind == "solution"
            )
            found += workshops.drafts_of(exercises, language)
        elif document.kind == "glossary":
            found += _glossary(level, shown, blocks, section, language)
        else:
            found.append(Draft("section", tuple(blocks), shown, section=section,
                               around=" — ".join(parents[:-1]), overlap=True))  # fmt: skip
    return found


def _glossary(
    level: int, title: tuple[Inline, ...], blocks: list[Block], section: str, language: str
) -> list[Draft]:
    entries, _ = glossaries.entries(blocks)
    if not entries and level >= 2:
        entry = glossaries.Entry(title, "", tuple(blocks))
        return [glossaries.draft_of(entry, language, section)]
    return glossaries.drafts_of(blocks, title, section, language)
