"""Values that cross the retrieval room: frozen, framework-free, no database objects."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
Term = tuple[str, ...]  # one word of a question: stems that stand for the same word


class RetrievalError(Exception):
    """A failure of the index or of an embedding profile, never a refusal.

    `user_message` may be shown to a person; `retryable` says whether the same call may succeed
    later without anybody mending anything.
    """

    def __init__(self, user_message: str, *, retryable: bool = False) -> None:
        super().__init__(user_message)
        self.user_message = user_message
        self.retryable = retryable


@dataclass(frozen=True, slots=True)
class Manifest:
    """What makes two vectors comparable. Any difference is a different space."""

    provider: str
    endpoint: str
    model: str
    revision: str
    dimension: int
    metric: str
    query_prefix: str
    passage_prefix: str
    chunking: str
    corpus_sha256: str = ""


@dataclass(frozen=True, slots=True)
class Scope:
    """Documents that may be ranked for this question, decided before anything is ranked.

    `documents` are primary keys in ascending order; `hidden` are chunks left out of them.
    """

    documents: tuple[int, ...]
    hidden: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class IndexRow:
    """One chunk as the engine stores it. `vector` is float32[dimension], unit length.

    `language` is the document's ("fr" or "en"): it chooses the stems of the lexical index; empty,
    it is guessed from the text.
    """

    chunk_id: int
    document_id: int
    search_text: str
    vector: Vector
    language: str = ""


@dataclass(frozen=True, slots=True)
class DenseHit:
    chunk_id: int
    cosine: float


@dataclass(frozen=True, slots=True)
class LexicalHit:
    """`bm25` is positive, larger is better; `coverage` is the idf-weighted share of the
    question's significant terms that the chunk holds, in [0, 1]."""

    chunk_id: int
    bm25: float
    coverage: float


@dataclass(frozen=True, slots=True)
class GlossaryEntry:
    """A term of the course, its translation and the other names it goes by."""

    term: str
    translation: str = ""
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Bridge:
    """Another name of something the question names: a chunk that holds all of `phrase` holds the
    question's terms at the positions `covers` too."""

    covers: tuple[int, ...]
    phrase: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Analysis:
    """What the words of a question say by themselves.

    `terms` are stems with stop words out; `alternatives` holds, for each of them, the stems that
    count as that word (its stem in the question's language first, then the other language's).
    `expansions` are stems added from the glossary's French-English pairs, and `bridges` say which
    terms they stand for. `identifiers` are codes that must occur in the evidence (GX-999,
    IMM1033). `glossary` are the entries found, as the glossary writes them. `session`, `slide`,
    `page`, `workshop`, `exercise` are numbers that the question names explicitly; when a
    slide, page or exercise is named, `terms` leave these words out. `pointer`: nothing else is
    asked than the place. `names` are folded capitalised words of the question (Gatineau, RCD).
    """

    question: str
    language: str
    kind: str
    terms: tuple[str, ...]
    expansions: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    glossary: tuple[str, ...] = ()
    session: int | None = None
    slide: int | None = None
    page: int | None = None
    workshop: int | None = None
    exercise: int | None = None
    alternatives: tuple[Term, ...] = ()
    bridges: tuple[Bridge, ...] = ()
    pointer: bool = False
    names: tuple[str, ...] = ()

    @property
    def names_a_place(self) -> bool:
        """The question points at a session, slide, page, workshop or exercise by its number."""
        places = (self.session, self.slide, self.page, self.workshop, self.exercise)
        return any(number is not None for number in places)


@dataclass(frozen=True, slots=True)
class ChunkFacts:
    """What ranking needs to know of a chunk beside its vector and words.

    `document_number` is the number of a workshop or plan; `exercise` the exercise's own.
    `previous_part` and `next_part` are the chunks that this one continues or is continued by.
    `labels` are names that the chunk answers to though its text may not say them: the course's
    code, the document's title.
    """

    chunk_id: int
    document_id: int
    ordinal: int
    kind: str
    title: str
    boxes: tuple[str, ...]
    term: str
    session: int | None
    slide: int | None
    slide_end: int | None
    page: int | None
    text: str
    previous_part: int | None = None
    next_part: int | None = None
    document_kind: str = ""
    document_number: int | None = None
    exercise: str = ""
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """One ranked chunk, before the evidence gate. Ranks count from 1; `None`: not in that list."""

    chunk_id: int
    cosine: float
    dense_rank: int | None
    bm25: float
    lexical_rank: int | None
    coverage: float
    rrf: float
    boosts: tuple[tuple[str, float], ...] = ()
    score: float = 0.0
    pinned: bool = False  # the question names this slide, session or exercise explicitly
    fused: float = 0.0  # the score before boosts
    part_of: int | None = None  # brought by this candidate, of which it is the other part


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The evidence gate's numbers, each with where it comes from.

    Calibrated: a question has evidence when its score reaches `answer` for its language; a passage
    joins the evidence when it reaches `context`. Strict: `min_cosine` and an overlap of
    `min_overlap` of the question's terms, at most `limit` passages.
    """

    rule: str  # "calibrated" or "strict"
    answer: dict[str, float] = field(default_factory=dict)  # language -> tau
    source: str = ""
    context: dict[str, float] = field(default_factory=dict)  # language -> floor of one passage
    min_cosine: float = 0.0
    min_overlap: float = 0.0
    limit: int = 12


@dataclass(frozen=True, slots=True)
class Verdict:
    """Why one candidate is evidence or not: `score` is cosine + 0.10 x coverage."""

    chunk_id: int
    score: float
    admitted: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Admission:
    """What the evidence gate lets through, best first. Empty `evidence` is a refusal, for `reason`.

    `sure` false with evidence: show the closest passages and claim nothing. Reasons: "admitted",
    "empty" (nothing was ranked), "below_threshold", "unknown_identifier", "unknown_place" (the
    session, slide, … that the question names is not in the evidence); the last two list what is
    `missing`.
    """

    evidence: tuple[Candidate, ...]
    reason: str
    score: float
    threshold: float
    verdicts: tuple[Verdict, ...] = ()
    missing: tuple[str, ...] = ()
    sure: bool = False
