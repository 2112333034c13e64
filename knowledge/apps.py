from django.apps import AppConfig
from django.db.models.signals import post_migrate, post_save
from django.utils.translation import gettext_lazy as _


class KnowledgeConfig(AppConfig):
    name = "knowledge"
    verbose_name = _("Sources and index")

    def ready(self) -> None:
        from knowledge import index, library  # noqa: PLC0415

        post_migrate.connect(index.ensure_engine, sender=self, dispatch_uid="engine_tables")
        post_save.connect(
            library.give_course_its_spaces, sender="courses.Course", dispatch_uid="course_spaces"
        )
