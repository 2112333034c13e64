"""Conversations, their turns, and what each turn cited."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

from django.conf import settings
from django.db import models, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from courses.models import Course
from knowledge.models import Chunk, Document, Space, SpaceKind

if TYPE_CHECKING:
    from datetime import datetime

    from courses.models import Person, User


class ConversationQuerySet(models.QuerySet["Conversation"]):
    def visible_to(self, user: Person) -> Self:
        """One's own conversations, in courses where one still is an active member."""
        if not user.is_authenticated or not user.is_active:
            return self.none()
        return self.filter(user_id=user.pk, course__in=Course.objects.visible_to(user))

    def editable_by(self, user: Person) -> Self:
        return self.visible_to(user)


class Conversation(models.Model):
    """A person's questions in one course. It owns a space for the files attached to it."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="conversations"
    )
    course = models.ForeignKey(Course, on_delete=models.CASCADE, related_name="conversations")
    space = models.OneToOneField(Space, on_delete=models.PROTECT, related_name="conversation")
    title = models.CharField(_("title"), max_length=200, blank=True)
    use_library = models.BooleanField(_("search my library"), default=False)
    use_private = models.BooleanField(_("search private material"), default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)

    objects = ConversationQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["-changed_at", "-pk"]
        verbose_name = _("conversation")
        verbose_name_plural = _("conversations")

    def __str__(self) -> str:
        return self.title or f"#{self.pk}"

    @classmethod
    @transaction.atomic
    def open(cls, *, user: User, course: Course, title: str = "") -> Conversation:
        """A new conversation with its own space. The caller has checked the membership."""
        space = Space.objects.create(kind=SpaceKind.CONVERSATION, course=course, owner=user)
        return cls.objects.create(user=user, course=course, space=space, title=title)


class TurnQuerySet(models.QuerySet["Turn"]):
    def visible_to(self, user: Person) -> Self:
        return self.filter(conversation__in=Conversation.objects.visible_to(user))


class Turn(models.Model):
    """One question with its answer.

    `pieces` is the answer as it was validated: a list of `{"text", "tags"}`, each shown only
    while every source it cites may still be shown.
    """

    class Status(models.TextChoices):
        PENDING = "pending", _("pending")
        ANSWERED = "answered", _("answered")
        REFUSED = "refused", _("refused")
        FAILED = "failed", _("failed")

    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="turns")
    ordinal = models.PositiveIntegerField()
    question = models.TextField(_("question"))
    language = models.CharField(max_length=2, blank=True)
    status = models.CharField(max_length=20, choices=Status, default=Status.PENDING)
    reason = models.CharField(max_length=60, blank=True)
    origin = models.CharField(max_length=30, blank=True)
    answer = models.TextField(blank=True)
    pieces = models.JSONField(default=list, blank=True)
    nearest = models.JSONField(default=list, blank=True)
    searched = models.JSONField(default=list, blank=True)
    as_of = models.DateTimeField(default=timezone.now)
    mode = models.CharField(max_length=20, blank=True)
    profile = models.CharField(max_length=60, blank=True)
    generation = models.PositiveBigIntegerField(null=True, blank=True)
    cross_course = models.BooleanField(default=False)
    uses_private = models.BooleanField(default=False)
    model_calls = models.PositiveIntegerField(default=0)
    retrieval_calls = models.PositiveIntegerField(default=0)
    invalid_citations = models.PositiveIntegerField(default=0)
    timings_ms = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = TurnQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["conversation", "ordinal"]
        verbose_name = _("turn")
        verbose_name_plural = _("turns")
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["conversation", "ordinal"], name="turn_ordinal_unique"),
            models.CheckConstraint(
                condition=Q(status__in=["pending", "answered", "refused", "failed"]),
                name="turn_status_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.conversation_id}/{self.ordinal}"


class CitationQuerySet(models.QuerySet["Citation"]):
    def visible_to(self, user: Person) -> Self:
        return self.filter(turn__in=Turn.objects.visible_to(user))

    def shown_to(self, user: Person, as_of: datetime | None = None) -> Self:
        """Citations whose source the person may still read and which still stands.

        The answer was given as of its own instant; whether it may still be shown is asked now.
        """
        now = as_of or timezone.now()
        documents = Document.objects.filter(space__in=Space.objects.visible_to(user)).admissible(
            now
        )
        hidden = Q(chunk__hidden_until__gt=now)
        return self.visible_to(user).filter(document__in=documents).exclude(hidden)


class Citation(models.Model):
    """What an answer shows of one source: copied, so that re-ingestion cannot change history."""

    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="citations")
    tag = models.CharField(max_length=8)
    chunk = models.ForeignKey(Chunk, on_delete=models.SET_NULL, null=True, related_name="citations")
    document = models.ForeignKey(
        Document, on_delete=models.SET_NULL, null=True, related_name="citations"
    )
    chunk_public_id = models.CharField(max_length=60)
    quote = models.TextField()
    text = models.TextField()
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    course_code = models.CharField(max_length=40)
    space_slug = models.CharField(max_length=80)
    path = models.CharField(max_length=500)
    document_title = models.CharField(max_length=500, blank=True)
    title = models.CharField(max_length=1000, blank=True)
    session = models.PositiveIntegerField(null=True)
    slide = models.PositiveIntegerField(null=True)
    slide_end = models.PositiveIntegerField(null=True)
    page = models.PositiveIntegerField(null=True)
    locator = models.CharField(max_length=2000)
    cross_course = models.BooleanField(default=False)

    objects = CitationQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["turn", "pk"]
        verbose_name = _("citation")
        verbose_name_plural = _("citations")
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["turn", "tag", "start", "end"], name="citation_unique_per_turn"
            ),
            models.CheckConstraint(
                condition=Q(end__gt=models.F("start")), name="citation_offsets_ordered"
            ),
        ]

    def __str__(self) -> str:
        return f"[{self.tag}] {self.locator}"
