"""Documents, facts and the index in the admin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib import admin, messages
from django.utils.html import format_html_join
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from courses.admin import AdministratorsOnly, TaughtAdmin
from knowledge import library
from knowledge.models import Calibration, Chunk, Document, Fact, Generation, Space, SpaceKind
from knowledge.rendering.text import render_text

if TYPE_CHECKING:
    from django.db.models import Model, QuerySet
    from django.http import HttpRequest
    from django.utils.safestring import SafeString


class CourseSpaceFilter(admin.SimpleListFilter):
    """The person's own course spaces, by name; never the names of others."""

    title = _("space")
    parameter_name = "space"

    def lookups(self, request: HttpRequest, _model_admin: object) -> list[tuple[str, str]]:
        spaces = Space.objects.editable_by(request.user).filter(
            kind__in=[SpaceKind.OFFICIAL, SpaceKind.PRIVATE]
        )
        return [(str(space.pk), space.slug) for space in spaces.select_related("course")]

    def queryset(self, _request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() and str(self.value()).isdecimal():
            return queryset.filter(space_id=int(str(self.value())))
        return queryset


@admin.register(Document)
class DocumentAdmin(TaughtAdmin):
    """An instructor publishes, withdraws, dates and previews; an administrator sees metadata."""

    list_display = (
        "path", "space", "kind", "title", "session", "status", "canonical", "valid_from",
        "valid_until", "changed_at",
    )  # fmt: skip
    list_filter = (CourseSpaceFilter, "kind", "status", "canonical")
    search_fields = ("path", "title")
    actions = ("publish", "withdraw")
    fields = (
        "space", "path", "kind", "title", "session", "language", "status", "canonical",
        "valid_from", "valid_until", "opening", "preview",
    )  # fmt: skip
    readonly_fields = ("space", "path", "kind", "title", "session", "language", "preview")

    def _mine(self, request: HttpRequest) -> QuerySet[Document]:
        """Course material alone: students' own files are in nobody's admin."""
        return Document.objects.editable_by(request.user).filter(
            space__kind__in=[SpaceKind.OFFICIAL, SpaceKind.PRIVATE]
        )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Document]:
        if request.user.is_superuser:
            return Document.objects.filter(
                space__kind__in=[SpaceKind.OFFICIAL, SpaceKind.PRIVATE]
            ).select_related("space__course")
        return super().get_queryset(request).select_related("space__course")

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Documents come from runs."""
        return False

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> list[Any]:
        if obj is None or self.has_change_permission(request, obj):
            return list(self.fields)
        return [name for name in self.fields if name != "preview"]

    def delete_model(self, request: HttpRequest, obj: Document) -> None:
        library.delete_documents([obj])

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Document]) -> None:
        library.delete_documents(queryset)

    def _editable(self, request: HttpRequest, queryset: QuerySet[Document]) -> QuerySet[Document]:
        return queryset.filter(pk__in=self._mine(request).values("pk"))

    @admin.action(description=_("Publish the selected documents"), permissions=["change"])
    def publish(self, request: HttpRequest, queryset: QuerySet[Document]) -> None:
        changed = library.publish(self._editable(request, queryset))
        self._say(request, changed)

    @admin.action(description=_("Withdraw the selected documents"), permissions=["change"])
    def withdraw(self, request: HttpRequest, queryset: QuerySet[Document]) -> None:
        changed = library.withdraw(self._editable(request, queryset))
        self._say(request, changed)

    def _say(self, request: HttpRequest, changed: int) -> None:
        text = ngettext("%d document changed.", "%d documents changed.", changed) % changed
        messages.success(request, text)

    @admin.display(description=_("chunks"))
    def preview(self, document: Document) -> SafeString:
        chunks = document.chunks.order_by("position")
        return format_html_join(
            "",
            "<details><summary>{} {} — {}</summary>{}</details>",
            (
                (chunk.public_id, chunk.slide or "", chunk.title, rendered(chunk))
                for chunk in chunks
            ),
        )


def rendered(chunk: Chunk) -> SafeString:
    from django.utils.safestring import mark_safe  # noqa: PLC0415

    return mark_safe(render_text(chunk.text))  # noqa: S308 - render_text escapes all it is given


@admin.register(Fact)
class FactAdmin(TaughtAdmin):
    list_display = ("subject", "attribute", "value", "unit", "space", "valid_from", "valid_until")
    search_fields = ("subject", "attribute", "value")
    limited: ClassVar = ("space", "source")


@admin.register(Generation)
class GenerationAdmin(AdministratorsOnly):
    list_display = ("pk", "profile", "state", "created_at", "activated_at")
    readonly_fields = ("profile", "manifest", "state", "reason", "created_at", "activated_at")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


@admin.register(Calibration)
class CalibrationAdmin(AdministratorsOnly):
    list_display = ("course", "language", "threshold", "controls", "source", "made_at")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False
