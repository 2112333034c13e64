from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from django.conf import settings
from django.core.management.base import CommandError

from chat.ask import AskError
from courses.commands import ContractCommand
from courses.errors import CourseError
from evaluation import golden, metrics, runner
from evaluation.golden import GoldenError
from knowledge.retrieval.types import RetrievalError

if TYPE_CHECKING:
    from argparse import ArgumentParser

SETS = settings.BASE_DIR / "evaluation" / "golden"


class Command(ContractCommand):
    help = "Asks the golden questions of a set and prints the measures. Exit 1 on a leak."
    errors: ClassVar = (CourseError, GoldenError, RetrievalError, AskError)

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("set", help="a file, or the name of a shipped set such as imm1003")
        parser.add_argument("--report", type=Path, help="write the table as Markdown here")

    def work(self, **options: Any) -> dict[str, Any]:
        path = Path(options["set"])
        if not path.exists():
            path = SETS / f"{options['set'].lower()}.json"
        chosen = golden.load(path)
        results = list(runner.run(chosen))
        kinds = sorted({result.kind for result in results})
        value = {
            "course": chosen.course,
            "all": metrics.summary(results),
            "kinds": {
                kind: metrics.summary([r for r in results if r.kind == kind]) for kind in kinds
            },
            "results": [asdict(result) for result in results],
        }
        if options["report"]:
            options["report"].write_text(report(value), encoding="utf-8")
        return value

    def say(self, value: dict[str, Any]) -> None:
        self.stdout.write(report(value))

    def exit(self, value: dict[str, Any]) -> None:
        leaks = value["all"]["isolation_violations"]
        if leaks:
            msg = f"{leaks} isolation violations"
            raise CommandError(msg, returncode=1)


def report(value: dict[str, Any]) -> str:
    """The measures by kind as a Markdown table, then the questions that fell short."""
    columns = list(value["all"])
    lines = [
        f"# {value['course']}",
        "",
        "| kind | " + " | ".join(columns) + " |",
        "| --- |" + " --- |" * len(columns),
    ]
    for kind, measures in [*value["kinds"].items(), ("all", value["all"])]:
        cells = " | ".join(_cell(measures[column]) for column in columns)
        lines.append(f"| {kind} | {cells} |")
    short = [r for r in value["results"] if _short(r)]
    lines += ["", "## Fell short", ""]
    lines += [
        f"- {r['id']} ({r['kind']}): {'answered' if r['answered'] else 'refused ' + r['reason']},"
        f" rank {r['rank']}, cited {r['cited']}, {', '.join(r['violations'])}"
        for r in short
    ]
    return "\n".join(lines) + "\n"


def _short(result: dict[str, Any]) -> bool:
    good = result["cited"] if result["expected_answer"] else not result["answered"]
    return bool(result["violations"]) or not good


def _cell(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.3f}" if isinstance(value, float) else str(value)
