"""Answers as server-sent events: `event: name`, `data: JSON`, one blank line.

A stream runs its generator in a thread of its own, because the route of a question is synchronous,
and hands each frame to the event loop. The reader gone, the generator is closed before its next
step; a slow step is bridged by comment lines, which readers skip.
"""

from __future__ import annotations

import asyncio
import contextvars
import json
import logging
import threading
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.cache import cache
from django.db import connection, connections
from django.http import StreamingHttpResponse
from django.urls import get_script_prefix, reverse, set_script_prefix
from django.utils.cache import add_never_cache_headers, patch_vary_headers
from django.utils.translation import get_language, override
from rest_framework.exceptions import Throttled

from chat import ask
from chat.models import Turn
from chat.presenting import piece_html, present, quoted, withdrawn_sentence

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Generator

    from courses.models import User

logger = logging.getLogger("preuve.chat")

HEARTBEAT_S = 15.0
REPLAY_POLL_S = 0.5
REPLAY_LONGEST_S = 60.0
WAITING = ": waiting\n\n"


def throttle(user: User) -> None:
    """Counts a question. Raises Throttled past `QUESTIONS_PER_MINUTE` in this clock minute."""
    now = time.time()
    key = f"questions:{user.pk}:{int(now // 60)}"
    cache.add(key, 0, timeout=120)
    if cache.incr(key) > settings.QUESTIONS_PER_MINUTE:
        raise Throttled(wait=60 - now % 60)


def stream(turn: Turn, user: User) -> StreamingHttpResponse:
    """Answers the pending turn as it is read: `turn`, then the events of `answer_question`."""
    return respond(answer_frames(turn, user))


def replay(turn: Turn, user: User) -> StreamingHttpResponse:
    """The recorded turn as the same events; a pending one is awaited for up to a minute."""
    return respond(replay_frames(turn, user))


def frame(name: str, data: dict[str, Any]) -> str:
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"


def _announced(turn: Turn) -> dict[str, Any]:
    return {
        "id": turn.pk,
        "ordinal": turn.ordinal,
        "url": reverse("turn", args=[turn.pk]),
        "title": turn.conversation.title,
        "quotes": quoted(turn),
    }


def answer_frames(turn: Turn, user: User) -> Generator[str]:
    yield frame("turn", _announced(turn))
    try:
        with closing(ask.answer_question(turn, user)) as events:  # type: ignore[type-var]
            for event in events:
                if not _still_open(turn, user):
                    break
                data = dict(event.data)
                if event.name == "piece":
                    data["html"] = piece_html(turn, data)
                yield frame(event.name, data)
    except Exception:
        logger.exception("answer_failed turn=%s", turn.pk)
        yield frame("done", {"status": "failed", "reason": "error"})


def replay_frames(turn: Turn, user: User) -> Generator[str]:
    yield frame("turn", _announced(turn))
    deadline = time.monotonic() + REPLAY_LONGEST_S
    while turn.status == Turn.Status.PENDING:
        if time.monotonic() > deadline:
            return
        time.sleep(REPLAY_POLL_S)
        yield WAITING
        found = Turn.objects.visible_to(user).filter(pk=turn.pk).first()
        if found is None:
            return
        turn = found
    (shown,) = present([turn], user)
    for piece in shown.pieces:
        html = withdrawn_sentence() if piece.hidden else piece.html
        yield frame("piece", {"html": html, "hidden": piece.hidden})
    yield frame("done", {"status": shown.status, "reason": turn.reason})


def _still_open(turn: Turn, user: User) -> bool:
    """Whether the person may still read the conversation: they may be suspended meanwhile."""
    user.refresh_from_db(fields=["is_active", "institution"])
    return Turn.objects.visible_to(user).filter(pk=turn.pk).exists()


def respond(frames: Generator[str]) -> StreamingHttpResponse:
    """Frames as a response that is never cached, buffered or compressed."""
    reading = _read(_as_here(frames), contextvars.copy_context())
    response = StreamingHttpResponse(reading, content_type="text/event-stream")
    add_never_cache_headers(response)
    patch_vary_headers(response, ["Accept"])
    response["X-Accel-Buffering"] = "no"
    if not connection.in_atomic_block:
        connection.close()  # the request's own, idle while the answer is made
    return response


def _as_here(frames: Generator[str]) -> Generator[str]:
    """The frames with this request's language and address prefix, in whichever thread they run.

    Both live in asgiref's `Local`, which a copied context does not carry to another thread.
    """
    language, prefix = get_language(), get_script_prefix()

    def made() -> Generator[str]:
        set_script_prefix(prefix)
        with override(language), closing(frames):
            yield from frames

    return made()


async def _read(frames: Generator[str], context: contextvars.Context) -> AsyncIterator[str]:
    """Frames made in another thread, which keeps the request's id for its log lines."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[str | None] = asyncio.Queue()
    gone = threading.Event()

    def hand_over(item: str | None) -> None:
        try:
            loop.call_soon_threadsafe(queue.put_nowait, item)
        except RuntimeError:  # the server stopped, its loop is closed
            gone.set()

    def work() -> None:
        try:
            with closing(frames):
                for item in frames:
                    if gone.is_set():
                        break
                    hand_over(item)
        finally:
            connections.close_all()
            hand_over(None)

    threading.Thread(target=context.run, args=(work,), name="stream", daemon=True).start()
    try:
        while True:
            try:
                item = await asyncio.wait_for(queue.get(), HEARTBEAT_S)
            except TimeoutError:
                item = WAITING
            if item is None:
                return
            yield item
    finally:
        gone.set()
