"""The evidence gate: what a refusal is for, and what is let through."""

from __future__ import annotations

import pytest

from chat.answering import evidence_gate, refusals
from knowledge.retrieval.admission import STRICT
from knowledge.retrieval.analysis import analyse
from knowledge.retrieval.types import Candidate, ChunkFacts, Thresholds

CALIBRATED = Thresholds(
    rule="calibrated", answer={"fr": 0.88, "en": 0.86}, context={"fr": 0.83, "en": 0.82}
)


def candidate(chunk: int, cosine: float, coverage: float = 0.5, **fields: object) -> Candidate:
    values = {
        "dense_rank": chunk, "bm25": 1.0, "lexical_rank": chunk, "rrf": 1 / chunk,
        "fused": 1 / chunk, "score": 1 / chunk,
    }  # fmt: skip
    return Candidate(chunk_id=chunk, cosine=cosine, coverage=coverage, **(values | fields))  # type: ignore[arg-type]


def facts(*texts: str) -> dict[int, ChunkFacts]:
    return {
        number: ChunkFacts(
            chunk_id=number, document_id=number, ordinal=1, kind="slide", title="Titre", boxes=(),
            term="", session=1, slide=number, slide_end=number, page=None, text=text,
        )
        for number, text in enumerate(texts, 1)
    }  # fmt: skip


def decide(
    question: str,
    candidates: list[Candidate],
    *texts: str,
    thresholds: Thresholds = CALIBRATED,
    labels: tuple[str, ...] = (),
) -> evidence_gate.Gate:
    return evidence_gate.admit(
        analyse(question, default_language="fr"),
        candidates,
        facts(*(texts or ("Texte de la diapositive.",) * len(candidates))),
        thresholds,
        labels=labels,
    )


def test_a_near_question_is_let_through_with_its_near_passages() -> None:
    gate = decide(
        "Quelle est la valeur ?", [candidate(1, 0.86), candidate(2, 0.80), candidate(3, 0.70, 0)]
    )
    assert gate
    assert [one.chunk_id for one in gate.evidence] == [1, 2]
    assert [verdict.admitted for verdict in gate.verdicts] == [True, True, False]
    assert (gate.reason, gate.near) == ("", ())
    assert gate.sentence_threshold == pytest.approx(0.90)


def test_a_far_question_is_refused_and_may_name_what_is_nearest() -> None:
    gate = decide("Quelle est la recette ?", [candidate(1, 0.81), candidate(2, 0.82, 0.0)])
    assert not gate
    assert gate.reason == refusals.NO_EVIDENCE
    assert [one.chunk_id for one in gate.near] == [1]


def test_nothing_ranked_is_a_refusal() -> None:
    gate = decide("Quelle est la valeur ?", [])
    assert (bool(gate), gate.reason, gate.verdicts) == (False, refusals.NO_EVIDENCE, ())


@pytest.mark.parametrize("question", ["Que vaut GX-999 ?", "Que vaut le gx999 du cours ?"])
def test_a_code_that_no_evidence_holds_refuses_the_whole(question: str) -> None:
    near = [candidate(1, 0.95, 1.0)]
    gate = decide(question, near, "Le modèle GX-99 vaut 12 000 $.")
    assert (gate.evidence, gate.reason) == ((), refusals.IDENTIFIER_ABSENT)
    assert gate.missing
    assert decide(question, near, "Le modèle GX-999 vaut 12 000 $.")


def test_the_code_of_the_course_itself_need_not_stand_in_a_passage() -> None:
    near = [candidate(1, 0.95, 1.0)]
    assert not decide("Quand est l'examen de IMM1003 ?", near, "L'examen a lieu en juin.")
    assert decide(
        "Quand est l'examen de IMM1003 ?", near, "L'examen a lieu en juin.", labels=("IMM1003",)
    )


def test_a_slide_named_by_its_number_is_evidence_whatever_its_score() -> None:
    gate = decide("Que dit la diapo 1 ?", [candidate(1, 0.5, 0.0, pinned=True), candidate(2, 0.6)])
    assert [one.chunk_id for one in gate.evidence] == [1]


def test_a_place_that_is_not_there_is_a_refusal_of_its_own() -> None:
    gate = decide("Que dit la diapo 99 ?", [candidate(1, 0.8, 0.0)])
    assert gate.reason == refusals.PLACE_ABSENT


def test_the_strict_rule_wants_a_near_passage_and_common_words_and_takes_three() -> None:
    ranked = [candidate(n, 0.9) for n in range(1, 6)]
    assert len(decide("Quelle est la valeur ?", ranked, thresholds=STRICT).evidence) == 3
    assert not decide("Quelle est la valeur ?", [candidate(1, 0.9, 0.0)], thresholds=STRICT)
    assert not decide("Quelle est la valeur ?", [candidate(1, 0.5, 1.0)], thresholds=STRICT)


def test_a_score_that_is_no_number_and_a_chunk_without_facts_are_out() -> None:
    gate = decide(
        "Quelle est la valeur ?", [candidate(1, float("nan")), candidate(2, 0.9, 1.0)], "Un texte."
    )
    assert not gate
    assert [verdict.reason for verdict in gate.verdicts] == [evidence_gate.UNSOUND] * 2


def test_the_other_part_of_a_continuation_comes_along() -> None:
    gate = decide("Quelle est la valeur ?", [candidate(1, 0.9), candidate(2, 0.5, 0.0, part_of=1)])
    assert [one.chunk_id for one in gate.evidence] == [1, 2]
