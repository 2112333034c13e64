"""Values of the answering room: frozen, framework-free, no database object and no HTML."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from knowledge.retrieval.types import Analysis

Vector = NDArray[np.float32]  # float32[dim], unit length
Matrix = NDArray[np.float32]  # float32[n, dim], unit rows

Status = Literal["answered", "closest", "refused"]
Origin = Literal["course", "general-knowledge", "none"]

#: Says whether a chunk may still be shown to this asker at the as-of instant. Called by the answer
#: gate for every cited chunk, after the model has spoken: permission may have moved in between.
Admissible = Callable[[int], bool]
#: Embeds passages with the profile of the index: list of n texts -> float32[n, dim], unit rows.
Embed = Callable[[list[str]], Matrix]
#: Inverse document frequency of a stem inside the asker's scope; 0 or more.
Idf = Callable[[str], float]


class AnsweringError(Exception):
    """Base of the room: something failed. A refusal is a value (`Answer`), never an error.

    `user_message` may be shown to a person and holds no key, prompt or document text; `retryable`
    says whether the same question may succeed later without anybody mending anything.
    """

    def __init__(self, user_message: str, *, retryable: bool = False) -> None:
        super().__init__(user_message)
        self.user_message = user_message
        self.retryable = retryable


class ProviderError(AnsweringError):
    """A chat provider failed: unreachable, too slow, cut, malformed, or refused our key."""


class UnknownProfileError(AnsweringError):
    """A chat profile was asked for by a name that nobody registered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One chunk retrieved in this turn, under a tag S1…Sn that means nothing in another turn.

    `text` is the chunk's plain text exactly as stored: every quote is a substring of it. `tag` is
    empty until `context.choose` gives it.
    """

    tag: str = ""
    chunk_id: int
    public_id: str
    course: str
    space: str
    document_id: int
    document: str
    path: str
    session: int | None = None
    slide: int | None = None
    slide_end: int | None = None
    page: int | None = None
    sheet: str = ""
    title: str = ""
    section: str = ""
    kind: str = ""
    boxes: tuple[str, ...] = ()
    term: str = ""  # the headword of a glossary entry
    language: str = ""  # of the document; empty: that of the question
    text: str
    score: float = 0.0  # after fusion and boosts, larger is better
    cosine: float = 0.0
    coverage: float = 0.0
    pinned: bool = False  # the question names this slide, page or exercise
    cross_course: bool = False  # from another course than the one that was asked
    excerpt_only: bool = False  # the document opens as excerpts, never whole


@dataclass(frozen=True, slots=True)
class Quote:
    """What an answer proves itself with: `text == evidence.text[start:end]`, always."""

    tag: str
    chunk_id: int
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ProposedQuote:
    """A claim by a profile, not yet believed. `source_id` is a tag (S1) or a public chunk id."""

    source_id: str
    quote: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a profile offers to the answer gate. `reason` says why it cannot answer."""

    can_answer: bool
    quotes: tuple[ProposedQuote, ...] = ()
    reason: str = ""
    confidence: float = 0.0


@dataclass(frozen=True, slots=True)
class Piece:
    """A validated part of an answer, ready to be shown. Joined in order they are the answer's text.

    `text` carries its own leading separator (space, line break); `quotes` prove it.
    """

    text: str
    quotes: tuple[Quote, ...] = ()


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two admissible sources that give different values for one subject: shown side by side."""

    subject: str
    left: Quote
    right: Quote


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The only thing that may be shown and recorded.

    `text` is plain text with [Sn] tags and `$…$` mathematics; for anything but `answered` it is
    empty, because the words of a refusal are in `refusals`. `reason` is one of `refusals`' codes
    and `detail` the fault that was found, for metrics and logs, never for the asker. `needs_repair`
    says that the model broke the rules in a way that one more attempt may mend. `dropped` counts
    sentences that were not shown because nothing proved them.
    """

    status: Status
    reason: str = ""
    detail: str = ""
    origin: Origin = "none"
    text: str = ""
    pieces: tuple[Piece, ...] = ()
    quotes: tuple[Quote, ...] = ()
    closest: tuple[Evidence, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    invalid_citations: int = 0
    dropped: int = 0
    repairs: int = 0
    needs_repair: bool = False
    cross_course: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """All that a profile learns of a turn: words and evidence, never a user or a space.

    `query_vector` is the question embedded by the index's own profile; `idf` counts inside the
    asker's scope, and without it the evidence itself is counted. `min_confidence` is the second
    threshold, of the best sentence (`Gate.sentence_threshold`); `None`: the profile's own.
    """

    analysis: Analysis
    evidence: tuple[Evidence, ...]
    query_vector: Vector
    embed: Embed
    idf: Idf | None = None
    min_confidence: float | None = None
