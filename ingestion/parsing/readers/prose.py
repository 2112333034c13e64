"""Plain text files: paragraphs, put together up to the size of a chunk."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ingestion.parsing.chunking import Draft
from ingestion.parsing.encoding import decode
from ingestion.parsing.tree import Block, Break, Inline, Paragraph, Text
from ingestion.parsing.types import DocumentError, ScannedDocument

if TYPE_CHECKING:
    from pathlib import Path

_HEADING = re.compile(
    r"^(?:(?P<line>[^\n]{2,100})\n[ \t]*(?:={3,}|-{3,}|~{3,})[ \t]*|"
    r"(?P<number>(?:\d{1,2}\.){0,3}\d{1,2}[.)]?\s+[A-ZÀ-Ý][^\n.!?]{2,80}))$"
)


def drafts(path: Path, document: ScannedDocument) -> list[Draft]:
    """A chunk for each headed part; a text without headings is one part."""
    try:
        text, _ = decode(path.read_bytes())
    except OSError as error:
        raise DocumentError(f"cannot be read: {error.strerror}") from None
    found: list[Draft] = []
    title = document.title
    blocks: list[Block] = []
    for piece in re.split(r"\n[ \t]*\n\s*", text.strip("\n")):
        heading = _HEADING.match(piece.strip())
        if heading:
            _put(found, title, blocks, document)
            title = (heading.group("line") or heading.group("number")).strip()
            blocks = []
        elif piece.strip():
            blocks.append(_paragraph(piece))
    _put(found, title, blocks, document)
    if not found:
        raise DocumentError("no text in the file")
    return found


def _put(found: list[Draft], title: str, blocks: list[Block], document: ScannedDocument) -> None:
    if blocks:
        found.append(
            Draft("text", tuple(blocks), (Text(title),), section=document.title, overlap=True)
        )


def _paragraph(piece: str) -> Block:
    """Lines that were wrapped at a margin are joined; short lines keep their ends."""
    lines = [row.rstrip() for row in piece.split("\n") if row.strip()]
    wrapped = len(lines) > 1 and sum(len(row) > 55 for row in lines[:-1]) * 2 > len(lines) - 1
    run: list[Inline] = []
    for index, row in enumerate(lines):
        if index:
            run.append(Text(" ") if wrapped else Break())
        run.append(Text(row.strip()))
    return Paragraph(tuple(run))
