"""`Space.objects.visible_to`: for each person exactly the visible spaces, none of the hidden."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import IntegrityError, transaction
from django.utils import timezone

from chat.models import Conversation
from courses.models import Membership
from knowledge.library import library_of
from knowledge.models import Chunk, Document, Fact, Space, SpaceKind


@pytest.fixture
def spaces(cast, course, other_course, foreign_course):
    """Every kind of space there is, by name."""
    named = {}
    for label, one in (("1003", course), ("1033", other_course), ("lyre", foreign_course)):
        named[f"official {label}"] = one.spaces.get(kind="official")
        named[f"private {label}"] = one.spaces.get(kind="instructor_private")
    for name in ("alice", "bob"):
        person = getattr(cast, name)
        named[f"library {name}"] = library_of(person)
        named[f"conversation {name}"] = Conversation.open(user=person, course=course).space
    return named


def names(spaces, queryset):
    by_pk = {space.pk: name for name, space in spaces.items()}
    return {by_pk[space.pk] for space in queryset if space.pk in by_pk}


@pytest.mark.parametrize(
    ("person", "visible"),
    [
        ("alice", {"official 1003", "library alice", "conversation alice"}),
        ("bob", {"official 1003", "official 1033", "library bob", "conversation bob"}),
        ("charlie", {"official 1033"}),
        ("dora", set()),
        ("iris", {"official 1003", "private 1003"}),
        ("ivan", {"official 1033", "private 1033"}),
        ("ada", set()),
        ("zoe", {"official lyre"}),
    ],
)
def test_each_person_sees_exactly_their_spaces(cast, spaces, person, visible):
    assert names(spaces, Space.objects.visible_to(getattr(cast, person))) == visible


def test_nobody_signed_in_and_suspended_people_see_nothing(cast, spaces):
    assert not Space.objects.visible_to(AnonymousUser()).exists()
    cast.alice.is_active = False
    assert not Space.objects.visible_to(cast.alice).exists()


def test_an_ended_membership_closes_the_course_but_not_ones_own_files(cast, spaces):
    Membership.objects.filter(user=cast.alice).update(active=False)
    visible = names(spaces, Space.objects.visible_to(cast.alice))
    assert visible == {"library alice", "conversation alice"}


def test_a_conversation_searches_its_course_and_its_own_files(cast, spaces, course):
    conversation = Conversation.objects.get(user=cast.alice)
    seen = names(spaces, Space.objects.visible_to(cast.alice, conversation))
    assert seen == {"official 1003", "conversation alice"}
    conversation.use_library = True
    seen = names(spaces, Space.objects.visible_to(cast.alice, conversation))
    assert seen == {"official 1003", "conversation alice", "library alice"}


def test_another_course_is_searched_only_with_the_switch_and_a_membership_there(
    cast, spaces, institution
):
    of_bob = Conversation.objects.get(user=cast.bob)
    of_alice = Conversation.objects.get(user=cast.alice)
    assert "official 1033" not in names(spaces, Space.objects.visible_to(cast.bob, of_bob))
    institution.cross_course_search = True
    institution.save()
    assert "official 1033" in names(spaces, Space.objects.visible_to(cast.bob, of_bob))
    assert "official 1033" not in names(spaces, Space.objects.visible_to(cast.alice, of_alice))


def test_private_material_enters_only_an_instructors_conversation_that_switched_it_on(
    cast, spaces, course
):
    conversation = Conversation.open(user=cast.iris, course=course)
    assert "private 1003" not in names(spaces, Space.objects.visible_to(cast.iris, conversation))
    conversation.use_private = True
    assert "private 1003" in names(spaces, Space.objects.visible_to(cast.iris, conversation))
    by_student = Conversation.objects.get(user=cast.alice)
    by_student.use_private = True
    assert "private 1003" not in names(spaces, Space.objects.visible_to(cast.alice, by_student))


def test_a_conversation_of_somebody_else_searches_nothing(cast, spaces):
    of_bob = Conversation.objects.get(user=cast.bob)
    assert not Space.objects.visible_to(cast.alice, of_bob).exists()


def test_a_conversation_in_a_course_one_left_searches_nothing(cast, spaces):
    conversation = Conversation.objects.get(user=cast.alice)
    conversation.use_library = True
    Membership.objects.filter(user=cast.alice).update(active=False)
    assert not Space.objects.visible_to(cast.alice, conversation).exists()


def test_an_assistant_reads_private_material_only_where_the_course_lets_them(cast, spaces, course):
    Membership.objects.filter(user=cast.alice).update(role="assistant")
    assert "private 1003" not in names(spaces, Space.objects.visible_to(cast.alice))
    course.assistants_see_private = True
    course.save()
    assert "private 1003" in names(spaces, Space.objects.visible_to(cast.alice))
    assert "private 1003" not in names(spaces, Space.objects.editable_by(cast.alice))


def test_only_instructors_edit_course_spaces_and_owners_their_own(cast, spaces):
    assert names(spaces, Space.objects.editable_by(cast.iris)) == {
        "official 1003",
        "private 1003",
    }
    assert names(spaces, Space.objects.editable_by(cast.alice)) == {
        "library alice",
        "conversation alice",
    }
    assert not Space.objects.editable_by(cast.ada).exists()


@pytest.mark.parametrize(
    "values",
    [
        {"kind": "official"},
        {"kind": "library"},
        {"kind": "conversation"},
        {"kind": "everything"},
    ],
)
def test_a_space_that_belongs_to_nobody_cannot_be_stored(db, values):
    with pytest.raises(IntegrityError), transaction.atomic():
        Space.objects.create(**values)


def test_a_course_has_one_space_of_each_kind(course):
    assert set(course.spaces.values_list("kind", flat=True)) == {"official", "instructor_private"}
    with pytest.raises(IntegrityError), transaction.atomic():
        Space.objects.create(kind=SpaceKind.OFFICIAL, course=course)


STATES = {
    "live": {},
    "draft": {"status": "draft"},
    "withdrawn": {"status": "withdrawn"},
    "old version": {"canonical": False},
    "expired": {"valid_until": timedelta(seconds=-1)},
    "not yet": {"valid_from": timedelta(seconds=60)},
    "in term": {"valid_from": timedelta(days=-1), "valid_until": timedelta(days=1)},
}


def test_only_what_is_published_canonical_and_valid_is_admissible(course, alice, iris):
    space = course.spaces.get(kind="official")
    now = timezone.now()
    for name, values in STATES.items():
        dated = {k: now + v if isinstance(v, timedelta) else v for k, v in values.items()}
        document = Document.objects.create(space=space, path=name, sha256="0" * 64, **dated)
        Chunk.objects.create(document=document, ordinal=0, position=0, key="k", kind="text")
        Fact.objects.create(space=space, subject=name, attribute="a", value="v", source=document)
    live = {"live", "in term"}
    assert {d.path for d in Document.objects.visible_to(alice)} == live
    assert {c.document.path for c in Chunk.objects.visible_to(alice)} == live
    assert {d.path for d in Document.objects.admissible(now)} == live
    assert {d.path for d in Document.objects.visible_to(iris)} == set(STATES)


def test_validity_is_half_open(course):
    space = course.spaces.get(kind="official")
    start = timezone.now()
    end = start + timedelta(days=1)
    Document.objects.create(
        space=space, path="d", sha256="0" * 64, valid_from=start, valid_until=end
    )
    tick = timedelta(microseconds=1)
    found = [
        Document.objects.admissible(at).exists()
        for at in (start - tick, start, end - tick, end, end + tick)
    ]
    assert found == [False, True, True, False, False]


def test_a_chunk_hidden_until_an_instant_is_admissible_from_then_on(course):
    space = course.spaces.get(kind="official")
    document = Document.objects.create(space=space, path="d", sha256="0" * 64)
    until = timezone.now()
    Chunk.objects.create(
        document=document, ordinal=0, position=0, key="k", kind="text", hidden_until=until
    )
    assert not Chunk.objects.admissible(until - timedelta(microseconds=1)).exists()
    assert Chunk.objects.admissible(until).exists()
