"""The answer gate: nothing is shown or recorded that has not come through here.

Evidence mode and the extractive answerer come through `check_proposal`, cited prose through
`CitedStream` or `check_cited` (in `cited`), general knowledge through `check_general`. All give an
`Answer`; none raises on anything that a model may say.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from chat.answering import refusals
from chat.answering.citations import resolve
from chat.answering.cited import CitedStream, check_cited, check_general
from chat.answering.contradiction import find_conflicts
from chat.answering.quoting import Fault, honest, locate
from chat.answering.tags import replace_tags, tag, written
from chat.answering.types import (
    Admissible,
    Answer,
    Evidence,
    Piece,
    Proposal,
    ProposedQuote,
    Quote,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = [
    "MAX_QUOTES",
    "CitedStream",
    "check_cited",
    "check_general",
    "check_proposal",
    "closest",
    "refuse",
    "renumber",
    "still_admissible",
]

#: The specification's answer gate: 1 to 3 pairs of source and quote.
MAX_QUOTES = 3
#: Titles shown without a claim; a choice: what fits under a refusal on a phone.
MAX_CLOSEST = 3

UNKNOWN_SOURCE = "unknown_source"
OTHER_SOURCE = "quote_in_other_source"
NO_QUOTES = "no_quotes"
TOO_MANY = "too_many_quotes"
MALFORMED = "malformed_proposal"


def refuse(reason: str, *, detail: str = "", closest: Sequence[Evidence] = ()) -> Answer:
    """A refusal for one of `refusals`' reasons. `closest` are shown by title, without a claim."""
    return Answer(
        status="refused", reason=reason, detail=detail, closest=tuple(closest[:MAX_CLOSEST])
    )


def closest(evidence: Sequence[Evidence], *, detail: str = "") -> Answer:
    """The nearest passages by title alone: near enough to show, not enough to answer."""
    if not evidence:
        return refuse(refusals.NO_EVIDENCE, detail=detail)
    return Answer(
        status="closest",
        reason=refusals.CLOSEST,
        detail=detail,
        closest=tuple(evidence[:MAX_CLOSEST]),
        cross_course=any(one.cross_course for one in evidence[:MAX_CLOSEST]),
    )


def check_proposal(
    proposal: Proposal | None,
    evidence: Sequence[Evidence],
    *,
    admissible: Admissible,
    language: str = "fr",
    repairs: int = 0,
) -> Answer:
    """All of `proposal`'s quotes shown, or none.

    Each source was retrieved in this turn and `admissible` says that it still may be shown; each
    quote is an exact substring of that source, of at least 20 characters after trimming, up to the
    one normalisation of `quoting`. Shown quotes are grown so that they cut no exception. One fault
    refuses the whole: a proposal that invents one proof is not to be believed on the others.
    """
    present = [one for one in evidence if admissible(one.chunk_id)]
    if proposal is None:
        return _fault(MALFORMED, 0, repairs)
    if not proposal.can_answer:
        if proposal.reason == refusals.CLOSEST:
            return replace(closest(present), repairs=repairs)
        reason = proposal.reason if proposal.reason in refusals.REASONS else refusals.DECLINED
        return replace(refuse(reason, closest=present), repairs=repairs)
    if not proposal.quotes:
        return _fault(NO_QUOTES, 0, repairs)
    if len(proposal.quotes) > MAX_QUOTES:
        return _fault(TOO_MANY, 0, repairs)
    quotes: list[Quote] = []
    faults: list[str] = []
    for proposed in proposal.quotes:
        source = resolve(proposed.source_id, evidence)
        if source is not None and not admissible(source.chunk_id):
            return replace(refuse(refusals.WITHDRAWN, detail="withdrawn"), repairs=repairs)
        verdict = _prove(proposed, source, evidence)
        if isinstance(verdict, Quote):
            quotes.append(verdict)
        else:
            faults.append(verdict)
    if faults:
        return _fault(faults[0], len(faults), repairs)
    return _answer(_merge(quotes, evidence), present, language, repairs)


def still_admissible(answer: Answer, admissible: Admissible) -> Iterator[Piece]:
    """The pieces of `answer` one by one, each asked for again just before it leaves.

    Ends early when a source was withdrawn meanwhile; the caller then records the withdrawal.
    """
    for piece in answer.pieces:
        if not all(admissible(quote.chunk_id) for quote in piece.quotes):
            return
        yield piece


def renumber(answer: Answer, evidence: Sequence[Evidence]) -> tuple[Answer, tuple[Evidence, ...]]:
    """The same answer and evidence with what is cited as S1, S2, … in the order of reading.

    Evidence that is not cited takes the numbers after. A reader sees no gap, and [S1] of an answer
    is always its first source.
    """
    cited = [quote.tag for piece in answer.pieces for quote in piece.quotes]
    order = dict.fromkeys([*cited, *(quote.tag for quote in answer.quotes)])
    order |= dict.fromkeys(one.tag for one in evidence)
    new = {old: tag(number) for number, old in enumerate(order, 1)}

    def text(old: str) -> str:
        return replace_tags(
            old, lambda group: "".join(written(new.get(tag(n), tag(n))) for n in group.numbers)
        )

    def quote(old: Quote) -> Quote:
        return replace(old, tag=new[old.tag])

    pieces = tuple(Piece(text(p.text), tuple(quote(q) for q in p.quotes)) for p in answer.pieces)
    conflicts = tuple(
        replace(one, left=quote(one.left), right=quote(one.right)) for one in answer.conflicts
    )
    renamed = replace(
        answer,
        text="".join(piece.text for piece in pieces) if answer.pieces else answer.text,
        pieces=pieces,
        quotes=tuple(quote(one) for one in answer.quotes),
        conflicts=conflicts,
    )
    return renamed, tuple(replace(one, tag=new[one.tag]) for one in evidence)


def _prove(
    proposed: ProposedQuote, source: Evidence | None, evidence: Sequence[Evidence]
) -> Quote | str:
    """The quote as the source has it, or the name of the fault."""
    if source is None:
        return UNKNOWN_SOURCE
    found = locate(proposed.quote, source.text)
    if isinstance(found, Fault):
        elsewhere = found is Fault.ABSENT and any(
            not isinstance(locate(proposed.quote, other.text), Fault)
            for other in evidence
            if other.chunk_id != source.chunk_id
        )
        return OTHER_SOURCE if elsewhere else found.value
    start, end = honest(source.text, *found)
    return Quote(source.tag, source.chunk_id, source.text[start:end], start, end)


def _merge(quotes: list[Quote], evidence: Sequence[Evidence]) -> list[Quote]:
    """Quotes in the order proposed; those of one chunk that touch or overlap are one."""
    texts = {one.chunk_id: one.text for one in evidence}
    order = {chunk: index for index, chunk in reversed([*enumerate(q.chunk_id for q in quotes)])}
    out: list[Quote] = []
    for quote in sorted(quotes, key=lambda q: (order[q.chunk_id], q.start)):
        last = out[-1] if out else None
        text = texts[quote.chunk_id]
        if last and last.chunk_id == quote.chunk_id and not text[last.end : quote.start].strip():
            end = max(last.end, quote.end)
            out[-1] = Quote(last.tag, last.chunk_id, text[last.start : end], last.start, end)
        else:
            out.append(quote)
    return out


def _answer(
    quotes: list[Quote], present: Sequence[Evidence], language: str, repairs: int
) -> Answer:
    conflicts = find_conflicts(quotes, present, language)
    shown = list(quotes)
    for conflict in conflicts:
        if not any(_same_place(conflict.right, quote) for quote in shown):
            shown.append(conflict.right)
    pieces = tuple(
        Piece(("\n\n" if number else "") + _paragraph(quote), (quote,))
        for number, quote in enumerate(shown)
    )
    cited = {quote.chunk_id for quote in shown}
    return Answer(
        status="answered",
        origin="course",
        text="".join(piece.text for piece in pieces),
        pieces=pieces,
        quotes=tuple(shown),
        conflicts=conflicts,
        repairs=repairs,
        cross_course=any(one.cross_course for one in present if one.chunk_id in cited),
    )


def _paragraph(quote: Quote) -> str:
    """The quote and its tag. A tag that the document itself forged is shown as a plain word."""
    text = replace_tags(quote.text, lambda g: " ".join(f"‹S{n}›" for n in g.numbers))
    return f"{text} {written(quote.tag)}"


def _same_place(one: Quote, other: Quote) -> bool:
    return one.chunk_id == other.chunk_id and one.start < other.end and other.start < one.end


def _fault(detail: str, invalid: int, repairs: int) -> Answer:
    return Answer(
        status="refused",
        reason=refusals.INSUFFICIENT,
        detail=detail,
        invalid_citations=invalid,
        repairs=repairs,
        needs_repair=repairs == 0,
    )
