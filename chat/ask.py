"""The whole route of a question, on one screen: from the form to the recorded turn."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.text import Truncator
from django.utils.translation import gettext as _

from chat.answering import answer_gate, citations, context, evidence_gate, refusals
from chat.answering.profiles import PROFILES
from chat.answering.types import Answer, AnsweringError, Evidence, Request
from chat.models import Citation, Conversation, Turn
from knowledge import library, search
from knowledge.retrieval.language import detect_language
from knowledge.retrieval.types import RetrievalError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from courses.models import User
    from knowledge.models import Chunk
    from knowledge.retrieval.types import Candidate
    from knowledge.search import Retrieval

log = logging.getLogger("preuve.chat")


class AskError(Exception):
    """A question that cannot be taken; `user_message` says what to do."""

    def __init__(self, user_message: str, *, retryable: bool = False) -> None:
        super().__init__(user_message)
        self.user_message = user_message
        self.retryable = retryable


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened on the way to an answer, in the order it happened.

    `analysed` {language, kind} · `searching` {spaces} · `sources` {count} · `verifying` {} ·
    `piece` {text, tags} (validated, may be shown) · `done` {status, reason}.
    """

    name: str
    data: dict[str, Any] = field(default_factory=dict)


def begin(
    *,
    conversation: Conversation,
    question: str,
    as_of: datetime | None = None,
    mode: str = "",
    profile: str = "",
) -> Turn:
    """The question is saved as a pending turn. Raises AskError when it is empty or too long."""
    question = question.replace("\x00", "").strip()
    if not question:
        raise AskError(_("Write a question first."))
    if len(question) > settings.QUESTION_MAX_CHARACTERS:
        raise AskError(
            _("This question has %(length)d characters; the limit is %(limit)d. Shorten it.")
            % {"length": len(question), "limit": settings.QUESTION_MAX_CHARACTERS}
        )
    profile = profile or conversation.course.chat_profile
    if profile not in PROFILES.names:
        raise AskError(
            _("There is no chat profile named %(name)s. Known: %(known)s.")
            % {"name": profile, "known": ", ".join(PROFILES.names)}
        )
    with transaction.atomic():
        last = conversation.turns.order_by("-ordinal").first()
        turn = Turn.objects.create(
            conversation=conversation,
            ordinal=last.ordinal + 1 if last else 1,
            question=question,
            as_of=as_of or timezone.now(),
            mode=mode or conversation.course.answer_mode,
            profile=profile,
        )
        if not conversation.title:
            conversation.title = Truncator(question).chars(80)
        conversation.save(update_fields=["title", "changed_at"])
    return turn


def answer_question(turn: Turn, user: User) -> Iterator[Event]:
    """The pending turn is answered, refused or failed, and recorded with what it cites.

    Yields what happens as it happens; no transaction is open between two events. A failure of the
    index or of a provider marks the turn failed and ends the events; a reader who leaves does too.
    """
    started = perf_counter()
    route = Route(turn, user)
    try:
        yield from route.events()
    except (RetrievalError, AnsweringError) as error:
        log.warning("turn_failed turn=%s error=%s", turn.pk, type(error).__name__)
        route.fail(error.user_message)
    finally:
        if turn.status == Turn.Status.PENDING:
            route.fail("")
        turn.timings_ms = {
            name: round(ms, 2)
            for name, ms in (route.timings | {"total": (perf_counter() - started) * 1000}).items()
        }
        route.record()
    for piece in turn.pieces:
        yield Event("piece", piece)
    yield Event("done", {"status": turn.status, "reason": turn.reason})


class Route:
    """The steps of one question and what they found, so that a failure is recorded too."""

    def __init__(self, turn: Turn, user: User) -> None:
        self.turn = turn
        self.user = user
        self.conversation = turn.conversation
        self.evidence: tuple[Evidence, ...] = ()
        self.answer: Answer | None = None
        self.timings: dict[str, float] = {}

    def events(self) -> Iterator[Event]:
        turn = self.turn
        scope = search.scope_for(self.user, self.conversation, turn.as_of)
        turn.language = detect_language(turn.question, self.conversation.course.language)
        turn.searched = [display_name(slug, turn.language) for slug in scope.spaces]
        turn.uses_private = any(slug.startswith("instructor-private") for slug in scope.spaces)
        yield Event("searching", {"spaces": turn.searched})
        if not scope:
            self.settle(answer_gate.refuse(refusals.EMPTY_SCOPE))
            return
        found = self._search(scope)
        yield Event("analysed", {"language": turn.language, "kind": found.analysis.kind})
        gate = evidence_gate.admit(found.analysis, found.candidates, found.facts, found.thresholds)
        if not gate:
            self.settle(answer_gate.refuse(gate.reason, closest=self._nearest(found, gate.near)))
            return
        if not gate.sure:
            nearest = [self._evidence(candidate, found) for candidate in gate.evidence]
            self.settle(answer_gate.closest(nearest))
            return
        self.evidence = context.choose([self._evidence(c, found) for c in gate.evidence])
        yield Event("sources", {"count": len(self.evidence)})
        proposing = perf_counter()
        profile = PROFILES.build(turn.profile)
        turn.model_calls += profile.calls_model
        proposal = profile.propose(
            Request(
                analysis=found.analysis,
                evidence=self.evidence,
                query_vector=found.query_vector,
                embed=found.profile.embed_sentences,
                min_confidence=gate.sentence_threshold,
            )
        )
        self.timings["propose"] = (perf_counter() - proposing) * 1000
        yield Event("verifying")
        self._verify(proposal)

    def _search(self, scope: search.AskScope) -> Retrieval:
        turn = self.turn
        turn.retrieval_calls += 1
        found = search.search(
            turn.question,
            user=self.user,
            conversation=self.conversation,
            scope=scope,
            as_of=turn.as_of,
        )
        turn.language = found.analysis.language
        turn.generation = found.generation.pk
        self.timings |= found.timings_ms
        return found

    def _verify(self, proposal: Any) -> None:
        """The answer gate, with admissibility asked of the database again."""
        started = perf_counter()
        allowed = search.still_admissible(
            [one.chunk_id for one in self.evidence], self.user, self.conversation, self.turn.as_of
        )
        checked = answer_gate.check_proposal(
            proposal,
            self.evidence,
            admissible=allowed.__contains__,
            language=self.turn.language,
        )
        checked, self.evidence = answer_gate.renumber(checked, self.evidence)
        self.settle(checked)
        self.timings["verify"] = (perf_counter() - started) * 1000

    def _evidence(self, candidate: Candidate, found: Retrieval) -> Evidence:
        chunk = found.chunks[candidate.chunk_id]
        return evidence_of(chunk, candidate, self.conversation.course_id)

    def _nearest(self, found: Retrieval, near: tuple[Candidate, ...]) -> list[Evidence]:
        return [self._evidence(candidate, found) for candidate in near]

    def settle(self, answer: Answer) -> None:
        """The turn says what the answer says."""
        turn = self.turn
        self.answer = answer
        turn.reason = answer.reason
        turn.origin = answer.origin
        turn.invalid_citations = answer.invalid_citations
        turn.cross_course = answer.status == "answered" and answer.cross_course
        if answer.status == "answered":
            turn.status = Turn.Status.ANSWERED
            turn.answer = answer.text
            turn.pieces = [
                {"text": piece.text, "tags": [quote.tag for quote in piece.quotes]}
                for piece in answer.pieces
            ]
            return
        turn.status = Turn.Status.REFUSED
        turn.answer = refusals.refusal_text(answer.reason, turn.language, turn.searched)
        turn.nearest = [
            {
                "document": one.document_id,
                "title": one.title or one.document,
                "locator": citations.locator(one, turn.language),
            }
            for one in answer.closest
        ]

    def fail(self, message: str) -> None:
        self.answer = None
        self.turn.status = Turn.Status.FAILED
        self.turn.reason = "failed"
        self.turn.answer = message

    @transaction.atomic
    def record(self) -> None:
        """The turn and copies of what it quotes, in one short transaction.

        A turn whose conversation was erased meanwhile leaves nothing.
        """
        turn = self.turn
        if not Turn.objects.filter(pk=turn.pk).exists():
            return
        turn.save()
        if self.answer is None:
            return
        by_chunk = {one.chunk_id: one for one in self.evidence}
        for quote in self.answer.quotes:
            one = by_chunk[quote.chunk_id]
            Citation.objects.create(
                turn=turn,
                tag=quote.tag,
                chunk_id=one.chunk_id,
                document_id=one.document_id,
                chunk_public_id=one.public_id,
                quote=quote.text,
                text=one.text,
                start=quote.start,
                end=quote.end,
                course_code=one.course,
                space_slug=one.space,
                path=one.path,
                document_title=one.document[:500],
                title=one.title,
                session=one.session,
                slide=one.slide,
                slide_end=one.slide_end,
                page=one.page,
                locator=citations.locator(one, turn.language)[:2000],
                cross_course=one.cross_course,
            )


def evidence_of(chunk: Chunk, candidate: Candidate, asked_course: int) -> Evidence:
    document = chunk.document
    space = document.space
    return Evidence(
        chunk_id=chunk.pk,
        public_id=chunk.public_id,
        course=space.course.code if space.course else "",
        space=space.slug,
        document_id=document.pk,
        document=document.title,
        path=document.path,
        session=chunk.session,
        slide=chunk.slide,
        slide_end=chunk.slide_end,
        page=chunk.page,
        sheet=chunk.sheet,
        title=chunk.title,
        section=chunk.section,
        kind=chunk.kind,
        boxes=tuple(chunk.boxes),
        term=chunk.term,
        language=document.language,
        text=chunk.text,
        score=candidate.score,
        cosine=candidate.cosine,
        coverage=candidate.coverage,
        pinned=candidate.pinned,
        cross_course=space.course_id is not None and space.course_id != asked_course,
        excerpt_only=document.opening == document.Opening.EXCERPT,
    )


def display_name(slug: str, language: str) -> str:
    """The name under which the asker knows a space."""
    kind, _, code = slug.rpartition("-")
    names = {
        "official": {"fr": "cours", "en": "course"},
        "instructor-private": {"fr": "documents privés", "en": "private material"},
        "student-persistent-files": {"fr": "ma bibliothèque", "en": "my library"},
        "student-temporary-upload": {
            "fr": "fichiers de cette conversation",
            "en": "files of this conversation",
        },
    }
    if slug in names:
        return names[slug].get(language, slug)
    return f"{names.get(kind, {}).get(language, kind)} {code.upper()}".strip()


def erase(conversation: Conversation) -> None:
    """The conversation, its turns, its files and all that was made of them are gone."""
    space = conversation.space
    with transaction.atomic():
        library.delete_documents(space.documents.all())
        conversation.delete()
        space.delete()
