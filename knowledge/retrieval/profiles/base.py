"""What an embedding profile is: one class with one method, `_encode`, and a manifest."""

from __future__ import annotations

import hashlib
import threading
from abc import ABC, abstractmethod
from collections import OrderedDict
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np

from knowledge.retrieval.language import normalise
from knowledge.retrieval.types import Manifest, RetrievalError, Vector

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

KEPT_QUERIES = 512  # 0.8 MB at 384 dimensions
KEPT_SENTENCES = 16_384  # 25 MB at 384 dimensions


class EmbeddingProfile(Protocol):
    """Texts in, vectors out: float32[n, dimension], unit length, in the order of the texts."""

    @property
    def manifest(self) -> Manifest: ...

    @property
    def batch_size(self) -> int: ...

    def embed_queries(self, texts: Sequence[str]) -> Vector: ...

    def embed_passages(self, texts: Sequence[str]) -> Vector: ...

    def embed_sentences(self, texts: Sequence[str]) -> Vector: ...


class Memory:
    """The vectors of the last texts, by a hash: no text is kept. Safe to use from threads."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[bytes, Vector] = OrderedDict()
        self._lock = threading.Lock()

    def through(self, texts: list[str], make: Callable[[list[str]], Vector]) -> list[Vector]:
        """A vector for each text; `make` is called once, for the distinct ones not kept.

        More new texts than a quarter of the memory pass through it without pushing others out.
        """
        keys = [hashlib.sha256(text.encode()).digest() for text in texts]
        with self._lock:
            known = {key: self._kept[key] for key in keys if key in self._kept}
            for key in known:
                self._kept.move_to_end(key)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            known.update(zip(missing, make(list(missing.values())), strict=True))
            if len(missing) <= self._most // 4:
                with self._lock:
                    for key in missing:
                        self._kept[key] = known[key]
                    while len(self._kept) > self._most:
                        self._kept.popitem(last=False)
        return [known[key] for key in keys]


class Profile(ABC):
    """Normalised texts, checked vectors, and a memory of the last questions and sentences.

    A subclass sets `manifest` and gives `_encode`.
    """

    manifest: Manifest
    batch_size: ClassVar[int] = 16

    def __init__(self) -> None:
        self._questions = Memory(KEPT_QUERIES)
        self._sentences = Memory(KEPT_SENTENCES)

    @abstractmethod
    def _encode(self, texts: list[str], *, query: bool) -> NDArray[np.floating]:
        """Raw vectors of normalised, non-empty texts; prefixes are added here."""

    def embed_queries(self, texts: Sequence[str]) -> Vector:
        """float32[n, dimension], unit length. Raises RetrievalError on a bad answer."""
        return self._remembered(self._questions, texts, query=True)

    def embed_sentences(self, texts: Sequence[str]) -> Vector:
        """As `embed_passages`, for the sentences that answers choose from: they come back often."""
        return self._remembered(self._sentences, texts, query=False)

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        """float32[n, dimension], unit length. Raises RetrievalError on a bad answer."""
        if not texts:
            return np.empty((0, self.manifest.dimension), np.float32)
        return self._checked([normalise(text) for text in texts], query=False)

    def _remembered(self, memory: Memory, texts: Sequence[str], *, query: bool) -> Vector:
        clean = [normalise(text) for text in texts]
        if not clean:
            return np.empty((0, self.manifest.dimension), np.float32)
        return np.stack(memory.through(clean, lambda new: self._checked(new, query=query)))

    def _checked(self, texts: list[str], *, query: bool) -> Vector:
        made = [
            self._encode([text or " " for text in texts[i : i + self.batch_size]], query=query)
            for i in range(0, len(texts), self.batch_size)
        ]
        return check_vectors(np.concatenate(made), len(texts), self.manifest.dimension)


def check_vectors(vectors: object, n: int, dimension: int) -> Vector:
    """The vectors as float32[n, dimension] of unit length; all or nothing.

    Raises RetrievalError when the count or the dimension differs, or when a vector has a
    coordinate that is not finite or no length: its cosine would be undefined.
    """
    try:
        exact = np.asarray(vectors, dtype=np.float64)
    except (TypeError, ValueError) as error:
        msg = "The embedding profile returned something else than numbers."
        raise RetrievalError(msg) from error
    if exact.ndim != 2 or len(exact) != n:
        msg = f"The embedding profile returned {exact.shape} for {n} texts."
        raise RetrievalError(msg)
    if exact.shape[1] != dimension:
        msg = f"The embedding profile returned {exact.shape[1]} dimensions, not {dimension}."
        raise RetrievalError(msg)
    if not np.isfinite(exact).all():
        msg = "The embedding profile returned a coordinate that is not a finite number."
        raise RetrievalError(msg)
    norms = np.linalg.norm(exact, axis=1, keepdims=True)
    if not (norms > 1e-12).all():
        msg = "The embedding profile returned a vector without length."
        raise RetrievalError(msg)
    unit: Vector = (exact / norms).astype(np.float32)
    return unit
