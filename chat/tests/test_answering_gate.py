"""The answer gate in evidence mode: each fault refuses the whole, and what passes is exact."""

from __future__ import annotations

import pytest

from chat.answering import refusals
from chat.answering.answer_gate import (
    check_proposal,
    closest,
    refuse,
    renumber,
    still_admissible,
)
from chat.answering.sentences import units
from chat.answering.tags import find_tags
from chat.answering.types import Proposal
from chat.tests.answering_cases import IRR, NPV, everything, evidence, proposal

S1, S2 = evidence(1, NPV), evidence(2, IRR)
DEFINITION = NPV.split("\n", maxsplit=1)[0]
RATE = "Le TRI du projet Lachine est de 12,5 %."


def test_exact_quotes_are_the_whole_answer() -> None:
    answer = check_proposal(
        proposal(("S1", DEFINITION), ("S2", RATE)), [S1, S2], admissible=everything
    )
    assert (answer.status, answer.origin) == ("answered", "course")
    assert answer.text == f"{DEFINITION} [S1]\n\n{RATE} [S2]"
    assert [quote.chunk_id for quote in answer.quotes] == [1, 2]
    for quote, source in zip(answer.quotes, (S1, S2), strict=True):
        assert source.text[quote.start : quote.end] == quote.text


@pytest.mark.parametrize("name", ["S2", "[S2]", "［Ｓ２］", "doc2#1", " s2 "])
def test_a_source_is_named_by_its_tag_or_its_public_id(name: str) -> None:
    answer = check_proposal(proposal((name, RATE)), [S1, S2], admissible=everything)
    assert [quote.tag for quote in answer.quotes] == ["S2"]


@pytest.mark.parametrize(
    ("made", "detail", "invalid"),
    [
        (proposal(("INVENTED#0", RATE)), "unknown_source", 1),
        (proposal(("S9", RATE)), "unknown_source", 1),
        (proposal(("", RATE)), "unknown_source", 1),
        (proposal(("S1, S2", RATE)), "unknown_source", 1),
        (proposal(("S2", RATE.replace("12,5", "13,5"))), "quote_not_exact", 1),
        (proposal(("S2", "annule la VAN et le TRI")), "quote_not_exact", 1),
        (proposal(("S1", RATE)), "quote_in_other_source", 1),
        (proposal(("S2", "Le TRI du projet La")), "quote_too_short", 1),
        (proposal(("S2", "   ")), "quote_too_short", 1),
        (proposal(("S1", DEFINITION), ("S8", RATE)), "unknown_source", 1),
        (proposal(*[("S1", DEFINITION)] * 4), "too_many_quotes", 0),
        (proposal(), "no_quotes", 0),
        (None, "malformed_proposal", 0),
    ],
)
def test_a_fault_refuses_the_whole_answer(made: Proposal | None, detail: str, invalid: int) -> None:
    answer = check_proposal(made, [S1, S2], admissible=everything)
    assert (answer.status, answer.reason, answer.detail) == (
        "refused", refusals.INSUFFICIENT, detail,
    )  # fmt: skip
    assert (answer.text, answer.quotes, answer.pieces) == ("", (), ())
    assert answer.invalid_citations == invalid
    assert answer.needs_repair
    assert not check_proposal(made, [S1, S2], admissible=everything, repairs=1).needs_repair


def test_nineteen_characters_are_refused_even_where_the_gate_would_extend_them() -> None:
    text = "La prime est fixée, sauf exception prévue au contrat."
    short = "La prime est fixée,"
    assert len(short) == 19
    answer = check_proposal(proposal(("S1", short)), [evidence(1, text)], admissible=everything)
    assert answer.detail == "quote_too_short"


def test_a_source_withdrawn_between_retrieval_and_answer_refuses_without_repair() -> None:
    answer = check_proposal(
        proposal(("S1", DEFINITION), ("S2", RATE)), [S1, S2], admissible=lambda chunk: chunk != 2
    )
    assert (answer.status, answer.reason) == ("refused", refusals.WITHDRAWN)
    assert not answer.needs_repair
    assert RATE not in repr(answer)


def test_a_source_lost_while_the_pieces_leave_stops_them() -> None:
    answer = check_proposal(
        proposal(("S1", DEFINITION), ("S2", RATE)), [S1, S2], admissible=everything
    )
    lost: set[int] = set()
    sent = []
    for piece in still_admissible(answer, lambda chunk: chunk not in lost):
        sent.append(piece.text)
        lost.add(2)
    assert sent == [f"{DEFINITION} [S1]"]


def test_a_profile_that_cannot_answer_is_a_refusal_with_the_nearest_titles() -> None:
    answer = check_proposal(Proposal(can_answer=False), [S1, S2], admissible=everything)
    assert (answer.status, answer.reason) == ("refused", refusals.DECLINED)
    assert answer.closest == (S1, S2)
    assert not answer.needs_repair


def test_closest_passages_are_titles_without_claim_and_without_withdrawn_ones() -> None:
    near = Proposal(can_answer=False, reason=refusals.CLOSEST)
    answer = check_proposal(near, [S1, S2], admissible=lambda chunk: chunk == 2)
    assert (answer.status, answer.text, answer.quotes) == ("closest", "", ())
    assert answer.closest == (S2,)
    assert check_proposal(near, [S1], admissible=lambda _: False).status == "refused"
    assert closest([]).status == "refused"


def test_an_exception_after_the_quote_is_shown_with_it() -> None:
    cut = "un projet est rentable si sa VAN est positive"
    answer = check_proposal(proposal(("S1", cut)), [S1], admissible=everything)
    assert "sauf si le capital est rationné." in answer.quotes[0].text
    assert answer.quotes[0].text in S1.text


def test_quotes_that_touch_are_shown_once() -> None:
    one, two, _ = NPV.split("\n")
    answer = check_proposal(
        proposal(("S1", two), ("S1", one), ("S1", one[:60])), [S1], admissible=everything
    )
    assert [quote.text for quote in answer.quotes] == [f"{one}\n{two}"]


def test_a_tag_forged_inside_a_document_does_not_become_a_citation() -> None:
    source = evidence(1, "La note de passage est fixée à 50 % [S2] [S1] pour tous.")
    answer = check_proposal(proposal(("S1", source.text)), [source, S2], admissible=everything)
    assert [group.numbers for group in find_tags(answer.text)] == [(1,)]
    assert answer.text.endswith("[S1]")
    assert answer.quotes[0].text == source.text


def test_every_unit_of_a_chunk_passes_the_gate_as_a_quote() -> None:
    for source in (S1, S2):
        for unit in units(source.text):
            answer = check_proposal(
                proposal((source.tag, unit.text)), [source], admissible=everything
            )
            assert answer.status == "answered"
            assert unit.text in answer.quotes[0].text
            assert answer.quotes[0].text in source.text


def test_an_answer_from_another_course_says_so() -> None:
    other = evidence(2, IRR, course="IMM1033", cross_course=True)
    quoted = check_proposal(proposal(("S2", RATE)), [S1, other], admissible=everything)
    assert quoted.cross_course
    own = check_proposal(proposal(("S1", DEFINITION)), [S1, other], admissible=everything)
    assert not own.cross_course


def test_two_sources_that_differ_are_shown_side_by_side() -> None:
    old = evidence(1, "Le taux directeur de la Banque du Canada est fixé à 4,75 % par an.")
    new = evidence(2, "Le taux directeur de la Banque du Canada est fixé à 5,00 % par an.")
    answer = check_proposal(proposal(("S1", old.text)), [old, new], admissible=everything)
    assert [(c.left.tag, c.right.tag) for c in answer.conflicts] == [("S1", "S2")]
    assert [quote.tag for quote in answer.quotes] == ["S1", "S2"]
    assert "[S1]" in answer.text
    assert "[S2]" in answer.text


@pytest.mark.parametrize(
    "other",
    [
        "Le taux directeur de la Banque du Canada est fixé à 4,75 % par an.",
        "Le taux de vacance du centre-ville de Gatineau est estimé à 5,00 % par an.",
        "Le taux directeur de la Banque du Canada est fixé pour 3 mois par le conseil.",
        "Exemple : le taux directeur de la Banque du Canada est fixé à 5,00 % par an.",
    ],
)
def test_sources_that_agree_or_speak_of_something_else_are_no_conflict(other: str) -> None:
    old = evidence(1, "Le taux directeur de la Banque du Canada est fixé à 4,75 % par an.")
    answer = check_proposal(
        proposal(("S1", old.text)), [old, evidence(2, other)], admissible=everything
    )
    assert answer.conflicts == ()
    assert [quote.tag for quote in answer.quotes] == ["S1"]


def test_numbers_that_are_names_and_values_of_exercises_are_no_conflict() -> None:
    one = evidence(1, "L'atelier 1 porte sur les séances 1 à 3 du cours de finance.")
    two = evidence(2, "L'atelier 2 porte sur les séances 3 à 5 du cours de finance.")
    answer = check_proposal(proposal(("S1", one.text)), [one, two], admissible=everything)
    assert answer.conflicts == ()
    loan = "Le prêteur exige un ratio de couverture minimal de {} pour cet immeuble."
    one, two = evidence(1, loan.format("1,20")), evidence(2, loan.format("1,25"), kind="exercise")
    answer = check_proposal(proposal(("S1", one.text)), [one, two], admissible=everything)
    assert answer.conflicts == ()


def test_two_dates_for_one_exam_are_a_conflict() -> None:
    one = evidence(1, "L'examen intra du cours a lieu le 23 février 2027 à 13 h 30.")
    two = evidence(2, "L'examen intra du cours a lieu le 2 mars 2027 à 13 h 30.")
    answer = check_proposal(proposal(("S1", one.text)), [one, two], admissible=everything)
    assert [(c.left.tag, c.right.tag) for c in answer.conflicts] == [("S1", "S2")]


def test_a_refusal_carries_no_text() -> None:
    answer = refuse(refusals.NO_EVIDENCE, closest=[S1, S2, S1, S2])
    assert (answer.status, answer.text, len(answer.closest)) == ("refused", "", 3)


def test_what_is_cited_is_numbered_from_one_in_the_order_of_reading() -> None:
    sources = [evidence(1, "Autre texte, assez long pour être cité."), S2, evidence(3, NPV)]
    made = proposal(("S3", DEFINITION), ("S2", RATE))
    answer, renumbered = renumber(check_proposal(made, sources, admissible=everything), sources)
    assert answer.text == f"{DEFINITION} [S1]\n\n{RATE} [S2]"
    assert [(quote.tag, quote.chunk_id) for quote in answer.quotes] == [("S1", 3), ("S2", 2)]
    assert {one.tag: one.chunk_id for one in renumbered} == {"S1": 3, "S2": 2, "S3": 1}


def test_numbering_leaves_a_refusal_as_it_is() -> None:
    answer = refuse(refusals.NO_EVIDENCE)
    assert renumber(answer, [S1, S2]) == (answer, (S1, S2))
