from __future__ import annotations

from typing import TYPE_CHECKING, Any

from courses.commands import ContractCommand
from courses.naming import find_course
from knowledge.models import Chunk

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(ContractCommand):
    help = "Lists the chunks of a course in every one of its spaces. For operators."

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--course", required=True)
        parser.add_argument("--document", help="path of one document", default="")

    def work(self, **options: Any) -> dict[str, Any]:
        chunks = Chunk.objects.filter(
            document__space__course=find_course(options["course"]),
            document__space__kind__in=["official", "instructor_private"],
        ).select_related("document__space__course")
        if options["document"]:
            chunks = chunks.filter(document__path=options["document"])
        return {"chunks": [describe(chunk) for chunk in chunks.order_by("document", "position")]}

    def say(self, value: dict[str, Any]) -> None:
        for chunk in value["chunks"]:
            slide = f" · {chunk['slide']}" if chunk["slide"] else ""
            self.stdout.write(f"{chunk['id']} {chunk['path']}{slide} « {chunk['title']} »")


def describe(chunk: Chunk) -> dict[str, Any]:
    names = (
        "kind", "ordinal", "title", "section", "session", "slide", "slide_end", "page", "sheet",
        "boxes", "term", "term_translation", "exercise", "question", "part", "appendix", "notes",
        "text", "display",
    )  # fmt: skip
    return {
        "id": chunk.public_id,
        "document": chunk.document_id,
        "path": chunk.document.path,
        "space": chunk.document.space.slug,
        "document_kind": chunk.document.kind,
        "status": chunk.document.status,
        **{name: getattr(chunk, name) for name in names},
        "statement": chunk.statement.public_id if chunk.statement else None,
    }
