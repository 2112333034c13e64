"""script/server's supervisor, run for real: Redis, worker and web come up and go down together."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from config.redis_server import redis_program

ROOT = Path(__file__).resolve().parents[2]
READY_WITHIN_S = 240
pytestmark = [
    pytest.mark.skipif(redis_program() is None, reason="no Redis server on this machine"),
    pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="reads /proc"),
    pytest.mark.xdist_group("server"),
]


class Server:
    def __init__(self, data_dir: Path) -> None:
        self.log = data_dir.parent / "output"
        environment = os.environ | {
            "PREUVE_DATA_DIR": str(data_dir),
            "PREUVE_EMBEDDING_PROFILE": "hashing",
            "PORT": "0",
        }
        environment.pop("PREUVE_REDIS_URL", None)
        with self.log.open("w") as output:
            self.process = subprocess.Popen(
                [sys.executable, ROOT / "script" / "_lib" / "supervisor.py"],
                cwd="/",
                env=environment,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        deadline = time.monotonic() + READY_WITHIN_S
        while "Preuve: http" not in self.output:
            assert self.process.poll() is None, self.output
            assert time.monotonic() < deadline, self.output
            time.sleep(0.1)
        self.address = re.findall(r"http://\S+", self.output)[0]

    @property
    def output(self) -> str:
        return self.log.read_text(encoding="utf-8")

    def processes(self) -> dict[str, int]:
        """The supervisor's children by what they run."""
        pid = self.process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
        found = {}
        for child in children:
            command = Path(f"/proc/{child}/cmdline").read_text(encoding="utf-8")
            for name in ("redis-server", "celery", "uvicorn"):
                if name in command:
                    found[name] = int(child)
        return found

    def left_running(self, data_dir: Path) -> list[str]:
        """The command lines of all processes that still have this data directory."""
        marker = f"PREUVE_DATA_DIR={data_dir}".encode()
        left = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                environment = (process / "environ").read_bytes()
                command = (process / "cmdline").read_bytes()
            except OSError:
                continue
            if marker in environment.split(b"\0") or str(data_dir).encode() in command:
                left.append(command.replace(b"\0", b" ").decode())
        return left


def test_it_serves_until_told_to_stop_and_leaves_nothing_running(tmp_path: Path) -> None:
    data_dir = tmp_path / "the data"

    server = Server(data_dir)
    try:
        with urllib.request.urlopen(f"{server.address}healthz", timeout=10) as response:
            assert response.status == 200
        assert set(server.processes()) == {"redis-server", "celery", "uvicorn"}
        assert re.search(r"alice +\S{12,}", server.output), "the first start shows the passwords"
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(60) == 0, server.output
    finally:
        server.process.kill()
    assert server.left_running(data_dir) == []
    assert not (data_dir / "run" / "redis.sock").exists()
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(f"{server.address}healthz", timeout=10)

    server = Server(data_dir)
    try:
        assert "alice" not in server.output, "a later start changes and shows no password"
        os.kill(server.processes()["uvicorn"], signal.SIGKILL)
        assert server.process.wait(60) == 1
        assert "the web server ended by itself (signal 9)" in server.output
    finally:
        server.process.kill()
    assert server.left_running(data_dir) == []
