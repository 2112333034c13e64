"""Workshops, solutions and exams as drafts: by exercise, and by question of the first level."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ingestion.parsing.chunking import Draft, key_of
from ingestion.parsing.labels import bare
from ingestion.parsing.plain import line, plain
from ingestion.parsing.tree import (
    Block,
    Box,
    Emphasis,
    Heading,
    Inline,
    Item,
    Listing,
    Paragraph,
    Strong,
    Text,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_EXERCISE = re.compile(
    r"^(?:\d+[.)]\s*)?(?:(?:correction|corrige|solution|reponse)s?\s+(?:de\s+|du\s+|of\s+|to\s+|–\s*|:\s*)*"
    r"(?:l['’]\s*|la\s+|le\s+|the\s+)?)?"
    r"(?:exercices?|exercises?|exo|problemes?|problems?|probleme|cas|mise en situation|partie|part|"
    r"question|activite|activity|etude de cas|case study|tache|task|lab)\b"
)
_QUESTION = re.compile(r"^(?:question|q)\s*\.?\s*(\d+|[a-z])\b")
_SOLUTION = re.compile(r"^(?:correction|corrige|solution|reponse|answer)s?\b")
_CONTEXT = 700  # characters of an exercise's introduction that each question repeats


@dataclass(slots=True)
class Exercise:
    """One exercise: its title and its blocks, the solution boxes still among them."""

    title: tuple[Inline, ...]
    blocks: list[Block] = field(default_factory=list)
    section: str = ""
    solution: bool = False

    @property
    def name(self) -> str:
        return line(self.title)


def is_exercise(title: str) -> bool:
    """Whether a heading names an exercise, a problem or a question."""
    return bool(_EXERCISE.match(bare(title).strip()))


def exercises(
    title: tuple[Inline, ...], blocks: Sequence[Block], section: str, *, solution: bool = False
) -> list[Exercise]:
    """The exercises of one section: its boxes, headings and bold openings start new ones."""
    current = Exercise(title, [], section, solution)
    found = [current]
    for block in blocks:
        head = _opening(block)
        if isinstance(block, Box) and block.kind == "exercise":
            name = (*_name_of(block, len(found)),)
            current = Exercise(name, list(block.blocks), section, solution)
            found.append(current)
        elif head is not None:
            name, rest = head
            current = Exercise(
                name, rest, section, solution or bool(_SOLUTION.match(bare(line(name))))
            )
            found.append(current)
        else:
            current.blocks.append(block)
    return [exercise for exercise in found if exercise.blocks]


def _name_of(box: Box, number: int) -> tuple[Inline, ...]:
    name = box.name or "Exercice"
    if not box.title:
        return (Text(f"{name} {number}"),)
    if is_exercise(line(box.title)):
        return box.title
    return (Text(f"{name} : "), *box.title)


def _opening(block: Block) -> tuple[tuple[Inline, ...], list[Block]] | None:
    """The title of an exercise that a heading or a bold opening of a paragraph states."""
    if isinstance(block, Heading) and is_exercise(line(block.inlines)):
        return block.inlines, []
    if not isinstance(block, Paragraph) or not block.inlines:
        return None
    first = block.inlines[0]
    if not isinstance(first, Strong | Emphasis) or not is_exercise(line((first,))):
        return None
    if len(line((first,))) > 120:
        return None
    rest = list(block.inlines[1:])
    if rest and isinstance(rest[0], Text):
        rest[0] = Text(rest[0].text.lstrip(" .:–—-"))
    tail = tuple(inline for inline in rest if inline != Text(""))
    return first.children, ([Paragraph(tail)] if tail else [])


def drafts_of(found: Iterable[Exercise], language: str) -> list[Draft]:
    """Each question of each exercise; solutions apart, linked to what they solve."""
    drafts: list[Draft] = []
    statement = ""
    for exercise in found:
        kind = "solution" if exercise.solution else "exercise"
        made = list(_questions(exercise, kind, language))
        for draft, solutions in made:
            if kind == "exercise":
                statement = key_of(draft, "")
            if draft.blocks:
                drafts.append(draft)
            for blocks in solutions:
                drafts.append(  # noqa: PERF401
                    Draft(
                        kind="solution", blocks=tuple(blocks), title=draft.title,
                        section=draft.section, exercise=draft.exercise, question=draft.question,
                        statement_key=statement,
                    )
                )  # fmt: skip
    return drafts


def _questions(
    exercise: Exercise, kind: str, language: str
) -> Iterable[tuple[Draft, list[list[Block]]]]:
    """The drafts of one exercise, each with the solutions found inside it."""
    context: list[Block] = []
    waiting: list[Block] = []
    number = 0
    pending: tuple[Draft, list[list[Block]]] | None = None
    for block in exercise.blocks:
        if isinstance(block, Box) and block.kind == "solution":
            if pending is not None:
                pending[1].append(list(block.blocks))
            else:
                yield _draft(exercise, kind, "", [*context, *waiting]), [list(block.blocks)]
                context, waiting = [], []
        elif isinstance(block, Listing) and block.style == "number":
            if pending is not None:
                yield pending
                pending = None
            context = waiting if waiting and number else [*context, *waiting]
            waiting = []
            shown = context if len(plain(context, language)) <= _CONTEXT else []
            if context and not shown:
                yield _draft(exercise, kind, "", context), []
            for index, item in enumerate(block.items):
                if pending is not None:
                    yield pending
                number += 1
                kept, solutions = _without_solutions(item.blocks)
                one = Listing((Item(tuple(kept), item.label),), "number", block.start + index)
                pending = _draft(exercise, kind, str(number), [*shown, one]), solutions
        elif pending is not None and not isinstance(block, Paragraph | Heading):
            # A table, a figure or a listing after a question belongs to it.
            draft, solutions = pending
            pending = _draft(exercise, kind, draft.question, [*draft.blocks, block]), solutions
        else:
            waiting.append(block)
    if pending is not None:
        yield pending
    if waiting:
        kept, solutions = _without_solutions(waiting)
        yield _draft(exercise, kind, "", kept if number else [*context, *kept]), solutions


def _draft(exercise: Exercise, kind: str, question: str, blocks: Sequence[Block]) -> Draft:
    return Draft(
        kind=kind,
        blocks=tuple(blocks),
        title=exercise.title,
        section=exercise.section,
        exercise=exercise.name,
        question=question,
    )


def _without_solutions(blocks: Sequence[Block]) -> tuple[list[Block], list[list[Block]]]:
    kept: list[Block] = []
    solutions: list[list[Block]] = []
    for block in blocks:
        if isinstance(block, Box) and block.kind == "solution":
            solutions.append(list(block.blocks))
        else:
            kept.append(block)
    return kept, solutions


# -- a solution and its statement ---------------------------------------------------------------


def exercise_number(title: str) -> str:
    """The number an exercise's title names, or the words of it without « solution de »."""
    plain_title = bare(title)
    match = re.search(r"\b(\d{1,3}(?:\.\d{1,2})?|[ivx]{1,4})\b", plain_title)
    if match:
        return match.group(1)
    words = re.sub(
        r"\b(?:correction|corrige|solution|reponse|answer|exercice|exercise|probleme|problem|de|du|"
        r"la|le|l|of|to|the|the)s?\b", " ", plain_title,
    )  # fmt: skip
    return re.sub(r"[^a-z0-9]+", " ", words).strip()


def link(solutions: Sequence[Draft], statements: Sequence[Draft]) -> list[Draft]:
    """Solution drafts with the key of the statement chunk that has their number and question."""
    from dataclasses import replace  # noqa: PLC0415

    keys: dict[tuple[str, str], str] = {}
    for draft in statements:
        if draft.kind == "exercise":
            name = exercise_number(draft.exercise)
            keys.setdefault((name, draft.question), key_of(draft, ""))
            keys.setdefault((name, ""), key_of(draft, ""))
    linked: list[Draft] = []
    for draft in solutions:
        name = exercise_number(draft.exercise)
        found = keys.get((name, draft.question)) or keys.get((name, ""))
        linked.append(replace(draft, statement_key=found or draft.statement_key))
    return linked
