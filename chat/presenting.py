"""What a person may be shown of turns and of their sources, as safe HTML.

Every piece of text from a model or a document becomes HTML here, through `knowledge.rendering`,
and nowhere else. Whether something may be shown is asked at the moment of showing: a piece whose
source was withdrawn since is hidden, with a sentence that says so.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from itertools import groupby
from typing import TYPE_CHECKING, Any

from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from chat.answering.tags import find_tags
from chat.models import Citation, Turn
from courses.models import Course
from knowledge.models import Chunk, Document
from knowledge.rendering.highlight import highlight
from knowledge.rendering.sanitise import sanitise
from knowledge.rendering.spans import spans
from knowledge.rendering.text import render_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from chat.models import CitationQuerySet
    from courses.models import User

#: A turn still pending after this long was left behind by a process that ended.
LEFT_BEHIND = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of an answer; `hidden` when a source of it may no longer be shown."""

    html: SafeString
    hidden: bool = False
    apart: bool = False  # starts a new line


@dataclass(frozen=True, slots=True)
class Source:
    """A source beneath an answer, under its tag."""

    tag: str
    url: str
    place: str
    title: SafeString
    document: str
    shown: bool
    cross_course: bool


@dataclass(frozen=True, slots=True)
class ShownTurn:
    turn: Turn
    status: str
    question: SafeString
    pieces: list[Piece] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    nearest: list[Near] = field(default_factory=list)
    searched: list[str] = field(default_factory=list)  # unless the message names them
    message: SafeString = field(default_factory=SafeString)  # of a refusal or a failure

    @property
    def general(self) -> bool:
        return self.turn.origin == "general-knowledge"

    @property
    def word_for_word(self) -> bool:
        return quoted(self.turn)


@dataclass(frozen=True, slots=True)
class Near:
    """The title of a near document, without any claim."""

    title: SafeString
    place: str


@dataclass(frozen=True, slots=True)
class Neighbour:
    """The slide before or after."""

    place: str
    title: SafeString
    html: SafeString


@dataclass(frozen=True, slots=True)
class SourcePanel:
    tag: str
    document: str
    place: str
    title: SafeString
    section: str
    version: datetime | None
    html: SafeString
    excerpt: bool = False
    cross_course: bool = False
    before: Neighbour | None = None
    after: Neighbour | None = None


def shown_citations(user: User) -> CitationQuerySet:
    """Citations that the person may be shown now, hidden parts of an open document left out."""
    hidden = Chunk.objects.visible_to(user).filter(hidden_until__gt=timezone.now())
    return Citation.objects.shown_to(user).exclude(chunk__in=hidden)


def quoted(turn: Turn) -> bool:
    """Whether the answer is made of quotes alone."""
    return turn.mode in {Course.AnswerMode.EXTRACTIVE, Course.AnswerMode.EVIDENCE}


def present(turns: Sequence[Turn], user: User) -> list[ShownTurn]:
    """The turns as they may be shown to the person now, in as many queries as for one turn."""
    cited = Citation.objects.visible_to(user).filter(turn__in=turns)
    by_turn: dict[int, list[Citation]] = {turn.pk: [] for turn in turns}
    for citation in cited:
        by_turn[citation.turn_id].append(citation)
    shown = set(shown_citations(user).filter(turn__in=turns).values_list("pk", flat=True))
    readable = _readable(turns, user)
    return [_present(turn, by_turn[turn.pk], shown, readable) for turn in turns]


def _present(
    turn: Turn, citations: list[Citation], shown: set[int], readable: set[int]
) -> ShownTurn:
    allowed = {c.tag for c in citations} - {c.tag for c in citations if c.pk not in shown}
    return ShownTurn(
        turn=turn,
        status=_status(turn),
        question=as_html(turn.question),
        pieces=_pieces(turn, allowed),
        sources=_sources(turn, citations, allowed),
        nearest=[
            Near(title=as_html(near.get("title", "")), place=near.get("locator", ""))
            for near in turn.nearest
            if near.get("document") is None or near["document"] in readable
        ],
        searched=[name for name in turn.searched if name not in turn.answer],
        message=as_html("" if turn.status == Turn.Status.ANSWERED else turn.answer),
    )


def shown_answer(turn: Turn, user: User) -> str:
    """The answer as plain text, with a sentence in place of what may no longer be shown."""
    if turn.status != Turn.Status.ANSWERED:
        return turn.answer
    citations = Citation.objects.visible_to(user).filter(turn=turn).values_list("pk", "tag")
    shown = set(shown_citations(user).filter(turn=turn).values_list("pk", flat=True))
    allowed = {tag for _pk, tag in citations} - {tag for pk, tag in citations if pk not in shown}
    parts: list[str] = []
    for piece in turn.pieces:
        text = piece["text"] if _tags_of(piece) <= allowed else f"\n[{withdrawn_sentence()}]"
        if parts and parts[-1] == text != piece["text"]:
            continue
        parts.append(text)
    return "".join(parts).strip()


def withdrawn_sentence() -> str:
    return _("A passage of this answer is hidden: its source was withdrawn.")


def piece_html(turn: Turn, piece: Mapping[str, Any]) -> SafeString:
    """A validated piece on its way to the screen; its tags lead to the source panel."""
    return _linked(piece["text"].strip(), turn, set(piece.get("tags", ())))


def as_html(text: str) -> SafeString:
    """Plain text as safe HTML with MathML."""
    return mark_safe(render_text(text))  # noqa: S308 - render_text escapes


def panel(turn: Turn, tag: str, user: User) -> SourcePanel | None:
    """The source behind a tag of a turn with its quotes marked, or None once it is withdrawn."""
    cited = shown_citations(user).filter(turn=turn, tag=tag)
    citations = list(cited.select_related("document"))
    if not citations:
        return None
    first = citations[0]
    now = timezone.now()
    readable = Chunk.objects.visible_to(user, turn.conversation).admissible(now)
    chunk = readable.filter(pk=first.chunk_id).first() if first.chunk_id else None
    document = first.document
    excerpt = document is None or document.opening == Document.Opening.EXCERPT
    before = after = None
    if chunk and not excerpt:
        beside = readable.filter(document=chunk.document_id)
        before = beside.filter(position__lt=chunk.position).order_by("-position").first()
        after = beside.filter(position__gt=chunk.position).order_by("position").first()
    return SourcePanel(
        tag=tag,
        document=first.document_title or first.path,
        place=_cited_place(first),
        title=as_html(first.title),
        section=_section(chunk, first),
        version=(document.valid_from or document.changed_at) if document else None,
        html=_marked(citations, chunk, excerpt=excerpt),
        excerpt=excerpt,
        cross_course=first.cross_course,
        before=_neighbour(before),
        after=_neighbour(after),
    )


def tags_of(turn: Turn, user: User) -> list[str]:
    """The tags of a turn in the order in which they were given."""
    tags = Citation.objects.visible_to(user).filter(turn=turn).values_list("tag", flat=True)
    return list(dict.fromkeys(tags))


def _status(turn: Turn) -> str:
    if turn.status == Turn.Status.PENDING and turn.created_at < timezone.now() - LEFT_BEHIND:
        return Turn.Status.FAILED
    return turn.status


def _tags_of(piece: Mapping[str, Any]) -> set[str]:
    """The tags that a piece declares and those that stand in its text."""
    written = {f"S{number}" for group in find_tags(piece["text"]) for number in group.numbers}
    return written | set(piece.get("tags", ()))


def _pieces(turn: Turn, allowed: set[str]) -> list[Piece]:
    """The answer's pieces; a run of hidden ones becomes one sentence."""
    if turn.status != Turn.Status.ANSWERED:
        return []
    pieces: list[Piece] = []
    for piece in turn.pieces:
        text = piece["text"]
        apart = "\n" in text[: len(text) - len(text.lstrip())]
        if _tags_of(piece) <= allowed:
            pieces.append(Piece(_linked(text.strip(), turn, allowed), apart=apart))
        elif not (pieces and pieces[-1].hidden):
            pieces.append(Piece(SafeString(""), hidden=True, apart=apart))
    return pieces


def _sources(turn: Turn, citations: list[Citation], allowed: set[str]) -> list[Source]:
    if turn.status != Turn.Status.ANSWERED:
        return []
    first = {citation.tag: citation for citation in reversed(citations)}
    return [
        Source(
            tag=tag,
            url=source_url(turn, tag),
            place=_cited_place(citation) if tag in allowed else "",
            title=as_html(citation.title) if tag in allowed else SafeString(""),
            document=citation.document_title or citation.path if tag in allowed else "",
            shown=tag in allowed,
            cross_course=citation.cross_course,
        )
        for tag, citation in sorted(first.items(), key=lambda item: _number(item[0]))
    ]


def _number(tag: str) -> int:
    digits = tag.lstrip("S")
    return int(digits) if digits.isdecimal() else 0


def source_url(turn: Turn, tag: str) -> str:
    return reverse("source", args=[turn.pk, tag])


def _linked(text: str, turn: Turn, allowed: set[str]) -> SafeString:
    """Text as safe HTML with its tags as links and its rows « a | b » as a table."""
    out = ""
    for width, lines in groupby(_lines(text), key=len):
        rows = list(lines)
        if width == 1 or len(rows) == 1:
            between = "" if not out or out.endswith("</table>") else "<br>\n"
            out += between + _inline("\n".join(" | ".join(row) for row in rows), turn, allowed)
        else:
            cells = ("".join(f"<td>{_inline(c, turn, allowed)}</td>" for c in row) for row in rows)
            out += "<table>" + "".join(f"<tr>{row}</tr>" for row in cells) + "</table>"
    return mark_safe(out)  # noqa: S308 - render_text escapes, format_html makes the links


def _lines(text: str) -> list[list[str]]:
    """The lines of a text and their cells; line ends and bars inside a formula are its own."""
    hidden = "".join(
        text[one.start : one.end] if one.tex is None else "\0" * (one.end - one.start)
        for one in spans(text)
    )
    lines: list[list[str]] = []
    at = 0
    for line in hidden.split("\n"):
        row: list[str] = []
        for cell in line.split(" | "):
            row.append(text[at : at + len(cell)])
            at += len(cell) + len(" | ")
        at += len("\n") - len(" | ")
        lines.append(row)
    return lines


def _inline(text: str, turn: Turn, allowed: set[str]) -> str:
    """Text as safe HTML with its tags as links. A tag inside a formula is mathematics."""
    out: list[str] = []
    for span in spans(text):
        inside = text[span.start : span.end]
        if span.tex is not None:
            out.append(render_text(inside))
            continue
        at = 0
        for group in find_tags(inside):
            out.append(render_text(inside[at : group.start].rstrip(" ")))
            names = [f"S{number}" for number in group.numbers]
            out += [_tag_link(turn, tag) if tag in allowed else f"[{tag}]" for tag in names]
            at = group.end
        out.append(render_text(inside[at:]))
    return "".join(out)


def _tag_link(turn: Turn, tag: str) -> SafeString:
    return format_html(
        '<a class="tag" href="{}" data-tag="{}" aria-label="{}">[{}]</a>',
        source_url(turn, tag),
        tag,
        _("Source %(tag)s") % {"tag": tag},
        tag,
    )


def _readable(turns: Iterable[Turn], user: User) -> set[int]:
    """Which of the near documents of refused turns may still be named."""
    ids = {near["document"] for turn in turns for near in turn.nearest if near.get("document")}
    if not ids:
        return set()
    documents = Document.objects.visible_to(user).admissible(timezone.now())
    return set(documents.filter(pk__in=ids).values_list("pk", flat=True))


def _marked(citations: list[Citation], chunk: Chunk | None, *, excerpt: bool) -> SafeString:
    """The cited text with its quotes marked: as displayed where it still is the text cited."""
    text = citations[0].text
    if excerpt:
        quotes = (render_text(c.quote, [(0, len(c.quote))]) for c in citations)
        html = "".join(f'<p class="excerpt">{quote}</p>' for quote in quotes)
    elif chunk and chunk.text == text and chunk.display:
        html = sanitise(chunk.display)
        for citation in citations:
            html = highlight(html, citation.quote)
    else:
        html = f"<p>{render_text(text, [(c.start, c.end) for c in citations])}</p>"
    return mark_safe(html)  # noqa: S308 - sanitised or escaped above


def _section(chunk: Chunk | None, citation: Citation) -> str:
    """The section, where it says more than the document's and the slide's titles do."""
    said = {citation.document_title, citation.title, citation.path}
    return chunk.section if chunk and chunk.section not in said else ""


def _neighbour(chunk: Chunk | None) -> Neighbour | None:
    if chunk is None:
        return None
    return Neighbour(
        place=_place(chunk.slide, chunk.slide_end, chunk.page, chunk.sheet),
        title=as_html(chunk.title),
        html=mark_safe(sanitise(chunk.display)),  # noqa: S308 - sanitised
    )


def _cited_place(citation: Citation) -> str:
    """« IMM1003 · Séance 4 · Diapositive 18 »"""
    session = _("Session %(number)d") % {"number": citation.session} if citation.session else ""
    place = _place(citation.slide, citation.slide_end, citation.page, citation.document_title)
    return " · ".join(part for part in (citation.course_code, session, place) if part)


def _place(slide: int | None, last: int | None, page: int | None, otherwise: str) -> str:
    if slide is not None and last is not None and last != slide:
        return _("Slides %(first)d to %(last)d") % {"first": slide, "last": last}
    if slide is not None:
        return _("Slide %(number)d") % {"number": slide}
    if page is not None:
        return _("Page %(number)d") % {"number": page}
    return otherwise
