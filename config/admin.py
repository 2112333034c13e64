"""The admin site: for instructors and administrators; students never enter it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.admin import AdminSite
from django.utils.translation import gettext_lazy as _

from courses.models import Course

if TYPE_CHECKING:
    from django.http import HttpRequest


class PreuveAdminSite(AdminSite):
    site_header = _("Preuve administration")
    site_title = "Preuve"
    index_title = _("Courses, sources and runs")

    def has_permission(self, request: HttpRequest) -> bool:
        """Administrators, and people who teach a course now. `is_staff` alone opens nothing."""
        user = request.user
        if not user.is_active or not user.is_authenticated:
            return False
        return user.is_superuser or Course.objects.editable_by(user).exists()
