"""The REST API: the same verbs and permission as the pages."""

import json

import pytest
from django.test import Client
from django.urls import reverse
from rest_framework.authtoken.models import Token
from rest_framework.test import APIClient

from chat.models import Conversation, Turn
from conftest import PASSWORD
from knowledge.models import Document

NOTES = """# Levier financier

Le levier financier est l'usage de la dette pour augmenter le rendement des fonds propres.
"""
SECRET = "# Barème\n\nLa question du phare pourpre vaut quarante points dans l'examen final.\n"


@pytest.fixture
def material(publish_text, course):
    publish_text(course, NOTES)
    publish_text(course, SECRET, path="examen.md", kind="instructor_private")


def client(user):
    api = APIClient()
    api.force_authenticate(user)
    return api


@pytest.fixture
def conversation(alice, course):
    return Conversation.open(user=alice, course=course)


def test_a_student_asks_through_the_api_and_reads_the_sources(material, alice, course):
    api = client(alice)
    opened = api.post("/api/conversations/", {"course": course.pk}, format="json")
    assert opened.status_code == 201, opened.content
    url = f"/api/conversations/{opened.data['id']}/ask/"
    turn = api.post(url, {"question": "Qu'est-ce que le levier financier ?"}, format="json").data
    assert turn["status"] == "answered"
    assert turn["citations"][0]["quote"] in turn["citations"][0]["text"]
    sources = api.get(f"/api/turns/{turn['id']}/sources/").data
    assert sources == turn["citations"]
    assert api.get(f"/api/conversations/{opened.data['id']}/turns/").data[0]["id"] == turn["id"]


def test_the_answer_is_streamed_to_who_accepts_a_stream(material, alice, conversation):
    response = client(alice).post(
        f"/api/conversations/{conversation.pk}/ask/",
        {"question": "Qu'est-ce que le levier financier ?"},
        format="json",
        HTTP_ACCEPT="text/event-stream",
    )
    assert response.status_code == 200
    assert response["Content-Type"].startswith("text/event-stream")


@pytest.mark.parametrize("person", ["bob", "charlie", "dora", "iris", "ivan", "ada", "zoe"])
def test_a_conversation_of_somebody_else_is_missing_for_everybody(
    cast, material, conversation, person
):
    api = client(getattr(cast, person))
    missing = api.get("/api/conversations/999999/")
    for method, path, body in [
        ("get", "", None),
        ("patch", "", {"title": "x"}),
        ("delete", "", None),
        ("post", "ask/", {"question": "Le levier ?"}),
        ("get", "turns/", None),
    ]:
        url = f"/api/conversations/{conversation.pk}/{path}"
        response = getattr(api, method)(url, body, format="json")
        assert response.status_code == 404, (method, path)
        assert response.content == missing.content
    assert Conversation.objects.filter(pk=conversation.pk).exists()
    assert not Turn.objects.exists()


def test_a_conversation_cannot_be_opened_in_a_course_one_is_not_in(cast, course, other_course):
    api = client(cast.alice)
    foreign = api.post("/api/conversations/", {"course": other_course.pk}, format="json")
    missing = api.post("/api/conversations/", {"course": 999999}, format="json")
    assert foreign.status_code == missing.status_code == 400
    assert not Conversation.objects.exists()


def test_owner_course_and_space_cannot_be_assigned(cast, conversation, other_course, course):
    api = client(cast.bob)
    mine = api.post(
        "/api/conversations/",
        {
            "course": course.pk,
            "user": cast.alice.pk,
            "space": conversation.space_id,
            "id": conversation.pk,
        },
        format="json",
    ).data
    stored = Conversation.objects.get(pk=mine["id"])
    assert stored.user == cast.bob
    assert stored.space_id != conversation.space_id
    api.patch(f"/api/conversations/{stored.pk}/", {"course": other_course.pk}, format="json")
    stored.refresh_from_db()
    assert stored.course == course


@pytest.mark.parametrize(
    ("person", "paths"),
    [
        ("alice", {"notes.md"}),
        ("bob", {"notes.md"}),
        ("charlie", set()),
        ("dora", set()),
        ("iris", {"notes.md", "examen.md"}),
        ("ada", set()),
        ("zoe", set()),
    ],
)
def test_documents_are_those_one_may_read(cast, material, person, paths):
    listed = client(getattr(cast, person)).get("/api/documents/").data
    assert {d["path"] for d in listed["results"]} == paths
    assert listed["count"] == len(paths)


def test_publishing_and_withdrawing_are_for_who_teaches(cast, material):
    document = Document.objects.get(path="notes.md")
    for person in ("alice", "bob", "charlie", "dora", "ivan", "ada", "zoe"):
        api = client(getattr(cast, person))
        for verb in ("withdraw", "publish"):
            assert api.post(f"/api/documents/{document.pk}/{verb}/").status_code == 404
        assert api.delete(f"/api/documents/{document.pk}/").status_code == 404
    document.refresh_from_db()
    assert document.status == "published"
    api = client(cast.iris)
    assert api.post(f"/api/documents/{document.pk}/withdraw/").data["status"] == "withdrawn"
    assert client(cast.alice).get(f"/api/documents/{document.pk}/").status_code == 404
    assert api.post(f"/api/documents/{document.pk}/publish/").data["status"] == "published"
    assert client(cast.alice).get(f"/api/documents/{document.pk}/").status_code == 200


def test_runs_are_for_who_teaches_and_hide_server_paths(cast, material):
    for person in ("alice", "bob", "charlie", "dora", "ivan", "ada", "zoe"):
        assert client(getattr(cast, person)).get("/api/runs/").data["count"] == 0
    listed = client(cast.iris).get("/api/runs/").data["results"]
    assert len(listed) == 2
    assert "/" not in listed[0]["source"]


def test_nobody_enters_without_authentication(material, conversation):
    api = APIClient()
    for url in ("courses/", "conversations/", "documents/", "runs/", "schema/"):
        assert api.get(f"/api/{url}").status_code in {401, 403}, url


def test_a_token_is_given_for_a_password_and_opens_the_api(material, alice, course):
    api = APIClient()
    wrong = api.post("/api/token/", {"username": "alice", "password": "no"}, format="json")
    assert wrong.status_code == 400
    token = api.post(
        "/api/token/", {"username": "alice", "password": PASSWORD}, format="json"
    ).data["token"]
    api.credentials(HTTP_AUTHORIZATION=f"Token {token}")
    assert [c["code"] for c in api.get("/api/courses/").data["results"]] == ["IMM1003"]


def test_a_suspended_person_loses_session_and_token(material, alice, course):
    token = Token.objects.create(user=alice)
    session = Client()
    session.force_login(alice, backend="courses.sign_in.PersonBackend")
    alice.is_active = False
    alice.save()
    api = APIClient()
    api.credentials(HTTP_AUTHORIZATION=f"Token {token.key}")
    assert api.get("/api/courses/").status_code in {401, 403}
    assert session.get("/api/courses/").status_code in {401, 403}


@pytest.mark.parametrize("question", ["", "   ", "x" * 10_000])
def test_a_question_that_cannot_be_taken_is_a_400_with_a_reason(alice, conversation, question):
    response = client(alice).post(
        f"/api/conversations/{conversation.pk}/ask/", {"question": question}, format="json"
    )
    assert response.status_code == 400
    assert response.data["detail"]


@pytest.mark.parametrize(
    "body", ["", "[]", "{", '{"question": 3}', '{"question": null}', '{"question": {"a": 1}}', "é"]
)
def test_a_malformed_body_is_never_a_500(alice, conversation, body):
    response = client(alice).generic(
        "POST", f"/api/conversations/{conversation.pk}/ask/", body, "application/json"
    )
    assert response.status_code in {200, 400}


def test_the_schema_is_served_and_names_every_verb(alice):
    response = client(alice).get("/api/schema/", HTTP_ACCEPT="application/json")
    assert response.status_code == 200
    paths = json.loads(response.content)["paths"]
    for path in ("/api/conversations/{id}/ask/", "/api/documents/{id}/withdraw/", "/api/runs/"):
        assert path in paths


def test_the_schema_builds_without_a_warning(capfd):
    from django.core.management import call_command

    call_command("spectacular", "--validate", "--fail-on-warn", "--file", "/dev/null")


def test_questions_are_limited_per_person_and_minute(material, alice, bob, course, settings):
    settings.QUESTIONS_PER_MINUTE = 2
    url = reverse("api-conversation-ask", args=[Conversation.open(user=alice, course=course).pk])
    codes = [
        client(alice).post(url, {"question": "Le levier ?"}, format="json").status_code
        for _ in range(3)
    ]
    assert codes[-1] == 429
    other = reverse("api-conversation-ask", args=[Conversation.open(user=bob, course=course).pk])
    assert client(bob).post(other, {"question": "Le levier ?"}, format="json").status_code == 200
