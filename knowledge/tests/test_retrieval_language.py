"""Four spellings of a question are one; two languages meet in one index."""

from __future__ import annotations

import threading
import unicodedata

import pytest

from knowledge.retrieval.language import (
    MAX_QUERY_TERMS,
    detect_language,
    fold,
    index_terms,
    normalise,
    query_terms,
    terms,
)


def test_normalising_removes_what_models_stumble_over() -> None:
    assert (
        normalise("re\u0301sume\u0301\x00 du\u00a0cours\r\n\u200bfin\ud800")
        == "résumé du cours fin"
    )
    assert normalise("") == ""
    assert normalise("\x00\u200b ") == ""


@pytest.mark.parametrize(
    "question",
    [
        "Comment calculer l'élasticité des intérêts composés ?",
        "comment calculer l’elasticite des interets composes",
        "COMMENT CALCULER L'ÉLASTICITÉ DES INTÉRÊTS COMPOSÉS ?",
        unicodedata.normalize("NFD", "Comment calculer l'élasticité des intérêts composés ?"),
    ],
)
def test_accents_case_and_apostrophes_do_not_matter(question: str) -> None:
    assert terms(question, "fr") == terms("calculer élasticité intérêts composés", "fr")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("élasticités", "elasticite"),
        ("calculées", "calculer"),
        ("hypothécaires", "hypothecaire"),
        ("marché", "marches"),
        ("rentabilité", "rentabilite"),
        ("œuvre", "oeuvre"),
        ("loyers", "loyer"),
        ("crédits", "crédit"),
        ("durées", "durée"),
        ("lois", "loi"),
        ("ﬁnance", "finance"),
    ],
)
def test_forms_of_a_french_word_share_their_stem(one: str, other: str) -> None:
    assert terms(one, "fr") == terms(other, "fr")


def test_elisions_are_split_and_aujourdhui_is_kept() -> None:
    assert terms("l'actif d'aujourd'hui qu'on jusqu'alors", "fr") == ("actif", "aujourdhui")
    assert index_terms("c'est l’usage d'un prêt", "fr") == "usag pret"


def test_numbers_and_codes_stay_whole() -> None:
    assert index_terms("GX-999 coûte 425\u00a0000 $ à 5,25 %", "fr") == (
        "gx999 gx 999 cout 425000 5.25"
    )
    assert terms("le GX-999", "fr") == terms("le gx999", "fr") == ("gx999",)
    assert index_terms("1,250,000 units of v_0", "en") == "1250000 unit v_0"
    assert "camelcas" in index_terms("CamelCase", "en")


def test_a_question_of_stop_words_alone_still_has_terms() -> None:
    assert terms("où est-ce ?", "fr") != ()
    assert terms("?!…", "fr") == ()


def test_a_question_keeps_at_most_64_terms_and_documents_keep_all() -> None:
    words = " ".join(f"mot{i}" for i in range(50_000))
    assert len(query_terms(words, "fr")) == MAX_QUERY_TERMS
    assert len(index_terms(words, "fr").split()) == 50_000


def test_each_term_carries_the_stem_of_the_other_language() -> None:
    assert query_terms("capitalization rates", "en") == (
        ("capit", "capitaliz"),
        ("rate", "rat"),
    )


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Qu'est-ce que la valeur actuelle nette ?", "fr"),
        ("comment marche l'efet de levier", "fr"),
        ("What is the net present value?", "en"),
        ("how do i compute the cap rate", "en"),
        ("What's a lease?", "en"),
    ],
)
def test_the_language_of_a_question_is_seen(text: str, language: str) -> None:
    assert detect_language(text, "fr") == language
    assert detect_language(text, "en") == language


@pytest.mark.parametrize("text", ["", "GX-999", "NPV", "slide 12", "日本語"])
def test_a_text_that_does_not_tell_takes_the_default(text: str) -> None:
    assert detect_language(text, "en") == "en"
    assert detect_language(text, "fr") == "fr"


def test_folding_is_idempotent() -> None:
    text = "L’Œuvre d’Été — ÇA‐LÀ"
    assert fold(fold(text)) == fold(text) == "l'oeuvre d'ete — ca-la"


def test_stems_are_the_same_from_many_threads() -> None:
    text = "les intérêts hypothécaires calculés semestriellement " * 50
    expected = index_terms(text, "fr")
    found: list[bool] = []

    def run() -> None:
        found.extend(index_terms(text, "fr") == expected for _ in range(20))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 80
    assert all(found)
