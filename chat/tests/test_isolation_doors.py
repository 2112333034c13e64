"""What stands only in the private exam or in another course: the same refusal at every door."""

import json

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from chat.models import Conversation

NOTES = "# Levier\n\nLe levier financier est l'usage de la dette pour augmenter le rendement.\n"
SECRET = "# Barème\n\nLa question du phare pourpre vaut quarante points dans l'examen final.\n"
OTHER = "# Comparaison\n\nLa méthode du parc hexagonal compare des ventes récentes et voisines.\n"
CASES = [
    ("Combien vaut la question du phare pourpre ?", ("quarante", "Barème", "secret.md")),
    ("Que compare la méthode du parc hexagonal ?", ("voisines", "ailleurs.md", "IMM1033")),
]


@pytest.fixture
def conversation(publish_text, course, other_course, alice):
    publish_text(course, NOTES)
    publish_text(course, SECRET, path="secret.md", kind="instructor_private")
    publish_text(other_course, OTHER, path="ailleurs.md")
    return Conversation.open(user=alice, course=course)


def holds_none(text, words):
    return [word for word in words if word in text]


@pytest.mark.parametrize(("question", "words"), CASES)
def test_on_the_page(conversation, alice, question, words):
    client = Client()
    client.force_login(alice, backend="courses.sign_in.PersonBackend")
    url = reverse("ask", args=[conversation.pk])
    page = client.post(url, {"question": question}, follow=True)
    html = page.content.decode()
    assert page.status_code == 200
    assert conversation.turns.get().status == "refused"
    assert not holds_none(html, words)


@pytest.mark.parametrize(("question", "words"), CASES)
def test_in_the_api(conversation, alice, question, words):
    api = APIClient()
    api.force_authenticate(alice)
    url = reverse("api-conversation-ask", args=[conversation.pk])
    plain = api.post(url, {"question": question}, format="json")
    assert plain.data["status"] == "refused"
    assert not holds_none(plain.content.decode(), words)


@pytest.mark.parametrize(("question", "words"), CASES)
@pytest.mark.parametrize("command", ["ask", "probe"])
def test_in_the_commands(conversation, alice, capsys, command, question, words):
    call_command(command, question, "--course", "IMM1003", "--user", "alice", "--json")
    said = capsys.readouterr().out
    value = json.loads(said)
    assert value.get("status", "refused") == "refused"
    assert not value.get("evidence")
    assert not holds_none(said, words)
