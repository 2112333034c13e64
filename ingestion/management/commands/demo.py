from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, ClassVar

from django.conf import settings
from django.db import transaction

from courses.commands import ContractCommand
from courses.enrolment import create_course, enrol, person_of
from courses.errors import CourseError
from courses.models import Course, Institution, Role, User
from ingestion.management.commands.ingest import ingest_path
from ingestion.parsing.types import DocumentError
from knowledge.models import Document, Space, SpaceKind
from knowledge.retrieval.types import RetrievalError

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from ingestion.models import IngestionRun

DEMO = {"slug": "demo", "name": "Université de démonstration"}
OTHER = {"slug": "lyre", "name": "Université Lyre"}
COURSES = (
    ("demo", "IMM1003", "Finance immobilière", "imm1003"),
    ("demo", "IMM1033", "Évaluation immobilière", "imm1033"),
    ("lyre", "IMM1003", "Introduction au droit immobilier", "lyre"),
)
PEOPLE = (
    ("demo", "alice", (("IMM1003", Role.STUDENT),)),
    ("demo", "bob", (("IMM1003", Role.STUDENT), ("IMM1033", Role.STUDENT))),
    ("demo", "charlie", (("IMM1033", Role.STUDENT),)),
    ("demo", "dora", ()),
    ("demo", "iris", (("IMM1003", Role.INSTRUCTOR),)),
    ("demo", "ivan", (("IMM1033", Role.INSTRUCTOR),)),
    ("lyre", "zoe", (("IMM1003", Role.STUDENT),)),
)
ADMINISTRATOR = ("demo", "ada")


class Command(ContractCommand):
    help = "Loads the demo: two institutions, their courses, people and material. Repeatable."
    errors: ClassVar = (CourseError, DocumentError, RetrievalError)

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--if-missing", action="store_true", help="do nothing when the demo is loaded"
        )
        parser.add_argument(
            "--passwords", action="store_true", help="give every demo person a new password"
        )

    def work(self, **options: Any) -> dict[str, Any]:
        if options["if_missing"] and self._loaded():
            return {"loaded": False, "people": [], "runs": []}
        people = self._people(renew=options["passwords"])
        runs = []
        for institution, code, _title, folder in COURSES:
            course = Course.objects.get(institution__slug=institution, code=code)
            for part, kind in (("official", SpaceKind.OFFICIAL), ("private", SpaceKind.PRIVATE)):
                source = settings.BASE_DIR / "demo" / folder / part
                if source.is_dir():
                    runs.append(self._ingest(course, kind, source))
        return {"loaded": True, "people": people, "runs": runs}

    def _loaded(self) -> bool:
        return all(
            Document.objects.filter(
                space__course__institution__slug=institution, space__course__code=code
            ).exists()
            for institution, code, _title, _folder in COURSES
        )

    @transaction.atomic
    def _people(self, *, renew: bool) -> list[dict[str, Any]]:
        homes = {}
        for home in (DEMO, OTHER):
            homes[home["slug"]], _ = Institution.objects.get_or_create(
                slug=home["slug"], defaults={"name": home["name"], "demo": home is DEMO}
            )
        for institution, code, title, _folder in COURSES:
            if not Course.objects.filter(institution__slug=institution, code=code).exists():
                create_course(code=code, title=title, institution=homes[institution])
        lines = []
        for institution, name, roles in PEOPLE:
            person = person_of(name, homes[institution])
            for code, role in roles:
                course = Course.objects.get(institution__slug=institution, code=code)
                enrol(name=person.username, course=course, role=role)
            lines.append(self._line(person, [f"{code} ({role})" for code, role in roles], renew))
        ada = person_of(ADMINISTRATOR[1], homes[ADMINISTRATOR[0]])
        ada.is_superuser = ada.is_staff = True
        ada.save()
        lines.append(self._line(ada, ["administrator"], renew))
        return lines

    def _line(self, person: User, roles: list[str], renew: bool) -> dict[str, Any]:  # noqa: FBT001
        password = None
        if renew or not person.has_usable_password():
            password = secrets.token_urlsafe(12)
            person.set_password(password)
            person.save()
        return {"user": person.username, "roles": roles, "password": password}

    def _ingest(self, course: Course, kind: SpaceKind, source: Any) -> dict[str, Any]:
        self.stderr.write(f"{course.institution.slug}/{course.code}: {kind.label} …")
        run: IngestionRun = ingest_path(
            source,
            space=Space.objects.get(course=course, kind=kind),
            origin=f"demo/{source.parent.name}/{source.name}",  # wherever this checkout lies
        )
        if run.state != run.State.DONE:
            raise DocumentError(run.reason)
        return {
            "run": run.pk, "course": course.code, "files": run.files, "chunks": run.chunks,
            "errors": run.errors, "seconds": run.seconds,
        }  # fmt: skip

    def say(self, value: dict[str, Any]) -> None:
        if not value["loaded"]:
            self.stdout.write("The demo is loaded. New passwords: manage.py demo --passwords")
            return
        for run in value["runs"]:
            self.stdout.write(
                f"{run['course']}: {run['files']['seen']} files, {run['chunks']['total']} chunks"
            )
        for person in value["people"]:
            password = person["password"] or "(password unchanged)"
            roles = ", ".join(person["roles"]) or "no course"
            self.stdout.write(f"  {person['user']:<10} {password:<22} {roles}")
