"""One place where the rooms' errors become answers to a person, in pages, API and commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rest_framework import status
from rest_framework.response import Response
from rest_framework.views import exception_handler

from chat.answering.types import AnsweringError
from chat.ask import AskError
from courses.errors import CourseError
from ingestion.parsing.types import DocumentError
from knowledge.retrieval.types import RetrievalError

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOM_ERRORS = (AskError, CourseError, DocumentError, RetrievalError, AnsweringError)


def api_exception_handler(error: Exception, context: Mapping[str, Any]) -> Response | None:
    """A room's error is a 400, or a 503 when the same request may succeed later."""
    if isinstance(error, ROOM_ERRORS):
        code = (
            status.HTTP_503_SERVICE_UNAVAILABLE if error.retryable else status.HTTP_400_BAD_REQUEST
        )
        return Response({"detail": error.user_message, "retryable": error.retryable}, status=code)
    return exception_handler(error, dict(context))
