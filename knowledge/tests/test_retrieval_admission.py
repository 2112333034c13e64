"""The evidence gate: what is answered, what is refused, and the thresholds behind it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from knowledge.retrieval import admission
from knowledge.retrieval.admission import STRICT, admit, calibrate, controls, thresholds_of
from knowledge.retrieval.analysis import analyse
from knowledge.retrieval.profiles.hashing import HashingProfile
from knowledge.retrieval.profiles.registry import load_profile
from knowledge.retrieval.types import (
    Admission,
    Candidate,
    ChunkFacts,
    IndexRow,
    RetrievalError,
    Scope,
    Thresholds,
)
from knowledge.tests.test_retrieval_fusion import facts
from knowledge.tests.test_retrieval_pipeline import Course

if TYPE_CHECKING:
    from pathlib import Path

TAU = Thresholds(rule="calibrated", answer={"fr": 0.90}, context={"fr": 0.80}, source="test")


def candidate(chunk: int, cosine: float, coverage: float = 0.0, **more: Any) -> Candidate:
    blank = Candidate(
        chunk_id=chunk,
        cosine=cosine,
        dense_rank=1,
        bm25=0.0,
        lexical_rank=None,
        coverage=coverage,
        rrf=0.0,
        score=cosine,
        fused=cosine,
    )
    return replace(blank, **more)


def judge(
    question: str,
    candidates: list[Candidate],
    known: dict[int, ChunkFacts] | None = None,
    thresholds: Thresholds = TAU,
) -> Admission:
    asked = analyse(question, default_language="fr")
    filled = known or {c.chunk_id: facts(c.chunk_id) for c in candidates}
    return admit(asked, candidates, filled, thresholds)


def ids(made: Admission) -> list[int]:
    return [c.chunk_id for c in made.evidence]


class TestCalibrated:
    def test_the_best_cosine_and_the_coverage_of_the_best_passage_decide(self) -> None:
        passed = judge("loyer ?", [candidate(1, 0.86, 0.5), candidate(2, 0.79)])
        assert passed.score == pytest.approx(0.91)
        assert ids(passed) == [1]  # the other one lies below the floor of a passage
        assert [v.reason for v in passed.verdicts] == ["admitted", "below_threshold"]
        refused = judge("loyer ?", [candidate(1, 0.86, 0.3), candidate(2, 0.85)])
        assert ids(refused) == []
        assert refused.reason == "below_threshold"
        assert not any(v.admitted for v in refused.verdicts)

    def test_just_above_the_threshold_nothing_is_claimed(self) -> None:
        assert not judge("loyer ?", [candidate(1, 0.91)]).sure
        assert judge("loyer ?", [candidate(1, 0.94)]).sure

    def test_nothing_ranked_is_refused(self) -> None:
        assert judge("loyer ?", []).reason == "empty"

    def test_at_most_the_limit_joins_the_evidence(self) -> None:
        many = [candidate(i, 0.95) for i in range(1, 20)]
        made = judge("loyer ?", many)
        assert ids(made) == list(range(1, 13))
        assert made.verdicts[-1].reason == "limit"

    def test_the_other_part_follows_its_own(self) -> None:
        rows = [candidate(1, 0.95), candidate(2, 0.5, part_of=1), candidate(3, 0.5)]
        assert ids(judge("loyer ?", rows)) == [1, 2]

    def test_a_language_without_threshold_is_an_error_not_a_refusal(self) -> None:
        with pytest.raises(RetrievalError, match="calibrate"):
            judge("What is the rent of the house?", [candidate(1, 0.95)])

    def test_a_name_that_nobody_says_lowers_the_score(self) -> None:
        known = {1: facts(1, text="Le taux d'inoccupation au Québec.")}
        rows = [candidate(1, 0.92)]
        assert ids(judge("Quel est le taux d'inoccupation à Gatineau ?", rows, known)) == []
        assert ids(judge("Quel est le taux d'inoccupation au Québec ?", rows, known)) == [1]


class TestStrict:
    def test_cosine_and_overlap_are_both_asked_and_three_are_kept(self) -> None:
        rows = [
            candidate(1, 0.90, 0.0),
            candidate(2, 0.70, 0.9),
            *(candidate(i, 0.85, 0.5) for i in range(3, 9)),
        ]
        made = judge("loyer ?", rows, thresholds=STRICT)
        assert ids(made) == [3, 4, 5]
        assert ids(judge("loyer ?", rows[:2], thresholds=STRICT)) == []

    def test_the_floor_depends_on_the_model(self) -> None:
        assert admission.strict("intfloat/multilingual-e5-small").min_cosine == 0.82
        assert admission.strict("embeddinggemma:300m").min_cosine == 0.60
        assert STRICT.limit == 3


class TestIdentifiers:
    KNOWN = {
        1: facts(1, text="Le GX-100 coûte 50 $."),
        2: facts(2, text="Le GX-999 coûte 80 $."),
    }
    ROWS = [candidate(1, 0.97, 0.9), candidate(2, 0.96, 0.9)]

    def test_a_code_that_no_evidence_holds_is_refused_whatever_the_cosine(self) -> None:
        made = judge("Quel est le prix du GX-500 ?", self.ROWS, self.KNOWN)
        assert (ids(made), made.reason, made.missing) == ([], "unknown_identifier", ("gx500",))

    def test_only_passages_that_hold_the_code_are_evidence(self) -> None:
        made = judge("Quel est le prix du gx999 ?", self.ROWS, self.KNOWN)
        assert ids(made) == [2]
        assert made.verdicts[0].reason == "other_identifier"

    def test_a_label_counts_such_as_the_code_of_the_course(self) -> None:
        known = {1: facts(1, text="Les objectifs du cours", labels=("IMM1003",))}
        rows = [candidate(1, 0.95)]
        assert ids(judge("Quels sont les objectifs du cours IMM1003 ?", rows, known)) == [1]
        assert ids(judge("Quels sont les objectifs du cours IMM1033 ?", rows, known)) == []

    def test_it_holds_under_the_strict_rule_too(self) -> None:
        assert ids(judge("Le GX-500 ?", self.ROWS, self.KNOWN, STRICT)) == []


class TestPlaces:
    def test_a_place_that_does_not_exist_is_refused(self) -> None:
        known = {1: facts(1, session=4, slide=2)}
        made = judge("Que dit la séance 42 ?", [candidate(1, 0.99, 1.0)], known)
        assert (ids(made), made.reason, made.missing) == ([], "unknown_place", ("session 42",))

    def test_a_pointed_slide_is_shown_whatever_its_score(self) -> None:
        known = {1: facts(1, session=4, slide=18), 2: facts(2)}
        rows = [candidate(1, 0.75, pinned=True), candidate(2, 0.85)]
        made = judge("Que dit la diapo 18 de la séance 4 ?", rows, known)
        assert ids(made) == [1]
        assert made.sure

    def test_another_subject_does_not_pass_by_naming_a_slide(self) -> None:
        known = {1: facts(1, session=4, slide=18)}
        rows = [candidate(1, 0.75, pinned=True)]
        question = "Quelle est la recette des crêpes à la diapo 18 de la séance 4 ?"
        assert ids(judge(question, rows, known)) == []

    def test_a_text_that_mentions_the_place_is_enough(self) -> None:
        known = {1: facts(1, text="L'examen aura lieu à la séance 8.")}
        assert ids(judge("Quand est l'examen de la séance 8 ?", [candidate(1, 0.95)], known)) == [1]


class TestControls:
    @pytest.mark.parametrize("language", ["fr", "en"])
    def test_there_are_200_questions_on_25_topics(self, language: str) -> None:
        bank = controls(language)
        assert len(bank) == len({question for _, question in bank}) == 200
        assert len({topic for topic, _ in bank}) == 25
        assert all(
            analyse(question, default_language=language).language == language
            for _, question in bank
        )

    def test_the_topic_of_the_course_does_not_raise_the_threshold(self) -> None:
        rng = np.random.default_rng(0)
        topics = [f"t{i // 8}" for i in range(200)]
        scores = rng.normal(0.82, 0.01, 200)
        clean, context, out = thresholds_of(scores, topics)
        assert out == ()
        assert context < clean
        scores[:8] += 0.12
        raised, _, left_out = thresholds_of(scores, topics)
        assert left_out == ("t0",)
        assert abs(raised - clean) < 0.005

    def test_an_unknown_language_is_an_error(self) -> None:
        with pytest.raises(RetrievalError):
            controls("de")

    def test_an_empty_scope_refuses_everything(self) -> None:
        course = Course([])
        made = calibrate(course.conn, course.engine, 1, Scope(()), course.profile)
        assert min(made.answer.values()) > 1.2

    def test_vectors_are_computed_once_and_kept_in_a_file(self, tmp_path: Path) -> None:
        class Counted(HashingProfile):
            calls = 0

            def _encode(self, texts, *, query):
                type(self).calls += 1
                return super()._encode(texts, query=query)

        first = admission.control_vectors(Counted(48), "fr", tmp_path)
        calls = Counted.calls
        assert calls > 0
        assert np.array_equal(admission.control_vectors(Counted(48), "fr", tmp_path), first)
        assert Counted.calls == calls
        (file,) = tmp_path.glob("*.npy")
        admission._vectors.clear()
        assert np.array_equal(admission.control_vectors(Counted(48), "fr", tmp_path), first)
        assert Counted.calls == calls
        admission._vectors.clear()
        file.write_bytes(b"not a file of vectors")
        assert np.array_equal(admission.control_vectors(Counted(48), "fr", tmp_path), first)
        assert Counted.calls > calls

    def test_what_others_have_never_moves_the_threshold(self) -> None:
        course = Course(["Le loyer du bail commercial.", "Le taux de rendement interne."])
        mine = course.scope
        before = calibrate(course.conn, course.engine, 1, mine, course.profile)
        text = "Quelle est la recette de la pâte à crêpes ? " * 5
        vector = course.profile.embed_passages([text])[0]
        course.engine.write(course.conn, 1, [IndexRow(900, 900, text, vector, "fr")])
        assert calibrate(course.conn, course.engine, 1, mine, course.profile) == before


NOTE = (
    "# Le bail commercial\nLe bail commercial fixe le loyer de base, la durée et la part des frais"
    " communs que le locataire paie. Le dépôt de garantie vaut deux mois de loyer."
)


@cache
def note_course() -> Course:
    return Course([NOTE], profile=load_profile("e5-small", {}))


@pytest.mark.real_model
class TestTinyCourse:
    """One note of one paragraph is a course too."""

    @pytest.mark.parametrize(
        "question",
        [
            "Combien vaut le dépôt de garantie ?",
            "Qui paie les frais communs d'un bail commercial ?",
            "que fixe le bail commercial",
            "How much is the security deposit in the lease?",
        ],
    )
    def test_a_question_about_the_note_is_answered(self, question: str) -> None:
        assert ids(note_course().judge(question)) == [1]

    @pytest.mark.parametrize(
        "question",
        [
            "Quelle est la recette de la pâte à crêpes ?",
            "Qui a gagné la coupe Stanley en 1993 ?",
            "What is the capital of Peru?",
            "Comment soigner une entorse ?",
        ],
    )
    def test_a_question_about_anything_else_is_refused(self, question: str) -> None:
        assert ids(note_course().judge(question)) == []
