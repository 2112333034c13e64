"""The evidence gate: which ranked passages may speak, decided before any chat client exists.

The numbers and the rules stand in `knowledge.retrieval.admission`, beside the calibration that
makes them, so that the score that is compared is the score that was calibrated: calibrated (s =
best cosine + 0.10 x coverage against tau per index and language; measurements.md, Refusal) or
strict (minimum cosine and a significant lexical overlap, at most three). In both a code or a place
that the question names must stand in the evidence. Here the decision becomes what a turn needs:
evidence, or the reason of a refusal and the nearest titles.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING

from chat.answering import refusals
from knowledge.retrieval import admission
from knowledge.retrieval.analysis import holds_identifier
from knowledge.retrieval.types import Verdict

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from knowledge.retrieval.types import Analysis, Candidate, ChunkFacts, Thresholds

#: What a refusal says for each reason of `admission.admit`.
REASONS = {
    "empty": refusals.NO_EVIDENCE,
    "below_threshold": refusals.NO_EVIDENCE,
    "unknown_identifier": refusals.IDENTIFIER_ABSENT,
    "unknown_place": refusals.PLACE_ABSENT,
}
#: Titles under a refusal; a choice: what fits on a phone.
MAX_NEAR = 3
#: The best sentence must stand this far above the question's threshold: sentences are shorter than
#: passages and say the question's words closer together. Measured on the demo's golden sets (118
#: answerable questions, 54 others; e5-small): 117 answered and 2 of the others; with `sure` too,
#: 115 and none; with the context floor instead, 118 and 7.
SENTENCE_MARGIN = 0.02
#: A verdict of this room: the ranking gave no facts or no finite score.
UNSOUND = "unsound"


@dataclass(frozen=True, slots=True)
class Gate:
    """What the gate decided. Empty `evidence`: the turn is refused for `reason` (a code of
    `refusals`) and no chat client may be built; `near` may then be named, without a claim.

    `score` is the question's, compared with `threshold`. `sentence_threshold` is what the best
    sentence must reach to be quoted (`Request.min_confidence`): below it the turn shows the closest
    passages without a claim. So does a question that is not `sure`: it passed, but no further above
    the threshold than questions on the topic that no passage answers. `verdicts` hold one for each
    candidate given; `missing` are the codes and places not found.
    """

    evidence: tuple[Candidate, ...]
    reason: str
    score: float
    threshold: float
    sentence_threshold: float
    near: tuple[Candidate, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    missing: tuple[str, ...] = ()
    sure: bool = True

    def __bool__(self) -> bool:
        return bool(self.evidence)


def admit(
    analysis: Analysis,
    candidates: Sequence[Candidate],
    facts: Mapping[int, ChunkFacts],
    thresholds: Thresholds,
    *,
    labels: Collection[str] = (),
) -> Gate:
    """The decision on the question and on each of `candidates` (best first, all admissible).

    `labels` are names that the whole scope answers to, such as the code of the course that is
    asked: a question may say them though no passage does. Raises RetrievalError when the index has
    no threshold for the language.
    """
    sound = [
        candidate
        for candidate in candidates
        if candidate.chunk_id in facts and isfinite(candidate.cosine + candidate.coverage)
    ]
    asked = tuple(
        identifier
        for identifier in analysis.identifiers
        if not any(holds_identifier(label, identifier) for label in labels)
    )
    decided = admission.admit(replace(analysis, identifiers=asked), sound, facts, thresholds)
    floor = thresholds.context.get(analysis.language, thresholds.min_cosine)
    strict = thresholds.rule == admission.STRICT_RULE
    verdicts = {verdict.chunk_id: verdict for verdict in decided.verdicts}
    return Gate(
        evidence=decided.evidence,
        reason="" if decided.evidence else REASONS[decided.reason],
        score=decided.score,
        threshold=decided.threshold,
        sentence_threshold=thresholds.min_cosine if strict else decided.threshold + SENTENCE_MARGIN,
        near=() if decided.evidence else _near(sound, floor),
        verdicts=tuple(
            verdicts.get(candidate.chunk_id)
            or Verdict(candidate.chunk_id, score=0.0, admitted=False, reason=UNSOUND)
            for candidate in candidates
        ),
        missing=decided.missing,
        sure=decided.sure,
    )


def _near(candidates: Sequence[Candidate], floor: float) -> tuple[Candidate, ...]:
    """Passages nearer than most off-topic questions come: their titles may help to rephrase."""
    close = [c for c in candidates if admission.passage_score(c) >= floor and c.coverage > 0]
    return tuple(close[:MAX_NEAR])
