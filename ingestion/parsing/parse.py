"""One scanned document as chunks, whatever it is written in."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from ingestion.parsing import glossaries, settings, workshops
from ingestion.parsing.chunking import About, Draft, finish
from ingestion.parsing.latex import articles, decks
from ingestion.parsing.latex.document import Source, open_document
from ingestion.parsing.latex.nodes import read, read_inline
from ingestion.parsing.plain import line
from ingestion.parsing.readers import delimited, markdown, prose
from ingestion.parsing.scanner import TEXT_TYPES
from ingestion.parsing.settings import CourseFile
from ingestion.parsing.tree import Block, Box, Text, formulas, walk
from ingestion.parsing.types import (
    DocumentError,
    ParsedDocument,
    ParseReport,
    ScannedDocument,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


def parse(
    root: Path, document: ScannedDocument, *, course_code: str, course_language: str
) -> ParsedDocument:
    """The chunks of a document and a report of the reading.

    `root` is what was scanned. Raises DocumentError with a readable reason when the file cannot be
    read; a damaged source is read as far as it goes, with warnings.
    """
    root = Path(root)
    alone = root.is_file()
    base = root.parent if alone else root
    course_file = CourseFile() if alone else settings.load(base)
    language = document.language or course_language
    kind = TEXT_TYPES.get(PurePosixPath(document.path).suffix.lower())
    about = About(course_code, document.title, document.session, language)
    if kind == "latex":
        return _latex(base, document, course_file, about, alone=alone)
    if kind == "markdown":
        drafts = markdown.drafts(base / document.path, document, language)
    elif kind == "csv":
        drafts = delimited.drafts(base / document.path, document)
    elif kind == "text":
        drafts = prose.drafts(base / document.path, document)
    else:
        raise DocumentError(f"{document.path}: unsupported type")
    return _made(drafts, about, frames=0, warnings=list(document.warnings))


def _latex(
    base: Path, document: ScannedDocument, course_file: CourseFile, about: About, *, alone: bool
) -> ParsedDocument:
    source = open_document(base, document.path, course_file, about.language, alone=alone)
    drafts, frames, warnings = _latex_drafts(source, document, about.language)
    if document.kind == "solution" and document.statement_path and not alone:
        drafts = _linked(base, document, course_file, about, drafts)
    result = source.expanded
    unknown = source.context.unknown
    return _made(
        drafts,
        about,
        frames=frames,
        warnings=[*document.warnings, *(str(warning) for warning in result.warnings), *warnings],
        unresolved=tuple(dict.fromkeys(result.unresolved)),
        unknown=tuple(unknown.most_common(60)),
    )


def _latex_drafts(
    source: Source, document: ScannedDocument, language: str
) -> tuple[list[Draft], int, list[str]]:
    frames = articles.has_frames(source)
    beamer = source.expanded.facts.get("class", "beamer") in {"beamer", "seminar", ""}
    if frames and (beamer or document.kind == "slides"):
        deck = decks.read_deck(source)
        return [*deck.drafts, *_terms(source, language)], deck.frames, deck.warnings
    sections = articles.sections(source)
    drafts: list[Draft] = []
    if document.kind in {"workshop", "solution", "exam"}:
        drafts = _exercises(sections, document, language)
    elif document.kind == "glossary":
        for section in sections:
            drafts += glossaries.drafts_of(section.blocks, section.title, section.name, language)
    elif document.kind == "cheat_sheet":
        for section in sections:
            drafts += _sheet(section, language)
    else:
        for section in sections:
            if not section.blocks:
                continue
            if workshops.is_exercise(section.name):
                drafts += _exercises([section], document, language)
            else:
                drafts.append(articles.draft_of(section, section.blocks))
    if document.kind == "glossary":
        drafts = [*_terms(source, language), *drafts]
    else:
        drafts += _terms(source, language)
    count = sum(1 for part in source.parts if type(part).__name__ == "Frame")
    return drafts, count, []


def _exercises(
    sections: Sequence[articles.Section], document: ScannedDocument, language: str
) -> list[Draft]:
    found: list[workshops.Exercise] = []
    for section in sections:
        place = section.above[-1] if section.above else ""
        solution = document.kind == "solution"
        found += workshops.exercises(section.title, section.blocks, place, solution=solution)
    return workshops.drafts_of(found, language)


def _sheet(section: articles.Section, language: str) -> list[Draft]:
    """A cheat sheet's section: each box a chunk, what stands between boxes one more."""
    from ingestion.parsing.labels import box_label  # noqa: PLC0415

    drafts: list[Draft] = []
    between: list[Block] = []
    for block in section.blocks:
        if isinstance(block, Box):
            title = block.title or box_label(block, language) or section.title
            drafts.append(Draft("box", (block,), title, section=section.name, overlap=False))
        else:
            between.append(block)
    if between:
        drafts.insert(0, articles.draft_of(section, between))
    return drafts


def _terms(source: Source, language: str) -> list[Draft]:
    """The glossary entries that the source defines."""
    drafts = []
    for entry in source.entries.values():
        if not entry.description.strip():
            continue
        drafts.append(
            glossaries.draft_of(
                glossaries.Entry(
                    read_inline(entry.name, source.context),
                    line(read_inline(entry.translation, source.context)),
                    tuple(read(entry.description, source.context)),
                ),
                language,
            )
        )
    return drafts


def _linked(
    base: Path,
    document: ScannedDocument,
    course_file: CourseFile,
    about: About,
    drafts: list[Draft],
) -> list[Draft]:
    """Each solution with the key of its statement's chunk, when the statement can be read."""
    from dataclasses import replace  # noqa: PLC0415

    statement = replace(document, path=document.statement_path, kind="workshop")
    try:
        source = open_document(base, statement.path, course_file, about.language)
        others, _, _ = _latex_drafts(source, statement, about.language)
    except DocumentError:
        return drafts
    return workshops.link(drafts, others)


def _made(
    drafts: Sequence[Draft],
    about: About,
    *,
    frames: int,
    warnings: list[str],
    unresolved: tuple[str, ...] = (),
    unknown: tuple[tuple[str, int], ...] = (),
) -> ParsedDocument:
    chunks = finish(drafts, about)
    blocks = [block for draft in drafts for block in draft.blocks]
    if not chunks:
        warnings = [*warnings, "nothing to read was found in this document"]
    return ParsedDocument(
        chunks,
        ParseReport(
            frames=frames,
            chunks=len(chunks),
            boxes=sum(isinstance(block, Box) for block in walk(blocks)),
            equations=sum(1 for _ in formulas(blocks)),
            unresolved_inputs=unresolved,
            unknown_macros=unknown,
            warnings=tuple(dict.fromkeys(warnings)),
        ),
    )


__all__ = ["Text", "parse"]
