from __future__ import annotations

from typing import TYPE_CHECKING, Any

from courses.commands import ContractCommand
from courses.enrolment import enrol
from courses.models import Role
from courses.naming import find_course

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(ContractCommand):
    help = "Enrols a person in a course; a new person is made, without a usable password."

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("user", help="name, or institution/name")
        parser.add_argument("code", help="course code, or institution/code")
        parser.add_argument("--role", choices=Role.values, default=Role.STUDENT)

    def work(self, **options: Any) -> dict[str, Any]:
        membership = enrol(
            name=options["user"], course=find_course(options["code"]), role=options["role"]
        )
        return {
            "user": membership.user.username,
            "course": membership.course.code,
            "institution": membership.course.institution.slug,
            "role": membership.role,
        }

    def say(self, value: dict[str, Any]) -> None:
        self.stdout.write(f"{value['user']}: {value['role']} of {value['course']}")
