"""The admin site: for instructors and administrators; students never enter it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.admin import AdminSite
from django.contrib.auth.forms import AuthenticationForm
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from courses.models import Course

if TYPE_CHECKING:
    from django.http import HttpRequest

    from courses.models import Person, User


def may_enter(user: Person) -> bool:
    """Administrators, and people who teach a course now. `is_staff` alone opens nothing."""
    if not user.is_active or not user.is_authenticated:
        return False
    return bool(getattr(user, "is_superuser", False)) or (Course.objects.editable_by(user).exists())


class AdminSignInForm(AuthenticationForm):
    def confirm_login_allowed(self, user: User) -> None:
        super().confirm_login_allowed(user)
        if not may_enter(user):
            raise ValidationError(
                _("This account teaches no course: sign in on the students' page instead."),
                code="not_admitted",
            )


class PreuveAdminSite(AdminSite):
    site_header = _("Preuve administration")
    site_title = "Preuve"
    index_title = _("Courses, sources and runs")

    login_form = AdminSignInForm

    def has_permission(self, request: HttpRequest) -> bool:
        return may_enter(request.user)
