"""The API's ingestion runs: upload a source into a space one edits, and watch."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.parsers import MultiPartParser
from rest_framework.response import Response

from courses.api import asker
from ingestion import intake
from ingestion.models import IngestionRun, IngestionRunQuerySet
from knowledge.models import Space

if TYPE_CHECKING:
    from rest_framework.request import Request


class RunSerializer(serializers.ModelSerializer[IngestionRun]):
    course = serializers.CharField(source="space.course.code", read_only=True, default=None)
    space = serializers.CharField(source="space.slug", read_only=True)
    source = serializers.SerializerMethodField()  # type: ignore[assignment]

    class Meta:
        model = IngestionRun
        fields: ClassVar = [
            "id", "course", "space", "source", "dry_run", "state", "reason", "files", "chunks",
            "errors", "report", "done", "total", "seconds", "created_at", "finished_at",
        ]  # fmt: skip
        read_only_fields = fields

    def get_source(self, run: IngestionRun) -> str:
        """The name alone: where a folder lies on the server is nobody's business."""
        return run.source.rsplit("/", 1)[-1]


class UploadSerializer(serializers.Serializer[None]):
    course = serializers.IntegerField()
    space = serializers.ChoiceField(choices=["official", "instructor_private"])
    file = serializers.FileField(allow_empty_file=True)
    dry_run = serializers.BooleanField(default=False)


class RunViewSet(
    mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[IngestionRun]
):
    """Runs of the spaces one edits."""

    serializer_class = RunSerializer
    queryset = IngestionRun.objects.none()
    parser_classes = (MultiPartParser,)

    def get_queryset(self) -> IngestionRunQuerySet:
        return IngestionRun.objects.visible_to(self.request.user).select_related("space__course")

    @extend_schema(request=UploadSerializer, responses={202: RunSerializer})
    def create(self, request: Request) -> Response:
        form = UploadSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        space = (
            Space.objects.editable_by(request.user)
            .filter(course_id=form.validated_data["course"], kind=form.validated_data["space"])
            .first()
        )
        if space is None:
            return Response({"detail": "Not found."}, status=status.HTTP_404_NOT_FOUND)
        run = intake.receive_upload(
            user=asker(request),
            space=space,
            upload=form.validated_data["file"],
            dry_run=form.validated_data["dry_run"],
        )
        return Response(RunSerializer(run).data, status=status.HTTP_202_ACCEPTED)
