"""Two admissible sources that give different values for one subject.

Small on purpose: it compares sentences, not meanings. Two sentences conflict when they say the same
words around numbers that differ, carry the same units, and come from different documents. It misses
paraphrases; it does not choose.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from chat.answering.figures import MONTHS, Figure, figures
from chat.answering.sentences import units
from chat.answering.types import Conflict, Evidence, Quote
from chat.answering.words import prose, stems

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Share of common words (Jaccard, numbers out) from which two sentences speak of one subject; a
#: choice on the side of silence, to be measured on a labelled set.
SAME_SUBJECT = 0.6
#: Fewer significant words than this say too little to compare.
MIN_WORDS = 3
#: Values shown for one question.
MAX_CONFLICTS = 2
#: Chunks whose values are invented anew each time: two exercises are no contradiction.
_INVENTED = frozenset({"exercise", "solution"})
_EXAMPLE = re.compile(r"\W*(?:exemples?|examples?|solutions?)\b", re.IGNORECASE)


def find_conflicts(
    quotes: Sequence[Quote], evidence: Sequence[Evidence], language: str
) -> tuple[Conflict, ...]:
    """For each quote with a figure, the sentence of another document that gives another value."""
    sources = {one.chunk_id: one for one in evidence}
    found: list[Conflict] = []
    for quote in quotes:
        home = sources.get(quote.chunk_id)
        if home is None or home.kind in _INVENTED:
            continue
        for unit in units(quote.text):
            said, values = _reading(unit.text, home.language or language)
            if len(said) < MIN_WORDS or not values:
                continue
            left = Quote(
                quote.tag,
                quote.chunk_id,
                unit.text,
                quote.start + unit.start,
                quote.start + unit.end,
            )
            for other in evidence:
                same = other.document_id == home.document_id or other.kind in _INVENTED
                if same or len(found) == MAX_CONFLICTS:
                    continue
                right = _opposed(said, values, other, language)
                if right is not None:
                    found.append(Conflict(" ".join(unit.text.split())[:120], left, right))
    return tuple(found)


def _opposed(
    said: frozenset[str], values: frozenset[Figure], other: Evidence, language: str
) -> Quote | None:
    for unit in units(other.text):
        words, theirs = _reading(unit.text, other.language or language)
        if len(words) < MIN_WORDS or len(words & said) / len(words | said) < SAME_SUBJECT:
            continue
        if (
            theirs
            and {f.unit for f in theirs} == {f.unit for f in values}
            and _differ(values, theirs)
        ):
            return Quote(other.tag, other.chunk_id, unit.text, unit.start, unit.end)
    return None


def _differ(values: frozenset[Figure], theirs: frozenset[Figure]) -> bool:
    mine = [figure.readings for figure in values]
    return not all(any(one.readings & other for other in mine) for one in theirs)


def _reading(text: str, language: str) -> tuple[frozenset[str], frozenset[Figure]]:
    """The words of a sentence without its numbers, and its values: numbers in its prose that have
    decimals, a unit or a month. A bare whole number may be a name (« atelier 2 »)."""
    if _EXAMPLE.match(text):
        return frozenset(), frozenset()
    plain = prose(text)
    words = frozenset(word for word in stems(plain, language) if not word[0].isdigit())
    values = frozenset(
        Figure(figure.readings, "date" if figure.unit in MONTHS else figure.unit)
        for figure in figures(plain)
        if figure.unit or any(value != int(value) for value in figure.readings)
    )
    return words, values
