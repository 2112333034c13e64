"""The default answerer: no model, only sentences of the evidence, quoted exactly.

Sentence score = e5 (min-max in the pool) + idf coverage of the question + 0.3 answer type + 0.5
passage score, over the top 5 passages (measurements.md, Extractive answers). Measured with it:
the gold answer is in the first, first two, first three sentences of 65/77/82 % of 150 questions of
PIAF (measurements.md: 56/69/76).
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

import numpy as np

from chat.answering import asked, refusals
from chat.answering.sentences import MIN_QUOTE, Unit, table_spans, units
from chat.answering.types import Evidence, Proposal, ProposedQuote, Request
from chat.answering.words import ordered_stems, stems
from knowledge.retrieval.language import fold

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from knowledge.retrieval.types import Analysis

#: measurements.md, Extractive answers (e5, words, type and passage, top 5).
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
#: choice: the right slide is second in a fifth of the questions (measurements.md).
SAME_PASSAGE = 0.15
#: Given to a further sentence for the share of the question that none before it holds: the other
#: side of a comparison. A choice.
NEW_WORDS = 0.5
#: A question or a task answers nothing, above all the one that was asked; a choice: it comes behind
#: any other sentence of the pool.
ASKS = -1.5
#: The statement of an exercise holds the words of many questions and no answer, unless the question
#: is about an exercise; a choice.
STATEMENT = -0.5
#: A slide of objectives names every subject and says nothing of any; a choice.
OUTLINE = -0.5
#: Added when the unit is the entry or box that defines the very subject of a definition question; a
#: choice: as much as full coverage, because nothing answers such a question better.
SUBJECT = 1.0
#: The second threshold, on `confidence` of the best sentence that is quoted. Used when the caller
#: has no calibrated one (`Gate.sentence_threshold`). Between the right answers and the rest: 10 %
#: of PIAF's right answers lie below 0.883, 2 % of the demo's French ones below 0.889 (e5-small).
MIN_CONFIDENCE = 0.88
#: Confidence = raw cosine + this x coverage, as in the evidence gate (measurements.md, Refusal).
COVERAGE_SHARE = 0.10
#: Characters of a slide quoted when the question asks for the slide itself; a choice: one screen.
PLACE_CHARS = 900
#: A table up to this size is quoted whole, so that a row keeps its header; a choice.
TABLE_CHARS = 700

_BOXED = re.compile(
    r"^\W*(?:definition|important|formule|formula|theoreme|theorem|a retenir|key)\b"
)


@dataclass(frozen=True, slots=True)
class Scored:
    """One sentence of the pool. `coverage` in [0, 1]; `cosine` raw; `score` ranks within the pool.

    `held` are the positions of the question's terms that it holds, and `shares` what each position
    weighs; `header` is the first row of the table that a row stands in.
    """

    evidence: Evidence
    unit: Unit
    cosine: float
    coverage: float
    score: float
    held: frozenset[int] = frozenset()
    shares: tuple[float, ...] = ()
    header: str = ""

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
    chosen = choose(ranked)
    confidence = max(one.confidence for one in chosen)
    least = MIN_CONFIDENCE if request.min_confidence is None else request.min_confidence
    if not pinned and (confidence < least or not fits(request.analysis, chosen)):
        return Proposal(can_answer=False, reason=refusals.CLOSEST, confidence=confidence)
    return Proposal(can_answer=True, quotes=_quotes(chosen), confidence=confidence)


def fits(analysis: Analysis, chosen: Sequence[Scored]) -> bool:
    """Whether the sentences can answer at all: they name what the question names and hold what it
    asks for (a quantity, a solution)."""
    sources = [one.evidence for one in chosen]
    texts = [one.unit.text for one in chosen]
    kinds = [one.kind for one in sources]
    question = fold(analysis.question)
    return not unnamed(analysis, sources) and asked.must_hold(question, texts, kinds)


def score(request: Request) -> list[Scored]:
    """The quotable sentences of the top passages, best first. Embeds them in one call."""
    analysis = request.analysis
    pinned = tuple(one for one in request.evidence if one.pinned)
    pool = (pinned or request.evidence)[:POOL]
    found = [(one, unit, header) for one in pool for unit, header in _quotable(one)]
    if not found:
        return []
    vectors = request.embed([f"{header}\n{unit.text}".strip() for _, unit, header in found])
    cosines = vectors @ request.query_vector
    passages = _min_max(np.array([one.score for one in pool]))
    passage_of = {one.chunk_id: float(passages[i]) for i, one in enumerate(pool)}
    coverages, held, shares = _coverages(request, found)
    question = fold(analysis.question)
    exercise = bool(pinned) or asked.asks_for_exercise(analysis, question)
    scored = []
    for index, (one, unit, header) in enumerate(found):
        value = coverages[index] + WEIGHT_PASSAGE * passage_of[one.chunk_id]
        value += WEIGHT_TYPE * asked.form_match(analysis, question, one, unit.text)
        value += _subject_bonus(analysis, one, unit)
        value += ASKS if asked.asks(unit.text) else 0.0
        value += STATEMENT if one.kind == "exercise" and not exercise else 0.0
        value += OUTLINE if asked.is_outline(one.title) else 0.0
        scored.append((value, Scored(
            one, unit, float(cosines[index]), coverages[index], 0.0, held[index], shares, header,
        )))  # fmt: skip
    near = _min_max(cosines)
    final = [
        Scored(
            one.evidence, one.unit, one.cosine, one.coverage, value + float(near[index]),
            one.held, one.shares, one.header,
        )
        for index, (value, one) in enumerate(scored)
    ]  # fmt: skip
    return sorted(final, key=lambda one: -one.score)


def _quotable(one: Evidence) -> list[tuple[Unit, str]]:
    """Units long enough to be quoted that say more than the title does, each with the header of the
    table that it is a row of."""
    titles = {" ".join(name.split()).casefold() for name in (one.title, one.section, one.document)}
    tables = table_spans(one.text)
    found = []
    for unit in units(one.text):
        if len(unit.text) < MIN_QUOTE or " ".join(unit.text.split()).casefold() in titles:
            continue
        start = next((low for low, high in tables if low < unit.start < high), None)
        header = "" if start is None else one.text[start:].split("\n", 1)[0]
        found.append((unit, header))
    return found


def _min_max(values: NDArray[np.floating]) -> NDArray[np.floating]:
    """0 for the smallest, 1 for the largest; all 0 when they are equal."""
    spread = float(np.ptp(values))
    return (values - values.min()) / spread if spread > 0 else np.zeros_like(values)


def _coverages(
    request: Request, found: list[tuple[Evidence, Unit, str]]
) -> tuple[list[float], list[frozenset[int]], tuple[float, ...]]:
    """For each unit the idf-weighted share of the question's subject that it holds, and which
    terms.

    Words of asking (« définir », « différence ») are no part of the subject, unless there is
    nothing else.
    """
    analysis = request.analysis
    terms = analysis.alternatives or tuple((term,) for term in analysis.terms)
    words = []
    frames = []
    for one, unit, header in found:
        language = one.language or analysis.language
        words.append(stems(f"{header}\n{unit.text}", language))
        frames.append(stems(f"{one.title} {one.section} {one.term}", language))
    subject = [i for i, forms in enumerate(terms) if asked.ASKING.isdisjoint(forms)]
    subject = subject or list(range(len(terms)))
    raw = _weights(request, terms, words)
    total = sum(raw[i] for i in subject) or 1.0
    shares = tuple(raw[i] / total if i in subject else 0.0 for i in range(len(terms)))
    coverages = []
    held = []
    for said, frame in zip(words, frames, strict=True):
        own = _positions(analysis, terms, said)
        around = _positions(analysis, terms, said | frame) - own
        held.append(frozenset(own))
        coverages.append(sum(shares[i] for i in own) + TITLE_SHARE * sum(shares[i] for i in around))
    return coverages, held, shares


def _positions(
    analysis: Analysis, terms: tuple[tuple[str, ...], ...], said: frozenset[str]
) -> set[int]:
    """Positions of the question's terms that `said` holds, itself or by another of their names."""
    held = {i for i, forms in enumerate(terms) if not said.isdisjoint(forms)}
    for bridge in analysis.bridges:
        if bridge.phrase and all(not said.isdisjoint(forms) for forms in bridge.phrase):
            held.update(i for i in bridge.covers if i < len(terms))
    return held


def _weights(
    request: Request, terms: tuple[tuple[str, ...], ...], words: list[frozenset[str]]
) -> list[float]:
    if request.idf is not None:
        return [request.idf(forms[0]) for forms in terms]
    counts: Counter[int] = Counter()
    for said in words:
        counts.update(i for i, forms in enumerate(terms) if not said.isdisjoint(forms))
    size = len(words)
    return [log(1 + (size - counts[i] + 0.5) / (counts[i] + 0.5)) for i in range(len(terms))]


def _subject_bonus(analysis: Analysis, one: Evidence, unit: Unit) -> float:
    """A definition is asked, and this unit is the glossary entry or definition box of its subject.

    The subject is the entry that the question names first, or else a title whose words all stand in
    the question.
    """
    boxed = asked.is_definition(unit.text)
    if analysis.kind != "definition" or not (one.term or boxed):
        return 0.0
    language = one.language or analysis.language
    names = [stems(re.sub(r"\(.*?\)", " ", name), language) for name in (one.term, one.title)]
    names = names[:1] if not boxed else names
    said = {form for forms in analysis.alternatives for form in forms} | set(analysis.terms)
    if analysis.glossary and analysis.language == language:
        place = {word: i for i, word in enumerate(ordered_stems(analysis.question, language))}
        entries = [stems(re.sub(r"\(.*?\)|,.*", " ", e), language) for e in analysis.glossary]
        first = min(
            entries, key=lambda e: (min((place.get(w, 99) for w in e), default=99), -len(e))
        )
        return SUBJECT if any(first and first <= name for name in names) else 0.0
    said |= set(analysis.expansions)
    return SUBJECT if any(name and name <= said for name in names) else 0.0


def choose(ranked: Sequence[Scored]) -> list[Scored]:
    """Up to three sentences: the best, then near ones that add something, never the same words
    twice. Passages in order of their best sentence, sentences in order of the text."""
    chosen = [ranked[0]]
    rest = list(ranked[1:])
    floor = KEEP_WITHIN * ranked[0].score
    while len(chosen) < MAX_QUOTES:
        rest = [one for one in rest if not any(_alike(one, other) for other in chosen)]
        covered = frozenset[int]().union(*(one.held for one in chosen))
        used = {one.evidence.chunk_id for one in chosen}
        best = max(rest, key=lambda one: _worth(one, covered, used), default=None)
        if best is None or _worth(best, covered, used) < floor:
            break
        chosen.append(best)
        rest.remove(best)
    order = list(dict.fromkeys(one.evidence.chunk_id for one in chosen))
    return sorted(chosen, key=lambda one: (order.index(one.evidence.chunk_id), one.unit.start))


def _worth(one: Scored, covered: frozenset[int], used: set[int]) -> float:
    """What a further sentence is worth beside those already chosen."""
    new = sum(one.shares[i] for i in one.held - covered)
    return one.score + NEW_WORDS * new - (SAME_PASSAGE if one.evidence.chunk_id in used else 0.0)


def _alike(one: Scored, other: Scored) -> bool:
    """The same words on two slides: one of them is enough. Rows of a table are all different."""
    if one.evidence is other.evidence and (one.header or other.header):
        return False
    a = set(re.findall(r"\w+", fold(one.unit.text)))
    b = set(re.findall(r"\w+", fold(other.unit.text)))
    return len(a & b) >= 0.8 * max(1, min(len(a), len(b)))


def unnamed(analysis: Analysis, sources: Sequence[Evidence]) -> bool:
    """The question names a person, place or thing that the quoted passages do not.

    Passages in another language are not held to them, because names of institutions are translated;
    and six letters are enough, because they are inflected.
    """
    here = [one for one in sources if (one.language or analysis.language) == analysis.language]
    if not here or len(here) < len(sources):
        return False
    text = fold(" ".join(f"{s.title} {s.section} {s.document} {s.term} {s.text}" for s in here))
    known = set(re.findall(r"[^\W\d_]+", text))
    return any(not any(word.startswith(name[:6]) for word in known) for name in analysis.names)


def _quotes(chosen: list[Scored]) -> tuple[ProposedQuote, ...]:
    """The sentences as quotes. A row brings its table, or its header when the table is long."""
    quotes: dict[tuple[str, str], None] = {}
    for one in chosen:
        text = one.evidence.text
        span = next((s for s in table_spans(text) if s[0] <= one.unit.start < s[1]), None)
        if span is not None and span[1] - span[0] <= TABLE_CHARS:
            start, end = min(span[0], one.unit.start), max(span[1], one.unit.end)
            quotes[one.evidence.tag, text[start:end]] = None
            continue
        if len(one.header) >= MIN_QUOTE and len(quotes) + len(chosen) < MAX_QUOTES:
            quotes[one.evidence.tag, one.header] = None
        quotes[one.evidence.tag, one.unit.text] = None
    return tuple(ProposedQuote(tag, quote) for tag, quote in [*quotes][:MAX_QUOTES])


def _place(pinned: list[Evidence]) -> Proposal:
    """The slide, page or exercise that the question points at: its text, or its main lines."""
    quotes: list[ProposedQuote] = []
    left = PLACE_CHARS
    for one in pinned[:MAX_QUOTES]:
        text = one.text.strip()
        if len(quotes) == MAX_QUOTES or left < MIN_QUOTE:
            break
        lines = [text] if MIN_QUOTE <= len(text) <= left else _main_lines(one, left)
        for line in lines[: MAX_QUOTES - len(quotes)]:
            quotes.append(ProposedQuote(one.tag, line))
            left -= len(line)
    if not quotes:
        return Proposal(can_answer=False, reason=refusals.CLOSEST)
    return Proposal(can_answer=True, quotes=tuple(quotes), confidence=1.0)


def _main_lines(one: Evidence, room: int) -> list[str]:
    """Boxes and formulas first, then the first lines; in the order of the text."""
    found = [unit for unit, _ in _quotable(one)]
    taken: list[Unit] = []
    for unit in sorted(found, key=lambda u: (not _BOXED.search(fold(u.text)), u.start)):
        if len(taken) < MAX_QUOTES and len(unit.text) <= room:
            taken.append(unit)
            room -= len(unit.text)
    return [unit.text for unit in sorted(taken, key=lambda unit: unit.start)]
