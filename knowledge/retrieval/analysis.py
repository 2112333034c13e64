"""What a question says by its words alone: place, kind, codes, glossary terms. No index is read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from knowledge.retrieval.language import (
    ENGLISH,
    FRENCH,
    MAX_QUERY_CHARACTERS,
    detect_language,
    fold,
    is_stop_word,
    normalise,
    query_terms,
    stem,
    tokens,
    words_of,
)
from knowledge.retrieval.types import Analysis, Bridge, GlossaryEntry, Term

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

DEFINITION = "definition"
CALCULATION = "calculation"
COMPARISON = "comparison"
DATA = "data"
LIST = "list"
OTHER = "other"

_UNITS_FR = words_of(
    "un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize "
    "dix-sept dix-huit dix-neuf vingt"
)
_UNITS_EN = words_of(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty"
)
_ORDINALS_FR = words_of(
    "premier deuxieme troisieme quatrieme cinquieme sixieme septieme huitieme neuvieme dixieme "
    "onzieme douzieme treizieme quatorzieme quinzieme"
)
_ORDINALS_EN = words_of(
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
    "fourteenth fifteenth"
)
_NUMBERS = {
    word: number
    for words in (_UNITS_FR, _UNITS_EN, _ORDINALS_FR, _ORDINALS_EN)
    for number, word in enumerate(words, 1)
} | {"premiere": 1, "seconde": 2, "une": 1}

_CARDINAL = "|".join(sorted([*_UNITS_FR, *_UNITS_EN], key=len, reverse=True))
_ORDINAL = "|".join([*_ORDINALS_FR, *_ORDINALS_EN, "premiere", "seconde"])
_PLACES = {  # name: (words of both languages, folded; largest number that makes sense)
    "session": (r"seances?|sessions?|lectures?|lecons?|lessons?", 99),
    "slide": (r"diapo(?:sitive)?s?|slides?|planches?|transparents?|frames?", 999),
    "page": (r"pages?|pp?\.", 9_999),
    "workshop": (r"ateliers?|workshops?|labs?|tds?|tps?", 99),
    "exercise": (r"exercices?|exercises?|exos?|problemes?|problems?", 99),
}


def _place_patterns(words: str) -> tuple[re.Pattern[str], ...]:
    return (
        # séance 4, diapo n° 18, slide #12, séance quatre
        re.compile(
            rf"(?<!\w)(?:{words})\s*(?:n\s?[o°]\.?|no\.?|numero|number|#)?\s*"
            rf"(?:(\d{{1,5}})(?![\w]|[.,]\d)|({_CARDINAL})(?!\w))"
        ),
        # 4e séance, 3rd slide, quatrième séance
        re.compile(
            rf"(?<!\w)(?:(\d{{1,4}})\s?(?:e|er|ere|re|eme|ieme|nde?|st|nd|rd|th)|({_ORDINAL}))"
            rf"\s+(?:{words})(?!\w)"
        ),
    )


_PLACE_PATTERNS = {name: _place_patterns(words) for name, (words, _) in _PLACES.items()}
_QUESTION_NUMBER = re.compile(
    r"(?<!\w)question\s*(?:n\s?[o°]\.?|no\.?|#)?\s*(\d{1,2})(?![\w]|[.,]\d)"
)

# Tried in this order: « la différence entre » wins over « qu'est-ce que ».
_KIND_WORDS = {
    COMPARISON: r"""
        differences? | differe(?:nts?|r)? | differs?
        | compar\w+ | distingu\w+ | par\ rapport\ a
        | plutot\ que | rather\ than | versus | vs | oppose\w*\ a | as\ opposed\ to | better\ than
        | mieux\ que | similarit\w+ | ressembl\w+""",
    CALCULATION: r"""
        calcul\w* | comput\w+ | comment\ (?:obtenir|trouver|determiner|evaluer)
        | formul(?:es?|as?|ae) | how\ (?:do|can|would)\ (?:i|we|you)\ (?:find|get|obtain|determine)
        | resou\w+ | solv\w+ | equations?""",
    DEFINITION: r"""
        defini\w* | defin(?:e|es|ed|ing) | qu'est[- ]ce\ qu(?:e|'\w+) | qu'entend-on\ par
        | c'est\ quoi | signifi\w+ | veut\ dire | qu'appelle-t-on | que\ nomme-t-on
        | what(?:'s|\ is)(?!\ the\ (?:rate|price|date|weight|best|order)\b) | what\ are(?!\ the)
        | what\ does\ \w+(?:\ \w+){0,4}\ mean | meaning\ of | sens\ du\ (?:mot|terme)
        | stands?\ for""",
    LIST: r"""
        quel(?:le)?s\ sont | enumer\w+ | list(?:e|er|ez|s)? | cite[rz]? | nomme[rz]?
        | etapes | steps | (?:types|kinds)\ of | which\ are | name\ (?:the|all|three|two|four)
        | combien\ de\ (?:types|sortes|methodes|etapes)
        | how\ many\ (?:types|kinds|methods|steps)""",
    DATA: r"""
        combien | how\ (?:much|many) | tableaux? | tables? | donnees | data | chiffres? | figures?
        | statistiques? | statistics | pourcentages? | percentages?
        | en\ quelle\ annee | quand | when
        | quel(?:le)?\ (?:est|etait)\ l[ea]?'?\ ?(?:taux|prix|montant|date|ponderation|note)
        | what(?:\ is\ the)?\ (?:rate|price|amount|percentage|date|year|weight)
        | a\ quelle\ (?:date|heure)""",
}
_KINDS = tuple(
    (kind, re.compile(rf"(?<!\w)(?:{pattern})(?!\w)", re.VERBOSE))
    for kind, pattern in _KIND_WORDS.items()
)

_CODE = re.compile(r"(?<![\w.])[^\W_]+(?:[-/][^\W_]+)*(?![\w])")
_SPACED_CODE = re.compile(r"(?<![\w.$])([A-Z]{3,5})[ \u00a0](\d{3,4})(?![\w%$€]|[.,]\d)")
_QUANTITY = re.compile(
    r"\d+(?:e|er|ere|re|eme|ieme|nde?|st|nd|rd|th|[a-zµ]{1,3}\d?)|\d{1,2}h\d{0,2}|\d{2,4}s"
)
# Stems of words that ask for a place's content without naming any subject.
_GENERIC = frozenset(
    stem(fold(word), language)
    for language, block in (
        (
            FRENCH,
            """résume résumer résumé montre montrer affiche contenu contient porte traite aborde
            couvre présente sujet thème cours détail formule exemple définition texte ouvre voir
            aller lire retrouver trouve énoncé correction réponse solution aide comprends""",
        ),
        (
            ENGLISH,
            """summarise summarize summary show display content contain say says cover topic
            course detail formula example definition text open see go read find statement solution
            answer help understand""",
        ),
    )
    for word in words_of(block)
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_CURRENCIES = frozenset({"CAD", "USD", "EUR", "GBP", "CHF", "AUD", "JPY"})


def analyse(
    question: str, *, default_language: str, glossary: Sequence[GlossaryEntry] = ()
) -> Analysis:
    """Everything the words of `question` say. Never raises on any text."""
    text = normalise(question[:MAX_QUERY_CHARACTERS])
    read = _SPACED_CODE.sub(_joined_code, text)
    language = detect_language(text, default_language)
    places, rest = _places(fold(read))
    said = bool(places) and any(_is_subject(word) for word in tokens(rest, language))
    precise = bool(places.keys() & {"slide", "page", "exercise"})
    alternatives = query_terms(rest if said and precise else read, language)
    found, bridges = _glossary(read, language, alternatives, glossary)
    expansions = dict.fromkeys(
        term[0] for bridge in bridges for term in bridge.phrase if term not in alternatives
    )
    return Analysis(
        question=text,
        language=language,
        kind=question_kind(text),
        terms=tuple(term[0] for term in alternatives),
        expansions=tuple(expansions),
        identifiers=identifiers(text),
        glossary=found,
        session=places.get("session"),
        slide=places.get("slide"),
        page=places.get("page"),
        workshop=places.get("workshop"),
        exercise=places.get("exercise"),
        alternatives=alternatives,
        bridges=bridges,
        pointer=bool(places) and not said,
        names=_names_said(text, found),
    )


def question_kind(text: str) -> str:
    """One of definition, calculation, comparison, data, list, other."""
    flat = fold(text)
    return next((kind for kind, pattern in _KINDS if pattern.search(flat)), OTHER)


def _places(flat: str) -> tuple[dict[str, int], str]:
    """The numbers of the places that folded text names, and the text without their mentions."""
    found: dict[str, int] = {}
    rest = flat
    for name, patterns in _PLACE_PATTERNS.items():
        limit = _PLACES[name][1]
        for pattern in patterns:
            match = pattern.search(flat)
            if match is None:
                continue
            digits, word = match.groups()
            number = int(digits) if digits else _NUMBERS[word]
            if 0 < number <= limit and name not in found:
                found[name] = number
                rest = rest.replace(match[0], " ", 1)
    if "workshop" in found and "exercise" not in found:
        question = _QUESTION_NUMBER.search(flat)
        if question:
            found["exercise"] = int(question[1])
            rest = rest.replace(question[0], " ", 1)
    return found, rest


def holds_place(text: str, name: str, number: int) -> bool:
    """`text` itself mentions « séance 4 » (name "session", number 4) in either language."""
    flat = fold(text)
    for pattern in _PLACE_PATTERNS[name]:
        for match in pattern.finditer(flat):
            digits, word = match.groups()
            if (int(digits) if digits else _NUMBERS[word]) == number:
                return True
    return False


def identifiers(text: str) -> tuple[str, ...]:
    """Codes that `text` names, in their canonical form: folded, without hyphen or space.

    A code mixes letters and digits and is long enough to be one: GX-999, IMM1033, ISO 9001,
    utf-8. Not codes: 4e, 10h30, 25kg, CO2, x1, H-2027, plain numbers and years.
    """
    found: dict[str, None] = {}
    for match in _CODE.finditer(_SPACED_CODE.sub(_joined_code, text)):
        code = fold(match[0])
        letters = sum(c.isalpha() for c in code)
        digits = sum(c.isdigit() for c in code)
        joined = "-" in code or "/" in code
        if not letters or not digits or _QUANTITY.fullmatch(code):
            continue
        if joined and any(_YEAR.fullmatch(part) for part in re.split(r"[-/]", code)):
            continue
        enough = digits >= 3 or (digits >= 2 and (joined or letters >= 2))
        if (enough or (joined and letters >= 2)) and len(code) <= 40:
            found[canonical(code)] = None
    return tuple(found)


def _names_said(text: str, glossary: Sequence[str]) -> tuple[str, ...]:
    """Capitalised words of three letters or more that do not begin a sentence.

    None when most words are capitalised: that is somebody's style. Words of the glossary's terms
    are left out, because a translation of them may stand in the evidence.
    """
    said = list(re.finditer(r"[^\W\d_]+", text))
    if sum(match[0][0].isupper() for match in said) > MOST_CAPITALS * len(said):
        return ()
    known = {word for term in glossary for word in re.findall(r"\w+", fold(term))}
    found = [
        fold(match[0])
        for match in said[1:]
        if len(match[0]) > 2
        and match[0][0].isupper()
        and text[: match.start()].rstrip(" «\"'’(")[-1:] not in ".!?:"
    ]
    return tuple(dict.fromkeys(w for w in found if w not in known and not _is_small(w)))


def _joined_code(match: re.Match[str]) -> str:
    """IMM 1003 as IMM1003; not CAD 2500 and not PIB 2023."""
    money_or_year = match[1] in _CURRENCIES or _YEAR.fullmatch(match[2])
    return match[0] if money_or_year else match[1] + match[2]


def canonical(code: str) -> str:
    return re.sub(r"[\W_]", "", fold(code))


def holds_identifier(text: str, identifier: str) -> bool:
    """`text` says `identifier` whole, with or without hyphen or space between its parts."""
    parts = re.findall(r"[^\W\d_]+|\d+", fold(identifier))
    if not parts:
        return False
    pattern = r"(?<!\w)" + r"[\s\-_/.]?".join(map(re.escape, parts)) + r"(?!\w)"
    return re.search(pattern, fold(text)) is not None


def _glossary(
    text: str, language: str, terms: tuple[Term, ...], glossary: Sequence[GlossaryEntry]
) -> tuple[tuple[str, ...], tuple[Bridge, ...]]:
    """Entries named in the question, longest first and never overlapping, and their bridges."""
    words = list(tokens(text, language))
    named = sorted(
        (
            (len(form), start, form, entry)
            for entry in glossary
            for form in _forms(entry)
            for start in _occurrences(words, form)
        ),
        key=lambda found: (-found[0], found[1], found[3].term),
    )
    taken: set[int] = set()
    entries: dict[str, None] = {}
    bridges: list[Bridge] = []
    place = {alternative: i for i, term in enumerate(terms) for alternative in term}
    for size, start, form, entry in named:
        span = set(range(start, start + size))
        if span & taken:
            continue
        taken |= span
        entries[entry.term] = None
        covers = sorted({place[s] for i in span for s in _stems(words[i]) if s in place})
        for name in _names(entry):
            phrase = _phrase(name)
            bridge = Bridge(tuple(covers), phrase)
            said = form in (tuple(tokens(name, FRENCH)), tuple(tokens(name, ENGLISH)))
            if phrase and covers and not said and bridge not in bridges:
                bridges.append(bridge)
    return tuple(entries), tuple(bridges[:_MAX_BRIDGES])


_MAX_BRIDGES = 8
MOST_CAPITALS = 0.5


def _names(entry: GlossaryEntry) -> Iterator[str]:
    """Each name of `entry`, « valeur actuelle nette (VAN) » being two of them."""
    seen: dict[str, None] = {}
    for name in (entry.term, entry.translation, *entry.aliases):
        seen[" ".join(re.sub(r"\([^)]*\)", " ", name).split())] = None
        seen.update(dict.fromkeys(part for part in re.findall(r"\(([^)]*)\)", name)))
    yield from (name for name in seen if name)


def _forms(entry: GlossaryEntry) -> Iterator[tuple[str, ...]]:
    """Word sequences by which a question may name `entry`."""
    seen: set[tuple[str, ...]] = set()
    for name in _names(entry):
        for language in (FRENCH, ENGLISH):
            form = tuple(tokens(name, language))
            if form not in seen and not all(_is_small(word) for word in form):
                seen.add(form)
                yield form


def _phrase(name: str) -> tuple[Term, ...]:
    """The significant words of `name`, each with its stems in both languages."""
    words = [word for word in tokens(name, FRENCH) if not _is_small(word)]
    return tuple(tuple(sorted(_stems(word))) for word in dict.fromkeys(words))


def _is_small(word: str) -> bool:
    return is_stop_word(word, FRENCH) or is_stop_word(word, ENGLISH)


def _is_subject(word: str) -> bool:
    return not _is_small(word) and not _stems(word) & _GENERIC


def _stems(word: str) -> set[str]:
    return {stem(word, FRENCH), stem(word, ENGLISH)}


def _occurrences(words: Sequence[str], form: Sequence[str]) -> Iterator[int]:
    for start in range(len(words) - len(form) + 1):
        pairs = zip(words[start : start + len(form)], form, strict=True)
        if all(said == named or _stems(said) & _stems(named) for said, named in pairs):
            yield start
