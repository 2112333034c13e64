"""Settings come from the environment alone and fail closed."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STRONG = "k3y" * 20 + "0123456789"


def load(tmp_path, code="print('ok')", **variables):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PREUVE_")}
    environment |= {"PREUVE_DATA_DIR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "config.settings"}
    environment |= {f"PREUVE_{name}": value for name, value in variables.items()}
    script = f"from django.conf import settings; settings.SECRET_KEY; {code}"
    return subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_embedded_default_makes_its_own_key_readable_by_its_owner_alone(tmp_path):
    first = load(tmp_path, "print(settings.SECRET_KEY)")
    second = load(tmp_path, "print(settings.SECRET_KEY)")
    assert first.stdout == second.stdout
    assert len(first.stdout.strip()) >= 50
    assert stat.S_IMODE((tmp_path / "secret-key").stat().st_mode) == 0o600


def test_a_key_that_others_can_read_is_refused(tmp_path):
    load(tmp_path)
    (tmp_path / "secret-key").chmod(0o644)
    assert "chmod 600" in load(tmp_path).stderr


@pytest.mark.parametrize(
    "variables",
    [
        {"ALLOWED_HOSTS": "preuve.example"},
        {"DATABASE_URL": "postgresql://u:p@localhost/preuve"},
        {"ALLOWED_HOSTS": "preuve.example", "SECRET_KEY": "short"},
        {"SECRET_KEY": "a" * 60},
        {"SECRET_KEY": "django-insecure-" + STRONG},
        {"DEBUG": "perhaps"},
        {"QUESTIONS_PER_MINUTE": "-1"},
        {"DATABASE_URL": "mysql://x/y", "SECRET_KEY": STRONG},
    ],
)
def test_nonsense_stops_the_start_with_the_name_of_the_variable(tmp_path, variables):
    done = load(tmp_path, **variables)
    assert done.returncode != 0
    assert "ImproperlyConfigured: PREUVE_" in done.stderr


def test_debug_is_off_and_transport_is_strict_outside_the_embedded_default(tmp_path):
    show = "print(settings.DEBUG, settings.SESSION_COOKIE_SECURE, settings.SECURE_SSL_REDIRECT)"
    assert load(tmp_path, show).stdout.split() == ["False", "False", "False"]
    strict = load(tmp_path, show, ALLOWED_HOSTS="preuve.example", SECRET_KEY=STRONG)
    assert strict.stdout.split() == ["False", "True", "True"]


def test_check_deploy_is_clean_outside_the_embedded_default(tmp_path):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PREUVE_")}
    environment |= {
        "PREUVE_DATA_DIR": str(tmp_path),
        "PREUVE_ALLOWED_HOSTS": "preuve.example",
        "PREUVE_SECRET_KEY": STRONG + "abcdefghij!?",
    }
    done = subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_the_default_start_imports_neither_torch_nor_sentence_transformers(tmp_path):
    code = (
        "import django; django.setup(); import config.urls, config.asgi, sys;"
        "from knowledge.index import default_profile; default_profile().embed_queries(['a']);"
        "print(sorted({'torch', 'sentence_transformers', 'transformers'} & set(sys.modules)))"
    )
    done = load(tmp_path, code)
    assert done.stdout.strip() == "[]", done.stderr
