"""Numbers and their units in French and English prose and in mathematics."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from chat.answering.sentences import math_spans

if TYPE_CHECKING:
    from collections.abc import Iterable

_UNITS = {
    "%": "% pourcent pourcents percent pct \u2030",
    "$": "$ dollar dollars cad usd",
    "€": "€ euro euros eur",
    "£": "£ livres pounds gbp",
    "year": "an ans année années annee annees year years yr yrs",
    "month": "mois month months",
    "week": "semaine semaines week weeks",
    "day": "jour jours day days j",
    "hour": "heure heures hour hours h",
    "minute": "minute minutes min",
    "second": "seconde secondes second seconds s",
    "point": "point points pt pts",
    "m": "m mètre mètres metre metres meter meters",
    "km": "km kilomètre kilomètres kilometre kilometres kilometer kilometers",
    "cm": "cm",
    "mm": "mm",
    "m2": "m² m2",
    "ft2": "pi² pi2 ft² ft2",
    "ft": "pieds pied feet foot ft",
    "kg": "kg kilogrammes kilograms",
    "g": "g grammes grams",
    "degree": "° °c degrés degrees",
    "thousand": "mille millier milliers thousand k",
    "million": "million millions",
    "billion": "milliard milliards billion billions",
    "january": "janvier january",
    "february": "février fevrier february",
    "march": "mars march",
    "april": "avril april",
    "may": "mai may",
    "june": "juin june",
    "july": "juillet july",
    "august": "août aout august",
    "september": "septembre september",
    "october": "octobre october",
    "november": "novembre november",
    "december": "décembre decembre december",
}
#: The units that make a number a day of the year.
MONTHS = frozenset(
    """
    january february march april may june july august september october november december
    """.split()  # noqa: SIM905  a line of words reads better than quoted strings
)
_UNIT_OF = {word: unit for unit, words in _UNITS.items() for word in words.split()}
_SPACE = "[ \u00a0\u202f\u2009]"
_NUMBER = re.compile(
    f"(?P<before>[$€£])?{_SPACE}?(?<![\\w.,])"
    f"(?P<number>\\d{{1,3}}(?:{_SPACE}\\d{{3}})+(?:[.,]\\d+)?(?!\\d)|\\d+(?:[.,]\\d+)*)"
    f"(?:{_SPACE}*(?P<after>°C|[%$€£\u2030°]|pour{_SPACE}cent\\b|[^\\W\\d_]+[²2]?))?"
)
_LIST_MARKER = re.compile("(?m)^[ \\t]*(?:[-*•] )?\\(?\\d{1,3}[.)][ \\t]")


@dataclass(frozen=True, slots=True)
class Figure:
    """One number: all its readings (`1,234` is 1234 or 1.234) and its unit, empty if not known."""

    readings: frozenset[Decimal]
    unit: str


def figures(text: str, *, parts: bool = False) -> list[Figure]:
    """The numbers of `text`. With `parts`, `12 345` also counts as 12 and 345: cells of a table."""
    plain = _LIST_MARKER.sub(lambda m: " " * len(m.group()), _plain(text))
    found = []
    for match in _NUMBER.finditer(plain):
        unit = _unit(match["after"] or "") or _unit(match["before"] or "")
        found.append(Figure(_readings(match["number"]), unit))
        pieces = re.split(_SPACE, match["number"])
        if parts and len(pieces) > 1:
            found += [Figure(_readings(piece), "") for piece in pieces]
    return found


def unsupported(claim: str, sources: Iterable[str]) -> list[Figure]:
    """The figures of `claim` that no source holds with that unit; empty means all are there.

    A number that a source gives without a unit, as a table does under its header, holds if the
    source names the unit elsewhere.
    """
    wanted = figures(claim)
    if not wanted:
        return []
    texts = list(sources)
    given = [figure for text in texts for figure in figures(text, parts=True)]
    named = {figure.unit for figure in given} | {
        unit for text in texts for word in re.findall("[^\\W\\d_]+²?|[%$€£]", text)
        if (unit := _unit(word))
    }  # fmt: skip

    def held(figure: Figure) -> bool:
        same = [one for one in given if one.readings & figure.readings]
        if not figure.unit or not same:
            return bool(same)
        units = {one.unit for one in same}
        return figure.unit in units or ("" in units and figure.unit in named)

    return [figure for figure in wanted if not held(figure)]


def _unit(word: str) -> str:
    return _UNIT_OF.get(re.sub(_SPACE, "", word).lower(), "")


def _plain(text: str) -> str:
    """`text` without the delimiters of mathematics and without LaTeX's spacing inside numbers."""
    out = list(text)
    for start, end in math_spans(text):
        width = 2 if text.startswith("$$", start) else 1
        out[start : start + width] = " " * width
        out[end - width : end] = " " * width
    plain = "".join(out).replace("{,}", ",").replace("\\%", "%").replace("\\$", "$")
    return re.sub("(?<=\\d)(?:\\\\[,;: ]|~)(?=\\d)", "\u00a0", plain)


def _readings(number: str) -> frozenset[Decimal]:
    digits = re.sub(_SPACE, "", number)
    marks = re.findall("[.,]", digits)
    forms = {re.sub("[.,]", "", digits)} if _grouped(digits) else set()
    if not marks:
        forms.add(digits)
    elif len(marks) == 1:
        forms.add(digits.replace(",", "."))
    elif len(set(marks)) == 2 and marks.count(marks[-1]) == 1:  # 1,234.5 and 1.234,5
        whole, _, rest = digits.rpartition(marks[-1])
        forms.add(f"{re.sub('[.,]', '', whole)}.{rest}")
    return frozenset(Decimal(form).normalize() for form in forms)


def _grouped(digits: str) -> bool:
    return re.fullmatch("\\d{1,3}(?:,\\d{3})+|\\d{1,3}(?:\\.\\d{3})+", digits) is not None
