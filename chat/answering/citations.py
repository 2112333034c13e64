"""Where a piece of evidence stands, in the words of the asker's language; tags and their
evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chat.answering.tags import find_tags, tag, written

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from chat.answering.types import Evidence

_SEPARATOR = " \u2014 "
_WORDS = {
    "fr": {"session": "Séance", "slide": "Diapositive", "slides": "Diapositives", "page": "Page",
           "sheet": "Feuille", "open": "« ", "close": " »"},
    "en": {"session": "Session", "slide": "Slide", "slides": "Slides", "page": "Page",
           "sheet": "Sheet", "open": "\u201c", "close": "\u201d"},
}  # fmt: skip


def locator(evidence: Evidence, language: str) -> str:
    """`IMM1003 — Séance 4 — Diapositive 18 — « Titre »`, with what the chunk knows of itself.

    A chunk without a slide is placed by its document, page and section. Plain text on one line.
    """
    words = _WORDS["en" if language == "en" else "fr"]
    parts = [evidence.course]
    if evidence.session is not None:
        parts.append(f"{words['session']} {evidence.session}")
    if evidence.slide is not None:
        last = evidence.slide_end
        if last is not None and last > evidence.slide:
            parts.append(f"{words['slides']} {evidence.slide}\u2013{last}")
        else:
            parts.append(f"{words['slide']} {evidence.slide}")
    if evidence.session is None or evidence.slide is None:
        parts.append(evidence.document or evidence.path)
    if evidence.page is not None and evidence.slide is None:
        parts.append(f"{words['page']} {evidence.page}")
    if evidence.sheet:
        parts.append(f"{words['sheet']} {evidence.sheet}")
    title = evidence.title or evidence.term
    if evidence.slide is None and evidence.section not in {"", title, evidence.document}:
        parts.append(evidence.section)
    if title and title != evidence.document:
        parts.append(f"{words['open']}{title}{words['close']}")
    return _SEPARATOR.join(" ".join(part.split()) for part in parts if part.strip())


def header(evidence: Evidence, language: str) -> str:
    """`[S1] (IMM1003 — Séance 4 — Diapositive 18 — « Titre »)`, the head of a source in a
    prompt."""
    return f"{written(evidence.tag)} ({locator(evidence, language)})"


def by_tag(evidence: Iterable[Evidence]) -> dict[str, Evidence]:
    """The evidence of one turn under its tags. Two under one tag is a fault of the caller."""
    found: dict[str, Evidence] = {}
    for one in evidence:
        if not one.tag or one.tag in found:
            msg = f"evidence tag {one.tag!r} is empty or given twice"
            raise ValueError(msg)
        found[one.tag] = one
    return found


def resolve(source_id: str, evidence: Sequence[Evidence]) -> Evidence | None:
    """The evidence that `source_id` names: a tag in any form of the grammar, or a public id.

    A group of several tags names no single source: `None`, as for an unknown one.
    """
    name = source_id.strip()
    for one in evidence:
        if name in {one.tag, one.public_id} and name:
            return one
    groups = find_tags(name if name[:1] in "[\uff3b\u3010\u3014\u27e6\u3016" else f"[{name}]")
    if len(groups) != 1 or len(groups[0].numbers) != 1:
        return None
    wanted = tag(groups[0].numbers[0])
    return next((one for one in evidence if one.tag == wanted), None)
