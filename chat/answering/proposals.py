"""A model's structured proposal, read strictly: anything else is no proposal."""

from __future__ import annotations

import json
import re
from typing import Any

from chat.answering.types import Proposal, ProposedQuote

#: A proposal is three quotes and their names; a choice: far above any chunk, far below a flood.
MAX_CHARACTERS = 20_000
#: Read so that the gate can say that there were too many; more are not read at all.
MAX_READ = 12

_FENCE = re.compile("\\s*```(?:json)?\\s*(.*?)\\s*```\\s*", re.DOTALL | re.IGNORECASE)


def parse_proposal(text: str) -> Proposal | None:
    """The proposal that `text` is as JSON, alone or in a code fence; `None` if it is not one.

    `{"can_answer": true, "quotes": [{"source_id": "S1", "quote": "…"}]}`; `evidence` is read as
    `quotes`, as some models call it. Nothing is guessed from prose.
    """
    if len(text) > MAX_CHARACTERS:
        return None
    fenced = _FENCE.fullmatch(text)
    try:
        value = json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or not isinstance(value.get("can_answer"), bool):
        return None
    given = value.get("quotes", value.get("evidence", []))
    if not isinstance(given, list) or len(given) > MAX_READ:
        return None
    quotes = [_quote(one) for one in given]
    if any(one is None for one in quotes):
        return None
    return Proposal(value["can_answer"], tuple(one for one in quotes if one is not None))


def _quote(value: Any) -> ProposedQuote | None:
    if not isinstance(value, dict):
        return None
    source, quote = value.get("source_id"), value.get("quote")
    if not isinstance(source, str) or not isinstance(quote, str):
        return None
    return ProposedQuote(source, quote)
