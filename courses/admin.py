"""Administration of people and courses, and the rule that other apps' admin pages follow.

Instructors see what belongs to the courses they teach, through `editable_by`. Administrators see
all rows of institutions, courses and people; on content they see metadata alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.forms import AdminUserCreationForm
from django.utils.translation import gettext_lazy as _

from courses.models import Course, Institution, Membership, User

if TYPE_CHECKING:
    from django.db.models import ForeignKey, Model, QuerySet
    from django.forms import ModelChoiceField
    from django.http import HttpRequest


class AdministratorsOnly(admin.ModelAdmin):
    """Rows that only administrators of the whole site see and change."""

    def has_module_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_superuser)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return bool(request.user.is_superuser)

    has_change_permission = has_view_permission
    has_delete_permission = has_view_permission

    def has_add_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_superuser)


class TaughtAdmin(admin.ModelAdmin):
    """Rows of the courses one teaches. Deny by default: a row outside `editable_by` is not there.

    `limited` names foreign keys whose choices are cut to what the person may edit.
    """

    limited: ClassVar[tuple[str, ...]] = ()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        queryset = super().get_queryset(request)
        return queryset.filter(pk__in=self._mine(request).values("pk"))

    def _mine(self, request: HttpRequest) -> QuerySet[Any]:
        return self.model.objects.editable_by(request.user)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.admin_site.has_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        if not self.admin_site.has_permission(request):
            return False
        return obj is None or self.get_queryset(request).filter(pk=obj.pk).exists()

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        if obj is None:
            return self.admin_site.has_permission(request)
        return self._mine(request).filter(pk=obj.pk).exists()

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self.has_change_permission(request, obj)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self.admin_site.has_permission(request)

    def formfield_for_foreignkey(
        self, db_field: ForeignKey[Any, Any], request: HttpRequest, **kwargs: Any
    ) -> ModelChoiceField[Any] | None:
        if db_field.name in self.limited:
            managed: Any = db_field.related_model
            kwargs["queryset"] = managed.objects.editable_by(request.user)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)


@admin.register(Institution)
class InstitutionAdmin(AdministratorsOnly):
    list_display = ("slug", "name", "cross_course_search")


@admin.register(User)
class PersonAdmin(AdministratorsOnly, UserAdmin):
    list_display = ("username", "institution", "is_active", "is_superuser")
    list_filter = ("institution", "is_active", "is_superuser")
    add_form = AdminUserCreationForm
    fieldsets = (
        (None, {"fields": ("username", "password", "institution")}),
        (_("Name"), {"fields": ("first_name", "last_name", "email")}),
        (_("Rights"), {"fields": ("is_active", "is_superuser")}),
        (_("Dates"), {"fields": ("last_login", "date_joined")}),
    )
    add_fieldsets = (
        (
            None,
            {"fields": ("username", "institution", "usable_password", "password1", "password2")},
        ),
    )
    filter_horizontal = ()


@admin.register(Course)
class CourseAdmin(TaughtAdmin):
    list_display = ("code", "title", "institution", "language", "answer_policy", "admission_rule")
    search_fields = ("code", "title")

    def _mine(self, request: HttpRequest) -> QuerySet[Course]:
        if request.user.is_superuser:
            return Course.objects.all()
        return Course.objects.editable_by(request.user)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_superuser)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return bool(request.user.is_superuser)

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> list[str]:
        if request.user.is_superuser:
            return ["institution"] if obj else []
        return ["institution", "code", "chat_profile"]


@admin.register(Membership)
class MembershipAdmin(TaughtAdmin):
    list_display = ("user", "course", "role", "active")
    list_filter = ("role", "active")
    search_fields = ("user__username", "course__code")
    raw_id_fields = ()

    def formfield_for_foreignkey(
        self, db_field: ForeignKey[Any, Any], request: HttpRequest, **kwargs: Any
    ) -> ModelChoiceField[Any] | None:
        """People and courses of the person's own institution alone."""
        person: Any = request.user
        if not person.is_superuser:
            if db_field.name == "course":
                kwargs["queryset"] = Course.objects.editable_by(request.user)
            elif db_field.name == "user":
                kwargs["queryset"] = User.objects.filter(institution_id=person.institution_id)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)
