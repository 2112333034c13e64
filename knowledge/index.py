"""From the database vendor to its engine, the active generation, and the manifest gate."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from knowledge.models import Chunk, Generation
from knowledge.retrieval.profiles.base import check_vectors
from knowledge.retrieval.profiles.registry import load_profile
from knowledge.retrieval.sqlite import SqliteEngine, text_sha256
from knowledge.retrieval.types import IndexRow, Manifest, RetrievalError

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

    from knowledge.retrieval.profiles.base import EmbeddingProfile

CHUNKING = "structure-v1"
ENGINE = SqliteEngine()


def raw() -> sqlite3.Connection:
    """Django's own connection, so that documents and index rows share one transaction."""
    if connection.vendor != "sqlite":
        msg = f"No index engine for {connection.vendor}: use the embedded SQLite database."
        raise RetrievalError(msg)
    connection.ensure_connection()
    return connection.connection


def ensure_engine(**_kwargs: object) -> None:
    """The engine's own tables exist and are whole. Called after each migration."""
    with transaction.atomic():
        ENGINE.ensure_schema(raw())


def default_profile() -> EmbeddingProfile:
    return profile_named(settings.EMBEDDING_PROFILE)


def profile_named(name: str) -> EmbeddingProfile:
    return load_profile(name, {"model": settings.EMBEDDING_MODEL})


def manifest_of(profile: EmbeddingProfile) -> dict[str, Any]:
    return asdict(profile.manifest) | {"chunking": CHUNKING, "corpus_sha256": ""}


def active_generation(*, create: bool = False) -> Generation | None:
    """The generation that answers. With `create`, an empty installation gets its first one."""
    generation = Generation.objects.filter(state=Generation.State.ACTIVE).first()
    if generation is not None or not create:
        return generation
    name = settings.EMBEDDING_PROFILE
    manifest = manifest_of(profile_named(name))
    try:
        with transaction.atomic():
            return Generation.objects.create(
                profile=name,
                manifest=manifest,
                state=Generation.State.ACTIVE,
                activated_at=timezone.now(),
            )
    except IntegrityError:  # another process made it first
        return Generation.objects.get(state=Generation.State.ACTIVE)


def profile_of(generation: Generation) -> EmbeddingProfile:
    """The profile under which the generation was written, if it still makes the same vectors.

    Raises RetrievalError with what differs and the command that mends it. Equal dimension is
    not enough: provider, endpoint, model, revision, metric, prefixes and chunking must agree.
    """
    profile = profile_named(generation.profile)
    differences = compare(generation.manifest, manifest_of(profile))
    if differences:
        msg = (
            f"The index was written under another manifest ({'; '.join(differences)})."
            f" Run: manage.py reindex --profile {generation.profile}"
        )
        raise RetrievalError(msg)
    return profile


def compare(stored: dict[str, Any], current: dict[str, Any]) -> list[str]:
    """What makes the two manifests different spaces, in words. The corpus hash does not."""
    names = [name for name in Manifest.__dataclass_fields__ if name != "corpus_sha256"]
    return [
        f"{name}: {stored.get(name)!r} in the index, {current.get(name)!r} now"
        for name in names
        if stored.get(name) != current.get(name)
    ]


def rebuild(
    name: str, *, progress: Callable[[int, int], None] = lambda _done, _total: None
) -> Generation:
    """A new generation under the profile, filled from stored text, is the active one.

    The old one answers with its own profile until the swap, which is one transaction, and is
    kept as the previous one. If this fails or is interrupted, the old one stays active; calling
    it again goes on where it stopped.
    """
    profile = profile_named(name)
    generation = _building(name, manifest_of(profile))
    while True:
        missing = _missing(generation)
        total = Chunk.objects.count()
        for start in range(0, len(missing), profile.batch_size):
            progress(total - len(missing) + start, total)
            _fill(generation, profile, missing[start : start + profile.batch_size])
        progress(total, total)
        if _swap(generation):
            return generation


def _building(name: str, manifest: dict[str, Any]) -> Generation:
    building = Generation.objects.filter(state=Generation.State.BUILDING).first()
    if building and building.manifest == manifest:
        return building
    with transaction.atomic():
        if building:
            _drop(building, Generation.State.CANCELLED)
        return Generation.objects.create(profile=name, manifest=manifest)


def _drop(generation: Generation, state: Generation.State) -> None:
    ENGINE.drop_generation(raw(), generation.pk)
    generation.state = state
    generation.save(update_fields=["state"])


def _missing(generation: Generation) -> list[int]:
    """Chunks whose vector in the generation is absent or of another text."""
    made = ENGINE.hashes(raw(), generation.pk)
    return [
        pk
        for pk, text in Chunk.objects.order_by("pk").values_list("pk", "search")
        if made.get(pk) != text_sha256(text)
    ]


def _fill(generation: Generation, profile: EmbeddingProfile, chunk_ids: list[int]) -> None:
    chunks = list(Chunk.objects.filter(pk__in=chunk_ids).select_related("document"))
    vectors = profile.embed_passages([chunk.search for chunk in chunks])
    check_vectors(vectors, len(chunks), profile.manifest.dimension)
    rows = [
        IndexRow(chunk.pk, chunk.document_id, chunk.search, vector, chunk.document.language)
        for chunk, vector in zip(chunks, vectors, strict=True)
    ]
    with transaction.atomic():
        current = dict(Chunk.objects.filter(pk__in=chunk_ids).values_list("pk", "search"))
        ENGINE.write(
            raw(),
            generation.pk,
            [row for row in rows if current.get(row.chunk_id) == row.search_text],
        )


@transaction.atomic
def _swap(generation: Generation) -> bool:
    """Active from now on, unless a document changed meanwhile: then False, and nothing is done."""
    if _missing(generation):
        return False
    state = Generation.State
    for old in Generation.objects.filter(state=state.PREVIOUS):
        ENGINE.drop_generation(raw(), old.pk)
        old.delete()
    Generation.objects.filter(state=state.ACTIVE).update(state=state.PREVIOUS)
    generation.state = state.ACTIVE
    generation.activated_at = timezone.now()
    generation.save(update_fields=["state", "activated_at"])
    return True


def integrity(generation: Generation) -> list[str]:
    """One line per problem of the generation against the stored chunks; empty when whole."""
    texts = dict(Chunk.objects.values_list("pk", "search"))
    return ENGINE.integrity(raw(), generation.pk, texts)
