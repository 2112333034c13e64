"""A token for programs, against a password, throttled like any sign-in."""

from __future__ import annotations

from rest_framework.authtoken.views import ObtainAuthToken
from rest_framework.throttling import AnonRateThrottle


class SignInThrottle(AnonRateThrottle):
    scope = "sign_in"


class TokenView(ObtainAuthToken):
    throttle_classes = (SignInThrottle,)
