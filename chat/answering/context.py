"""The evidence of a turn: chosen, tagged, and written for a prompt as data that commands
nothing."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING

from chat.answering.citations import header
from chat.answering.tags import replace_tags, tag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chat.answering.types import Evidence

#: The specification: 8 to 12 chunks, balanced between documents.
MIN_CHUNKS = 8
MAX_CHUNKS = 12
#: A choice: 12 slides of 1,000 characters with room to spare; a profile gives its own budget.
TOKEN_BUDGET = 4_000
#: French prose under the tokenisers of multilingual models; low, so that the estimate errs high.
CHARS_PER_TOKEN = 3.2
#: Tokens for a header and its fence.
_OVERHEAD = 40

_CONTROL = re.compile("<\\|[^|<>\\n]{0,60}\\|>|</?s>|\\[/?INST\\]|<</?SYS>>", re.IGNORECASE)
_MARKUP = re.compile(
    "</?(?=(?:system|assistant|user|human|tool|source|sources|evidence|instructions?|prompt)\\b)",
    re.IGNORECASE,
)
_ROLE = re.compile(
    "(?im)^(?P<lead>(?:‹S\\d+›|[ \\t>#*_-])*)(?P<role>system|assistant|user|human|"
    "developer|tool|instructions?|système|utilisateur|assistante?)(?P<tail>[ \\t*_]*):"
)
_FENCE = re.compile("<{3,}|>{3,}|`{3,}|-{5,}|={5,}")


def estimate_tokens(text: str) -> int:
    """An upper estimate that needs no tokeniser."""
    return ceil(len(text) / CHARS_PER_TOKEN)


def choose(
    ranked: Sequence[Evidence],
    *,
    token_budget: int = TOKEN_BUDGET,
    minimum: int = MIN_CHUNKS,
    maximum: int = MAX_CHUNKS,
) -> tuple[Evidence, ...]:
    """The best of `ranked` (best first), tagged S1…Sn in that order.

    Pinned evidence comes first. No document takes more than its share while another waits; when
    that leaves fewer than `minimum`, the best of what was set aside fills up. A chunk over the
    budget is skipped whole, never cut: a cut chunk could not be quoted exactly. The first is always
    kept.
    """
    first_seen: dict[int, Evidence] = {}
    for one in ranked:
        first_seen.setdefault(one.chunk_id, one)
    order = sorted(first_seen.values(), key=lambda one: not one.pinned)  # stable
    documents = len({one.document_id for one in order})
    share = max(3, ceil(maximum / max(1, documents)))
    chosen: list[Evidence] = []
    aside: list[Evidence] = []
    taken: Counter[int] = Counter()
    spent = 0

    def take(one: Evidence) -> None:
        nonlocal spent
        cost = estimate_tokens(one.text) + _OVERHEAD
        if len(chosen) < maximum and (not chosen or spent + cost <= token_budget):
            chosen.append(one)
            taken[one.document_id] += 1
            spent += cost

    for one in order:
        if not one.pinned and taken[one.document_id] >= share:
            aside.append(one)
        else:
            take(one)
    for one in aside:
        if len(chosen) < minimum:
            take(one)
    place = {one.chunk_id: index for index, one in enumerate(order)}
    chosen.sort(key=lambda one: place[one.chunk_id])
    return tuple(replace(one, tag=tag(number)) for number, one in enumerate(chosen, 1))


def neutralise(text: str) -> str:
    """`text` for a prompt: forged tags, headers, fences and role markers no longer look like ours.

    Only the prompt sees this form. A passage that held such a mark can be quoted around it, not
    across it.
    """
    text = replace_tags(text, lambda group: "".join(f"‹S{n}›" for n in group.numbers))
    text = _CONTROL.sub(lambda m: f"‹{m.group().strip('<>|[]/')}›", text)
    text = _MARKUP.sub("‹", text)
    text = _ROLE.sub(lambda m: f"{m['lead']}{m['role']}{m['tail']} \u2236", text)
    return _FENCE.sub(lambda m: "\u00b7" * len(m.group()), text)


def render(evidence: Sequence[Evidence], language: str, *, fence: str) -> str:
    """The sources as one block of a prompt, each under its header, between lines that no document
    can forge. `fence` is a fresh random word of the caller (`secrets.token_hex(8)`)."""
    if not re.fullmatch("[0-9A-Za-z]{8,64}", fence):
        msg = "a fence is 8 to 64 letters or digits"
        raise ValueError(msg)
    blocks = []
    for one in evidence:
        safe = replace(
            one,
            title=neutralise(one.title),
            section=neutralise(one.section),
            document=neutralise(one.document),
            term=neutralise(one.term),
            sheet=neutralise(one.sheet),
        )
        blocks.append(
            f"{header(safe, language)}\n<<<{fence}\n{neutralise(one.text)}\n{fence}>>>",
        )
    return "\n\n".join(blocks)
