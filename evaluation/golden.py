"""Golden questions: what a course must answer, from where, and what it must refuse."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


class GoldenError(Exception):
    """A set that cannot be read; `user_message` says where it is wrong."""

    def __init__(self, user_message: str, *, retryable: bool = False) -> None:
        super().__init__(user_message)
        self.user_message = user_message
        self.retryable = retryable


#: « Le prêt maximal (1/2) »: parts of a continuation are one chunk under the title alone.
_PART = re.compile(r"\s*\(\d+/\d+\)$")


@dataclass(frozen=True, slots=True)
class Expected:
    """An acceptable source: a document, and within it the titles that may be cited (none: any)."""

    path: str
    titles: tuple[str, ...] = ()

    def holds(self, path: str, title: str) -> bool:
        plain = _PART.sub("", title)
        return path == self.path and (not self.titles or plain in self.titles)


@dataclass(frozen=True, slots=True)
class Golden:
    id: str
    question: str
    kind: str
    user: str
    answered: bool
    expected: tuple[Expected, ...] = ()
    contains: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()
    forbidden_courses: tuple[str, ...] = ()
    as_of: str = ""
    follows: str = ""


@dataclass(frozen=True, slots=True)
class GoldenSet:
    course: str
    questions: tuple[Golden, ...]


def load(path: Path) -> GoldenSet:
    """The set in the file. Raises GoldenError naming the question and what is wrong with it."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        msg = f"{path.name} cannot be read: {error}"
        raise GoldenError(msg) from error
    try:
        course, rows = data["course"], data["questions"]
    except (TypeError, KeyError) as error:
        msg = f"{path.name} must hold an object with `course` and `questions`."
        raise GoldenError(msg) from error
    questions = []
    for number, row in enumerate(rows, start=1):
        try:
            questions.append(_question(row))
        except (TypeError, KeyError, ValueError) as error:
            name = row.get("id", number) if isinstance(row, dict) else number
            msg = f"{path.name}, question {name}: {error}"
            raise GoldenError(msg) from error
    ids = [question.id for question in questions]
    twice = {one for one in ids if ids.count(one) > 1}
    if twice:
        msg = f"{path.name}: ids given twice: {', '.join(sorted(twice))}"
        raise GoldenError(msg)
    return GoldenSet(course=course, questions=tuple(questions))


def _question(row: dict[str, Any]) -> Golden:
    if row["expect"] not in {"answered", "refused"}:
        msg = f"`expect` is {row['expect']!r}, not answered or refused"
        raise ValueError(msg)
    return Golden(
        id=row["id"],
        question=row["question"],
        kind=row["kind"],
        user=row["user"],
        answered=row["expect"] == "answered",
        expected=tuple(_expected(one) for one in row.get("documents") or ()),
        contains=tuple(row.get("answer_contains") or ()),
        excludes=tuple(row.get("answer_excludes") or ()),
        forbidden_courses=tuple(row.get("forbidden_courses") or ()),
        as_of=row.get("as_of") or "",
        follows=row.get("follows") or "",
    )


def _expected(row: dict[str, Any]) -> Expected:
    title = row.get("title")
    titles = (title,) if isinstance(title, str) else tuple(title or ())
    return Expected(path=row["path"], titles=tuple(_PART.sub("", one) for one in titles))
