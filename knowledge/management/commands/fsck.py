from __future__ import annotations

from typing import Any, ClassVar

from django.core.management.base import CommandError
from django.db import connection

from courses.commands import ContractCommand
from courses.errors import CourseError
from knowledge import index
from knowledge.models import Chunk
from knowledge.retrieval.types import RetrievalError


class Command(ContractCommand):
    help = "Checks the index against the stored chunks. Exit 1 on any orphan, gap or difference."
    errors: ClassVar = (CourseError, RetrievalError)

    def work(self, **_options: Any) -> dict[str, Any]:
        generation = index.active_generation()
        problems = index.integrity(generation) if generation else []
        if generation is None and Chunk.objects.exists():
            problems.append("there are chunks and no active generation: run manage.py reindex")
        if connection.vendor == "sqlite":
            with connection.cursor() as cursor:
                cursor.execute("PRAGMA integrity_check")
                problems += [row[0] for row in cursor.fetchall() if row[0] != "ok"]
        return {
            "ok": not problems,
            "generation": generation.pk if generation else None,
            "chunks": Chunk.objects.count(),
            "problems": problems,
        }

    def say(self, value: dict[str, Any]) -> None:
        for problem in value["problems"]:
            self.stdout.write(problem)
        self.stdout.write(f"{value['chunks']} chunks, {len(value['problems'])} problems")

    def exit(self, value: dict[str, Any]) -> None:
        if not value["ok"]:
            msg = f"{len(value['problems'])} problems; mend with: manage.py reindex"
            raise CommandError(msg, returncode=1)
