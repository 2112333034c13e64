"""The demo, loaded as a person loads it, on the bundled model: what it answers and what it keeps.

One installation serves all tests of this file; its questions go through the real commands.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.real_model

QUESTIONS = [
    ("Qu'est-ce que la valeur actuelle nette ?", "La valeur actuelle nette"),
    ("Qu'est-ce que le taux de rendement interne ?", "Le taux de rendement interne"),
    ("Quelle est la formule de la VAN ?", "La formule de la VAN"),
    ("What is the net present value of a project?", "valeur actuelle nette"),
    ("C'est quoi le ratio de couverture du service de la dette ?", "couverture"),
    ("Définis l'effet de levier financier", "levier"),
    ("Qu'est-ce qu'une annuité ?", "nnuité"),
    ("Qu'est-ce que le ratio pret-valeur ?", "prêt-valeur"),
    ("Quelle est la pondération de l'examen final ?", "valuation"),
    ("Résume la diapo 5 de la séance 3", "La valeur actuelle nette"),
]
OUTSIDE = [
    "Quelle est la recette de la pâte à crêpes ?",
    "Qui a gagné la coupe du monde de 1998 ?",
    "How do I prune a climbing rose?",
    "Comment fonctionne la photosynthèse ?",
    "Quelle est la capitale de la Mongolie ?",
]
PRIVATE = "Combien de logements compte le Domaine des Érables-Rouges ?"
ELSEWHERE = "Dans quel ordre applique-t-on les ajustements de la méthode de comparaison ?"
PRIVATE_WORDS = ("Érables", "Frelighsburg", "examen-intra", "blueprint")
ELSEWHERE_WORDS = ("seance-02.tex", "IMM1033", "imm1033", "ajustement des")


def manage(environment, *arguments):
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments, "--json"],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=900,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """An installation with the demo loaded, made once."""
    data = tmp_path_factory.mktemp("demo")
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PREUVE_")}
    environment |= {"PREUVE_DATA_DIR": str(data), "PREUVE_LOG_LEVEL": "ERROR"}
    subprocess.run(
        [sys.executable, "manage.py", "migrate", "-v0"], cwd=ROOT, env=environment, check=True
    )
    loaded = manage(environment, "demo")
    assert all(person["password"] for person in loaded["people"])
    assert not [error for run in loaded["runs"] for error in run["errors"]]
    return environment


def ask(demo, question, user="alice", course="IMM1003"):
    return manage(demo, "ask", "--course", course, "--user", user, question)


def test_the_demo_may_be_loaded_again_and_keeps_passwords(demo):
    again = manage(demo, "demo")
    assert not any(person["password"] for person in again["people"])
    for run in again["runs"]:
        assert run["files"]["new"] == run["files"]["changed"] == run["files"]["removed"] == 0


def test_nine_of_ten_questions_find_the_right_slide_and_every_quote_is_exact(demo):
    found = []
    for question, title in QUESTIONS:
        value = ask(demo, question)
        assert value["model_calls"] == 0
        for citation in value["citations"]:
            assert citation["quote"] in citation["text"]
            assert len(citation["quote"].strip()) >= 20
        titles = [f"{c['title']} {c['document']}" for c in value["citations"]]
        found.append(any(title.casefold() in one.casefold() for one in titles))
    missed = [q for (q, _title), ok in zip(QUESTIONS, found, strict=True) if not ok]
    assert len(missed) <= 1, missed


@pytest.mark.parametrize("question", OUTSIDE)
def test_a_question_outside_the_course_is_refused(demo, question):
    value = ask(demo, question)
    assert value["status"] == "refused"
    assert value["model_calls"] == 0
    assert not value["citations"]


@pytest.mark.parametrize(
    ("question", "words"), [(PRIVATE, PRIVATE_WORDS), (ELSEWHERE, ELSEWHERE_WORDS)]
)
def test_what_stands_only_in_private_or_foreign_material_is_refused(demo, question, words):
    value = ask(demo, question)
    assert value["status"] == "refused", value["answer"]
    said = json.dumps(value, ensure_ascii=False)
    for word in words:
        assert word not in said


def test_the_same_questions_are_answered_where_they_belong(demo):
    value = ask(demo, ELSEWHERE, user="charlie", course="IMM1033")
    assert value["status"] == "answered"
    assert {c["course"] for c in value["citations"]} == {"IMM1033"}


def test_two_institutions_with_the_same_course_code_never_mix(demo):
    value = ask(demo, "Qu'est-ce qu'une servitude ?", user="zoe", course="lyre/IMM1003")
    assert value["status"] == "answered"
    assert ask(demo, "Qu'est-ce qu'une servitude ?")["status"] == "refused"


def test_the_index_of_the_demo_is_whole(demo):
    assert manage(demo, "fsck")["ok"]
    assert manage(demo, "index_status")["fresh"]


def test_chunks_carry_structure(demo):
    chunks = manage(demo, "chunks", "--course", "IMM1003")["chunks"]
    slides = [c for c in chunks if c["kind"] == "slide"]
    assert len(slides) >= 70
    assert all(c["session"] and c["slide"] and c["title"] for c in slides)
    boxes = {box for c in slides for box in c["boxes"]}
    assert {"definition", "important", "example", "formula"} <= boxes
    assert any("$" in c["text"] and "<math" in c["display"] for c in slides)
    assert any(c["slide_end"] > c["slide"] for c in slides), "continuations are merged"
    terms = [c for c in chunks if c["kind"] == "term"]
    assert len(terms) >= 30
    assert sum(bool(c["term_translation"]) for c in terms) >= 30
    solutions = [c for c in chunks if c["document_kind"] == "solution" and c["question"]]
    assert len(solutions) >= 15
    assert all(c["statement"] for c in solutions), "each answer is linked to its question"
    for chunk in chunks:
        prose = re.sub(r"\$\$.*?\$\$|\$[^$]*\$", "", chunk["text"], flags=re.DOTALL)
        assert not re.search(r"\\(begin|end|item|textbf|cle)\b", prose), chunk["id"]


@pytest.mark.parametrize("course", ["imm1003", "imm1033"])
def test_golden_questions_hold_their_bars(demo, course):
    measured = manage(demo, "evaluate", course)
    whole = measured["all"]
    assert whole["questions"] >= 60
    assert whole["isolation_violations"] == 0
    assert whole["model_calls"] == 0
    assert whole["citation_validity"] == 1.0
    assert whole["recall@10"] >= 0.90
    assert whole["mrr"] >= 0.75
    assert whole["false_refusals"] <= 0.10
    assert measured["kinds"]["foreign"]["correct_refusals"] == 1.0
    assert measured["kinds"]["forbidden"]["correct_refusals"] >= 0.75
