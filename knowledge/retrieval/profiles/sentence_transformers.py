"""Any sentence-transformers model, from a folder, the local cache or the hub, on the CPU.

torch and sentence_transformers are imported when a profile is built and never before: they
take 1.2 GB and six seconds.
"""

from __future__ import annotations

import hashlib
import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from knowledge.retrieval.profiles.base import Profile
from knowledge.retrieval.types import Manifest, RetrievalError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_QUERY_PROMPTS = ("query", "search_query")
_PASSAGE_PROMPTS = ("passage", "document", "search_document")


class SentenceTransformers(Profile):
    """`model` is a folder or a hub name. Texts over the model's window are cut by the library.

    Prefixes are those of the model's own prompts unless given; models named e5 without prompts
    get `query: ` and `passage: `, as their card asks. `offline` (always so for a folder) keeps
    the hub from being asked: a name that is not in the cache then fails at once instead of after
    70 seconds (measurements.md, Embeddings).
    """

    batch_size: ClassVar[int] = 32

    def __init__(
        self,
        *,
        model: str,
        offline: bool = False,
        query_prefix: str | None = None,
        passage_prefix: str | None = None,
        threads: int | None = None,
    ) -> None:
        super().__init__()
        if not model:
            msg = "The sentence-transformers profile needs a model: set PREUVE_EMBEDDING_MODEL."
            raise RetrievalError(msg)
        local = Path(model).is_dir()
        if local or offline:
            os.environ["HF_HUB_OFFLINE"] = "1"  # noqa: TID251  read once, when the hub is imported
        try:
            import torch
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            msg = (
                "This embedding profile needs packages that are not installed:"
                " pip install -r requirements/sentence-transformers.txt"
            )
            raise RetrievalError(msg) from error
        if threads:
            torch.set_num_threads(threads)
        try:
            loaded: Any = SentenceTransformer(
                model, device="cpu", local_files_only=local or offline
            )
        except (OSError, ValueError, RuntimeError) as error:
            msg = f"The embedding model {model!r} cannot be loaded: {type(error).__name__}."
            raise RetrievalError(msg) from error
        loaded.default_prompt_name = None  # the prefix is in the text, so the manifest is the truth
        self._model = loaded
        self._lock = threading.Lock()
        prompts: dict[str, str] = dict(getattr(loaded, "prompts", None) or {})
        by_name = "e5" in Path(model).name.lower()
        self.manifest = Manifest(
            provider="sentence-transformers",
            endpoint="",
            model=Path(model).name if local else model,
            revision=_fingerprint(Path(model)) if local else _revision(loaded),
            dimension=_dimension(loaded),
            metric="cosine",
            query_prefix=_prefix(query_prefix, prompts, _QUERY_PROMPTS, "query: " * by_name),
            passage_prefix=_prefix(
                passage_prefix, prompts, _PASSAGE_PROMPTS, "passage: " * by_name
            ),
            chunking="",
        )

    def _encode(self, texts: list[str], *, query: bool) -> NDArray[np.floating]:
        prefix = self.manifest.query_prefix if query else self.manifest.passage_prefix
        with self._lock:
            made: NDArray[np.floating] = self._model.encode(
                [prefix + text for text in texts],
                batch_size=self.batch_size,
                convert_to_numpy=True,
                normalize_embeddings=False,
                show_progress_bar=False,
            )
        return made


def _prefix(given: str | None, prompts: dict[str, str], names: tuple[str, ...], other: str) -> str:
    if given is not None:
        return given
    return next((prompts[name] for name in names if prompts.get(name)), other)


def _dimension(model: Any) -> int:
    for name in ("get_embedding_dimension", "get_sentence_embedding_dimension"):
        ask = getattr(model, name, None)
        if ask is not None and ask():
            return int(ask())
    return int(np.asarray(model.encode(["dimension"])).shape[1])


def _revision(model: Any) -> str:
    """The commit of a model from the hub or its cache, or "unknown"."""
    config = getattr(getattr(model[0], "auto_model", None), "config", None)
    return str(getattr(config, "_commit_hash", None) or "unknown")


def _fingerprint(folder: Path) -> str:
    """SHA-256 over the folder's files: whole when small, size and both ends of weight files."""
    end = 1 << 20
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.name.startswith(".") or path.suffix == ".md":
            continue
        size = path.stat().st_size
        digest.update(f"{path.relative_to(folder)} {size}\n".encode())
        with path.open("rb") as file:
            digest.update(file.read(end))
            if size > end:
                file.seek(max(end, size - end))
                digest.update(file.read(end))
    return digest.hexdigest()[:16]
