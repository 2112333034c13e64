"""Chat profiles by name, and the room's own rules."""

from __future__ import annotations

import subprocess
import sys

import pytest

from chat.answering.profiles import ProfileRegistry
from chat.answering.types import (
    AnsweringError,
    Proposal,
    ProviderError,
    Request,
    UnknownProfileError,
)


class Model:
    name = "model"
    calls_model = True

    def propose(self, request: Request) -> Proposal:
        raise ProviderError("The model does not answer.", retryable=True)


def test_a_client_is_counted_when_it_is_built_and_not_before() -> None:
    registry = ProfileRegistry()
    registry.register("model", Model)
    assert (registry.names, registry.clients_built) == (("model",), 0)
    registry.build("model")
    assert registry.clients_built == 1


def test_an_unknown_name_is_a_clear_error() -> None:
    with pytest.raises(UnknownProfileError) as caught:
        ProfileRegistry().build("nope")
    assert "nope" in caught.value.user_message
    assert not caught.value.retryable


def test_every_error_of_the_room_has_a_message_and_says_if_a_retry_helps() -> None:
    error = ProviderError("Trop long.", retryable=True)
    assert isinstance(error, AnsweringError)
    assert (error.user_message, error.retryable) == ("Trop long.", True)


def test_the_room_is_pure() -> None:
    code = (
        "import sys, pkgutil, importlib, chat.answering as room\n"
        "for m in pkgutil.iter_modules(room.__path__):\n"
        "    importlib.import_module('chat.answering.' + m.name)\n"
        "bad = {'django', 'rest_framework', 'celery', 'kombu', 'redis', 'openai', 'torch'}\n"
        "sys.exit(', '.join(sorted(bad & set(sys.modules))) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
