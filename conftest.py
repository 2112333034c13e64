"""The cast of the tests, and deterministic stand-ins for providers.

Students alice (IMM1003), bob (IMM1003 and IMM1033), charlie (IMM1033) and dora (no course);
instructors iris (IMM1003) and ivan (IMM1033); administrator ada; zoe, a student of another
institution's IMM1003.
"""

from __future__ import annotations

import socket
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from courses.models import Course, Institution, User
    from knowledge.models import Document

SHARED = Path(__file__).resolve().parent.parent / "shared"
PASSWORD = "cast-of-the-tests"


@pytest.fixture
def shared() -> Path:
    """Reference material beside the checkout; tests that need it skip where it is absent."""
    if not SHARED.is_dir():
        pytest.skip("the shared reference material is not beside this checkout")
    return SHARED


@pytest.fixture(autouse=True)
def _light_embedding(request: pytest.FixtureRequest, settings: Any) -> None:
    """Hashed words instead of the bundled model, except where a test is marked `real_model`."""
    if "real_model" not in request.keywords:
        settings.EMBEDDING_PROFILE = "hashing"


@pytest.fixture(autouse=True)
def _private_files(settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "files"
    settings.STATIC_ROOT = tmp_path / "static"
    settings.STATIC_ROOT.mkdir()
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    }
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def institution(db: None) -> Institution:
    from courses.models import Institution  # noqa: PLC0415

    return Institution.objects.create(slug="demo", name="Démo", demo=True)


@pytest.fixture
def other_institution(db: None) -> Institution:
    from courses.models import Institution  # noqa: PLC0415

    return Institution.objects.create(slug="lyre", name="Lyre")


@pytest.fixture
def course(institution: Institution) -> Course:
    from courses.enrolment import create_course  # noqa: PLC0415

    return create_course(code="IMM1003", title="Finance", institution=institution)


@pytest.fixture
def other_course(institution: Institution) -> Course:
    from courses.enrolment import create_course  # noqa: PLC0415

    return create_course(code="IMM1033", title="Évaluation", institution=institution)


@pytest.fixture
def foreign_course(other_institution: Institution) -> Course:
    from courses.enrolment import create_course  # noqa: PLC0415

    return create_course(code="IMM1003", title="Droit", institution=other_institution)


def _person(name: str, institution: Institution, **roles: str) -> User:
    from courses.enrolment import person_of  # noqa: PLC0415

    person = person_of(name, institution)
    person.set_password(PASSWORD)
    person.save()
    return person


def _member(name: str, *courses: Course, role: str = "student") -> User:
    from courses.enrolment import enrol  # noqa: PLC0415

    person = _person(name, courses[0].institution)
    for course in courses:
        enrol(name=person.username, course=course, role=role)
    return person


@pytest.fixture
def alice(course: Course) -> User:
    return _member("alice", course)


@pytest.fixture
def bob(course: Course, other_course: Course) -> User:
    return _member("bob", course, other_course)


@pytest.fixture
def charlie(other_course: Course) -> User:
    return _member("charlie", other_course)


@pytest.fixture
def dora(institution: Institution) -> User:
    return _person("dora", institution)


@pytest.fixture
def iris(course: Course) -> User:
    return _member("iris", course, role="instructor")


@pytest.fixture
def ivan(other_course: Course) -> User:
    return _member("ivan", other_course, role="instructor")


@pytest.fixture
def ada(institution: Institution) -> User:
    person = _person("ada", institution)
    person.is_superuser = person.is_staff = True
    person.save()
    return person


@pytest.fixture
def zoe(foreign_course: Course) -> User:
    return _member("zoe", foreign_course)


@pytest.fixture
def cast(
    alice: User, bob: User, charlie: User, dora: User, iris: User, ivan: User, ada: User, zoe: User
) -> SimpleNamespace:
    return SimpleNamespace(
        alice=alice, bob=bob, charlie=charlie, dora=dora, iris=iris, ivan=ivan, ada=ada, zoe=zoe
    )


@pytest.fixture
def publish_text(db: None, tmp_path: Path) -> Callable[..., Document]:
    """Ingests one Markdown text (a heading a chunk) into a space of the course."""
    from ingestion.management.commands.ingest import ingest_path  # noqa: PLC0415
    from knowledge.models import Document, Space  # noqa: PLC0415

    def publish(
        course: Course, text: str, *, path: str = "notes.md", kind: str = "official", **changes: Any
    ) -> Document:
        folder = tmp_path / "published" / str(course.pk) / kind
        source = folder / path
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text(text, encoding="utf-8")
        space = Space.objects.get(course=course, kind=kind)
        run = ingest_path(source, space=space)
        assert run.state == run.State.DONE, (run.reason, run.errors)
        assert not run.errors, run.errors
        document = Document.objects.get(space=space, path=source.name, origin=str(source.parent))
        if changes:
            for name, value in changes.items():
                setattr(document, name, value)
            document.save()
        return document

    return publish


@pytest.fixture
def live_asgi(transactional_db: None) -> Iterator[str]:
    """The address of the product served by a real uvicorn in a thread of this process.

    `live_server` is WSGI and would buffer a stream whole.
    """
    import uvicorn  # noqa: PLC0415
    from django.contrib.staticfiles.handlers import ASGIStaticFilesHandler  # noqa: PLC0415

    from config.asgi import application  # noqa: PLC0415

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        server = uvicorn.Server(
            uvicorn.Config(ASGIStaticFilesHandler(application), log_level="warning", lifespan="off")
        )
        thread = threading.Thread(
            target=server.run, kwargs={"sockets": [listener]}, daemon=True, name="uvicorn"
        )
        thread.start()
        deadline = time.monotonic() + 20
        while not server.started:
            assert time.monotonic() < deadline, "uvicorn did not start"
            time.sleep(0.02)
        yield f"http://127.0.0.1:{port}"
        server.should_exit = True
        thread.join(timeout=10)
