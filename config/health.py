"""`/healthz`: 200 when the database answers, 503 otherwise. Says nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import DatabaseError, connection
from django.http import HttpResponse
from django.views.decorators.cache import never_cache

if TYPE_CHECKING:
    from django.http import HttpRequest


@never_cache
def healthz(_request: HttpRequest) -> HttpResponse:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return HttpResponse("unavailable", status=503, content_type="text/plain")
    return HttpResponse("ok", content_type="text/plain")
