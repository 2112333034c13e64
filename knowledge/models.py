"""Spaces, documents and their chunks, facts, generations of the index. And THE permission.

`Space.objects.visible_to(user, conversation)` is the only permission on content; documents,
chunks, facts, citations and files ask it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Protocol, Self

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from courses.models import Course, Membership, Role

if TYPE_CHECKING:
    from datetime import datetime

    from courses.models import Person


class AskingConversation(Protocol):
    """What the permission needs of a conversation (`chat` owns the model)."""

    user_id: int
    course_id: int
    space_id: int
    use_library: bool
    use_private: bool


class SpaceKind(models.TextChoices):
    OFFICIAL = "official", _("course")
    PRIVATE = "instructor_private", _("instructors only")
    LIBRARY = "library", _("my library")
    CONVERSATION = "conversation", _("this conversation")


class SpaceQuerySet(models.QuerySet["Space"]):
    def visible_to(self, user: Person, conversation: AskingConversation | None = None) -> Self:
        """Spaces the person may read; with a conversation, those that its questions search.

        Reading from top to bottom, a space is let in only by the first rule that names it:

        - *official*: active members of its course. In a conversation, only the conversation's
          course; another course too where the institution's switch is on and the asker is an
          active member there.
        - *instructor_private*: active instructors of its course, and assistants where the course
          lets them. In a conversation, only its own course's and only when switched on there.
        - *library*: its owner. In a conversation, only when switched on there.
        - *conversation*: its owner. In a conversation, only its own.

        Anything no rule names stays hidden: no owner, no course, an ended membership, another
        institution, a suspended person. Superusers have no bypass.
        """
        if not user.is_authenticated or not user.is_active:
            return self.none()
        memberships = Membership.objects.filter(
            user_id=user.pk, active=True, user__institution=F("course__institution")
        )
        member_of = memberships.values("course_id")
        teaches = memberships.filter(
            Q(role=Role.INSTRUCTOR) | Q(role=Role.ASSISTANT, course__assistants_see_private=True)
        ).values("course_id")
        official = Q(kind=SpaceKind.OFFICIAL, course_id__in=member_of)
        private = Q(kind=SpaceKind.PRIVATE, course_id__in=teaches)
        library = Q(kind=SpaceKind.LIBRARY, owner_id=user.pk)
        own_conversations = Q(kind=SpaceKind.CONVERSATION, owner_id=user.pk)
        if conversation is None:
            return self.filter(official | private | library | own_conversations)

        if conversation.user_id != user.pk:
            return self.none()
        here = Q(course_id=conversation.course_id)
        if not memberships.filter(course_id=conversation.course_id).exists():
            return self.none()
        crossing = Q(
            course__institution__cross_course_search=True,
            course__institution__courses=conversation.course_id,
        )
        asked = official & (here | crossing)
        if conversation.use_private:
            asked |= private & here
        if conversation.use_library:
            asked |= library
        asked |= own_conversations & Q(pk=conversation.space_id)
        return self.filter(asked).distinct()

    def editable_by(self, user: Person) -> Self:
        """Spaces whose documents the person may add, publish, withdraw and delete."""
        if not user.is_authenticated or not user.is_active:
            return self.none()
        return self.filter(
            Q(
                kind__in=[SpaceKind.OFFICIAL, SpaceKind.PRIVATE],
                course__in=Course.objects.editable_by(user),
            )
            | Q(kind__in=[SpaceKind.LIBRARY, SpaceKind.CONVERSATION], owner_id=user.pk)
        )


class Space(models.Model):
    """The unit of permission."""

    kind = models.CharField(_("kind"), max_length=20, choices=SpaceKind)
    course = models.ForeignKey(
        Course,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="spaces",
        verbose_name=_("course"),
    )
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="spaces",
        verbose_name=_("owner"),
    )

    objects = SpaceQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["pk"]
        verbose_name = _("space")
        verbose_name_plural = _("spaces")
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=(
                    Q(
                        kind__in=["official", "instructor_private"],
                        course__isnull=False,
                        owner__isnull=True,
                    )
                    | Q(kind="library", course__isnull=True, owner__isnull=False)
                    | Q(kind="conversation", course__isnull=False, owner__isnull=False)
                ),
                name="space_belongs",
            ),
            models.UniqueConstraint(
                fields=["course", "kind"],
                condition=Q(kind__in=["official", "instructor_private"]),
                name="space_one_per_course_and_kind",
            ),
            models.UniqueConstraint(
                fields=["owner"], condition=Q(kind="library"), name="space_one_library_per_owner"
            ),
        ]

    def __str__(self) -> str:
        return self.slug

    @property
    def slug(self) -> str:
        """The label of the space in answers and contracts."""
        match self.kind:
            case SpaceKind.OFFICIAL:
                return f"official-{self.course.code.lower()}" if self.course else "official"
            case SpaceKind.PRIVATE:
                code = self.course.code.lower() if self.course else ""
                return f"instructor-private-{code}"
            case SpaceKind.LIBRARY:
                return "student-persistent-files"
            case _:
                return "student-temporary-upload"


class DocumentQuerySet(models.QuerySet["Document"]):
    def visible_to(self, user: Person, conversation: AskingConversation | None = None) -> Self:
        """Documents in spaces the person may read.

        Who edits a space sees its documents in any state; others only what is published.
        """
        mine = Q(space__in=Space.objects.visible_to(user, conversation))
        if conversation is not None:
            return self.filter(mine)
        return self.filter(mine).filter(
            Q(pk__in=self.model.objects.admissible(timezone.now()).values("pk"))
            | Q(space__in=Space.objects.editable_by(user))
        )

    def editable_by(self, user: Person) -> Self:
        return self.filter(space__in=Space.objects.editable_by(user))

    def admissible(self, as_of: datetime) -> Self:
        """Published, canonical and valid at the instant (`valid_from <= t < valid_until`)."""
        return self.filter(
            Q(valid_from__isnull=True) | Q(valid_from__lte=as_of),
            Q(valid_until__isnull=True) | Q(valid_until__gt=as_of),
            status=Status.PUBLISHED,
            canonical=True,
        )


class Status(models.TextChoices):
    DRAFT = "draft", _("draft")
    PUBLISHED = "published", _("published")
    WITHDRAWN = "withdrawn", _("withdrawn")


class Document(models.Model):
    """One source, in exactly one space for ever.

    `origin` says where it was ingested from (a folder, an archive's name); together with `path`
    it identifies the source within its space, so that two folders never overwrite each other.
    """

    class Kind(models.TextChoices):
        SLIDES = "slides", _("slides")
        ARTICLE = "article", _("article")
        PLAN = "plan", _("course plan")
        WORKSHOP = "workshop", _("workshop")
        SOLUTION = "solution", _("solution")
        GLOSSARY = "glossary", _("glossary")
        CHEAT_SHEET = "cheat_sheet", _("cheat sheet")
        EXAM = "exam", _("exam")
        DATA = "data", _("data table")
        TEXT = "text", _("text")

    class Opening(models.TextChoices):
        OPEN = "open", _("open")
        EXCERPT = "excerpt", _("excerpts only")

    space = models.ForeignKey(
        Space, on_delete=models.PROTECT, related_name="documents", verbose_name=_("space")
    )
    origin = models.CharField(_("origin"), max_length=1000, blank=True, editable=False)
    path = models.CharField(_("path"), max_length=500)
    kind = models.CharField(_("kind"), max_length=20, choices=Kind, default=Kind.TEXT)
    language = models.CharField(_("language"), max_length=2, default="fr")
    title = models.CharField(_("title"), max_length=500, blank=True)
    session = models.PositiveIntegerField(_("session"), null=True, blank=True)
    number = models.PositiveIntegerField(_("number"), null=True, blank=True)
    sha256 = models.CharField(max_length=64, editable=False)
    chunking = models.CharField(max_length=40, editable=False, blank=True)
    status = models.CharField(
        _("status"), max_length=20, choices=Status, default=Status.PUBLISHED, db_index=True
    )
    canonical = models.BooleanField(_("canonical version"), default=True)
    valid_from = models.DateTimeField(_("valid from"), null=True, blank=True)
    valid_until = models.DateTimeField(_("valid until"), null=True, blank=True)
    opening = models.CharField(_("opening"), max_length=20, choices=Opening, default=Opening.OPEN)
    statement = models.ForeignKey(
        "self",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="solutions",
        verbose_name=_("statement"),
    )
    stated = models.JSONField(default=dict, blank=True, editable=False)
    report = models.JSONField(_("report"), default=dict, blank=True, editable=False)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    changed_at = models.DateTimeField(_("changed"), auto_now=True)

    objects = DocumentQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["space", "path"]
        verbose_name = _("document")
        verbose_name_plural = _("documents")
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["space", "origin", "path"],
                condition=Q(canonical=True),
                name="document_one_canonical_version",
            ),
            models.CheckConstraint(
                condition=Q(status__in=["draft", "published", "withdrawn"]),
                name="document_status_known",
            ),
            models.CheckConstraint(
                condition=Q(valid_from__isnull=True)
                | Q(valid_until__isnull=True)
                | Q(valid_until__gt=F("valid_from")),
                name="document_validity_ordered",
            ),
            models.CheckConstraint(
                condition=Q(opening__in=["open", "excerpt"]), name="document_opening_known"
            ),
        ]

    def __str__(self) -> str:
        return self.title or self.path


class ChunkQuerySet(models.QuerySet["Chunk"]):
    def visible_to(self, user: Person, conversation: AskingConversation | None = None) -> Self:
        documents = Document.objects.visible_to(user, conversation)
        return self.filter(document__in=documents)

    def admissible(self, as_of: datetime) -> Self:
        """Chunks of admissible documents, without those hidden until a later instant."""
        return self.filter(
            Q(hidden_until__isnull=True) | Q(hidden_until__lte=as_of),
            document__in=Document.objects.admissible(as_of),
        )


class Chunk(models.Model):
    """Index data of one document. Written by `knowledge.library` alone.

    `ordinal` is the chunk's name within its document and survives edits elsewhere in the file;
    `position` is its place in reading order.
    """

    document = models.ForeignKey(
        Document, on_delete=models.CASCADE, related_name="chunks", verbose_name=_("document")
    )
    ordinal = models.PositiveIntegerField(_("ordinal"))
    position = models.PositiveIntegerField(_("position"))
    key = models.CharField(max_length=300)
    kind = models.CharField(_("kind"), max_length=20)
    title = models.CharField(_("title"), max_length=1000, blank=True)
    section = models.CharField(_("section"), max_length=1000, blank=True)
    session = models.PositiveIntegerField(_("session"), null=True, blank=True)
    slide = models.PositiveIntegerField(_("slide"), null=True, blank=True)
    slide_end = models.PositiveIntegerField(_("last slide"), null=True, blank=True)
    page = models.PositiveIntegerField(_("page"), null=True, blank=True)
    sheet = models.CharField(_("sheet"), max_length=200, blank=True)
    boxes = models.JSONField(_("boxes"), default=list, blank=True)
    term = models.CharField(_("term"), max_length=300, blank=True)
    term_translation = models.CharField(_("translation"), max_length=300, blank=True)
    exercise = models.CharField(_("exercise"), max_length=200, blank=True)
    question = models.CharField(_("question"), max_length=200, blank=True)
    part = models.CharField(_("part"), max_length=20, blank=True)
    notes = models.TextField(_("notes"), blank=True)
    appendix = models.BooleanField(_("appendix"), default=False)
    text = models.TextField(_("text"))
    display = models.TextField(_("display"))
    search = models.TextField(_("search text"))
    statement = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, blank=True, related_name="solutions"
    )
    hidden_until = models.DateTimeField(_("hidden until"), null=True, blank=True)

    objects = ChunkQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["document", "position"]
        verbose_name = _("chunk")
        verbose_name_plural = _("chunks")
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["document", "ordinal"], name="chunk_ordinal_unique"),
            models.UniqueConstraint(fields=["document", "key"], name="chunk_key_unique"),
            models.CheckConstraint(
                condition=Q(slide_end__isnull=True) | Q(slide_end__gte=F("slide")),
                name="chunk_slides_ordered",
            ),
        ]

    def __str__(self) -> str:
        return self.public_id

    @property
    def public_id(self) -> str:
        return f"{self.document_id}#{self.ordinal}"


class FactQuerySet(models.QuerySet["Fact"]):
    def visible_to(self, user: Person, conversation: AskingConversation | None = None) -> Self:
        return self.filter(space__in=Space.objects.visible_to(user, conversation))

    def editable_by(self, user: Person) -> Self:
        return self.filter(space__in=Space.objects.editable_by(user))


class Fact(models.Model):
    """A structured statement of a course: « examen intra · date · 20 octobre 2026 »."""

    space = models.ForeignKey(
        Space, on_delete=models.CASCADE, related_name="facts", verbose_name=_("space")
    )
    subject = models.CharField(_("subject"), max_length=200)
    aliases = models.JSONField(_("other names"), default=list, blank=True)
    attribute = models.CharField(_("attribute"), max_length=200)
    value = models.CharField(_("value"), max_length=500)
    unit = models.CharField(_("unit"), max_length=60, blank=True)
    valid_from = models.DateTimeField(_("valid from"), null=True, blank=True)
    valid_until = models.DateTimeField(_("valid until"), null=True, blank=True)
    source = models.ForeignKey(
        Document,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="facts",
        verbose_name=_("source"),
    )

    objects = FactQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["subject", "attribute"]
        verbose_name = _("fact")
        verbose_name_plural = _("facts")
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["space", "subject", "attribute", "valid_from"], name="fact_unique"
            ),
            models.UniqueConstraint(
                fields=["space", "subject", "attribute"],
                condition=Q(valid_from__isnull=True),
                name="fact_unique_undated",
            ),
            models.CheckConstraint(
                condition=Q(valid_from__isnull=True)
                | Q(valid_until__isnull=True)
                | Q(valid_until__gt=F("valid_from")),
                name="fact_validity_ordered",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.subject} · {self.attribute} : {self.value}"


class Generation(models.Model):
    """One complete index under one manifest. One is active; another may be building."""

    class State(models.TextChoices):
        BUILDING = "building", _("building")
        ACTIVE = "active", _("active")
        PREVIOUS = "previous", _("previous")
        FAILED = "failed", _("failed")
        CANCELLED = "cancelled", _("cancelled")

    profile = models.CharField(_("embedding profile"), max_length=60)
    manifest = models.JSONField(_("manifest"))
    state = models.CharField(_("state"), max_length=20, choices=State, default=State.BUILDING)
    reason = models.CharField(_("reason"), max_length=500, blank=True)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    activated_at = models.DateTimeField(_("activated"), null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["-pk"]
        verbose_name = _("generation")
        verbose_name_plural = _("generations")
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["state"], condition=Q(state="active"), name="generation_one_active"
            ),
            models.UniqueConstraint(
                fields=["state"], condition=Q(state="building"), name="generation_one_building"
            ),
        ]

    def __str__(self) -> str:
        return f"#{self.pk} {self.profile} ({self.get_state_display()})"


class Calibration(models.Model):
    """The evidence gate's threshold of one course under one generation and question language."""

    course = models.ForeignKey(Course, on_delete=models.CASCADE, related_name="calibrations")
    generation = models.ForeignKey(
        Generation, on_delete=models.CASCADE, related_name="calibrations"
    )
    language = models.CharField(_("question language"), max_length=2)
    threshold = models.FloatField(_("threshold"))
    context = models.FloatField(_("floor of one passage"))
    controls = models.PositiveIntegerField(_("control questions"))
    index_version = models.PositiveBigIntegerField()
    source = models.CharField(_("source"), max_length=500)
    made_at = models.DateTimeField(_("made"), auto_now=True)

    class Meta:
        ordering: ClassVar = ["course", "language"]
        verbose_name = _("calibration")
        verbose_name_plural = _("calibrations")
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["course", "generation", "language"], name="calibration_unique"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.course.code} {self.language}: {self.threshold:.4f}"
