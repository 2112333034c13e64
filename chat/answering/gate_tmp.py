"""The evidence gate: which ranked passages may speak, decided before any chat client exists.

The numbers and the rules stand in `knowledge.retrieval.admission`, beside the calibration that
makes them, so that the score that is compared is the score that was calibrated. Here the decision
becomes what a turn needs: evidence, or the reason of a refusal and the nearest titles.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from chat.answering import refusals
from knowledge.retrieval import admission

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from knowledge.retrieval.types import Analysis, Candidate, ChunkFacts, Thresholds, Verdict

#: What a refusal says for each reason of `admission.admit`.
REASONS = {
    "empty": refusals.NO_EVIDENCE,
    "below_threshold": refusals.NO_EVIDENCE,
    "unknown_identifier": refusals.IDENTIFIER_ABSENT,
    "unknown_place": refusals.PLACE_ABSENT,
}
#: Titles under a refusal; a choice: what fits on a phone.
MAX_NEAR = 3


@dataclass(frozen=True, slots=True)
class Gate:
    """What the gate decided. Empty `evidence`: the turn is refused for `reason` (a code of
    `refusals`) and no chat client may be built; `near` may then be named, without a claim.

    `score` is the question's, compared with `threshold`. A sentence speaks from
    `sentence_threshold` on.
    """

    evidence: tuple[Candidate, ...]
    reason: str
    score: float
    threshold: float
    sentence_threshold: float
    near: tuple[Candidate, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    missing: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.evidence)


def admit(
    analysis: Analysis,
    candidates: Sequence[Candidate],
    facts: Mapping[int, ChunkFacts],
    thresholds: Thresholds,
) -> Gate:
    """The decision on the question and on each of `candidates` (best first, all admissible)."""
    decided = admission.admit(analysis, candidates, facts, thresholds)
    floor = thresholds.context.get(analysis.language, thresholds.min_cosine)
    near = () if decided.evidence else _near(candidates, floor)
    return Gate(
        evidence=decided.evidence,
        reason="" if decided.evidence else REASONS[decided.reason],
        score=decided.score,
        threshold=decided.threshold,
        sentence_threshold=floor,
        near=near,
        verdicts=decided.verdicts,
        missing=decided.missing,
    )


def _near(candidates: Sequence[Candidate], floor: float) -> tuple[Candidate, ...]:
    """Passages nearer than most off-topic questions come: their titles may help to rephrase."""
    close = [c for c in candidates if admission.passage_score(c) >= floor and c.coverage > 0]
    return tuple(close[:MAX_NEAR])
