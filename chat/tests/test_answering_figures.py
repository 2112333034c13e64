"""Numbers and units of a claim against those of its sources."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.answering.figures import figures, unsupported


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("Le taux est de 12,5 %.", "Taux : 12.5 pour cent"),
        ("Le prix est de 1 200 000 $.", "prix 1\u202f200\u202f000 dollars"),
        ("The price is $1,200,000.", "prix de 1 200 000 $"),
        ("Le prêt dure 25 ans.", "a 25-year loan over 25 years"),
        ("On a $k = 12{,}5\\,\\%$ ici.", "k = 12,5 %"),
        ("Le loyer 2024 vaut 120 000 $.", "Année | Loyer ($)\n2024 | 120 000"),
        ("La cellule vaut 345.", "12 345"),
        ("1. Le taux est fixe.", "Le taux est fixe."),
        ("IMM1003 est un cours.", "Le cours de finance"),
        ("Il vaut 14,50.", "14,5"),
    ],
)
def test_the_same_figure_written_otherwise_is_held(claim: str, source: str) -> None:
    assert unsupported(claim, [source]) == []


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("Le taux est de 12,5 %.", "Le taux est de 12,6 %."),
        ("Le taux est de 12 %.", "Le prêt dure 12 ans."),
        ("Le prix est de 12 €.", "Le prix est de 12 $."),
        ("Le prêt dure 25 ans.", "Le prêt dure 25 mois."),
        ("Il y a 3 méthodes.", "Il y a des méthodes."),
        ("Le prix est de 1 200 000 $.", "Le prix est de 200 000 $."),
        ("La cellule vaut 45.", "12 345"),
        ("Il vaut 1,5 million.", "Il vaut 15 million."),
    ],
)
def test_another_value_or_another_unit_is_not(claim: str, source: str) -> None:
    assert unsupported(claim, [source])


def test_a_number_with_two_readings_keeps_both() -> None:
    assert figures("1,234")[0].readings == {Decimal(1234), Decimal("1.234")}
    assert figures("1,234.5")[0].readings == {Decimal("1234.5")}


@given(st.text(max_size=120))
def test_any_text_holds_its_own_figures(text: str) -> None:
    assert unsupported(text, [text]) == []
