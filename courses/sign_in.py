"""Signing in with a bare name or `institution/name`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib.auth.backends import ModelBackend

from courses.errors import CourseError
from courses.models import User
from courses.naming import find_person

if TYPE_CHECKING:
    from django.http import HttpRequest


class PersonBackend(ModelBackend):
    """Django's own backend, after the name is resolved as commands resolve it.

    An unknown name still costs one password hash, so that it cannot be told from a known one.
    """

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **kwargs: Any,
    ) -> User | None:
        if username is None or password is None:
            return None
        try:
            person = find_person(username.strip())
        except CourseError:
            User().set_password(password)
            return None
        if person.check_password(password) and self.user_can_authenticate(person):
            return person
        return None
