"""The evidence gate's numbers: which question is answered, from which passages.

Calibrated (default): s = best cosine + 0.10 x coverage of the best fused passage, against the
95 % point of s over a bank of off-topic control questions, taken on the very scope and per
question language (measurements.md, Refusal). Strict: the rule of the specification. Under
both, a code or a place that the question names must be in the evidence.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from knowledge.retrieval.analysis import holds_identifier, holds_place
from knowledge.retrieval.fusion import DEPTH, fuse, is_named
from knowledge.retrieval.language import ENGLISH, FRENCH, fold, query_terms
from knowledge.retrieval.lexical import rank as rank_words
from knowledge.retrieval.types import (
    Admission,
    Analysis,
    Candidate,
    ChunkFacts,
    RetrievalError,
    Scope,
    Thresholds,
    Vector,
    Verdict,
)

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from knowledge.retrieval.profiles.base import EmbeddingProfile
    from knowledge.retrieval.sqlite import SqliteEngine

COVERAGE_WEIGHT = 0.10  # measurements.md, Refusal
QUANTILE = 0.95  # share of off-topic questions refused on this scope
CONTEXT_QUANTILE = 0.50  # below the median control, a passage is no nearer than noise
TOPIC_OUTLIER = 3.0  # robust deviations above the other topics: the course is about this topic
# Chosen and measured on the two golden sets of the demo (118 answerable questions, 40 on the topic
# without a source in scope, 14 foreign; e5-small): admitted 118, 18 and 1; sure 115, 8 and 0.
NAME_PENALTY = 0.03  # per name in the question that no candidate says, at most two
SURE_MARGIN = 0.03
LIMIT = 12  # The specification: 8 to 12 chunks
CALIBRATED = "calibrated"
STRICT_RULE = "strict"

# The strict rule: cosine >= 0.60, a significant lexical overlap, at most three passages.
# Its 0.60 is for embeddinggemma; e5 cosines of anything at all lie above 0.70, so the floor
# depends on the model.
_STRICT_COSINES = {"multilingual-e5-small": 0.82}
_STRICT_COSINE = 0.60
_STRICT_OVERLAP = 0.25
_CONTROLS = Path(__file__).parent / "controls"


def strict(model: str) -> Thresholds:
    """The strict rule for an embedding model, named as in its manifest."""
    floor = next((v for k, v in _STRICT_COSINES.items() if k in model), _STRICT_COSINE)
    return Thresholds(
        rule=STRICT_RULE,
        source=f"strict rule; minimum cosine {floor} for {model or 'any model'}",
        min_cosine=floor,
        min_overlap=_STRICT_OVERLAP,
        limit=3,
    )


STRICT = strict("multilingual-e5-small")


# Controls


@cache
def controls(language: str) -> tuple[tuple[str, str], ...]:
    """(topic, question) of the control bank of "fr" or "en"."""
    path = _CONTROLS / f"{language}.txt"
    if not path.exists():
        msg = f"There are no control questions for the language {language!r}."
        raise RetrievalError(msg)
    topic = ""
    found: list[tuple[str, str]] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            topic = line.lstrip("# ")
        elif line.strip():
            found.append((topic, line.strip()))
    return tuple(found)


def control_count(language: str) -> int:
    return len(controls(language))


_vectors: dict[str, Vector] = {}
_vectors_lock = threading.Lock()


def control_vectors(
    profile: EmbeddingProfile, language: str, directory: Path | None = None
) -> Vector:
    """float32[n, dimension] of the control questions; kept in memory, and in `directory` if given.

    A file of another manifest or of other questions is never read: its name is their hash.
    """
    questions = [question for _, question in controls(language)]
    manifest = asdict(profile.manifest) | {"chunking": "", "corpus_sha256": ""}
    key = hashlib.sha256(json.dumps([manifest, questions]).encode()).hexdigest()
    with _vectors_lock:
        if key in _vectors:
            return _vectors[key]
    path = directory / f"controls-{language}-{key[:16]}.npy" if directory else None
    made = _read_vectors(path, len(questions), profile.manifest.dimension)
    if made is None:
        made = profile.embed_queries(questions)
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.with_suffix(".tmp").open("wb") as file:
                np.save(file, made)
            path.with_suffix(".tmp").replace(path)
    with _vectors_lock:
        return _vectors.setdefault(key, made)


def _read_vectors(path: Path | None, n: int, dimension: int) -> Vector | None:
    if path is None or not path.exists():
        return None
    try:
        read: Vector = np.load(path, allow_pickle=False)
    except (OSError, ValueError):
        return None
    sound = read.shape == (n, dimension) and read.dtype == np.float32 and np.isfinite(read).all()
    return read if sound else None


def control_scores(
    conn: sqlite3.Connection,
    engine: SqliteEngine,
    generation: int,
    scope: Scope,
    profile: EmbeddingProfile,
    language: str,
    *,
    directory: Path | None = None,
) -> NDArray[np.float64]:
    """float64[n]: s of each control question on the scope. Reads only what the scope shows."""
    questions = [question for _, question in controls(language)]
    vectors = control_vectors(profile, language, directory)
    lexicon = engine.lexicon(conn, scope)
    nearest = engine.top_cosines(conn, generation, scope, vectors, DEPTH)
    scores = []
    for question, vector, dense in zip(questions, vectors, nearest, strict=True):
        near = {hit.chunk_id for hit in dense}
        lexical = rank_words(lexicon, query_terms(question, language), DEPTH, (), near)
        others = {hit.chunk_id for hit in lexical} - near
        cosines = engine.cosines(conn, generation, others, vector)
        scores.append(question_score(fuse(dense, lexical, cosines=cosines)))
    return np.array(scores, np.float64)


def thresholds_of(
    scores: NDArray[np.float64], topics: Sequence[str]
) -> tuple[float, float, tuple[str, ...]]:
    """(answer, context, topics left out) from the control scores of one language.

    A course about cooking makes the controls about cooking score like its own questions. A topic
    whose median stands out above the other topics' medians is left out, so that it does not raise
    the threshold for the course's own questions.
    """
    names = list(dict.fromkeys(topics))
    of_topic = {n: scores[[i for i, t in enumerate(topics) if t == n]] for n in names}
    medians = {name: float(np.median(values)) for name, values in of_topic.items()}
    centre = float(np.median(list(medians.values())))
    spread = 1.4826 * float(np.median([abs(m - centre) for m in medians.values()]))
    out = tuple(n for n in names if medians[n] > centre + TOPIC_OUTLIER * max(spread, 1e-3))
    kept = np.array([s for s, topic in zip(scores, topics, strict=True) if topic not in out])
    return float(np.quantile(kept, QUANTILE)), float(np.quantile(kept, CONTEXT_QUANTILE)), out


def calibrate(
    conn: sqlite3.Connection,
    engine: SqliteEngine,
    generation: int,
    scope: Scope,
    profile: EmbeddingProfile,
    *,
    languages: Sequence[str] = (FRENCH, ENGLISH),
    directory: Path | None = None,
) -> Thresholds:
    """The scope's own thresholds, one per question language.

    An empty scope refuses everything, so its threshold is above any score.
    """
    answer: dict[str, float] = {}
    context: dict[str, float] = {}
    notes = []
    for language in languages:
        scores = control_scores(
            conn, engine, generation, scope, profile, language, directory=directory
        )
        topics = [topic for topic, _ in controls(language)]
        if not scope.documents or not len(scores) or scores.max() <= 0:
            answer[language] = context[language] = 2.0
            notes.append(f"{language}: empty scope")
            continue
        answer[language], context[language], out = thresholds_of(scores, topics)
        left = f", without {', '.join(out)}" if out else ""
        notes.append(f"{language}: {QUANTILE:.0%} point of {len(scores)} controls{left}")
    source = f"cosine + {COVERAGE_WEIGHT} x coverage; {'; '.join(notes)}"
    return Thresholds(rule=CALIBRATED, answer=answer, source=source, context=context, limit=LIMIT)


# The gate


def passage_score(candidate: Candidate) -> float:
    return candidate.cosine + COVERAGE_WEIGHT * candidate.coverage


def question_score(candidates: Iterable[Candidate]) -> float:
    """s: the best cosine plus 0.10 x the coverage of the best fused passage, before boosts.

    0 without candidates.
    """
    own = [c for c in candidates if c.part_of is None]
    if not own:
        return 0.0
    best = min(own, key=lambda c: (-c.fused, c.chunk_id))
    return max(c.cosine for c in own) + COVERAGE_WEIGHT * best.coverage


def admit(
    analysis: Analysis,
    candidates: Sequence[Candidate],
    facts: Mapping[int, ChunkFacts],
    thresholds: Thresholds,
) -> Admission:
    """The evidence for the question, in the candidates' order, or an empty one and the reason.

    A refusal never depends on which spaces exist, only on what the candidates hold. A question
    that only points at a place (« que dit la diapo 18 ? ») is answered by what lies there; one
    that asks something about it must pass the threshold or find its words there.
    """
    score = question_score(candidates) - NAME_PENALTY * min(2, _unsaid(analysis, candidates, facts))
    tau = _threshold(analysis, thresholds)
    missing = _missing(analysis, candidates, facts)
    if not candidates:
        return Admission((), "empty", 0.0, tau)
    if missing:
        known = any(identifier in missing for identifier in analysis.identifiers)
        reason = "unknown_identifier" if known else "unknown_place"
        return _refused(candidates, reason, score, tau, missing)
    pinned = [c for c in candidates if c.pinned]
    pointed = bool(pinned) and (analysis.pointer or any(c.coverage > 0 for c in pinned))
    if thresholds.rule == STRICT_RULE:
        admitted = [c for c in candidates if _strictly(c, thresholds) or (pointed and c.pinned)]
    elif pointed:
        admitted = [c for c in candidates if c.pinned or passage_score(c) >= tau]
    elif score >= tau:
        floor = thresholds.context.get(analysis.language, tau)
        admitted = [c for c in candidates if c.pinned or passage_score(c) >= floor]
        admitted = admitted or [max(candidates, key=passage_score)]
    else:
        admitted = []
    if not admitted:
        return _refused(candidates, "below_threshold", score, tau)
    named = [c for c in admitted if _names_all(analysis, facts.get(c.chunk_id))]
    chosen = {c.chunk_id for c in (named if analysis.identifiers else admitted)}
    if not chosen:
        return _refused(candidates, "unknown_identifier", score, tau, analysis.identifiers)
    evidence: list[Candidate] = []
    verdicts = []
    for candidate in candidates:
        of_part = candidate.part_of is not None and candidate.part_of in chosen
        holds = candidate.chunk_id in chosen or of_part
        room = len(evidence) < thresholds.limit
        if holds and room:
            evidence.append(candidate)
        reason = ("admitted" if room else "limit") if holds else "below_threshold"
        if not holds and candidate in admitted:
            reason = "other_identifier"
        verdicts.append(
            Verdict(candidate.chunk_id, passage_score(candidate), holds and room, reason)
        )
    strict_rule = thresholds.rule == STRICT_RULE
    sure = pointed or strict_rule or score >= tau + SURE_MARGIN
    return Admission(tuple(evidence), "admitted", score, tau, tuple(verdicts), sure=sure)


def _unsaid(
    analysis: Analysis, candidates: Sequence[Candidate], facts: Mapping[int, ChunkFacts]
) -> int:
    """How many of the question's names no candidate says. A soft form of the identifier rule:
    a name may also be a misspelling or the other language's."""
    if not analysis.names:
        return 0
    said: set[str] = set()
    for candidate in candidates:
        known = facts.get(candidate.chunk_id)
        if known is not None:
            said.update(re.findall(r"\w+", fold(_evidence_text(known))))
    return sum(name not in said and f"{name}s" not in said for name in analysis.names)


def _threshold(analysis: Analysis, thresholds: Thresholds) -> float:
    if thresholds.rule == STRICT_RULE:
        return thresholds.min_cosine
    if analysis.language not in thresholds.answer:
        msg = f"The thresholds of this index lack the language {analysis.language!r}: calibrate it."
        raise RetrievalError(msg)
    return thresholds.answer[analysis.language]


def _strictly(candidate: Candidate, thresholds: Thresholds) -> bool:
    near = candidate.cosine >= thresholds.min_cosine
    return near and candidate.coverage > 0 and candidate.coverage >= thresholds.min_overlap


def _refused(
    candidates: Sequence[Candidate],
    reason: str,
    score: float,
    tau: float,
    missing: Sequence[str] = (),
) -> Admission:
    verdicts = tuple(Verdict(c.chunk_id, passage_score(c), False, reason) for c in candidates)  # noqa: FBT003
    return Admission((), reason, score, tau, verdicts, tuple(missing))


def _evidence_text(facts: ChunkFacts) -> str:
    return "\n".join((facts.title, facts.term, *facts.labels, facts.text))


def _names_all(analysis: Analysis, facts: ChunkFacts | None) -> bool:
    """The chunk holds at least one of the codes that the question names."""
    if facts is None:
        return False
    text = _evidence_text(facts)
    return any(holds_identifier(text, identifier) for identifier in analysis.identifiers)


def _missing(
    analysis: Analysis, candidates: Sequence[Candidate], facts: Mapping[int, ChunkFacts]
) -> tuple[str, ...]:
    """Codes and places that the question names and no candidate holds."""
    known = [facts[c.chunk_id] for c in candidates if c.chunk_id in facts]
    texts = [_evidence_text(fact) for fact in known]
    missing = [
        identifier
        for identifier in analysis.identifiers
        if not any(holds_identifier(text, identifier) for text in texts)
    ]
    if any(is_named(analysis, fact) for fact in known):
        return tuple(missing)
    for name in ("session", "slide", "page", "workshop", "exercise"):
        number = getattr(analysis, name)
        if number is not None and not any(holds_place(text, name, number) for text in texts):
            missing.append(f"{name} {number}")
    return tuple(missing)
