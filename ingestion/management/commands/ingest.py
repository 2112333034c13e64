from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from courses.commands import ContractCommand
from courses.errors import CourseError
from courses.naming import find_course
from ingestion import pipeline
from ingestion.models import IngestionRun
from ingestion.parsing.types import DocumentError
from knowledge.models import Space, SpaceKind
from knowledge.retrieval.types import RetrievalError

if TYPE_CHECKING:
    from argparse import ArgumentParser

SPACES = {"official": SpaceKind.OFFICIAL, "private": SpaceKind.PRIVATE}


class Command(ContractCommand):
    help = "Scans a folder, file or archive and brings a space of the course up to date with it."
    errors: ClassVar = (CourseError, DocumentError, RetrievalError)

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path)
        parser.add_argument("--course", required=True)
        parser.add_argument("--space", choices=sorted(SPACES), default="official")
        parser.add_argument("--dry-run", action="store_true", help="say what would change")

    def work(self, **options: Any) -> dict[str, Any]:
        course = find_course(options["course"])
        path: Path = options["path"]
        if not path.exists():
            msg = f"There is no file or folder at {path}."
            raise DocumentError(msg)
        run = ingest_path(
            path,
            space=Space.objects.get(course=course, kind=SPACES[options["space"]]),
            dry_run=options["dry_run"],
            progress=self._bar if sys.stderr.isatty() else lambda _done, _total: None,
        )
        if run.state != IngestionRun.State.DONE:
            raise DocumentError(run.reason or f"The run ended as {run.state}.")
        return contract(run)

    def _bar(self, done: int, total: int) -> None:
        width = 30
        filled = width * done // max(total, 1)
        end = "\n" if done == total else ""
        self.stderr.write(f"\r[{'#' * filled}{'.' * (width - filled)}] {done}/{total}", ending=end)

    def say(self, value: dict[str, Any]) -> None:
        for document in value["report"]["documents"]:
            line = (
                "{path}: {kind}, {frames} frames, {chunks} chunks, {boxes} boxes, {equations} eq."
            )
            self.stdout.write(line.format(**document))
            for warning in document["warnings"]:
                self.stdout.write(f"  ! {warning}")
        for error in value["errors"]:
            self.stdout.write(self.style.ERROR(f"{error['path']}: {error['reason']}"))
        files = ", ".join(f"{count} {name}" for name, count in value["files"].items())
        chunks = ", ".join(f"{count} {name}" for name, count in value["chunks"].items())
        self.stdout.write(f"run {value['run']}: files {files}; chunks {chunks};")
        self.stdout.write(f"{value['frames']} frames, {value['seconds']} s")


def contract(run: IngestionRun) -> dict[str, Any]:
    return {
        "run": run.pk,
        "dry_run": run.dry_run,
        "files": run.files,
        "chunks": run.chunks,
        "frames": sum(document["frames"] for document in run.report["documents"]),
        "errors": run.errors,
        "seconds": run.seconds,
        "report": run.report,
    }


def ingest_path(
    path: Path,
    *,
    space: Space,
    origin: str = "",
    dry_run: bool = False,
    progress: Any = lambda _done, _total: None,
) -> IngestionRun:
    """One run in the foreground over a path of this machine.

    `origin` names where the sources come from, for good; the folder's own path if not given.
    """
    path = path.resolve()
    folder = path.is_dir() or path.suffix.lower() == ".zip"
    run = IngestionRun.objects.create(
        space=space,
        source=str(path),
        origin=origin or str(path if folder else path.parent),
        dry_run=dry_run,
    )
    claimed = pipeline.claim(run.pk)
    if claimed is None:  # a worker that resends queued runs was faster
        run.refresh_from_db()
        return run
    pipeline.run(claimed, progress=progress)
    return claimed
