"""Measures of one evaluation run. Pure: results in, numbers out."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


@dataclass(frozen=True, slots=True)
class Result:
    """What one golden question gave.

    `rank` is the place, from 1, of the first acceptable source in the ranking, `None` if it is not
    there. `cited` says whether an acceptable source is among the citations, `contained` whether
    the expected words stand in the answer. `violations` names what must never have been shown.
    """

    id: str
    kind: str
    expected_answer: bool
    answered: bool
    reason: str
    rank: int | None
    cited: bool
    contained: bool
    citations: int
    valid_citations: int
    violations: tuple[str, ...]
    model_calls: int
    milliseconds: float


def recall_at(k: int, results: Iterable[Result]) -> float | None:
    """Share of answerable questions with an acceptable source among the first k.

    With one relevant source asked for, this is the hit rate of Manning, Raghavan and Schütze,
    Introduction to Information Retrieval, chapter 8.
    """
    return _share(_answerable(results), lambda r: r.rank is not None and r.rank <= k)


def mean_reciprocal_rank(results: Iterable[Result]) -> float | None:
    """Mean of 1/rank of the first acceptable source, 0 where there is none (Voorhees, TREC-8)."""
    ranks = [1 / r.rank if r.rank else 0.0 for r in _answerable(results)]
    return fmean(ranks) if ranks else None


def false_refusal_rate(results: Iterable[Result]) -> float | None:
    return _share(_answerable(results), lambda r: not r.answered)


def cited_rate(results: Iterable[Result]) -> float | None:
    """Share of answerable questions whose citations hold an acceptable source."""
    return _share(_answerable(results), lambda r: r.cited)


def containment_rate(results: Iterable[Result]) -> float | None:
    """Share of answerable questions whose answer contains all expected words."""
    return _share(_answerable(results), lambda r: r.contained)


def correct_refusal_rate(results: Iterable[Result]) -> float | None:
    refusable = [r for r in results if not r.expected_answer]
    return _share(refusable, lambda r: not r.answered)


def citation_validity(results: Iterable[Result]) -> float | None:
    """Share of shown citations whose quote is an exact substring of the cited chunk."""
    results = list(results)
    shown = sum(r.citations for r in results)
    return sum(r.valid_citations for r in results) / shown if shown else None


def isolation_violations(results: Iterable[Result]) -> int:
    return sum(len(r.violations) for r in results)


def _answerable(results: Iterable[Result]) -> list[Result]:
    return [r for r in results if r.expected_answer]


def _share(results: Sequence[Result], holds: Callable[[Result], bool]) -> float | None:
    return fmean([1.0 if holds(r) else 0.0 for r in results]) if results else None


def summary(results: Sequence[Result]) -> dict[str, float | int | None]:
    """All measures of the results, in the order of a report's columns."""
    return {
        "questions": len(results),
        "recall@10": recall_at(10, results),
        "recall@3": recall_at(3, results),
        "mrr": mean_reciprocal_rank(results),
        "cited": cited_rate(results),
        "contained": containment_rate(results),
        "false_refusals": false_refusal_rate(results),
        "correct_refusals": correct_refusal_rate(results),
        "citation_validity": citation_validity(results),
        "isolation_violations": isolation_violations(results),
        "model_calls": sum(r.model_calls for r in results),
        "mean_ms": fmean([r.milliseconds for r in results]) if results else None,
    }
