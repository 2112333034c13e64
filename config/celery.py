"""The Celery application: JSON only, configured from Django's settings."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("preuve")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
