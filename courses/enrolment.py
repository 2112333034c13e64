"""Verbs of enrolment: courses with their spaces, people, memberships."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.db import transaction

from courses.errors import CourseError
from courses.models import Course, Institution, Membership, Role, User


@transaction.atomic
def create_course(
    *, code: str, title: str, language: str = "fr", institution: Institution
) -> Course:
    """The course exists with its official and private spaces (made by `knowledge`'s signal)."""
    if Course.objects.filter(institution=institution, code__iexact=code).exists():
        msg = f"The course {institution.slug}/{code} already exists."
        raise CourseError(msg)
    course = Course(code=code, title=title, language=language, institution=institution)
    _check(course)
    course.save()
    return course


def find_or_create_institution(slug: str) -> Institution:
    institution = Institution.objects.filter(slug=slug).first()
    if institution is None:
        institution = Institution(slug=slug, name=slug)
        _check(institution)
        institution.save()
    return institution


def person_of(name: str, institution: Institution) -> User:
    """The person of that name in the institution, made without a usable password if new."""
    slug, _, bare = name.rpartition("/")
    if slug and slug != institution.slug:
        msg = f"{name} is not of the institution {institution.slug}."
        raise CourseError(msg)
    full = f"{institution.slug}/{bare}"
    person = User.objects.filter(institution=institution, username__in=[bare, full]).first()
    if person:
        return person
    taken = User.objects.filter(username=bare).select_related("institution").first()
    if taken and not slug:
        home = taken.institution.slug if taken.institution else "no institution"
        msg = f"{bare} belongs to {home}: write {full} to make another person of that name."
        raise CourseError(msg)
    person = User(username=full if taken else bare, institution=institution)
    person.set_unusable_password()
    _check(person)
    person.save()
    return person


@transaction.atomic
def enrol(*, name: str, course: Course, role: str = Role.STUDENT) -> Membership:
    """The person is an active member of the course in that role."""
    person = person_of(name, course.institution)
    membership = Membership.objects.filter(user=person, course=course).first()
    if membership is None:
        membership = Membership(user=person, course=course)
    membership.role = role
    membership.active = True
    _check(membership)
    membership.save()
    return membership


def _check(instance: Course | Institution | User | Membership) -> None:
    try:
        instance.full_clean()
    except ValidationError as error:
        raise CourseError("; ".join(error.messages)) from error
