from __future__ import annotations

from dataclasses import asdict
from typing import Any, ClassVar

from courses.commands import ContractCommand
from courses.errors import CourseError
from knowledge import index
from knowledge.models import Chunk, Document, Generation
from knowledge.retrieval.types import RetrievalError


class Command(ContractCommand):
    help = "Says which generation answers, under which manifest, how full and how fresh it is."
    errors: ClassVar = (CourseError, RetrievalError)

    def work(self, **_options: Any) -> dict[str, Any]:
        generation = index.active_generation()
        last = Document.objects.order_by("-changed_at").first()
        value: dict[str, Any] = {
            "active": None,
            "documents": Document.objects.count(),
            "chunks": Chunk.objects.count(),
            "last_change": last.changed_at.isoformat() if last else None,
            "generations": [
                {"id": g.pk, "profile": g.profile, "state": g.state}
                for g in Generation.objects.all()
            ],
        }
        if generation is None:
            return value | {"usable": False, "reason": "Nothing has been indexed yet."}
        counts = index.ENGINE.counts(index.raw(), generation.pk)
        reason = ""
        try:
            index.profile_of(generation)
        except RetrievalError as error:
            reason = error.user_message
        return value | {
            "active": generation.pk,
            "profile": generation.profile,
            "manifest": generation.manifest,
            "counts": asdict(counts),
            "usable": not reason,
            "reason": reason,
            "fresh": counts.vectors == value["chunks"],
        }
