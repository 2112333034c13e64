"""Log lines carry ids, never question or document text."""

from __future__ import annotations

import logging
import re
import uuid
from contextvars import ContextVar
from typing import TYPE_CHECKING, cast

from asgiref.sync import iscoroutinefunction, markcoroutinefunction

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from django.http import HttpRequest, HttpResponseBase

request_id: ContextVar[str] = ContextVar("request_id", default="-")
_FORM = re.compile(r"[A-Za-z0-9-]{8,64}")


class IdsFilter(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = request_id.get()
        return True


class RequestIdMiddleware:
    """Gives each request an id (a well-formed `X-Request-ID` is kept) and returns it."""

    sync_capable = True
    async_capable = True

    def __init__(
        self, get_response: Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]
    ) -> None:
        self.get_response = get_response
        self.is_async = iscoroutinefunction(get_response)
        if self.is_async:
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        identifier = self._enter(request)
        response = self.get_response(request)
        if self.is_async:
            return self._later(cast("Awaitable[HttpResponseBase]", response), identifier)
        return self._marked(cast("HttpResponseBase", response), identifier)

    async def _later(
        self, response: Awaitable[HttpResponseBase], identifier: str
    ) -> HttpResponseBase:
        return self._marked(await response, identifier)

    def _marked(self, response: HttpResponseBase, identifier: str) -> HttpResponseBase:
        response["X-Request-ID"] = identifier
        return response

    def _enter(self, request: HttpRequest) -> str:
        given = request.headers.get("X-Request-ID", "")
        identifier = given if _FORM.fullmatch(given) else uuid.uuid4().hex
        request_id.set(identifier)
        return identifier
