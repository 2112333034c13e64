"""Glossaries: one chunk an entry, from description lists, tables, bold paragraphs or headings."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ingestion.parsing.chunking import Draft
from ingestion.parsing.labels import bare
from ingestion.parsing.plain import line, plain
from ingestion.parsing.tree import (
    Block,
    Emphasis,
    Inline,
    Item,
    Listing,
    Paragraph,
    Strong,
    Table,
    Text,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

_TRANSLATED = re.compile(
    r"^(?P<term>.+?)\s*(?:\((?:en\s*:?\s*|angl\.?\s*:?\s*|anglais\s*:?\s*|english\s*:?\s*|fr\s*:?\s*)?"
    r"(?P<inner>[^()]{2,80})\)|[—–|/]\s*(?P<after>[^—–|/]{2,80}))\s*$",
    re.IGNORECASE,
)
_ENGLISH = re.compile(
    r"^\s*[(\[]?\s*(?:en\s*(?:anglais)?|angl\.?|anglais|english|eng\.?)\s*[:.]\s*(?P<term>[^().;:\]]{2,80})"
    r"[)\]]?\s*[.;:,–—-]*\s*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Entry:
    term: tuple[Inline, ...]
    translation: str
    blocks: tuple[Block, ...]


def entries(blocks: Sequence[Block]) -> tuple[list[Entry], list[Block]]:
    """The entries found in blocks, and the blocks that hold none."""
    found: list[Entry] = []
    rest: list[Block] = []
    for block in blocks:
        made: list[Entry] = []
        if isinstance(block, Listing):
            made = [entry for item in block.items if (entry := _from_item(item, block.style))]
            if len(made) < len(block.items) / 2:
                made = []
        elif isinstance(block, Table):
            made = _from_table(block)
        elif isinstance(block, Paragraph):
            entry = _from_paragraph(block.inlines)
            made = [entry] if entry else []
        if made:
            found += made
        elif found and not isinstance(block, Paragraph | Table):
            found[-1] = Entry(found[-1].term, found[-1].translation, (*found[-1].blocks, block))
        else:
            rest.append(block)
    return found, rest


def _from_item(item: Item, style: str) -> Entry | None:
    if item.label and style == "term":
        return _entry(item.label, item.blocks)
    if item.blocks and isinstance(item.blocks[0], Paragraph):
        made = _from_paragraph(item.blocks[0].inlines)
        if made:
            return Entry(made.term, made.translation, (*made.blocks, *item.blocks[1:]))
    return None


def _from_paragraph(inlines: Sequence[Inline]) -> Entry | None:
    """`**term** : definition`, with the translation between them or in brackets."""
    if len(inlines) < 2 or not isinstance(inlines[0], Strong):
        return None
    term = inlines[0].children
    rest = list(inlines[1:])
    translation = ""
    while rest:
        head = rest[0]
        if isinstance(head, Text):
            text = head.text
            if match := re.match(r"\s*\(\s*$", text):
                closing = next((i for i, other in enumerate(rest[1:], 1)
                                if isinstance(other, Text) and other.text.lstrip().startswith(")")), None)  # fmt: skip  # noqa: E501
                if closing is None:
                    return None
                translation = line(rest[1:closing])
                after = rest[closing]
                assert isinstance(after, Text)  # noqa: S101
                rest = [Text(after.text.lstrip()[1:]), *rest[closing + 1 :]]
                continue
            if match := re.match(r"\s*\(([^()]{2,80})\)", text):
                translation = match.group(1)
                rest[0] = Text(text[match.end() :])
                continue
            if match := re.match(r"\s*(?::|—|–|-\s|=)\s*", text):
                rest[0] = Text(text[match.end() :])
                return _entry(term, (Paragraph(tuple(rest)),), translation)
            if line(term).rstrip().endswith((":", ".", "—", "–")):
                return _entry(term, (Paragraph(tuple(rest)),), translation)
            return None
        if isinstance(head, Emphasis) and not translation:
            translation = line(rest.pop(0).children)  # type: ignore[union-attr]
            continue
        return None
    return None


def _from_table(table: Table) -> list[Entry]:
    """A table with a column of terms and a column of definitions."""
    if not table.rows or len(table.rows[0]) < 2:
        return []
    heads = [bare(line(cell)) for cell in table.rows[0]]
    term = _column(heads, ("terme", "term", "mot", "notion", "concept", "francais", "french"))
    meaning = _column(heads, ("definition", "signification", "meaning", "sens", "description"))
    english = _column(heads, ("anglais", "english", "traduction", "translation", "equivalent"))
    if term is None or meaning is None:
        return []
    found: list[Entry] = []
    for row in table.rows[1:]:
        if len(row) > max(term, meaning) and line(row[term]) and line(row[meaning]):
            translation = line(row[english]) if english is not None and len(row) > english else ""
            found.append(_entry(row[term], (Paragraph(row[meaning]),), translation))
    return found


def _column(heads: Sequence[str], words: Sequence[str]) -> int | None:
    return next((i for word in words for i, head in enumerate(heads) if word in head), None)


def _entry(term: tuple[Inline, ...], blocks: Sequence[Block], translation: str = "") -> Entry:
    """An entry whose translation may stand in brackets after the term or open the text."""
    kept = list(blocks)
    name = line(term).rstrip(" :.—–-")
    if not translation and (match := _TRANSLATED.match(name)):
        candidate = match.group("inner") or match.group("after")
        if not re.fullmatch(r"[A-Z0-9&]{2,8}", candidate):
            translation, term, name = candidate, (Text(match.group("term")),), match.group("term")
    if not translation and kept and isinstance(kept[0], Paragraph):
        translation, kept[0] = _leading_translation(kept[0])
    if name != line(term):
        term = (Text(name),)
    return Entry(term, translation.strip(), tuple(kept))


def _leading_translation(paragraph: Paragraph) -> tuple[str, Paragraph]:
    inlines = list(paragraph.inlines)
    first = inlines[0] if inlines else None
    if isinstance(first, Text) and (match := _ENGLISH.match(first.text)):
        rest = (Text(first.text[match.end() :]), *inlines[1:])
        return match.group("term").strip(), Paragraph(rest)
    bracket = (
        len(inlines) > 2
        and isinstance(first, Text)
        and re.fullmatch(
            r"\s*\(\s*(?:angl?\.?|anglais|en|english)?\s*:?\s*", first.text, re.IGNORECASE
        )
        and isinstance(inlines[1], Emphasis)
        and isinstance(inlines[2], Text)
        and inlines[2].text.lstrip().startswith(")")
    )
    if bracket:
        after = inlines[2]
        assert isinstance(after, Text)  # noqa: S101
        rest_text = re.sub(r"^\s*\)\s*[.:;,–—-]*\s*", "", after.text)
        return line((inlines[1],)), Paragraph((Text(rest_text), *inlines[3:]))
    if isinstance(first, Emphasis) and len(inlines) > 1 and isinstance(inlines[1], Text):
        match = re.match(r"\s*[.:—–]\s*", inlines[1].text)
        if match and len(line((first,))) < 80:
            return line((first,)), Paragraph((Text(inlines[1].text[match.end() :]), *inlines[2:]))
    return "", paragraph


def draft_of(entry: Entry, language: str, section: str = "") -> Draft:
    """The chunk of an entry: its text says the term again, so that it can be quoted alone."""
    french = language.startswith("fr")
    head: list[Inline] = list(entry.term)
    if entry.translation:
        head.append(Text(f" ({entry.translation})"))
    head.append(Text(" : " if french else ": "))
    blocks = list(entry.blocks)
    if blocks and isinstance(blocks[0], Paragraph):
        blocks[0] = Paragraph((*head, *blocks[0].inlines))
    else:
        blocks.insert(0, Paragraph(tuple(head)))
    return Draft(
        kind="term",
        blocks=tuple(blocks),
        title=entry.term,
        section=section,
        term=line(entry.term),
        term_translation=entry.translation,
    )


def drafts_of(
    blocks: Sequence[Block], title: tuple[Inline, ...], section: str, language: str
) -> list[Draft]:
    """A section of a glossary: its entries, and what else it says as an ordinary chunk."""
    found, rest = entries(blocks)
    drafts = [draft_of(entry, language, section) for entry in found]
    if plain(rest, language).strip():
        drafts.insert(
            0, Draft(kind="section", blocks=tuple(rest), title=title, section=section, overlap=True)
        )
    return drafts
