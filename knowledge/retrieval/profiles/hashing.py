"""A deterministic profile without a model: hashed stems. For tests and for measuring the engine."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from knowledge.retrieval.language import FRENCH, index_terms
from knowledge.retrieval.profiles.base import Profile
from knowledge.retrieval.types import Manifest

if TYPE_CHECKING:
    from numpy.typing import NDArray


class HashingProfile(Profile):
    """Texts that share stems are near, others are not. It understands nothing."""

    batch_size: ClassVar[int] = 64

    def __init__(self, dimension: int = 64, *, language: str = FRENCH) -> None:
        super().__init__()
        self._language = language
        self.manifest = Manifest(
            provider="hashing",
            endpoint="",
            model=f"stems-{language}",
            revision="1",
            dimension=dimension,
            metric="cosine",
            query_prefix="",
            passage_prefix="",
            chunking="",
        )

    def _encode(self, texts: list[str], *, query: bool) -> NDArray[np.floating]:
        made = np.zeros((len(texts), self.manifest.dimension), np.float64)
        for row, text in zip(made, texts, strict=True):
            row[0] = 0.05  # a text without any word still has a direction
            for word in index_terms(text, self._language).split():
                digest = hashlib.sha256(word.encode()).digest()
                place = int.from_bytes(digest[:4], "little") % self.manifest.dimension
                row[place] += 1.0 if digest[4] & 1 else -1.0
        return made
