"""One question through the index: scope, analysis, ranking, and the second look at each hit."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import transaction

from courses.models import Course
from knowledge.index import ENGINE, active_generation, profile_of, raw
from knowledge.models import Calibration, Chunk, Document, Space, SpaceKind
from knowledge.retrieval import admission, pipeline
from knowledge.retrieval.analysis import analyse
from knowledge.retrieval.types import ChunkFacts, GlossaryEntry, RetrievalError, Scope, Thresholds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from courses.models import Person
    from knowledge.models import AskingConversation, Generation
    from knowledge.retrieval.profiles.base import EmbeddingProfile
    from knowledge.retrieval.types import Analysis, Candidate, Vector

log = logging.getLogger("preuve.search")


@dataclass(frozen=True, slots=True)
class AskScope:
    """What one question may search: the spaces by name, and their admissible documents."""

    spaces: tuple[str, ...]
    engine: Scope

    def __bool__(self) -> bool:
        return bool(self.engine.documents)


@dataclass(frozen=True, slots=True)
class Retrieval:
    """What the index answers: candidates in order, each re-read through the permission."""

    analysis: Analysis
    generation: Generation
    profile: EmbeddingProfile
    query_vector: Vector
    thresholds: Thresholds
    candidates: tuple[Candidate, ...]
    chunks: dict[int, Chunk]
    facts: dict[int, ChunkFacts]
    timings_ms: dict[str, float]


def scope_for(user: Person, conversation: AskingConversation, as_of: datetime) -> AskScope:
    """Everything the question may rank, decided before anything is ranked."""
    spaces = Space.objects.visible_to(user, conversation).select_related("course")
    documents = Document.objects.visible_to(user, conversation).admissible(as_of)
    hidden = Chunk.objects.filter(document__in=documents, hidden_until__gt=as_of)
    filled = set(documents.values_list("space_id", flat=True))
    return AskScope(
        spaces=tuple(
            space.slug
            for space in spaces
            if space.pk in filled or space.kind != SpaceKind.CONVERSATION
        ),
        engine=Scope(
            documents=tuple(documents.order_by("pk").values_list("pk", flat=True)),
            hidden=frozenset(hidden.values_list("pk", flat=True)),
        ),
    )


def search(
    question: str,
    *,
    user: Person,
    conversation: AskingConversation,
    scope: AskScope,
    as_of: datetime,
) -> Retrieval:
    """Ranked candidates for the question, all of them visible and admissible.

    Raises RetrievalError when there is no index or it was written under another manifest.
    """
    started = perf_counter()
    generation = active_generation()
    if generation is None:
        msg = "Nothing has been indexed yet."
        raise RetrievalError(msg, retryable=True)
    profile = profile_of(generation)
    course = Course.objects.get(pk=conversation.course_id)
    analysis = analyse(question, default_language=course.language, glossary=_glossary(scope.engine))
    analysed = perf_counter()
    query_vector = profile.embed_queries([question])[0]
    embedded = perf_counter()
    candidates = pipeline.search(
        raw(),
        ENGINE,
        generation=generation.pk,
        scope=scope.engine,
        analysis=analysis,
        query_vector=query_vector,
        load_facts=load_facts,
        named=named_chunks(analysis, scope.engine),
    )
    kept, chunks = _look_again(candidates, user, conversation, as_of)
    ranked = perf_counter()
    thresholds = thresholds_for(course, generation, profile)
    return Retrieval(
        analysis=analysis,
        generation=generation,
        profile=profile,
        query_vector=query_vector,
        thresholds=thresholds,
        candidates=kept,
        chunks=chunks,
        facts=load_facts([c.chunk_id for c in kept]),
        timings_ms={
            "analyse": (analysed - started) * 1000,
            "embed": (embedded - analysed) * 1000,
            "rank": (ranked - embedded) * 1000,
        },
    )


def still_admissible(
    chunk_ids: Sequence[int], user: Person, conversation: AskingConversation, as_of: datetime
) -> set[int]:
    """Those of the chunks that the question may still show, asked of the database now."""
    return set(
        Chunk.objects.visible_to(user, conversation)
        .admissible(as_of)
        .filter(pk__in=chunk_ids)
        .values_list("pk", flat=True)
    )


def _look_again(
    candidates: Sequence[Candidate],
    user: Person,
    conversation: AskingConversation,
    as_of: datetime,
) -> tuple[tuple[Candidate, ...], dict[int, Chunk]]:
    """Every hit is re-read through the ORM's permission. One that vanished is an error."""
    wanted = [candidate.chunk_id for candidate in candidates]
    chunks = {
        chunk.pk: chunk
        for chunk in Chunk.objects.visible_to(user, conversation)
        .admissible(as_of)
        .filter(pk__in=wanted)
        .select_related("document__space__course__institution")
    }
    for missing in set(wanted) - chunks.keys():
        log.error("hit_not_admissible chunk=%s", missing)
    return tuple(c for c in candidates if c.chunk_id in chunks), chunks


def load_facts(chunk_ids: Sequence[int]) -> dict[int, ChunkFacts]:
    chunks = list(Chunk.objects.filter(pk__in=chunk_ids).select_related("document__space__course"))
    parts = _parts_of(chunks)
    return {chunk.pk: facts_of(chunk, parts) for chunk in chunks}


def _parts_of(chunks: Sequence[Chunk]) -> dict[tuple[int, int], int]:
    """Chunks that stand beside a part of a continuation, by document and position."""
    split = [chunk for chunk in chunks if chunk.part]
    if not split:
        return {}
    beside = Chunk.objects.filter(document__in={c.document_id for c in split}).exclude(part="")
    return {
        (document, position): pk
        for pk, document, position in beside.values_list("pk", "document_id", "position")
    }


def facts_of(chunk: Chunk, parts: Mapping[tuple[int, int], int]) -> ChunkFacts:
    number, _, total = chunk.part.partition("/")
    first = not chunk.part or number == "1"
    last = not chunk.part or number == total
    return ChunkFacts(
        chunk_id=chunk.pk,
        document_id=chunk.document_id,
        ordinal=chunk.ordinal,
        kind=chunk.kind,
        title=chunk.title,
        boxes=tuple(chunk.boxes),
        term=chunk.term,
        session=chunk.session,
        slide=chunk.slide,
        slide_end=chunk.slide_end,
        page=chunk.page,
        text=chunk.text,
        previous_part=None if first else parts.get((chunk.document_id, chunk.position - 1)),
        next_part=None if last else parts.get((chunk.document_id, chunk.position + 1)),
        document_kind=chunk.document.kind,
        document_number=chunk.document.number,
        exercise=number_in(chunk.exercise),
        labels=_labels(chunk),
    )


def number_in(name: str) -> str:
    """« Exercice 2 » → « 2 »."""
    found = re.search(r"\d+", name)
    return found.group() if found else ""


def _labels(chunk: Chunk) -> tuple[str, ...]:
    """Names that the chunk answers to though its text may not say them."""
    document = chunk.document
    course = document.space.course
    return tuple(name for name in (course.code if course else "", document.title) if name)


NAMED_AT_MOST = 8  # « diapo 12 » without a session may stand in each deck


def named_chunks(analysis: Analysis, scope: Scope) -> list[int]:
    """Chunks at the place that the question names, such as « diapo 18 de la séance 4 »."""
    chunks = Chunk.objects.filter(document__in=scope.documents)
    if analysis.slide is not None:
        chunks = chunks.filter(slide__lte=analysis.slide, slide_end__gte=analysis.slide)
    elif analysis.page is not None:
        chunks = chunks.filter(page=analysis.page)
    elif analysis.exercise is not None:
        chunks = chunks.filter(exercise__regex=rf"(^|[^0-9]){analysis.exercise}([^0-9]|$)")
    elif analysis.workshop is None and not (analysis.session is not None and analysis.pointer):
        return []  # a session with a question about something in it: the ranking finds that
    if analysis.workshop is not None:
        chunks = chunks.filter(
            document__kind__in=["workshop", "solution"], document__number=analysis.workshop
        )
    if analysis.session is not None:
        chunks = chunks.filter(session=analysis.session)
    found = chunks.order_by("document__kind", "document", "position").values_list("pk", flat=True)
    return list(found[:NAMED_AT_MOST])


def _glossary(scope: Scope) -> list[GlossaryEntry]:
    """Terms of the admissible documents alone: another course's glossary changes nothing."""
    return [
        GlossaryEntry(term=term, translation=translation)
        for term, translation in Chunk.objects.filter(document__in=scope.documents)
        .exclude(term="")
        .exclude(pk__in=scope.hidden)
        .values_list("term", "term_translation")
    ]


def thresholds_for(course: Course, generation: Generation, profile: EmbeddingProfile) -> Thresholds:
    """The course's thresholds under this generation; made now if nobody has yet."""
    if course.admission_rule == Course.AdmissionRule.STRICT:
        return admission.strict(profile.manifest.model)
    rows = list(Calibration.objects.filter(course=course, generation=generation))
    if not rows:
        calibrate(course, generation, profile)
        rows = list(Calibration.objects.filter(course=course, generation=generation))
    return Thresholds(
        rule="calibrated",
        answer={row.language: row.threshold for row in rows},
        context={row.language: row.context for row in rows},
        source=rows[0].source if rows else "",
    )


def calibrate(course: Course, generation: Generation, profile: EmbeddingProfile) -> None:
    """Thresholds of the course's official space from the control questions, stored."""
    documents = Document.objects.filter(
        space__course=course, space__kind="official", canonical=True
    ).order_by("pk")
    scope = Scope(documents=tuple(documents.values_list("pk", flat=True)))
    made = admission.calibrate(
        raw(), ENGINE, generation.pk, scope, profile, directory=settings.DATA_DIR / "controls"
    )
    version = ENGINE.versions(raw()).version
    with transaction.atomic():
        for language, threshold in made.answer.items():
            Calibration.objects.update_or_create(
                course=course,
                generation=generation,
                language=language,
                defaults={
                    "threshold": threshold,
                    "context": made.context[language],
                    "controls": admission.control_count(language),
                    "index_version": version,
                    "source": made.source[:500],
                },
            )
