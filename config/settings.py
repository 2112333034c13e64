"""All settings, from environment variables alone. The README's table lists every variable.

Without any variable this is the embedded default: SQLite, files, key and logs under
`PREUVE_DATA_DIR` (`var/`), a private Redis socket there, loopback hosts only. Naming a database
or other hosts leaves the embedded default, and then a secret key must be given.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import gettext_lazy as _

BASE_DIR = Path(__file__).resolve().parent.parent


def env(name: str, default: str = "") -> str:
    return os.environ.get(f"PREUVE_{name}", default).strip()


def env_bool(name: str, *, default: bool) -> bool:
    text = env(name, "1" if default else "0").lower()
    if text in {"1", "true", "yes", "on"}:
        return True
    if text in {"0", "false", "no", "off"}:
        return False
    msg = f"PREUVE_{name} must be 1 or 0, not {text!r}."
    raise ImproperlyConfigured(msg)


def env_int(name: str, default: int, *, least: int = 0) -> int:
    text = env(name, str(default))
    if not text.isdecimal() or int(text) < least:
        msg = f"PREUVE_{name} must be a whole number of at least {least}, not {text!r}."
        raise ImproperlyConfigured(msg)
    return int(text)


def env_list(name: str, default: str = "") -> list[str]:
    return [part.strip() for part in env(name, default).split(",") if part.strip()]


def own_key(path: Path) -> str:
    """The embedded default's key: made once, readable by its owner alone."""
    if not path.exists():
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(secrets.token_urlsafe(64))
    if path.stat().st_mode & 0o077:
        msg = f"{path} is readable by others; run: chmod 600 {path}"
        raise ImproperlyConfigured(msg)
    return path.read_text(encoding="ascii").strip()


def database(url: str) -> dict[str, object]:
    if not url:
        return {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": DATA_DIR / "preuve.sqlite3",
            "TEST": {"NAME": DATA_DIR / "test.sqlite3"},  # a file: streams use threads
            "OPTIONS": {
                "transaction_mode": "IMMEDIATE",
                "timeout": 20,
                "init_command": (
                    "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA secure_delete=ON;"
                ),
            },
        }
    parts = urlsplit(url)
    if parts.scheme not in {"postgres", "postgresql"} or not parts.path.strip("/"):
        msg = "PREUVE_DATABASE_URL must look like postgresql://user:password@host:port/name."
        raise ImproperlyConfigured(msg)
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": parts.path.strip("/"),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": parts.hostname or "",
        "PORT": str(parts.port or ""),
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
    }


DATA_DIR = Path(env("DATA_DIR") or BASE_DIR / "var").resolve()
DATA_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)

DATABASES = {"default": database(env("DATABASE_URL"))}
EMBEDDED = not env("DATABASE_URL") and not env("ALLOWED_HOSTS")
ALLOWED_HOSTS = env_list("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]")
DEBUG = env_bool("DEBUG", default=False)
HTTPS = env_bool("HTTPS", default=not EMBEDDED)

SECRET_KEY = env("SECRET_KEY")
if not SECRET_KEY:
    if not EMBEDDED:
        msg = (
            "PREUVE_SECRET_KEY is required once PREUVE_DATABASE_URL or PREUVE_ALLOWED_HOSTS is set:"
            " give 50 random characters or more."
        )
        raise ImproperlyConfigured(msg)
    SECRET_KEY = own_key(DATA_DIR / "secret-key")
if len(SECRET_KEY) < 50 or len(set(SECRET_KEY)) < 5 or SECRET_KEY.startswith("django-insecure"):
    msg = "PREUVE_SECRET_KEY is too weak: give 50 random characters or more."
    raise ImproperlyConfigured(msg)

INSTALLED_APPS = [
    "config.apps.PreuveAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "rest_framework.authtoken",
    "drf_spectacular",
    "axes",
    "courses",
    "knowledge",
    "ingestion",
    "chat",
    "evaluation",
]

MIDDLEWARE = [
    "config.logs.RequestIdMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "config.urls"
ASGI_APPLICATION = "config.asgi.application"
AUTH_USER_MODEL = "courses.User"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

# Sign-in, sessions, transport
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "courses.sign_in.PersonBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 12},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "sign_in"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "sign_in"
AXES_FAILURE_LIMIT = env_int("SIGN_IN_ATTEMPTS", 5, least=1)
AXES_COOLOFF_TIME = 0.25  # hours
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_ON_SUCCESS = True
AXES_LOCKOUT_TEMPLATE = "pages/locked_out.html"
AXES_ENABLE_ADMIN = False
AXES_IPWARE_PROXY_COUNT = env_int("PROXIES", 0) or None
SESSION_COOKIE_SECURE = HTTPS
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SECURE = HTTPS
CSRF_COOKIE_HTTPONLY = True
CSRF_TRUSTED_ORIGINS = env_list("TRUSTED_ORIGINS")
SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^healthz$"]
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
SECURE_HSTS_PRELOAD = HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if env_int("PROXIES", 0) else None
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'"],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        "form-action": ["'self'"],
        "base-uri": ["'none'"],
        "frame-ancestors": ["'none'"],
    },
}

# Words and times
LANGUAGE_CODE = "fr"
LANGUAGES = [("fr", _("French")), ("en", _("English"))]
LOCALE_PATHS = [BASE_DIR / "locale"]
TIME_ZONE = env("TIME_ZONE", "America/Toronto")
USE_TZ = True

# Files
STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = DATA_DIR / "static"
MEDIA_ROOT = DATA_DIR / "files"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
WHITENOISE_USE_FINDERS = DEBUG
FILE_UPLOAD_PERMISSIONS = 0o600
FILE_UPLOAD_DIRECTORY_PERMISSIONS = 0o700
UPLOAD_MAX_BYTES = env_int("UPLOAD_MAX_MB", 50, least=1) * 1024 * 1024
DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
ARCHIVE_MAX_BYTES = env_int("ARCHIVE_MAX_MB", 400, least=1) * 1024 * 1024
ARCHIVE_MAX_FILES = env_int("ARCHIVE_MAX_FILES", 5000, least=1)

# Questions
QUESTION_MAX_CHARACTERS = env_int("QUESTION_MAX_CHARACTERS", 2000, least=50)
QUESTIONS_PER_MINUTE = env_int("QUESTIONS_PER_MINUTE", 30, least=1)
EMBEDDING_PROFILE = env("EMBEDDING_PROFILE", "e5-small")
EMBEDDING_MODEL = env("EMBEDDING_MODEL")
CHAT_PROFILE = env("CHAT_PROFILE", "extractive")

# Queue: the database is the truth, the broker a hint
REDIS_URL = env("REDIS_URL") or f"redis+socket://{DATA_DIR / 'run' / 'redis.sock'}"
CELERY_BROKER_URL = REDIS_URL
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 3600,
    "socket_connect_timeout": 2,
    "max_retries": 1,
}
CELERY_TASK_TIME_LIMIT = 3600
INGESTION_LEASE_SECONDS = env_int("INGESTION_LEASE_SECONDS", 30, least=2)
INGESTION_RESEND_SECONDS = env_int("INGESTION_RESEND_SECONDS", 10, least=1)
CELERY_BEAT_SCHEDULE = {
    "resend-unfinished-runs": {
        "task": "ingestion.tasks.resend_unfinished",
        "schedule": INGESTION_RESEND_SECONDS,
    },
}
CELERY_BEAT_SCHEDULE_FILENAME = str(DATA_DIR / "beat-schedule")

# API
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "rest_framework.authentication.SessionAuthentication",
        "rest_framework.authentication.TokenAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": [
        "rest_framework.parsers.JSONParser",
        "rest_framework.parsers.MultiPartParser",
    ],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_PAGINATION_CLASS": "rest_framework.pagination.PageNumberPagination",
    "PAGE_SIZE": 50,
    "EXCEPTION_HANDLER": "config.errors.api_exception_handler",
    "DEFAULT_THROTTLE_RATES": {"sign_in": "20/min"},
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Preuve",
    "DESCRIPTION": "Courses answered with evidence.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.IsAuthenticated"],
}

CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"ids": {"()": "config.logs.IdsFilter"}},
    "formatters": {
        "event": {"format": "{asctime} {levelname} {name} [{request_id}] {message}", "style": "{"},
    },
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "formatter": "event",
            "filters": ["ids"],
        },
    },
    "root": {"handlers": ["stderr"], "level": env("LOG_LEVEL", "WARNING")},
    "loggers": {
        "preuve": {"level": env("LOG_LEVEL", "INFO"), "handlers": ["stderr"], "propagate": False},
    },
}
