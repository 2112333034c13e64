from __future__ import annotations

from typing import Any

from chat import contracts
from chat.commands import AskingCommand


class Command(AskingCommand):
    help = "Shows the ranking of a question before and after the evidence gate."

    def work(self, **options: Any) -> dict[str, Any]:
        with self.conversation(options) as (person, conversation):
            return contracts.probe(
                options["question"],
                user=person,
                conversation=conversation,
                as_of=self.instant(options["as_of"]),
            )
