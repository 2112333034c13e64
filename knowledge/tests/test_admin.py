"""The admin: instructors see their own courses' material and runs; students never enter."""

import io
import zipfile

import pytest
from django.contrib.admin.sites import site
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from conftest import PASSWORD
from ingestion import tasks
from ingestion.models import IngestionRun
from knowledge.models import Document

NOTES = "# Levier financier\n\nLe levier financier est l'usage de la dette dans un placement.\n"
SECRET = "# Barème\n\nLa question du phare pourpre vaut quarante points dans l'examen final.\n"


@pytest.fixture
def material(publish_text, course, other_course):
    publish_text(course, NOTES)
    publish_text(course, SECRET, path="secret.md", kind="instructor_private")
    publish_text(other_course, NOTES.replace("Levier", "Parc"), path="ailleurs.md")


def signed_in(user):
    client = Client()
    client.force_login(user, backend="courses.sign_in.PersonBackend")
    return client


def admin_pages():
    for model in site._registry:
        label = f"{model._meta.app_label}_{model._meta.model_name}"
        yield reverse(f"admin:{label}_changelist")
        yield reverse(f"admin:{label}_add")


@pytest.mark.parametrize("person", ["alice", "bob", "charlie", "dora", "zoe"])
def test_students_never_enter_any_page(cast, material, person):
    client = signed_in(getattr(cast, person))
    pages = [reverse("admin:index"), *admin_pages()]
    assert len(pages) > 12
    for url in pages:
        assert client.get(url).status_code in {302, 403}, url
    document = Document.objects.first()
    change = reverse("admin:knowledge_document_change", args=[document.pk])
    assert client.get(change).status_code in {302, 403}


def test_the_staff_flag_alone_opens_nothing(alice, material):
    alice.is_staff = True
    alice.save()
    assert signed_in(alice).get(reverse("admin:index")).status_code in {302, 403}


def test_an_instructor_sees_the_material_of_their_courses_and_no_other(cast, material):
    page = signed_in(cast.iris).get(reverse("admin:knowledge_document_changelist"))
    html = page.content.decode()
    assert page.status_code == 200
    assert "notes.md" in html
    assert "secret.md" in html
    assert "ailleurs.md" not in html
    assert "imm1033" not in html.lower()


def test_every_page_of_another_courses_document_is_closed_to_an_instructor(cast, material):
    foreign = Document.objects.get(path="ailleurs.md")
    client = signed_in(cast.iris)
    for view in ("change", "delete", "history"):
        url = reverse(f"admin:knowledge_document_{view}", args=[foreign.pk])
        response = client.get(url, follow=True)
        assert "ailleurs.md" not in response.content.decode(), view
        client.post(url, {"post": "yes", "status": "withdrawn"})
    foreign.refresh_from_db()
    assert foreign.status == "published"


def test_an_action_on_a_foreign_document_changes_nothing(cast, material):
    foreign = Document.objects.get(path="ailleurs.md")
    signed_in(cast.iris).post(
        reverse("admin:knowledge_document_changelist"),
        {"action": "withdraw", "_selected_action": [foreign.pk]},
    )
    foreign.refresh_from_db()
    assert foreign.status == "published"


def test_an_instructor_withdraws_and_publishes_again(cast, material):
    client = signed_in(cast.iris)
    document = Document.objects.get(path="notes.md")
    url = reverse("admin:knowledge_document_changelist")
    for action, status in (("withdraw", "withdrawn"), ("publish", "published")):
        client.post(url, {"action": action, "_selected_action": [document.pk]})
        document.refresh_from_db()
        assert document.status == status


def test_an_administrator_sees_metadata_and_no_content(cast, material):
    client = signed_in(cast.ada)
    assert "notes.md" in client.get(reverse("admin:knowledge_document_changelist")).content.decode()
    for document in Document.objects.all():
        url = reverse("admin:knowledge_document_change", args=[document.pk])
        html = client.get(url).content.decode()
        assert "usage de la dette" not in html
        assert "quarante points" not in html


def test_an_instructor_previews_the_chunks_of_a_document(cast, material):
    document = Document.objects.get(path="secret.md")
    url = reverse("admin:knowledge_document_change", args=[document.pk])
    assert "quarante points" in signed_in(cast.iris).get(url).content.decode()


def upload(client, space, name, content):
    return client.post(
        reverse("admin:ingestion_ingestionrun_add"),
        {"space": space.pk, "file": SimpleUploadedFile(name, content)},
        follow=True,
    )


def test_an_instructor_uploads_an_archive_and_reads_the_run(
    iris, course, monkeypatch, django_capture_on_commit_callbacks
):
    monkeypatch.setattr(tasks.ingest_run, "delay", lambda _run: None)
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("cours/notes.md", NOTES)
        archive.writestr("cours/image.png", b"\x89PNG\r\n\x1a\n\x00")
    client = signed_in(iris)
    with django_capture_on_commit_callbacks(execute=True):
        response = upload(client, course.spaces.get(kind="official"), "cours.zip", data.getvalue())
    assert response.status_code == 200
    run = IngestionRun.objects.get()
    tasks.ingest_run(run.pk)
    html = client.get(
        reverse("admin:ingestion_ingestionrun_change", args=[run.pk])
    ).content.decode()
    assert "cours/notes.md" in html
    assert "image.png" in html


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.exe", b"MZ"), ("vide.tex", b""), ("faux.tex", b"\x00\x01"), ("faux.zip", b"PK nothing")],
)
def test_a_bad_upload_is_an_error_of_the_form(iris, course, name, content):
    space = course.spaces.get(kind="official")
    response = upload(signed_in(iris), space, name, content)
    assert response.status_code == 200
    assert "errorlist" in response.content.decode()
    assert not IngestionRun.objects.exists()


def test_an_instructor_cannot_upload_into_another_course(cast, course, other_course):
    space = other_course.spaces.get(kind="official")
    response = upload(signed_in(cast.iris), space, "notes.md", NOTES.encode())
    assert "errorlist" in response.content.decode()
    assert not IngestionRun.objects.exists()


def test_runs_of_another_course_are_not_there(cast, material):
    run = IngestionRun.objects.filter(space__course__code="IMM1033").first()
    url = reverse("admin:ingestion_ingestionrun_change", args=[run.pk])
    assert "ailleurs.md" not in signed_in(cast.iris).get(url, follow=True).content.decode()


def test_an_instructor_enrols_only_in_their_courses(cast, course, other_course, institution):
    client = signed_in(cast.iris)
    url = reverse("admin:courses_membership_add")
    form = client.get(url).content.decode()
    assert f'value="{other_course.pk}"' not in form.split("id_course")[1].split("</select>")[0]
    client.post(url, {"user": cast.dora.pk, "course": other_course.pk, "role": "student"})
    assert not cast.dora.memberships.exists()
    client.post(url, {"user": cast.dora.pk, "course": course.pk, "role": "student", "active": "on"})
    assert cast.dora.memberships.filter(course=course).exists()


def test_a_password_opens_the_admin_and_five_wrong_ones_lock_it(iris, settings):
    client = Client()
    url = reverse("admin:login")
    good = {"username": "iris", "password": PASSWORD}
    client.post(url, good)
    assert client.get(reverse("admin:index")).status_code == 200
    locked = Client()
    for _attempt in range(5):
        locked.post(url, good | {"password": "wrong"})
    assert locked.post(url, good).status_code in {403, 429}
