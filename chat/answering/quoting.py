"""Finding a proposed quote in a chunk, and making it honest.

The one normalisation, applied to both sides and mapped back, so that what is shown is always an
exact substring of the stored text:

1. NFC, so that decomposed accents equal composed ones;
2. every run of white space, no-break and narrow spaces included, is one space;
3. soft hyphens and zero-width characters are nothing;
4. typographic quotation marks and apostrophes are their plain forms, and the space inside
guillemets is nothing.

Case, punctuation, dashes, digits and words must agree.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import Enum

from chat.answering.sentences import MIN_QUOTE, math_spans, split_sentences

#: An elision is filled with what it left out, up to here; a choice: about two sentences. A longer
#: gap is two quotes, not one.
MAX_ELISION = 400
#: Sentences added after a quote because they restrict it.
MAX_EXTENSION = 2

_INVISIBLE = frozenset("\u00ad\u200b\u200c\u200d\u2060\ufeff\u180e")
_MARKS = {
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u02bc\u2039\u203a\uff07", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f«»\uff02", '"'),
}
_ELISION = re.compile("[\\[(]\\s*(?:\u2026|\\.{3})\\s*[\\])]|\u2026|\\.{3}")
_ENCLOSING = "\"' "

# What restricts a statement. Anywhere in the same or the next sentence:
_EXCEPTION = re.compile(
    r"\b(?:sauf|except[ée]e?s?|hormis|hors le cas|à l['\u2019]exception|à l['\u2019]exclusion|"
    r"à moins (?:que|de|d['\u2019])|à condition (?:que|de|d['\u2019])|aux conditions|pourvu que|"
    r"sous r[ée]serve|sous condition|uniquement si|seulement si|dans la mesure où|"
    r"ne s['\u2019]appliqu\w+ (?:pas|plus)|n['\u2019]est pas (?:le cas|valable|applicable)|"
    r"except|excepting|excluding|with the exception|apart from|unless|provided (?:that|the)|"
    r"providing that|only if|as long as|subject to|save (?:for|where|that)|does not apply|"
    r"do not apply|on condition)\b",
    re.IGNORECASE,
)
# In the rest of the same sentence, or opening the next one:
_RESTRICTION = re.compile(
    r"(?:mais|toutefois|cependant|n[ée]anmoins|pourtant|en revanche|sinon|attention|"
    r"but|however|nevertheless|yet|otherwise|though|although)\b",
    re.IGNORECASE,
)
# Before the quote in its own sentence: dropping it would turn the sentence round.
_REVERSAL = re.compile(
    r"\b(?:n['\u2019]|ne|pas|jamais|aucune?|ni|faux|fausse|inexact\w*|à tort|erreur|si|sinon|"
    r"lorsque|quand|not|never|no|neither|nor|false|wrong|wrongly|if|when|whether|cannot|"
    r"\w+n['\u2019]t)\b",
    re.IGNORECASE,
)


_LABEL = re.compile(r"[^\W\d_][\w'\u2019]*(?: [\w'\u2019]+){0,3}[ \u00a0\u202f]?:\s")
_WARNING = re.compile(
    r"(?:exceptions?|attention|limites?|mise en garde|restrictions?|caution|warning|limits?)\b",
    re.IGNORECASE,
)


class Fault(Enum):
    """Why a proposed quote proves nothing."""

    SHORT = "quote_too_short"
    ABSENT = "quote_not_exact"


@dataclass(frozen=True, slots=True)
class Folded:
    """A normalised text; character i stands for `source[starts[i]:ends[i]]`."""

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def find(self, part: str, at: int = 0) -> tuple[int, int] | None:
        """The first place of `part` from `at` on, in this text's own offsets."""
        index = self.text.find(part, at) if part else -1
        return None if index < 0 else (index, index + len(part))


def fold(text: str) -> Folded:
    """The documented normalisation of `text`, with the way back."""
    out: list[str] = []
    starts: list[int] = []
    ends: list[int] = []

    def put(character: str, start: int, end: int) -> None:
        out.append(character)
        starts.append(start)
        ends.append(end)

    at = 0
    while at < len(text):
        character = text[at]
        if character in _INVISIBLE:
            at += 1
        elif character.isspace():
            if out and out[-1] == " ":
                ends[-1] = at + 1
            elif not (out and _is_opening(text, starts[-1])):
                put(" ", at, at + 1)
            at += 1
        else:
            end = at + 1
            while end < len(text) and unicodedata.combining(text[end]):
                end += 1
            if character == "»" and out and out[-1] == " ":
                for kept in (out, starts, ends):
                    kept.pop()
            for composed in unicodedata.normalize("NFC", text[at:end]):
                put(_MARKS.get(composed, composed), at, end)
            at = end
    return Folded("".join(out), tuple(starts), tuple(ends))


def _is_opening(text: str, at: int) -> bool:
    return text[at] == "«"


def locate(quote: str, text: str) -> tuple[int, int] | Fault:
    """The span of `text` that `quote` is, after the normalisation; or why there is none.

    Marks around the whole quote are not part of it. An elision (`[…]`, `…`, `...`) stands for what
    it left out: every part must be there, in order, and the span runs over all of it.
    """
    wanted = fold(quote).text.strip()
    bare = wanted.strip(_ENCLOSING)
    if len(bare) < MIN_QUOTE:
        return Fault.SHORT
    source = fold(text)
    for form in (wanted, bare):
        found = source.find(form)
        if found:
            return source.starts[found[0]], source.ends[found[1] - 1]
    parts = [part.strip(_ENCLOSING) for part in _ELISION.split(bare)]
    parts = [part for part in parts if part]
    if sum(map(len, parts)) < MIN_QUOTE:
        return Fault.SHORT
    span = in_order(parts, source)
    return (source.starts[span[0]], source.ends[span[1] - 1]) if span else Fault.ABSENT


def in_order(parts: list[str], source: Folded) -> tuple[int, int] | None:
    """The shortest span of `source` (its own offsets) that holds all `parts` in order, no gap wider
    than `MAX_ELISION`."""
    if not parts:
        return None
    best: tuple[int, int] | None = None
    at = 0
    while found := source.find(parts[0], at):
        start, end = found
        at = start + 1
        for part in parts[1:]:
            following = source.find(part, end)
            if following is None or following[0] - end > MAX_ELISION:
                break
            end = following[1]
        else:
            if best is None or end - start < best[1] - best[0]:
                best = (start, end)
    return best


def holds(quotation: str, text: str) -> bool:
    """Whether a quotation inside cited prose stands in `text`, of any length, elisions in order."""
    source = fold(text)
    bare = fold(quotation).text.strip(_ENCLOSING)
    if source.find(bare):
        return True
    parts = [part.strip(_ENCLOSING + ".,;:") for part in _ELISION.split(bare)]
    parts = [part for part in parts if part]
    return in_order(parts, source) is not None


def honest(text: str, start: int, end: int) -> tuple[int, int]:
    """The span grown so that it does not mislead.

    It cuts no word, number or formula; it takes the start of its sentence along when that start may
    reverse it; and it takes along the exception that follows in the same or the next sentence.
    """
    start, end = _whole_tokens(text, start, end)
    sentences = split_sentences(text)
    touched = [i for i, (low, high) in enumerate(sentences) if low < end and high > start]
    if not touched:
        return start, end
    first, last = touched[0], touched[-1]
    before = text[sentences[first][0] : start]
    if before.strip() and _REVERSAL.search(before):
        start = sentences[first][0]
    rest = text[end : sentences[last][1]]
    if _EXCEPTION.search(rest) or _restricts(rest) or _cut_negation(text[start:end], rest):
        end = sentences[last][1]
    for low, high in sentences[last + 1 : last + 1 + MAX_EXTENSION]:
        if not _limits(text[low:high], same_line="\n" not in text[end:low]):
            break
        end = high
    return _whole_tokens(text, start, end)


def _limits(sentence: str, *, same_line: bool) -> bool:
    """Whether a sentence restricts the one before it. Under a label of its own (« Exemple : ») it
    speaks of something else, unless it opens with the exception or the label is one."""
    following = sentence.lstrip("-*•\u2013\u2014 \t\u00a0")
    label = None if same_line else _LABEL.match(following)
    if label is None:
        return bool(_EXCEPTION.search(following) or _RESTRICTION.match(following))
    rest = following[label.end() :]
    opening = _EXCEPTION.search(rest[:20]) or _RESTRICTION.match(rest)
    return bool(opening or _WARNING.match(following))


def _restricts(rest: str) -> bool:
    return re.search("\\b" + _RESTRICTION.pattern, rest, re.IGNORECASE) is not None


def _cut_negation(quoted: str, rest: str) -> bool:
    """« n'est » was quoted and its « pas » was not, or a condition follows."""
    return (
        re.match(r"\W*(?:pas|jamais|plus|point|que|not|si|if)\b", rest, re.IGNORECASE) is not None
    )


_NUMBER = re.compile(
    r"(?<![\w.,])[-+\u2212]?[$€£]?\d+(?:[.,\u00a0\u202f\u2009 ]\d+)*(?:[ \u00a0\u202f]?[%‰$€£°])?"
)


def _whole_tokens(text: str, start: int, end: int) -> tuple[int, int]:
    """The span widened to whole formulas, numbers (with their sign and unit mark) and words."""
    spans = math_spans(text)
    spans += [match.span() for match in _NUMBER.finditer(text)]
    for low, high in spans:
        if low < start < high:
            start = low
        if low < end < high:
            end = high
    while 0 < start < len(text) and text[start - 1].isalnum() and text[start].isalnum():
        start -= 1
    while 0 < end < len(text) and text[end - 1].isalnum() and _continues(text[end]):
        end += 1
    return start, end


def _continues(character: str) -> bool:
    return character.isalnum() or bool(unicodedata.combining(character))
