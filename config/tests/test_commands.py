"""The command contracts: one JSON document, one-line reasons, exit codes."""

import io
import json

import pytest
from django.core.management import CommandError, call_command

from chat.models import Conversation
from knowledge.models import Chunk, Document

NOTES = "# Marée\n\nLa marée haute revient toutes les douze heures et vingt-cinq minutes environ.\n"


def run(*arguments):
    out = io.StringIO()
    call_command(*map(str, arguments), "--json", stdout=out, stderr=io.StringIO())
    text = out.getvalue()
    assert text.count("\n") == 1, "one document on one line"
    return json.loads(text)


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "notes"
    root.mkdir()
    (root / "notes.md").write_text(NOTES, encoding="utf-8")
    return root


@pytest.fixture
def ingested(db, folder):
    run("create_course", "CTR1", "--title", "Contrat")
    run("enrol", "alice", "CTR1")
    return run("ingest", folder, "--course", "CTR1")


def test_a_course_a_person_and_a_folder_make_an_answer(ingested):
    assert ingested["files"] == {
        "seen": 1, "new": 1, "changed": 0, "unchanged": 0, "removed": 0, "failed": 0,
    }  # fmt: skip
    value = run("ask", "--course", "CTR1", "--user", "alice", "Quand revient la marée haute ?")
    assert value["status"] == "answered", value
    (citation,) = value["citations"]
    assert citation["quote"] in citation["text"]
    assert citation["path"] == "notes.md"
    assert not Conversation.objects.exists(), "an operator's question leaves no conversation"


def test_a_refusal_is_a_success(ingested):
    value = run(
        "ask", "--course", "CTR1", "--user", "alice", "Comment tailler un rosier grimpant ?"
    )
    assert (value["status"], value["model_calls"], value["citations"]) == ("refused", 0, [])


def test_the_probe_shows_the_ranking_and_why(ingested):
    value = run("probe", "--course", "CTR1", "--user", "alice", "marée haute")
    (candidate,) = value["candidates"]
    for name in ("id", "cosine", "dense_rank", "bm25", "lexical_rank", "rrf", "boosts", "reason"):
        assert name in candidate
    assert candidate["admitted"] is True
    assert value["evidence"] == [candidate["id"]]


def test_chunks_are_listed_for_operators_in_every_space(ingested, folder):
    run("ingest", folder, "--course", "CTR1", "--space", "private")
    chunks = run("chunks", "--course", "CTR1")["chunks"]
    assert {c["space"] for c in chunks} == {"official-ctr1", "instructor-private-ctr1"}
    assert run("chunks", "--course", "CTR1", "--document", "absent.md") == {"chunks": []}


def test_the_index_says_what_it_is_and_is_whole(ingested):
    status = run("index_status")
    assert status["usable"]
    assert status["fresh"]
    assert run("fsck") == {"ok": True, "generation": status["active"], "chunks": 1, "problems": []}


def test_fsck_fails_on_a_chunk_without_a_vector(ingested):
    document = Document.objects.get()
    Chunk.objects.create(
        document=document, ordinal=9, position=9, key="x", kind="text", text="x", search="x"
    )
    with pytest.raises(CommandError) as failed:
        run("fsck")
    assert failed.value.returncode == 1


def test_reindexing_swaps_the_generation_and_answers_as_before(ingested):
    question = ("ask", "--course", "CTR1", "--user", "alice", "Quand revient la marée haute ?")
    before = run(*question)["answer"]
    first = run("index_status")["active"]
    assert run("reindex")["generation"] != first
    assert run(*question)["answer"] == before
    assert run("fsck")["ok"]
    states = {g["id"]: g["state"] for g in run("index_status")["generations"]}
    assert states[first] == "previous"


@pytest.mark.parametrize(
    "arguments",
    [
        ("ask", "--course", "NOPE", "--user", "alice", "x"),
        ("ask", "--course", "CTR1", "--user", "nobody", "x"),
        ("ask", "--course", "CTR1", "--user", "stranger", "la marée"),
        ("ask", "--course", "CTR1", "--user", "alice", ""),
        ("ask", "--course", "CTR1", "--user", "alice", "x" * 10_000),
        ("ask", "--course", "CTR1", "--user", "alice", "--as-of", "hier", "la marée"),
        ("ask", "--course", "CTR1", "--user", "alice", "--as-of", "2026-13-45", "la marée"),
        ("ask", "--course", "CTR1", "--user", "alice", "--profile", "absent", "la marée haute"),
        ("chunks", "--course", "NOPE"),
        ("ingest", "/nowhere/at/all", "--course", "CTR1"),
        ("ingest", "/", "--course", "NOPE"),
        ("enrol", "alice", "NOPE"),
        ("create_course", "CTR1", "--title", "Encore"),
        ("reindex", "--profile", "absent"),
    ],
)
def test_a_failure_is_one_line_and_exit_1(ingested, arguments):
    run("create_course", "OTHER", "--title", "Autre")
    run("enrol", "stranger", "OTHER")
    with pytest.raises(CommandError) as failed:
        run(*arguments)
    assert failed.value.returncode == 1
    assert str(failed.value).strip()
    assert "\n" not in str(failed.value)
    assert not Conversation.objects.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("ask",),
        ("ask", "--course", "X"),
        ("enrol", "alice", "CTR1", "--role", "king"),
        ("ingest", "x", "--course", "CTR1", "--space", "everything"),
    ],
)
def test_bad_arguments_are_a_command_error_of_the_parser(db, arguments):
    with pytest.raises(CommandError):
        run(*arguments)


def test_a_membership_elsewhere_looks_like_no_course(ingested):
    """A person outside the course cannot tell it from one that does not exist."""
    run("create_course", "OTHER", "--title", "Autre")
    run("enrol", "stranger", "OTHER")
    with pytest.raises(CommandError, match="no course named 'CTR1'"):
        run("ask", "--course", "CTR1", "--user", "stranger", "la marée")
