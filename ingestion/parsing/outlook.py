"""A first look at a source, without reading it in full: title, class, language, pictures."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ingestion.parsing.labels import bare
from ingestion.parsing.latex.formulas import Formulas
from ingestion.parsing.latex.masking import Vault, declarations, mask
from ingestion.parsing.latex.nodes import Context, read_inline
from ingestion.parsing.latex.references import group
from ingestion.parsing.plain import line
from ingestion.parsing.recognise import Looks
from ingestion.parsing.types import DocumentError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ingestion.parsing.latex.inputs import Folder

_FRENCH = frozenset(
    [
        "le",
        "la",
        "les",
        "des",
        "une",
        "est",
        "dans",
        "pour",
        "que",
        "qui",
        "sur",
        "avec",
        "pas",
        "par",
        "sont",
        "nous",
        "vous",
    ]
)
_ENGLISH = frozenset(
    [
        "the",
        "of",
        "and",
        "to",
        "is",
        "that",
        "for",
        "with",
        "are",
        "this",
        "you",
        "not",
        "by",
        "from",
        "we",
        "have",
        "can",
    ]
)
_LANGUAGES = {"french": "fr", "francais": "fr", "frenchb": "fr", "canadien": "fr", "acadian": "fr",
              "english": "en", "american": "en", "british": "en", "usenglish": "en",
              "ukenglish": "en", "canadian": "en"}  # fmt: skip
_SOLUTION = re.compile(
    r"\\begin\s*\{(?:solution|solutions|sol|corrige|correction|reponse|answer|corr|soln|"
    r"correctionenonce)\*?\}",
    re.IGNORECASE,
)
_EXERCISE = re.compile(
    r"\\begin\s*\{(?:x?exercice|exercise|exo|probleme|problem|question|questions)\*?\}|"
    r"\\(?:exo|exercice|exercise|question|exequest)(?![a-zA-Z])",
    re.IGNORECASE,
)
_DEFINITION = re.compile(
    r"\\(?:re|provide)?new(?:command|environment|theorem|tcolorbox|if|counter|length)|\\def(?![a-z])|"
    r"\\(?:usepackage|RequirePackage|DeclareMathOperator|let|setlength|definecolor|lstset|"
    r"renewcommand|setbeamer\w+|tcbuselibrary|usetikzlibrary|hypersetup|makeat\w+|NewDocument\w+)"
)


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a first look shows."""

    looks: Looks
    title: str = ""
    session_words: str = ""
    language: str = ""
    has_text: bool = True
    pictures: tuple[str, ...] = ()
    bibliographies: frozenset[str] = field(default_factory=frozenset)


def latex(folder: Folder, files: Sequence[str]) -> Outlook:
    """A LaTeX document by its files, the root first."""
    raw: list[str] = []
    for path in files:
        try:
            raw.append(folder.text(path))
        except DocumentError:
            raw.append("")
    vault = Vault()
    declared = declarations(raw)
    texts = [mask(text, vault, declared).text for text in raw]
    text = "\n\n".join(texts)
    facts = {name: _fact(texts, name, vault) for name in ("title", "subtitle", "lecture", "part")}
    document_class = re.search(r"\\documentclass\s*(?:\[[^\]]*\])?\s*\{([^{}]*)\}", text)
    headings = tuple(
        _plain(group(text, match.end()), vault)
        for match in re.finditer(r"\\(?:section|chapter)\*?\s*(?:\[[^\[\]]*\])?(?=\s*\{)", text)
    )
    hidden = _solutions_hidden(text)
    looks = Looks(
        frames=len(
            re.findall(r"\\begin\s*\{frame\}|\\frame\s*(?:<[^>]*>)?\s*(?:\[[^\]]*\])?\s*\{", text)
        ),
        document_class=document_class.group(1).strip() if document_class else "",
        title=" ".join(filter(None, (facts["title"], facts["subtitle"]))),
        headings=headings[:60],
        glossary_entries=0
        if document_class
        else len(re.findall(r"\\(?:long)?newglossaryentry|\\newacronym(?![a-z])", text)),
        exercises=len(_EXERCISE.findall(text)),
        solutions=0 if hidden else len(_SOLUTION.findall(text)),
    )
    title = " — ".join(filter(None, (facts["title"], facts["subtitle"])))
    return Outlook(
        looks,
        title=title or (headings[0] if headings and not document_class else ""),
        session_words=" — ".join(
            filter(None, (facts["subtitle"], facts["lecture"], facts["title"]))
        ),
        language=_language(text),
        has_text=_has_text(text),
        pictures=tuple(
            match.strip()
            for match in re.findall(
                r"\\includegraphics\*?(?:<[^>]*>)?\s*(?:\[[^\]]*\])?\s*\{([^{}]*)\}", text
            )
        ),
        bibliographies=frozenset(
            name.strip().removesuffix(".bib").split("/")[-1]
            for names in re.findall(
                r"\\(?:bibliography|addbibresource)\s*(?:\[[^\]]*\])?\{([^{}]*)\}", text
            )
            for name in names.split(",")
        ),
    )


def _solutions_hidden(text: str) -> bool:
    """Whether the source keeps its solutions out of what it prints."""
    if re.search(r"\\excludecomment\s*\{(?:solution|corrige|correction|sol)", text):
        return True
    exam = re.search(r"\\documentclass\s*(?:\[([^\]]*)\])?\s*\{exam\}", text)
    return bool(exam and "answers" not in (exam.group(1) or "") and "\\printanswers" not in text)


def _fact(texts: Sequence[str], name: str, vault: Vault) -> str:
    for text in texts:
        for match in re.finditer(rf"\\{name}\s*(?:\[[^\[\]]*\])?(?:<[^<>]*>)?(?=\s*\{{)", text):
            latex_text = group(text, match.end())
            if "#" in latex_text:
                continue
            shown = _plain(_simple_macros(latex_text, texts), vault)
            if shown:
                return shown
    return ""


def _simple_macros(latex_text: str, texts: Sequence[str], depth: int = 0) -> str:
    """Commands without arguments that the course defines, replaced in a title."""

    def value(match: re.Match[str]) -> str:
        for text in texts:
            found = re.search(
                rf"\\(?:new|renew|provide)command\*?\s*\{{?\\{match.group(1)}\}}?\s*(?=\{{)"
                rf"|\\def\s*\\{match.group(1)}\s*(?=\{{)", text)  # fmt: skip
            if found:
                inner = group(text, found.end())
                return _simple_macros(inner, texts, depth + 1) if depth < 4 else inner
        return match.group()

    return re.sub(r"\\([a-zA-Z@]+)(?![a-zA-Z@])(?:\{\})?", value, latex_text)


def _plain(latex_text: str, vault: Vault) -> str:
    latex_text = re.sub(
        r"\\(?:thanks|footnote|inst|label|vspace|hspace)\*?\s*\{[^{}]*\}", "", latex_text
    )
    latex_text = re.sub(r"\\texorpdfstring\s*\{([^{}]*)\}\s*\{[^{}]*\}", r"\1", latex_text)
    context = Context(vault, Formulas(vault))
    return line(read_inline(latex_text[:1_000], context))


def _language(text: str) -> str:
    """The language that the source declares, or that its words make certain."""
    for pattern in (
        r"\\usepackage\s*\[([^\]]*)\]\s*\{babel\}",
        r"\\(?:setmainlanguage|setdefaultlanguage)\s*(?:\[[^\]]*\])?\s*\{([^{}]*)\}",
        r"\\documentclass\s*\[([^\]]*)\]",
        r"\\selectlanguage\s*\{([^{}]*)\}",
    ):
        for found in re.findall(pattern, text):
            main = re.search(r"main\s*=\s*(\w+)", found)
            names = [main.group(1)] if main else [piece.strip() for piece in found.split(",")]
            known = [_LANGUAGES[name.lower()] for name in names if name.lower() in _LANGUAGES]
            if known:
                return known[-1]
    return by_words(text)


def by_words(text: str) -> str:
    """French or English when the common words of a text leave no doubt, else nothing."""
    words = Counter(re.findall(r"[a-zà-ÿ]+", text[:60_000].lower()))
    french = sum(words[word] for word in _FRENCH)
    english = sum(words[word] for word in _ENGLISH)
    if french + english < 30:
        return ""
    if french > 3 * english:
        return "fr"
    return "en" if english > 3 * french else ""


def _has_text(text: str) -> bool:
    """Whether a file holds more than definitions."""
    if re.search(r"\\begin\s*\{(?:document|frame|itemize|enumerate|description)\}|\\(?:section|chapter|"  # noqa: E501
                 r"frame|input|include|newglossaryentry|newacronym)(?![a-zA-Z])", text):  # fmt: skip  # noqa: E501
        return True
    if not _DEFINITION.search(text):
        return bool(re.search(r"\w{2}", re.sub(r"\\[a-zA-Z@]+", "", text)))
    rest = re.sub(r"\\[a-zA-Z@]+\*?", " ", text)
    for _ in range(6):
        rest = re.sub(r"\{[^{}]*\}|\[[^\[\]]*\]", " ", rest)
    return len(re.findall(r"[A-Za-zÀ-ÿ]{3,}", rest)) > 40


def plain(text: str, kind: str) -> Outlook:
    """A Markdown, text or table file."""
    title, headings = "", ()
    if kind == "markdown":
        body = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)
        front = re.match(r"\A---\n(.*?)\n---\n", text, re.DOTALL)
        named = (
            re.search(r"^title\s*:\s*[\"']?(.+?)[\"']?\s*$", front.group(1), re.MULTILINE)
            if front
            else None
        )
        found = re.findall(
            r"^#{1,3}\s+(.+?)\s*#*$", re.sub(r"```.*?```", "", body, flags=re.DOTALL), re.MULTILINE
        )
        headings = tuple(found[:60])
        title = named.group(1) if named else (found[0] if found else "")
    return Outlook(
        Looks(title=bare(title) and title, headings=headings),
        title=re.sub(r"[*_`]", "", title),
        session_words=title,
        language=by_words(text),
    )
