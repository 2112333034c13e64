"""The pages: courses, conversations, questions and sources. Plain forms first; one script adds to
them. What is missing and what is forbidden answer alike: 404."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST
from rest_framework.exceptions import Throttled

from chat import ask as asking
from chat import streams
from chat.models import Conversation, Turn
from chat.presenting import panel, present, tags_of
from courses.models import Course, Membership
from knowledge.models import Document, Space, SpaceKind

if TYPE_CHECKING:
    from django.http.response import HttpResponseBase

    from courses.models import User

    class SignedIn(HttpRequest):
        user: User


EVENTS = "text/event-stream"
CONVERSATIONS_SHOWN = 100
TURNS_SHOWN = 25


@dataclass(frozen=True, slots=True)
class Chip:
    """One space that a question searches. `kind` is own, other, private, library or files."""

    label: str
    kind: str


@login_required
@never_cache
@require_GET
def home(request: SignedIn) -> HttpResponse:
    """My courses, and the conversations that I left last."""
    courses = Course.objects.visible_to(request.user)
    memberships = Membership.objects.visible_to(request.user).filter(
        active=True, course__in=courses
    )
    recent = Conversation.objects.visible_to(request.user).filter(turns__isnull=False)
    return _page(
        request,
        "pages/home.html",
        memberships=memberships.select_related("course__institution"),
        recent=recent.select_related("course").distinct()[:5],
    )


@login_required
@never_cache
@require_GET
def course(request: SignedIn, pk: int) -> HttpResponse:
    found = get_object_or_404(Course.objects.visible_to(request.user), pk=pk)
    conversations = Conversation.objects.visible_to(request.user).filter(course=found)
    asked = conversations.annotate(questions=Count("turns")).filter(questions__gt=0)
    return _page(
        request, "pages/course.html", course=found, conversations=asked[:CONVERSATIONS_SHOWN]
    )


@login_required
@never_cache
@require_POST
def new_conversation(request: SignedIn, pk: int) -> HttpResponse:
    """An empty conversation of the course: the one that is there already, or a new one."""
    found = get_object_or_404(Course.objects.visible_to(request.user), pk=pk)
    mine = Conversation.objects.visible_to(request.user).filter(course=found)
    empty = mine.filter(turns__isnull=True).first()
    opened = empty or Conversation.open(user=request.user, course=found)
    return redirect("conversation", pk=opened.pk)


@login_required
@never_cache
@require_GET
def conversation(request: SignedIn, pk: int) -> HttpResponse:
    return _conversation_page(request, _conversation(request, pk))


@login_required
@never_cache
@require_POST
def conversation_spaces(request: SignedIn, pk: int) -> HttpResponse:
    """Which of my own spaces this conversation searches too."""
    found = _conversation(request, pk)
    offered = _offered(request.user, found)
    found.use_library = "library" in offered and "library" in request.POST
    found.use_private = "private" in offered and "private" in request.POST
    found.save(update_fields=["use_library", "use_private"])
    return redirect("conversation", pk=found.pk)


@login_required
@never_cache
@require_POST
def delete_conversation(request: SignedIn, pk: int) -> HttpResponse:
    found = _conversation(request, pk)
    asking.erase(found)
    messages.success(request, _("The conversation and its files were erased."))
    return redirect("course", pk=found.course_id)


@login_required
@never_cache
@require_POST
def ask(request: SignedIn, pk: int) -> HttpResponseBase:
    """Answers as a stream to who accepts one; otherwise in full, on the conversation's page."""
    found = _conversation(request, pk)
    question = request.POST.get("question", "")
    streamed = request.get_preferred_type(["text/html", EVENTS]) == EVENTS
    try:
        streams.throttle(request.user)
        turn = asking.begin(conversation=found, question=question)
    except Throttled as error:
        wait = int(error.wait or 0) + 1  # type: ignore[attr-defined]
        detail = ngettext(
            "Too many questions in a short time. Try again in %(wait)d second.",
            "Too many questions in a short time. Try again in %(wait)d seconds.",
            wait,
        ) % {"wait": wait}
        response = _not_taken(
            request, found, detail, HTTPStatus.TOO_MANY_REQUESTS, streamed=streamed
        )
        response["Retry-After"] = str(wait)
        return response
    except asking.AskError as error:
        return _not_taken(
            request, found, error.user_message, HTTPStatus.BAD_REQUEST, streamed=streamed
        )
    if streamed:
        return streams.stream(turn, request.user)
    for _event in asking.answer_question(turn, request.user):
        pass
    return redirect(f"{reverse('conversation', args=[found.pk])}#turn-{turn.ordinal}")


@login_required
@never_cache
@require_GET
def turn(request: SignedIn, pk: int) -> HttpResponse:
    """One turn as a part of a page."""
    found = get_object_or_404(Turn.objects.visible_to(request.user), pk=pk)
    (shown,) = present([found], request.user)
    return render(request, "_partials/turn.html", {"shown": shown})


@login_required
@never_cache
@require_GET
def turn_events(request: SignedIn, pk: int) -> HttpResponseBase:
    found = get_object_or_404(Turn.objects.visible_to(request.user), pk=pk)
    return streams.replay(found, request.user)


@login_required
@never_cache
@require_GET
def source(request: SignedIn, pk: int, tag: str) -> HttpResponse:
    """What stands behind [S1]: a part of a page when fetched by the script, else a page."""
    turns = Turn.objects.visible_to(request.user).select_related("conversation__course")
    found = get_object_or_404(turns, pk=pk)
    tags = tags_of(found, request.user)
    fetched = request.headers.get("X-Requested-With") == "fetch"
    context: dict[str, Any] = {"turn": found, "tag": tag, "tags": tags, "fetched": fetched}
    if tag not in tags:
        raise Http404
    context["panel"] = panel(found, tag, request.user)
    if fetched:
        return render(request, "_partials/source.html", context)
    return _page(request, "pages/source.html", conversation=found.conversation, **context)


def _conversation(request: SignedIn, pk: int) -> Conversation:
    conversations = Conversation.objects.visible_to(request.user)
    return get_object_or_404(conversations.select_related("course__institution"), pk=pk)


def _conversation_page(
    request: SignedIn,
    found: Conversation,
    *,
    question: str = "",
    problem: str = "",
    status: int = HTTPStatus.OK,
) -> HttpResponse:
    turns = Turn.objects.visible_to(request.user).filter(conversation=found)
    before = request.GET.get("before", "")
    if before.isdecimal():
        turns = turns.filter(ordinal__lt=int(before[:9]))
    last = list(turns.order_by("-ordinal")[: TURNS_SHOWN + 1])
    return _page(
        request,
        "pages/conversation.html",
        status=status,
        conversation=found,
        course=found.course,
        turns=present(last[:TURNS_SHOWN][::-1], request.user),
        earlier=last[TURNS_SHOWN - 1].ordinal if len(last) > TURNS_SHOWN else None,
        chips=chips(request.user, found),
        offered=_offered(request.user, found),
        question=question,
        problem=problem,
    )


def chips(user: User, conversation: Conversation) -> list[Chip]:
    """The spaces that the next question of this conversation searches."""
    spaces = Space.objects.visible_to(user, conversation).select_related("course")
    found: list[Chip] = []
    for space in spaces:
        if space.kind == SpaceKind.OFFICIAL and space.course:
            own = space.course_id == conversation.course_id
            label = _("Course %(code)s") % {"code": space.course.code}
            found.append(Chip(label, "own" if own else "other"))
        elif space.kind == SpaceKind.PRIVATE:
            found.append(Chip(_("Private material"), "private"))
        elif space.kind == SpaceKind.LIBRARY:
            found.append(Chip(_("My library"), "library"))
    files = Document.objects.visible_to(user, conversation).filter(space=conversation.space_id)
    if files.exists():
        found.append(Chip(_("Files of this conversation"), "files"))
    order = ["own", "other", "private", "library", "files"]
    return sorted(found, key=lambda chip: (order.index(chip.kind), chip.label))


def _offered(user: User, found: Conversation) -> set[str]:
    """The spaces that may be switched on in this conversation."""
    spaces = Space.objects.visible_to(user)
    kinds = set(spaces.filter(kind=SpaceKind.LIBRARY).values_list("kind", flat=True))
    private = spaces.filter(kind=SpaceKind.PRIVATE, course=found.course_id)
    kinds |= set(private.values_list("kind", flat=True))
    names = {SpaceKind.LIBRARY: "library", SpaceKind.PRIVATE: "private"}
    return {names[SpaceKind(kind)] for kind in kinds}


def _not_taken(
    request: SignedIn, found: Conversation, detail: str, status: HTTPStatus, *, streamed: bool
) -> HttpResponse:
    """A question that was not taken. The page keeps what the person typed."""
    if streamed:
        return JsonResponse({"detail": detail}, status=status)
    question = request.POST.get("question", "")
    return _conversation_page(request, found, question=question, problem=detail, status=status)


def _page(
    request: SignedIn, template: str, *, status: int = HTTPStatus.OK, **context: Any
) -> HttpResponse:
    """A page with its frame, which shows the administration to those whom it admits."""
    user = request.user
    context["manages"] = user.is_superuser or Course.objects.editable_by(user).exists()
    return render(request, template, context, status=status)
