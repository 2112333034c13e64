"""The API's courses: those in which one is an active member."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from rest_framework import serializers, viewsets

from courses.models import Course, CourseQuerySet

if TYPE_CHECKING:
    from rest_framework.request import Request

    from courses.models import User


def asker(request: Request) -> User:
    """The person behind an authenticated request."""
    return cast("User", request.user)


class CourseSerializer(serializers.ModelSerializer[Course]):
    institution = serializers.SlugField(source="institution.slug", read_only=True)

    class Meta:
        model = Course
        fields: ClassVar = ["id", "code", "title", "language", "institution", "answer_policy"]
        read_only_fields = fields


class CourseViewSet(viewsets.ReadOnlyModelViewSet[Course]):
    serializer_class = CourseSerializer
    queryset = Course.objects.none()

    def get_queryset(self) -> CourseQuerySet:
        return Course.objects.visible_to(self.request.user).select_related("institution")
