"""What all commands share: one JSON document on request, one-line reasons, exit codes.

Exit 0 on success (a refused question is a success), 1 on a failed operation, 2 on bad arguments.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar

from django.core.management.base import BaseCommand, CommandError

from courses.errors import CourseError

if TYPE_CHECKING:
    from argparse import ArgumentParser


class ContractCommand(BaseCommand):
    """A command whose `work` returns the value of its contract; `say` writes it for a person."""

    requires_system_checks = []
    errors: ClassVar[tuple[type[Exception], ...]] = (CourseError,)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
        self.arguments(parser)

    def arguments(self, parser: ArgumentParser) -> None:
        """Arguments beside --json."""

    def handle(self, *_args: object, **options: Any) -> None:
        try:
            value = self.work(**options)
        except self.errors as error:
            reason = " ".join(str(getattr(error, "user_message", error)).split())
            raise CommandError(reason, returncode=1) from error
        if options["json"]:
            self.stdout.write(json.dumps(value, ensure_ascii=False, default=str))
        else:
            self.say(value)
        self.exit(value)

    def work(self, **options: Any) -> dict[str, Any]:
        raise NotImplementedError

    def say(self, value: dict[str, Any]) -> None:
        self.stdout.write(json.dumps(value, ensure_ascii=False, indent=2, default=str))

    def exit(self, value: dict[str, Any]) -> None:
        """Raise CommandError here when the value, though complete, is a failure."""
