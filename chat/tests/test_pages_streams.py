"""Answers as events, in pieces, over a real uvicorn; and what ends a stream."""

import asyncio
import json
import threading
import time
from http.client import HTTPConnection, HTTPResponse
from urllib.parse import urlencode, urlsplit

import pytest
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from django.utils import translation

from chat import streams
from chat.models import Conversation, Turn
from chat.tests.scenes import MATERIAL, RATIO, answered, asked, deck
from courses.models import User

SECRET = "a" * 32


@pytest.fixture(autouse=True)
def _nobody_has_asked_yet():
    cache.clear()


@pytest.fixture
def request_to(live_asgi):
    """Opens a response of the real server to a signed-in person."""
    opened: list[HTTPConnection | HTTPResponse] = []

    def request(person, method, address, form=None):
        client = Client()
        client.force_login(person)
        session = client.cookies["sessionid"].value
        connection = HTTPConnection(urlsplit(live_asgi).netloc, timeout=30)
        opened.append(connection)
        connection.request(
            method,
            address,
            body=urlencode(form) if form else None,
            headers={
                "Accept": "text/event-stream",
                "Connection": "close",
                "Content-Type": "application/x-www-form-urlencoded",
                "Cookie": f"sessionid={session}; csrftoken={SECRET}; django_language=en",
                "X-CSRFToken": SECRET,
            },
        )
        response = connection.getresponse()
        opened.append(response)
        return response

    yield request
    for one in reversed(opened):
        one.close()


@pytest.fixture
def ask(request_to):
    def post(person, conversation, question):
        address = reverse("ask", args=[conversation.pk])
        return request_to(person, "POST", address, {"question": question})

    return post


def events(response):
    """(name, data) of each frame, as it arrives."""
    name = ""
    for raw in response:
        line = raw.decode().rstrip("\n")
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield name, json.loads(line.removeprefix("data: "))


# ---- Over uvicorn ----


def test_an_answer_arrives_as_events(ask, alice, course, publish_text):
    publish_text(course, MATERIAL)
    conversation = Conversation.open(user=alice, course=course)
    response = ask(alice, conversation, "Qu'est-ce que le ratio prêt-valeur ?")
    assert response.status == 200
    assert response.headers["Content-Type"].startswith("text/event-stream")
    assert "no-store" in response.headers["Cache-Control"]
    assert response.headers["X-Accel-Buffering"] == "no"
    seen = list(events(response))
    turn = Turn.objects.get()
    names = [name for name, _data in seen]
    assert names[0] == "turn"
    assert seen[0][1] == {
        "id": turn.pk,
        "ordinal": 1,
        "url": f"/turns/{turn.pk}/",
        "title": "Qu'est-ce que le ratio prêt-valeur ?",
        "quotes": True,
    }
    assert names.index("searching") < names.index("sources") < names.index("verifying")
    assert names.index("verifying") < names.index("piece")
    assert names[-1] == "done"
    assert seen[-1][1]["status"] == "answered"
    piece = next(data for name, data in seen if name == "piece")
    assert f'href="/turns/{turn.pk}/sources/S1/"' in piece["html"]
    assert turn.status == "answered"


def test_a_refusal_arrives_as_events_without_a_piece(ask, alice, course):
    conversation = Conversation.open(user=alice, course=course)
    seen = list(events(ask(alice, conversation, "La pâte à crêpes ?")))
    assert [name for name, _data in seen] == ["turn", "searching", "done"]
    assert seen[-1][1]["status"] == "refused"


def test_what_is_not_taken_is_json(ask, alice, course, settings):
    conversation = Conversation.open(user=alice, course=course)
    empty = ask(alice, conversation, " ")
    assert empty.status == 400
    assert json.loads(empty.read()) == {"detail": "Write a question first."}
    settings.QUESTIONS_PER_MINUTE = 1
    late = ask(alice, conversation, "Encore ?")
    assert late.status == 429
    assert int(late.headers["Retry-After"]) >= 1
    assert "Too many questions" in json.loads(late.read())["detail"]


def test_a_stranger_follows_no_stream(ask, request_to, alice, charlie, course):
    turn = asked(alice, course)
    assert ask(charlie, turn.conversation, "Et moi ?").status == 404
    events_address = reverse("turn_events", args=[turn.pk])
    assert request_to(charlie, "GET", events_address).status == 404


def test_a_recorded_turn_is_replayed(request_to, alice, course):
    turn = answered(alice, course, deck(course))
    response = request_to(alice, "GET", reverse("turn_events", args=[turn.pk]))
    seen = list(events(response))
    assert [name for name, _data in seen] == ["turn", "piece", "piece", "done"]
    assert RATIO[0].split("'")[0] in seen[1][1]["html"]


def test_a_replay_hides_what_was_withdrawn(request_to, alice, course):
    document = deck(course)
    turn = answered(alice, course, document)
    document.status = "withdrawn"
    document.save()
    response = request_to(alice, "GET", reverse("turn_events", args=[turn.pk]))
    _turn, (name, piece), _done = list(events(response))
    assert name == "piece"
    assert piece["hidden"]
    assert "withdrawn" in piece["html"]


def test_a_pending_turn_is_followed_to_its_end(request_to, alice, course):
    turn = asked(alice, course)
    response = request_to(alice, "GET", reverse("turn_events", args=[turn.pk]))
    coming = events(response)
    assert next(coming)[0] == "turn"
    Turn.objects.filter(pk=turn.pk).update(status="refused", answer="Rien.")
    assert next(coming) == ("done", {"status": "refused", "reason": ""})


def test_a_closed_connection_ends_the_work_behind_it(request_to, alice, course):
    def working():
        return [thread for thread in threading.enumerate() if thread.name == "stream"]

    turn = asked(alice, course)
    response = request_to(alice, "GET", reverse("turn_events", args=[turn.pk]))
    assert next(events(response))[0] == "turn"
    assert working()
    response.close()
    deadline = time.monotonic() + 5
    while working():
        assert time.monotonic() < deadline, "the stream went on without its reader"
        time.sleep(0.05)


# ---- The machinery, step by step ----


def drain(frames, until=None):
    """What a reader gets of frames, with the time of each."""

    response = streams.respond(frames)

    async def read():
        got = []
        async for part in response:
            got.append((time.monotonic(), part.decode()))
            if until is not None and len(got) == until:
                break
        return got

    return asyncio.run(read())


def test_each_frame_is_handed_on_at_once():
    def slow():
        for number in range(3):
            yield f"data: {number}\n\n"
            time.sleep(0.2)

    times = [at for at, _part in drain(slow())]
    assert times[1] - times[0] > 0.1
    assert times[2] - times[1] > 0.1


def test_a_slow_step_is_bridged_by_comments(monkeypatch):
    monkeypatch.setattr(streams, "HEARTBEAT_S", 0.05)

    def slow():
        yield "data: 1\n\n"
        time.sleep(0.3)
        yield "data: 2\n\n"

    parts = [part for _at, part in drain(slow())]
    assert parts[0] == "data: 1\n\n"
    assert parts[-1] == "data: 2\n\n"
    assert parts.count(streams.WAITING) >= 2


def test_a_reader_who_leaves_closes_the_generator():
    closed = threading.Event()

    def endless():
        try:
            while True:
                yield "data: x\n\n"
                time.sleep(0.01)
        finally:
            closed.set()

    drain(endless(), until=2)
    assert closed.wait(5)


def test_the_thread_speaks_the_language_of_the_request():
    def words():
        yield translation.get_language()

    with translation.override("en"):
        assert drain(words())[0][1] == "en"
    with translation.override("fr"):
        assert drain(words())[0][1] == "fr"


def test_a_person_suspended_meanwhile_gets_nothing_more(alice, course, publish_text):
    publish_text(course, MATERIAL)
    turn = asked(alice, course, "Qu'est-ce que le ratio prêt-valeur ?")
    frames = streams.answer_frames(turn, alice)
    assert next(frames).startswith("event: turn")
    assert next(frames).startswith("event: searching")
    User.objects.filter(pk=alice.pk).update(is_active=False)
    assert list(frames) == []


def test_who_leaves_midway_leaves_a_failed_turn(alice, course):
    turn = asked(alice, course)
    frames = streams.answer_frames(turn, alice)
    next(frames)
    next(frames)
    frames.close()
    assert Turn.objects.get().status == "failed"
