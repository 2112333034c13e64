"""What an upload must be, and who may give it."""

import io
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from ingestion import intake, tasks
from ingestion.models import IngestionRun
from ingestion.parsing.types import DocumentError
from knowledge.models import Chunk, Document

NOTE = "# Levier\n\nLe levier multiplie les gains comme les pertes de l'investisseur.\n"


@pytest.fixture
def sent(monkeypatch, django_capture_on_commit_callbacks):
    """Runs that were sent to the broker; the broker itself is left out."""
    ids = []
    monkeypatch.setattr(tasks.ingest_run, "delay", ids.append)
    return ids


def zipped(files):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return data.getvalue()


def upload(user, space, name, content, capture):
    with capture(execute=True):
        return intake.receive_upload(
            user=user, space=space, upload=SimpleUploadedFile(name, content)
        )


def test_an_uploaded_note_is_queued_and_a_worker_publishes_it(
    iris, course, sent, django_capture_on_commit_callbacks
):
    space = course.spaces.get(kind="official")
    run = upload(iris, space, "levier.md", NOTE.encode(), django_capture_on_commit_callbacks)
    assert run.state == "queued"
    assert sent == [run.pk]
    assert "levier" not in run.upload.name
    stored = run.upload.path
    tasks.ingest_run(run.pk)
    run.refresh_from_db()
    assert run.state == "done", run.reason
    assert Document.objects.get().path == "levier.md"
    assert not run.upload
    with pytest.raises(FileNotFoundError):
        open(stored, "rb")  # noqa: PTH123, SIM115


def test_an_archive_brings_its_folder_and_replaces_it_the_next_time(
    iris, course, sent, django_capture_on_commit_callbacks
):
    space = course.spaces.get(kind="official")
    first = zipped({"a.md": NOTE, "b.md": NOTE.replace("Levier", "Frein")})
    tasks.ingest_run(upload(iris, space, "cours.zip", first, django_capture_on_commit_callbacks).pk)
    assert set(Document.objects.values_list("path", flat=True)) == {"a.md", "b.md"}
    second = zipped({"a.md": NOTE})
    run = upload(iris, space, "cours.zip", second, django_capture_on_commit_callbacks)
    tasks.ingest_run(run.pk)
    run.refresh_from_db()
    assert (run.files["removed"], run.files["unchanged"]) == (1, 1)
    assert set(Document.objects.values_list("path", flat=True)) == {"a.md"}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("cours.exe", b"MZ"),
        ("sansnom", b"texte"),
        ("vide.tex", b""),
        ("image.tex", b"\x89PNG\r\n\x1a\n\x00\x00\x00"),
        ("archive.zip", b"PK\x03\x04 not really"),
        ("archive.zip", b"no archive at all"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_a_reason(iris, course, name, content, sent):
    space = course.spaces.get(kind="official")
    with pytest.raises(DocumentError) as refused:
        intake.receive_upload(user=iris, space=space, upload=SimpleUploadedFile(name, content))
    assert refused.value.user_message
    assert not IngestionRun.objects.exists()
    assert not sent


@pytest.mark.parametrize("person", ["alice", "bob", "charlie", "dora", "ivan", "ada", "zoe"])
def test_only_who_teaches_the_course_may_upload(cast, course, person, sent):
    space = course.spaces.get(kind="official")
    with pytest.raises(DocumentError):
        intake.receive_upload(
            user=getattr(cast, person),
            space=space,
            upload=SimpleUploadedFile("n.md", NOTE.encode()),
        )
    assert not IngestionRun.objects.exists()


def test_a_file_over_the_limit_is_refused(iris, course, settings, sent):
    settings.UPLOAD_MAX_BYTES = 10
    with pytest.raises(DocumentError, match=r"1.Mo?"):
        intake.receive_upload(
            user=iris,
            space=course.spaces.get(kind="official"),
            upload=SimpleUploadedFile("n.md", NOTE.encode()),
        )


def test_a_broken_archive_found_by_the_worker_fails_the_run_with_a_reason(
    iris, course, sent, django_capture_on_commit_callbacks
):
    space = course.spaces.get(kind="official")
    data = bytearray(zipped({"a.md": NOTE * 200}))
    data[60:90] = b"\x00" * 30
    run = upload(iris, space, "casse.zip", bytes(data), django_capture_on_commit_callbacks)
    tasks.ingest_run(run.pk)
    run.refresh_from_db()
    assert run.state == "failed"
    assert run.reason
    assert not Chunk.objects.exists()


def test_a_broker_that_is_down_loses_nothing(iris, course, monkeypatch, caplog):
    from kombu.exceptions import OperationalError

    def down(_run_id):
        raise OperationalError

    monkeypatch.setattr(tasks.ingest_run, "delay", down)
    run = IngestionRun.objects.create(
        space=course.spaces.get(kind="official"), source="x.md", origin="upload:"
    )
    tasks.send(run.pk)
    sent = []
    monkeypatch.setattr(tasks.ingest_run, "delay", sent.append)
    tasks.resend_unfinished()
    assert sent == [run.pk]


@pytest.mark.parametrize(
    ("given", "cleaned"),
    [
        ("../../etc/passwd.md", "passwd.md"),
        ("C:\\cours\\note.md", "note.md"),
        ("a\u202egnp.md", "agnp.md"),
        ("e\u0301te\u0301.md", "été.md"),
        ("un\x00deux.md", "undeux.md"),
        ("x" * 400 + ".md", "x" * 190 + ".md"),
    ],
)
def test_names_are_cleaned_for_display(given, cleaned):
    assert intake.clean_name(given) == cleaned
