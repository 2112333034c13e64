"""A beamer deck as drafts of chunks: one frame one chunk, following frames put together."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ingestion.parsing import labels
from ingestion.parsing.chunking import BUDGET, Draft
from ingestion.parsing.labels import bare
from ingestion.parsing.latex.frames import Event, Heading
from ingestion.parsing.latex.nodes import Page, read
from ingestion.parsing.latex.numbering import Numbered, number
from ingestion.parsing.plain import line, plain
from ingestion.parsing.tree import Block, Inline, Paragraph, Text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ingestion.parsing.latex.document import Source

_CONTINUED = re.compile(
    r"[\s:,–—-]*(?:"
    r"[(\[]\s*(?:\d{1,2}\s*[/.]\s*\d{1,2}|\d{1,2}\s+(?:sur|of)\s+\d{1,2}|suite(?:\s+et\s+fin)?|fin|"
    r"cont(?:[’'.]?\s?d|inued|\.)?|contd\.?|end|\d{1,2}|[IVX]{1,5})\s*[)\]]"
    r"|(?<=\s)\d{1,2}\s*/\s*\d{1,2}|[\s,–—-](?:suite(?:\s+et\s+fin)?|\(?continued\)?|cont[’']d)"
    r")\s*[.…]*\s*$",
    re.IGNORECASE,
)
_ROMAN = re.compile(r"^(.*\S)\s+([IVX]{1,5})\s*$")
_ROMANS = ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"]


@dataclass(slots=True)
class Slide:
    """A frame read."""

    numbered: Numbered
    blocks: list[Block]
    title: tuple[Inline, ...]
    subtitle: tuple[Inline, ...]
    notes: str
    section: str
    around: str
    base: str = ""
    roman: int = 0


@dataclass(slots=True)
class Deck:
    drafts: list[Draft] = field(default_factory=list)
    frames: int = 0
    warnings: list[str] = field(default_factory=list)


def read_deck(source: Source) -> Deck:
    """Every frame counted, every visible frame with something to read as a draft."""
    deck = Deck()
    count = number(source.parts)
    deck.frames = sum(1 for item in count.frames if not item.frame.hooked)
    for place in count.unknown_after:
        deck.warnings.append(
            f"{place}: allowframebreaks may break by itself: slide numbers after this frame "
            "cannot be known from the source"
        )
    slides = [slide for item in count.frames if (slide := _slide(item, source, deck))]
    if title := _title_slide(source):
        slides.insert(0, title)
    for run in _runs(slides):
        deck.drafts += _drafts(run, source.language)
    return deck


def _slide(numbered: Numbered, source: Source, deck: Deck) -> Slide | None:
    frame = numbered.frame
    if frame.unclosed:
        deck.warnings.append(f"{frame.file}:{frame.line}: this frame is never closed")
    if frame.hooked or not numbered.visible:
        return None
    page = Page()
    source.context.facts["section"] = source.title(numbered.section)
    source.context.facts["subsection"] = source.title(numbered.subsection)
    blocks = read(frame.body, source.context, page)
    title = page.title or source.title(frame.title)
    subtitle = page.subtitle or source.title(frame.subtitle)
    if page.title_page:
        blocks = _title_blocks(source) + blocks
        title = title or source.context.facts.get("title", ())
    if page.contents and not re.search(r"current|hide\s*(?:all|others)", page.contents):
        blocks += _outline(source, page.contents)
    if not plain(blocks, source.language).strip():
        if not title:
            return None
        blocks = [Paragraph(title)]
    notes = [*page.notes, *(_plain_note(note, source) for note in numbered.notes)]
    around = " — ".join(
        piece for piece in (line(source.title(numbered.part)), line(source.title(numbered.subsection)))  # noqa: E501
        if piece
    )  # fmt: skip
    slide = Slide(numbered, blocks, title, subtitle, "\n".join(filter(None, notes)),
                  line(source.title(numbered.section)), around)  # fmt: skip
    slide.base = base_title(line(title))
    if roman := _ROMAN.match(slide.base):
        slide.roman = _ROMANS.index(roman.group(2)) + 1 if roman.group(2) in _ROMANS else 0
    return slide


def _plain_note(latex: str, source: Source) -> str:
    return plain(read(latex, source.context), source.language)


def base_title(title: str) -> str:
    """A title without its mark of continuation: (1/2), (suite), (cont.), II."""
    previous = None
    while previous != title:
        previous, title = title, _CONTINUED.sub("", title).rstrip(" :,–—-")
    return title or previous or ""


def _title_slide(source: Source) -> Slide | None:
    """The page that a `\\maketitle` between frames makes."""
    place = next(
        (i for i, item in enumerate(source.parts)
         if isinstance(item, Event) and item.kind == "maketitle"), None,
    )  # fmt: skip
    blocks = _title_blocks(source)
    if place is None or not blocks:
        return None
    before = number(source.parts[: place + 1])
    frames = before.frames
    first = (frames[-1].slide_end or 0) + 1 if frames else 1
    from ingestion.parsing.latex.frames import Frame  # noqa: PLC0415

    numbered = Numbered(Frame(0, ""), first, first, first, visible=True)
    title = source.context.facts.get("title", ())
    return Slide(numbered, blocks, title, (), "", "", "") if not frames else None


def _title_blocks(source: Source) -> list[Block]:
    facts = source.context.facts
    return [
        Paragraph(facts[name])
        for name in ("title", "subtitle", "author", "institute", "date")
        if facts.get(name)
    ]


def _outline(source: Source, options: str) -> list[Block]:
    """What `\\tableofcontents` shows: the sections, in one sentence."""
    titles = [
        source.title(item.title)
        for item in source.parts
        if isinstance(item, Heading) and item.level == "section" and not item.starred
    ]
    if not titles:
        return []
    run: list[Inline] = [Text(labels.word("plan", source.language) + labels.colon(source.language))]
    for index, title in enumerate(titles):
        run += [Text(" ; ")] if index else []
        run += title
    del options
    return [Paragraph((*run, Text(".")))]


# -- continuation -------------------------------------------------------------------------------


def _runs(slides: Sequence[Slide]) -> list[list[Slide]]:
    """Slides that continue one another, together."""
    runs: list[list[Slide]] = []
    for slide in slides:
        if runs and _continues(runs[-1][-1], slide):
            runs[-1].append(slide)
        else:
            runs.append([slide])
    return runs


def _continues(before: Slide, after: Slide) -> bool:
    if not before.base or not after.base or before.numbered.appendix != after.numbered.appendix:
        return False
    if before.section != after.section:
        return False
    if bare(before.base) == bare(after.base):
        return True
    if after.roman < 2 or before.roman not in {0, after.roman - 1}:
        return False
    one, two = (bare(_ROMAN.sub(r"\1", slide.base)) for slide in (before, after))
    return one == two and bool(before.roman or after.roman == 2)


def _drafts(run: Sequence[Slide], language: str) -> list[Draft]:
    """Slides of one title as few chunks as the size allows, numbered as parts."""
    groups: list[list[Slide]] = []
    size = 0
    for slide in run:
        length = len(plain(slide.blocks, language)) + 1
        if groups and size + length <= BUDGET:
            groups[-1].append(slide)
            size += length
        else:
            groups.append([slide])
            size = length
    drafts: list[Draft] = []
    for index, group in enumerate(groups):
        part = f"{index + 1}/{len(groups)}" if len(groups) > 1 else ""
        drafts.append(_draft(group, part, common=len(run) > 1))
    return drafts


def _draft(group: Sequence[Slide], part: str, *, common: bool) -> Draft:
    first, final = group[0], group[-1]
    base = first.base
    if common and first.roman and len(group) > 1:
        base = _ROMAN.sub(r"\1", base)
    title = first.title if line(first.title) == base else _shortened(first.title, base)
    blocks: list[Block] = []
    for slide in group:
        if slide is not first and slide.subtitle and slide.subtitle != first.subtitle:
            blocks.append(Paragraph(slide.subtitle))
        blocks += slide.blocks
    end = final.numbered.slide_end if final.numbered.slide_end is not None else final.numbered.slide
    label = first.numbered.frame.options.get("label", "").strip()
    return Draft(
        kind="slide",
        blocks=tuple(blocks),
        title=title,
        subtitle=first.subtitle,
        key=f"label {label}" if label else "",
        section=first.section,
        around=first.around,
        slide=first.numbered.slide,
        slide_end=end if end != first.numbered.slide or len(group) > 1 else first.numbered.slide,
        page=first.numbered.page,
        part=part,
        notes="\n".join(slide.notes for slide in group if slide.notes),
        appendix=first.numbered.appendix,
    )


def _shortened(title: tuple[Inline, ...], base: str) -> tuple[Inline, ...]:
    """A title cut at its base; formulas in it are kept when they stand before the mark."""
    kept: list[Inline] = []
    for inline in title:
        kept.append(inline)
        if len(line(kept)) >= len(base):
            break
    if kept and isinstance(kept[-1], Text):
        over = len(line(kept)) - len(base)
        kept[-1] = (
            Text(kept[-1].text[: len(kept[-1].text) - over].rstrip()) if over > 0 else kept[-1]
        )
    return tuple(kept) if line(kept) == base else (Text(base),)
