"""One search from question to candidates, over a small index in memory."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from knowledge.retrieval import admission, pipeline
from knowledge.retrieval.analysis import analyse
from knowledge.retrieval.profiles.hashing import HashingProfile
from knowledge.retrieval.sqlite import SqliteEngine
from knowledge.retrieval.types import (
    Admission,
    Candidate,
    ChunkFacts,
    GlossaryEntry,
    IndexRow,
    Scope,
    Thresholds,
)
from knowledge.tests.test_retrieval_fusion import facts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from knowledge.retrieval.profiles.base import EmbeddingProfile


class Course:
    """An index in memory: text i is chunk i + 1 of document i + 1 unless `documents` says else."""

    def __init__(
        self,
        texts: Sequence[str],
        *,
        documents: Sequence[int] = (),
        profile: EmbeddingProfile | None = None,
        glossary: Sequence[GlossaryEntry] = (),
        more: dict[int, dict[str, Any]] | None = None,
    ) -> None:
        self.engine = SqliteEngine()
        self.conn = sqlite3.connect(":memory:", isolation_level=None)
        self.engine.ensure_schema(self.conn)
        self.profile = profile or HashingProfile(256)
        self.glossary = glossary
        self.documents = documents or range(1, len(texts) + 1)
        self.scope = Scope(tuple(sorted(set(self.documents))))
        rows = zip(self.documents, texts, self.profile.embed_passages(texts), strict=True)
        self.engine.write(
            self.conn,
            1,
            [IndexRow(i, d, text, vector, "fr") for i, (d, text, vector) in enumerate(rows, 1)],
        )
        self.facts = {
            i: facts(i, document, text=text, **(more or {}).get(i, {}))
            for i, (document, text) in enumerate(zip(self.documents, texts, strict=True), 1)
        }
        self.thresholds: Thresholds | None = None

    def load(self, chunk_ids: Sequence[int]) -> dict[int, ChunkFacts]:
        return {i: self.facts[i] for i in chunk_ids if i in self.facts}

    def search(
        self, question: str, *, scope: Scope | None = None, named: Sequence[int] = ()
    ) -> list[Candidate]:
        asked = analyse(question, default_language="fr", glossary=self.glossary)
        return pipeline.search(
            self.conn,
            self.engine,
            generation=1,
            scope=scope or self.scope,
            analysis=asked,
            query_vector=self.profile.embed_queries([question])[0],
            load_facts=self.load,
            named=named,
        )

    def judge(self, question: str) -> Admission:
        if self.thresholds is None:
            self.thresholds = admission.calibrate(
                self.conn, self.engine, 1, self.scope, self.profile
            )
        asked = analyse(question, default_language="fr", glossary=self.glossary)
        return admission.admit(asked, self.search(question), self.facts, self.thresholds)


TEXTS = [
    "Le taux de rendement interne annule la valeur actuelle nette.",
    "Le bail commercial fixe le loyer.",
    "La valeur marchande est le prix le plus probable.",
    "Secret de l'examen : la valeur actuelle nette vaut 12 $.",
]


def ids(candidates: Sequence[Candidate]) -> list[int]:
    return [c.chunk_id for c in candidates]


def test_the_right_chunk_comes_first_with_all_its_numbers() -> None:
    found = Course(TEXTS).search("Qu'est-ce que le taux de rendement interne ?")
    first = found[0]
    assert first.chunk_id == 1
    assert (first.dense_rank, first.lexical_rank) == (1, 1)
    assert first.coverage == pytest.approx(1.0)
    assert first.cosine > 0.5
    assert first.bm25 > 0
    assert first.rrf == pytest.approx(2 / 61)


def test_the_same_question_gives_the_same_order_and_scores() -> None:
    assert Course(TEXTS).search("valeur du loyer") == Course(TEXTS).search("valeur du loyer")


def test_nothing_outside_the_scope_is_a_candidate_or_moves_one() -> None:
    course, without = Course(TEXTS), Course(TEXTS[:3])
    scope = Scope((1, 2, 3))
    for question in ("valeur actuelle nette", "secret de l'examen", "loyer"):
        found = course.search(question, scope=scope, named=[4])
        assert 4 not in ids(found)
        assert found == without.search(question, scope=scope)
    assert course.search("valeur", scope=Scope(())) == []


def test_a_hidden_chunk_is_no_candidate() -> None:
    found = Course(TEXTS).search("rendement interne", scope=Scope((1, 2, 3), frozenset({1})))
    assert sorted(ids(found)) == [2, 3]


def test_a_named_slide_is_found_where_similarity_would_not_find_it() -> None:
    texts = [f"Le loyer numéro {i} de la liste" for i in range(60)] + ["Autre chose"]
    course = Course(texts, more={61: {"slide": 18, "session": 4}})
    question = "Que dit la diapo 18 de la séance 4 ?"
    assert course.search(question, named=[61])[0].chunk_id == 61
    assert course.search(question, named=[61])[0].pinned


def test_a_continuation_brings_its_other_part_from_the_scope_alone() -> None:
    course = Course(
        ["Le rendement interne, première partie.", "Suite sans le mot.", "Le bail."],
        documents=[1, 1, 2],
        more={1: {"next_part": 2, "slide": 5}, 2: {"previous_part": 1, "slide": 5}},
    )
    found = course.search("rendement interne")
    assert ids(found)[:2] == [1, 2]
    assert (found[0].part_of, found[1].part_of) == (None, 1)
    hidden = course.search("rendement interne", scope=Scope((1, 2), frozenset({2})))
    assert 2 not in ids(hidden)


def test_a_chunk_that_vanished_is_left_out() -> None:
    course = Course(TEXTS)
    del course.facts[1]
    assert 1 not in ids(course.search("rendement interne"))


def test_an_english_question_reaches_a_french_course_through_its_glossary() -> None:
    entry = GlossaryEntry("Taux de rendement interne (TRI)", "internal rate of return (IRR)")
    question = "What is the internal rate of return?"
    with_glossary = {c.chunk_id: c for c in Course(TEXTS[:3], glossary=[entry]).search(question)}
    without = {c.chunk_id: c for c in Course(TEXTS[:3]).search(question)}
    assert with_glossary[1].coverage == pytest.approx(1.0)
    assert with_glossary[1].lexical_rank == 1
    assert without[1].coverage < 1.0


def test_hostile_questions_cause_no_error(shared: Path) -> None:
    path = shared / "security" / "questions.jsonl"
    if not path.exists():
        pytest.skip("the hostile questions are not beside this checkout")
    course = Course(TEXTS)
    for line in path.read_text(encoding="utf-8").splitlines():
        assert isinstance(course.judge(json.loads(line)["question"]), Admission)


def test_gate_and_search_agree_on_a_small_course() -> None:
    course = Course(TEXTS[:3])
    answered = course.judge("Qu'est-ce que le taux de rendement interne ?")
    assert ids(answered.evidence)[0] == 1
    assert answered.sure
    refused = course.judge("Quelle est la recette de la pâte à crêpes ?")
    assert refused.evidence == ()
    strict = admission.admit(
        analyse("taux de rendement interne", default_language="fr"),
        course.search("taux de rendement interne"),
        course.facts,
        replace(admission.STRICT, min_cosine=0.5),
    )
    assert ids(strict.evidence) == [1]
