"""Golden sets are read whole or refused with the place of the fault; measures are exact."""

import json

import pytest

from evaluation import metrics
from evaluation.golden import GoldenError, load
from evaluation.metrics import Result

ROW = {"id": "a", "question": "Q ?", "kind": "definition", "user": "alice", "expect": "answered"}


def write(tmp_path, value):
    path = tmp_path / "set.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def test_a_set_is_read_with_its_acceptable_sources(tmp_path):
    row = ROW | {"documents": [{"path": "d.tex", "title": "Prêt (1/2)"}, {"path": "t.csv"}]}
    (question,) = load(write(tmp_path, {"course": "X", "questions": [row]})).questions
    slide, table = question.expected
    assert slide.holds("d.tex", "Prêt")
    assert not slide.holds("d.tex", "Taux")
    assert table.holds("t.csv", "any title")
    assert not table.holds("d.tex", "Prêt")


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("{", "cannot be read"),
        ([], "must hold an object"),
        ({"course": "X"}, "must hold an object"),
        ({"course": "X", "questions": [ROW | {"expect": "perhaps"}]}, "question a"),
        ({"course": "X", "questions": [{"id": "b"}]}, "question b"),
        ({"course": "X", "questions": [ROW, ROW]}, "given twice: a"),
    ],
)
def test_a_faulty_set_says_where(tmp_path, value, reason):
    with pytest.raises(GoldenError, match=reason):
        load(write(tmp_path, value))


def result(name, **values):
    base = {
        "kind": "k", "expected_answer": True, "answered": True, "reason": "", "rank": 1,
        "cited": True, "contained": True, "citations": 1, "valid_citations": 1, "violations": (),
        "model_calls": 0, "milliseconds": 10.0,
    }  # fmt: skip
    return Result(id=name, **(base | values))


def test_measures_are_what_their_names_say():
    results = [
        result("a"),
        result("b", rank=4, cited=False, citations=2, valid_citations=1),
        result(
            "c",
            rank=None,
            answered=False,
            cited=False,
            contained=False,
            citations=0,
            valid_citations=0,
        ),
        result(
            "d", expected_answer=False, answered=False, rank=None, citations=0, valid_citations=0
        ),
        result("e", expected_answer=False, answered=True, rank=None, violations=("x", "y")),
    ]
    measured = metrics.summary(results)
    assert measured["recall@10"] == pytest.approx(2 / 3)
    assert measured["recall@3"] == pytest.approx(1 / 3)
    assert measured["mrr"] == pytest.approx((1 + 1 / 4) / 3)
    assert measured["cited"] == pytest.approx(1 / 3)
    assert measured["false_refusals"] == pytest.approx(1 / 3)
    assert measured["correct_refusals"] == pytest.approx(1 / 2)
    assert measured["citation_validity"] == pytest.approx(3 / 4)
    assert measured["isolation_violations"] == 2


def test_measures_of_nothing_are_none_not_zero():
    assert metrics.recall_at(10, []) is None
    assert metrics.mean_reciprocal_rank([]) is None
    assert metrics.citation_validity([result("d", citations=0)]) is None
