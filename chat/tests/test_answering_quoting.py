"""Finding a proposed quote in a chunk, exactly, and growing it so that it does not mislead."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.answering.quoting import Fault, fold, holds, honest, locate

TEXT = (
    "L\u2019investisseur exige un taux de 8\u00a0% par an. "
    "«\u00a0La prime de risque\u00a0» est com\u00adprise. "
    "Les frais sont à sa charge."
)


def found(quote: str, text: str = TEXT) -> str:
    span = locate(quote, text)
    assert not isinstance(span, Fault), span
    return text[slice(*span)]


def grown(quote: str, text: str) -> str:
    span = locate(quote, text)
    assert not isinstance(span, Fault), span
    return text[slice(*honest(text, *span))]


@pytest.mark.parametrize(
    "quote",
    [
        "L\u2019investisseur exige un taux de 8\u00a0% par an.",
        "L'investisseur exige un taux de 8 % par an.",
        "  L'investisseur exige un  taux\nde 8\u202f% par an.  ",
        "«\u00a0L'investisseur exige un taux de 8 % par an.\u00a0»",
        '"L\'investisseur exige un\u200b taux de 8 % par an."',
    ],
)
def test_one_normalisation_leads_back_to_the_exact_text(quote: str) -> None:
    assert found(quote) == "L\u2019investisseur exige un taux de 8\u00a0% par an."


def test_guillemets_and_soft_hyphens_are_found_under_plain_forms() -> None:
    assert found('"La prime de risque" est comprise.') == (
        "«\u00a0La prime de risque\u00a0» est com\u00adprise."
    )


def test_decomposed_accents_equal_composed_ones_both_ways() -> None:
    text = "Les bénéfices réalisés sont imposés à l'été."
    assert found(unicodedata.normalize("NFD", text), text) == text
    decomposed = unicodedata.normalize("NFD", text)
    assert found(text, decomposed) == decomposed


@pytest.mark.parametrize(
    "quote",
    [
        "L'investisseur exige un taux de 9 % par an.",
        "L'investisseur n'exige un taux de 8 % par an.",
        "l'investisseur exige un taux de 8 % par an.",
        "L'investisseur exige un taux de 8% par an.",
        "L'investisseur exige un taux de 8 % par an !",
        "Les frais sont a sa charge toujours",
    ],
)
def test_an_altered_quote_is_not_found(quote: str) -> None:
    assert locate(quote, TEXT) is Fault.ABSENT


def test_nineteen_characters_are_too_few_and_twenty_are_enough() -> None:
    assert len("Les frais sont à sa") == 19
    assert locate("Les frais sont à sa", TEXT) is Fault.SHORT
    assert locate("  Les frais sont à sa \u00ad\u200b ", TEXT) is Fault.SHORT
    assert found("Les frais sont à sa charge") == "Les frais sont à sa charge"
    assert locate("Les frais sont à sa " + "\u00ad" * 10, TEXT) is Fault.SHORT
    assert locate("", TEXT) is Fault.SHORT


def test_an_elision_is_filled_when_all_its_parts_are_there_in_order() -> None:
    expected = TEXT.removesuffix(" Les frais sont à sa charge.")
    for mark in ("[…]", "…", "...", "[...]", "(…)"):
        assert found(f"L'investisseur exige un taux {mark} est comprise.") == expected
    assert locate("est comprise […] L'investisseur exige un taux", TEXT) is Fault.ABSENT
    assert locate("L'investisseur exige un taux […] est exclue.", TEXT) is Fault.ABSENT


def test_an_elision_over_a_long_stretch_is_two_quotes_and_not_one() -> None:
    text = "Le locataire paie le loyer. " + "Rien ici. " * 60 + "Le bail prend fin en juin."
    assert locate("Le locataire paie le loyer. […] Le bail prend fin", text) is Fault.ABSENT


def test_parts_of_an_elision_must_weigh_a_whole_quote() -> None:
    assert locate("L'inv […] char", TEXT) is Fault.SHORT
    assert locate("L'i … e … x … a … % … s … e.", TEXT) is Fault.SHORT


@pytest.mark.parametrize(
    "text",
    [
        "Les intérêts sont déductibles, sauf pour la résidence principale.",
        "Les intérêts sont déductibles à condition que l'immeuble soit loué.",
        "Les intérêts sont déductibles. Cette règle vaut sauf pour les terrains.",
        "Les intérêts sont déductibles. Toutefois, les terrains en sont exclus.",
        "Les intérêts sont déductibles, mais pas pour la résidence principale.",
        "Les intérêts sont déductibles.\n- À moins que l'immeuble soit vacant.",
        "Les intérêts sont déductibles si l'immeuble est loué toute l'année.",
    ],
)
def test_a_quote_that_stops_before_an_exception_takes_it_along(text: str) -> None:
    assert grown("Les intérêts sont déductibles", text) == text


@pytest.mark.parametrize(
    "text",
    [
        "Interest payments are deductible unless the property is vacant.",
        "Interest payments are deductible. This does not apply to land.",
        "Interest payments are deductible. However, land is excluded.",
        "Interest payments are deductible, except for a main residence.",
        "Interest payments are deductible provided that the unit is let.",
    ],
)
def test_exceptions_are_known_in_english(text: str) -> None:
    assert grown("Interest payments are deductible", text) == text


def test_an_exception_under_a_label_of_its_own_belongs_to_another_statement() -> None:
    text = "Définition : la VAN est la somme des flux actualisés.\n"
    text += "Exemple : tous les projets, sauf un."
    assert grown("la VAN est la somme des flux actualisés.", text) == text.split("\n")[0][13:]
    for line in ("Exception : les terrains.", "Important : sauf pour les terrains."):
        text = f"Définition : la VAN est la somme des flux actualisés.\n{line}"
        assert grown("la VAN est la somme des flux actualisés.", text) == text[13:]


def test_a_quote_followed_by_no_exception_stays_as_it_is() -> None:
    text = "Les intérêts sont déductibles chaque année. Un relevé suit. Sauf erreur, il est bon."
    assert grown("Les intérêts sont déductibles", text) == "Les intérêts sont déductibles"


def test_a_quote_that_drops_the_negation_before_it_takes_it_along() -> None:
    text = "Il est faux que les intérêts sont toujours déductibles."
    assert grown("les intérêts sont toujours déductibles.", text) == text
    text = "Un terrain n'est pas un bien amortissable en droit fiscal."
    assert grown("un bien amortissable en droit fiscal.", text) == text
    text = "Un terrain vacant du Québec n'est pas amortissable."
    assert grown("Un terrain vacant du Québec n'est", text) == text


def test_a_quote_never_cuts_a_word_a_number_or_a_formula() -> None:
    text = "Le prix de vente atteint 1\u00a0100\u00a0000 $ en tout. On a $V = \\frac{R}{k}$ ici."
    assert grown("100\u00a0000 $ en tout. On a $V", text) == (
        "1\u00a0100\u00a0000 $ en tout. On a $V = \\frac{R}{k}$"
    )
    assert (
        grown("rix de vente atteint 1\u00a0100", text)
        == "prix de vente atteint 1\u00a0100\u00a0000 $"
    )
    assert (
        grown("Le taux s'élève à un", "Le taux s'élève à un million. Il baisse.")
        == "Le taux s'élève à un"
    )


def test_a_quotation_in_prose_may_be_short_but_its_parts_stand_in_order() -> None:
    text = "La moyenne de la classe est 14,5 cette session."
    assert holds("est 14,5", text)
    assert holds("La moyenne … 14,5", text)
    assert not holds("14,5 … La moyenne", text)
    assert not holds("La moyenne … 15,5", text)


@given(st.text(max_size=60), st.text(max_size=60))
@settings(max_examples=300, deadline=None)
def test_whatever_is_found_is_an_exact_substring_that_folds_to_the_quote(a: str, b: str) -> None:
    text = f"{a} Les flux monétaires\u00a0futurs sont actualisés {b}"
    span = locate("Les flux monétaires futurs sont actualisés", text)
    assert not isinstance(span, Fault)
    start, end = span
    assert fold(text[start:end]).text == "Les flux monétaires futurs sont actualisés"
    low, high = honest(text, start, end)
    assert 0 <= low <= start < end <= high <= len(text)


@given(st.text(max_size=200))
@settings(max_examples=300, deadline=None)
def test_folding_keeps_offsets_in_order(text: str) -> None:
    folded = fold(text)
    assert len(folded.text) == len(folded.starts) == len(folded.ends)
    assert all(s < e for s, e in zip(folded.starts, folded.ends, strict=True))
    assert list(folded.starts) == sorted(folded.starts)
