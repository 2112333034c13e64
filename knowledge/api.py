"""The API's documents, and the two decisions an instructor takes on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.generics import get_object_or_404
from rest_framework.response import Response

from knowledge import library
from knowledge.models import Document, DocumentQuerySet

if TYPE_CHECKING:
    from rest_framework.request import Request


class DocumentSerializer(serializers.ModelSerializer[Document]):
    course = serializers.CharField(source="space.course.code", read_only=True, default=None)
    space = serializers.CharField(source="space.slug", read_only=True)

    class Meta:
        model = Document
        fields: ClassVar = [
            "id", "course", "space", "path", "kind", "language", "title", "session", "number",
            "status", "canonical", "valid_from", "valid_until", "opening", "changed_at",
        ]  # fmt: skip
        read_only_fields = fields


class DocumentViewSet(viewsets.ReadOnlyModelViewSet[Document]):
    """Documents one may read now; for who edits their space, in any state."""

    serializer_class = DocumentSerializer
    queryset = Document.objects.none()

    def get_queryset(self) -> DocumentQuerySet:
        return Document.objects.visible_to(self.request.user).select_related("space__course")

    def _editable(self, pk: str | None) -> Document:
        return get_object_or_404(Document.objects.editable_by(self.request.user), pk=pk)

    @extend_schema(request=None, responses=DocumentSerializer)
    @action(detail=True, methods=["post"])
    def publish(self, request: Request, pk: str | None = None) -> Response:
        library.publish([self._editable(pk)])
        return Response(DocumentSerializer(self._editable(pk)).data)

    @extend_schema(request=None, responses=DocumentSerializer)
    @action(detail=True, methods=["post"])
    def withdraw(self, request: Request, pk: str | None = None) -> Response:
        library.withdraw([self._editable(pk)])
        return Response(DocumentSerializer(self._editable(pk)).data)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, pk: str | None = None) -> Response:
        library.delete_documents([self._editable(pk)])
        return Response(status=status.HTTP_204_NO_CONTENT)
