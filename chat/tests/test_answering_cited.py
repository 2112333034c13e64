"""Cited prose: one tag grammar, and no sentence shown that its sources do not hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.answering import refusals
from chat.answering.answer_gate import CitedStream, check_cited, check_general
from chat.answering.tags import find_tags
from chat.tests.answering_cases import everything, evidence

if TYPE_CHECKING:
    from chat.answering.types import Answer

AVERAGE = "La moyenne du groupe est 14,5 sur 20. Le premier quartile est 11."
S1 = evidence(1, AVERAGE, title="Statistiques")
S2 = evidence(2, "La médiane du groupe est 15 sur 20 et l'étendue est 9.", title="Statistiques")
S3 = evidence(3, "Le loyer annuel est de 120 000 $ pour l'immeuble de Hull.", title="Loyers")
ALL = [S1, S2, S3]
BAD_OUTPUTS = Path(__file__).parents[3] / "shared" / "security" / "llm_outputs.jsonl"


def check(text: str, *, language: str = "fr") -> Answer:
    return check_cited(text, ALL, admissible=everything, language=language)


@pytest.mark.parametrize(
    ("written", "numbers"),
    [
        ("[S1]", [1]), ("[S1][S2]", [1, 2]), ("[S1, S2]", [1, 2]), ("[S1 ; S2 et S3]", [1, 2, 3]),
        ("[S1-S3]", [1, 2, 3]), ("[S1–3]", [1, 2, 3]), ("[S3-S1]", [1, 2, 3]), ("[S 1]", [1]),
        ("[s1]", [1]), ("［Ｓ１］", [1]), ("【S1】", [1]), ("[Ѕ1]", [1]), ("[ѕ2]", [2]),
        ("〔S2〕", [2]),
        ("[S\u200b1]", [1]), ("[S1, 2]", [1, 2]), ("[S01]", [1]), ("[𝐒1]", [1]),
        ("[S1 to S2]", [1, 2]),
        ("[S1][S1, S1]", [1]), ("[S١]", [1]),
    ],
)  # fmt: skip
def test_one_grammar_reads_every_form_of_a_tag(written: str, numbers: list[int]) -> None:
    found = [number for group in find_tags(f"Texte {written} fin") for number in group.numbers]
    assert list(dict.fromkeys(found)) == numbers


@pytest.mark.parametrize(
    "text", ["(S1)", "S1", "[1]", "[doc-99]", "[SS1]", "[S1a]", "[Séance 1]", "[S]"]
)
def test_other_forms_are_text(text: str) -> None:
    assert find_tags(text) == []


def test_a_supported_sentence_is_shown_with_its_tag_in_canonical_form() -> None:
    answer = check("La moyenne du groupe est 14,5 ［Ｓ１］.")
    assert answer.text == "La moyenne du groupe est 14,5 [S1]."
    assert answer.quotes[0].text in AVERAGE
    assert (answer.status, answer.origin, answer.invalid_citations) == ("answered", "course", 0)


def test_an_unknown_tag_is_removed_and_counted() -> None:
    answer = check("La moyenne du groupe est 14,5 [S1][S9]. Le premier quartile est 11 [S7].")
    assert answer.text == "La moyenne du groupe est 14,5 [S1]."
    assert (answer.invalid_citations, answer.dropped) == (2, 1)


def test_a_sentence_without_a_tag_is_not_shown_as_grounded() -> None:
    answer = check("Bonjour à tous. La moyenne du groupe est 14,5 [S1]. Le reste est évident.")
    assert answer.text == "La moyenne du groupe est 14,5 [S1]."
    assert answer.dropped == 2


def test_a_tag_after_the_full_stop_belongs_to_the_sentence_before() -> None:
    answer = check("La moyenne du groupe est 14,5. [S1] La médiane du groupe est 15. [S2]")
    assert [piece.quotes[0].tag for piece in answer.pieces] == ["S1", "S2"]
    assert answer.text == "La moyenne du groupe est 14,5. [S1] La médiane du groupe est 15. [S2]"


def test_a_tag_at_the_head_of_a_line_belongs_to_that_line() -> None:
    answer = check("[S1] La moyenne du groupe est 14,5.\n[S2] La médiane du groupe est 15.")
    assert [piece.quotes[0].tag for piece in answer.pieces] == ["S1", "S2"]


@pytest.mark.parametrize(
    "sentence",
    [
        "La moyenne du groupe est 15,5 [S1].",
        "La moyenne du groupe est 14,5 % [S1].",
        "La moyenne du groupe est 14,5 [S2].",
        "Le loyer annuel de l'immeuble de Hull est de 120 000 € [S3].",
        "Le loyer annuel de l'immeuble de Hull est de 12 000 $ [S3].",
        "« La moyenne est excellente et de 14,5 » [S1]",
        "« 14,5 sur 20 […] La moyenne du groupe » [S1]",
        "Les licornes galopent dans la prairie ensoleillée du royaume [S1].",
    ],
)
def test_a_sentence_that_its_source_does_not_hold_is_not_shown(sentence: str) -> None:
    answer = check(sentence)
    assert (answer.status, answer.text, answer.quotes) == ("refused", "", ())
    assert answer.reason == refusals.INSUFFICIENT
    assert answer.needs_repair


@pytest.mark.parametrize(
    "sentence",
    [
        "Le loyer annuel de l'immeuble est de 120\u202f000 $ [S3].",
        "Le loyer annuel de l'immeuble est de 120,000 dollars [S3].",
        "La moyenne du groupe est 14.50 sur 20 (séance 4, diapositive 11) [S1].",
        "« La moyenne du groupe est … sur 20 » [S1]",
        "La médiane et la moyenne du groupe sont 15 et 14,5 [S1-S2].",
    ],
)
def test_the_same_value_written_otherwise_is_held(sentence: str) -> None:
    assert check(sentence).status == "answered"


def test_words_of_two_languages_are_not_compared_but_their_numbers_are() -> None:
    assert check("The group average is 14.5 [S1].", language="en").status == "answered"
    assert check("The group average is 15.5 [S1].", language="en").status == "refused"


def test_a_source_list_by_the_model_is_dropped() -> None:
    for tail in (
        "\n\nSources :\n- [S1] IMM1003 — Séance 4\n- [S2] La médiane du groupe est 15",
        "\n\n## Références\n[S1] La moyenne du groupe est 14,5",
        "\n**Sources:** [S1], [S2]",
        "\n[S1] (IMM1003 — Séance 4 — Diapositive 11 — « Statistiques »)",
    ):
        answer = check(f"La moyenne du groupe est 14,5 [S1].{tail}")
        assert answer.text == "La moyenne du groupe est 14,5 [S1]."


def test_a_lead_in_is_shown_with_the_sourced_line_that_follows_it() -> None:
    answer = check(
        "Les résultats du groupe :\n- la moyenne est 14,5 [S1]\n- la médiane est 15 [S2]"
    )
    assert answer.text.startswith("Les résultats du groupe :\n- la moyenne est 14,5 [S1]")
    assert answer.dropped == 0


def test_links_and_images_never_come_through() -> None:
    answer = check(
        "La moyenne [du groupe](http://127.0.0.1:9/?d=CANARY) est 14,5 [S1](javascript:alert(1)). "
        "![x](http://127.0.0.1:9/) <http://127.0.0.1:9/>"
    )
    assert answer.text == "La moyenne du groupe est 14,5 [S1]."


def test_a_withdrawn_source_takes_its_sentences_along() -> None:
    text = "La moyenne du groupe est 14,5 [S1]. La médiane du groupe est 15 [S2]."
    answer = check_cited(text, ALL, admissible=lambda chunk: chunk != 1, language="fr")
    assert answer.text == "La médiane du groupe est 15 [S2]."
    answer = check_cited(text, ALL, admissible=lambda _: False, language="fr")
    assert (answer.status, answer.reason, answer.needs_repair) == (
        "refused", refusals.WITHDRAWN, False,
    )  # fmt: skip


def test_a_model_that_declines_is_not_asked_again() -> None:
    answer = check("INSUFFICIENT_EVIDENCE")
    assert (answer.reason, answer.needs_repair) == (refusals.DECLINED, False)


def test_one_repair_and_no_more() -> None:
    again = check_cited("Rien.", ALL, admissible=everything, language="fr", repairs=1)
    assert (again.status, again.needs_repair, again.repairs) == ("refused", False, 1)


def test_sentences_are_shown_as_soon_as_they_are_proved() -> None:
    stream = CitedStream(ALL, admissible=everything, language="fr")
    shown = [
        [piece.text for piece in stream.feed(delta)]
        for delta in (
            "La moyenne du gr",
            "oupe est 14,5 [S",
            "1]. ",
            "La médiane du groupe ",
            "est 15 [S2].",
        )
    ]
    assert shown == [[], [], [], ["La moyenne du groupe est 14,5 [S1]."], []]
    assert [piece.text for piece in stream.finish()] == [" La médiane du groupe est 15 [S2]."]


def test_permission_lost_in_mid_stream_stops_what_follows() -> None:
    allowed = {1, 2, 3}
    stream = CitedStream(ALL, admissible=allowed.__contains__, language="fr")
    first = list(stream.feed("La moyenne du groupe est 14,5 [S1]. La médiane "))
    allowed.clear()
    rest = [*stream.feed("du groupe est 15 [S2]. Le premier "), *stream.finish()]
    assert len(first) == 1
    assert rest == []


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_the_way_a_text_is_cut_into_deltas_changes_nothing(data: st.DataObject) -> None:
    text = (
        "La moyenne du groupe est 14,5. [S1] Bonjour. La médiane du groupe est 15 [S2][S9].\n\n"
        "Détail :\n- le loyer annuel est de 120 000 $ [S3]\n"
        "- le quartile est $q = 11$ [S1]\n\nSources : [S1]"
    )
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    stream = CitedStream(ALL, admissible=everything, language="fr")
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        list(stream.feed(text[start:end]))
    list(stream.finish())
    whole = check(text)
    answer = stream.answer()
    assert (answer.text, answer.quotes, answer.dropped) == (whole.text, whole.quotes, whole.dropped)
    assert answer.invalid_citations == whole.invalid_citations


def _outputs() -> list[dict[str, str]]:
    if not BAD_OUTPUTS.exists():
        return []
    return [json.loads(line) for line in BAD_OUTPUTS.read_text("utf-8").splitlines()]


@pytest.mark.skipif(
    not BAD_OUTPUTS.exists(), reason="../shared/security/llm_outputs.jsonl is absent"
)
@pytest.mark.parametrize("case", _outputs(), ids=lambda case: case["kind"])
def test_the_worst_that_a_model_may_say(case: dict[str, str]) -> None:
    source = evidence(1, "La moyenne est 14,5 pour le groupe de la séance du matin.", title="")
    other = evidence(
        2, "La médiane est 15 et la moyenne est 14,5 selon le second relevé.", title=""
    )
    answer = check_cited(case["output"], [source, other], admissible=everything, language="fr")
    for quote in answer.quotes:
        home = source if quote.tag == "S1" else other
        assert home.text[quote.start : quote.end] == quote.text
    tags = {number for group in find_tags(answer.text) for number in group.numbers}
    assert tags <= {1, 2}
    assert len(answer.text) <= 20_000
    for forbidden in ("http", "javascript:", "](", "\x1b", "\u202e", "\x07", "CANARY"):
        assert forbidden not in answer.text
    if case["kind"] == "right-tags":
        assert answer.text == "La moyenne est 14,5 [S1][S2]."
    elif case["kind"] == "ellipsis-quote":
        assert answer.text == "« La moyenne est … 14,5 » [S1]"
    else:
        assert answer.text == ""
        assert answer.status == "refused"


def test_a_quotation_given_to_the_wrong_source_is_not_shown() -> None:
    assert check("« La moyenne du groupe est 14,5 » [S2]").status == "refused"
    assert check("« La moyenne du groupe est 14,5 » [S1]").status == "answered"


def test_general_knowledge_cites_nothing() -> None:
    answer = check_general("Paris est en France [S1]. ![x](http://a/)\n\nSources :\n- [S1] page")
    assert answer.text == "Paris est en France."
    assert (answer.origin, answer.quotes, answer.invalid_citations) == ("general-knowledge", (), 2)
    assert check_general("  ").status == "refused"


def test_a_note_is_no_source_list() -> None:
    answer = check("Note : la moyenne du groupe est 14,5 [S1]. La médiane du groupe est 15 [S2].")
    assert len(answer.pieces) == 2


@pytest.mark.parametrize("words", ["mot ", "x. y, "])
def test_a_model_that_never_ends_a_sentence_costs_little_and_shows_nothing(words: str) -> None:
    stream = CitedStream(ALL, admissible=everything, language="fr")
    shown = [piece for _ in range(6_000) for piece in stream.feed(words)]
    shown += stream.finish()
    assert shown == []
    assert stream.answer().status == "refused"


def test_a_source_too_short_to_be_quoted_proves_nothing() -> None:
    source = evidence(1, "VAN = 12 $", title="VAN du projet")
    answer = check_cited("La VAN vaut 12 $ [S1].", [source], admissible=everything, language="fr")
    assert (answer.status, answer.dropped) == ("refused", 1)
