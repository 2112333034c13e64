"""The whole route of a question: answered with exact quotes, or refused without a model."""

from datetime import timedelta

import pytest
from django.utils import timezone

from chat import ask, contracts
from chat.answering.profiles import PROFILES
from chat.models import Citation, Conversation, Turn
from courses.models import Membership
from knowledge import index
from knowledge.models import Chunk, Document
from knowledge.retrieval.types import RetrievalError

NOTES = """# Levier financier

Le levier financier est l'usage de la dette pour augmenter le rendement des fonds propres.

# Taux de rendement interne

Le taux de rendement interne est le taux d'actualisation qui annule la valeur actuelle nette.

# Prêt hypothécaire

Le prêt hypothécaire est un prêt garanti par un immeuble et remboursé par versements périodiques.
"""
SECRET = "# Barème\n\nLa question du phare pourpre vaut quarante points dans l'examen final.\n"
OTHER = "# Comparaison\n\nLa méthode du parc hexagonal compare des ventes récentes et voisines.\n"


@pytest.fixture
def material(publish_text, course, other_course):
    publish_text(course, NOTES)
    publish_text(course, SECRET, path="examen.md", kind="instructor_private")
    publish_text(other_course, OTHER, path="comparaison.md")


@pytest.fixture
def conversation(alice, course):
    return Conversation.open(user=alice, course=course)


def put(question, conversation, user, **options):
    turn = ask.begin(conversation=conversation, question=question, **options)
    events = list(ask.answer_question(turn, user))
    turn.refresh_from_db()
    return turn, events


def everything(turn, user):
    """All that any door would say of the turn, as one text."""
    return str(contracts.answered(turn, user)) + str(turn.pieces) + str(turn.nearest)


def test_a_question_of_the_course_is_answered_with_exact_quotes(material, conversation, alice):
    turn, events = put("Qu'est-ce que le levier financier ?", conversation, alice)
    assert turn.status == "answered", turn.reason
    assert turn.origin == "course"
    assert turn.model_calls == 0
    citations = list(turn.citations.all())
    assert citations[0].title == "Levier financier"
    for citation in citations:
        chunk = Chunk.objects.get(pk=citation.chunk_id)
        assert citation.quote == chunk.text[citation.start : citation.end]
        assert len(citation.quote.strip()) >= 20
    names = [event.name for event in events]
    assert names[:5] == ["searching", "analysed", "sources", "verifying", "piece"]
    assert names[-1] == "done"
    assert "".join(e.data["text"] for e in events if e.name == "piece") == turn.answer


@pytest.mark.parametrize(
    "question",
    [
        "Quelle est la recette de la pâte à crêpes ?",
        "Who won the football world cup in 1998?",
        "Combien vaut la question du phare pourpre ?",
        "Que compare la méthode du parc hexagonal ?",
    ],
)
def test_what_the_asker_may_not_or_cannot_know_is_refused_without_a_word_of_it(
    material, conversation, alice, question
):
    built = PROFILES.clients_built
    turn, _events = put(question, conversation, alice)
    assert turn.status == "refused"
    assert turn.model_calls == 0
    assert PROFILES.clients_built == built
    assert not turn.citations.exists()
    said = everything(turn, alice)
    for word in ("quarante", "Barème", "examen.md", "voisines", "Comparaison", "comparaison.md"):
        assert word not in said
    assert "cours IMM1003" in turn.answer or "course IMM1003" in turn.answer


def test_an_english_question_is_refused_in_english(material, conversation, alice):
    turn, _events = put("What is the best recipe for apple pie?", conversation, alice)
    assert turn.status == "refused"
    assert "Spaces searched" in turn.answer


def test_an_identifier_that_stands_nowhere_is_refused_whatever_the_cosine(
    material, conversation, alice
):
    turn, _events = put("Quel est le levier financier du produit GX-999 ?", conversation, alice)
    assert (turn.status, turn.reason) == ("refused", "identifier_absent")


def test_a_course_without_sources_is_refused(conversation, alice):
    turn, _events = put("Qu'est-ce que le levier ?", conversation, alice)
    assert turn.status == "refused"
    assert turn.reason == "empty_scope"


@pytest.mark.parametrize("question", ["", "   ", "\x00", "\n\t "])
def test_an_empty_question_is_not_taken(conversation, question):
    with pytest.raises(ask.AskError):
        ask.begin(conversation=conversation, question=question)
    assert not Turn.objects.exists()


def test_a_very_long_question_is_not_taken_and_says_the_limit(conversation):
    with pytest.raises(ask.AskError, match="10000"):
        ask.begin(conversation=conversation, question="a" * 10_000)


@pytest.mark.parametrize(
    "change",
    [
        {"status": "withdrawn"},
        {"status": "draft"},
        {"canonical": False},
        {"valid_until": timezone.now() - timedelta(days=1)},
        {"valid_from": timezone.now() + timedelta(days=1)},
    ],
)
def test_a_source_that_is_not_admissible_answers_nothing(
    material, conversation, alice, course, change
):
    Document.objects.filter(path="notes.md").update(**change)
    turn, _events = put("Qu'est-ce que le levier financier ?", conversation, alice)
    assert turn.status == "refused"
    assert "fonds propres" not in everything(turn, alice)


def test_a_question_as_of_an_instant_sees_what_was_valid_then(material, conversation, alice):
    now = timezone.now()
    Document.objects.filter(path="notes.md").update(valid_until=now - timedelta(days=1))
    turn, _events = put(
        "Qu'est-ce que le levier financier ?", conversation, alice, as_of=now - timedelta(days=2)
    )
    assert turn.status == "answered"


def test_a_source_withdrawn_between_retrieval_and_answer_is_not_shown(
    material, conversation, alice
):
    turn = ask.begin(conversation=conversation, question="Qu'est-ce que le levier financier ?")
    events = ask.answer_question(turn, alice)
    for event in events:
        if event.name == "sources":
            Document.objects.update(status="withdrawn")
    turn.refresh_from_db()
    assert (turn.status, turn.reason) == ("refused", "withdrawn")
    assert "fonds propres" not in everything(turn, alice)


def test_an_old_answer_hides_the_quote_of_a_withdrawn_source(material, conversation, alice):
    turn, _events = put("Qu'est-ce que le levier financier ?", conversation, alice)
    assert Citation.objects.shown_to(alice).filter(turn=turn).exists()
    Document.objects.filter(path="notes.md").update(status="withdrawn")
    (citation, *_rest) = contracts.describe_citations(turn, alice)
    assert citation["shown"] is False
    assert citation["quote"] == citation["text"] == citation["title"] == ""


def test_history_keeps_its_quote_when_the_source_is_ingested_again(
    material, conversation, alice, publish_text, course
):
    turn, _events = put("Qu'est-ce que le levier financier ?", conversation, alice)
    before = turn.citations.first().quote
    publish_text(course, NOTES.replace("Le levier financier est", "Le levier désigne surtout"))
    assert turn.citations.first().quote == before


def test_a_question_of_two_courses_stays_in_its_own(material, course, other_course, bob):
    here = Conversation.open(user=bob, course=course)
    there = Conversation.open(user=bob, course=other_course)
    question = "Que compare la méthode du parc hexagonal ?"
    assert put(question, here, bob)[0].status == "refused"
    assert put(question, there, bob)[0].status == "answered"


def test_with_the_switch_on_a_foreign_citation_is_flagged(material, course, bob, institution):
    institution.cross_course_search = True
    institution.save()
    here = Conversation.open(user=bob, course=course)
    turn, _events = put("Que compare la méthode du parc hexagonal ?", here, bob)
    assert turn.status == "answered"
    assert turn.cross_course
    assert [c.cross_course for c in turn.citations.all()] == [True]
    assert turn.citations.get().course_code == "IMM1033"


def test_private_material_answers_an_instructor_only_where_switched_on(material, course, iris):
    conversation = Conversation.open(user=iris, course=course)
    question = "Combien vaut la question du phare pourpre dans l'examen final ?"
    assert put(question, conversation, iris)[0].status == "refused"
    conversation.use_private = True
    conversation.save()
    turn, _events = put(question, conversation, iris)
    assert turn.status == "answered", turn.reason
    assert turn.uses_private


def test_a_failing_index_marks_the_turn_failed_and_raises_nothing(
    material, conversation, alice, settings
):
    generation = index.active_generation()
    generation.manifest["model"] = "another"
    generation.save()
    turn, events = put("Qu'est-ce que le levier financier ?", conversation, alice)
    assert turn.status == "failed"
    assert "reindex" in turn.answer
    assert events[-1].data["status"] == "failed"


def test_a_reader_who_leaves_does_not_leave_a_pending_turn(material, conversation, alice):
    turn = ask.begin(conversation=conversation, question="Qu'est-ce que le levier financier ?")
    events = ask.answer_question(turn, alice)
    next(events)
    events.close()
    turn.refresh_from_db()
    assert turn.status == "failed"


def test_a_membership_that_ends_closes_the_conversation(material, conversation, alice):
    Membership.objects.filter(user=alice).update(active=False)
    turn, _events = put("Qu'est-ce que le levier financier ?", conversation, alice)
    assert turn.status == "refused"
    assert not Conversation.objects.visible_to(alice).exists()


def test_erasing_a_conversation_leaves_nothing_of_it(material, conversation, alice):
    put("Qu'est-ce que le levier financier ?", conversation, alice)
    space = conversation.space_id
    ask.erase(conversation)
    assert not Turn.objects.exists()
    assert not Citation.objects.exists()
    assert not alice.spaces.filter(pk=space).exists()


def test_foreign_and_private_documents_change_nothing_of_what_another_gets(
    conversation, alice, course, other_course, publish_text
):
    publish_text(course, NOTES)

    def ranking():
        value = contracts.probe(
            "Qu'est-ce que le levier financier ?",
            user=alice,
            conversation=conversation,
            as_of=timezone.now(),
        )
        return value["candidates"], value["evidence"], value["thresholds"]

    before = ranking()
    words = "# Levier financier\n\n" + "Le levier financier, encore le levier financier. " * 20
    publish_text(course, words, path="prive.md", kind="instructor_private")
    publish_text(other_course, words, path="ailleurs.md")
    assert ranking() == before


def test_the_index_refuses_a_profile_of_equal_dimension(material, settings):
    generation = index.active_generation()
    generation.manifest["query_prefix"] = "other: "
    generation.save()
    with pytest.raises(RetrievalError, match="query_prefix"):
        index.profile_of(generation)
