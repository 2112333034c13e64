from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, ClassVar

from django.conf import settings

from courses.commands import ContractCommand
from courses.errors import CourseError
from courses.models import Course
from knowledge import index, search
from knowledge.models import Chunk
from knowledge.retrieval.types import RetrievalError

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(ContractCommand):
    help = "Fills a new generation of the index and swaps it in; the old one answers meanwhile."
    errors: ClassVar = (CourseError, RetrievalError)

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--profile", default="", help="embedding profile; the set one if absent"
        )

    def work(self, **options: Any) -> dict[str, Any]:
        name = options["profile"] or settings.EMBEDDING_PROFILE
        generation = index.rebuild(name, progress=self._progress)
        profile = index.profile_of(generation)
        for course in Course.objects.all():
            search.calibrate(course, generation, profile)
        return {
            "generation": generation.pk,
            "profile": generation.profile,
            "manifest": generation.manifest,
            "chunks": Chunk.objects.count(),
        }

    def _progress(self, done: int, total: int) -> None:
        if sys.stderr.isatty():
            self.stderr.write(f"\r{done}/{total}", ending="\n" if done == total else "")
