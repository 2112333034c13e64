"""Chat profiles by name, and the counter that proves when no chat client was built."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Protocol

from chat.answering import extractive
from chat.answering.types import Proposal, Request, UnknownProfileError

if TYPE_CHECKING:
    from collections.abc import Callable

EXTRACTIVE = "extractive"


class ChatProfile(Protocol):
    """Turns evidence into a proposal. What it returns is not believed before the answer gate.

    `calls_model` says whether using it costs a call to a chat model. Raises ProviderError when its
    provider fails; an inability to answer is a `Proposal`.
    """

    @property
    def name(self) -> str: ...

    @property
    def calls_model(self) -> bool: ...

    def propose(self, request: Request) -> Proposal: ...


class ExtractiveProfile:
    """The built-in answerer: sentences of the evidence, no model, no network."""

    name = EXTRACTIVE
    calls_model = False

    def propose(self, request: Request) -> Proposal:
        return extractive.propose(request)


class ProfileRegistry:
    """Profiles by name. A profile is built when a turn has evidence for it, never before.

    `clients_built` counts the profiles built that call a model: a refusal for want of evidence
    leaves it as it was. Safe to use from several threads.
    """

    def __init__(self) -> None:
        self._factories: dict[str, Callable[[], ChatProfile]] = {}
        self._lock = threading.Lock()
        self._built = 0

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(sorted(self._factories))

    @property
    def clients_built(self) -> int:
        return self._built

    def register(self, name: str, factory: Callable[[], ChatProfile]) -> None:
        """A later factory takes the place of an earlier one of the same name."""
        with self._lock:
            self._factories[name] = factory

    def build(self, name: str) -> ChatProfile:
        """Raises UnknownProfileError for a name that nobody registered."""
        factory = self._factories.get(name)
        if factory is None:
            msg = f"No chat profile is called “{name}”."
            raise UnknownProfileError(msg)
        profile = factory()
        if profile.calls_model:
            with self._lock:
                self._built += 1
        return profile


PROFILES = ProfileRegistry()
PROFILES.register(EXTRACTIVE, ExtractiveProfile)
