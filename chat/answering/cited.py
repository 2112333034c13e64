"""Cited prose through the gate, sentence by sentence, while a model is still writing.

A sentence is shown when it carries a tag of this turn's evidence, still admissible, and when what
it says stands there: its quotations word for word, its numbers with their units, and enough of its
words. Everything else is dropped and counted. Links, images, control characters and source lists
written by the model never come through.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from math import sqrt

from chat.answering import refusals
from chat.answering.citations import by_tag
from chat.answering.figures import unsupported
from chat.answering.quoting import holds, honest
from chat.answering.sentences import MIN_QUOTE, split_sentences, units
from chat.answering.tags import (
    UNFINISHED,
    TagGroup,
    find_tags,
    replace_tags,
    strip_tags,
    tag,
    written,
)
from chat.answering.types import Admissible, Answer, Evidence, Piece, Quote
from chat.answering.words import prose, stems

#: Whether a sentence (tags out) is supported by a source in the same language.
Supports = Callable[[str, Sequence[Evidence]], bool]

#: A model that goes on is cut here; a choice: four pages, beyond any course answer.
MAX_CHARACTERS = 16_000
#: A sentence longer than this is none: it is dropped, so that an endless one costs little.
MAX_SENTENCE = 4_000
#: Share of a sentence's significant stems that its sources must hold; a choice, low because a model
#: may paraphrase: it stops sentences about something else, not subtle ones. Numbers and quotations
#: are exact.
MIN_SUPPORT = 0.3
#: What a model is told to write, alone, when the evidence does not answer.
NO_ANSWER = "INSUFFICIENT_EVIDENCE"

_BOUNDARY = re.compile("[.!?…:\n]")
_ANSI = re.compile("\x1b\\[[0-?]*[ -/]*[@-~]|\x1b.")
_CONTROL = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_ADDRESS = r"\((?:[^()\n]|\([^()\n]*\))*\)"
_IMAGE = re.compile(rf"!\[[^\]\n]*\]{_ADDRESS}")
_LINK = re.compile(rf"\[([^\]\n]*)\]{_ADDRESS}")
_CUT_LINK = re.compile(r"\]\([^\s)]*\)?")
_URL = re.compile(r"\b(?:https?|ftp|file|data|javascript)://?[^\s<>\"'»)\]]+", re.IGNORECASE)
_REFERENCE = re.compile("(?m)^[ \\t]*\\[[^\\]\\n]+\\]:[ \\t]*\\S+.*$")
_AUTOLINK = re.compile("<(?:[a-z][a-z0-9+.-]*:|mailto:)[^>\\s]*>", re.IGNORECASE)
_SOURCE_LIST = re.compile(
    "[\\s#*_>-]*(?:sources?|r[ée]f[ée]rences?|bibliograph(?:ie|y)|works cited)"
    "(?:\\s+(?:utilis[ée]e?s|cit[ée]e?s|consult[ée]e?s|used|cited))?[\\s*_]*(?::|$)",
    re.IGNORECASE,
)
_QUOTATION = re.compile('«([^»]{2,})»|\u201c([^\u201d]{2,})\u201d|"([^"]{2,})"')
_LOCATOR = re.compile(
    "\\b(?:s[ée]ances?|sessions?|diapo(?:sitive)?s?|slides?|pages?|p\\.)\\s*(?:n[°o]\\s*)?(\\d{1,4})",
    re.IGNORECASE,
)


def clean(text: str) -> str:
    """`text` without control, bidirectional and invisible characters, and without links or images:
    of `[label](address)` the label stays."""
    text = _CONTROL.sub("", _ANSI.sub("", text.replace("\r\n", "\n")))
    text = _LINK.sub(_label, _IMAGE.sub("", text))
    return _CUT_LINK.sub("", _AUTOLINK.sub("", _REFERENCE.sub("", text)))


def _label(link: re.Match[str]) -> str:
    """What stays of a link: its label; a tag stays a tag."""
    return f"[{link[1]}]" if find_tags(f"[{link[1]}]") else link[1]


class CitedStream:
    """Cited prose as it comes. `feed` and `finish` yield what may be shown; `answer` sums up.

    Not thread-safe; one for one attempt of one turn.
    """

    def __init__(
        self,
        evidence: Sequence[Evidence],
        *,
        admissible: Admissible,
        language: str,
        supports: Supports | None = None,
        repairs: int = 0,
    ) -> None:
        self._evidence = by_tag(evidence)
        self._admissible = admissible
        self._language = language
        self._supports = supports or self._lexical
        self._repairs = repairs
        self._buffer = ""
        self._looked = 0
        self._taken = 0
        self._gap = ""
        self._listing = False
        self._pieces: list[Piece] = []
        self._invalid = 0
        self._dropped = 0
        self._withdrawn = False
        self._unsupported = False
        self._declined = False

    def feed(self, delta: str) -> Iterator[Piece]:
        """Takes the next part of the model's text; yields each sentence that is now proved."""
        delta = delta[: max(0, MAX_CHARACTERS - self._taken)]
        if not delta:
            return
        self._taken += len(delta)
        self._buffer += delta
        # Looking again only after a sixteenth more keeps the work linear for any way of cutting.
        if len(self._buffer) - self._looked < len(self._buffer) // 16:
            return
        if _BOUNDARY.search(self._buffer):
            yield from self._emit(final=False)
        if len(self._buffer) > MAX_SENTENCE:
            self._dropped += 1
            self._buffer = ""
        self._looked = len(self._buffer)

    def finish(self) -> Iterator[Piece]:
        """The model has ended: what is left, if proved."""
        yield from self._emit(final=True)

    def answer(self) -> Answer:
        """The turn's answer, after `finish`."""
        quotes = list(dict.fromkeys(quote for piece in self._pieces for quote in piece.quotes))
        if self._pieces:
            cited = {quote.tag for quote in quotes}
            return Answer(
                status="answered",
                origin="course",
                text="".join(piece.text for piece in self._pieces),
                pieces=tuple(self._pieces),
                quotes=tuple(quotes),
                invalid_citations=self._invalid,
                dropped=self._dropped,
                repairs=self._repairs,
                cross_course=any(self._evidence[name].cross_course for name in cited),
            )
        reason, detail = refusals.INSUFFICIENT, "no_valid_citation"
        if self._withdrawn:
            reason, detail = refusals.WITHDRAWN, "withdrawn"
        elif self._declined:
            reason, detail = refusals.DECLINED, "declined"
        elif not self._taken:
            detail = "empty"
        elif self._unsupported:
            detail = "unsupported"
        return Answer(
            status="refused",
            reason=reason,
            detail=detail,
            invalid_citations=self._invalid,
            dropped=self._dropped,
            repairs=self._repairs,
            needs_repair=reason == refusals.INSUFFICIENT and self._repairs == 0,
        )

    def _emit(self, *, final: bool) -> Iterator[Piece]:
        if final:
            self._declined = not self._pieces and self._buffer.strip(" \n.*`\"'") == NO_ANSWER
        segments = _segments(self._buffer)
        if not final and segments:
            kept = 1
            if (
                UNFINISHED.search(self._buffer)
                and self._buffer[segments[-1][0]] in "[\uff3b【〔⟦〖"
            ):
                kept = 2
            segments = segments[:-kept]
            while segments and _open(self._buffer[slice(*segments[-1])]):
                segments.pop()
        done = 0
        for start, end in segments:
            gap = self._gap + self._buffer[done:start]
            piece = self._judge(self._buffer[start:end], gap)
            done = end
            self._gap = "" if piece else gap
            if piece:
                self._pieces.append(piece)
                yield piece
        self._buffer = "" if final else self._buffer[done:]

    def _judge(self, raw: str, gap: str) -> Piece | None:
        sentence = clean(raw).strip()
        if self._listing or _SOURCE_LIST.match(strip_tags(sentence)):
            self._listing = True
            return None
        names, invalid = self._names(sentence)
        self._invalid += invalid
        said = _tidy(strip_tags(sentence))
        if not any(character.isalnum() for character in said):
            return None
        sources = [self._evidence[name] for name in names]
        open_sources = [one for one in sources if self._admissible(one.chunk_id)]
        if len(open_sources) < len(sources):
            self._withdrawn = True
        if not open_sources or len(open_sources) < len(sources) or _is_header(said, sources):
            self._dropped += 1
            return None
        if not self._proved(said, open_sources):
            self._unsupported = True
            self._dropped += 1
            return None
        quotes = tuple(q for one in open_sources if (q := self._quote(said, one)) is not None)
        if not quotes:
            self._dropped += 1
            return None
        separator = "\n\n" if gap.count("\n") > 1 else "\n" if "\n" in gap else " "
        return Piece((separator if self._pieces else "") + self._retag(sentence, names), quotes)

    def _names(self, sentence: str) -> tuple[list[str], int]:
        """Known tags of a sentence in order, without doubles; and how many unknown ones it had."""
        names: dict[str, None] = {}
        invalid = 0
        for group in find_tags(sentence):
            for number in group.numbers:
                if tag(number) in self._evidence:
                    names[tag(number)] = None
                else:
                    invalid += 1
        return list(names), invalid

    def _retag(self, sentence: str, names: list[str]) -> str:
        """The sentence with each known tag once, in its canonical form, where it first stood."""
        left = list(names)

        def canonical(group: TagGroup) -> str:
            shown = [tag(n) for n in group.numbers if tag(n) in left]
            for name in shown:
                left.remove(name)
            return "".join(map(written, shown))

        return _tidy(replace_tags(sentence, canonical))

    def _proved(self, said: str, sources: Sequence[Evidence]) -> bool:
        for quotation in _QUOTATION.finditer(said):
            inner = next(group for group in quotation.groups() if group)
            exact = len(inner.split()) >= 3 or any(c.isdigit() for c in inner)
            if exact and not any(holds(inner, one.text) for one in sources):
                return False
        if any(not any(url in one.text for one in sources) for url in _URL.findall(said)):
            return False
        places = {str(n) for one in sources for n in (one.session, one.slide, one.page) if n}
        claim = _LOCATOR.sub(lambda m: "" if m[1] in places else m.group(), said)
        if unsupported(claim, [f"{one.title}\n{one.text}" for one in sources]):
            return False
        return self._supports(said, sources)

    def _lexical(self, said: str, sources: Sequence[Evidence]) -> bool:
        spoken = {one.language or self._language for one in sources}
        if spoken != {self._language}:
            return True  # words of two languages cannot be compared; numbers and quotations were
        words = stems(prose(said), self._language)
        held: set[str] = set()
        for one in sources:
            held |= stems(f"{one.title} {one.section} {one.term} {one.text}", self._language)
        return not words or len(words & held) / len(words) >= MIN_SUPPORT

    def _quote(self, said: str, source: Evidence) -> Quote | None:
        """The unit of `source` nearest to the sentence, which the panel highlights."""
        language = source.language or self._language
        words = stems(said, self._language)
        best = max(
            (unit for unit in units(source.text) if len(unit.text) >= MIN_QUOTE),
            key=lambda unit: _closeness(words, stems(unit.text, language)),
            default=None,
        )
        if best is None:
            return None
        start, end = honest(source.text, best.start, best.end)
        return Quote(source.tag, source.chunk_id, source.text[start:end], start, end)


def check_cited(
    text: str,
    evidence: Sequence[Evidence],
    *,
    admissible: Admissible,
    language: str,
    supports: Supports | None = None,
    repairs: int = 0,
) -> Answer:
    """A whole text through the gate at once."""
    stream = CitedStream(
        evidence, admissible=admissible, language=language, supports=supports, repairs=repairs
    )
    for _ in (*stream.feed(text), *stream.finish()):
        pass
    return stream.answer()


def check_general(text: str, *, repairs: int = 0) -> Answer:
    """An answer without course evidence: it can cite nothing, so every tag is removed and
    counted."""
    shown = clean(text[:MAX_CHARACTERS])
    kept: list[str] = []
    for line in shown.split("\n"):
        if _SOURCE_LIST.fullmatch(strip_tags(line)):
            break
        kept.append(_tidy(strip_tags(line)))
    body = re.sub("\n{3,}", "\n\n", "\n".join(kept)).strip()
    invalid = sum(len(group.numbers) for group in find_tags(shown))
    if not any(character.isalnum() for character in body) or body.strip(" .*`\"'") == NO_ANSWER:
        return Answer(status="refused", reason=refusals.NO_EVIDENCE, detail="empty",
                      invalid_citations=invalid, repairs=repairs)  # fmt: skip
    return Answer(
        status="answered",
        origin="general-knowledge",
        text=body,
        pieces=(Piece(body),),
        invalid_citations=invalid,
        repairs=repairs,
    )


def _closeness(words: frozenset[str], others: frozenset[str]) -> float:
    return len(words & others) / sqrt(len(others) + 4)


def _tidy(text: str) -> str:
    """Blanks that a removed tag left behind."""
    text = re.sub("[ \\t]+(?=[.,)](?:\\s|$))", "", text)
    return re.sub("[ \\t]{2,}", " ", text).strip()


def _is_header(said: str, sources: Sequence[Evidence]) -> bool:
    """A line that only names its source: `(IMM1003 — Séance 4 — Diapositive 18)`."""
    bare = said.strip(" ()[]:-—–*•.")
    return any(one.course and bare.startswith(one.course) and "—" in bare for one in sources)


def _open(text: str) -> bool:
    """Whether a formula or a quotation has begun and not ended yet."""
    odd = text.replace("\\$", "").count("$") % 2 == 1
    quoting = text.count("«") > text.count("»") or text.count("\u201c") > text.count("\u201d")
    return (odd or quoting) and "\n" not in text


def _segments(text: str) -> list[tuple[int, int]]:
    """Sentences with the tags that follow their full stop; a lead-in goes with what it
    announces."""
    groups = {group.start: group.end for group in find_tags(text)}
    out: list[tuple[int, int]] = []
    for start, end in split_sentences(text):
        start = _after_tags(text, start, end, groups, out)
        if start >= end:
            continue
        if out and text[slice(*out[-1])].rstrip("*_ ").endswith(":"):
            out[-1] = (out[-1][0], end)
        else:
            out.append((start, end))
    return out


def _after_tags(
    text: str, start: int, end: int, groups: dict[int, int], out: list[tuple[int, int]]
) -> int:
    """Gives tags at the head of a sentence to the one before, if they stand on its line or
    alone."""
    at = start
    while at in groups and groups[at] <= end:
        at = groups[at]
        while at < end and (text[at].isspace() or (text[at] in ".,;" and at in range(start, end))):
            at += 1
    if at == start or not out:
        return start
    if at < end and "\n" in text[out[-1][1] : start]:
        return start
    out[-1] = (out[-1][0], max(out[-1][1], at if at >= end else _rstrip(text, start, at)))
    return at


def _rstrip(text: str, start: int, end: int) -> int:
    while end > start and text[end - 1].isspace():
        end -= 1
    return end
