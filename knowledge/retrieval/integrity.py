"""What is wrong with an index, one line per problem: see `SqliteEngine.integrity`."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from knowledge.retrieval.language import text_sha256
from knowledge.retrieval.matrix import vector_problem

if TYPE_CHECKING:
    from collections.abc import Mapping


def check(conn: sqlite3.Connection, generation: int, texts: Mapping[int, str] | None) -> list[str]:
    problems: list[str] = []
    known = conn.execute(
        "SELECT dimension FROM retrieval_generations WHERE generation = ?", (generation,)
    ).fetchone()
    chunks: dict[int, tuple[int, int]] = {
        chunk: (document, tokens)
        for chunk, document, tokens in conn.execute(
            "SELECT chunk_id, document_id, tokens FROM retrieval_chunks ORDER BY chunk_id"
        )
    }
    if known is None and chunks:
        return [f"generation {generation}: no vectors for {len(chunks)} chunks"]
    seen: set[int] = set()
    for chunk, document, blob, sha in conn.execute(
        "SELECT chunk_id, document_id, vector, text_sha256 FROM retrieval_vectors"
        " WHERE generation = ? ORDER BY chunk_id",
        (generation,),
    ):
        seen.add(chunk)
        problem = vector_problem(blob, known[0])
        if problem:
            problems.append(f"chunk {chunk}: {problem}")
        if chunk not in chunks:
            problems.append(f"chunk {chunk}: a vector without words")
        elif chunks[chunk][0] != document:
            problems.append(f"chunk {chunk}: vector and words belong to two documents")
        if texts is not None and chunk in texts and sha != text_sha256(texts[chunk]):
            problems.append(f"chunk {chunk}: the vector is of another text")
    problems += [f"chunk {chunk}: no vector" for chunk in sorted(chunks.keys() - seen)]
    words = dict(conn.execute("SELECT rowid, terms FROM retrieval_terms"))
    for chunk in sorted(words.keys() | chunks.keys()):
        if chunk not in chunks:
            problems.append(f"chunk {chunk}: words without a chunk")
        elif chunk not in words:
            problems.append(f"chunk {chunk}: no words")
        elif len(str(words[chunk]).split()) != chunks[chunk][1]:
            problems.append(f"chunk {chunk}: another number of words than recorded")
    if texts is not None:
        problems += [f"chunk {c}: not indexed" for c in sorted(texts.keys() - chunks.keys())]
        problems += [
            f"chunk {c}: indexed, but there is no such chunk"
            for c in sorted(chunks.keys() - texts.keys())
        ]
    return problems + _counts_problems(conn)


def _counts_problems(conn: sqlite3.Connection) -> list[str]:
    problems = [
        f"document {row[0]}: recorded counts differ from its chunks"
        for row in conn.execute(
            "SELECT c.document_id FROM (SELECT document_id, count(*) AS n, sum(tokens) AS t"
            " FROM retrieval_chunks GROUP BY document_id) c"
            " LEFT JOIN retrieval_documents d ON d.document_id = c.document_id"
            " WHERE d.chunks IS NOT c.n OR d.tokens IS NOT c.t ORDER BY 1"
        )
    ]
    try:
        conn.execute("INSERT INTO retrieval_terms (retrieval_terms) VALUES ('integrity-check')")
    except sqlite3.DatabaseError as error:
        problems.append(f"lexical index: {error}")
    return problems
