"""Turns, citations and rankings as commands and the API give them (the README's table)."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from chat.answering import evidence_gate
from chat.models import Citation
from knowledge import search

if TYPE_CHECKING:
    from datetime import datetime

    from chat.models import Conversation, Turn
    from courses.models import User
    from knowledge.retrieval.types import Candidate, Verdict
    from knowledge.search import Retrieval


def describe_citations(turn: Turn, user: User) -> list[dict[str, Any]]:
    """The turn's citations as the API shows them; one whose source left shows its tag alone."""
    shown = set(Citation.objects.shown_to(user).filter(turn=turn).values_list("pk", flat=True))
    return [
        _describe(citation, shown=citation.pk in shown)
        for citation in Citation.objects.visible_to(user).filter(turn=turn)
    ]


def _describe(citation: Citation, *, shown: bool) -> dict[str, Any]:
    value = {
        "tag": citation.tag,
        "shown": shown,
        "chunk": citation.chunk_public_id,
        "document": citation.document_title or citation.path,
        "path": citation.path,
        "course": citation.course_code,
        "space": citation.space_slug,
        "session": citation.session,
        "slide": citation.slide,
        "slide_end": citation.slide_end,
        "page": citation.page,
        "title": citation.title,
        "locator": citation.locator,
        "quote": citation.quote,
        "text": citation.text,
        "cross_course": citation.cross_course,
    }
    if shown:
        return value
    hidden = {name: None if isinstance(v, int) else "" for name, v in value.items()}
    return hidden | {"tag": citation.tag, "shown": False, "cross_course": citation.cross_course}


def answered(turn: Turn, user: User) -> dict[str, Any]:
    """The turn as the command `ask` prints it."""
    return {
        "status": turn.status,
        "reason": turn.reason,
        "origin": turn.origin,
        "answer": turn.answer,
        "language": turn.language,
        "cross_course": turn.cross_course,
        "searched": turn.searched,
        "nearest": turn.nearest,
        "citations": describe_citations(turn, user),
        "model_calls": turn.model_calls,
        "retrieval_calls": turn.retrieval_calls,
        "invalid_citations": turn.invalid_citations,
        "timings_ms": turn.timings_ms,
    }


def probe(
    question: str, *, user: User, conversation: Conversation, as_of: datetime
) -> dict[str, Any]:
    """The ranking before and after the evidence gate, as the command `probe` prints it."""
    scope = search.scope_for(user, conversation, as_of)
    found = search.search(question, user=user, conversation=conversation, scope=scope, as_of=as_of)
    gate = evidence_gate.admit(found.analysis, found.candidates, found.facts, found.thresholds)
    verdicts = {verdict.chunk_id: verdict for verdict in gate.verdicts}
    return {
        "analysis": asdict(found.analysis),
        "manifest": found.generation.manifest,
        "generation": found.generation.pk,
        "spaces": scope.spaces,
        "thresholds": asdict(found.thresholds),
        "score": gate.score,
        "threshold": gate.threshold,
        "reason": gate.reason,
        "candidates": [_candidate(one, found, verdicts[one.chunk_id]) for one in found.candidates],
        "evidence": [found.chunks[one.chunk_id].public_id for one in gate.evidence],
    }


def _candidate(one: Candidate, found: Retrieval, verdict: Verdict) -> dict[str, Any]:
    chunk = found.chunks[one.chunk_id]
    values = {name: value for name, value in asdict(one).items() if name != "chunk_id"}
    return {
        "id": chunk.public_id,
        "path": chunk.document.path,
        "slide": chunk.slide,
        "title": chunk.title,
        **values,
        "boosts": dict(one.boosts),
        "admission_score": verdict.score,
        "admitted": verdict.admitted,
        "reason": verdict.reason,
    }
