"""BM25 and coverage: words of the scope alone, and no word of a question is query syntax."""

from __future__ import annotations

import json
import math
import sqlite3
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from knowledge.retrieval.analysis import analyse
from knowledge.retrieval.language import query_terms
from knowledge.retrieval.sqlite import SqliteEngine
from knowledge.retrieval.types import Bridge, IndexRow, Scope

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from knowledge.retrieval.types import LexicalHit

UNIT = np.array([1, 0], np.float32)
ENGINE = SqliteEngine()


def made(rows: Iterable[tuple[int, int, str]], language: str = "fr") -> sqlite3.Connection:
    conn = sqlite3.connect(":memory:", isolation_level=None)
    ENGINE.ensure_schema(conn)
    ENGINE.write(conn, 1, [IndexRow(c, d, text, UNIT, language) for c, d, text in rows])
    return conn


@pytest.fixture
def conn() -> Iterator[sqlite3.Connection]:
    conn = made(
        [
            (1, 10, "Le taux de rendement interne annule la valeur actuelle nette."),
            (2, 10, "La valeur marchande est un prix probable."),
            (3, 20, "Un bail commercial fixe le loyer du local."),
            (4, 30, "GX-999 : produit en rupture, voir « NEAR » et title:text."),
        ]
    )
    yield conn
    conn.close()


ALL = Scope((10, 20, 30))


def ask(
    conn: sqlite3.Connection, question: str, scope: Scope = ALL, language: str = "fr", k: int = 30
) -> list[LexicalHit]:
    return ENGINE.lexical(conn, scope, query_terms(question, language), k)


def ids(hits: Iterable[LexicalHit]) -> list[int]:
    return [hit.chunk_id for hit in hits]


def test_the_chunk_that_holds_more_of_the_question_comes_first(conn: sqlite3.Connection) -> None:
    hits = ask(conn, "valeur actuelle")
    assert ids(hits) == [1, 2]
    assert hits[0].bm25 > hits[1].bm25 > 0
    assert hits[0].coverage == pytest.approx(1.0)
    assert 0 < hits[1].coverage < 0.5


def test_bm25_is_the_textbook_formula_over_the_scope() -> None:
    conn = made([(1, 1, "loyer loyer bail"), (2, 1, "bail"), (3, 2, "loyer loyer loyer")])
    (hit,) = ENGINE.lexical(conn, Scope((1,)), (("loi",), ("loyer",)))
    # in the scope: 2 chunks of 3 and 1 words, one of them holds « loyer » twice
    idf = math.log(1 + (2 - 1 + 0.5) / (1 + 0.5))
    unseen = math.log(1 + (2 + 0.5) / 0.5)
    assert hit.bm25 == pytest.approx(idf * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 3 / 2)))
    assert hit.coverage == pytest.approx(idf / (idf + unseen))
    conn.close()


def test_a_term_that_nobody_holds_lowers_the_coverage(conn: sqlite3.Connection) -> None:
    assert ask(conn, "loyer du bail")[0].coverage == pytest.approx(1.0)
    assert ask(conn, "loyer du bail emphytéotique")[0].coverage < 0.7


@pytest.mark.parametrize(
    "question",
    ["Quels loyers ?", "quels LOYERS", "loyer", "le loyér du local", "l’loyer"],
)
def test_accents_case_and_number_do_not_matter(conn: sqlite3.Connection, question: str) -> None:
    assert ids(ask(conn, question)) == [3]


def test_ties_break_by_chunk_id() -> None:
    conn = made([(i, i % 3, "le même texte") for i in range(40, 0, -1)])
    assert ids(ask(conn, "texte", Scope((0, 1, 2)))) == list(range(1, 31))
    conn.close()


def test_either_language_finds_words_that_both_share() -> None:
    conn = made([(1, 1, "capitalisation semestrielle"), (2, 1, "options réelles")])
    assert ids(ask(conn, "What is a real option?", Scope((1,)), "en")) == [2]
    english = made([(1, 1, "mortgage payments are monthly")], "en")
    assert ids(ask(english, "payments", Scope((1,)), "fr")) == [1]
    conn.close()
    english.close()


def test_a_bridge_counts_as_the_terms_it_stands_for(conn: sqlite3.Connection) -> None:
    terms = query_terms("What is the net present value?", "en")
    phrase = query_terms("valeur actuelle nette", "fr")
    assert ENGINE.lexical(conn, ALL, terms)[0].coverage < 0.5
    bridged = ENGINE.lexical(conn, ALL, terms, bridges=[Bridge((0, 1, 2), phrase)])
    assert bridged[0].chunk_id == 1
    assert bridged[0].coverage == pytest.approx(1.0)
    assert 2 not in ids(bridged)  # it holds « valeur » only, not the whole phrase


def test_candidates_beyond_the_cut_keep_their_own_numbers(conn: sqlite3.Connection) -> None:
    terms = query_terms("valeur actuelle", "fr")
    both = ENGINE.lexical(conn, ALL, terms)
    assert ENGINE.lexical(conn, ALL, terms, 1) == both[:1]
    assert ENGINE.lexical(conn, ALL, terms, 1, also={2, 3}) == both


def test_hidden_chunks_are_not_counted_at_all(conn: sqlite3.Connection) -> None:
    without = made([(2, 10, "La valeur marchande est un prix probable.")])
    hidden = ask(conn, "valeur marchande", Scope((10,), frozenset({1})))
    assert hidden == ask(without, "valeur marchande", Scope((10,)))
    without.close()


def test_words_of_query_syntax_are_only_words(conn: sqlite3.Connection) -> None:
    assert ids(ask(conn, "NEAR(")) == [4]
    assert ids(ask(conn, 'title:text "NEAR" OR 1=1 --')) == [4]
    assert ids(ask(conn, "terms : loyer*")) == [3]
    assert ids(ask(conn, "gx999")) == ids(ask(conn, "GX-999")) == [4]
    for question in ("*", '"', "^", "{terms}:", "' UNION SELECT 1 --", "(", "\\", "\x00", "?!…"):
        assert ask(conn, question) == []


def test_hostile_questions_cause_no_error(conn: sqlite3.Connection, shared: Path) -> None:
    path = shared / "security" / "questions.jsonl"
    if not path.exists():
        pytest.skip("the hostile questions are not beside this checkout")
    lines = path.read_text(encoding="utf-8").splitlines()
    for line in lines:
        found = analyse(json.loads(line)["question"], default_language="fr")
        ENGINE.lexical(conn, ALL, found.alternatives, bridges=found.bridges)
    assert len(lines) > 10


def test_a_private_document_full_of_the_words_changes_nothing(conn: sqlite3.Connection) -> None:
    scope = Scope((10, 20))
    before = ask(conn, "valeur actuelle du loyer", scope)
    assert before
    private = [IndexRow(i, 77, "valeur actuelle loyer " * 40, UNIT, "fr") for i in range(100, 150)]
    ENGINE.write(conn, 1, private)
    assert ask(conn, "valeur actuelle du loyer", scope) == before
    ENGINE.remove_document(conn, 77)
    ENGINE.remove_document(conn, 30)
    assert ask(conn, "valeur actuelle du loyer", scope) == before


WORDS = ("loyer", "bail", "taux", "prix", "valeur", "prêt")
document = st.lists(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join), min_size=1, max_size=4
)
directions = st.integers(0, 359)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    mine=st.lists(document, min_size=1, max_size=4),
    theirs=st.lists(document, max_size=5),
    question=st.lists(st.sampled_from((*WORDS, "inconnu")), min_size=1, max_size=4).map(" ".join),
    turn=directions,
)
def test_what_others_have_never_moves_a_ranking(
    mine: list[list[str]], theirs: list[list[str]], question: str, turn: int
) -> None:
    """Ids, order and scores of both lists, bit for bit, with and without the others' documents."""

    def vector(text: str) -> np.ndarray:
        angle = math.radians(sum(map(ord, text)) % 360)
        return np.array([math.cos(angle), math.sin(angle)], np.float32)

    def rows(documents: list[list[str]], first: int) -> list[IndexRow]:
        # others' documents lie between mine: ids are interleaved
        return [
            IndexRow(1000 * (2 * d + first) + c, 2 * d + first, text, vector(text), "fr")
            for d, chunks in enumerate(documents)
            for c, text in enumerate(chunks)
        ]

    scope = Scope(tuple(2 * d for d in range(len(mine))))
    asked = vector(question) + np.float32(turn / 1000)
    seen = []
    for others in ([], theirs):
        conn = sqlite3.connect(":memory:", isolation_level=None)
        ENGINE.ensure_schema(conn)
        ENGINE.write(conn, 1, rows(others, 1))
        ENGINE.write(conn, 1, rows(mine, 0))
        seen.append(
            (
                ENGINE.dense(conn, 1, scope, asked),
                ask(conn, question, scope),
                ENGINE.counts(conn, 1).chunks - len(rows(others, 1)),
            )
        )
        conn.close()
    assert seen[0] == seen[1]
