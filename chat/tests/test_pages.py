"""Each page: works, wrong method, stranger, anonymous; and what it shows and hides."""

import pytest
from django.urls import reverse

from chat.models import Conversation, Turn
from chat.tests.scenes import RATIO, answered, asked, deck
from courses.models import Institution, Membership, User
from knowledge.models import Space


@pytest.fixture
def as_alice(client, alice):
    client.force_login(alice)
    client.cookies["django_language"] = "en"
    return client


@pytest.fixture
def turn(alice, course):
    return answered(alice, course, deck(course))


def page(client, name, *args):
    return client.get(reverse(name, args=args))


def doors(turn):
    """(method, address) of each private page about this turn."""
    conversation, course = turn.conversation_id, turn.conversation.course_id
    return [
        ("get", reverse("course", args=[course])),
        ("post", reverse("new_conversation", args=[course])),
        ("get", reverse("conversation", args=[conversation])),
        ("post", reverse("ask", args=[conversation])),
        ("post", reverse("conversation_spaces", args=[conversation])),
        ("post", reverse("delete_conversation", args=[conversation])),
        ("get", reverse("turn", args=[turn.pk])),
        ("get", reverse("turn_events", args=[turn.pk])),
        ("get", reverse("source", args=[turn.pk, "S1"])),
    ]


def test_the_wrong_method_is_405(as_alice, turn):
    for method, address in [*doors(turn), ("get", "/"), ("post", "/sign-out/"),
                            ("post", "/language/")]:  # fmt: skip
        other = as_alice.get if method == "post" else as_alice.post
        assert other(address).status_code == 405, address


def test_a_stranger_meets_404_and_changes_nothing(client, turn, charlie, iris, ada, zoe):
    for person in (charlie, iris, ada, zoe):
        client.force_login(person)
        for method, address in doors(turn):
            if person == iris and "courses" in address:
                continue
            answer = getattr(client, method)(address, {"question": "Qui ?"})
            assert answer.status_code == 404, (person, address)
            assert RATIO[0].encode() not in answer.content
    assert Conversation.objects.filter(pk=turn.conversation_id).exists()
    assert Turn.objects.count() == 1


def test_missing_and_forbidden_answer_alike(client, turn, charlie):
    client.force_login(charlie)
    for method, address in doors(turn):
        missing = address.replace(f"/{turn.pk}/", "/999999/").replace(
            f"/{turn.conversation_id}/", "/999999/"
        )
        forbidden = getattr(client, method)(address)
        assert forbidden.content == getattr(client, method)(missing).content, address


def test_numbers_beyond_the_database_are_404(as_alice, alice):
    for address in ("/courses/99999999999999999999/", "/turns/99999999999999999999/"):
        assert as_alice.get(address).status_code == 404


def test_the_anonymous_are_sent_to_sign_in(client, turn):
    for method, address in [*doors(turn), ("get", "/")]:
        answer = getattr(client, method)(address)
        assert answer.status_code == 302
        assert answer["Location"].startswith("/sign-in/?next=")


def test_private_pages_are_never_cached_and_carry_the_policy(as_alice, turn):
    for method, address in doors(turn):
        if method == "get":
            answer = as_alice.get(address)
            assert "no-store" in answer["Cache-Control"], address
            assert "script-src 'self'" in answer["Content-Security-Policy"]


def test_the_ended_membership_closes_the_conversation(as_alice, alice, turn):
    Membership.objects.filter(user=alice).update(active=False)
    for method, address in doors(turn):
        assert getattr(as_alice, method)(address).status_code == 404


# ---- Sign-in ----


def test_signing_in_opens_my_courses(client, alice):
    answer = client.post("/sign-in/", {"username": "alice", "password": "cast-of-the-tests"})
    assert answer.status_code == 302
    assert answer["Location"] == "/"


def test_a_wrong_password_says_so_and_keeps_the_name(client, alice):
    answer = client.post("/sign-in/", {"username": "alice", "password": "wrong"})
    assert answer.status_code == 200
    assert 'role="alert"' in answer.content.decode()
    assert 'value="alice"' in answer.content.decode()


def test_too_many_attempts_are_locked_out_in_the_same_design(client, alice, settings):
    for _ in range(settings.AXES_FAILURE_LIMIT):
        answer = client.post("/sign-in/", {"username": "alice", "password": "wrong"})
    assert answer.status_code == 429
    assert "door-card" in answer.content.decode()


def test_sign_in_never_leads_to_another_site(client, alice):
    answer = client.post(
        "/sign-in/?next=https://example.org/",
        {"username": "alice", "password": "cast-of-the-tests", "next": "https://example.org/"},
    )
    assert answer["Location"] == "/"


def test_signing_out_ends_the_session(as_alice):
    assert as_alice.post("/sign-out/")["Location"] == "/sign-in/"
    assert as_alice.get("/").status_code == 302


def test_the_pages_speak_french_first_and_english_on_request(client, alice):
    client.force_login(alice)
    assert "Mes cours" in client.get("/").content.decode()
    assert 'lang="fr"' in client.get("/").content.decode()
    client.post("/language/", {"language": "en", "next": "/"})
    assert "My courses" in client.get("/").content.decode()
    assert 'lang="en"' in client.get("/").content.decode()


# ---- Courses and conversations ----


def test_home_lists_my_courses_alone(client, bob, charlie, course, other_course, foreign_course):
    client.force_login(bob)
    both = client.get("/").content.decode()
    assert "IMM1003" in both
    assert "IMM1033" in both
    assert "Droit" not in both
    client.force_login(charlie)
    one = client.get("/").content.decode()
    assert "IMM1003" not in one
    assert "IMM1033" in one


def test_home_without_a_course_says_what_to_expect(client, dora):
    client.force_login(dora)
    assert "inscrit à aucun cours" in client.get("/").content.decode()


def test_the_administration_is_shown_to_those_it_admits(client, alice, iris, ada):
    for person, offered in ((alice, False), (iris, True), (ada, True)):
        client.force_login(person)
        assert (reverse("admin:index") in client.get("/").content.decode()) is offered


def test_lists_cost_the_same_however_long(as_alice, alice, course, django_assert_max_num_queries):
    for _ in range(6):
        asked(alice, course)
    for address in ("/", reverse("course", args=[course.pk])):
        with django_assert_max_num_queries(6):
            as_alice.get(address)


def test_a_new_conversation_reuses_the_empty_one(as_alice, alice, course):
    first = as_alice.post(reverse("new_conversation", args=[course.pk]))["Location"]
    assert as_alice.post(reverse("new_conversation", args=[course.pk]))["Location"] == first
    assert Conversation.objects.get().user == alice
    assert as_alice.get(first).status_code == 200


def test_a_conversation_shows_its_turns_with_their_sources(as_alice, turn):
    html = page(as_alice, "conversation", turn.conversation_id).content.decode()
    assert f'id="turn-{turn.ordinal}"' in html
    assert f'href="/turns/{turn.pk}/sources/S1/"' in html
    assert "Quoted word for word" in html
    assert "Course IMM1003" in html


def test_a_long_conversation_shows_its_last_turns_and_leads_to_the_earlier(as_alice, alice, course):
    conversation = asked(alice, course, "Question 1").conversation
    for ordinal in range(2, 31):
        Turn.objects.create(
            conversation=conversation, ordinal=ordinal, question=f"Question {ordinal}."
        )
    html = page(as_alice, "conversation", conversation.pk).content.decode()
    assert "Question 30." in html
    assert "Question 5." not in html
    assert 'href="?before=6"' in html
    assert (
        "Question 5."
        in as_alice.get(f"/conversations/{conversation.pk}/?before=6").content.decode()
    )
    assert as_alice.get(f"/conversations/{conversation.pk}/?before=²").status_code == 200


def test_deleting_a_conversation_leaves_nothing_of_it(as_alice, turn):
    space = turn.conversation.space_id
    answer = as_alice.post(reverse("delete_conversation", args=[turn.conversation_id]), follow=True)
    assert "erased" in answer.content.decode()
    assert not Conversation.objects.exists()
    assert not Turn.objects.exists()
    assert not Space.objects.filter(pk=space).exists()


def test_only_my_own_spaces_can_be_switched_on(client, alice, iris, course):
    for person, allowed in ((alice, False), (iris, True)):
        client.force_login(person)
        conversation = asked(person, course).conversation
        address = reverse("conversation_spaces", args=[conversation.pk])
        client.post(address, {"private": "on", "library": "on"})
        conversation.refresh_from_db()
        assert conversation.use_private is allowed
        assert conversation.use_library is False
        client.post(address, {})
        conversation.refresh_from_db()
        assert conversation.use_private is False


def test_the_chip_of_another_course_stands_only_where_the_switch_is_on(
    client, bob, course, other_course
):
    client.force_login(bob)
    conversation = asked(bob, course).conversation
    assert "IMM1033" not in page(client, "conversation", conversation.pk).content.decode()
    Institution.objects.update(cross_course_search=True)
    assert "IMM1033" in page(client, "conversation", conversation.pk).content.decode()


# ---- Turns ----


def test_a_refusal_says_where_it_searched_and_names_the_nearest(as_alice, alice, course):
    turn = asked(
        alice,
        course,
        status="refused",
        answer="Le cours n'en dit rien.",
        searched=["cours IMM1003"],
        nearest=[{"title": "Les seuils", "locator": "Diapositive 9"}],
    )
    html = page(as_alice, "turn", turn.pk).content.decode()
    for words in (
        "No proof, no answer",
        "cours IMM1003",
        "Les seuils",
        "Diapositive 9",
        "Rephrase",
    ):
        assert words in html
    assert 'class="answer' not in html


def test_a_failed_turn_offers_to_try_again(as_alice, alice, course):
    turn = asked(
        alice,
        course,
        "Une question <b>?",
        status="failed",
        reason="failed",
        answer="Index en panne.",
    )
    html = page(as_alice, "turn", turn.pk).content.decode()
    assert "Try again" in html
    assert "Index en panne." in html
    assert 'name="question" value="Une question &lt;b&gt;?"' in html


def test_general_knowledge_stands_apart_and_other_courses_are_named(as_alice, alice, course):
    turn = asked(alice, course, status="answered", origin="general-knowledge",
                 pieces=[{"text": "En général, oui.", "tags": []}])  # fmt: skip
    html = page(as_alice, "turn", turn.pk).content.decode()
    assert "answer general" in html
    assert "not from the course" in html
    assert "verified" not in html
    crossing = answered(alice, course, deck(course), cross_course=True)
    assert "another of your courses" in page(as_alice, "turn", crossing.pk).content.decode()


def test_a_pending_turn_names_where_to_follow_it(as_alice, alice, course):
    turn = asked(alice, course)
    html = page(as_alice, "conversation", turn.conversation_id).content.decode()
    assert f'data-events="/turns/{turn.pk}/events/"' in html


# ---- Sources ----


def test_the_source_is_a_page_and_a_part_of_a_page(as_alice, turn):
    address = reverse("source", args=[turn.pk, "S1"])
    whole = as_alice.get(address).content.decode()
    part = as_alice.get(address, headers={"X-Requested-With": "fetch"}).content.decode()
    assert "<html" in whole
    assert f"/conversations/{turn.conversation_id}/#turn-1" in whole
    assert "<html" not in part
    for html in (whole, part):
        assert f"<mark>{RATIO[0]}</mark>" in html
        assert "<math" in html
        assert "IMM1003 · Session 4 · Slide 8" in html
        assert "Objectifs" in html
        assert "Les seuils" in html
        assert "Version of" in html


def test_a_tag_that_the_turn_does_not_have_is_404(as_alice, turn):
    assert page(as_alice, "source", turn.pk, "S9").status_code == 404
    assert as_alice.get(f"/turns/{turn.pk}/sources/X1/").status_code == 404


def test_a_withdrawn_source_says_so_and_shows_no_word_of_it(as_alice, turn):
    document = turn.citations.first().document
    document.status = "withdrawn"
    document.save()
    for address in (
        reverse("source", args=[turn.pk, "S1"]),
        reverse("turn", args=[turn.pk]),
        reverse("conversation", args=[turn.conversation_id]),
    ):
        html = as_alice.get(address).content.decode()
        assert "withdrawn" in html.lower()
        assert RATIO[0] not in html
        assert "prêt-valeur" not in html
        assert "Les seuils" not in html


# ---- Errors ----


def test_errors_keep_the_design(as_alice, client, rf, settings):
    from django.views import defaults
    from django.views.csrf import csrf_failure

    request = rf.get("/")
    for answer, code in (
        (defaults.bad_request(request, ValueError()), 400),
        (defaults.permission_denied(request, PermissionError()), 403),
        (defaults.page_not_found(request, LookupError()), 404),
        (defaults.server_error(request), 500),
        (csrf_failure(request), 403),
    ):
        assert answer.status_code == code
        assert f'<p class="code">{code}</p>' in answer.content.decode()


def test_a_form_without_its_token_is_refused_in_words(alice):
    from django.test import Client

    strict = Client(enforce_csrf_checks=True)
    answer = strict.post("/sign-in/", {"username": "alice", "password": "cast-of-the-tests"})
    assert answer.status_code == 403
    assert "Ce formulaire a expiré" in answer.content.decode()


def test_a_suspended_person_is_signed_out(as_alice, alice, turn):
    User.objects.filter(pk=alice.pk).update(is_active=False)
    assert page(as_alice, "conversation", turn.conversation_id).status_code == 302
