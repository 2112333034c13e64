from __future__ import annotations

import stat
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import redis

from config import redis_server
from config.redis_server import RedisUnavailableError, redis_program, start_private_redis

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(redis_program() is None, reason="no Redis server on this machine")


@pytest.fixture
def directory() -> Iterator[Path]:
    """Awkward characters, on a path short enough for a socket."""
    with tempfile.TemporaryDirectory(prefix="a b%20#é") as directory:
        yield Path(directory) / "redis"


def test_only_its_owner_can_reach_it(directory: Path) -> None:
    server = start_private_redis(directory)
    try:
        with redis.Redis.from_url(server.client_url) as client:
            assert client.ping()
            assert client.config_get("port") == {"port": "0"}
        assert stat.S_IMODE(server.socket.stat().st_mode) == 0o700
        assert stat.S_IMODE(server.socket.parent.stat().st_mode) == 0o700
        assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    finally:
        server.stop()
    assert not server.socket.exists()


def test_what_was_queued_outlives_a_restart(directory: Path) -> None:
    server = start_private_redis(directory)
    with redis.Redis.from_url(server.client_url) as client:
        client.rpush("queue", "work")
    server.stop()
    server = start_private_redis(directory)
    try:
        with redis.Redis.from_url(server.client_url) as client:
            assert client.lrange("queue", 0, -1) == [b"work"]
    finally:
        server.stop()


@pytest.mark.parametrize("below", ["", "x" * 120])
def test_two_servers_never_share_a_directory(directory: Path, below: str) -> None:
    directory = directory / below
    server = start_private_redis(directory)
    try:
        with pytest.raises(RedisUnavailableError, match="already running"):
            start_private_redis(directory)
        with redis.Redis.from_url(server.client_url) as client:
            assert client.ping()
    finally:
        server.stop()


def test_a_path_too_long_for_a_socket_gets_a_private_one_elsewhere(directory: Path) -> None:
    server = start_private_redis(directory / ("x" * 120))
    try:
        assert stat.S_IMODE(server.socket.parent.stat().st_mode) == 0o700
        with redis.Redis.from_url(server.client_url) as client:
            assert client.config_get("dir") == {"dir": str(directory / ("x" * 120))}
    finally:
        server.stop()
    assert not server.socket.parent.exists()


def test_a_start_that_fails_says_why(directory: Path) -> None:
    directory.mkdir()
    (directory / "appendonly.aof").write_bytes(b"*damaged\r\n")
    with pytest.raises(RedisUnavailableError, match="append only file"):
        start_private_redis(directory)


def test_a_machine_without_redis_is_told_what_to_install(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_server, "redis_program", lambda: None)
    with pytest.raises(RedisUnavailableError, match="apt-get install redis-server"):
        start_private_redis(directory)
