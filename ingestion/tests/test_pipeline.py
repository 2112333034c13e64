"""A folder brought into a space: incremental, without orphans, and never half."""

from datetime import timedelta

import pytest
from django.utils import timezone

from ingestion import pipeline
from ingestion.management.commands.ingest import ingest_path
from ingestion.models import IngestionRun
from knowledge import index
from knowledge.models import Calibration, Chunk, Document

DECK = r"""\documentclass{beamer}
\title{Intérêts}\subtitle{Séance 2}
\begin{document}
\begin{frame}{Intérêt simple}
L'intérêt simple se calcule toujours sur le capital de départ.
\end{frame}
\begin{frame}{Intérêt composé}
L'intérêt composé se calcule aussi sur les intérêts déjà gagnés.
\end{frame}
\end{document}
"""
NOTE = "# Escompte\n\nL'escompte ramène une somme future à sa valeur d'aujourd'hui.\n"


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "cours"
    root.mkdir()
    (root / "seance-02.tex").write_text(DECK, encoding="utf-8")
    (root / "escompte.md").write_text(NOTE, encoding="utf-8")
    return root


@pytest.fixture
def space(course):
    return course.spaces.get(kind="official")


def texts(space):
    return sorted(c.title for c in Chunk.objects.filter(document__space=space))


def whole():
    generation = index.active_generation()
    return index.integrity(generation) if generation else []


def test_a_folder_becomes_documents_chunks_and_index_rows(folder, space):
    run = ingest_path(folder, space=space)
    assert run.state == "done"
    assert run.files == {
        "seen": 2, "new": 2, "changed": 0, "unchanged": 0, "removed": 0, "failed": 0,
    }  # fmt: skip
    assert run.chunks["added"] == run.chunks["total"] == 3
    assert texts(space) == ["Escompte", "Intérêt composé", "Intérêt simple"]
    slide = Chunk.objects.get(title="Intérêt composé")
    assert (slide.kind, slide.session, slide.slide) == ("slide", 2, 2)
    assert not whole()


def test_ingesting_again_changes_nothing(folder, space):
    ingest_path(folder, space=space)
    before = list(Chunk.objects.values_list("pk", "ordinal", "search"))
    version = index.ENGINE.versions(index.raw()).version
    run = ingest_path(folder, space=space)
    assert (run.files["unchanged"], run.files["new"], run.files["changed"]) == (2, 0, 0)
    assert list(Chunk.objects.values_list("pk", "ordinal", "search")) == before
    assert index.ENGINE.versions(index.raw()).version == version


def test_an_edited_frame_is_the_only_one_embedded_again(folder, space):
    ingest_path(folder, space=space)
    ids = {c.title: c.public_id for c in Chunk.objects.all()}
    deck = folder / "seance-02.tex"
    deck.write_text(DECK.replace("de départ", "initial"), encoding="utf-8")
    run = ingest_path(folder, space=space)
    assert run.files["changed"] == 1
    assert run.chunks["embedded"] == 1
    assert {c.title: c.public_id for c in Chunk.objects.all()} == ids
    assert "capital initial" in Chunk.objects.get(title="Intérêt simple").text
    assert not whole()


def test_a_frame_inserted_before_others_leaves_their_ids(folder, space):
    ingest_path(folder, space=space)
    ids = {c.title: c.public_id for c in Chunk.objects.all()}
    deck = folder / "seance-02.tex"
    deck.write_text(
        DECK.replace(r"\begin{frame}{Intérêt simple}", r"\begin{frame}{Avant}Le taux.\end{frame}"
                     "\n" r"\begin{frame}{Intérêt simple}"),
        encoding="utf-8",
    )  # fmt: skip
    ingest_path(folder, space=space)
    now = {c.title: c.public_id for c in Chunk.objects.all()}
    assert {title: now[title] for title in ids} == ids
    assert Chunk.objects.get(title="Intérêt composé").slide == 3


def test_a_removed_file_leaves_no_chunk_vector_or_word(folder, space):
    ingest_path(folder, space=space)
    (folder / "seance-02.tex").unlink()
    run = ingest_path(folder, space=space)
    assert run.files["removed"] == 1
    assert run.chunks["removed"] == 2
    assert texts(space) == ["Escompte"]
    counts = index.ENGINE.counts(index.raw(), index.active_generation().pk)
    assert (counts.chunks, counts.vectors, counts.words) == (1, 1, 1)
    assert not whole()


def test_a_file_that_fails_keeps_its_last_good_version(folder, space):
    ingest_path(folder, space=space)
    (folder / "seance-02.tex").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00binary")
    run = ingest_path(folder, space=space)
    assert run.files["failed"] == 1
    assert run.errors[0]["path"] == "seance-02.tex"
    assert run.errors[0]["reason"]
    assert texts(space) == ["Escompte", "Intérêt composé", "Intérêt simple"]


def test_two_folders_of_one_space_never_remove_each_others_documents(folder, space, tmp_path):
    ingest_path(folder, space=space)
    other = tmp_path / "autre"
    other.mkdir()
    (other / "escompte.md").write_text("# Rabais\n\nLe rabais est une remise.\n", encoding="utf-8")
    ingest_path(other, space=space)
    assert texts(space) == ["Escompte", "Intérêt composé", "Intérêt simple", "Rabais"]


def test_a_single_file_is_brought_in_without_touching_its_neighbours(folder, space):
    ingest_path(folder, space=space)
    (folder / "escompte.md").write_text(NOTE.replace("Escompte", "Escompter"), encoding="utf-8")
    (folder / "seance-02.tex").unlink()
    run = ingest_path(folder / "escompte.md", space=space)
    assert run.files["removed"] == 0
    assert texts(space) == ["Escompter", "Intérêt composé", "Intérêt simple"]


def test_a_dry_run_says_what_would_change_and_writes_nothing(folder, space):
    run = ingest_path(folder, space=space, dry_run=True)
    assert run.files["new"] == 2
    assert not Document.objects.exists()
    assert not Chunk.objects.exists()


def test_an_ingested_course_has_its_thresholds_without_anyone_asking(folder, space, course):
    ingest_path(folder, space=space)
    assert set(Calibration.objects.filter(course=course).values_list("language", flat=True)) == {
        "fr",
        "en",
    }


def test_an_exam_or_a_solution_in_a_course_folder_stays_a_draft(folder, space, alice):
    article = r"\documentclass{article}\begin{document}\section{Question 1}Secret.\end{document}"
    (folder / "examen-final.tex").write_text(article, encoding="utf-8")
    (folder / "atelier-1-solution.tex").write_text(article, encoding="utf-8")
    run = ingest_path(folder, space=space)
    states = dict(Document.objects.values_list("path", "status"))
    assert states["examen-final.tex"] == states["atelier-1-solution.tex"] == "draft"
    assert states["seance-02.tex"] == "published"
    assert {d.path for d in Document.objects.visible_to(alice)} == {
        "seance-02.tex",
        "escompte.md",
    }
    assert any(d["warnings"] for d in run.report["documents"] if "examen" in d["path"])


def test_what_preuve_toml_states_is_followed_until_a_person_decides(folder, space):
    toml = folder / "preuve.toml"
    toml.write_text('[[document]]\npath = "escompte.md"\nstatus = "draft"\n', encoding="utf-8")
    ingest_path(folder, space=space)
    note = Document.objects.get(path="escompte.md")
    assert note.status == "draft"
    note.status = "withdrawn"
    note.save()
    ingest_path(folder, space=space)
    note.refresh_from_db()
    assert note.status == "withdrawn"
    toml.write_text('[[document]]\npath = "escompte.md"\nstatus = "published"\n', encoding="utf-8")
    run = ingest_path(folder, space=space)
    note.refresh_from_db()
    assert note.status == "published"
    assert run.files["changed"] == 1
    assert run.chunks["embedded"] == 0


def test_what_is_marked_private_does_not_enter_the_course_space(folder, space, course):
    (folder / "private").mkdir()
    (folder / "private" / "notes.md").write_text("# Barème\n\nSecret.\n", encoding="utf-8")
    run = ingest_path(folder, space=space)
    assert [e["path"] for e in run.errors] == ["private/notes.md"]
    assert "Barème" not in texts(space)
    run = ingest_path(folder, space=course.spaces.get(kind="instructor_private"))
    assert not run.errors


def test_a_second_worker_cannot_claim_a_run_under_a_living_lease(space, folder):
    run = IngestionRun.objects.create(space=space, source=str(folder), origin=str(folder))
    first = pipeline.claim(run.pk)
    assert first is not None
    assert pipeline.claim(run.pk) is None
    IngestionRun.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    second = pipeline.claim(run.pk)
    assert second.fence == first.fence + 1


def test_a_worker_that_lost_its_run_commits_nothing(space, folder):
    run = IngestionRun.objects.create(space=space, source=str(folder), origin=str(folder))
    stale = pipeline.claim(run.pk)
    IngestionRun.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert pipeline.claim(run.pk) is not None
    pipeline.run(stale)
    assert not Document.objects.exists()
    run.refresh_from_db()
    assert run.state == "running"


def test_a_cancelled_run_stops_and_stays_cancelled(space, folder):
    run = IngestionRun.objects.create(space=space, source=str(folder), origin=str(folder))
    held = pipeline.claim(run.pk)
    IngestionRun.objects.filter(pk=run.pk).update(state="cancelled")
    pipeline.run(held)
    run.refresh_from_db()
    assert run.state == "cancelled"
    assert not Document.objects.exists()
