"""What a file is: its kind, session and number, from its path, its titles and its content."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass

from ingestion.parsing.labels import bare

_TOKENS: tuple[tuple[str, str], ...] = (
    ("exam", ("exam exams examen examens examination partiel partiels intra intras final finals "
     "midterm midterms blueprint blueprints quiz quizz quizzes interro interrogation controle "
     "epreuve epreuves rattrapage ds devoirsurveille test tests")),
    ("solution", ("solution solutions sol soln corrige corriges correction corrections correctif "
     "answer answers reponse reponses solutionnaire corr")),
    ("workshop", ("atelier ateliers workshop workshops exercice exercices exercise exercises exo "
     "exos td tds tp tps lab labs serie feuille worksheet devoir devoirs homework hw assignment "
     "enonce enonces travail practical tutorial")),
    ("glossary", "glossaire glossaires glossary lexique lexicon terminologie acronymes acronyms"),
    ("cheat_sheet", ("memo aidememoire aide-memoire cheatsheet cheat formulaire formulaires "
     "formulary antiseche synthese resume fiche fiches refcard")),
    ("plan", "plan plans syllabus outline plandecours calendrier schedule agenda presentation-du-cours"),  # noqa: E501
    ("slides", "slides slide diapos diapo diapositives seance lecture deck beamer presentation"),
)  # fmt: skip
_KIND = {token: kind for kind, tokens in _TOKENS for token in tokens.split()}
_ALONE = {"final", "finals", "test", "tests", "ds", "corr", "sol", "controle", "resume", "travail",
          "epreuve", "feuille", "serie", "memo"}  # fmt: skip
_TWO = {
    ("aide", "memoire"): "cheat_sheet",
    ("cheat", "sheet"): "cheat_sheet",
    ("plan", "cours"): "plan",
    ("course", "outline"): "plan",
    ("td", "note"): "exam",
    ("devoir", "surveille"): "exam",
    ("examen", "blanc"): "exam",
    ("final", "exam"): "exam",
}
_SESSION_WORDS = (
    r"seances?|sessions?|cours|lectures?|lecons?|lessons?|weeks?|semaines?|modules?|chapitres?|"
    r"chapters?|chap|ch|seq|class|capsule|theme|unit|unite|partie|part|s|w"
)
_SESSION = re.compile(
    rf"(?:^|[^a-z0-9])(?:{_SESSION_WORDS})[\s._-]*(?:n[o°º]?\s*)?0*(\d{{1,3}})(?!\d)"
)
_TITLE_SESSION = re.compile(
    r"\b(?:seance|session|cours|lecture|lecon|lesson|week|semaine|module|chapitre|chapter|theme|"
    r"unit|unite|capsule)\s*(?:n[o°º.]*\s*)?#?0*(\d{1,3})\b"
)
_LEADING = re.compile(r"^0*(\d{1,3})(?=[\s._-])")
_NUMBER = re.compile(r"(?:^|[a-z\s._-])0*(\d{1,3})(?![\d]|[a-z]{3})")


@dataclass(frozen=True, slots=True)
class Looks:
    """What the content of a LaTeX or Markdown file shows."""

    frames: int = 0
    document_class: str = ""
    title: str = ""
    headings: tuple[str, ...] = ()
    glossary_entries: int = 0
    exercises: int = 0
    solutions: int = 0


def tokens(name: str) -> list[str]:
    """The words of a file or folder name, in lower case and without accents."""
    name = re.sub(r"(?<=[a-zà-ÿ])(?=[A-Z])|(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])", " ", name)
    return [token for token in re.split(r"[^a-z0-9]+", bare(name)) if token]


def kind_of(path: str, looks: Looks) -> str:
    """The kind of a document. Exams and solutions are recognised by name or by an article's title.

    A deck is an exam or a solution only when its file or folder says so in a word of its own.
    """
    named = kind_by_name(path)
    if looks.frames or looks.document_class in {"beamer", "powerdot", "seminar"}:
        return named if named in {"exam", "solution"} else "slides"
    if named in {"exam", "solution"}:
        return named
    titled = kind_by_words(looks.title)
    if titled in {"exam", "solution"}:
        return titled
    if named and named != "slides":
        return named
    if looks.glossary_entries:
        return "glossary"
    if titled and titled != "slides":
        return titled
    named_exercises = sum(1 for heading in looks.headings if re.match(
        r"(?:exercice|exercise|probleme|problem|question)\b", bare(heading)))  # fmt: skip
    if named_exercises and named_exercises * 2 >= len(looks.headings):
        return "workshop"
    if looks.exercises >= 2 and looks.exercises > len(looks.headings):
        return "workshop"
    return "article"


def kind_by_name(path: str) -> str:
    """The kind that the file name says, else the nearest folder; any folder may say « exam »."""
    parts = path.split("/")
    names = [re.sub(r"\.[A-Za-z0-9]{1,5}$", "", parts[-1]), *reversed(parts[:-1])]
    kinds = [kind_by_words(name) for name in names]
    for kind in ("exam", "solution"):
        if kind in kinds:
            return kind
    return next((kind for kind in kinds if kind), "")


def kind_by_words(text: str) -> str:
    """The kind that words say; « solution de l'examen » is an exam, « TD corrigé » a solution."""
    words = tokens(text)
    kinds = {_TWO[pair] for pair in itertools.pairwise(words) if pair in _TWO}
    kinds |= {_TWO[pair] for pair in zip(words, words[2:], strict=False) if pair in _TWO}
    kinds |= {_KIND[word] for word in words if word in _KIND}
    if sum(not word.isdigit() for word in words) > 1:
        # « final » or « test » names an exam alone, not in « projet final ».
        kinds -= {_KIND[word] for word in words if word in _ALONE}
        kinds |= {_KIND[word] for word in words if word in _KIND and word not in _ALONE}
    for kind, _ in _TOKENS:
        if kind in kinds:
            return kind
    return ""


def session_of(path: str, titles: str) -> int | None:
    """The session that the path or the titles name."""
    parts = path.split("/")
    name = bare(re.sub(r"\.[A-Za-z0-9]{1,5}$", "", parts[-1]))
    found = _SESSION.search(name)
    titled = _TITLE_SESSION.search(bare(titles))
    folder = next((m for part in reversed(parts[:-1]) if (m := _SESSION.search(bare(part)))), None)
    match = found or titled or folder
    return int(match.group(1)) if match else None


def number_of(path: str) -> int | None:
    """The number in a file's name: « atelier-2 », « 04_taux », « exam3 »."""
    name = bare(re.sub(r"\.[A-Za-z0-9]{1,5}$", "", path.split("/")[-1]))
    match = _LEADING.match(name + "-") or _NUMBER.search(name)
    return int(match.group(1)) if match else None
