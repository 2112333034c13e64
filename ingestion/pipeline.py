"""A folder, archive or file becomes documents: scan, parse, embed, replace.

Parsing and embedding happen outside any transaction; each document is replaced in one. The run
is held under a lease with a fencing token, so that a worker that lost it commits nothing.
"""

from __future__ import annotations

import logging
import tempfile
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime

from ingestion.models import IngestionRun
from ingestion.parsing.archive import ArchiveLimits, extract_zip
from ingestion.parsing.parse import parse
from ingestion.parsing.scanner import scan
from ingestion.parsing.types import DocumentError
from knowledge import library, search
from knowledge.index import CHUNKING, active_generation, profile_of
from knowledge.models import Document, SpaceKind, Status
from knowledge.retrieval.types import RetrievalError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ingestion.parsing.types import ParsedChunk, ParsedDocument, ScannedDocument, ScanResult

log = logging.getLogger("preuve.ingestion")

State = IngestionRun.State


class LostRunError(Exception):
    """Another worker holds the run now, or it was cancelled: stop without a word."""


@dataclass(slots=True)
class Tally:
    files: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(
            ("seen", "new", "changed", "unchanged", "removed", "failed"), 0
        )
    )
    chunks: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(("added", "removed", "embedded", "total"), 0)
    )
    errors: list[dict[str, str]] = field(default_factory=list)
    documents: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def fail(self, path: str, reason: str) -> None:
        self.files["failed"] += 1
        self.errors.append({"path": path, "reason": reason})


def claim(run_id: int) -> IngestionRun | None:
    """The run under a new fence, or None when it is finished or another worker holds it."""
    now = timezone.now()
    taken = (
        IngestionRun.objects.filter(pk=run_id)
        .filter(Q(state=State.QUEUED) | Q(state=State.RUNNING, lease_until__lt=now))
        .update(state=State.RUNNING, fence=F("fence") + 1, lease_until=_lease_end())
    )
    return IngestionRun.objects.get(pk=run_id) if taken else None


def _lease_end() -> datetime:
    return timezone.now() + timedelta(seconds=settings.INGESTION_LEASE_SECONDS)


def run(run: IngestionRun, *, progress: Callable[[int, int], None] = lambda _d, _t: None) -> None:
    """The claimed run is finished: done, or failed with a reason. Nothing kept is lost."""
    started = perf_counter()
    tally = Tally()
    try:
        with _folder(run) as root:
            _ingest(run, root, tally, progress)
    except LostRunError:
        log.warning("run_lost id=%s fence=%s", run.pk, run.fence)
        return
    except (DocumentError, RetrievalError) as error:
        _finish(run, State.FAILED, tally, started, reason=error.user_message)
        return
    _finish(run, State.DONE, tally, started)


def _finish(
    run: IngestionRun, state: State, tally: Tally, started: float, *, reason: str = ""
) -> None:
    tally.chunks["total"] = sum(document.chunks.count() for document in _known(run).values())
    held = IngestionRun.objects.filter(pk=run.pk, fence=run.fence, state=State.RUNNING)
    held.update(
        state=state,
        reason=reason[:1000],
        files=tally.files,
        chunks=tally.chunks,
        errors=tally.errors,
        report={"documents": tally.documents, "warnings": tally.warnings},
        seconds=round(perf_counter() - started, 3),
        finished_at=timezone.now(),
        lease_until=None,
    )
    run.refresh_from_db()
    if run.upload and run.state in {State.DONE, State.FAILED}:
        run.upload.delete(save=True)
    log.info("run_finished id=%s state=%s seconds=%s", run.pk, run.state, run.seconds)


@contextmanager
def _folder(run: IngestionRun) -> Iterator[Path]:
    """The folder or file to scan: the path a command named, or the upload laid out anew."""
    if not run.upload:
        yield Path(run.source)
        return
    with tempfile.TemporaryDirectory(prefix="preuve-run-") as name:
        root = Path(name)
        stored = Path(run.upload.path)
        if run.source.lower().endswith(".zip"):
            extract_zip(stored, root, archive_limits())
        else:
            (root / run.source).write_bytes(stored.read_bytes())
        yield root


def archive_limits() -> ArchiveLimits:
    return ArchiveLimits(total=settings.ARCHIVE_MAX_BYTES, files=settings.ARCHIVE_MAX_FILES)


def _known(run: IngestionRun) -> dict[str, Document]:
    return {
        document.path: document
        for document in Document.objects.filter(
            space_id=run.space_id, origin=run.origin, canonical=True
        )
    }


def _ingest(
    run: IngestionRun, root: Path, tally: Tally, progress: Callable[[int, int], None]
) -> None:
    course = run.space.course
    language = course.language if course else settings.LANGUAGE_CODE
    if root.is_file() and root.suffix.lower() == ".zip":
        with tempfile.TemporaryDirectory(prefix="preuve-zip-") as name:
            extract_zip(root, Path(name), archive_limits())
            _ingest(run, Path(name), tally, progress)
        return
    result = scan(root, course_language=language)
    tally.files["seen"] = result.seen
    tally.warnings.extend(result.warnings)
    for refused in result.refused:
        tally.fail(refused.path, refused.reason)
    known = _known(run)
    work = [d for d in _statements_first(result) if _may_enter(run, d, tally)]
    for number, scanned in enumerate(work):
        _beat(run, number, len(work))
        progress(number, len(work))
        _one(run, root, scanned, known.get(scanned.path), tally)
    progress(len(work), len(work))
    if run.source.lower().endswith(".zip") or Path(run.source).is_dir():
        _remove_orphans(run, result, known, tally)
    if course and run.space.kind == SpaceKind.OFFICIAL and not run.dry_run:
        generation = active_generation(create=True)
        if generation is not None and _changed(tally):
            search.calibrate(course, generation, profile_of(generation))


def _changed(tally: Tally) -> bool:
    return any(tally.files[name] for name in ("new", "changed", "removed"))


def _statements_first(result: ScanResult) -> list[ScannedDocument]:
    """A solution is linked to its statement, so statements are read before."""
    return sorted(result.documents, key=lambda d: (bool(d.statement_path), d.path))


def _may_enter(run: IngestionRun, scanned: ScannedDocument, tally: Tally) -> bool:
    """What its author marked private never enters a space that students read."""
    if scanned.private and run.space.kind != SpaceKind.PRIVATE:
        tally.fail(
            scanned.path,
            "This file is marked private: ingest it into the private space (--space private).",
        )
        return False
    return True


def _one(
    run: IngestionRun,
    root: Path,
    scanned: ScannedDocument,
    document: Document | None,
    tally: Tally,
) -> None:
    if document and document.sha256 == scanned.sha256 and document.chunking == CHUNKING:
        if document.stated == _stated(scanned, run):
            tally.files["unchanged"] += 1
        else:
            tally.files["changed"] += 1
            if not run.dry_run:
                _restate(run, document, scanned, tally)
        return
    course = run.space.course
    try:
        parsed = parse(
            root,
            scanned,
            course_code=course.code if course else "",
            course_language=course.language if course else settings.LANGUAGE_CODE,
        )
    except DocumentError as error:
        tally.fail(scanned.path, error.user_message)
        return
    if run.dry_run:
        tally.files["changed" if document else "new"] += 1
        tally.documents.append(_line(run, scanned, parsed))
        return
    is_new = document is None
    document = document or Document(space=run.space, origin=run.origin, path=scanned.path)
    try:
        _describe(document, scanned, run)
    except DocumentError as error:
        tally.fail(scanned.path, error.user_message)
        return
    document.report = asdict(parsed.report)
    chunks = [_new_chunk(chunk) for chunk in parsed.chunks]
    embedded = library.embed_new(None if is_new else document, chunks, beat=lambda: _beat(run))
    replaced = library.replace_chunks(document, chunks, embedded, guard=lambda: _hold(run))
    tally.files["new" if is_new else "changed"] += 1
    tally.chunks["added"] += replaced.added
    tally.chunks["removed"] += replaced.removed
    tally.chunks["embedded"] += replaced.embedded
    tally.documents.append(_line(run, scanned, parsed))


def _line(run: IngestionRun, scanned: ScannedDocument, parsed: ParsedDocument) -> dict[str, Any]:
    return {
        "path": scanned.path,
        "kind": scanned.kind,
        "status": _stated(scanned, run)["status"],
        "warnings": [*scanned.warnings, *parsed.report.warnings],
    } | {name: value for name, value in asdict(parsed.report).items() if name != "warnings"}


def _stated(scanned: ScannedDocument, run: IngestionRun) -> dict[str, str]:
    """What the source states of its own governance, by preuve.toml or by its kind.

    Exams and solutions are drafts in a course space; in the private one they are where they belong.
    """
    private = run.space.kind == SpaceKind.PRIVATE and scanned.kind in {"exam", "solution"}
    return {
        "kind": scanned.kind,
        "status": Status.PUBLISHED if private else scanned.status,
        "valid_from": scanned.valid_from,
        "valid_until": scanned.valid_until,
    }


def _describe(document: Document, scanned: ScannedDocument, run: IngestionRun) -> None:
    """What the source says of itself. Where a person has decided since, the source must state
    something new to change it."""
    document.kind = scanned.kind
    document.language = scanned.language
    document.title = scanned.title[:500]
    document.session = scanned.session
    document.number = scanned.number
    document.sha256 = scanned.sha256
    if scanned.statement_path:
        document.statement = _known(run).get(scanned.statement_path)
    stated = _stated(scanned, run)
    if document.stated == stated:
        return
    document.stated = stated
    document.status = stated["status"]
    document.valid_from = _instant(scanned.valid_from)
    document.valid_until = _instant(scanned.valid_until)
    begins, ends = document.valid_from, document.valid_until
    if begins and ends and ends <= begins:
        msg = "preuve.toml: valid_until must come after valid_from."
        raise DocumentError(msg)


def _restate(run: IngestionRun, document: Document, scanned: ScannedDocument, tally: Tally) -> None:
    """The text is the same; only what preuve.toml says of it changed."""
    try:
        _describe(document, scanned, run)
    except DocumentError as error:
        tally.files["changed"] -= 1
        tally.fail(scanned.path, error.user_message)
        return
    with transaction.atomic():
        _hold(run)
        document.save()


def _instant(text: str) -> datetime | None:
    """An ISO date or date-time, in the installation's time zone unless it names its own."""
    if not text:
        return None
    value = parse_datetime(text)
    if value is None:
        day = parse_date(text)
        if day is None:
            msg = f"preuve.toml: {text!r} is not a date (write 2026-09-01 or 2026-09-01T08:00)."
            raise DocumentError(msg)
        value = datetime.combine(day, datetime.min.time())
    if timezone.is_naive(value):
        value = value.replace(tzinfo=ZoneInfo(settings.TIME_ZONE))
    return value


CHUNK_COLUMNS = (
    "kind", "title", "section", "session", "slide", "slide_end", "page", "sheet", "term",
    "term_translation", "exercise", "question", "part", "notes", "appendix", "text", "display",
)  # fmt: skip


def _new_chunk(chunk: ParsedChunk) -> library.NewChunk:
    fields: dict[str, Any] = {name: getattr(chunk, name) for name in CHUNK_COLUMNS}
    fields["boxes"] = list(chunk.boxes)
    return library.NewChunk(
        key=chunk.key, search=chunk.search, fields=fields, statement_key=chunk.statement_key
    )


def _remove_orphans(
    run: IngestionRun, result: ScanResult, known: dict[str, Document], tally: Tally
) -> None:
    """Documents whose file is gone from the folder go too; one that only failed stays."""
    here = {d.path for d in result.documents} | {r.path for r in result.refused}
    orphans = [document for path, document in known.items() if path not in here]
    tally.files["removed"] = len(orphans)
    if run.dry_run:
        return
    with transaction.atomic():
        _hold(run)
        tally.chunks["removed"] += library.delete_documents(orphans)


def _hold(run: IngestionRun) -> None:
    """Inside the writing transaction: is the run still ours? SQLite's IMMEDIATE locks it."""
    if not IngestionRun.objects.filter(pk=run.pk, fence=run.fence, state=State.RUNNING).exists():
        raise LostRunError


def _beat(run: IngestionRun, done: int | None = None, total: int | None = None) -> None:
    """The lease is renewed and progress stored. Raises LostRunError when the run is not ours."""
    values: dict[str, Any] = {"lease_until": _lease_end()}
    if done is not None:
        values |= {"done": done, "total": total}
    if not IngestionRun.objects.filter(pk=run.pk, fence=run.fence, state=State.RUNNING).update(
        **values
    ):
        raise LostRunError
