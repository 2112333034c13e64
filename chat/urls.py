"""The addresses of the pages."""

from django.contrib.auth.views import LoginView, LogoutView
from django.urls import path, register_converter
from django.urls.converters import StringConverter
from django.views.decorators.http import require_POST
from django.views.i18n import set_language

from chat import views


class TagConverter(StringConverter):
    """The tag of an evidence: S1, S2, …"""

    regex = r"S\d{1,4}"


register_converter(TagConverter, "tag")

urlpatterns = [
    path("", views.home, name="home"),
    path(
        "sign-in/",
        LoginView.as_view(template_name="pages/sign_in.html", redirect_authenticated_user=True),
        name="sign_in",
    ),
    path("sign-out/", LogoutView.as_view(), name="sign_out"),
    path("language/", require_POST(set_language), name="set_language"),
    path("courses/<int:pk>/", views.course, name="course"),
    path("courses/<int:pk>/conversations/", views.new_conversation, name="new_conversation"),
    path("conversations/<int:pk>/", views.conversation, name="conversation"),
    path("conversations/<int:pk>/ask/", views.ask, name="ask"),
    path("conversations/<int:pk>/spaces/", views.conversation_spaces, name="conversation_spaces"),
    path("conversations/<int:pk>/delete/", views.delete_conversation, name="delete_conversation"),
    path("turns/<int:pk>/", views.turn, name="turn"),
    path("turns/<int:pk>/events/", views.turn_events, name="turn_events"),
    path("turns/<int:pk>/sources/<tag:tag>/", views.source, name="source"),
]
