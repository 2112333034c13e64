"""From two ranked lists to one: fusion, boosts, named places, one chunk per slide, other parts.

The default is the weighted rule of measurements.md (Ranking) with two changes that need no
pass over the whole corpus: the dense floor is the lowest cosine among the candidates instead of
the corpus mean, and both lists are 30 deep with each candidate scored by both. nDCG@10 of this
engine on public question sets (PIAF, a third of its questions; Python FAQ fr, en, fr-en,
en-fr): 86.5, 64.8, 69.8, 58.2, 57.9, mean 67.5; with the corpus mean 67.5; RRF k = 60: 61.9;
dense alone: 64.5; BM25 alone: 48.8. Demo's golden sets, 117 questions, MRR with boosts and pins:
0.90 (0.83 without them, 0.79 dense alone, 0.75 BM25 alone; RRF with them 0.90).
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from knowledge.retrieval import analysis as words
from knowledge.retrieval.language import fold
from knowledge.retrieval.types import Analysis, Candidate, ChunkFacts, DenseHit, LexicalHit

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

WEIGHTED = "weighted"
RRF = "rrf"
DEFAULT_RULE = WEIGHTED
DEPTH = 30  # the specification: top 30 of each list
RRF_K = 60  # the specification and Cormack et al. 2009
DENSE_WEIGHT = 0.6  # measurements.md, Ranking
FULL_COVERAGE = 0.6  # below, the words speak less: the question may be in the other language

# Added to a fused score that lies in [0, 1]. Small beside a topical difference: they order
# passages about the same thing. The specification names them.
GLOSSARY_BOOST = 0.15
DEFINITION_BOOST = 0.08
TABLE_BOOST = 0.08
FORMULA_BOOST = 0.05
PLACE_BOOST = 0.05


def rank(
    analysis: Analysis,
    dense: Sequence[DenseHit],
    lexical: Sequence[LexicalHit],
    facts: Mapping[int, ChunkFacts],
    *,
    cosines: Mapping[int, float] | None = None,
    named: Sequence[int] = (),
    rule: str = DEFAULT_RULE,
    depth: int = DEPTH,
) -> list[Candidate]:
    """Candidates, best first: pinned ones, then by boosted score, ties by chunk id.

    `lexical` holds the ranked hits first and may go on, beyond `depth`, with those of the other
    candidates that hold a word. `cosines` gives the candidates that are not in `dense`; `named`
    are chunks found by the place that the question names. A candidate without facts is left out:
    its chunk is gone.
    """
    fused = fuse(dense, lexical, cosines=cosines, named=named, rule=rule, depth=depth)
    ranked = []
    for candidate in fused:
        known = facts.get(candidate.chunk_id)
        if known is None:
            continue
        boosts = tuple(_boosts(analysis, known))
        ranked.append(
            replace(
                candidate,
                boosts=boosts,
                score=candidate.fused + sum(value for _, value in boosts),
                pinned=is_precise(analysis) and is_named(analysis, known),
            )
        )
    ranked.sort(key=lambda c: (not c.pinned, -c.score, c.chunk_id))
    return _one_per_slide(ranked, facts)


def fuse(
    dense: Sequence[DenseHit],
    lexical: Sequence[LexicalHit],
    *,
    cosines: Mapping[int, float] | None = None,
    named: Sequence[int] = (),
    rule: str = DEFAULT_RULE,
    depth: int = DEPTH,
) -> list[Candidate]:
    """Candidates with every number but the boosts, by fused score, ties by chunk id."""
    if rule not in (WEIGHTED, RRF):
        msg = f"Unknown fusion rule {rule!r}: {WEIGHTED} or {RRF}."
        raise ValueError(msg)
    near = dict(cosines or {}) | {hit.chunk_id: hit.cosine for hit in dense}
    dense_rank = {hit.chunk_id: place for place, hit in enumerate(dense[:depth], 1)}
    lexical_rank = {hit.chunk_id: place for place, hit in enumerate(lexical[:depth], 1)}
    held = {hit.chunk_id: hit for hit in lexical}
    wanted = dict.fromkeys((*dense_rank, *lexical_rank, *(c for c in named if c in near)))
    if not wanted:
        return []
    top = max((near[c] for c in wanted if c in near), default=0.0)
    floor = min((near[c] for c in wanted if c in near), default=0.0)
    best = max((held[c].bm25 for c in wanted if c in held), default=0.0)
    coverage = max((hit.coverage for hit in lexical[:5]), default=0.0)
    vote = (1 - DENSE_WEIGHT) * min(1.0, coverage / FULL_COVERAGE)
    candidates = []
    for chunk in wanted:
        cosine = near.get(chunk, -1.0)
        hit = held.get(chunk)
        rrf = sum(
            1 / (RRF_K + ranks[chunk]) for ranks in (dense_rank, lexical_rank) if chunk in ranks
        )
        if rule == RRF:
            score = rrf * (RRF_K + 1) / 2
        else:
            closeness = (cosine - floor) / (top - floor) if top > floor else 1.0
            score = DENSE_WEIGHT * max(0.0, closeness)
            score += vote * (hit.bm25 / best if hit and best > 0 else 0.0)
        candidates.append(
            Candidate(
                chunk_id=chunk,
                cosine=cosine,
                dense_rank=dense_rank.get(chunk),
                bm25=hit.bm25 if hit else 0.0,
                lexical_rank=lexical_rank.get(chunk),
                coverage=hit.coverage if hit else 0.0,
                rrf=rrf,
                score=score,
                fused=score,
            )
        )
    return sorted(candidates, key=lambda c: (-c.fused, c.chunk_id))


def _boosts(analysis: Analysis, facts: ChunkFacts) -> Iterable[tuple[str, float]]:
    boxes = {fold(box) for box in facts.boxes}
    asked = facts.term and fold(facts.term) in {fold(term) for term in analysis.glossary}
    if asked and (analysis.kind == words.DEFINITION or _is_bare_term(analysis)):
        yield "glossary", GLOSSARY_BOOST
    if analysis.kind == words.DEFINITION and "definition" in boxes:
        yield "definition", DEFINITION_BOOST
    if analysis.kind == words.DATA and (facts.kind == "table" or facts.document_kind == "data"):
        yield "table", TABLE_BOOST
    if analysis.kind == words.CALCULATION and boxes & {"formula", "formule"}:
        yield "formula", FORMULA_BOOST
    if is_named(analysis, facts) and not is_precise(analysis):
        yield "place", PLACE_BOOST


def _is_bare_term(analysis: Analysis) -> bool:
    """The question is a glossary term and nothing else: « valeur actuelle nette »."""
    covered = {place for bridge in analysis.bridges for place in bridge.covers}
    return covered == set(range(len(analysis.alternatives)))


def is_precise(analysis: Analysis) -> bool:
    """The question is about one place: it names a slide, page or exercise, or nothing but a place.

    « Quand faut-il remettre l'atelier 1 ? » is not: its answer may stand in the course plan.
    """
    numbers = (analysis.slide, analysis.page, analysis.exercise)
    return analysis.names_a_place and (
        analysis.pointer or any(number is not None for number in numbers)
    )


def is_named(analysis: Analysis, facts: ChunkFacts) -> bool:
    """The chunk lies at every place that the question names; false when it names none."""
    if not analysis.names_a_place:
        return False
    last = facts.slide_end if facts.slide_end is not None else facts.slide
    number = re.match(r"\d+", facts.exercise)
    of_workshop = facts.document_kind in ("workshop", "solution")
    places = (
        (analysis.session, facts.session == analysis.session),
        (
            analysis.slide,
            facts.slide is not None
            and last is not None
            and analysis.slide is not None
            and facts.slide <= analysis.slide <= last,
        ),
        (analysis.page, facts.page == analysis.page),
        (analysis.workshop, of_workshop and facts.document_number == analysis.workshop),
        (analysis.exercise, number is not None and int(number[0]) == analysis.exercise),
    )
    return all(holds for wanted, holds in places if wanted is not None)


def _one_per_slide(ranked: Sequence[Candidate], facts: Mapping[int, ChunkFacts]) -> list[Candidate]:
    """The best candidate of each (document, slide); chunks without a slide all stay."""
    seen: set[tuple[int, int]] = set()
    kept = []
    for candidate in ranked:
        known = facts[candidate.chunk_id]
        if known.slide is not None:
            place = (known.document_id, known.slide)
            if place in seen:
                continue
            seen.add(place)
        kept.append(candidate)
    return kept


def neighbours(
    candidates: Sequence[Candidate], facts: Mapping[int, ChunkFacts]
) -> dict[int, tuple[int, ...]]:
    """For each candidate that is one part of a continuation: its other part or parts (±1)."""
    found: dict[int, tuple[int, ...]] = {}
    for candidate in candidates:
        known = facts.get(candidate.chunk_id)
        if known is None:
            continue
        parts = tuple(p for p in (known.previous_part, known.next_part) if p is not None)
        if parts:
            found[candidate.chunk_id] = parts
    return found
