"""The index inside a SQLite database: vectors as BLOBs, words in FTS5, exact cosine, scoped BM25.

Every method takes the caller's connection and works inside the caller's transaction: nothing here
begins, commits or rolls back. Documents outside the scope are left out before anything is ranked.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from knowledge.retrieval import lexical, schema
from knowledge.retrieval.integrity import check
from knowledge.retrieval.language import index_terms, text_sha256
from knowledge.retrieval.lexical import Lexicon
from knowledge.retrieval.matrix import MatrixCache, exact_cosines, nearest, state_of, vector_problem
from knowledge.retrieval.types import (
    Bridge,
    DenseHit,
    IndexRow,
    LexicalHit,
    RetrievalError,
    Scope,
    Term,
    Vector,
)

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterable, Mapping, Sequence

__all__ = ["Counts", "IndexVersion", "SqliteEngine", "text_sha256"]


@dataclass(frozen=True, slots=True)
class IndexVersion:
    """`version` grows with every write; `stamp` is random, so a rolled-back one never recurs."""

    identity: str
    version: int
    stamp: int


@dataclass(frozen=True, slots=True)
class Counts:
    documents: int
    chunks: int
    vectors: int
    words: int


class SqliteEngine:
    """One engine serves any number of databases and threads; its cache is shared by them.

    `chunk_table` is the caller's own table of chunks, whose deleted rows take their index rows
    with them.
    """

    def __init__(self, chunk_table: str = "knowledge_chunk") -> None:
        self._chunk_table = chunk_table
        self._cache = MatrixCache()

    # Schema and versions

    def ensure_schema(self, conn: sqlite3.Connection) -> list[str]:
        """All tables and triggers exist afterwards; the names of what was missing."""
        return schema.ensure_schema(conn, self._chunk_table)

    def versions(self, conn: sqlite3.Connection) -> IndexVersion:
        return IndexVersion(*state_of(conn))

    def index_version(self, conn: sqlite3.Connection) -> int:
        return state_of(conn)[1]

    def stamps(self, conn: sqlite3.Connection, generation: int, scope: Scope) -> str:
        """A digest of exactly the rows that `scope` shows: other documents never change it."""
        digest = hashlib.sha256(json.dumps([generation, sorted(scope.hidden)]).encode())
        rows = conn.execute(
            "SELECT j.value, s.stamp, d.stamp FROM json_each(?) j"
            " LEFT JOIN retrieval_stamps s ON s.generation = ? AND s.document_id = j.value"
            " LEFT JOIN retrieval_documents d ON d.document_id = j.value ORDER BY j.value",
            (json.dumps(sorted(scope.documents)), generation),
        )
        for row in rows:
            digest.update(repr(row).encode())
        return digest.hexdigest()

    # Writing

    def write(
        self,
        conn: sqlite3.Connection,
        generation: int,
        rows: Sequence[IndexRow],
        *,
        language: str = "",
    ) -> None:
        """The rows are in the generation and in the lexical index, replacing the chunks' old ones.

        `language` serves for rows that name none. Everything is checked before the first write;
        raises RetrievalError for a vector of another dimension than the generation's, not
        finite, or not of unit length.
        """
        if not rows:
            return
        known = conn.execute(
            "SELECT dimension FROM retrieval_generations WHERE generation = ?", (generation,)
        ).fetchone()
        dimension = int(known[0]) if known else int(np.asarray(rows[0].vector).size)
        blobs = [_blob(row, dimension) for row in rows]
        if known is None:
            conn.execute(
                "INSERT INTO retrieval_generations (generation, dimension) VALUES (?, ?)",
                (generation, dimension),
            )
        for row, blob in zip(rows, blobs, strict=True):
            self._write_words(conn, row, row.language or language)
            conn.execute(
                "INSERT INTO retrieval_vectors"
                " (generation, chunk_id, document_id, vector, text_sha256) VALUES (?, ?, ?, ?, ?)"
                " ON CONFLICT (generation, chunk_id) DO UPDATE SET"
                " document_id = excluded.document_id, vector = excluded.vector,"
                " text_sha256 = excluded.text_sha256",
                (generation, row.chunk_id, row.document_id, blob, text_sha256(row.search_text)),
            )

    def _write_words(self, conn: sqlite3.Connection, row: IndexRow, language: str) -> None:
        words = index_terms(row.search_text, language)
        old = conn.execute(
            "SELECT t.terms, c.document_id FROM retrieval_chunks c"
            " LEFT JOIN retrieval_terms t ON t.rowid = c.chunk_id WHERE c.chunk_id = ?",
            (row.chunk_id,),
        ).fetchone()
        if old == (words, row.document_id):
            return
        conn.execute("DELETE FROM retrieval_terms WHERE rowid = ?", (row.chunk_id,))
        conn.execute(
            "INSERT INTO retrieval_terms (rowid, terms) VALUES (?, ?)", (row.chunk_id, words)
        )
        conn.execute(
            "INSERT INTO retrieval_chunks (chunk_id, document_id, tokens) VALUES (?, ?, ?)"
            " ON CONFLICT (chunk_id) DO UPDATE SET"
            " document_id = excluded.document_id, tokens = excluded.tokens",
            (row.chunk_id, row.document_id, len(words.split())),
        )

    def remove_chunks(self, conn: sqlite3.Connection, chunk_ids: Iterable[int]) -> None:
        """No word or vector of these chunks is left, in any generation."""
        listed = json.dumps(sorted(set(chunk_ids)))
        conn.execute(
            "DELETE FROM retrieval_chunks WHERE chunk_id IN (SELECT value FROM json_each(?))",
            (listed,),
        )
        for table, column in (("retrieval_vectors", "chunk_id"), ("retrieval_terms", "rowid")):
            conn.execute(  # rows that had lost their chunk
                f"DELETE FROM {table} WHERE {column} IN (SELECT value FROM json_each(?))",  # noqa: S608  names are constants
                (listed,),
            )

    def remove_document(self, conn: sqlite3.Connection, document_id: int) -> None:
        """No word or vector of this document is left, in any generation."""
        conn.execute("DELETE FROM retrieval_chunks WHERE document_id = ?", (document_id,))
        conn.execute("DELETE FROM retrieval_vectors WHERE document_id = ?", (document_id,))

    def drop_generation(self, conn: sqlite3.Connection, generation: int) -> None:
        """The generation has no vectors; the lexical index is untouched."""
        conn.execute("DELETE FROM retrieval_vectors WHERE generation = ?", (generation,))
        conn.execute("DELETE FROM retrieval_generations WHERE generation = ?", (generation,))
        self._cache.forget(generation)

    # Looking

    def counts(self, conn: sqlite3.Connection, generation: int) -> Counts:
        row = conn.execute(
            "SELECT (SELECT count(*) FROM retrieval_documents),"
            " (SELECT count(*) FROM retrieval_chunks),"
            " (SELECT count(*) FROM retrieval_vectors WHERE generation = ?),"
            " (SELECT count(*) FROM retrieval_terms)",
            (generation,),
        ).fetchone()
        return Counts(*row)

    def hashes(self, conn: sqlite3.Connection, generation: int) -> dict[int, str]:
        """`text_sha256` of the text that each vector of the generation was made of, by chunk."""
        return dict(
            conn.execute(
                "SELECT chunk_id, text_sha256 FROM retrieval_vectors WHERE generation = ?",
                (generation,),
            )
        )

    def vector(self, conn: sqlite3.Connection, generation: int, chunk_id: int) -> Vector:
        """float32[dimension] as stored. Raises RetrievalError when there is none or it is bad."""
        found = self._vectors(conn, generation, [chunk_id])
        if chunk_id not in found:
            msg = f"Chunk {chunk_id} has no vector in generation {generation}."
            raise RetrievalError(msg)
        return found[chunk_id]

    def integrity(
        self,
        conn: sqlite3.Connection,
        generation: int,
        texts: Mapping[int, str] | None = None,
    ) -> list[str]:
        """One line per problem of the generation and of the lexical index; empty when whole.

        `texts` are the search texts of all chunks that must be indexed, by chunk id: with them,
        chunks without rows, rows without chunk and vectors of another text are found too.
        """
        return check(conn, generation, texts)

    # Ranking

    def dense(
        self,
        conn: sqlite3.Connection,
        generation: int,
        scope: Scope,
        query_vector: Vector,
        k: int = 30,
    ) -> list[DenseHit]:
        """The k admissible chunks of highest exact cosine, best first, ties by chunk id.

        `query_vector` is float32[dimension]. Raises RetrievalError when its dimension is not the
        generation's, or when it is zero or not finite.
        """
        snapshot = self._cache.snapshot(conn, generation)
        query = _query(query_vector, snapshot.dimension)
        found = nearest(snapshot.runs(scope.documents), query, k, scope.hidden)
        return [DenseHit(chunk, cosine) for chunk, cosine in found]

    def top_cosines(
        self,
        conn: sqlite3.Connection,
        generation: int,
        scope: Scope,
        query_vectors: Vector,
        k: int = 30,
    ) -> list[list[DenseHit]]:
        """`dense` for each row of float32[n, dimension], under one snapshot."""
        snapshot = self._cache.snapshot(conn, generation)
        runs = snapshot.runs(scope.documents)
        return [
            [
                DenseHit(chunk, cosine)
                for chunk, cosine in nearest(
                    runs, _query(query, snapshot.dimension), k, scope.hidden
                )
            ]
            for query in query_vectors
        ]

    def damaged(self, conn: sqlite3.Connection, generation: int) -> dict[int, str]:
        """Documents that `dense` leaves out because a row of theirs is bad, with the reason."""
        snapshot = self._cache.snapshot(conn, generation)
        return {d: s.problem for d, s in snapshot.slices.items() if s.problem}

    def cosines(
        self,
        conn: sqlite3.Connection,
        generation: int,
        chunk_ids: Collection[int],
        query_vector: Vector,
    ) -> dict[int, float]:
        """The exact cosine of each of these chunks that has a sound vector."""
        found = self._vectors(conn, generation, chunk_ids)
        if not found:
            return {}
        rows = np.stack(list(found.values()))
        cosines = exact_cosines(rows, _query(query_vector, rows.shape[1]))
        return dict(zip(found, cosines.tolist(), strict=True))

    def lexicon(self, conn: sqlite3.Connection, scope: Scope) -> Lexicon:
        """The scope's words, for several questions under one transaction."""
        return Lexicon(conn, scope)

    def lexical(
        self,
        conn: sqlite3.Connection,
        scope: Scope,
        query_terms: Sequence[Term],
        k: int = 30,
        *,
        bridges: Sequence[Bridge] = (),
        also: Collection[int] = (),
    ) -> list[LexicalHit]:
        """The k admissible chunks of highest BM25, then those of `also` that hold a term."""
        return lexical.rank(Lexicon(conn, scope), query_terms, k, bridges, also)

    def in_scope(
        self, conn: sqlite3.Connection, scope: Scope, chunk_ids: Collection[int]
    ) -> tuple[int, ...]:
        """Those of `chunk_ids` that are indexed and in the scope, in the order given."""
        documents = dict(
            conn.execute(
                "SELECT chunk_id, document_id FROM retrieval_chunks"
                " WHERE chunk_id IN (SELECT value FROM json_each(?))",
                (json.dumps(list(chunk_ids)),),
            )
        )
        admissible = frozenset(scope.documents)
        return tuple(
            chunk
            for chunk in dict.fromkeys(chunk_ids)
            if documents.get(chunk) in admissible and chunk not in scope.hidden
        )

    def _vectors(
        self, conn: sqlite3.Connection, generation: int, chunk_ids: Collection[int]
    ) -> dict[int, Vector]:
        rows = conn.execute(
            "SELECT v.chunk_id, v.vector, g.dimension FROM json_each(?) j"
            " CROSS JOIN retrieval_vectors v ON v.generation = ? AND v.chunk_id = j.value"
            " JOIN retrieval_generations g ON g.generation = v.generation ORDER BY v.chunk_id",
            (json.dumps(sorted(set(chunk_ids))), generation),
        )
        return {
            chunk: np.frombuffer(blob, "<f4").astype(np.float32)
            for chunk, blob, dimension in rows
            if not vector_problem(blob, dimension)
        }


def _blob(row: IndexRow, dimension: int) -> bytes:
    vector = np.asarray(row.vector)
    if vector.ndim != 1 or vector.size != dimension:
        msg = f"Chunk {row.chunk_id}: a vector of {vector.size} dimensions, not {dimension}."
        raise RetrievalError(msg)
    blob = vector.astype("<f4").tobytes()
    problem = vector_problem(blob, dimension)
    if problem:
        msg = f"Chunk {row.chunk_id}: {problem}."
        raise RetrievalError(msg)
    return blob


def _query(vector: Vector, dimension: int) -> Vector:
    """The question's vector, checked. A generation without rows has no dimension yet."""
    query = np.asarray(vector, np.float32)
    if query.ndim != 1 or (dimension and query.size != dimension):
        msg = f"The question's vector has {query.size} dimensions, the index {dimension}."
        raise RetrievalError(msg)
    if not np.isfinite(query).all() or not query.any():
        msg = "The question's vector is zero or not finite."
        raise RetrievalError(msg)
    return query
