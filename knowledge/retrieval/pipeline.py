"""One search on one screen: both lists within the scope, fusion, then the other parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from knowledge.retrieval.fusion import DEFAULT_RULE, DEPTH, fuse, neighbours, rank
from knowledge.retrieval.lexical import rank as rank_words
from knowledge.retrieval.types import Analysis, Candidate, ChunkFacts, Scope, Vector

if TYPE_CHECKING:
    import sqlite3

    from knowledge.retrieval.sqlite import SqliteEngine

WITH_PARTS = 12  # the specification: a context holds at most 12 chunks

LoadFacts = Callable[[Sequence[int]], dict[int, ChunkFacts]]


def search(
    conn: sqlite3.Connection,
    engine: SqliteEngine,
    *,
    generation: int,
    scope: Scope,
    analysis: Analysis,
    query_vector: Vector,
    load_facts: LoadFacts,
    named: Sequence[int] = (),
    k: int = DEPTH,
    rule: str = DEFAULT_RULE,
) -> list[Candidate]:
    """Candidates for the question, best first, each inside the scope.

    `query_vector` is float32[dimension] by the generation's own profile. `named` are the chunks
    at the place that the question names (`analysis.session`, `slide`, …), looked up by the
    caller: similarity alone would not find « diapo 18 ». `load_facts` is called with chunk ids;
    a chunk that it does not return is left out. The other part of a continuation follows the
    candidate that brought it, with `part_of` set.
    """
    dense = engine.dense(conn, generation, scope, query_vector, k)
    placed = engine.in_scope(conn, scope, named)
    lexicon = engine.lexicon(conn, scope)
    also = {hit.chunk_id for hit in dense} | set(placed)
    lexical = rank_words(lexicon, analysis.alternatives, k, analysis.bridges, also)
    wanted = dict.fromkeys((*also, *(hit.chunk_id for hit in lexical)))
    near = {hit.chunk_id: hit.cosine for hit in dense}
    missing = [chunk for chunk in wanted if chunk not in near]
    near |= engine.cosines(conn, generation, missing, query_vector)
    facts = load_facts(sorted(wanted))
    ranked = rank(analysis, dense, lexical, facts, cosines=near, named=placed, rule=rule, depth=k)

    brought = neighbours(ranked[:WITH_PARTS], facts)
    others = {part for parts in brought.values() for part in parts}
    others -= {candidate.chunk_id for candidate in ranked}
    others &= set(engine.in_scope(conn, scope, sorted(others)))
    if not others:
        return ranked
    known = load_facts(sorted(others))
    others &= known.keys()
    cosines = engine.cosines(conn, generation, others, query_vector)
    words = rank_words(lexicon, analysis.alternatives, 0, analysis.bridges, others)
    parts = {c.chunk_id: c for c in fuse((), words, cosines=cosines, named=sorted(others), depth=0)}
    result: list[Candidate] = []
    for candidate in ranked:
        result.append(candidate)
        for chunk in brought.get(candidate.chunk_id, ()):
            part = parts.pop(chunk, None)
            if part is not None:
                result.append(
                    replace(
                        part,
                        fused=candidate.fused,
                        score=candidate.score,
                        pinned=candidate.pinned,
                        part_of=candidate.chunk_id,
                    )
                )
    return result
