"""What may come in: who, how large, of what type. Accepted work is a run in the database."""

from __future__ import annotations

import re
import unicodedata
import zipfile
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from ingestion import tasks
from ingestion.models import IngestionRun
from ingestion.parsing.types import DocumentError
from knowledge.models import Space

if TYPE_CHECKING:
    from django.core.files.uploadedfile import UploadedFile

    from courses.models import User

ACCEPTED = (".tex", ".md", ".txt", ".csv", ".zip")


def receive_upload(
    *, user: User, space: Space, upload: UploadedFile, dry_run: bool = False
) -> IngestionRun:
    """The upload is stored under a random name and a run for it is queued.

    Raises DocumentError when the person may not edit the space or the file is not acceptable.
    """
    if not Space.objects.editable_by(user).filter(pk=space.pk).exists():
        raise DocumentError(_("You may not add files to this space."))
    name = clean_name(upload.name or "")
    _check(upload, name)
    run = IngestionRun(
        space=space,
        requested_by=user,
        source=name,
        origin=f"upload:{name}" if name.lower().endswith(".zip") else "upload:",
        dry_run=dry_run,
    )
    run.upload.save(name, upload, save=False)
    with transaction.atomic():
        run.save()
        transaction.on_commit(lambda: tasks.send(run.pk))
    return run


def clean_name(name: str) -> str:
    """The file's own name without folders, control or direction characters, at most 200 long."""
    name = unicodedata.normalize("NFC", PurePosixPath(name.replace("\\", "/")).name)
    name = "".join(c for c in name if unicodedata.category(c)[0] != "C")
    name = re.sub(r"\s+", " ", name).strip(" .")
    stem, suffix = Path(name).stem[:190], Path(name).suffix[:10]
    return f"{stem}{suffix}"


def _check(upload: UploadedFile, name: str) -> None:
    suffix = Path(name).suffix.lower()
    if suffix not in ACCEPTED:
        raise DocumentError(
            _("%(suffix)s files are not read. Give one of: %(known)s.")
            % {"suffix": suffix or _("Nameless"), "known": ", ".join(ACCEPTED)}
        )
    size = upload.size or 0
    if not size:
        raise DocumentError(_("The file is empty."))
    if size > settings.UPLOAD_MAX_BYTES:
        raise DocumentError(
            _("The file has %(size)d MB; the limit is %(limit)d MB.")
            % {
                "size": size // (1024 * 1024) + 1,
                "limit": settings.UPLOAD_MAX_BYTES // (1024 * 1024),
            }
        )
    head = upload.read(4096)
    upload.seek(0)
    if suffix == ".zip":
        if not zipfile.is_zipfile(upload):
            raise DocumentError(_("This archive is broken or is not a zip archive."))
        upload.seek(0)
    elif b"\x00" in head and not head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DocumentError(
            _("This file is not text, whatever its name says: give the source itself.")
        )
