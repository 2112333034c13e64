"""People and courses by the names that commands use: bare, or `institution/name`.

Where a bare name fits several institutions, the demo institution wins; without one there, the
name is ambiguous and must be written in full.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from courses.errors import CourseError
from courses.models import Course, Institution, User

if TYPE_CHECKING:
    from collections.abc import Sequence

Named = TypeVar("Named", Course, User)


def find_course(name: str) -> Course:
    slug, _, code = name.rpartition("/")
    found = Course.objects.select_related("institution").filter(code__iexact=code)
    if slug:
        found = found.filter(institution__slug=slug)
    return _only(list(found), name, "course", [c.institution for c in found])


def find_person(name: str) -> User:
    slug, _, bare = name.rpartition("/")
    if slug:
        people = User.objects.filter(
            institution__slug=slug, username__in=[bare, f"{slug}/{bare}"]
        ).select_related("institution")
    else:
        people = User.objects.filter(username=bare) | User.objects.filter(
            username__endswith=f"/{bare}"
        )
        people = people.select_related("institution")
    return _only(list(people), name, "person", [p.institution for p in people])


def default_institution() -> Institution:
    """The demo institution, else the only one, else a new one named `main`."""
    demo = Institution.objects.filter(demo=True).first()
    if demo:
        return demo
    known = list(Institution.objects.all()[:2])
    if len(known) > 1:
        msg = "Several institutions exist: say which with --institution."
        raise CourseError(msg)
    return known[0] if known else Institution.objects.create(slug="main", name="main")


def _only(
    found: Sequence[Named], name: str, what: str, institutions: Sequence[Institution | None]
) -> Named:
    if not found:
        msg = f"There is no {what} named {name!r}."
        raise CourseError(msg)
    if len(found) == 1:
        return found[0]
    at_demo = [
        one for one, home in zip(found, institutions, strict=True) if home is not None and home.demo
    ]
    if len(at_demo) == 1:
        return at_demo[0]
    homes = ", ".join(sorted(f"{home.slug}/{name}" for home in institutions if home))
    msg = f"Several {what}s are named {name!r}: write one of {homes}."
    raise CourseError(msg)
