"""Asking by a plain form post: without JavaScript, the answer is a page."""

import pytest
from django.core.cache import cache
from django.urls import reverse

from chat.models import Conversation, Turn
from chat.tests.scenes import MATERIAL, asked


@pytest.fixture(autouse=True)
def _nobody_has_asked_yet():
    cache.clear()


@pytest.fixture
def as_alice(client, alice):
    client.force_login(alice)
    client.cookies["django_language"] = "en"
    return client


@pytest.fixture
def conversation(alice, course):
    return Conversation.open(user=alice, course=course)


def ask(client, conversation, question, **headers):
    address = reverse("ask", args=[conversation.pk])
    return client.post(address, {"question": question}, headers=headers)


def test_the_answer_is_on_the_page_that_the_form_leads_to(
    as_alice, conversation, course, publish_text
):
    publish_text(course, MATERIAL)
    answer = ask(as_alice, conversation, "Qu'est-ce que le ratio prêt-valeur ?")
    assert answer.status_code == 302
    assert answer["Location"] == f"/conversations/{conversation.pk}/#turn-1"
    turn = Turn.objects.get()
    assert turn.status == "answered", turn.reason
    html = as_alice.get(answer["Location"]).content.decode()
    assert "le rapport entre le montant du prêt et la valeur" in html
    assert f'href="/turns/{turn.pk}/sources/S1/"' in html
    source = as_alice.get(f"/turns/{turn.pk}/sources/S1/").content.decode()
    assert "<mark>" in source
    assert "<math" in source
    assert "Objectifs" in source
    assert "Les seuils des prêteurs" in source


def test_a_question_outside_the_course_is_refused_on_the_page(as_alice, conversation):
    answer = ask(as_alice, conversation, "Quelle est la recette de la pâte à crêpes ?")
    html = as_alice.get(answer["Location"]).content.decode()
    assert Turn.objects.get().status == "refused"
    assert "No proof, no answer" in html
    assert "Rephrase" in html


@pytest.mark.parametrize("question", ["", "   \n", "\x00"])
def test_an_empty_question_is_told_so(as_alice, conversation, question):
    answer = ask(as_alice, conversation, question)
    assert answer.status_code == 400
    assert "Write a question first." in answer.content.decode()
    assert not Turn.objects.exists()


def test_a_question_too_long_is_told_so_and_kept(as_alice, conversation, settings):
    question = "Pourquoi ? " * 1000
    answer = ask(as_alice, conversation, question)
    html = answer.content.decode()
    assert answer.status_code == 400
    assert f"the limit is {settings.QUESTION_MAX_CHARACTERS}" in html
    assert question.strip() in html
    assert not Turn.objects.exists()


def test_the_typed_text_comes_back_as_text(as_alice, conversation, settings):
    settings.QUESTION_MAX_CHARACTERS = 10
    html = ask(as_alice, conversation, "</textarea><script>alert(1)</script>").content.decode()
    assert "<script>alert" not in html


def test_a_body_beyond_the_limit_is_400(as_alice, conversation, settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    assert ask(as_alice, conversation, "x" * 2000).status_code == 400


def test_too_many_questions_wait(as_alice, conversation, settings):
    settings.QUESTIONS_PER_MINUTE = 2
    answers = [ask(as_alice, conversation, f"Question {n} ?") for n in range(5)]
    assert answers[0].status_code == 302
    number, late = next((n, one) for n, one in enumerate(answers) if one.status_code == 429)
    assert 1 <= int(late["Retry-After"]) <= 61
    assert "Too many questions" in late.content.decode()
    assert f"Question {number} ?" in late.content.decode()


def test_one_persons_haste_does_not_stop_another(as_alice, conversation, bob, course, settings):
    from django.test import Client

    settings.QUESTIONS_PER_MINUTE = 1
    for _ in range(3):
        ask(as_alice, conversation, "Vite ?")
    other = Client()
    other.force_login(bob)
    assert ask(other, asked(bob, course).conversation, "Et moi ?").status_code == 302
