"""What form the answer to a question has, and which sentences cannot answer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from chat.answering import asked, refusals
from chat.answering.answer_gate import check_proposal
from chat.answering.extractive import TABLE_CHARS, propose, score
from chat.answering.sentences import table_spans, units
from chat.tests.answering_cases import everything, evidence, request
from knowledge.retrieval.language import fold

if TYPE_CHECKING:
    from chat.answering.types import Proposal


def ask(question: str, *sources) -> Proposal:
    return propose(replace(request(question, *sources), min_confidence=0.0))


@pytest.mark.parametrize(
    "text",
    [
        "3. Calculez le versement mensuel du prêt.",
        "Expliquez votre résultat au comité.",
        "Quelle pénalité paiera-t-il ?",
        "Compute the net present value of the project.",
        "« Faut-il accepter le projet ? »",
    ],
)
def test_a_question_or_a_task_is_known(text: str) -> None:
    assert asked.asks(text)


@pytest.mark.parametrize(
    "text", ["Chez le prêteur, le taux est fixe.", "Le calcul donne 12 %.", "Assez tôt, on paie."]
)
def test_a_statement_is_no_task(text: str) -> None:
    assert not asked.asks(text)


@pytest.mark.parametrize("title", ["Objectifs du jour", "Plan", "Agenda", "Learning objectives"])
def test_a_slide_of_objectives_is_known(title: str) -> None:
    assert asked.is_outline(title)


@pytest.mark.parametrize(
    ("question", "quote", "kind", "expected"),
    [
        ("Combien coûte l'inscription ?", "L'Ordre inscrit ses membres.", "slide", False),
        ("Combien coûte l'inscription ?", "L'inscription coûte 75 $.", "slide", True),
        ("Combien vaut la question ?", "Elle vaut quarante points.", "section", True),
        ("Combien y a-t-il d'ateliers ?", "Le cours compte deux ateliers.", "slide", True),
        (
            "Que donne la solution de l'atelier 2 ?",
            "Le Sureau a huit logements.",
            "exercise",
            False,
        ),
        ("Que donne la solution de l'atelier 2 ?", "Le revenu est de 12 $.", "solution", True),
        ("Quelle est la solution de l'équation ?", "Elle vaut $x = 2$.", "slide", True),
    ],
)
def test_what_is_quoted_must_be_able_to_answer(
    question: str, quote: str, kind: str, expected: bool
) -> None:
    assert asked.must_hold(fold(question), [quote], [kind]) is expected


def test_a_name_that_no_quoted_passage_holds_leaves_the_closest_passages() -> None:
    source = evidence(1, "Le taux d'inoccupation des logements est de 4 % dans cet immeuble.")
    assert ask("Quel est le taux d'inoccupation des logements ?", source).can_answer
    made = ask("Quel est le taux d'inoccupation des logements à Gatineau ?", source)
    assert (made.can_answer, made.reason) == (False, refusals.CLOSEST)
    named = evidence(1, "À Gatineau, le taux d'inoccupation des logements est de 4 %.")
    assert ask("Quel est le taux d'inoccupation des logements à Gatineau ?", named).can_answer


def test_a_name_may_be_said_otherwise_in_another_language() -> None:
    source = evidence(1, "Le taux de vacance des logements canadiens est de 4 %.", language="fr")
    question = replace(request("What is the vacancy rate in Canada?", source, language="en"))
    assert question.analysis.language == "en"
    assert propose(replace(question, min_confidence=0.0)).can_answer


TABLE = (
    "Facteurs d'actualisation\n"
    "Taux annuel | 5 ans | 10 ans | 15 ans\n3 % | 0,8626 | 0,7441 | 0,6419\n"
    "5 % | 0,7835 | 0,6139 | 0,4810\n7 % | 0,7130 | 0,5083 | 0,3624\n"
    "À 9 %, un dollar vaut moins."
)


def test_a_row_is_quoted_with_its_table() -> None:
    source = evidence(1, TABLE, title="Facteurs")
    (span,) = table_spans(TABLE)
    made = ask("Quel est le facteur à 7 % sur 15 ans ?", source)
    assert TABLE[slice(*span)] in [quote.quote for quote in made.quotes]
    answer = check_proposal(made, [source], admissible=everything)
    assert answer.status == "answered"


def test_a_row_of_a_long_table_is_quoted_with_its_header() -> None:
    header = "Adresse fictive | Municipalité fictive | Prix de vente ($)"
    rows = [f"{n}, rue des Ormes | Val-des-Pins | {n}00 000" for n in range(1, 40)]
    source = evidence(1, "\n".join([header, *rows]), title="Ventes")
    assert len(source.text) > TABLE_CHARS
    made = ask("Quel est le prix de vente du 17, rue des Ormes ?", source)
    quotes = [quote.quote for quote in made.quotes]
    assert rows[16] in quotes
    assert check_proposal(made, [source], admissible=everything).status == "answered"


def test_both_sides_of_a_comparison_are_quoted() -> None:
    source = evidence(
        1,
        "Le risque systématique touche tout le marché : taux d'intérêt, récession.\n"
        "Le propriétaire choisit une franchise avec son assureur.\n"
        "Le risque spécifique touche un seul immeuble : incendie, vice caché.",
        title="Risque",
    )
    made = ask("Quelle différence entre le risque systématique et le risque spécifique ?", source)
    shown = " ".join(quote.quote for quote in made.quotes)
    assert "tout le marché" in shown
    assert "un seul immeuble" in shown


def test_the_statement_of_an_exercise_does_not_answer_a_general_question() -> None:
    statement = evidence(
        1, "Le prêteur exige un RCD minimal de 1,25 pour cet immeuble.", kind="exercise"
    )
    slide = evidence(2, "Hôtel : le RCD minimal demandé est de 1,45 au moins.", score=0.8)
    best = score(request("Quel RCD minimal est demandé ?", statement, slide))[0]
    assert best.evidence is slide
    best = score(request("Quel RCD minimal exige le prêteur de l'atelier ?", statement, slide))[0]
    assert best.evidence is statement


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Formule : méthode âge-vie —\n$$D = C \\times \\frac{e}{v}$$\noù $e$ est l'âge.",
            1,
        ),
        (
            "2. Le versement mensuel du prêt est\n$$V = 2\\,069{,}16.$$\nElle paie peu.",
            1,
        ),
        ("Exemple : prêt de 320 000 $ sur 25 ans\nLe versement est de 1 934,67 $ par mois.", 1),
        ("Important : le terme est de cinq ans.\nIl se renouvelle à l'échéance du prêt.", 2),
    ],
)
def test_what_announces_a_formula_or_a_box_stands_with_it(text: str, expected: int) -> None:
    assert len(units(text)) == expected
