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
    from collections.abc import Sequence

    from numpy.typing import NDArray

KEPT_QUERIES = 512  # 0.8 MB at 384 dimensions


class EmbeddingProfile(Protocol):
    """Texts in, vectors out: float32[n, dimension], unit length, in the order of the texts."""

    @property
    def manifest(self) -> Manifest: ...

    @property
    def batch_size(self) -> int: ...

    def embed_queries(self, texts: Sequence[str]) -> Vector: ...

    def embed_passages(self, texts: Sequence[str]) -> Vector: ...


class Profile(ABC):
    """Normalised texts, checked vectors, and a small memory of the last questions.

    A subclass sets `manifest` and gives `_encode`. The memory is keyed by a hash: no question
    text is kept.
    """

    manifest: Manifest
    batch_size: ClassVar[int] = 16

    def __init__(self) -> None:
        self._kept: OrderedDict[bytes, Vector] = OrderedDict()
        self._kept_lock = threading.Lock()

    @abstractmethod
    def _encode(self, texts: list[str], *, query: bool) -> NDArray[np.floating]:
        """Raw vectors of normalised, non-empty texts; prefixes are added here."""

    def embed_queries(self, texts: Sequence[str]) -> Vector:
        """float32[n, dimension], unit length. Raises RetrievalError on a bad answer."""
        clean = [normalise(text) for text in texts]
        keys = [hashlib.sha256(text.encode()).digest() for text in clean]
        with self._kept_lock:
            known = {key: self._kept[key] for key in keys if key in self._kept}
            for key in known:
                self._kept.move_to_end(key)
        missing = {key: text for key, text in zip(keys, clean, strict=True) if key not in known}
        if missing:
            made = self._checked(list(missing.values()), query=True)
            known.update(zip(missing, made, strict=True))
            if len(missing) <= self.batch_size:  # a control bank must not push the questions out
                with self._kept_lock:
                    for key in missing:
                        self._kept[key] = known[key]
                    while len(self._kept) > KEPT_QUERIES:
                        self._kept.popitem(last=False)
        if not keys:
            return np.empty((0, self.manifest.dimension), np.float32)
        return np.stack([known[key] for key in keys])

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        """float32[n, dimension], unit length. Raises RetrievalError on a bad answer."""
        if not texts:
            return np.empty((0, self.manifest.dimension), np.float32)
        return self._checked([normalise(text) for text in texts], query=False)

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
