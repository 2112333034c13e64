"""Slide numbers as beamer prints them, and the page of the PDF on which a frame starts.

Rules as measured with pdfTeX (measurements.md, LaTeX): `\\maketitle`, hook frames and `\\againframe` count;
`<0>` takes no number; `<beamer:0>` and `<article>` take one and are not shown; `noframenumbering`
repeats the last number; each page of `allowframebreaks` counts. After an automatic break the
numbers cannot be known from the source and are left out, with a warning, until the deck sets the
counter again.
"""  # noqa: E501

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ingestion.parsing.latex.frames import Event, Frame, Heading, Part
from ingestion.parsing.latex.overlays import shown

_BREAK = re.compile(r"(?:^|\n)[ \t]*\n\s*\\framebreak(?![a-zA-Z])|\\par\s*\\framebreak(?![a-zA-Z])")
_FULL_PAGE = 16  # lines of a frame that always fit on one page


@dataclass(frozen=True, slots=True)
class Numbered:
    """A frame with its first and last number, its first page, its place among the headings."""

    frame: Frame
    slide: int | None
    slide_end: int | None
    page: int | None
    visible: bool
    part: str = ""
    section: str = ""
    subsection: str = ""
    appendix: bool = False
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class Count:
    """The counters while a deck is read."""

    frames: list[Numbered] = field(default_factory=list)
    unknown_after: list[str] = field(default_factory=list)
    by_label: dict[str, Numbered] = field(default_factory=dict)


def number(parts: list[Part]) -> Count:
    """Every frame numbered."""
    count = Count()
    slide: int | None = 0
    page: int | None = 1
    part = section = subsection = ""
    appendix = False
    for item in parts:
        match item:
            case Heading(level="part"):
                part, section, subsection = item.title, "", ""
            case Heading(level="section" | "chapter"):
                section, subsection = item.title, ""
            case Heading(level="subsection"):
                subsection = item.title
            case Heading():
                pass
            case Event(kind="maketitle"):
                slide = None if slide is None else slide + 1
                page = None if page is None else page + 1
            case Event(kind="setcounter", value=value):
                slide = int(value)
            case Event(kind="addtocounter", value=value):
                slide = None if slide is None else slide + int(value)
            case Event(kind="appendix"):
                appendix = True
                section = subsection = ""
            case Event(kind="againframe", value=value):
                again = count.by_label.get(value.strip())
                silent = again is not None and "noframenumbering" in again.frame.options
                slide = slide if slide is None or silent else slide + 1
                page = None if page is None else page + (again.frame.pages if again else 1)
            case Event(kind="note", value=value):
                if count.frames:
                    last = count.frames[-1]
                    count.frames[-1] = _with_note(last, value)
            case Frame():
                numbered, slide, page = _number(item, slide, page, count)
                numbered = _placed(numbered, part, section, subsection, appendix)
                count.frames.append(numbered)
                if label := item.options.get("label"):
                    count.by_label[label.strip()] = numbered
    return count


def _with_note(numbered: Numbered, value: str) -> Numbered:
    return Numbered(
        numbered.frame, numbered.slide, numbered.slide_end, numbered.page, numbered.visible,
        numbered.part, numbered.section, numbered.subsection, numbered.appendix,
        (*numbered.notes, value),
    )  # fmt: skip


def _placed(n: Numbered, part: str, section: str, subsection: str, appendix: bool) -> Numbered:  # noqa: FBT001
    return Numbered(n.frame, n.slide, n.slide_end, n.page, n.visible, part, section, subsection,
                    appendix)  # fmt: skip


def _number(
    frame: Frame, slide: int | None, page: int | None, count: Count
) -> tuple[Numbered, int | None, int | None]:
    """The numbers of a frame, and the counters after it."""
    spec = frame.overlay.strip()
    visible = shown(spec) if spec else True
    if spec == "0":
        return Numbered(frame, None, None, None, visible=False), slide, page
    breaks, certain = _breaks(frame)
    silent = "noframenumbering" in frame.options
    first = slide if slide is None or silent else slide + 1
    last = first if first is None or silent else first + breaks
    here = page if visible else None
    pages = (breaks + 1) * max(1, frame.pages) if visible else 0
    after_slide = slide if silent else last
    after_page = None if page is None else page + pages
    if not certain:
        last = first if silent else None
        after_slide = slide if silent else None
        after_page = None
        if not silent and slide is not None:
            count.unknown_after.append(f"{frame.file}:{frame.line}" if frame.line else frame.file)
    return Numbered(frame, first, last, here, visible), after_slide, after_page


def _breaks(frame: Frame) -> tuple[int, bool]:
    """Pages after the first that `allowframebreaks` makes, and whether that number is certain."""
    if not any(key.startswith("allowframebreaks") for key in frame.options):
        return 0, True
    pieces = _BREAK.split(frame.body)
    longest = max((_lines(piece) for piece in pieces), default=0)
    uncertain = longest > _FULL_PAGE or re.search(
        r"\\(?:printbibliography|bibliography|includegraphics|input|preuvepicture|begin\{"
        r"(?:thebibliography|tikzpicture|figure))",
        frame.body,
    )
    return len(pieces) - 1, not uncertain


def _lines(text: str) -> int:
    """About how many lines a text takes on a slide: an upper guess."""
    text = re.sub(r"\ue000V\d+\ue001", "\n" * 14, text)
    total = 0
    for line in re.split(r"\n\s*\n|\\\\|\\item|\\begin\{[^{}]*\}|\\end\{[^{}]*\}", text):
        visible = re.sub(r"\\[a-zA-Z]+|[{}$\[\]]", "", line).strip()
        total += (len(visible) + 47) // 48 if visible else 0
    return total
