"""The SQLite engine on small known vectors, in real files: cosines, writes, caches, repairs."""

from __future__ import annotations

import math
import sqlite3
import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest

from knowledge.retrieval.language import text_sha256
from knowledge.retrieval.matrix import MAX_BLOCKS, exact_cosines
from knowledge.retrieval.sqlite import SqliteEngine
from knowledge.retrieval.types import IndexRow, RetrievalError, Scope

if TYPE_CHECKING:
    from pathlib import Path

HALF = math.sqrt(0.5)


def connect(path: Path) -> sqlite3.Connection:
    conn = sqlite3.connect(path, isolation_level=None, timeout=5, check_same_thread=False)
    conn.execute("PRAGMA journal_mode = WAL")
    return conn


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "index.sqlite3"


@pytest.fixture
def engine() -> SqliteEngine:
    return SqliteEngine()


@pytest.fixture
def conn(path: Path, engine: SqliteEngine):
    conn = connect(path)
    engine.ensure_schema(conn)
    yield conn
    conn.close()


def row(chunk: int, document: int, *vector: float, text: str = "mot") -> IndexRow:
    return IndexRow(chunk, document, text, np.array(vector, np.float32), "fr")


def query(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def fill(conn: sqlite3.Connection, engine: SqliteEngine) -> None:
    engine.write(
        conn,
        1,
        [
            row(1, 10, 1, 0, text="loyer du bail"),
            row(2, 10, HALF, HALF, text="prix du loyer"),
            row(3, 20, 0, 1, text="taux de rendement"),
            row(4, 30, -1, 0, text="secret"),
        ],
    )


ALL = Scope((10, 20, 30))


def found(engine: SqliteEngine, conn: sqlite3.Connection, scope: Scope = ALL, k: int = 30):
    return [(h.chunk_id, round(h.cosine, 6)) for h in engine.dense(conn, 1, scope, query(1, 0), k)]


class TestCosine:
    def test_is_exact_ordered_and_bounded(self, conn, engine) -> None:
        fill(conn, engine)
        assert found(engine, conn) == [(1, 1.0), (2, round(HALF, 6)), (3, 0.0), (4, -1.0)]
        assert found(engine, conn, k=2) == [(1, 1.0), (2, round(HALF, 6))]
        assert found(engine, conn, k=0) == []

    def test_never_leaves_minus_one_to_one(self) -> None:
        rng = np.random.default_rng(0)
        rows = rng.standard_normal((200, 384)).astype(np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        for vector in rows[:20]:
            cosines = exact_cosines(rows, vector)
            assert cosines.max() <= 1.0
            assert exact_cosines(-rows, vector).min() >= -1.0

    def test_accumulates_in_double(self) -> None:
        rng = np.random.default_rng(1)
        rows = rng.standard_normal((50, 384)).astype(np.float32)
        vector = rows[0]
        slow = [
            math.fsum(float(a) * float(b) for a, b in zip(r, vector, strict=True))
            / math.sqrt(math.fsum(float(a) ** 2 for a in r))
            / math.sqrt(math.fsum(float(b) ** 2 for b in vector))
            for r in rows
        ]
        assert np.allclose(exact_cosines(rows, vector), slow, rtol=0, atol=1e-14)

    def test_the_scale_of_the_question_does_not_matter(self, conn, engine) -> None:
        fill(conn, engine)
        large = [h.cosine for h in engine.dense(conn, 1, ALL, query(40, 0))]
        assert large == pytest.approx([h.cosine for h in engine.dense(conn, 1, ALL, query(1, 0))])

    def test_ties_break_by_chunk_id_even_at_the_cut(self, conn, engine) -> None:
        order = list(range(100, 0, -1))
        engine.write(conn, 1, [row(i, i % 7, 0, 1) for i in order])
        hits = engine.dense(conn, 1, Scope(tuple(range(7))), query(0, 1), 30)
        assert [h.chunk_id for h in hits] == list(range(1, 31))

    def test_nearly_equal_rows_keep_their_exact_order(self, conn, engine) -> None:
        rng = np.random.default_rng(2)
        base = rng.standard_normal(384)
        rows = base + 1e-6 * rng.standard_normal((400, 384))
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        vectors = rows.astype(np.float32)
        engine.write(
            conn, 1, [IndexRow(i + 1, i // 9, "mot", v, "fr") for i, v in enumerate(vectors)]
        )
        exact = exact_cosines(vectors, base.astype(np.float32))
        expected = (np.lexsort((np.arange(400), -exact))[:30] + 1).tolist()
        hits = engine.dense(conn, 1, Scope(tuple(range(45))), base.astype(np.float32))
        assert [h.chunk_id for h in hits] == expected

    def test_of_chosen_chunks_equals_the_ranking(self, conn, engine) -> None:
        fill(conn, engine)
        ranked = {h.chunk_id: h.cosine for h in engine.dense(conn, 1, ALL, query(0.3, 0.4))}
        assert engine.cosines(conn, 1, [4, 2, 99], query(0.3, 0.4)) == {
            2: ranked[2],
            4: ranked[4],
        }


class TestRefusals:
    @pytest.mark.parametrize(
        "vector",
        [(1.0, 0.0, 0.0), (1.0,), (float("nan"), 1.0), (float("inf"), 0.0), (0.0, 0.0), (2.0, 0.0)],
    )
    def test_a_bad_row_is_refused_and_nothing_is_written(self, conn, engine, vector) -> None:
        fill(conn, engine)
        before = engine.versions(conn)
        with pytest.raises(RetrievalError):
            engine.write(conn, 1, [row(5, 10, 0, 1), row(6, 10, *vector)])
        assert engine.versions(conn) == before
        assert engine.counts(conn, 1).chunks == 4

    @pytest.mark.parametrize("vector", [(1.0, 0.0, 0.0), (0.0, 0.0), (float("nan"), 0.0)])
    def test_a_bad_question_is_refused(self, conn, engine, vector) -> None:
        fill(conn, engine)
        with pytest.raises(RetrievalError):
            engine.dense(conn, 1, ALL, query(*vector))
        with pytest.raises(RetrievalError):
            engine.cosines(conn, 1, [1], query(*vector))

    def test_a_database_without_index_names_the_command(self, tmp_path, engine) -> None:
        bare = connect(tmp_path / "bare.sqlite3")
        with pytest.raises(RetrievalError, match="migrate"):
            engine.dense(bare, 1, ALL, query(1, 0))
        bare.close()

    def test_an_empty_generation_finds_nothing(self, conn, engine) -> None:
        assert engine.dense(conn, 1, ALL, query(1, 0)) == []
        assert engine.lexical(conn, ALL, (("loyer",),)) == []


class TestScope:
    def test_documents_outside_are_left_out_before_ranking(self, conn, engine) -> None:
        fill(conn, engine)
        assert [c for c, _ in found(engine, conn, Scope((20, 30)), k=1)] == [3]
        assert found(engine, conn, Scope(())) == []
        assert found(engine, conn, Scope((99,))) == []

    def test_hidden_chunks_are_left_out_before_ranking(self, conn, engine) -> None:
        fill(conn, engine)
        assert [c for c, _ in found(engine, conn, Scope((10, 20), frozenset({1})), k=2)] == [2, 3]
        assert engine.in_scope(conn, Scope((10,), frozenset({1})), [3, 2, 1, 77, 2]) == (2,)

    def test_generations_do_not_mix(self, conn, engine) -> None:
        fill(conn, engine)
        engine.write(conn, 2, [row(1, 10, 0, 0, 1)])
        assert len(found(engine, conn)) == 4
        assert [h.chunk_id for h in engine.dense(conn, 2, ALL, query(0, 0, 1))] == [1]
        engine.drop_generation(conn, 2)
        assert engine.dense(conn, 2, ALL, query(0, 0, 1)) == []
        assert engine.integrity(conn, 1) == []


class TestWrites:
    def test_a_chunk_written_again_is_replaced(self, conn, engine) -> None:
        fill(conn, engine)
        engine.write(conn, 1, [row(1, 10, 0, -1, text="autre chose")])
        assert dict(found(engine, conn))[1] == 0.0
        assert engine.lexical(conn, ALL, (("bail",),)) == []
        assert [h.chunk_id for h in engine.lexical(conn, ALL, (("autr",), ("chos",)))] == [1]
        assert engine.integrity(conn, 1) == []

    def test_an_emptied_generation_takes_vectors_of_another_dimension(self, conn, engine) -> None:
        fill(conn, engine)
        found(engine, conn)
        for document in ALL.documents:
            engine.remove_document(conn, document)
        engine.write(conn, 1, [row(1, 10, 0, 0, 1)])
        assert [h.chunk_id for h in engine.dense(conn, 1, ALL, query(0, 0, 1))] == [1]

    def test_a_chunk_may_move_to_another_document(self, conn, engine) -> None:
        fill(conn, engine)
        found(engine, conn)
        engine.write(conn, 1, [row(1, 20, 1, 0, text="loyer du bail")])
        assert [c for c, _ in found(engine, conn, Scope((10,)))] == [2]
        assert [c for c, _ in found(engine, conn, Scope((20,)))] == [1, 3]
        assert engine.integrity(conn, 1) == []

    def test_removed_chunks_and_documents_leave_nothing(self, conn, engine) -> None:
        fill(conn, engine)
        engine.remove_chunks(conn, [1])
        assert [c for c, _ in found(engine, conn)] == [2, 3, 4]
        engine.remove_document(conn, 20)
        assert [c for c, _ in found(engine, conn)] == [2, 4]
        assert engine.lexical(conn, ALL, (("rend",),)) == []
        assert vars_of(engine, conn) == (2, 2, 2, 2)
        assert engine.integrity(conn, 1, {2: "prix du loyer", 4: "secret"}) == []
        engine.remove_document(conn, 10)
        engine.remove_document(conn, 30)
        for table in ("chunks", "documents", "vectors", "stamps", "terms"):
            count = conn.execute(f"SELECT count(*) FROM retrieval_{table}").fetchone()[0]
            assert count == 0, table

    def test_rows_of_a_deleted_chunk_go_with_it_whoever_deletes_it(self, path) -> None:
        conn = connect(path)
        conn.execute("CREATE TABLE source (id INTEGER PRIMARY KEY)")
        engine = SqliteEngine(chunk_table="source")
        engine.ensure_schema(conn)
        fill(conn, engine)
        conn.executemany("INSERT INTO source VALUES (?)", [(1,), (2,), (3,), (4,)])
        conn.execute("DELETE FROM source WHERE id < 4")
        assert [c for c, _ in found(engine, conn)] == [4]
        assert engine.lexical(conn, ALL, (("loyer",),)) == []
        assert engine.integrity(conn, 1) == []
        conn.close()

    def test_the_stored_form_is_little_endian_float32_with_the_hash_of_the_text(
        self, conn, engine
    ) -> None:
        fill(conn, engine)
        blob, sha = conn.execute(
            "SELECT vector, text_sha256 FROM retrieval_vectors WHERE chunk_id = 2"
        ).fetchone()
        assert blob == np.array([HALF, HALF], "<f4").tobytes()
        assert sha == text_sha256("prix  du\u00a0loyer")
        assert engine.hashes(conn, 1)[2] == sha
        assert engine.vector(conn, 1, 2).tolist() == [np.float32(HALF)] * 2
        with pytest.raises(RetrievalError):
            engine.vector(conn, 1, 99)

    def test_each_write_moves_the_version_and_only_its_own_documents(self, conn, engine) -> None:
        fill(conn, engine)
        before = engine.versions(conn)
        mine = engine.stamps(conn, 1, Scope((10,)))
        theirs = engine.stamps(conn, 1, Scope((20,)))
        engine.write(conn, 1, [row(1, 10, 0, 1)])
        after = engine.versions(conn)
        assert after.version > before.version
        assert after.stamp != before.stamp
        assert engine.stamps(conn, 1, Scope((10,))) != mine
        assert engine.stamps(conn, 1, Scope((20,))) == theirs


def vars_of(engine: SqliteEngine, conn: sqlite3.Connection) -> tuple[int, int, int, int]:
    counts = engine.counts(conn, 1)
    return counts.documents, counts.chunks, counts.vectors, counts.words


class TestCache:
    def test_a_transaction_sees_its_own_writes_and_a_rollback_forgets_them(
        self, conn, engine, path
    ) -> None:
        fill(conn, engine)
        other = connect(path)
        before = found(engine, conn)
        conn.execute("BEGIN IMMEDIATE")
        engine.write(conn, 1, [row(5, 10, 1, 0), row(1, 10, 0, 1)])
        inside = found(engine, conn)
        assert (5, 1.0) in inside
        assert found(engine, other) == before
        assert found(engine, conn) == inside
        conn.execute("ROLLBACK")
        assert found(engine, conn) == before
        assert found(engine, other) == before
        # the version number comes again with other rows: the stamp tells them apart
        engine.write(conn, 1, [row(6, 10, 1, 0), row(1, 10, 1, 0)])
        assert 5 not in dict(found(engine, conn))
        assert dict(found(engine, other))[6] == 1.0
        other.close()

    def test_a_savepoint_rolled_back_is_forgotten(self, conn, engine) -> None:
        fill(conn, engine)
        conn.execute("BEGIN")
        before = found(engine, conn)
        conn.execute("SAVEPOINT inner_one")
        engine.remove_document(conn, 10)
        assert 1 not in dict(found(engine, conn))
        conn.execute("ROLLBACK TO inner_one")
        assert found(engine, conn) == before
        conn.execute("COMMIT")
        assert found(engine, conn) == before

    def test_another_process_sees_a_committed_write(self, conn, engine, path) -> None:
        fill(conn, engine)
        reader, reading = SqliteEngine(), connect(path)
        assert len(found(reader, reading)) == 4
        engine.write(conn, 1, [row(9, 40, 1, 0)])
        engine.remove_chunks(conn, [2])
        assert [c for c, _ in found(reader, reading, Scope((10, 20, 30, 40)))] == [1, 9, 3, 4]
        reading.close()

    def test_two_databases_and_a_database_made_again_are_told_apart(self, tmp_path, engine) -> None:
        first, second = connect(tmp_path / "a"), connect(tmp_path / "b")
        for conn in (first, second):
            engine.ensure_schema(conn)
        engine.write(first, 1, [row(1, 10, 1, 0)])
        engine.write(second, 1, [row(1, 10, 0, 1)])
        assert found(engine, first) == [(1, 1.0)]
        assert found(engine, second) == [(1, 0.0)]
        first.close()
        for leftover in tmp_path.glob("a*"):
            leftover.unlink()
        again = connect(tmp_path / "a")
        engine.ensure_schema(again)
        engine.write(again, 1, [row(7, 10, 0, 1)])
        assert found(engine, again) == [(7, 0.0)]
        again.close()
        second.close()

    def test_many_small_changes_stay_exact(self, conn, engine) -> None:
        rng = np.random.default_rng(3)
        kept: dict[int, tuple[int, np.ndarray]] = {}
        for step in range(4 * MAX_BLOCKS):
            document = int(rng.integers(1, 12))
            vectors = rng.standard_normal((3, 2))
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            rows = [
                IndexRow(document * 10 + i, document, "mot", v.astype(np.float32), "fr")
                for i, v in enumerate(vectors)
            ]
            engine.write(conn, 1, rows)
            kept.update({r.chunk_id: (document, r.vector) for r in rows})
            if step % 5 == 4:
                engine.remove_document(conn, document)
                kept = {c: v for c, v in kept.items() if v[0] != document}
            scope = Scope(tuple(range(1, 12, 2)))
            shown = {c: v for c, (d, v) in kept.items() if d % 2}
            expected = sorted(
                ((c, float(exact_cosines(v[None], query(1, 0))[0])) for c, v in shown.items()),
                key=lambda hit: (-hit[1], hit[0]),
            )[:30]
            hits = engine.dense(conn, 1, scope, query(1, 0))
            assert [(h.chunk_id, h.cosine) for h in hits] == expected

    def test_readers_in_threads_always_see_one_whole_version(self, conn, engine, path) -> None:
        engine.write(conn, 1, [row(i, i, 1, 0) for i in range(1, 41)])
        scope = Scope(tuple(range(1, 41)))
        stop = threading.Event()
        bad: list[object] = []

        def read() -> None:
            mine = connect(path)
            while not stop.is_set():
                mine.execute("BEGIN")
                cosines = {h.cosine for h in engine.dense(mine, 1, scope, query(1, 0), 40)}
                mine.execute("COMMIT")
                if len(cosines) != 1:
                    bad.append(cosines)
            mine.close()

        threads = [threading.Thread(target=read) for _ in range(3)]
        for thread in threads:
            thread.start()
        for turn in range(15):
            conn.execute("BEGIN IMMEDIATE")
            vector = (0, 1) if turn % 2 else (1, 0)
            engine.write(conn, 1, [row(i, i, *vector) for i in range(1, 41)])
            conn.execute("COMMIT")
        stop.set()
        for thread in threads:
            thread.join()
        assert bad == []


class TestRepair:
    def test_the_schema_may_be_ensured_again(self, conn, engine) -> None:
        fill(conn, engine)
        before = found(engine, conn)
        assert engine.ensure_schema(conn) == []
        assert found(engine, conn) == before

    def test_dropped_triggers_come_back_and_no_cache_is_believed(self, conn, engine) -> None:
        fill(conn, engine)
        found(engine, conn)
        conn.execute("DROP TRIGGER retrieval_vectors_update")
        conn.execute("DROP TRIGGER retrieval_chunks_delete")
        conn.execute(
            "UPDATE retrieval_vectors SET vector = ? WHERE chunk_id = 1",
            (np.array([0, 1], "<f4").tobytes(),),
        )
        conn.execute("DELETE FROM retrieval_chunks WHERE chunk_id = 2")
        assert engine.integrity(conn, 1) != []
        assert engine.ensure_schema(conn) == [
            "retrieval_vectors_update",
            "retrieval_chunks_delete",
        ]
        assert dict(found(engine, conn))[1] == 0.0
        engine.remove_chunks(conn, [2])
        assert engine.integrity(conn, 1) == []

    def test_a_dropped_table_comes_back_and_its_loss_is_reported(self, conn, engine) -> None:
        fill(conn, engine)
        conn.execute("DROP TABLE retrieval_documents")
        conn.execute("DROP TABLE retrieval_stamps")
        conn.execute("DROP TABLE retrieval_terms")
        assert "retrieval_terms" in engine.ensure_schema(conn)
        assert len(found(engine, conn)) == 4
        problems = engine.integrity(conn, 1)
        assert [p for p in problems if p.endswith("no words")] == [
            f"chunk {i}: no words" for i in (1, 2, 3, 4)
        ]
        fill(conn, engine)
        assert engine.integrity(conn, 1) == []

    def test_a_corrupted_row_takes_out_its_own_document_alone(self, conn, engine) -> None:
        fill(conn, engine)
        conn.execute("UPDATE retrieval_vectors SET vector = x'00' WHERE chunk_id = 3")
        assert [c for c, _ in found(engine, conn)] == [1, 2, 4]
        assert list(engine.damaged(conn, 1)) == [20]
        assert engine.integrity(conn, 1) == [
            "chunk 3: vector of 1 bytes instead of 8",
        ]
        engine.write(conn, 1, [row(3, 20, 0, 1, text="taux de rendement")])
        assert len(found(engine, conn)) == 4
        assert engine.damaged(conn, 1) == {}

    def test_every_kind_of_damage_is_named(self, conn, engine) -> None:
        fill(conn, engine)
        texts = {1: "loyer du bail", 2: "prix du loyer", 3: "taux de rendement", 4: "secret"}
        assert engine.integrity(conn, 1, texts) == []
        assert engine.integrity(conn, 1, texts | {3: "autre texte"}) == [
            "chunk 3: the vector is of another text"
        ]
        assert engine.integrity(conn, 1, texts | {5: "nouveau"}) == ["chunk 5: not indexed"]
        del texts[4]
        assert engine.integrity(conn, 1, texts) == ["chunk 4: indexed, but there is no such chunk"]
        conn.execute("DELETE FROM retrieval_vectors WHERE chunk_id = 1")
        conn.execute("UPDATE retrieval_vectors SET document_id = 99 WHERE chunk_id = 2")
        conn.execute(
            "UPDATE retrieval_vectors SET vector = ? WHERE chunk_id = 3",
            (np.array([np.nan, 1], "<f4").tobytes(),),
        )
        conn.execute("DELETE FROM retrieval_terms WHERE rowid = 4")
        problems = engine.integrity(conn, 1)
        assert "chunk 1: no vector" in problems
        assert "chunk 2: vector and words belong to two documents" in problems
        assert "chunk 3: vector of length nan instead of 1" in problems
        assert "chunk 4: no words" in problems
        assert engine.integrity(conn, 7) == ["generation 7: no vectors for 4 chunks"]
