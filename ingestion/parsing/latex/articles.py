"""A LaTeX article, plan or book as drafts: one section or subsection, one chunk."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ingestion.parsing.chunking import Draft
from ingestion.parsing.latex.frames import Frame
from ingestion.parsing.latex.frames import Heading as HeadingEvent
from ingestion.parsing.latex.nodes import Page, read
from ingestion.parsing.plain import line
from ingestion.parsing.tree import Block, Heading, Inline, Paragraph

if TYPE_CHECKING:
    from ingestion.parsing.latex.document import Source

_LEVELS = {"part": 0, "chapter": 1, "section": 2, "subsection": 3, "subsubsection": 4}
_HEADING = re.compile(
    r"\\(?P<level>part|chapter|section|subsection|subsubsection)\*?(?:\[[^\[\]]*\])?(?=\{)"
)


@dataclass(slots=True)
class Section:
    """A heading with what stands under it, before the next heading."""

    level: int
    title: tuple[Inline, ...]
    blocks: list[Block]
    above: list[str] = field(default_factory=list)
    notes: str = ""

    @property
    def name(self) -> str:
        return line(self.title)


def sections(source: Source) -> list[Section]:
    """The sections of a document in order; the text before the first has the document's title."""
    text = source.expanded.text
    found: list[Section] = []
    above: dict[int, str] = {}
    marks: list[tuple[int, int, int, str]] = []  # start, end, level, title
    from ingestion.parsing.latex.references import _group_end, group  # noqa: PLC0415

    for match in _HEADING.finditer(text):
        marks.append((match.start(), _group_end(text, match.end()),  # noqa: PERF401
                      _LEVELS[match.group("level")], group(text, match.end())))  # fmt: skip
    start = marks[0][0] if marks else len(text)
    front = _section(source, -1, source.context.facts.get("title", ()), text[:start])
    if front.blocks:
        found.append(front)
    for index, (_, end, level, latex) in enumerate(marks):
        stop = marks[index + 1][0] if index + 1 < len(marks) else len(text)
        section = _section(source, level, source.title(latex), text[end:stop])
        for lower in [key for key in above if key >= level]:
            del above[lower]
        section.above = [above[key] for key in sorted(above)]
        above[level] = section.name
        found.append(section)
    return found


def _section(source: Source, level: int, title: tuple[Inline, ...], latex: str) -> Section:
    page = Page()
    blocks = read(_frames_as_text(latex), source.context, page)
    return Section(level, title, blocks, notes="\n".join(page.notes))


def _frames_as_text(latex: str) -> str:
    """Frames of a beamer article: the title becomes a heading, the body stays."""
    latex = re.sub(
        r"\\begin\{frame\}\s*(?:<[^<>]*>)?\s*(?:\[[^\[\]]*\]\s*)*(?=\{)", r"\\paragraph", latex
    )
    latex = re.sub(r"\\begin\{frame\}\s*(?:<[^<>]*>)?\s*(?:\[[^\[\]]*\]\s*)*", "\n\n", latex)
    return re.sub(r"\\end\{frame\}", "\n\n", latex).replace("\\frametitle", "\\paragraph")


def drafts_of(source: Source) -> list[Draft]:
    """A chunk for each section that says something; a bare heading goes into its first child."""
    drafts: list[Draft] = []
    for section in sections(source):
        if not section.blocks:
            continue
        drafts.append(draft_of(section, section.blocks))
    return drafts


def draft_of(section: Section, blocks: list[Block]) -> Draft:
    nearest = section.above[-1] if section.above else section.name
    return Draft(
        kind="section",
        blocks=tuple(_tidy(blocks)),
        title=section.title,
        section=nearest,
        around=" — ".join(section.above[:-1]),
        notes=section.notes,
        overlap=True,
    )


def _tidy(blocks: list[Block]) -> list[Block]:
    """Without a heading that nothing follows."""
    while blocks and isinstance(blocks[-1], Heading):
        blocks = [*blocks[:-1], Paragraph(blocks[-1].inlines)]
    return blocks


def heading_count(source: Source) -> int:
    return sum(1 for part in source.parts if isinstance(part, HeadingEvent))


def has_frames(source: Source) -> bool:
    return any(isinstance(part, Frame) for part in source.parts)
