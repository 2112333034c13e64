"""A model's structured proposal is read strictly."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chat.answering.proposals import MAX_CHARACTERS, parse_proposal
from chat.answering.types import Proposal, ProposedQuote

GOOD: dict[str, Any] = {
    "can_answer": True,
    "quotes": [{"source_id": "S1", "quote": "Une phrase exacte."}],
}
READ = Proposal(can_answer=True, quotes=(ProposedQuote("S1", "Une phrase exacte."),))


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(GOOD),
        f"```json\n{json.dumps(GOOD)}\n```",
        json.dumps({"can_answer": True, "evidence": GOOD["quotes"], "note": "ignored"}),
    ],
)
def test_a_proposal_is_json_alone_or_in_a_fence(text: str) -> None:
    assert parse_proposal(text) == READ


def test_a_proposal_may_say_that_it_cannot_answer() -> None:
    assert parse_proposal('{"can_answer": false}') == Proposal(can_answer=False)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Voici : " + json.dumps(GOOD),
        '{"error":"x"}',
        '{"can_answer": "yes", "quotes": []}',
        '{"can_answer": 1, "quotes": []}',
        '{"can_answer": true, "quotes": {"source_id": "S1"}}',
        '{"can_answer": true, "quotes": ["S1"]}',
        '{"can_answer": true, "quotes": [{"source_id": 1, "quote": "x"}]}',
        '{"can_answer": true, "quotes": [{"source_id": "S1"}]}',
        json.dumps({"can_answer": True, "quotes": GOOD["quotes"] * 13}),
        "[" * 5_000,
        json.dumps(GOOD) + " " * MAX_CHARACTERS,
        "[]",
        "null",
    ],
)
def test_anything_else_is_no_proposal(text: str) -> None:
    assert parse_proposal(text) is None
