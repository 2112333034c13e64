"""A real Celery worker on a real Redis, killed in the middle of a run."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from config.redis_server import RedisUnavailableError, start_private_redis

ROOT = Path(__file__).resolve().parents[2]
DECKS = 120
FRAMES = 8

QUEUE = """
import sys
from django.core.files.uploadedfile import SimpleUploadedFile
from courses.models import User
from ingestion import intake
from knowledge.models import Space
space = Space.objects.get(course__code="IMM1003", kind="official")
data = open(sys.argv[1], "rb").read()
run = intake.receive_upload(user=User.objects.get(username="iris"), space=space,
                            upload=SimpleUploadedFile("cours.zip", data))
print(run.pk)
"""


def deck(number):
    frames = "\n".join(
        rf"\begin{{frame}}{{Diapositive {number}-{i}}}Le contenu {i} du jeu {number} parle "
        rf"d'une notion importante et de ses conséquences.\end{{frame}}"
        for i in range(FRAMES)
    )
    return rf"\documentclass{{beamer}}\begin{{document}}{frames}\end{{document}}"


@pytest.fixture
def installation(tmp_path):
    """An empty installation of its own, with a course and its instructor."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PREUVE_")}
    environment |= {
        "PREUVE_DATA_DIR": str(tmp_path / "data"),
        "PREUVE_EMBEDDING_PROFILE": "hashing",
        "PREUVE_INGESTION_LEASE_SECONDS": "3",
        "PREUVE_INGESTION_RESEND_SECONDS": "1",
    }
    manage(environment, "migrate", "-v0")
    manage(environment, "create_course", "IMM1003", "--title", "Finance")
    manage(environment, "enrol", "iris", "IMM1003", "--role", "instructor")
    try:
        redis = start_private_redis(tmp_path / "run")
    except RedisUnavailableError as error:
        pytest.fail(str(error))
    environment["PREUVE_REDIS_URL"] = redis.url
    yield environment
    redis.stop()


def manage(environment, *arguments):
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@contextmanager
def worker(environment):
    process = subprocess.Popen(
        [sys.executable, "-m", "celery", "-A", "config", "worker", "--pool", "threads",
         "--concurrency", "2", "--beat", "--loglevel", "WARNING"],
        cwd=ROOT, env=environment, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def queue(environment, archive):
    script = f"import django; django.setup()\n{QUEUE}"
    done = subprocess.run(
        [sys.executable, "-c", script, str(archive)],
        cwd=ROOT, env=environment | {"DJANGO_SETTINGS_MODULE": "config.settings"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def look(environment, sql, *values):
    path = Path(environment["PREUVE_DATA_DIR"]) / "preuve.sqlite3"
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=20)) as connection:
        return connection.execute(sql, values).fetchall()


def wait_for(what, condition, seconds):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not happen in {seconds} s"
        time.sleep(0.02)


def test_a_killed_worker_leaves_no_half_document_and_the_run_finishes(installation, tmp_path):
    import zipfile

    archive = tmp_path / "cours.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for number in range(DECKS):
            file.writestr(f"jeu-{number:03}.tex", deck(number))

    def state(run):
        return look(
            installation, "SELECT state, done FROM ingestion_ingestionrun WHERE id = ?", run
        )[0]

    with worker(installation) as first:
        run = queue(installation, archive)
        wait_for("the middle of the run", lambda: state(run)[1] >= DECKS // 4, 60)
        os.killpg(first.pid, signal.SIGKILL)
        first.wait()
    assert state(run)[0] == "running"
    halves = look(
        installation,
        "SELECT document_id, count(*) FROM knowledge_chunk GROUP BY document_id"
        " HAVING count(*) <> ?",
        FRAMES,
    )
    assert halves == []
    assert 0 < look(installation, "SELECT count(*) FROM knowledge_document")[0][0] < DECKS
    manage(installation, "fsck", "--json")

    with worker(installation):
        wait_for("the end of the run", lambda: state(run)[0] == "done", 90)
    assert look(installation, "SELECT count(*) FROM knowledge_document") == [(DECKS,)]
    assert look(installation, "SELECT count(*) FROM knowledge_chunk") == [(DECKS * FRAMES,)]
    manage(installation, "fsck", "--json")
