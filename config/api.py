"""The REST API: the same verbs and the same permission as the pages."""

from django.urls import include, path
from rest_framework.routers import DefaultRouter

from chat.api import ConversationViewSet, TurnViewSet
from config.tokens import TokenView
from courses.api import CourseViewSet
from ingestion.api import RunViewSet
from knowledge.api import DocumentViewSet

router = DefaultRouter()
router.include_root_view = False
router.register("courses", CourseViewSet, basename="api-course")
router.register("conversations", ConversationViewSet, basename="api-conversation")
router.register("turns", TurnViewSet, basename="api-turn")
router.register("documents", DocumentViewSet, basename="api-document")
router.register("runs", RunViewSet, basename="api-run")

urlpatterns = [
    path("token/", TokenView.as_view(), name="api_token"),
    path("", include(router.urls)),
]
