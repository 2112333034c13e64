"""The words printed before a box, a figure or a note, in the course's language."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from ingestion.parsing.tree import Box, Inline, Math, Text, flatten

if TYPE_CHECKING:
    from collections.abc import Sequence

_PREFIX = {
    "fr": {
        "definition": "Définition",
        "important": "Important",
        "example": "Exemple",
        "formula": "Formule",
        "theorem": "Théorème",
        "remark": "Remarque",
        "exercise": "Exercice",
        "solution": "Solution",
        "proof": "Preuve",
    },
    "en": {
        "definition": "Definition",
        "important": "Important",
        "example": "Example",
        "formula": "Formula",
        "theorem": "Theorem",
        "remark": "Remark",
        "exercise": "Exercise",
        "solution": "Solution",
        "proof": "Proof",
    },
}
_WORD = {
    "fr": {"figure": "Figure", "table": "Tableau", "note": "Note", "plan": "Plan"},
    "en": {"figure": "Figure", "table": "Table", "note": "Note", "plan": "Outline"},
}


def word(name: str, language: str) -> str:
    return _WORD[_known(language)][name]


def _known(language: str) -> str:
    return "fr" if language.lower().startswith("fr") else "en"


def colon(language: str) -> str:
    return " : " if _known(language) == "fr" else ": "


def bare(text: str) -> str:
    """Lower case, without accents: for comparing words of titles and names."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(char for char in decomposed if not unicodedata.combining(char))


def box_prefix(box: Box, language: str) -> str:
    """« Définition », « Important », …; the printed name of a theorem-like box; or nothing."""
    if box.kind in {"theorem", "remark", "exercise", "solution", "proof"} and box.name:
        return box.name
    return _PREFIX[_known(language)].get(box.kind, "")


def box_label(box: Box, language: str) -> tuple[Inline, ...]:
    """What stands before the content of a box: prefix and title, without repeating a word."""
    prefix = box_prefix(box, language)
    title = _trimmed(box.title)
    plain = "".join(leaf.text if isinstance(leaf, Text) else "\0" for leaf in flatten(title))
    if not prefix:
        return title
    if not plain.strip():
        return (Text(prefix + colon(language)),)
    if bare(plain).strip(" :.") == bare(prefix):
        return (Text(prefix + colon(language)),)
    repeated = re.match(rf"{re.escape(bare(prefix))}\s*[:—–-]\s*", bare(plain))
    if repeated and title and isinstance(title[0], Text):
        cut = len(repeated.group())
        rest = title[0].text[cut:]
        return (Text(prefix + colon(language) + rest), *title[1:])
    if re.match(rf"{re.escape(bare(prefix))}\b", bare(plain)):
        return title
    return (Text(prefix + colon(language)), *title)


def _trimmed(inlines: Sequence[Inline]) -> tuple[Inline, ...]:
    kept = list(inlines)
    while kept and isinstance(kept[0], Text) and not kept[0].text.strip():
        kept.pop(0)
    while kept and isinstance(kept[-1], Text) and not kept[-1].text.strip():
        kept.pop()
    if kept and isinstance(kept[0], Text):
        kept[0] = Text(kept[0].text.lstrip())
    if kept and isinstance(kept[-1], Text):
        kept[-1] = Text(kept[-1].text.rstrip())
    return tuple(kept)


def joiner(label: Sequence[Inline], following: Sequence[Inline]) -> str:
    """What joins a label to the first sentence after it; an equation stands on its own line."""
    if following and isinstance(following[0], Math) and following[0].display:
        return ""
    leaves = list(flatten(label))
    last = leaves[-1].text if leaves and isinstance(leaves[-1], Text) else ""
    if not leaves or last.endswith((" : ", ": ")):
        return ""
    return " " if last.rstrip().endswith((":", "?", "!", ".", "…", ",", "—")) else " — "
