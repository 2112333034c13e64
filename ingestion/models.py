"""Runs of ingestion: what was asked, what happened to each file, and who holds the work."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, ClassVar, Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from knowledge.models import Space

if TYPE_CHECKING:
    from courses.models import Person


def random_name(run: IngestionRun, _filename: str) -> str:
    """A server-made name: nothing of the client's name reaches the disk."""
    return f"uploads/{secrets.token_hex(16)}"


class IngestionRunQuerySet(models.QuerySet["IngestionRun"]):
    def visible_to(self, user: Person) -> Self:
        return self.filter(space__in=Space.objects.editable_by(user))

    def editable_by(self, user: Person) -> Self:
        return self.visible_to(user)


class IngestionRun(models.Model):
    """One scan of a folder, archive or file into one space.

    The database is the truth of the queue: a run that is queued, or running under a lease that
    has ended, is sent to a worker again. `fence` grows with each claim; a worker whose fence is
    no longer the run's commits nothing.
    """

    class State(models.TextChoices):
        QUEUED = "queued", _("queued")
        RUNNING = "running", _("running")
        DONE = "done", _("done")
        FAILED = "failed", _("failed")
        CANCELLED = "cancelled", _("cancelled")

    space = models.ForeignKey(
        Space, on_delete=models.CASCADE, related_name="runs", verbose_name=_("space")
    )
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("requested by"),
    )
    source = models.CharField(_("source"), max_length=1000)
    origin = models.CharField(max_length=1000, editable=False)
    upload = models.FileField(upload_to=random_name, blank=True, editable=False)
    dry_run = models.BooleanField(_("dry run"), default=False)
    state = models.CharField(
        _("state"), max_length=20, choices=State, default=State.QUEUED, db_index=True
    )
    reason = models.CharField(_("reason"), max_length=1000, blank=True)
    files = models.JSONField(_("files"), default=dict, blank=True)
    chunks = models.JSONField(_("chunks"), default=dict, blank=True)
    errors = models.JSONField(_("errors"), default=list, blank=True)
    report = models.JSONField(_("report"), default=dict, blank=True)
    done = models.PositiveIntegerField(_("files done"), default=0)
    total = models.PositiveIntegerField(_("files to do"), default=0)
    seconds = models.FloatField(_("seconds"), default=0.0)
    fence = models.PositiveIntegerField(default=0, editable=False)
    lease_until = models.DateTimeField(null=True, blank=True, editable=False)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    finished_at = models.DateTimeField(_("finished"), null=True, blank=True)

    objects = IngestionRunQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["-pk"]
        verbose_name = _("ingestion run")
        verbose_name_plural = _("ingestion runs")
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(state__in=["queued", "running", "done", "failed", "cancelled"]),
                name="run_state_known",
            ),
        ]

    def __str__(self) -> str:
        return f"#{self.pk} {self.source}"
