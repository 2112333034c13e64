"""Tables and triggers that the SQLite engine owns. Made after each migration, mended if missing.

Every write, by the engine or by anybody's SQL, changes three random stamps: the index's, and
those of the document in the generation and in the lexical index. A cache that agrees on a stamp
holds exactly the rows that the reader sees: a stamp that was rolled back never comes again.
"""

# ruff: noqa: S608  SQL is composed from the names of this file alone; values are always bound
from __future__ import annotations

import re
import secrets
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

TABLES = {
    "retrieval_state": """
        CREATE TABLE retrieval_state (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            identity TEXT NOT NULL,
            version INTEGER NOT NULL,
            stamp INTEGER NOT NULL)""",
    "retrieval_generations": """
        CREATE TABLE retrieval_generations (
            generation INTEGER PRIMARY KEY,
            dimension INTEGER NOT NULL)""",
    "retrieval_chunks": """
        CREATE TABLE retrieval_chunks (
            chunk_id INTEGER PRIMARY KEY,
            document_id INTEGER NOT NULL,
            tokens INTEGER NOT NULL)""",
    "retrieval_documents": """
        CREATE TABLE retrieval_documents (
            document_id INTEGER PRIMARY KEY,
            stamp INTEGER NOT NULL,
            chunks INTEGER NOT NULL,
            tokens INTEGER NOT NULL)""",
    "retrieval_vectors": """
        CREATE TABLE retrieval_vectors (
            generation INTEGER NOT NULL,
            chunk_id INTEGER NOT NULL,
            document_id INTEGER NOT NULL,
            vector BLOB NOT NULL,
            text_sha256 TEXT NOT NULL,
            PRIMARY KEY (generation, chunk_id))""",
    "retrieval_stamps": """
        CREATE TABLE retrieval_stamps (
            generation INTEGER NOT NULL,
            document_id INTEGER NOT NULL,
            stamp INTEGER NOT NULL,
            PRIMARY KEY (generation, document_id)) WITHOUT ROWID""",
    # The ascii tokenizer splits at ASCII separators only: the words that `index_terms` joined by
    # spaces come back unchanged, whatever their script.
    "retrieval_terms": """
        CREATE VIRTUAL TABLE retrieval_terms
        USING fts5(terms, tokenize = "ascii tokenchars '_.'")""",
    "retrieval_vocabulary": """
        CREATE VIRTUAL TABLE retrieval_vocabulary
        USING fts5vocab(retrieval_terms, 'instance')""",
}

INDEXES = {
    "retrieval_chunks_document": "retrieval_chunks (document_id, chunk_id)",
    "retrieval_vectors_document": "retrieval_vectors (generation, document_id, chunk_id)",
    "retrieval_vectors_chunk": "retrieval_vectors (chunk_id)",
}

_BUMP = "UPDATE retrieval_state SET version = version + 1, stamp = random();"


def _stamp_vectors(row: str) -> str:
    return f"""
        INSERT INTO retrieval_stamps (generation, document_id, stamp)
        VALUES ({row}.generation, {row}.document_id, random())
        ON CONFLICT (generation, document_id) DO UPDATE SET stamp = excluded.stamp;"""


def _forget_vectors(row: str) -> str:
    return f"""
        DELETE FROM retrieval_stamps
        WHERE generation = {row}.generation AND document_id = {row}.document_id AND NOT EXISTS (
            SELECT 1 FROM retrieval_vectors v
            WHERE v.generation = {row}.generation AND v.document_id = {row}.document_id);
        DELETE FROM retrieval_generations
        WHERE generation = {row}.generation AND NOT EXISTS (
            SELECT 1 FROM retrieval_vectors v WHERE v.generation = {row}.generation);"""


def _count_chunk(row: str) -> str:
    return f"""
        INSERT INTO retrieval_documents (document_id, stamp, chunks, tokens)
        VALUES ({row}.document_id, random(), 1, {row}.tokens)
        ON CONFLICT (document_id) DO UPDATE SET stamp = excluded.stamp,
            chunks = chunks + 1, tokens = tokens + excluded.tokens;"""


def _uncount_chunk(row: str) -> str:
    return f"""
        UPDATE retrieval_documents
        SET stamp = random(), chunks = chunks - 1, tokens = tokens - {row}.tokens
        WHERE document_id = {row}.document_id;
        DELETE FROM retrieval_documents WHERE document_id = {row}.document_id AND chunks <= 0;"""


TRIGGERS = {
    "retrieval_vectors_insert": f"""AFTER INSERT ON retrieval_vectors BEGIN
        {_stamp_vectors("NEW")} {_BUMP} END""",
    "retrieval_vectors_update": f"""AFTER UPDATE ON retrieval_vectors BEGIN
        {_stamp_vectors("OLD")} {_stamp_vectors("NEW")} {_forget_vectors("OLD")} {_BUMP} END""",
    "retrieval_vectors_delete": f"""AFTER DELETE ON retrieval_vectors BEGIN
        {_stamp_vectors("OLD")} {_forget_vectors("OLD")} {_BUMP} END""",
    "retrieval_chunks_insert": f"""AFTER INSERT ON retrieval_chunks BEGIN
        {_count_chunk("NEW")} {_BUMP} END""",
    "retrieval_chunks_update": f"""AFTER UPDATE ON retrieval_chunks BEGIN
        {_uncount_chunk("OLD")} {_count_chunk("NEW")} {_BUMP} END""",
    # A chunk leaves with its words and with its vectors of every generation.
    "retrieval_chunks_delete": f"""AFTER DELETE ON retrieval_chunks BEGIN
        {_uncount_chunk("OLD")}
        DELETE FROM retrieval_terms WHERE rowid = OLD.chunk_id;
        DELETE FROM retrieval_vectors WHERE chunk_id = OLD.chunk_id;
        {_BUMP} END""",
}


def ensure_schema(conn: sqlite3.Connection, chunk_table: str) -> list[str]:
    """Every table, index and trigger is there; what was missing is named. Runs in any transaction.

    `chunk_table`, when it exists, loses its index rows with its own rows, whoever deletes them.
    After a repair the counts are made again and every stamp changes, so no cache is believed.
    """
    there = {row[0] for row in conn.execute("SELECT name FROM sqlite_master")}
    made: list[str] = []
    for name, statement in TABLES.items():
        if name not in there:
            conn.execute(statement)
            made.append(name)
    for name, columns in INDEXES.items():
        if name not in there:
            conn.execute(f"CREATE INDEX {name} ON {columns}")
            made.append(name)
    triggers = dict(TRIGGERS)
    if chunk_table and chunk_table in there:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", chunk_table):
            msg = f"Not a table name: {chunk_table!r}"
            raise ValueError(msg)
        triggers["retrieval_source_delete"] = f"""AFTER DELETE ON {chunk_table} BEGIN
            DELETE FROM retrieval_chunks WHERE chunk_id = OLD.id; END"""
    for name, body in triggers.items():
        if name not in there:
            made.append(name)
        conn.execute(f"DROP TRIGGER IF EXISTS {name}")  # an older definition is replaced
        conn.execute(f"CREATE TRIGGER {name} {body}")
    conn.execute(
        "INSERT OR IGNORE INTO retrieval_state (id, identity, version, stamp)"
        " VALUES (1, ?, 0, random())",
        (secrets.token_hex(16),),
    )
    if made:
        _recount(conn)
    return made


def _recount(conn: sqlite3.Connection) -> None:
    conn.execute("DELETE FROM retrieval_documents")
    conn.execute(
        "INSERT INTO retrieval_documents (document_id, stamp, chunks, tokens)"
        " SELECT document_id, random(), count(*), sum(tokens) FROM retrieval_chunks"
        " GROUP BY document_id"
    )
    conn.execute("DELETE FROM retrieval_stamps")
    conn.execute(
        "INSERT INTO retrieval_stamps (generation, document_id, stamp)"
        " SELECT generation, document_id, random() FROM retrieval_vectors"
        " GROUP BY generation, document_id"
    )
    conn.execute(
        "INSERT OR IGNORE INTO retrieval_generations (generation, dimension)"
        " SELECT generation, min(length(vector)) / 4 FROM retrieval_vectors GROUP BY generation"
    )
    conn.execute("UPDATE retrieval_state SET version = version + 1, stamp = random()")
