"""Cutting a chunk into quotable units."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.answering.sentences import LEAD_IN_CHARS, MIN_QUOTE, math_spans, split_sentences, units


def cut(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


PIECES = [
    "La VAN est positive", "M. Roy", "p. ex.", "12,5 %", "$x = 1. Y$", "$$a\n= b$$", "art. 5",
    "etc.", "\n", "\n\n", "\r\n",
    "\u2028", " ", "\u00a0", ". ", "? ", "! ", " : ", "…", "- ", "1. ", "| ",
    "\t", "$", "\\$", "\\", "«\u00a0", "\u00a0»", "é", "e\u0301", "\u00ad", "i.e.", "Non.", ";",
    "(", "]",
]  # fmt: skip
TEXTS = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=25).map("".join), st.text(max_size=120)
)


@given(TEXTS)
@settings(max_examples=400, deadline=None)
def test_units_are_exact_ordered_substrings_that_cover_the_text(text: str) -> None:
    found = units(text)
    at = 0
    for unit in found:
        assert text[unit.start : unit.end] == unit.text
        assert unit.text == unit.text.strip()
        assert unit.text
        assert not text[at : unit.start].strip()
        at = unit.end
    assert not text[at:].strip()


@given(TEXTS)
@settings(max_examples=400, deadline=None)
def test_units_are_long_enough_to_be_quoted(text: str) -> None:
    found = units(text)
    assert len(found) <= 1 or all(len(unit.text) >= MIN_QUOTE for unit in found)


@given(TEXTS)
@settings(max_examples=400, deadline=None)
def test_no_cut_falls_inside_mathematics(text: str) -> None:
    spans = math_spans(text)
    for start, end in split_sentences(text):
        assert not any(low < start < high or low < end < high for low, high in spans)


@pytest.mark.parametrize(
    "sentence",
    [
        "Les frais, p. ex. les honoraires, sont inclus dans le prix total.",
        "M. Tremblay possède l'immeuble de la rue Saint-Denis.",
        "Selon l'art. 12 de la loi, le bail est reconduit.",
        "Le taux est de 12,5 % et non de 12.5 points.",
        "Les baux, hypothèques, etc. sont inscrits au registre.",
        "The rate, i.e. The nominal one, applies; e.g. Ontario.",
        "Voir la fig. 3 et l'éq. 4.2 du chap. 5 pour la preuve.",
        "Le terme c.-à-d. La durée du prêt compte ici.",
        "Prof. J. K. Dupont enseigne la finance immobilière.",
        "Il vaut env. 3.5 M$ selon Roy et al. Montréal domine.",
        "Soit $x = 1. Alors$ la suite converge vers zéro.",
    ],
)
def test_a_sentence_with_abbreviations_decimals_or_mathematics_stays_whole(sentence: str) -> None:
    assert cut(sentence) == [sentence]


def test_sentences_of_a_paragraph_are_cut_in_french_and_english() -> None:
    assert cut("La VAN est positive. Le TRI suit ! Est-ce vrai ? Oui.") == [
        "La VAN est positive.", "Le TRI suit !", "Est-ce vrai ?", "Oui.",
    ]  # fmt: skip
    assert cut("Rents rise. “Prices follow.” Then they fall, etc. Markets clear.") == [
        "Rents rise.", "“Prices follow.”", "Then they fall, etc.", "Markets clear.",
    ]  # fmt: skip


def test_lines_and_list_items_are_boundaries() -> None:
    text = "- le loyer brut potentiel\n- le taux d'inoccupation\n1. Premier pas\n2. Second pas"
    assert cut(text) == text.split("\n")


def test_prose_wrapped_at_a_margin_is_not_cut_at_the_line_break() -> None:
    text = (
        "Le propriétaire qui vend son immeuble avant la fin du terme du prêt\n"
        "doit payer une pénalité. Elle est calculée par le prêteur."
    )
    assert len(cut(text)) == 2
    assert "prêt\ndoit payer" in cut(text)[0]


def test_display_mathematics_over_lines_is_one_piece_joined_to_its_lead_in() -> None:
    text = "La valeur est donnée par :\n$$V = \\frac{R}{k}.\n\nW = 2$$\nOù $k$ est le taux choisi."
    assert [unit.text for unit in units(text)] == [
        "La valeur est donnée par :\n$$V = \\frac{R}{k}.\n\nW = 2$$",
        "Où $k$ est le taux choisi.",
    ]


def test_a_lead_in_takes_the_list_it_announces_up_to_a_limit() -> None:
    short = (
        "Les trois méthodes :\n- la comparaison\n- le revenu\n- le coût\nElles convergent rarement."
    )
    assert [unit.text for unit in units(short)] == [
        short.rsplit("\n", 1)[0],
        "Elles convergent rarement.",
    ]
    items = [f"- élément numéro {number} de la longue liste" for number in range(40)]
    long = "Les éléments :\n" + "\n".join(items)
    found = units(long)
    assert len(found[0].text) <= LEAD_IN_CHARS
    assert found[1].text.startswith("- élément")


def test_a_table_row_is_a_unit_and_the_header_stands_with_the_first() -> None:
    text = (
        "Année | Loyer brut | Dépenses\n--- | --- | ---\n2024 | 120 000 $ | 45 000 $\n"
        "2025 | 124 000 $ | 46 500 $"
    )
    assert [unit.text for unit in units(text)] == [
        text.rsplit("\n", 1)[0], "2025 | 124 000 $ | 46 500 $",
    ]  # fmt: skip


def test_a_bar_inside_mathematics_is_no_table() -> None:
    text = "On note $P(A|B)$ la probabilité. Elle vaut un demi dans cet exemple."
    assert len(cut(text)) == 2


def test_short_lines_join_their_neighbour() -> None:
    assert [unit.text for unit in units("Exemple\nUn immeuble de six logements à Hull.")] == [
        "Exemple\nUn immeuble de six logements à Hull."
    ]
    assert [unit.text for unit in units("Court.")] == ["Court."]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Il coûte 100 $ ou 200 $ par mois.", []),
        ("It costs $100 and $200 here.", []),
        ("Prix : 1 000 $, taux $k$.", ["$k$"]),
        (r"Un prix de 5 \$ et $x_1$", ["$x_1$"]),
        ("$$a$$ et $b$", ["$$a$$", "$b$"]),
        ("$ x^2 $ fin", ["$ x^2 $"]),
    ],
)
def test_money_is_not_mathematics(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in math_spans(text)] == expected
