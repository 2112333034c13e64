from django.contrib.admin.apps import AdminConfig


class PreuveAdminConfig(AdminConfig):
    default_site = "config.admin.PreuveAdminSite"
