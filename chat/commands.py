"""What `ask` and `probe` share: a person asking in a course, by their names."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar
from zoneinfo import ZoneInfo

from django.conf import settings
from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime

from chat import ask
from chat.answering.types import AnsweringError
from chat.ask import AskError
from chat.models import Conversation
from courses.commands import ContractCommand
from courses.errors import CourseError
from courses.models import Course
from courses.naming import find_course, find_person
from knowledge.retrieval.types import RetrievalError

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Iterator

    from courses.models import User


class AskingCommand(ContractCommand):
    errors: ClassVar = (AskError, CourseError, RetrievalError, AnsweringError)

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("question")
        parser.add_argument("--course", required=True)
        parser.add_argument("--user", required=True)
        parser.add_argument("--as-of", default="", help="ISO date or date-time; now if absent")

    @contextmanager
    def conversation(self, options: dict[str, Any]) -> Iterator[tuple[User, Conversation]]:
        """A conversation of this command alone, erased afterwards.

        A person who is not in the course learns no more than that there is no such course.
        """
        course = find_course(options["course"])
        person = find_person(options["user"])
        if not Course.objects.visible_to(person).filter(pk=course.pk).exists():
            msg = f"{options['user']} has no course named {options['course']!r}."
            raise CourseError(msg)
        conversation = Conversation.open(user=person, course=course)
        try:
            yield person, conversation
        finally:
            ask.erase(conversation)

    def instant(self, text: str) -> datetime:
        if not text:
            return timezone.now()
        try:
            value = parse_datetime(text)
            day = parse_date(text) if value is None else None
        except ValueError:
            value = day = None
        if value is None and day is not None:
            value = datetime.combine(day, datetime.min.time())
        if value is None:
            msg = f"{text!r} is not a date: write 2026-10-23 or 2026-10-23T14:30."
            raise AskError(msg)
        if timezone.is_naive(value):
            value = value.replace(tzinfo=ZoneInfo(settings.TIME_ZONE))
        return value
