"""Which kind of box an environment or a title makes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ingestion.parsing.labels import bare
from ingestion.parsing.latex.macros import options_of

if TYPE_CHECKING:
    from ingestion.parsing.latex.macros import Definitions

# The first words of a title, or the parts of an environment's name, without accents.
_WORDS: dict[str, str] = {
    "definition": "definition definitions defn defns defi defin def dfn defs concept terminologie "
    "terminology vocabulaire vocabulary",
    "important": "important importante importants attention warning warnings retenir aretenir "
    "retain caution danger alerte alert takeaway takeaways alertbox keypoint keypoints pitfall "
    "rappelimportant goodpractice bestpractice essentiel memo",
    "example": "exemple exemples example examples exm exmp exemp exple illustration cas "
    "exampleblock examplebox xmpl",
    "formula": "formule formules formula formulas formulae equation equations formulebox",
    "theorem": "theorem theoreme theoremes theorems thm theo theor proposition propositions prop "
    "propriete proprietes property properties lemme lemmes lemma lemmas lem corollaire "
    "corollaires corollary cor coro fait fact axiome axiom conjecture postulat loi law principe "
    "principle regle rule resultat result",
    "remark": "remarque remarques remark remarks rem rmk rema note notes nota astuce astuces tip "
    "tips hint conseil conseils indication rappel rappels reminder commentaire comment info "
    "information observation",
    "exercise": "exercice exercices exercise exercises exo exos exer exr xexercice probleme "
    "problem question questions activite activity tache task application xdemoexo",
    "solution": "solution solutions sol solu corrige corriges correction corrections reponse "
    "reponses answer answers correctionenonce",
    "proof": "preuve proof demonstration dem pf",
}
_KIND = {word: kind for kind, words in _WORDS.items() for word in words.split()}
_IN_TITLES = {
    word: kind
    for kind, words in {
        "definition": "definition definitions",
        "important": "important importante attention warning retenir caution danger takeaway "
        "takeaways",
        "example": "exemple exemples example examples illustration",
        "formula": "formule formules formula formulas formulae",
        "remark": "remarque remarques remark remarks note notes astuce astuces tip tips",
        "exercise": "exercice exercices exercise exercises",
        "solution": "solution solutions corrige",
    }.items()
    for word in words.split()
}
_TWO_WORDS = {
    "a retenir": "important",
    "points cles": "important",
    "point cle": "important",
    "key point": "important",
    "key points": "important",
    "key idea": "important",
    "key takeaway": "important",
    "key takeaways": "important",
    "bonne pratique": "important",
    "good practice": "important",
    "best practice": "important",
    "mise en": "important",
    "ce qu'il faut retenir": "important",
    "a savoir": "important",
    "worked example": "example",
    "mot cle": "definition",
    "etude de": "example",
}
STANDARD = {
    "block": "block",
    "alertblock": "important",
    "exampleblock": "example",
    "beamerboxesrounded": "block",
    "tcolorbox": "block",
    "mdframed": "block",
    "colorblock": "block",
    "successblock": "block",
    "example": "example",
    "examples": "example",
    "definition": "definition",
    "definitions": "definition",
    "theorem": "theorem",
    "lemma": "theorem",
    "corollary": "theorem",
    "proposition": "theorem",
    "fact": "theorem",
    "problem": "exercise",
    "solution": "solution",
    "proof": "proof",
    "abstract": "block",
    "framed": "block",
    "titled-frame": "block",
    "awesomeblock": "block",
    "notebox": "remark",
    "warningblock": "important",
    "tipblock": "remark",
    "noteblock": "remark",
    "cautionblock": "important",
    "importantblock": "important",
}
_OURS = frozenset({"preuvebox", "preuvetheorem"})  # the reader's own: their names say nothing
_BOX_OPENED = re.compile(r"\\begin\s*\{\s*([^{}]+?)\s*\}")


def kind_of_name(name: str, stated: dict[str, str]) -> str:
    """The kind that preuve.toml states for an environment, or that its name says, or nothing."""
    if name in stated:
        return stated[name]
    if name in STANDARD:
        return STANDARD[name]
    plain = bare(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name))
    parts = [part for part in re.split(r"[^a-z]+", plain) if part]
    for part in [*parts, "".join(parts)]:
        stem = re.sub(
            r"^(?:my|mon|ma|the|la|le|l|x|env|box|boite|cadre|bloc|block)(?=[a-z]{4})", "", part
        )
        stem = re.sub(
            r"(?<=[a-z]{3})(?:box|boxed|boite|block|bloc|env|cadre|frame|star)$", "", stem
        )
        for candidate in (part, stem):
            if candidate in _KIND:
                return _KIND[candidate]
    return ""


def kind_of_title(title: str) -> str:
    """The kind that the first words of a title say, or nothing."""
    plain = bare(title).strip(" «»\"“”'’:.-–—")
    for start, kind in _TWO_WORDS.items():
        if plain.startswith(start):
            return kind
    first = re.match(r"[a-z]+", plain)
    return _IN_TITLES.get(first.group(), "") if first else ""


def kind_of_printed(printed: str) -> str:
    """The kind of the word a theorem-like environment prints (« Propriété », "Lemma")."""
    first = re.match(r"[a-z]+", bare(printed).strip())
    return _KIND.get(first.group(), "theorem") if first else "theorem"


def opens_box(begin: str, known: Definitions) -> bool:
    """Whether an environment's opening already opens a box that will be recognised."""
    for name in _BOX_OPENED.findall(begin):
        if name in STANDARD or name in known.boxes or name in known.theorems:
            return True
        inner = known.environments.get(name)
        if inner is not None and inner.begin != begin and opens_box(inner.begin, known):
            return True
    return False


def is_box(name: str) -> bool:
    """Whether beamer, tcolorbox or a theorem package knows this environment as a box."""
    return name in STANDARD


def decide(
    hint: str, environment: str, title: str, stated: dict[str, str], printed: str = ""
) -> str:
    """The kind of one box, from the strongest word to the weakest."""
    if hint and hint in stated:
        return stated[hint]
    if environment in stated:
        return stated[environment]
    standard = STANDARD.get(environment, "")
    for kind in (
        kind_of_name(hint, {}) if hint else "",
        kind_of_printed(printed) if printed else "",
        standard
        if standard != "block" and environment not in {"alertblock", "exampleblock"}
        else "",
        kind_of_title(title),
        kind_of_name(environment, {}) if environment not in {*STANDARD, *_OURS} else "",
        standard,
    ):
        if kind and kind != "block":
            return kind
    return "theorem" if printed else "block"


_PRINTED = {
    "fr": {
        "theorem": "Théorème", "lemma": "Lemme", "corollary": "Corollaire",
        "proposition": "Proposition", "fact": "Fait", "proof": "Preuve", "remark": "Remarque",
        "exercise": "Exercice", "problem": "Problème", "solution": "Solution",
        "property": "Propriété", "axiom": "Axiome",
    },
    "en": {
        "theorem": "Theorem", "lemma": "Lemma", "corollary": "Corollary",
        "proposition": "Proposition", "fact": "Fact", "proof": "Proof", "remark": "Remark",
        "exercise": "Exercise", "problem": "Problem", "solution": "Solution",
        "property": "Property", "axiom": "Axiom",
    },
}  # fmt: skip
_ROOTS = {
    "lem": "lemma", "cor": "corollary", "prop": "proposition", "fact": "fact", "fait": "fact",
    "prob": "problem", "propriete": "property", "axiom": "axiom",
}  # fmt: skip


def printed_name(name: str, kind: str, language: str) -> str:
    """The word that beamer or babel prints for a theorem-like environment."""
    words = _PRINTED["fr" if language.startswith("fr") else "en"]
    plain = bare(name)
    for root, word in sorted(_ROOTS.items(), key=lambda pair: -len(pair[0])):
        if plain.startswith(root):
            return words[word]
    return words.get(kind, "")


def title_in(options: str) -> str:
    """The title that the options of a tcolorbox-like box state; the last one counts."""
    fields = options_of(options)
    for key in ("title", "adjusted title", "frametitle"):
        if fields.get(key):
            return fields[key]
    return ""
