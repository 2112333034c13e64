"""Rules of the house that no library holds for us."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
APPS = ("config", "courses", "knowledge", "ingestion", "chat", "evaluation")
DOORS = {"views", "api", "forms", "streams", "presenting"}
ALLOWED = {"visible_to", "editable_by", "shown_to", "none"}


def sources(*apps):
    for app in apps:
        for path in sorted((ROOT / app).rglob("*.py")):
            if "tests" not in path.parts and "migrations" not in path.parts:
                yield path


def manager_calls(path):
    """(line, method) of each `Something.objects.method`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Attribute)
            and node.value.attr == "objects"
        ):
            yield node.lineno, node.attr


def test_doors_reach_rows_only_through_the_permission():
    doors = [path for path in sources(*APPS) if path.stem in DOORS]
    assert len(doors) >= 6
    wrong = [
        f"{path.relative_to(ROOT)}:{line} .objects.{method}"
        for path in doors
        for line, method in manager_calls(path)
        if method not in ALLOWED
    ]
    assert not wrong


def test_the_rule_above_sees_a_violation(tmp_path):
    bad = tmp_path / "views.py"
    bad.write_text("from m import M\nM.objects.filter(pk=1)\n", encoding="utf-8")
    assert list(manager_calls(bad)) == [(2, "filter")]


@pytest.mark.parametrize("word", ["pickle", "yaml.load", "eval(", "exec("])
def test_dangerous_calls_are_nowhere(word):
    for path in sources(*APPS):
        code = "\n".join(
            line for line in path.read_text(encoding="utf-8").splitlines() if "#" not in line
        )
        assert not re.search(rf"(?<![\w.]){re.escape(word)}", code), path


def test_text_is_marked_safe_only_by_presenting_and_previews():
    marking = {
        str(path.relative_to(ROOT))
        for path in sources(*APPS)
        if "mark_safe(" in path.read_text(encoding="utf-8")
    }
    assert marking <= {"chat/presenting.py", "knowledge/admin.py"}
    for template in (ROOT / "templates").rglob("*.html"):
        assert "|safe" not in template.read_text(encoding="utf-8"), template


def test_no_room_is_named_after_nothing():
    vague = {"utils", "helpers", "common", "core", "services", "selectors"}
    for path in sources(*APPS):
        assert path.stem not in vague, path
        assert not vague & set(path.relative_to(ROOT).parts), path


LONG = {
    "knowledge/models.py": "the permission stands beside the models it speaks of",
    "knowledge/rendering/dialect.py": "one table of what TeX writes and MathML does not know",
    "knowledge/retrieval/sqlite.py": "one engine, one class",
    "ingestion/parsing/latex/vocabulary.py": "one table of names",
    "ingestion/parsing/latex/expand.py": "one machine: its steps share their state",
    "ingestion/parsing/latex/definitions.py": "one handler for each way to define something",
    "ingestion/parsing/latex/masking.py": "one scanner: its forms share their state",
    "ingestion/parsing/latex/structure.py": "one handler for each structural command",
}


def test_a_file_over_400_lines_has_a_reason():
    long = {
        str(path.relative_to(ROOT))
        for path in sources(*APPS)
        if path.read_text(encoding="utf-8").count("\n") > 400
    }
    assert long <= set(LONG)


def test_the_readme_lists_every_setting():
    """The README's table against the variables that settings read."""
    settings = (ROOT / "config" / "settings.py").read_text(encoding="utf-8")
    read = set(re.findall(r'\benv(?:_bool|_int|_list)?\(\s*"([A-Z_]+)"', settings))
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| `PREUVE_([A-Z_]+)`", readme, re.MULTILINE))
    assert listed == read


def test_the_readme_names_every_room():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    rooms = [
        path.parent.relative_to(ROOT)
        for app in APPS
        for path in (ROOT / app).rglob("__init__.py")
        if not {"tests", "migrations", "management", "commands"} & set(path.parts)
    ]
    for room in rooms:
        if len(room.parts) <= 2:
            assert f"`{room}/" in readme, room
