"""Drafts of chunks made final: cut to size, rendered three ways, given keys that last."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ingestion.parsing.display import display
from ingestion.parsing.labels import bare
from ingestion.parsing.plain import line, plain
from ingestion.parsing.sentences import split_sentences
from ingestion.parsing.spoken import speaker
from ingestion.parsing.tree import (
    Block,
    Box,
    CodeBlock,
    Heading,
    Inline,
    Listing,
    Paragraph,
    Table,
    Text,
    inlines_of,
    walk,
)
from ingestion.parsing.types import ParsedChunk

if TYPE_CHECKING:
    from collections.abc import Sequence

BUDGET = 1_800  # characters: about 450 tokens, below the 512 that an embedding model reads


@dataclass(frozen=True, slots=True)
class Draft:
    """A chunk before its size is known."""

    kind: str
    blocks: tuple[Block, ...]
    title: tuple[Inline, ...] = ()
    key: str = ""  # what the key is made from, when not the title
    section: str = ""
    around: str = ""  # more words of its place, for searching only
    subtitle: tuple[Inline, ...] = ()
    slide: int | None = None
    slide_end: int | None = None
    page: int | None = None
    sheet: str = ""
    term: str = ""
    term_translation: str = ""
    exercise: str = ""
    question: str = ""
    part: str = ""
    notes: str = ""
    statement_key: str = ""
    appendix: bool = False
    overlap: bool = False  # an article: one sentence of the part before is repeated


@dataclass(frozen=True, slots=True)
class About:
    """What every chunk of a document says of itself."""

    course: str
    document: str
    session: int | None
    language: str


def finish(drafts: Sequence[Draft], about: About) -> tuple[ParsedChunk, ...]:
    """The chunks of a document, in order."""
    chunks: list[ParsedChunk] = []
    seen: Counter[str] = Counter()
    for draft in drafts:
        pieces = split(draft.blocks, about.language, overlap=draft.overlap)
        for index, blocks in enumerate(pieces):
            part = f"{index + 1}/{len(pieces)}" if len(pieces) > 1 else draft.part
            chunk = _chunk(draft, blocks, about, part, repeated=index > 0)
            if chunk is None:
                continue
            seen[chunk.key] += 1
            if seen[chunk.key] > 1:
                chunk = replace(chunk, key=f"{chunk.key}#{seen[chunk.key]}")
            chunks.append(chunk)
    return tuple(chunks)


def _chunk(
    draft: Draft, blocks: Sequence[Block], about: About, part: str, *, repeated: bool
) -> ParsedChunk | None:
    title = line(draft.title)
    shown: list[Block] = list(blocks)
    if draft.subtitle and not repeated:
        shown.insert(0, Paragraph(draft.subtitle))
    text = plain(shown, about.language)
    if not text.strip():
        return None
    if repeated and title:
        # A part of a long chunk says again what it is a part of.
        shown.insert(0, Heading((*draft.title, Text(f" ({part})"))))
        text = plain(shown, about.language)
    return ParsedChunk(
        key=key_of(draft, text),
        kind=draft.kind,
        title=title,
        text=text,
        display=display(shown, about.language),
        search=_search(draft, shown, about),
        section=draft.section,
        session=about.session,
        slide=draft.slide,
        slide_end=draft.slide_end,
        page=draft.page,
        sheet=draft.sheet,
        boxes=tuple(block.kind for block in walk(blocks) if isinstance(block, Box)),
        term=draft.term,
        term_translation=draft.term_translation,
        exercise=draft.exercise,
        question=draft.question,
        part=part,
        notes=draft.notes if not repeated else "",
        statement_key=draft.statement_key,
        appendix=draft.appendix,
    )


def _search(draft: Draft, blocks: Sequence[Block], about: About) -> str:
    speak = speaker(about.language)
    session = ""
    if about.session is not None:
        name = "Séance" if about.language.startswith("fr") else "Session"
        session = f"{name} {about.session}"
    title = line(draft.title, speak=speak)
    place = [about.course, about.document, session, draft.section, draft.around, title]
    kept = [piece for piece in place if piece]
    head = " — ".join(dict.fromkeys(kept))
    terms = " — ".join(term for term in (draft.term, draft.term_translation) if term)
    body = plain(blocks, about.language, speak=speak)
    return "\n".join(piece for piece in (head, terms, body) if piece)


def key_of(draft: Draft, text: str) -> str:
    """What names a chunk while its neighbours change: its label or title, not its place."""
    name = draft.key or line(draft.title)
    if not name:
        name = " ".join(text.split()[:7])
    key = f"{draft.kind}/{slug(name)}"
    if draft.exercise and draft.exercise != name:
        key += f"/{slug(draft.exercise)}"
    return key + (f"/q{draft.question}" if draft.question else "")


def slug(text: str) -> str:
    plain_text = bare(text)
    return re.sub(r"[^a-z0-9]+", "-", plain_text).strip("-")[:80] or "-"


# -- size ---------------------------------------------------------------------------------------


def split(
    blocks: Sequence[Block], language: str, *, overlap: bool = False, budget: int = BUDGET
) -> list[list[Block]]:
    """Blocks in pieces of at most `budget` characters, where they can be cut.

    Never inside a formula, a list item, a table row or a sentence. With `overlap`, a piece that
    starts in the middle of prose starts with the sentence before it.
    """
    if len(plain(blocks, language)) <= budget:
        return [list(blocks)]
    pieces: list[list[Block]] = []
    current: list[Block] = []
    size = 0
    for unit in _units(blocks, language, budget):
        length = len(plain([unit], language)) + 1
        if current and size + length > budget:
            heading = (
                current.pop() if isinstance(current[-1], Heading) and len(current) > 1 else None
            )
            pieces.append(_joined(current))
            last = _last_sentence(current) if overlap else None
            current = [block for block in (last, heading) if block is not None]
            size = len(plain(current, language)) if current else 0
        current.append(unit)
        size += length
    if current:
        pieces.append(_joined(current))
    return pieces


def _units(blocks: Sequence[Block], language: str, budget: int) -> list[Block]:
    """Blocks small enough to be put together; a long one comes in several."""
    units: list[Block] = []
    for block in blocks:
        size = len(plain([block], language))
        match block:
            case Paragraph(inlines=inlines) if size > budget // 3:
                units += [Paragraph(sentence) for sentence in split_sentences(inlines)]
            case Listing(items=items, style=style, start=start) if (
                size > budget // 2 and len(items) > 1
            ):
                units += [
                    Listing((item,), style, start + index) for index, item in enumerate(items)
                ]
            case Table(rows=rows) if size > budget and len(rows) > 2:
                units += _tables(block, language, budget)
            case CodeBlock(text=text) if size > budget:
                units += [CodeBlock(piece, block.language) for piece in _code(text, budget)]
            case Box(blocks=inner) if size > budget and len(inner) > 0:
                parts = split(inner, language, budget=budget - 100)
                units += [Box(block.kind, tuple(part), block.title, block.name) for part in parts]
            case _:
                units.append(block)
    return units


def _tables(table: Table, language: str, budget: int) -> list[Block]:
    head, rows = (table.rows[:1], table.rows[1:]) if table.header else ((), table.rows)
    found: list[Block] = []
    current: list[tuple[tuple[Inline, ...], ...]] = []
    size = 0
    for row in rows:
        length = len(plain([Table((row,), header=False)], language)) + 1
        if current and size + length > budget - 200:
            found.append(Table((*head, *current), table.header, table.caption))
            current, size = [], 0
        current.append(row)
        size += length
    found.append(Table((*head, *current), table.header, table.caption))
    return found


def _code(text: str, budget: int) -> list[str]:
    found: list[str] = []
    current: list[str] = []
    size = 0
    for row in text.split("\n"):
        if current and size + len(row) > budget - 100:
            found.append("\n".join(current))
            current, size = [], 0
        current.append(row)
        size += len(row) + 1
    return [*found, "\n".join(current)] if current else found


def _joined(blocks: Sequence[Block]) -> list[Block]:
    """Neighbouring items of one list, and sentences of one paragraph, put together again."""
    out: list[Block] = []
    for block in blocks:
        previous = out[-1] if out else None
        if (
            isinstance(block, Listing)
            and isinstance(previous, Listing)
            and block.style == previous.style
            and block.start == previous.start + len(previous.items)
        ):
            out[-1] = Listing((*previous.items, *block.items), previous.style, previous.start)
        else:
            out.append(block)
    return out


def _last_sentence(blocks: Sequence[Block]) -> Block | None:
    for block in reversed(blocks):
        if isinstance(block, Paragraph):
            sentences = split_sentences(block.inlines)
            if sentences and len(line(sentences[-1])) < 400:
                return Paragraph(sentences[-1])
        return None
    return None


def words_of(blocks: Sequence[Block]) -> str:
    """All inlines of blocks on one line, for looking for a word."""
    return " ".join(line(run) for block in walk(blocks) for run in inlines_of(block))
