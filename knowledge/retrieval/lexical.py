"""BM25 and coverage with the statistics of the asker's scope alone.

FTS5 is the store: its inverted index is read term by term through `fts5vocab`, each term a bound
value, so no word of a question is ever query syntax. Its own bm25() is not used, because its
document frequencies count everybody's texts: one person's private file would move another's
scores (measured -5.85 to -4.53, measurements.md, Search speed).
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from knowledge.retrieval.types import Bridge, LexicalHit, Scope, Term

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

K1 = 1.2  # FTS5's own constants, under which measurements.md measured
B = 0.75


@dataclass(slots=True)
class Lexicon:
    """The scope's words, read on demand and kept for the length of one search or calibration."""

    conn: sqlite3.Connection
    scope: Scope
    chunks: int = 0
    tokens: int = 0
    lengths: dict[int, int] = field(default_factory=dict)
    _documents: frozenset[int] = frozenset()
    _words: dict[str, dict[int, int]] = field(default_factory=dict)
    _terms: dict[Term, dict[int, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._documents = frozenset(self.scope.documents)
        listed = json.dumps(sorted(self._documents))
        self.chunks, self.tokens = self.conn.execute(
            "SELECT coalesce(sum(d.chunks), 0), coalesce(sum(d.tokens), 0)"
            " FROM json_each(?) j CROSS JOIN retrieval_documents d ON d.document_id = j.value",
            (listed,),
        ).fetchone()
        if self.scope.hidden:
            hidden, words = self.conn.execute(
                "SELECT count(*), coalesce(sum(c.tokens), 0) FROM json_each(?) j"
                " CROSS JOIN retrieval_chunks c ON c.chunk_id = j.value"
                " WHERE c.document_id IN (SELECT value FROM json_each(?))",
                (json.dumps(sorted(self.scope.hidden)), listed),
            ).fetchone()
            self.chunks -= hidden
            self.tokens -= words

    @property
    def average(self) -> float:
        return self.tokens / self.chunks if self.chunks and self.tokens else 1.0

    def postings(self, term: Term) -> dict[int, int]:
        """Occurrences of any of the term's stems, per admissible chunk."""
        if term not in self._terms:
            found: dict[int, int] = {}
            for word in dict.fromkeys(term):
                for chunk, count in self._word(word).items():
                    found[chunk] = found.get(chunk, 0) + count
            self._terms[term] = found
        return self._terms[term]

    def _word(self, word: str) -> dict[int, int]:
        if word not in self._words:
            found: dict[int, int] = {}
            rows = self.conn.execute(
                "SELECT c.chunk_id, c.document_id, c.tokens FROM retrieval_vocabulary v"
                " CROSS JOIN retrieval_chunks c ON c.chunk_id = v.doc WHERE v.term = ?",
                (word,),
            )
            for chunk, document, length in rows:
                if document in self._documents and chunk not in self.scope.hidden:
                    found[chunk] = found.get(chunk, 0) + 1
                    self.lengths[chunk] = length
            self._words[word] = found
        return self._words[word]

    def idf(self, term: Term) -> float:
        frequency = len(self.postings(term))
        return math.log(1 + (self.chunks - frequency + 0.5) / (frequency + 0.5))

    def bm25(self, term: Term) -> dict[int, float]:
        weight = self.idf(term)
        average = self.average
        return {
            chunk: weight
            * count
            * (K1 + 1)
            / (count + K1 * (1 - B + B * self.lengths[chunk] / average))
            for chunk, count in self.postings(term).items()
        }


def rank(
    lexicon: Lexicon,
    terms: Sequence[Term],
    k: int,
    bridges: Sequence[Bridge] = (),
    also: Iterable[int] = (),
) -> list[LexicalHit]:
    """The k best chunks, ties by chunk id; then those of `also` that hold a word, in order.

    A bridge (a translation or another name) counts instead of the terms it covers where it scores
    higher, and only when the chunk holds its whole phrase. Coverage counts a term that no
    admissible chunk holds at the full idf of an unseen word, so it lowers every coverage.
    """
    scores = [lexicon.bm25(term) for term in terms]
    totals: dict[int, float] = {}
    covered: dict[int, set[int]] = {}
    for place, scored in enumerate(scores):
        for chunk, score in scored.items():
            totals[chunk] = totals.get(chunk, 0.0) + score
            covered.setdefault(chunk, set()).add(place)
    for chunk, gains in _bridged(lexicon, bridges).items():
        for covers, gain in gains.items():
            own = sum(scores[place].get(chunk, 0.0) for place in covers)
            totals[chunk] = totals.get(chunk, 0.0) + max(0.0, gain - own)
            covered.setdefault(chunk, set()).update(covers)
    weights = [lexicon.idf(term) for term in terms]
    whole = sum(weights) or 1.0
    order = sorted(totals, key=lambda chunk: (-totals[chunk], chunk))
    wanted = frozenset(also)
    return [
        LexicalHit(
            chunk_id=chunk,
            bm25=totals[chunk],
            coverage=min(1.0, sum(weights[place] for place in sorted(covered[chunk])) / whole),
        )
        for chunk in (*order[:k], *(chunk for chunk in order[k:] if chunk in wanted))
    ]


def _bridged(
    lexicon: Lexicon, bridges: Sequence[Bridge]
) -> dict[int, dict[tuple[int, ...], float]]:
    """For chunks that hold a whole phrase: the best phrase's score, per group of terms covered."""
    found: dict[int, dict[tuple[int, ...], float]] = {}
    for bridge in bridges:
        parts = [lexicon.bm25(term) for term in bridge.phrase]
        if not parts:
            continue
        for chunk in set(parts[0]).intersection(*parts[1:]):
            score = sum(part[chunk] for part in parts)
            groups = found.setdefault(chunk, {})
            groups[bridge.covers] = max(groups.get(bridge.covers, 0.0), score)
    return found
