"""From the name of a profile to the profile, built once per process."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from knowledge.retrieval.types import RetrievalError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from knowledge.retrieval.profiles.base import EmbeddingProfile

E5_SMALL = "e5-small"
SENTENCE_TRANSFORMERS = "sentence-transformers"
HASHING = "hashing"


def _e5_small(settings: Mapping[str, object]) -> EmbeddingProfile:
    from knowledge.retrieval.profiles.e5_small import E5Small  # noqa: PLC0415  loads its library

    return E5Small(threads=_number(settings, "threads"))


def _sentence_transformers(settings: Mapping[str, object]) -> EmbeddingProfile:
    from knowledge.retrieval.profiles.sentence_transformers import (  # noqa: PLC0415
        SentenceTransformers,
    )

    return SentenceTransformers(
        model=str(settings.get("model") or ""),
        offline=bool(settings.get("offline")),
        query_prefix=_text(settings, "query_prefix"),
        passage_prefix=_text(settings, "passage_prefix"),
        threads=_number(settings, "threads"),
    )


def _hashing(settings: Mapping[str, object]) -> EmbeddingProfile:
    from knowledge.retrieval.profiles.hashing import HashingProfile  # noqa: PLC0415

    return HashingProfile(_number(settings, "dimension") or 512)


_BUILDERS: dict[str, Callable[[Mapping[str, object]], EmbeddingProfile]] = {
    E5_SMALL: _e5_small,
    SENTENCE_TRANSFORMERS: _sentence_transformers,
    HASHING: _hashing,
}
PROFILES = tuple(_BUILDERS)
_loaded: dict[tuple[object, ...], EmbeddingProfile] = {}
_lock = threading.Lock()


def load_profile(name: str, settings: Mapping[str, object] | None = None) -> EmbeddingProfile:
    """The profile `name` with `settings` (model, offline, query_prefix, passage_prefix, threads,
    dimension), built at most once per process and settings. A fork builds its own.

    Raises RetrievalError when the name is unknown or the model cannot be loaded.
    """
    given = dict(settings or {})
    if name not in _BUILDERS:
        msg = f"Unknown embedding profile {name!r}: choose one of {', '.join(PROFILES)}."
        raise RetrievalError(msg)
    key = (os.getpid(), name, *sorted((str(k), repr(v)) for k, v in given.items()))
    with _lock:
        if key not in _loaded:
            _loaded[key] = _BUILDERS[name](given)
        return _loaded[key]


def _number(settings: Mapping[str, object], name: str) -> int | None:
    value = settings.get(name)
    return int(str(value)) if value else None


def _text(settings: Mapping[str, object], name: str) -> str | None:
    value = settings.get(name)
    return None if value is None else str(value)
