from __future__ import annotations

from typing import TYPE_CHECKING, Any

from courses.commands import ContractCommand
from courses.enrolment import create_course, find_or_create_institution
from courses.naming import default_institution

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(ContractCommand):
    help = "Makes a course with its spaces."

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("code", help="code, or institution/code")
        parser.add_argument("--title", required=True)
        parser.add_argument("--language", choices=["fr", "en"], default="fr")
        parser.add_argument("--institution", help="short name; made if new", default="")

    def work(self, **options: Any) -> dict[str, Any]:
        slug, _, code = options["code"].rpartition("/")
        slug = options["institution"] or slug
        course = create_course(
            code=code,
            title=options["title"],
            language=options["language"],
            institution=find_or_create_institution(slug) if slug else default_institution(),
        )
        return {
            "course": course.code,
            "institution": course.institution.slug,
            "spaces": [space.slug for space in course.spaces.all()],
        }

    def say(self, value: dict[str, Any]) -> None:
        self.stdout.write(f"{value['institution']}/{value['course']}: {', '.join(value['spaces'])}")
