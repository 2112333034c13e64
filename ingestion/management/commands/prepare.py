from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.management import call_command
from django.core.management.base import BaseCommand

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(BaseCommand):
    help = "Migrations, then the demo if it is missing: a start in one process."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """None."""

    def handle(self, *_args: object, **_options: Any) -> None:
        call_command("migrate", verbosity=0, skip_checks=True)
        call_command("demo", "--if-missing", stdout=self.stdout, stderr=self.stderr)
