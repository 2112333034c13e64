"""What a person may be shown of a turn, at the moment of showing."""

from datetime import timedelta

import pytest
from django.utils import timezone, translation

from chat.models import Turn
from chat.presenting import panel, piece_html, present, shown_answer
from chat.tests.scenes import FORMULA, RATIO, answered, asked, cite, deck
from chat.views import chips
from courses.models import Institution
from knowledge.models import Chunk, Space


@pytest.fixture(autouse=True)
def _in_english():
    with translation.override("en"):
        yield


def shown(turn, user):
    (one,) = present([Turn.objects.get(pk=turn.pk)], user)
    return one


def test_tags_lead_to_their_source(alice, course):
    turn = answered(alice, course, deck(course))
    first, second = shown(turn, alice).pieces
    assert f'href="/turns/{turn.pk}/sources/S1/"' in first.html
    assert ">[S1]</a>" in first.html
    assert second.apart
    assert [source.tag for source in shown(turn, alice).sources] == ["S1", "S2"]
    assert shown(turn, alice).sources[0].place == "IMM1003 · Session 4 · Slide 8"


def test_a_group_of_tags_becomes_one_link_each(alice, course):
    turn = asked(alice, course)
    html = piece_html(turn, {"text": "Les deux le disent [S1, S2].", "tags": ["S1", "S2"]})
    assert html.count('class="tag"') == 2


def test_a_tag_inside_a_formula_is_mathematics(alice, course):
    turn = asked(alice, course)
    html = piece_html(turn, {"text": r"On a $x = [S1]$ partout [S1].", "tags": ["S1"]})
    assert html.count('class="tag"') == 1
    assert "<math" in html


def test_rows_become_a_table(alice, course):
    text = "Les seuils :\nImmeuble | Ratio\nTour | 75 % <b> [S1]\nFin, |x| | y."
    html = piece_html(asked(alice, course), {"text": text, "tags": ["S1"]})
    assert html.startswith("Les seuils :<table><tr><td>Immeuble</td><td>Ratio</td></tr>")
    assert "<tr><td>Tour</td><td>75 % &lt;b&gt;<a" in html
    assert html.count("<table>") == 1


def test_one_row_or_a_bar_in_a_formula_is_no_table(alice, course):
    turn = asked(alice, course)
    for text in ("Immeuble | Ratio [S1]", "On a $P(A | B)$ ici.\nEt $P(B | A)$ là.",
                 "$$a | b\n= c | d$$"):  # fmt: skip
        html = piece_html(turn, {"text": text, "tags": ["S1"]})
        assert "<table" not in html
        assert ("$" in text) is ("<math" in html)


def test_a_tag_that_the_turn_does_not_have_is_no_link(alice, course):
    html = piece_html(asked(alice, course), {"text": "Faux [S9].", "tags": ["S1"]})
    assert "<a" not in html
    assert "[S9]" in html


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[S1](javascript:alert(1))",
        '"><svg onload=alert(1)>',
        r"$\href{javascript:alert(1)}{x}$",
        r"$\text{<img src=x onerror=alert(1)>}$",
        "![x](https://example.org/leak)",
    ],
)
def test_hostile_text_stays_text(alice, course, hostile):
    turn = asked(alice, course, hostile, status="refused", answer=hostile, nearest=[
        {"title": hostile, "locator": hostile}
    ])  # fmt: skip
    one = shown(turn, alice)
    for html in (piece_html(turn, {"text": hostile, "tags": ["S1"]}), one.question, one.message,
                 one.nearest[0].title):  # fmt: skip
        assert "<script" not in html
        assert "<img" not in html
        assert "<svg" not in html
        assert 'href="javascript' not in html


def test_a_piece_whose_source_was_withdrawn_is_hidden(alice, course):
    document, other = deck(course), deck(course, path="seance-05.tex")
    turn = answered(alice, course, document)
    turn.citations.filter(tag="S2").update(document=other)
    other.status = "withdrawn"
    other.save()
    one = shown(turn, alice)
    assert [piece.hidden for piece in one.pieces] == [False, True]
    assert "75 %" not in "".join(piece.html for piece in one.pieces)
    assert [(source.tag, source.shown) for source in one.sources] == [("S1", True), ("S2", False)]
    assert one.sources[1].title == ""
    assert one.sources[1].place == ""
    text = shown_answer(turn, alice)
    assert RATIO[0] in text
    assert "75 %" not in text
    assert "its source was withdrawn" in text


def test_a_piece_is_hidden_by_a_tag_in_its_text_alone(alice, course):
    turn = answered(alice, course, deck(course))
    Turn.objects.filter(pk=turn.pk).update(
        pieces=[{"text": "Une phrase [S1] et une autre [S7].", "tags": []}]
    )
    assert [piece.hidden for piece in shown(turn, alice).pieces] == [True]


def test_hidden_pieces_in_a_row_make_one_sentence(alice, course):
    document = deck(course)
    turn = answered(alice, course, document)
    document.chunks.all().delete()
    document.delete()
    assert [piece.hidden for piece in shown(turn, alice).pieces] == [True]
    assert shown_answer(turn, alice).count("its source was withdrawn") == 1


def test_a_part_hidden_until_later_is_not_shown(alice, course):
    turn = answered(alice, course, deck(course))
    Chunk.objects.filter(title="Les seuils").update(hidden_until=timezone.now() + timedelta(days=1))
    assert [piece.hidden for piece in shown(turn, alice).pieces] == [False, True]
    assert panel(turn, "S2", alice) is None


def test_a_chunk_replaced_since_leaves_the_answer_as_it_was(alice, course):
    turn = answered(alice, course, deck(course))
    Chunk.objects.filter(title="Les seuils").delete()
    assert [piece.hidden for piece in shown(turn, alice).pieces] == [False, False]
    source = panel(turn, "S2", alice)
    assert source is not None
    assert "<mark>Un multilogement demande un ratio de 75 %.</mark>" in source.html
    assert source.before is None


def test_the_panel_marks_the_quotes_in_the_display(alice, course):
    turn = answered(alice, course, deck(course))
    cite(turn, "S1", Chunk.objects.get(title="Le ratio prêt-valeur"), f"$${FORMULA}$$")
    source = panel(turn, "S1", alice)
    assert source is not None
    assert f"<mark>{RATIO[0].replace(chr(39), '&#x27;')}</mark>" in source.html.replace(
        "'", "&#x27;"
    )
    assert '<mark><span class="math' in source.html
    assert source.html.count("<mark>") == 2
    assert source.before
    assert source.before.title == "Objectifs"
    assert source.after
    assert source.after.place == "Slide 9"


def test_a_display_that_changed_gives_way_to_the_text_that_was_cited(alice, course):
    turn = answered(alice, course, deck(course))
    Chunk.objects.filter(title="Le ratio prêt-valeur").update(
        text="Autre chose.", display="<p>Autre chose.</p>"
    )
    source = panel(turn, "S1", alice)
    assert source is not None
    assert "Autre chose" not in source.html
    assert "<mark>Le ratio" in source.html
    assert "<math" in source.html


def test_a_stored_display_is_made_harmless_again(alice, course):
    turn = answered(alice, course, deck(course))
    Chunk.objects.update(display="<p>x<script>alert(1)</script><img src=x onerror=y></p>")
    source = panel(turn, "S1", alice)
    assert source is not None
    assert source.after
    for html in (source.html, source.after.html):
        assert "<script" not in html
        assert "<img" not in html


def test_a_document_open_as_excerpts_shows_its_quotes_alone(alice, course):
    document = deck(course)
    document.opening = "excerpt"
    document.save()
    source = panel(answered(alice, course, document), "S1", alice)
    assert source is not None
    assert source.excerpt
    assert RATIO[1] not in source.html
    assert source.before is None
    assert source.after is None


def test_neighbours_hidden_until_later_are_passed_over(alice, course):
    document = deck(course)
    document.chunks.filter(title="Objectifs").update(
        hidden_until=timezone.now() + timedelta(days=1)
    )
    source = panel(answered(alice, course, document), "S1", alice)
    assert source is not None
    assert source.before is None
    assert source.after


def test_near_titles_are_named_only_while_they_may_be(alice, course):
    document = deck(course)
    near = {"document": document.pk, "title": "Les seuils", "locator": "Diapositive 9"}
    turn = asked(alice, course, status="refused", answer="Rien.", nearest=[near])
    assert [one.title for one in shown(turn, alice).nearest] == ["Les seuils"]
    document.status = "withdrawn"
    document.save()
    assert shown(turn, alice).nearest == []


def test_a_turn_left_behind_shows_as_failed(alice, course):
    turn = asked(alice, course)
    assert shown(turn, alice).status == "pending"
    Turn.objects.filter(pk=turn.pk).update(created_at=timezone.now() - timedelta(hours=1))
    assert shown(turn, alice).status == "failed"


def test_chips_name_the_spaces_that_are_searched(bob, iris, course, other_course):
    def labels(person, **switches):
        conversation = asked(person, course).conversation
        for name, value in switches.items():
            setattr(conversation, name, value)
        return [(chip.label, chip.kind) for chip in chips(person, conversation)]

    own = ("Course IMM1003", "own")
    assert labels(bob) == [own]
    Institution.objects.update(cross_course_search=True)
    assert labels(bob) == [own, ("Course IMM1033", "other")]
    assert labels(iris) == [own]
    assert labels(iris, use_private=True) == [own, ("Private material", "private")]
    Space.objects.create(kind="library", owner=iris)
    assert labels(iris, use_library=True) == [own, ("My library", "library")]


def test_many_turns_cost_no_more_queries_than_one(alice, course, django_assert_num_queries):
    document = deck(course)
    turns = [answered(alice, course, document) for _ in range(4)]
    with django_assert_num_queries(2):
        present(turns[:1], alice)
    with django_assert_num_queries(2):
        present(turns, alice)
