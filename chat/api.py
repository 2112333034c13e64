"""The API's conversations, questions and sources."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.generics import get_object_or_404
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.response import Response

from chat import ask, contracts, presenting, streams
from chat.models import Conversation, ConversationQuerySet, Turn, TurnQuerySet
from courses.api import asker
from courses.models import Course

if TYPE_CHECKING:
    from django.http import StreamingHttpResponse
    from rest_framework.request import Request


class EventStream(BaseRenderer):
    """Lets a client ask for `text/event-stream`; errors before the stream are JSON in it."""

    media_type = "text/event-stream"
    format = "stream"

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None
    ) -> bytes:
        return JSONRenderer().render(data)


class ConversationSerializer(serializers.ModelSerializer[Conversation]):
    course = serializers.PrimaryKeyRelatedField(queryset=Course.objects.none())

    class Meta:
        model = Conversation
        fields: ClassVar = ["id", "course", "title", "use_library", "use_private", "changed_at"]
        read_only_fields: ClassVar = ["id", "changed_at"]

    def get_fields(self) -> dict[str, Any]:
        fields = super().get_fields()
        if self.instance is not None:
            fields["course"].read_only = True
        elif "request" in self.context:
            course: Any = fields["course"]
            course.queryset = Course.objects.visible_to(self.context["request"].user)
        return fields


class QuestionSerializer(serializers.Serializer[None]):
    question = serializers.CharField(allow_blank=True, trim_whitespace=False)


class CitationSerializer(serializers.Serializer[Any]):
    tag = serializers.CharField()
    shown = serializers.BooleanField(help_text="False: the source was withdrawn since.")
    chunk = serializers.CharField()
    course = serializers.CharField()
    space = serializers.CharField()
    document = serializers.CharField()
    path = serializers.CharField()
    locator = serializers.CharField()
    title = serializers.CharField()
    session = serializers.IntegerField(allow_null=True)
    slide = serializers.IntegerField(allow_null=True)
    page = serializers.IntegerField(allow_null=True)
    quote = serializers.CharField()
    text = serializers.CharField()
    cross_course = serializers.BooleanField()


class TurnSerializer(serializers.ModelSerializer[Turn]):
    answer = serializers.SerializerMethodField()
    citations = serializers.SerializerMethodField()

    class Meta:
        model = Turn
        fields: ClassVar = [
            "id", "conversation", "ordinal", "question", "status", "reason", "origin", "answer",
            "nearest", "searched", "cross_course", "citations", "model_calls", "retrieval_calls",
            "invalid_citations", "timings_ms", "created_at",
        ]  # fmt: skip
        read_only_fields = fields

    def get_answer(self, turn: Turn) -> str:
        return presenting.shown_answer(turn, self.context["request"].user)

    @extend_schema(responses=CitationSerializer(many=True))
    def get_citations(self, turn: Turn) -> list[dict[str, Any]]:
        return contracts.describe_citations(turn, self.context["request"].user)


class ConversationViewSet(viewsets.ModelViewSet[Conversation]):
    """One's own conversations."""

    serializer_class = ConversationSerializer
    queryset = Conversation.objects.none()

    def get_queryset(self) -> ConversationQuerySet:
        return Conversation.objects.visible_to(self.request.user)

    def perform_create(self, serializer: serializers.BaseSerializer[Conversation]) -> None:
        values = dict(serializer.validated_data)  # type: ignore[attr-defined]
        conversation = Conversation.open(
            user=asker(self.request),
            course=values.pop("course"),
            title=values.pop("title", ""),
        )
        for name, value in values.items():
            setattr(conversation, name, value)
        conversation.save()
        serializer.instance = conversation

    def perform_destroy(self, instance: Conversation) -> None:
        ask.erase(instance)

    @extend_schema(request=QuestionSerializer, responses=TurnSerializer)
    @action(detail=True, methods=["post"], renderer_classes=[JSONRenderer, EventStream])
    def ask(self, request: Request, pk: str | None = None) -> Response | StreamingHttpResponse:
        """Asks a question. With `Accept: text/event-stream`, as a stream of events."""
        conversation = get_object_or_404(self.get_queryset(), pk=pk)
        form = QuestionSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        streams.throttle(asker(request))
        turn = ask.begin(conversation=conversation, question=form.validated_data["question"])
        if "text/event-stream" in request.headers.get("Accept", ""):
            return streams.stream(turn, asker(request))
        for _event in ask.answer_question(turn, asker(request)):
            pass
        return Response(TurnSerializer(turn, context={"request": request}).data)

    @extend_schema(responses=TurnSerializer(many=True))
    @action(detail=True)
    def turns(self, request: Request, pk: str | None = None) -> Response:
        conversation = get_object_or_404(self.get_queryset(), pk=pk)
        turns = Turn.objects.visible_to(request.user).filter(conversation=conversation)
        return Response(TurnSerializer(turns, many=True, context={"request": request}).data)


class TurnViewSet(mixins.RetrieveModelMixin, viewsets.GenericViewSet[Turn]):
    """One's own questions and their answers."""

    serializer_class = TurnSerializer
    queryset = Turn.objects.none()

    def get_queryset(self) -> TurnQuerySet:
        return Turn.objects.visible_to(self.request.user)

    @extend_schema(responses=CitationSerializer(many=True))
    @action(detail=True)
    def sources(self, request: Request, pk: str | None = None) -> Response:
        turn = get_object_or_404(self.get_queryset(), pk=pk)
        return Response(contracts.describe_citations(turn, asker(request)))
