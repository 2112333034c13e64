"""Celery's side: an id in, one call. The database decides whether there is work."""

from __future__ import annotations

import logging

from celery import shared_task
from django.db.models import Q
from django.utils import timezone
from kombu.exceptions import OperationalError

from ingestion import pipeline
from ingestion.models import IngestionRun

log = logging.getLogger("preuve.ingestion")


@shared_task
def ingest_run(run_id: int) -> None:
    run = pipeline.claim(run_id)
    if run is not None:
        pipeline.run(run)


@shared_task
def resend_unfinished() -> None:
    """Runs that were accepted and are neither done nor held by a living worker are sent again."""
    unfinished = IngestionRun.objects.filter(
        Q(state=IngestionRun.State.QUEUED)
        | Q(state=IngestionRun.State.RUNNING, lease_until__lt=timezone.now())
    )
    for run_id in unfinished.values_list("pk", flat=True):
        send(run_id)


def send(run_id: int) -> None:
    """Tell a worker. A broker that is down loses nothing: the run stays queued and is resent."""
    try:
        ingest_run.delay(run_id)
    except OperationalError:
        log.warning("broker_unreachable run=%s", run_id)
