"""The default answerer: no model, only sentences of the evidence, quoted exactly.

Sentence score = e5 (min-max in the pool) + idf coverage of the question + 0.3 answer type + 0.5
passage score, over the top 5 passages; three sentences (FINDINGS.md, Extractive answers: the gold
answer is in the first, first two, first three on PIAF 56/69/76 %, FQuAD 63/73/78 %, SQuAD2 78/87/90
%).
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

import numpy as np

from chat.answering import refusals
from chat.answering.figures import figures
from chat.answering.sentences import MIN_QUOTE, Unit, math_spans, units
from chat.answering.types import Evidence, Proposal, ProposedQuote, Request
from chat.answering.words import stems
from knowledge.retrieval.language import fold

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from knowledge.retrieval.types import Analysis

#: FINDINGS.md, Extractive answers (bench/quality/extractive.py, mode e5+lex+type+passage, pool top
#: 5).
POOL = 5
WEIGHT_TYPE = 0.3
WEIGHT_PASSAGE = 0.5
MAX_QUOTES = 3
#: A term in the passage's title, section or headword counts half in its sentences: on a slide the
#: title holds the subject that its lines leave out. A choice; the learned ranker of bench/quality/
#: sentence_rank.py has the same feature (`cov+title`).
TITLE_SHARE = 0.5
#: A second or third sentence is shown if it comes this close to the first; a choice.
KEEP_WITHIN = 0.7
#: Taken off a further sentence of a passage already quoted, so that a near passage gets its turn; a
#: choice, because the right slide is second in a fifth of the questions (FINDINGS.md: recall
#: against MRR).
SAME_PASSAGE = 0.15
#: A sentence that is itself a question answers nothing, above all the one that was asked; a choice:
#: it comes behind any other sentence of the pool.
ASKS = -1.5
#: Added when the unit is the entry or box that defines the very subject of a definition question; a
#: choice: as much as full coverage, because nothing answers such a question better.
SUBJECT = 1.0
#: The second threshold, on `confidence` (raw cosine + 0.10 coverage of the best sentence: the first
#: threshold's own rule brought down to one sentence): below it, titles only. Used when the caller
#: has no calibrated one (`Gate.sentence_threshold`); a choice at the low end of e5's answerable
#: cosines (FINDINGS.md, Refusal: 0.82-0.93).
MIN_CONFIDENCE = 0.83
#: Share of the confidence that coverage gives, as in the evidence gate (FINDINGS.md, Refusal).
COVERAGE_SHARE = 0.10
#: Characters of a slide quoted when the question asks for the slide itself; a choice: one screen.
PLACE_CHARS = 900

_NUMBER_ASKED = re.compile(
    r"\b(?:combien|nombre|distance|taille|montant|prix|taux|ponderation|pourcentage|age|duree|valeur|"
    r"how many|how much|how long|percent\w*|amount|price|rate|weight|duration|value|number)\b"
)
_DATE_ASKED = re.compile(
    r"\b(?:quand|annee|date|siecle|jour|heure|echeance|when|year|century|day|deadline|what time)\b"
)
_WHO_ASKED = re.compile(r"\b(?:qui|par qui|a qui|who|whom|whose)\b(?! est-ce)")
_WHY_ASKED = re.compile(r"\b(?:pourquoi|raisons?|causes?|why|reasons?)\b")
_FORMULA_ASKED = re.compile(
    r"\b(?:formules?|equations?|calcul\w*|exprim\w*|formulas?|formulae|comput\w*|express\w*)\b"
)
_DATE = re.compile(
    r"\b(?:1[5-9]\d\d|20\d\d|siecle|century|janvier|fevrier|mars|avril|mai|juin|juillet|aout|septembre|"
    r"octobre|novembre|decembre|january|february|march|april|may|june|july|august|september|october|"
    r"november|december|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|monday|tuesday|wednesday|"
    r"thursday|friday|saturday|sunday|\d{1,2} ?h(?:eures?)?\d{0,2})\b"
)
_NAME = re.compile(r"(?<=[a-zà-ÿ,;’'] )[A-ZÀ-Ý][a-zà-ÿ]+")
_BECAUSE = re.compile(
    r"\b(?:car|parce qu\w*|en raison|grace a|afin|puisqu\w*|permet\w*|pour \w+r|because|"
    r"due to|since|so that|in order|allows?)\b"
)
_DEFINES = re.compile(
    r"^\W*(?:definition|def\.)|\b(?:est|sont|designe\w*|correspond\w* a|represente\w*|se definit|"
    r"on appelle|on entend par|mesure\w*|consiste\w*|is|are|refers? to|means?|denotes?|measures?|"
    r"consists?|is defined|we call)\b"
)
_DEFINITION_BOX = re.compile(r"^\W*(?:definition|def\.)")
_FORMULA_BOX = re.compile(r"^\W*(?:formule|formula|equation)")
_COMPARES = re.compile(
    r"\b(?:alors que|tandis que|contrairement|par rapport|plus|moins|differ\w*|au lieu|whereas|"
    r"while|unlike|than|rather|differs?|instead)\b"
)


@dataclass(frozen=True, slots=True)
class Scored:
    """One sentence of the pool. `coverage` in [0, 1]; `cosine` raw; `score` ranks within the
    pool."""

    evidence: Evidence
    unit: Unit
    cosine: float
    coverage: float
    score: float

    @property
    def confidence(self) -> float:
        return self.cosine + COVERAGE_SHARE * self.coverage


def propose(request: Request) -> Proposal:
    """At most three exact quotes for the answer gate, best passage first; or why there are none."""
    if not request.evidence:
        return Proposal(can_answer=False, reason=refusals.NO_EVIDENCE)
    pinned = [one for one in request.evidence if one.pinned]
    if pinned and request.analysis.pointer:
        return _place(pinned)
    ranked = score(request)
    if not ranked:
        return Proposal(can_answer=False, reason=refusals.CLOSEST)
    confidence = max(one.confidence for one in ranked[:MAX_QUOTES])
    least = MIN_CONFIDENCE if request.min_confidence is None else request.min_confidence
    if confidence < least and not pinned:
        return Proposal(can_answer=False, reason=refusals.CLOSEST, confidence=confidence)
    chosen = _choose(ranked)
    return Proposal(
        can_answer=True,
        quotes=tuple(ProposedQuote(one.evidence.tag, one.unit.text) for one in chosen),
        confidence=confidence,
    )


def score(request: Request) -> list[Scored]:
    """The quotable sentences of the top passages, best first. Embeds them in one call."""
    pinned = tuple(one for one in request.evidence if one.pinned)
    pool = (pinned or request.evidence)[:POOL]
    found = [(one, unit) for one in pool for unit in _quotable(one)]
    if not found:
        return []
    vectors = request.embed([unit.text for _, unit in found])
    cosines = vectors @ request.query_vector
    passages = _min_max(np.array([one.score for one in pool]))
    passage_of = {one.chunk_id: float(passages[i]) for i, one in enumerate(pool)}
    coverages = _coverages(request, found)
    question = fold(request.analysis.question)
    scored = [
        Scored(
            evidence=one,
            unit=unit,
            cosine=float(cosine),
            coverage=coverage,
            score=float(near)
            + coverage
            + WEIGHT_TYPE * _type_match(request.analysis, question, one, unit)
            + WEIGHT_PASSAGE * passage_of[one.chunk_id]
            + _subject_bonus(request.analysis, one, unit)
            + (ASKS if unit.text.endswith("?") else 0.0),
        )
        for (one, unit), cosine, near, coverage in zip(
            found, cosines, _min_max(cosines), coverages, strict=True
        )
    ]
    return sorted(scored, key=lambda one: -one.score)


def _quotable(one: Evidence) -> list[Unit]:
    """Units long enough to be quoted that say more than the title does."""
    titles = {" ".join(name.split()).casefold() for name in (one.title, one.section, one.document)}
    return [
        unit
        for unit in units(one.text)
        if len(unit.text) >= MIN_QUOTE and " ".join(unit.text.split()).casefold() not in titles
    ]


def _min_max(values: NDArray[np.floating]) -> NDArray[np.floating]:
    """0 for the smallest, 1 for the largest; all 0 when they are equal."""
    spread = float(np.ptp(values))
    return (values - values.min()) / spread if spread > 0 else np.zeros_like(values)


def _coverages(request: Request, found: list[tuple[Evidence, Unit]]) -> list[float]:
    """For each unit, the idf-weighted share of the question's terms that it holds."""
    analysis = request.analysis
    alternatives = analysis.alternatives or tuple((term,) for term in analysis.terms)
    words = [stems(unit.text, one.language or analysis.language) for one, unit in found]
    frames = [
        stems(f"{one.title} {one.section} {one.term}", one.language or analysis.language)
        for one, _ in found
    ]
    weights = _weights(request, alternatives, words)
    total = sum(weights) or 1.0
    out = []
    for said, frame in zip(words, frames, strict=True):
        own = _positions(analysis, alternatives, said)
        around = _positions(analysis, alternatives, said | frame) - own
        held = sum(weights[i] for i in own) + TITLE_SHARE * sum(weights[i] for i in around)
        out.append(held / total)
    return out


def _positions(
    analysis: Analysis, alternatives: tuple[tuple[str, ...], ...], said: frozenset[str]
) -> set[int]:
    """Positions of the question's terms that `said` holds, itself or by another of their names."""
    held = {i for i, forms in enumerate(alternatives) if not said.isdisjoint(forms)}
    for bridge in analysis.bridges:
        if bridge.phrase and all(not said.isdisjoint(forms) for forms in bridge.phrase):
            held.update(i for i in bridge.covers if i < len(alternatives))
    return held


def _weights(
    request: Request, alternatives: tuple[tuple[str, ...], ...], words: list[frozenset[str]]
) -> list[float]:
    if request.idf is not None:
        return [request.idf(forms[0]) for forms in alternatives]
    counts = Counter(i for said in words for i, forms in enumerate(alternatives)
                     if not said.isdisjoint(forms))  # fmt: skip
    size = len(words)
    return [log(1 + (size - counts[i] + 0.5) / (counts[i] + 0.5)) for i in range(len(alternatives))]


def _type_match(analysis: Analysis, question: str, one: Evidence, unit: Unit) -> float:
    """1 when the unit has the form of what is asked (number, date, name, cause, definition,
    formula)."""
    text = fold(unit.text)
    if analysis.kind == "calculation" or _FORMULA_ASKED.search(question):
        math = any("=" in unit.text[a:b] for a, b in math_spans(unit.text))
        return 1.0 if math or _FORMULA_BOX.search(text) else 0.0
    if analysis.kind == "definition":
        if _DEFINITION_BOX.search(text) or one.term:
            return 1.0
        return 0.5 if _DEFINES.search(text) else 0.0
    if analysis.kind == "comparison":
        return 1.0 if _COMPARES.search(text) else 0.0
    if _DATE_ASKED.search(question):
        return 1.0 if _DATE.search(text) else 0.0
    if _NUMBER_ASKED.search(question) or analysis.kind == "data":
        return 1.0 if figures(unit.text) else 0.0
    if _WHY_ASKED.search(question):
        return 1.0 if _BECAUSE.search(text) else 0.0
    if _WHO_ASKED.search(question):
        return 1.0 if _NAME.search(unit.text) else 0.0
    return 0.0


def _subject_bonus(analysis: Analysis, one: Evidence, unit: Unit) -> float:
    """A definition asked, and this unit is the glossary entry or definition box of the subject."""
    if analysis.kind != "definition":
        return 0.0
    names = [one.term, one.title] if _DEFINITION_BOX.search(fold(unit.text)) else [one.term]
    asked = {form for forms in analysis.alternatives for form in forms} | set(analysis.terms)
    asked |= set(analysis.expansions)
    for name in names:
        subject = stems(re.sub(r"\(.*?\)", " ", name), one.language or analysis.language)
        if subject and subject <= asked:
            return SUBJECT
    return 0.0


def _choose(ranked: list[Scored]) -> list[Scored]:
    """Up to three sentences: the best, then near ones, rather of other passages, never the same
    words twice. Passages in order of their best sentence, sentences in order of the text."""
    chosen = [ranked[0]]
    rest = ranked[1:]
    floor = KEEP_WITHIN * ranked[0].score
    while rest and len(chosen) < MAX_QUOTES:
        used = {one.evidence.chunk_id for one in chosen}
        rest = [one for one in rest if not any(_alike(one, other) for other in chosen)]
        if not rest:
            break
        best = max(
            rest,
            key=lambda one: one.score - (SAME_PASSAGE if one.evidence.chunk_id in used else 0.0),
        )
        if best.score < floor:
            break
        chosen.append(best)
        rest.remove(best)
    order = list(dict.fromkeys(one.evidence.chunk_id for one in chosen))
    return sorted(chosen, key=lambda one: (order.index(one.evidence.chunk_id), one.unit.start))


def _alike(one: Scored, other: Scored) -> bool:
    """The same words on two slides: one of them is enough."""
    a = set(re.findall(r"\w+", fold(one.unit.text)))
    b = set(re.findall(r"\w+", fold(other.unit.text)))
    return len(a & b) >= 0.8 * max(1, min(len(a), len(b)))


def _place(pinned: list[Evidence]) -> Proposal:
    """The slide, page or exercise that the question points at: its text, or its main lines."""
    quotes: list[ProposedQuote] = []
    left = PLACE_CHARS
    for one in pinned[:MAX_QUOTES]:
        text = one.text.strip()
        if len(quotes) == MAX_QUOTES or left < MIN_QUOTE:
            break
        if MIN_QUOTE <= len(text) <= left:
            quotes.append(ProposedQuote(one.tag, text))
            left -= len(text)
            continue
        for unit in _main_lines(one, left, MAX_QUOTES - len(quotes)):
            quotes.append(ProposedQuote(one.tag, unit))
            left -= len(unit)
    if not quotes:
        return Proposal(can_answer=False, reason=refusals.CLOSEST)
    return Proposal(can_answer=True, quotes=tuple(quotes), confidence=1.0)


def _main_lines(one: Evidence, room: int, most: int) -> list[str]:
    """Boxes and formulas first, then the first lines; in the order of the text."""
    found = _quotable(one)
    boxed = re.compile(
        r"^\W*(?:definition|important|formule|formula|theoreme|theorem|a retenir|key)"
    )
    ordered = sorted(found, key=lambda unit: (not boxed.search(fold(unit.text)), unit.start))
    taken: list[Unit] = []
    for unit in ordered:
        if len(taken) < most and len(unit.text) <= room:
            taken.append(unit)
            room -= len(unit.text)
    return [unit.text for unit in sorted(taken, key=lambda unit: unit.start)]
