"""From two lists to one order, number by number."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from knowledge.retrieval.analysis import analyse
from knowledge.retrieval.fusion import RRF, fuse, is_named, neighbours, rank
from knowledge.retrieval.types import Candidate, ChunkFacts, DenseHit, GlossaryEntry, LexicalHit


def facts(chunk: int, document: int = 1, **more: Any) -> ChunkFacts:
    blank = ChunkFacts(
        chunk_id=chunk,
        document_id=document,
        ordinal=chunk,
        kind="slide",
        title="",
        boxes=(),
        term="",
        session=None,
        slide=None,
        slide_end=None,
        page=None,
        text="",
    )
    return replace(blank, **more)


DENSE = [DenseHit(1, 0.90), DenseHit(2, 0.88), DenseHit(3, 0.80)]
LEXICAL = [LexicalHit(2, 8.0, 0.9), LexicalHit(4, 4.0, 0.5)]
NONE = analyse("xyz", default_language="fr")


def by_id(candidates: list[Candidate]) -> dict[int, Candidate]:
    return {c.chunk_id: c for c in candidates}


def test_the_weighted_rule_is_six_tenths_of_cosine_and_four_of_words() -> None:
    found = by_id(fuse(DENSE, LEXICAL, cosines={4: 0.70}))
    assert found[1].fused == pytest.approx(0.6)
    assert found[2].fused == pytest.approx(0.6 * 0.18 / 0.20 + 0.4)
    assert found[3].fused == pytest.approx(0.6 * 0.10 / 0.20)
    assert found[4].fused == pytest.approx(0.4 * 0.5)
    assert [c.chunk_id for c in fuse(DENSE, LEXICAL, cosines={4: 0.70})] == [2, 1, 3, 4]
    assert (found[4].dense_rank, found[4].lexical_rank) == (None, 2)
    assert (found[1].dense_rank, found[1].lexical_rank) == (1, None)


def test_words_speak_less_when_they_cover_little_of_the_question() -> None:
    weak = [LexicalHit(4, 8.0, 0.15)]
    found = by_id(fuse(DENSE, weak, cosines={4: 0.70}))
    assert found[4].fused == pytest.approx(0.4 * 0.15 / 0.6)


def test_rrf_counts_ranks_alone_with_60() -> None:
    found = by_id(fuse(DENSE, LEXICAL, cosines={4: 0.70}, rule=RRF))
    assert found[2].rrf == pytest.approx(1 / 62 + 1 / 61)
    assert found[1].rrf == pytest.approx(1 / 61)
    assert found[2].fused == pytest.approx(found[2].rrf * 61 / 2)
    with pytest.raises(ValueError, match="rule"):
        fuse(DENSE, LEXICAL, rule="sum")


def test_one_list_or_none_is_enough() -> None:
    assert fuse([], []) == []
    assert [c.chunk_id for c in fuse(DENSE, [])] == [1, 2, 3]
    assert [c.chunk_id for c in fuse([], LEXICAL)] == [2, 4]
    assert fuse([DenseHit(1, 0.8)], [])[0].fused == pytest.approx(0.6)


def test_equal_scores_are_ordered_by_chunk_id() -> None:
    hits = [DenseHit(9, 0.8), DenseHit(3, 0.8), DenseHit(5, 0.8)]
    assert [c.chunk_id for c in fuse(hits, [])] == [3, 5, 9]
    known = {i: facts(i) for i in (3, 5, 9)}
    assert [c.chunk_id for c in rank(NONE, hits, [], known)] == [3, 5, 9]


def test_a_chunk_without_facts_is_left_out() -> None:
    assert [c.chunk_id for c in rank(NONE, DENSE, [], {1: facts(1), 3: facts(3)})] == [1, 3]


def test_one_candidate_stays_of_each_slide() -> None:
    known = {
        1: facts(1, 1, slide=5),
        2: facts(2, 1, slide=5),
        3: facts(3, 2, slide=5),
    }
    assert [c.chunk_id for c in rank(NONE, DENSE, [], known)] == [1, 3]
    without = {i: facts(i, 1) for i in (1, 2, 3)}
    assert len(rank(NONE, DENSE, [], without)) == 3


GLOSSARY = [GlossaryEntry("Bail", "lease")]


@pytest.mark.parametrize(
    ("question", "more", "boost"),
    [
        ("Qu'est-ce qu'un bail ?", {"term": "Bail"}, "glossary"),
        ("bail", {"term": "BAIL"}, "glossary"),
        ("What is a lease?", {"term": "Bail"}, "glossary"),
        ("Définis le bail", {"boxes": ("definition",)}, "definition"),
        ("Combien vaut le taux ?", {"kind": "table"}, "table"),
        ("Comment calculer le taux ?", {"boxes": ("formula",)}, "formula"),
        (
            "Quand rendre l'atelier 2 ?",
            {"document_kind": "workshop", "document_number": 2},
            "place",
        ),
    ],
)
def test_what_the_question_asks_for_is_preferred(
    question: str, more: dict[str, Any], boost: str
) -> None:
    asked = analyse(question, default_language="fr", glossary=GLOSSARY)
    known = {1: facts(1), 2: facts(2, **more), 3: facts(3)}
    found = by_id(rank(asked, [DenseHit(i, 0.8) for i in (1, 2, 3)], [], known))
    assert [name for name, _ in found[2].boosts] == [boost]
    assert found[2].score == pytest.approx(found[2].fused + found[2].boosts[0][1])
    assert found[1].boosts == found[3].boosts == ()


def test_a_glossary_entry_is_not_preferred_when_more_is_asked_than_its_meaning() -> None:
    asked = analyse(
        "Comment calculer le loyer d'un bail ?", default_language="fr", glossary=GLOSSARY
    )
    (only,) = rank(asked, [DenseHit(1, 0.8)], [], {1: facts(1, term="Bail")})
    assert only.boosts == ()


@pytest.mark.parametrize(
    ("question", "more", "named"),
    [
        ("diapo 5 de la séance 2", {"slide": 5, "session": 2}, True),
        ("diapo 5 de la séance 2", {"slide": 5, "session": 3}, False),
        ("diapo 6", {"slide": 5, "slide_end": 7}, True),
        ("diapo 6", {}, False),
        ("page 3", {"page": 3}, True),
        ("exercice 2 de l'atelier 1",
         {"exercise": "2", "document_kind": "workshop", "document_number": 1}, True),
        ("exercice 2 de l'atelier 1",
         {"exercise": "12", "document_kind": "workshop", "document_number": 1}, False),
        ("atelier 1", {"document_kind": "slides", "document_number": 1}, False),
        ("qu'est-ce qu'un bail", {"slide": 5}, False),
    ],
)  # fmt: skip
def test_a_chunk_lies_at_every_place_that_is_named(
    question: str, more: dict[str, Any], named: bool
) -> None:
    assert is_named(analyse(question, default_language="fr"), facts(1, **more)) is named


def test_a_named_slide_comes_first_whatever_its_score() -> None:
    asked = analyse("Que dit la diapo 9 ?", default_language="fr")
    known = {i: facts(i, slide=i) for i in (1, 2, 3, 9)}
    found = rank(asked, DENSE, [], known, cosines={9: 0.1}, named=[9])
    assert [c.chunk_id for c in found] == [9, 1, 2, 3]
    assert [c.pinned for c in found] == [True, False, False, False]


def test_only_parts_of_a_continuation_are_neighbours() -> None:
    known = {1: facts(1, next_part=2), 2: facts(2, previous_part=1, next_part=3), 3: facts(3)}
    ranked = rank(NONE, DENSE, [], known)
    assert neighbours(ranked, known) == {1: (2,), 2: (1, 3)}
