"""Significant stems of a text, by the rules that the index itself uses."""

from __future__ import annotations

from chat.answering.sentences import math_spans
from knowledge.retrieval.language import index_terms


def stems(text: str, language: str) -> frozenset[str]:
    """Stems of `text` in `language`, stop words out. Mathematics counts too: `$VAN$` is a word."""
    return frozenset(index_terms(text, language).split())


def ordered_stems(text: str, language: str) -> tuple[str, ...]:
    """The same in the order of the text, each at its first place."""
    return tuple(dict.fromkeys(index_terms(text, language).split()))


def prose(text: str) -> str:
    """`text` with its mathematics blanked, at equal length."""
    out = text
    for start, end in math_spans(text):
        out = out[:start] + " " * (end - start) + out[end:]
    return out
