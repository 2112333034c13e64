from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.management.base import CommandError

from chat import ask, contracts
from chat.commands import AskingCommand

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(AskingCommand):
    help = "Asks a question as a person, through the whole route."

    def arguments(self, parser: ArgumentParser) -> None:
        super().arguments(parser)
        parser.add_argument("--mode", choices=["extractive", "evidence", "cited"], default="")
        parser.add_argument("--profile", default="")

    def work(self, **options: Any) -> dict[str, Any]:
        with self.conversation(options) as (person, conversation):
            turn = ask.begin(
                conversation=conversation,
                question=options["question"],
                as_of=self.instant(options["as_of"]),
                mode=options["mode"],
                profile=options["profile"],
            )
            for _event in ask.answer_question(turn, person):
                pass
            return contracts.answered(turn, person)

    def exit(self, value: dict[str, Any]) -> None:
        if value["status"] == "failed":
            raise CommandError(value["answer"] or "The question failed.", returncode=1)

    def say(self, value: dict[str, Any]) -> None:
        self.stdout.write(value["answer"] or value["reason"])
        for citation in value["citations"]:
            self.stdout.write(f"[{citation['tag']}] {citation['locator']}")
