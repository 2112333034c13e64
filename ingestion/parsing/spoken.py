"""A formula in the words that a person would type to find it."""

from __future__ import annotations

import re
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from ingestion.parsing.labels import bare

if TYPE_CHECKING:
    from collections.abc import Callable

_GREEK = [
    "alpha",
    "beta",
    "gamma",
    "delta",
    "epsilon",
    "zeta",
    "eta",
    "theta",
    "iota",
    "kappa",
    "lambda",
    "mu",
    "nu",
    "xi",
    "omicron",
    "pi",
    "rho",
    "sigma",
    "tau",
    "upsilon",
    "phi",
    "chi",
    "psi",
    "omega",
]

# (French, English); a command that is missing here is left out, its arguments are kept.
_COMMANDS: dict[str, tuple[str, str]] = {
    **{name: (name, name) for name in _GREEK},
    **{name.capitalize(): (name, name) for name in _GREEK},
    **{f"var{name}": (name, name) for name in _GREEK},
    "sum": ("somme", "sum"),
    "prod": ("produit", "product"),
    "int": ("intégrale", "integral"),
    "iint": ("intégrale double", "double integral"),
    "oint": ("intégrale", "integral"),
    "sqrt": ("racine carrée", "square root"),
    "frac": ("", ""),
    "over": ("/", "/"),
    "times": ("×", "×"),
    "cdot": ("", ""),
    "div": ("divisé par", "divided by"),
    "pm": ("plus ou moins", "plus or minus"),
    "mp": ("moins ou plus", "minus or plus"),
    "leq": ("inférieur ou égal à", "less than or equal to"),
    "le": ("inférieur ou égal à", "less than or equal to"),
    "leqslant": ("inférieur ou égal à", "less than or equal to"),
    "geq": ("supérieur ou égal à", "greater than or equal to"),
    "ge": ("supérieur ou égal à", "greater than or equal to"),
    "geqslant": ("supérieur ou égal à", "greater than or equal to"),
    "lt": ("<", "<"),
    "gt": (">", ">"),
    "neq": ("différent de", "not equal to"),
    "ne": ("différent de", "not equal to"),
    "approx": ("environ", "approximately"),
    "simeq": ("environ", "approximately"),
    "sim": ("suit", "distributed as"),
    "equiv": ("équivaut à", "equivalent to"),
    "propto": ("proportionnel à", "proportional to"),
    "infty": ("infini", "infinity"),
    "partial": ("dérivée partielle", "partial derivative"),
    "nabla": ("gradient", "gradient"),
    "in": ("appartient à", "in"),
    "notin": ("n'appartient pas à", "not in"),
    "subset": ("inclus dans", "subset of"),
    "subseteq": ("inclus dans", "subset of"),
    "cup": ("union", "union"),
    "cap": ("intersection", "intersection"),
    "emptyset": ("ensemble vide", "empty set"),
    "forall": ("pour tout", "for all"),
    "exists": ("il existe", "there exists"),
    "to": ("tend vers", "to"),
    "rightarrow": ("→", "→"),
    "longrightarrow": ("→", "→"),
    "Rightarrow": ("implique", "implies"),
    "Longrightarrow": ("implique", "implies"),
    "implies": ("implique", "implies"),
    "iff": ("si et seulement si", "if and only if"),
    "Leftrightarrow": ("équivaut à", "if and only if"),
    "lim": ("limite", "limit"),
    "limsup": ("limite supérieure", "limit superior"),
    "liminf": ("limite inférieure", "limit inferior"),
    "max": ("maximum", "maximum"),
    "min": ("minimum", "minimum"),
    "sup": ("supremum", "supremum"),
    "inf": ("infimum", "infimum"),
    "argmax": ("argmax", "argmax"),
    "argmin": ("argmin", "argmin"),
    "log": ("logarithme log", "logarithm log"),
    "ln": ("logarithme ln", "logarithm ln"),
    "exp": ("exponentielle exp", "exponential exp"),
    "sin": ("sinus", "sine"),
    "cos": ("cosinus", "cosine"),
    "tan": ("tangente", "tangent"),
    "det": ("déterminant", "determinant"),
    "dim": ("dimension", "dimension"),
    "ker": ("noyau", "kernel"),
    "Pr": ("probabilité", "probability"),
    "gcd": ("pgcd", "gcd"),
    "binom": ("combinaison", "binomial coefficient"),
    "vec": ("vecteur", "vector"),
    "hat": ("estimateur", "estimator"),
    "widehat": ("estimateur", "estimator"),
    "bar": ("moyenne", "mean"),
    "overline": ("barre", "bar"),
    "perp": ("orthogonal à", "orthogonal to"),
    "parallel": ("parallèle à", "parallel to"),
    "wedge": ("et", "and"),
    "land": ("et", "and"),
    "vee": ("ou", "or"),
    "lor": ("ou", "or"),
    "neg": ("non", "not"),
    "lnot": ("non", "not"),
    "ldots": ("…", "…"),
    "dots": ("…", "…"),
    "cdots": ("…", "…"),
    "ell": ("l", "l"),
    "mid": ("sachant", "given"),
    "circ": ("rond", "circle"),
    "degree": ("degré", "degree"),
    "prime": ("prime", "prime"),
    "quad": ("", ""),
    "qquad": ("", ""),
}
_BLACKBOARD = {
    "R": ("réels R", "reals R"),
    "N": ("entiers N", "naturals N"),
    "Z": ("entiers Z", "integers Z"),
    "C": ("complexes C", "complex numbers C"),
    "E": ("espérance E", "expectation E"),
    "P": ("probabilité P", "probability P"),
    "V": ("variance V", "variance V"),
}
_NO_WORDS = re.compile(
    r"\\(?:label|begin|end|color|hspace|vspace|tag|ref|eqref|phantom|hphantom|vphantom)\*?\s*"
    r"(?:\{[^{}]*\})?(?:\[[^\]]*\])?"
)
_ARRAY = re.compile(
    r"\\begin\s*\{(?:array|tabular)\}\s*(?:\[[^\]]*\])?\s*\{(?:[^{}]|\{[^{}]*\})*\}"
)
_DIGITS = re.compile(r"(?<=\d)\s*(?:\\[,;: !]|~|\{,\})\s*(?=\d)")
_TEXTUAL = re.compile(
    r"\\(?:text\w*|mbox|hbox|math(?:rm|it|sf|tt|bf|cal|scr|frak)|operatorname\*?|bm|boldsymbol|"
    r"emph|symbf|mathop|textnormal)(?![a-zA-Z])\s*\{((?:[^{}]|\{[^{}]*\})*)\}"
)
_ACCENT = re.compile(r"\\(acute|grave|ddot|cedilla|tilde)\s*\{([a-zA-Z])\}")
_ACCENTS = {"acute": "\u0301", "grave": "\u0300", "ddot": "\u0308", "tilde": "\u0303"}


def speaker(language: str) -> Callable[[str], str]:
    """A function from the source of a formula to its words in a language."""
    return partial(speak, french=language.lower().startswith("fr"))


@lru_cache(maxsize=16_384)
def speak(tex: str, *, french: bool) -> str:
    """The words of a formula; its letters and numbers are kept, so that they are found too."""
    text = _ARRAY.sub(" ", tex[:4_000])
    text = _DIGITS.sub("\u00a0", text)
    for _ in range(3):
        text = _TEXTUAL.sub(lambda match: f" {_accents(match.group(1))} ", text)
    text = _NO_WORDS.sub(" ", text)
    text = re.sub(
        r"\\(?:mathbb|mathds|mathbbm|Bbb)\s*\{?\s*([A-Z1])\s*\}?",
        lambda match: f" {_of(_BLACKBOARD.get(match.group(1)), french) or match.group(1)} ",
        text,
    )
    text = re.sub(r"\\[dt]?frac(?![a-zA-Z])", r"\\frac", text)
    text = _fractions(text, french)
    text = re.sub(r"\\sqrt\s*\[\s*3\s*\]", " racine cubique " if french else " cube root ", text)
    text = re.sub(r"\^\s*(?:2(?!\d)|\{\s*2\s*\})", " au carré " if french else " squared ", text)
    text = re.sub(r"\^\s*(?:3(?!\d)|\{\s*3\s*\})", " au cube " if french else " cubed ", text)
    text = re.sub(r"\^\s*\{?\s*(?:\\prime|\\top|T)\s*\}?", " ", text)
    text = re.sub(
        r"\\([a-zA-Z]+)\*?", lambda match: f" {_of(_COMMANDS.get(match.group(1)), french)} ", text
    )
    text = re.sub(r"\\\\|\\.|[{}$&^_~]", " ", text)
    text = re.sub(r"(?<=\w)_(?=\w)", " ", text)
    text = re.sub(r"\s+([,.;:)\]])", r"\1", text)
    return re.sub(r"\s+", " ", text).strip()


def _of(words: tuple[str, str] | None, french: bool) -> str:  # noqa: FBT001
    return words[0 if french else 1] if words else ""


def _accents(text: str) -> str:
    return _ACCENT.sub(lambda m: m.group(2) + _ACCENTS.get(m.group(1), ""), text)


_FRACTION = re.compile(
    r"\\frac\s*(?:\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}|(\w))\s*"
    r"(?:\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}|(\w))"
)


def _fractions(text: str, french: bool) -> str:  # noqa: FBT001
    joint = " sur " if french else " over "
    for _ in range(4):
        text, count = _FRACTION.subn(
            lambda m: f" {m.group(1) or m.group(2)}{joint}{m.group(3) or m.group(4)} ", text
        )
        if not count:
            break
    return text


def known_words() -> set[str]:
    """Every word this module can say, for telling a formula's words from a course's."""
    return {bare(word) for pair in _COMMANDS.values() for both in pair for word in both.split()}
