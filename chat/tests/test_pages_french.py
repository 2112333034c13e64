"""The French interface is complete, and compiled from the file that people edit."""

import ast
import gettext
import re
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "locale" / "fr" / "LC_MESSAGES"
ENTRY = re.compile(
    r'^msgid (?P<id>(?:".*"\n)+)(?:msgid_plural (?:".*"\n)+)?'
    r'(?P<strings>(?:msgstr.*\n(?:".*"\n)*)+)',
    re.MULTILINE,
)


def joined(quoted):
    return "".join(ast.literal_eval(part) for part in re.findall(r'"(?:[^"\\]|\\.)*"', quoted))


def entries():
    text = (FOLDER / "django.po").read_text(encoding="utf-8") + "\n"
    for entry in ENTRY.finditer(text):
        yield (
            joined(entry["id"]),
            re.split(r"^msgstr(?:\[\d\])? ", entry["strings"], flags=re.M)[1:],
        )


def test_every_string_has_its_french():
    found = [(english, french) for english, french in entries() if english]
    assert len(found) > 200
    assert not [english for english, french in found if not all(joined(one) for one in french)]


def test_the_compiled_catalogue_is_that_of_the_source():
    with (FOLDER / "django.mo").open("rb") as file:
        compiled = gettext.GNUTranslations(file)
    for english, french in entries():
        if english and len(french) == 1:
            assert compiled.gettext(english) == joined(french[0])


def test_no_placeholder_is_lost_in_translation():
    for english, french in entries():
        for one in french if english else []:
            pattern = r"%\(\w+\)[sd]|\{\w+\}"
            assert set(re.findall(pattern, english)) <= set(re.findall(pattern, one)), english
