"""Golden questions through the real route, as the people they name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chat import ask, contracts
from chat.models import Conversation
from courses.models import Course
from courses.naming import find_course, find_person
from evaluation.golden import GoldenError
from evaluation.metrics import Result

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evaluation.golden import Golden, GoldenSet

PRIVATE = "instructor-private"


def run(golden: GoldenSet) -> Iterator[Result]:
    """One result per question, in the set's order. The conversations are erased at the end."""
    course = find_course(golden.course)
    opened: dict[str, Conversation] = {}
    asked: list[Conversation] = []
    try:
        for question in golden.questions:
            conversation = opened.get(question.follows)
            if conversation is None:
                conversation = _open(course, question)
                asked.append(conversation)
            opened[question.id] = conversation
            yield _one(question, conversation)
    finally:
        for conversation in asked:
            ask.erase(conversation)


def _open(course: Course, question: Golden) -> Conversation:
    person = find_person(question.user)
    if not Course.objects.visible_to(person).filter(pk=course.pk).exists():
        msg = f"{question.id}: {question.user} is not a member of {course.code}."
        raise GoldenError(msg)
    return Conversation.open(user=person, course=course)


def _one(question: Golden, conversation: Conversation) -> Result:
    person = conversation.user
    turn = ask.begin(conversation=conversation, question=question.question)
    for _event in ask.answer_question(turn, person):
        pass
    value = contracts.answered(turn, person)
    ranking = contracts.probe(
        question.question, user=person, conversation=conversation, as_of=turn.as_of
    )["candidates"]
    citations = value["citations"]
    return Result(
        id=question.id,
        kind=question.kind,
        expected_answer=question.answered,
        answered=value["status"] == "answered",
        reason=value["reason"],
        rank=next(
            (n for n, c in enumerate(ranking, start=1) if _holds(question, c["path"], c["title"])),
            None,
        ),
        cited=any(_holds(question, c["path"], c["title"]) for c in citations),
        contained=all(squeeze(part) in squeeze(value["answer"]) for part in question.contains),
        citations=len(citations),
        valid_citations=sum(c["quote"] in c["text"] and len(c["quote"]) >= 20 for c in citations),
        violations=tuple(_violations(question, value["answer"], citations)),
        model_calls=value["model_calls"],
        milliseconds=value["timings_ms"]["total"],
    )


def _holds(question: Golden, path: str, title: str) -> bool:
    return any(expected.holds(path, title) for expected in question.expected)


def _violations(question: Golden, answer: str, citations: Sequence[dict[str, str]]) -> list[str]:
    """What was shown and must not be: a forbidden course, a private space, an excluded word."""
    found = [f"cites {c['course']}" for c in citations if c["course"] in question.forbidden_courses]
    found += [f"cites {c['space']}" for c in citations if c["space"].startswith(PRIVATE)]
    said = squeeze(answer + " ".join(c["text"] for c in citations))
    found += [f"says {word}" for word in question.excludes if squeeze(word) in said]
    return found


def squeeze(text: str) -> str:
    """Without the differences of spacing and case that a reader does not see."""
    return " ".join(text.split()).casefold()
