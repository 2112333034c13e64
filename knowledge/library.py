"""The only writers of documents, chunks and their index rows.

Vectors are computed before the transaction opens (`embed_new`); a document and its chunks,
vectors and word lists then change in one transaction.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from django.db import transaction

from knowledge.index import CHUNKING, ENGINE, active_generation, profile_of, raw
from knowledge.models import Chunk, Document, Space, SpaceKind, Status
from knowledge.retrieval.profiles.base import check_vectors
from knowledge.retrieval.types import IndexRow, RetrievalError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from courses.models import Course
    from knowledge.models import Generation
    from knowledge.retrieval.types import Vector

log = logging.getLogger("preuve.library")


@dataclass(frozen=True, slots=True)
class NewChunk:
    """One chunk to be stored; `fields` are columns of `Chunk` beside the ones named here.

    `statement_key` names the chunk of `Document.statement` that a solution answers.
    """

    key: str
    search: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    statement_key: str = ""


@dataclass(frozen=True, slots=True)
class Embedded:
    """Vectors of search texts under one generation: unit length, float32[dimension]."""

    generation: Generation
    vectors: dict[str, Vector]


@dataclass(frozen=True, slots=True)
class Replaced:
    added: int
    removed: int
    embedded: int


def give_course_its_spaces(*, instance: Course, created: bool, **_kwargs: object) -> None:
    """Each course has one official and one private space from its first moment."""
    if created:
        for kind in (SpaceKind.OFFICIAL, SpaceKind.PRIVATE):
            Space.objects.get_or_create(course=instance, kind=kind)


def library_of(user: Any) -> Space:
    return Space.objects.get_or_create(kind=SpaceKind.LIBRARY, owner=user)[0]


def embed_new(
    document: Document | None,
    chunks: Sequence[NewChunk],
    *,
    beat: Callable[[], None] = lambda: None,
) -> Embedded:
    """Vectors for the chunks whose search text the document does not hold yet.

    `beat` is called between batches (it keeps a lease, or raises to stop). Raises RetrievalError
    when the profile fails; nothing has been written then.
    """
    generation = active_generation(create=True)
    if generation is None:  # pragma: no cover - create=True always gives one
        msg = "There is no index."
        raise RetrievalError(msg)
    profile = profile_of(generation)
    kept = set(document.chunks.values_list("search", flat=True)) if document else set()
    wanted = list(dict.fromkeys(c.search for c in chunks if c.search not in kept))
    vectors: dict[str, Vector] = {}
    for start in range(0, len(wanted), profile.batch_size):
        beat()
        batch = wanted[start : start + profile.batch_size]
        made = profile.embed_passages(batch)
        check_vectors(made, len(batch), profile.manifest.dimension)
        vectors.update(zip(batch, made, strict=True))
    return Embedded(generation=generation, vectors=vectors)


@transaction.atomic
def replace_chunks(
    document: Document,
    chunks: Sequence[NewChunk],
    embedded: Embedded,
    *,
    guard: Callable[[], None] = lambda: None,
) -> Replaced:
    """The document is saved and holds exactly these chunks, indexed; no old part is left.

    A chunk keeps its ordinal while its key stays. `guard` runs inside the transaction and
    raises when the caller no longer holds the work (fencing).
    """
    guard()
    generation = active_generation()
    if generation is None or generation.pk != embedded.generation.pk:
        msg = "The index was replaced while this file was read: send it again."
        raise RetrievalError(msg, retryable=True)
    document.chunking = CHUNKING
    document.save()
    old = {chunk.key: chunk for chunk in document.chunks.all()}
    vectors = _kept_vectors(generation, old.values(), embedded) | embedded.vectors
    gone = [chunk for key, chunk in old.items() if key not in {c.key for c in chunks}]
    _remove_chunks(gone)
    next_ordinal = max((chunk.ordinal for chunk in old.values()), default=-1) + 1
    rows: list[tuple[Chunk, Vector]] = []
    fresh = 0
    statements = _statements(document)
    for position, new in enumerate(chunks):
        chunk = old.get(new.key)
        if chunk is None:
            chunk = Chunk(document=document, key=new.key, ordinal=next_ordinal)
            next_ordinal += 1
            fresh += 1
        unchanged = chunk.pk is not None and chunk.search == new.search
        chunk.position = position
        chunk.search = new.search
        for name, value in new.fields.items():
            setattr(chunk, name, value)
        chunk.statement = statements.get(new.statement_key)
        chunk.save()
        if not unchanged:
            rows.append((chunk, vectors[new.search]))
    ENGINE.write(
        raw(),
        generation.pk,
        [
            IndexRow(
                chunk_id=chunk.pk,
                document_id=document.pk,
                search_text=chunk.search,
                vector=vector,
                language=document.language,
            )
            for chunk, vector in rows
        ],
    )
    log.info("document_replaced id=%s chunks=%s new=%s", document.pk, len(chunks), fresh)
    return Replaced(added=fresh, removed=len(gone), embedded=len(embedded.vectors))


def _kept_vectors(
    generation: Generation, old: Iterable[Chunk], embedded: Embedded
) -> dict[str, Vector]:
    """Vectors of texts that the document held before, read before any of them goes."""
    return {
        chunk.search: ENGINE.vector(raw(), generation.pk, chunk.pk)
        for chunk in old
        if chunk.search not in embedded.vectors
    }


def _statements(document: Document) -> dict[str, Chunk]:
    if document.statement_id is None:
        return {}
    return {chunk.key: chunk for chunk in Chunk.objects.filter(document=document.statement_id)}


def _remove_chunks(chunks: Sequence[Chunk]) -> None:
    ids = [chunk.pk for chunk in chunks]
    if ids:
        ENGINE.remove_chunks(raw(), ids)
        Chunk.objects.filter(pk__in=ids).delete()


@transaction.atomic
def delete_documents(documents: Iterable[Document]) -> int:
    """The documents and all that was made of them are gone. Returns the number of chunks."""
    removed = 0
    for document in documents:
        chunks = list(document.chunks.all())
        removed += len(chunks)
        _remove_chunks(chunks)
        document.delete()
    return removed


@transaction.atomic
def publish(documents: Iterable[Document]) -> int:
    return _set_status(documents, Status.PUBLISHED)


@transaction.atomic
def withdraw(documents: Iterable[Document]) -> int:
    """The documents answer no question from now on; old answers hide what they quoted."""
    return _set_status(documents, Status.WITHDRAWN)


def _set_status(documents: Iterable[Document], status: Status) -> int:
    changed = 0
    for document in documents:
        if document.status != status:
            document.status = status
            document.save(update_fields=["status", "changed_at"])
            changed += 1
    return changed
