"""What form the answer to a question has, and whether a sentence has that form."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from chat.answering.figures import figures
from chat.answering.sentences import math_spans
from knowledge.retrieval.language import fold, stem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chat.answering.types import Evidence
    from knowledge.retrieval.types import Analysis

# Folded words, as they are compared with folded text.
_NUMBER_ASKED = re.compile(
    r"\b(?:combien|nombre|distance|taille|montant|prix|taux|ponderation|pourcentage|age|duree|"
    r"valeur|how many|how much|how long|percent\w*|amount|price|rate|weight|duration|value|"
    r"number)\b"
)
_QUANTITY_ASKED = re.compile(r"\b(?:combien|how (?:many|much|long|far|often))\b")
_DATE_ASKED = re.compile(
    r"\b(?:quand|annee|date|siecle|jour|heure|echeance|when|year|century|day|deadline|what time)\b"
)
_WHO_ASKED = re.compile(r"\b(?:qui|par qui|a qui|who|whom|whose)\b(?! est-ce)")
_WHY_ASKED = re.compile(r"\b(?:pourquoi|raisons?|causes?|why|reasons?)\b")
_FORMULA_ASKED = re.compile(
    r"\b(?:formules?|equations?|calcul\w*|exprim\w*|formulas?|formulae|comput\w*|express\w*)\b"
)
_SOLUTION_ASKED = re.compile(
    r"\b(?:solutions?|corriges?)\b.{0,30}\b(?:ateliers?|exercices?|workshops?|exercises?|donne\w*|"
    r"trouve\w*|gives?|finds?)\b|\b(?:corriges?|answer key)\b"
)
_EXERCISE_ASKED = re.compile(
    r"\b(?:exercices?|ateliers?|enonces?|solutions?|corrig\w*|exercises?|workshops?|problems?)\b"
)
_DATE = re.compile(
    r"\b(?:1[5-9]\d\d|20\d\d|siecle|century|janvier|fevrier|mars|avril|mai|juin|juillet|aout|"
    r"septembre|octobre|novembre|decembre|january|february|march|april|may|june|july|august|"
    r"september|october|november|december|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|"
    r"monday|tuesday|wednesday|thursday|friday|saturday|sunday|\d{1,2} ?h(?:eures?)?\d{0,2})\b"
)
_QUANTITY = re.compile(
    r"\d|\b(?:deux|trois|quatre|cinq|six|sept|huit|neuf|dix|onze|douze|treize|quatorze|quinze|seize|"
    r"vingt\w*|trente|quarante|cinquante|soixante|cents?|mille|millions?|milliards?|un seul|"
    r"une seule|aucune?|nulle?|moitie|tiers|quart|double|triple|triennal\w*|annuel\w*|mensuel\w*|"
    r"two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|"
    r"sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|"
    r"hundred|thousand|billions?|only one|none|half|third|quarter|twice|once)\b"
)
_NAME = re.compile(r"(?<=[a-zà-ÿ,;’'] )[A-ZÀ-Ý][a-zà-ÿ]+")
_BECAUSE = re.compile(
    r"\b(?:car|parce qu\w*|en raison|grace a|afin|puisqu\w*|permet\w*|pour \w+r|because|"
    r"due to|since|so that|in order|allows?)\b"
)
_DEFINES = re.compile(
    r"\b(?:est|sont|designe\w*|correspond\w* a|represente\w*|se definit|on appelle|on entend par|"
    r"mesure\w*|consiste\w*|is|are|refers? to|means?|denotes?|measures?|consists?|is defined|"
    r"we call)\b"
)
_DEFINITION_BOX = re.compile(r"^.{0,20}?\bdefinition\b[^:\n]{0,20}:")
_FORMULA_BOX = re.compile(r"^.{0,20}?\b(?:formule|formula|equation)\b[^:\n]{0,20}:")
_COMPARES = re.compile(
    r"\b(?:alors que|tandis que|contrairement|par rapport|plus|moins|differ\w*|au lieu|whereas|"
    r"while|unlike|than|rather|differs?|instead)\b"
)
# « 3. Calculez le versement. », "Explain the result.": a task, not an answer.
_TASK = re.compile(
    r"^\W*(?:\d+\s?[.)]\s*)?(?:(?:puis|ensuite|enfin) )?(?:(?!(?:chez|assez|rez)\b)[a-z]+ez\b|"
    r"(?:calculate|compute|determine|explain|compare|show|find|describe|estimate|discuss|give)\b)"
)
_OUTLINE = re.compile(
    r"^\W*(?:objectifs?|plan de (?:la )?(?:seance|presentation|cours)|plan$|sommaire|au programme|"
    r"ordre du jour|agenda|outline|(?:learning )?objectives?|overview|table des matieres)\b"
)

#: Words that say what is wanted of a subject and are no part of it.
_ASKING_WORDS = """
    définir définition définis signifie sens différence différer distinguer distingue comparer
    compare comparaison formule équation calculer calcule calcul expliquer fonctionne marche koi
    cest résumer quel quelle cours donne define definition meaning difference differ compare
    comparison distinguish formula equation calculate compute explain work works course summarize
"""
ASKING = frozenset(
    stem(fold(word), language) for word in _ASKING_WORDS.split() for language in ("fr", "en")
)


def form_match(analysis: Analysis, question: str, one: Evidence, text: str) -> float:
    """1 when `text` has the form of what is asked: a number, a date, a name, a cause, a definition,
    a formula, a comparison; 0 when it has not. `question` is folded."""
    flat = fold(text)
    if analysis.kind == "calculation" or _FORMULA_ASKED.search(question):
        math = any("=" in text[start:end] for start, end in math_spans(text))
        return 1.0 if math or _FORMULA_BOX.search(flat) else 0.0
    if analysis.kind == "definition":
        if one.term or is_definition(text):
            return 1.0
        return 0.5 if _DEFINES.search(flat) else 0.0
    if analysis.kind == "comparison":
        return 1.0 if _COMPARES.search(flat) else 0.0
    if _DATE_ASKED.search(question):
        return 1.0 if _DATE.search(flat) else 0.0
    if _NUMBER_ASKED.search(question) or analysis.kind == "data":
        return 1.0 if figures(text) else 0.0
    if _WHY_ASKED.search(question):
        return 1.0 if _BECAUSE.search(flat) else 0.0
    if _WHO_ASKED.search(question):
        return 1.0 if _NAME.search(text) else 0.0
    return 0.0


def must_hold(question: str, quotes: Sequence[str], kinds: Sequence[str]) -> bool:
    """Whether what is quoted can answer at all: a quantity asked for wants a number, and the
    solution of an exercise a passage of a solution. `question` is folded; `kinds` are those of the
    chunks."""
    if _QUANTITY_ASKED.search(question) and not any(_QUANTITY.search(fold(q)) for q in quotes):
        return False
    return _SOLUTION_ASKED.search(question) is None or "solution" in kinds


def is_definition(text: str) -> bool:
    """`text` is a box that says of itself that it defines."""
    return _DEFINITION_BOX.search(fold(text)) is not None


def asks(text: str) -> bool:
    """`text` asks or sets a task, so it answers nothing."""
    return text.rstrip('»”" ').endswith("?") or _TASK.search(fold(text)) is not None


def is_outline(title: str) -> bool:
    """A slide of objectives or a plan: it names every subject and says nothing of any."""
    return _OUTLINE.search(fold(title)) is not None


def asks_for_exercise(analysis: Analysis, question: str) -> bool:
    """The question is about an exercise, so that the statement of one may answer it."""
    named = analysis.exercise is not None or analysis.workshop is not None
    return named or _EXERCISE_ASKED.search(question) is not None
