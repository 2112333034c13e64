"""Runs Preuve until told to stop: Redis, then migrations and demo, then worker and web.

Started by script/server with the virtual environment's Python. Each child leads a session of its
own, so that Ctrl-C reaches this process alone and the children end in order: web, worker, Redis.
"""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from config.redis_server import (  # noqa: E402  the repository is not installed
    RedisUnavailableError,
    end_with_parent,
    start_private_redis,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

HEALTHY_WITHIN_S = 90
WEB_GRACE_S = 5  # open event streams are cut after this
WORKER_GRACE_S = 10  # a longer task is cut and taken up again at the next start
# Celery's; the tasks are JSON alone, and in a container root is usual.
NO_ROOT_WARNING = "ignore:You're running the worker with superuser privileges"


class StartError(Exception):
    """Preuve cannot start or go on; the message is the reason."""


class Stopped(Exception):  # noqa: N818  not an error: somebody asked
    """SIGINT or SIGTERM came."""


class Signals:
    """Remembers that a stop was asked for; a second request means at once."""

    def __init__(self) -> None:
        self.count = 0
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self.note)
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # nohup
            signal.signal(signal.SIGHUP, self.note)

    def note(self, _number: int, _frame: object) -> None:
        self.count += 1

    @property
    def asked(self) -> bool:
        return self.count > 0

    @property
    def hurry(self) -> bool:
        return self.count > 1


@dataclass(frozen=True, slots=True)
class Child:
    name: str
    process: subprocess.Popen[bytes]
    grace_s: float

    def stop(self, signals: Signals) -> None:
        """The child and all that it started are gone."""
        if self.process.poll() is None and not signals.hurry:
            self.process.terminate()
        deadline = time.monotonic() + self.grace_s
        while self.process.poll() is None and time.monotonic() < deadline and not signals.hurry:
            time.sleep(0.05)
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


class Supervisor:
    def __init__(self, data_dir: Path, host: str, port: str, signals: Signals) -> None:
        self.data_dir = data_dir
        self.host = host
        self.asked_port = port
        self.port = 0
        self.signals = signals
        self.environment = os.environ | {
            "PREUVE_DATA_DIR": str(data_dir),
            "PYTHONUNBUFFERED": "1",
            # Searching threads with two BLAS threads each are several times slower than with one.
            "OPENBLAS_NUM_THREADS": os.environ.get("OPENBLAS_NUM_THREADS", "1"),
            # OpenMP's spinning makes e5-small five times slower when the processors are shared.
            "OMP_WAIT_POLICY": os.environ.get("OMP_WAIT_POLICY", "PASSIVE"),
        }
        self.children: list[Child] = []

    def run(self) -> None:
        """Serves until `Stopped` or `StartError` is raised; then nothing is left running."""
        with ExitStack() as stack:
            stack.enter_context(only_server(self.data_dir / "run"))
            self.port = chosen_port(self.host, self.asked_port)
            if not self.environment.get("PREUVE_REDIS_URL"):
                redis = start_private_redis(self.data_dir / "run")
                stack.callback(redis.stop)
                self.environment["PREUVE_REDIS_URL"] = redis.url
                self.children.append(Child("Redis", redis.process, 0))
            people = self.manage("prepare")
            if static_is_stale(self.data_dir / "static"):
                self.manage("collectstatic", "--noinput", "--verbosity", "0")
            self.serve(stack)
            self.announce(people)
            while True:
                self.check()
                time.sleep(0.2)

    def serve(self, stack: ExitStack) -> None:
        """Worker and web run, and the web answers."""
        worker = self.start(
            "worker",
            *(
                "celery",
                "--quiet",
                "--app=config",
                "worker",
                "--pool=threads",
                "--concurrency=2",
                "--beat",
            ),
            *("--loglevel=WARNING", "--without-gossip", "--without-mingle"),
            grace_s=WORKER_GRACE_S,
        )
        stack.callback(worker.stop, self.signals)
        web = self.start(
            "web server",
            *("uvicorn", "config.asgi:application", f"--host={self.host}", f"--port={self.port}"),
            # Django reads the proxies' headers itself, and query strings stay out of logs.
            *("--no-proxy-headers", "--no-access-log", "--no-server-header", "--lifespan=off"),
            *("--log-level=warning", f"--timeout-graceful-shutdown={WEB_GRACE_S}"),
            grace_s=WEB_GRACE_S + 2,
        )
        stack.callback(web.stop, self.signals)
        deadline = time.monotonic() + HEALTHY_WITHIN_S
        while not self.healthy():
            self.check()
            if time.monotonic() > deadline:
                msg = f"the web server did not answer /healthz within {HEALTHY_WITHIN_S} seconds"
                raise StartError(msg)
            time.sleep(0.1)

    def start(self, name: str, *module: str, grace_s: float) -> Child:
        child = Child(name, self.spawn(["-W", NO_ROOT_WARNING, "-m", *module]), grace_s)
        self.children.append(child)
        return child

    def spawn(self, arguments: list[str], stdout: TextIO | None = None) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603  this Python, our own modules
            [sys.executable, *arguments],
            cwd=ROOT,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            start_new_session=True,
            preexec_fn=end_with_parent,
        )

    def manage(self, *arguments: str) -> str:
        """The command has succeeded; returns what it printed on standard output."""
        with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
            process = self.spawn(["manage.py", *arguments], stdout=output)
            command = Child(f"manage.py {arguments[0]}", process, WORKER_GRACE_S)
            try:
                while process.poll() is None:
                    self.check()
                    time.sleep(0.05)
            finally:
                command.stop(self.signals)
            output.seek(0)
            printed = output.read()
        if process.returncode:
            msg = f"{command.name} failed (exit code {process.returncode})"
            raise StartError(msg)
        return printed

    def check(self) -> None:
        if self.signals.asked:
            raise Stopped
        for child in self.children:
            code = child.process.poll()
            if code is not None:
                how = f"signal {-code}" if code < 0 else f"exit code {code}"
                msg = f"the {child.name} ended by itself ({how})"
                raise StartError(msg)

    def healthy(self) -> bool:
        host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(self.host, self.host)  # noqa: S104
        request = urllib.request.Request(f"http://{host}:{self.port}/healthz")
        allowed = os.environ.get("PREUVE_ALLOWED_HOSTS", "").split(",")[0].strip().lstrip(".*")
        if allowed:
            request.add_header("Host", allowed)
        try:
            with urllib.request.urlopen(request, timeout=5) as response:  # noqa: S310
                return bool(response.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    def announce(self, people: str) -> None:
        if people.strip():
            print(f"\n{people.rstrip()}", flush=True)
        print(f"\nPreuve: http://{self.host}:{self.port}/   (Ctrl-C stops it)", flush=True)


@contextmanager
def only_server(directory: Path) -> Iterator[None]:
    """No other supervisor works on this data directory meanwhile."""
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (directory / "server.lock").open("a+", encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            msg = f"Preuve already runs on {directory.parent} (process {first_line(lock)})"
            raise StartError(msg) from None
        lock.truncate(0)
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        yield


def first_line(file: TextIO) -> str:
    file.seek(0)
    return file.readline().strip() or "unknown"


def static_is_stale(collected: Path) -> bool:
    """Whether a static file of ours, or the installed packages, changed since the collection."""
    manifest = collected / "staticfiles.json"
    if not manifest.exists():
        return True
    sources = [Path(sys.prefix) / "preuve-core"]
    for directory in (ROOT / "static", *ROOT.glob("*/static")):
        sources += [directory, *directory.rglob("*")]
    made = manifest.stat().st_mtime
    return any(source.stat().st_mtime >= made for source in sources if source.exists())


def chosen_port(host: str, text: str) -> int:
    """The port asked for, known to be free; 0 gives any free port."""
    if not text.isdecimal() or int(text) > 65535:
        msg = f"PORT must be a number from 0 to 65535, not {text!r}"
        raise StartError(msg)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, int(text)))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                msg = f"port {text} is taken; choose another: PORT={int(text) + 1} script/server"
            else:
                msg = f"cannot listen on {host}, port {text}: {error.strerror}"
            raise StartError(msg) from None
        return int(probe.getsockname()[1])


def main() -> int:
    os.umask(0o077)  # database, files and key are their owner's alone
    signals = Signals()
    data_dir = Path(os.environ.get("PREUVE_DATA_DIR", "").strip() or ROOT / "var").resolve()
    host = os.environ.get("HOST", "").strip() or "127.0.0.1"
    port = os.environ.get("PORT", "").strip() or "8000"
    try:
        Supervisor(data_dir, host, port, signals).run()
    except Stopped:
        print("Preuve has stopped.", file=sys.stderr)
        return 0
    except (StartError, RedisUnavailableError) as error:
        reason = "at your request" if signals.asked else str(error)
        print(f"Preuve has stopped: {reason}.".replace("..", "."), file=sys.stderr)
        return 0 if signals.asked else 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
