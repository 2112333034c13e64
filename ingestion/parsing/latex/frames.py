"""The expanded text of a deck cut into frames and the events that move counters."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field

from ingestion.parsing.latex.expand import Expanded, Place
from ingestion.parsing.latex.macros import options_of
from ingestion.parsing.latex.stream import Stream

_EVENT = re.compile(
    r"\\begin\{frame\}|\\frame(?![a-zA-Z@])|\\(?P<heading>part|chapter|section|subsection|subsubsection)"
    r"\*?(?=[\[{])|\\(?P<word>maketitle|titlepage|againframe|appendix|note|sectionpage)(?![a-zA-Z@])"
    r"|\\(?P<counter>setcounter|addtocounter)\{framenumber\}\{\s*(?P<value>[+-]?\d+)\s*\}"
)
_END = re.compile(r"\\(begin|end)\{frame\}")
_OVERLAY = re.compile(r"\s*<([^<>]*)>")


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame as it stands in the source; `title` may also stand in the body."""

    at: int
    body: str
    title: str = ""
    subtitle: str = ""
    overlay: str = ""
    options: dict[str, str] = field(default_factory=dict)
    file: str = ""
    line: int = 0
    pages: int = 1
    hooked: bool = False
    unclosed: bool = False


@dataclass(frozen=True, slots=True)
class Heading:
    at: int
    level: str
    title: str
    starred: bool
    number: str = ""


@dataclass(frozen=True, slots=True)
class Event:
    """What moves a counter: maketitle, againframe, setcounter, addtocounter, appendix, note."""

    at: int
    kind: str
    value: str = ""


Part = Frame | Heading | Event


def split(expanded: Expanded) -> list[Part]:
    """Frames, headings and events in the order in which LaTeX meets them."""
    text = expanded.text
    starts = [place.at for place in expanded.places]
    parts: list[Part] = []
    at = 0
    while match := _EVENT.search(text, at):
        at = match.end()
        if level := match.group("heading"):
            heading, at = _heading(text, match.start(), level, at)
            parts.append(heading)
        elif match.group("counter"):
            parts.append(Event(match.start(), match.group("counter"), match.group("value")))
        elif word := match.group("word"):
            value, at = _word(text, word, at)
            parts.append(Event(match.start(), word, value))
        else:
            place = _place(expanded, starts, match.start())
            frame, at = _frame(expanded, match, place)
            if frame is not None:
                parts.append(frame)
                parts += _inside(frame)
    return parts


def _place(expanded: Expanded, starts: list[int], at: int) -> Place:
    index = bisect_right(starts, at) - 1
    return expanded.places[index] if index >= 0 else Place(at, "", 0)


def _heading(text: str, start: int, level: str, at: int) -> tuple[Heading, int]:
    stream, starred = _after(text, at), False
    if stream.peek() == "*":
        stream.skip(1)
        starred = True
    number = stream.option() or ""
    title = stream.argument()
    return Heading(start, level, title.strip(), starred, number), _end(stream, text)


def _word(text: str, word: str, at: int) -> tuple[str, int]:
    stream = _after(text, at)
    value = ""
    if word == "againframe":
        stream.overlay()
        while stream.option() is not None:
            pass
        value = stream.argument()
    elif word == "note":
        stream.option()
        value = stream.argument()
    return value, _end(stream, text)


def _after(text: str, at: int) -> Stream:
    """A stream over `text` from `at`; the text is not copied."""
    stream = Stream()
    stream.push(text)
    stream.layers[0].pos = at
    return stream


def _end(stream: Stream, text: str) -> int:
    return stream.layers[0].pos if stream.layers else len(text)


def _frame(expanded: Expanded, match: re.Match[str], place: Place) -> tuple[Frame | None, int]:
    text = expanded.text
    command = match.group().startswith("\\frame")
    stream = _after(text, match.end())
    overlay = ""
    options: dict[str, str] = {}
    title = subtitle = ""
    if overlay_match := stream.match(_OVERLAY):
        overlay = overlay_match.group(1)
    while (option := stream.option()) is not None:
        if not option.strip().startswith("<"):
            options |= options_of(option)
    hooked = any(start <= match.start() < end for start, end in expanded.hooked)
    pages = expanded.pages.get(match.start(), 1)
    if command:
        body = stream.group()
        if body is None:
            return None, match.end()
        end, unclosed = _end(stream, text), False
        second = stream.group() if "\n" not in stream.rest(1) else None
        if second is not None and not body.lstrip().startswith("\\") and len(body) < 200:
            # `\frame{title}{body}` of very old decks.
            title, body, end = body, second, _end(stream, text)
    else:
        title = _title(stream)
        subtitle = _title(stream) if title else ""
        begin = _end(stream, text)
        body, end, unclosed = _body(text, begin)
    frame = Frame(match.start(), body, title, subtitle, overlay, options, place.file, place.line,
                  pages, hooked, unclosed)  # fmt: skip
    return frame, end


def _title(stream: Stream) -> str:
    """A braced argument right after `\\begin{frame}`; a blank line ends the arguments."""
    if re.match(r"[ \t]*(?:\n[ \t]*)?\{", stream.rest(400)):
        return (stream.group() or "").strip()
    return ""


def _body(text: str, begin: int) -> tuple[str, int, bool]:
    """The body of a frame, where it ends, and whether its end was missing."""
    match = _END.search(text, begin)
    if match is None:
        return text[begin:], len(text), True
    if match.group(1) == "end":
        return text[begin : match.start()], match.end(), False
    return text[begin : match.start()], match.start(), True


def _inside(frame: Frame) -> list[Part]:
    """Headings and counters that stand in the body of a frame, after it."""
    found: list[Part] = []
    for match in _EVENT.finditer(frame.body):
        if match.group("counter"):
            found.append(Event(frame.at, match.group("counter"), match.group("value")))
        elif level := match.group("heading"):
            if level in {"part", "section", "subsection"}:
                heading, _ = _heading(frame.body, match.start(), level, match.end())
                found.append(Heading(frame.at, level, heading.title, heading.starred))
        elif match.group("word") == "appendix":
            found.append(Event(frame.at, "appendix"))
    return found
