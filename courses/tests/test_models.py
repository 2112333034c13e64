"""What the database itself refuses."""

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from courses.models import Course, Membership


def refused(action):
    with pytest.raises(IntegrityError), transaction.atomic():
        action()


def test_unknown_words_are_refused_by_the_database(course, alice):
    refused(lambda: Course.objects.filter(pk=course.pk).update(language="de"))
    refused(lambda: Course.objects.filter(pk=course.pk).update(answer_policy="anything"))
    refused(lambda: Membership.objects.filter(user=alice).update(role="owner"))


def test_a_person_is_a_member_once(course, alice):
    refused(lambda: Membership.objects.create(user=alice, course=course))


def test_a_membership_never_joins_two_institutions(course, zoe):
    with pytest.raises(ValidationError):
        Membership(user=zoe, course=course).full_clean()


def test_courses_visible_are_those_of_active_memberships(cast, course, other_course):
    assert set(Course.objects.visible_to(cast.bob)) == {course, other_course}
    assert set(Course.objects.visible_to(cast.alice)) == {course}
    assert not Course.objects.visible_to(cast.dora).exists()
    Membership.objects.filter(user=cast.alice).update(active=False)
    assert not Course.objects.visible_to(cast.alice).exists()
    cast.bob.is_active = False
    assert not Course.objects.visible_to(cast.bob).exists()


def test_only_instructors_edit_a_course(cast, course, other_course):
    assert set(Course.objects.editable_by(cast.iris)) == {course}
    assert set(Course.objects.editable_by(cast.ivan)) == {other_course}
    for person in (cast.alice, cast.bob, cast.dora, cast.ada, cast.zoe):
        assert not Course.objects.editable_by(person).exists()


def test_a_membership_row_across_institutions_opens_nothing(course, zoe):
    """Even written behind the verbs' back, such a row gives no access."""
    Membership.objects.create(user=zoe, course=course, role="instructor")
    assert course not in Course.objects.visible_to(zoe)
    assert course not in Course.objects.editable_by(zoe)
