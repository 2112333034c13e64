"""Uploads and runs in the admin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, cast

from django import forms
from django.contrib import admin
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext_lazy as _

from courses.admin import TaughtAdmin
from ingestion import intake
from ingestion.models import IngestionRun
from ingestion.parsing.types import DocumentError
from knowledge.models import Space, SpaceKind

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest
    from django.utils.safestring import SafeString


class UploadForm(forms.ModelForm):
    """One source or archive for a space the person edits."""

    file = forms.FileField(
        label=_("file"),
        allow_empty_file=True,
        help_text=_("A .tex, .md, .txt or .csv file, or a .zip of a folder."),
    )
    person: ClassVar[Any] = None

    class Meta:
        model = IngestionRun
        fields: ClassVar = ["space", "dry_run"]

    def clean(self) -> dict[str, Any]:
        """The upload is taken here, so that a refusal is an error of the form."""
        values = super().clean() or {}
        if not self.errors:
            try:
                self.run = intake.receive_upload(
                    user=self.person,
                    space=values["space"],
                    upload=values["file"],
                    dry_run=values["dry_run"],
                )
            except DocumentError as error:
                self.add_error("file", error.user_message)
        return values


@admin.register(IngestionRun)
class IngestionRunAdmin(TaughtAdmin):
    """Adding a run is uploading a source; what a run did is read, never edited."""

    list_display = ("pk", "space", "name", "state", "progress", "counts", "seconds", "created_at")
    list_filter = ("state",)
    form = UploadForm
    limited: ClassVar = ("space",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[IngestionRun]:
        runs = IngestionRun.objects.visible_to(request.user).select_related("space__course")
        return runs.filter(space__kind__in=[SpaceKind.OFFICIAL, SpaceKind.PRIVATE])

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_form(  # Django's own signature
        self,
        request: HttpRequest,
        obj: Any = None,
        change: bool = False,  # noqa: FBT001, FBT002
        **kwargs: Any,
    ) -> type[forms.ModelForm]:
        form: Any = super().get_form(request, obj, change, **kwargs)
        form.person = request.user
        return cast("type[forms.ModelForm]", form)

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        field = super().formfield_for_foreignkey(db_field, request, **kwargs)
        if db_field.name == "space" and field is not None:
            field.queryset = Space.objects.editable_by(request.user).filter(
                kind__in=[SpaceKind.OFFICIAL, SpaceKind.PRIVATE]
            )
        return field

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        if obj is None:
            return ["space", "file", "dry_run"]
        return [
            "space", "name", "dry_run", "state", "reason", "progress", "counts", "seconds",
            "created_at", "finished_at", "problems", "per_file",
        ]  # fmt: skip

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return self.get_fields(request, obj) if obj else []

    def save_form(self, request: HttpRequest, form: UploadForm, change: bool) -> IngestionRun:  # noqa: FBT001
        return form.run

    def save_model(self, *_args: object) -> None:
        """Already saved and queued by `intake`."""

    def save_related(self, *_args: object) -> None:
        """A run has none."""

    @admin.display(description=_("source"))
    def name(self, run: IngestionRun) -> str:
        return run.source.rsplit("/", 1)[-1]

    @admin.display(description=_("progress"))
    def progress(self, run: IngestionRun) -> str:
        return f"{run.done}/{run.total}"

    @admin.display(description=_("counts"))
    def counts(self, run: IngestionRun) -> str:
        files = ", ".join(f"{count} {name}" for name, count in run.files.items() if count)
        return f"{files} · {run.chunks.get('total', 0)} chunks"

    @admin.display(description=_("refused files"))
    def problems(self, run: IngestionRun) -> SafeString:
        return format_html_join(
            "", "<p><b>{}</b> — {}</p>", ((e["path"], e["reason"]) for e in run.errors)
        )

    @admin.display(description=_("per file"))
    def per_file(self, run: IngestionRun) -> SafeString:
        rows = format_html_join(
            "",
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            (
                (
                    d["path"], d["kind"], d["status"], d["frames"], d["chunks"], d["equations"],
                    " · ".join(d["warnings"]),
                )
                for d in run.report.get("documents", [])
            ),
        )  # fmt: skip
        head = format_html(
            "<tr><th>{}</th><th>{}</th><th>{}</th><th>{}</th><th>{}</th><th>{}</th><th>{}</th></tr>",
            _("path"), _("kind"), _("status"), _("frames"), _("chunks"), _("equations"),
            _("warnings"),
        )  # fmt: skip
        return format_html("<table>{}{}</table>", head, rows)
