"""Institutions, people, courses and who takes part in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

from django.contrib.auth.models import AbstractUser, AnonymousUser
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from typing import TypeAlias

    from django.contrib.auth.base_user import AbstractBaseUser

    Person: TypeAlias = "User | AnonymousUser | AbstractBaseUser"


class Institution(models.Model):
    """The tenant. Nothing ever crosses an institution."""

    slug = models.SlugField(_("short name"), max_length=40, unique=True)
    name = models.CharField(_("name"), max_length=200)
    cross_course_search = models.BooleanField(
        _("cross-course search"),
        default=False,
        help_text=_("Questions of one course may also search the asker's other courses."),
    )
    demo = models.BooleanField(_("demo"), default=False, editable=False)

    class Meta:
        ordering: ClassVar = ["slug"]
        verbose_name = _("institution")
        verbose_name_plural = _("institutions")

    def __str__(self) -> str:
        return self.name


class User(AbstractUser):
    """A person of one institution. An administrator of the whole site may have none.

    `username` is what the person signs in with: a bare name, or `institution/name` where another
    institution already has that bare name.
    """

    username = models.CharField(
        _("user name"),
        max_length=191,
        unique=True,
        validators=[
            RegexValidator(
                r"^(?:[a-z0-9-]+/)?[\w.@+-]+\Z",
                _("Letters, digits and . @ + - _ only, perhaps after `institution/`."),
            ),
        ],
    )
    institution = models.ForeignKey(
        Institution,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="people",
        verbose_name=_("institution"),
    )

    class Meta(AbstractUser.Meta):
        pass


class Role(models.TextChoices):
    STUDENT = "student", _("student")
    ASSISTANT = "assistant", _("assistant")
    INSTRUCTOR = "instructor", _("instructor")


class CourseQuerySet(models.QuerySet["Course"]):
    def visible_to(self, user: Person) -> Self:
        """Courses in which the person is an active member."""
        if not user.is_authenticated or not user.is_active:
            return self.none()
        return self.filter(
            memberships__user_id=user.pk,
            memberships__active=True,
            institution=models.F("memberships__user__institution"),
        ).distinct()

    def editable_by(self, user: Person) -> Self:
        """Courses that the person teaches."""
        if not user.is_authenticated or not user.is_active:
            return self.none()
        return self.filter(
            memberships__user_id=user.pk,
            memberships__active=True,
            memberships__role=Role.INSTRUCTOR,
            institution=models.F("memberships__user__institution"),
        ).distinct()


class Course(models.Model):
    class AnswerPolicy(models.TextChoices):
        COURSE_ONLY = "course_only", _("course only")
        ALLOW_GENERAL = "allow_general", _("general knowledge allowed, shown apart")

    class AnswerMode(models.TextChoices):
        EXTRACTIVE = "extractive", _("extractive")
        EVIDENCE = "evidence", _("evidence")
        CITED = "cited", _("cited prose")

    class AdmissionRule(models.TextChoices):
        CALIBRATED = "calibrated", _("calibrated on control questions")
        STRICT = "strict", _("strict: minimum cosine and common words")

    class Language(models.TextChoices):
        FRENCH = "fr", _("French")
        ENGLISH = "en", _("English")

    institution = models.ForeignKey(
        Institution,
        on_delete=models.PROTECT,
        related_name="courses",
        verbose_name=_("institution"),
    )
    code = models.CharField(
        _("code"),
        max_length=40,
        validators=[RegexValidator(r"^[\w.-]+\Z", _("Letters, digits and . - _ only."))],
    )
    title = models.CharField(_("title"), max_length=200)
    language = models.CharField(
        _("language"), max_length=2, choices=Language, default=Language.FRENCH
    )
    answer_policy = models.CharField(
        _("answer policy"), max_length=20, choices=AnswerPolicy, default=AnswerPolicy.COURSE_ONLY
    )
    answer_mode = models.CharField(
        _("answer mode"), max_length=20, choices=AnswerMode, default=AnswerMode.EXTRACTIVE
    )
    admission_rule = models.CharField(
        _("admission rule"), max_length=20, choices=AdmissionRule, default=AdmissionRule.CALIBRATED
    )
    chat_profile = models.CharField(_("chat profile"), max_length=60, default="extractive")
    assistants_see_private = models.BooleanField(
        _("assistants see private material"), default=False
    )

    objects = CourseQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["code"]
        verbose_name = _("course")
        verbose_name_plural = _("courses")
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["institution", "code"], name="course_code_unique"),
            models.CheckConstraint(
                condition=models.Q(language__in=["fr", "en"]), name="course_language_known"
            ),
            models.CheckConstraint(
                condition=models.Q(answer_policy__in=["course_only", "allow_general"]),
                name="course_answer_policy_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.code} — {self.title}"


class MembershipQuerySet(models.QuerySet["Membership"]):
    def visible_to(self, user: Person) -> Self:
        """One's own memberships."""
        if not user.is_authenticated:
            return self.none()
        return self.filter(user_id=user.pk)

    def editable_by(self, user: Person) -> Self:
        """Memberships of the courses that the person teaches; an administrator's: all."""
        if user.is_active and user.is_authenticated and getattr(user, "is_superuser", False):
            return self.all()
        return self.filter(course__in=Course.objects.editable_by(user))


class Membership(models.Model):
    user = models.ForeignKey(
        User, on_delete=models.CASCADE, related_name="memberships", verbose_name=_("person")
    )
    course = models.ForeignKey(
        Course, on_delete=models.CASCADE, related_name="memberships", verbose_name=_("course")
    )
    role = models.CharField(_("role"), max_length=20, choices=Role, default=Role.STUDENT)
    active = models.BooleanField(_("active"), default=True)

    objects = MembershipQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["course__code", "user__username"]
        verbose_name = _("membership")
        verbose_name_plural = _("memberships")
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["user", "course"], name="membership_unique"),
            models.CheckConstraint(
                condition=models.Q(role__in=["student", "assistant", "instructor"]),
                name="membership_role_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user} · {self.course.code} · {self.get_role_display()}"

    def clean(self) -> None:
        whole = self.user_id and self.course_id
        if whole and self.user.institution_id != self.course.institution_id:
            raise ValidationError(_("The person and the course belong to different institutions."))
