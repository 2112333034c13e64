"""The default answerer: which sentences it quotes, and when it says that it cannot."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from chat.answering import refusals
from chat.answering.answer_gate import check_proposal
from chat.answering.extractive import MAX_QUOTES, PLACE_CHARS, propose, score
from chat.answering.profiles import EXTRACTIVE, PROFILES
from chat.tests.answering_cases import IRR, NPV, embed, everything, evidence, request

if TYPE_CHECKING:
    from chat.answering.types import Evidence, Proposal

DEFINITION, RULE, FORMULA = NPV.split("\n")
LOAN = (
    "Le prêt hypothécaire est amorti sur 25 ans.\n"
    "L'échéance du premier terme est le 1er juin 2027.\n"
    "La Société d'habitation du Québec garantit le solde parce que le ratio dépasse 80 %.\n"
    "Qui garantit le prêt hypothécaire et pourquoi ?"
)
SOURCES = (evidence(1, NPV), evidence(2, IRR), evidence(3, LOAN, title="Prêt"))


def ask(question: str, *sources: Evidence, **fields: Any) -> Proposal:
    return propose(replace(request(question, *(sources or SOURCES)), min_confidence=0.0, **fields))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Qu'est-ce que la valeur actuelle nette ?", DEFINITION),
        ("Quelle est la formule de la VAN ?", FORMULA),
        ("Quand un projet est-il rentable selon sa VAN ?", RULE),
        ("Quel est le TRI du projet Lachine ?", "Le TRI du projet Lachine est de 12,5 %."),
        ("Sur combien d'années le prêt est-il amorti ?", LOAN.split("\n")[0]),
        ("À quelle date est l'échéance du premier terme ?", LOAN.split("\n")[1]),
        ("Pourquoi le solde est-il garanti ?", LOAN.split("\n")[2]),
    ],
)
def test_the_best_sentence_answers_the_question(question: str, expected: str) -> None:
    best = score(request(question, *SOURCES))[0]
    assert best.unit.text == expected


def test_what_it_proposes_passes_the_gate_unchanged() -> None:
    for question in ("Qu'est-ce que la VAN ?", "Quel est le TRI de Lachine ?", "Formule de la VAN"):
        made = ask(question)
        assert made.can_answer
        assert 1 <= len(made.quotes) <= MAX_QUOTES
        answer = check_proposal(made, SOURCES, admissible=everything)
        assert answer.status == "answered"
        assert answer.invalid_citations == 0
        texts = {one.chunk_id: one.text for one in SOURCES}
        assert all(
            texts[quote.chunk_id][quote.start : quote.end] == quote.text for quote in answer.quotes
        )


def test_a_glossary_entry_wins_a_definition_question() -> None:
    entry = evidence(
        4,
        "Taux de capitalisation (cap rate) : rapport entre le revenu net et la valeur.",
        kind="glossary",
        term="Taux de capitalisation",
        score=0.6,
    )
    passing = evidence(
        1,
        "Le taux de capitalisation est souvent cité. Ce taux est vu plus loin.",
    )
    best = score(request("Définir le taux de capitalisation", passing, entry, *SOURCES[1:]))[0]
    assert best.evidence is entry


def test_a_title_counts_for_the_lines_under_it() -> None:
    titled = evidence(1, "Elle mesure la création de richesse en dollars.", title="Valeur nette")
    other = evidence(2, "Elle mesure la création de richesse en points.", title="Autre sujet")
    ranked = score(request("Que mesure la valeur nette ?", other, titled))
    coverage = {one.evidence.chunk_id: one.coverage for one in ranked}
    assert coverage[1] > coverage[2]


def test_a_question_in_the_evidence_is_not_an_answer() -> None:
    best = score(request("Qui garantit le prêt hypothécaire et pourquoi ?", SOURCES[2]))[0]
    assert not best.unit.text.endswith("?")


def test_below_the_second_threshold_nothing_is_claimed() -> None:
    made = propose(replace(request("Quelle est la VAN ?", *SOURCES), min_confidence=1.5))
    assert (made.can_answer, made.reason, made.quotes) == (False, refusals.CLOSEST, ())
    answer = check_proposal(made, SOURCES, admissible=everything)
    assert (answer.status, answer.text) == ("closest", "")
    assert [one.chunk_id for one in answer.closest] == [1, 2, 3]


def test_without_a_threshold_of_the_index_its_own_one_holds() -> None:
    nothing_near = request("recette crêpes bretonnes beurre", *SOURCES)
    assert nothing_near.min_confidence is None
    assert propose(nothing_near).reason == refusals.CLOSEST


def test_the_same_words_on_two_slides_are_quoted_once() -> None:
    twins = (evidence(1, DEFINITION), evidence(2, DEFINITION))
    assert len(ask("Qu'est-ce que la valeur actuelle nette ?", *twins).quotes) == 1


def test_quotes_of_one_passage_keep_the_order_of_its_text() -> None:
    made = ask("Qu'est-ce que la VAN et quelle est sa formule ?", evidence(1, NPV))
    places = [NPV.index(quote.quote) for quote in made.quotes]
    assert places == sorted(places)


def test_a_question_that_only_points_at_a_slide_gets_the_slide() -> None:
    pinned = evidence(1, NPV, pinned=True, slide=4, session=2)
    made = ask("Résume la diapo 4 de la séance 2", pinned, SOURCES[1])
    assert [(quote.source_id, quote.quote) for quote in made.quotes] == [("S1", NPV)]
    answer = check_proposal(made, [pinned, SOURCES[1]], admissible=everything)
    assert answer.quotes[0].text == NPV


def test_a_long_slide_gets_its_main_lines() -> None:
    filler = "\n".join(
        f"La ligne {n} raconte le contexte général du marché local." for n in range(40)
    )
    pinned = evidence(1, f"{filler}\n{NPV}", pinned=True, slide=4)
    made = ask("Que dit la diapo 4 ?", pinned)
    shown = [quote.quote for quote in made.quotes]
    assert DEFINITION in shown
    assert len(shown) <= MAX_QUOTES
    assert sum(map(len, shown)) <= PLACE_CHARS
    assert check_proposal(made, [pinned], admissible=everything).status == "answered"


def test_a_question_about_a_named_slide_is_answered_from_it() -> None:
    pinned = evidence(1, IRR, pinned=True, slide=4)
    best = score(request("Quel est le TRI de Lachine sur la diapo 4 ?", SOURCES[2], pinned))[0]
    assert best.evidence is pinned


def test_evidence_too_short_to_be_quoted_gives_the_closest_state() -> None:
    assert ask("Qu'est-ce que la VAN ?", evidence(1, "VAN = 12")).reason == refusals.CLOSEST
    assert ask("Qu'est-ce que la VAN ?", evidence(1, "")).reason == refusals.CLOSEST
    assert propose(request("Qu'est-ce que la VAN ?")).reason == refusals.NO_EVIDENCE


def test_sentences_are_embedded_in_one_call() -> None:
    calls: list[int] = []

    def counting(texts: list[str]):
        calls.append(len(texts))
        return embed(texts)

    propose(replace(request("Qu'est-ce que la VAN ?", *SOURCES), embed=counting))
    assert len(calls) == 1


def test_the_registered_profile_calls_no_model_and_builds_no_client() -> None:
    before = PROFILES.clients_built
    profile = PROFILES.build(EXTRACTIVE)
    assert not profile.calls_model
    assert profile.propose(replace(request("Qu'est-ce que la VAN ?", *SOURCES), min_confidence=0.0))
    assert PROFILES.clients_built == before
