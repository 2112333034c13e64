"""Formulas taken out of a text before it is walked, each one cleaned and kept whole."""

from __future__ import annotations

import re

from ingestion.parsing.latex import units
from ingestion.parsing.latex.masking import CLOSE, MARK, OPEN, Vault
from ingestion.parsing.latex.vocabulary import ALIGNED, MATH_ENVIRONMENTS
from ingestion.parsing.tree import Math

_START = re.compile(
    r"\\begin\{(?P<name>[^{}]+)\}|\\(?P<open>[(\[])|(?P<dollar>\$\$?)|\\ensuremath\s*(?P<ensure>\{)"
    r"|\\.",
    re.DOTALL,
)
_STEP = re.compile(r"\\.|[{}]|\$\$?|\n[ \t]*\n", re.DOTALL)
_LABEL = re.compile(r"\\label\s*\{([^{}]*)\}")
_SILENT = re.compile(
    r"\\(?:nonumber|notag|displaybreak|allowdisplaybreaks|noindent|centering|qedhere|par)(?![a-zA-Z])"
    r"|\\tag\*?\s*\{[^{}]*\}|\\vspace\*?\s*\{[^{}]*\}|\\preuvehint\{[^{}]*\}"
)
_LONGEST = 20_000


class Formulas:
    """The formulas of one document, by number, and the labels found in them."""

    def __init__(self, vault: Vault) -> None:
        self.vault = vault
        self.kept: list[Math] = []
        self.labels: dict[str, Math] = {}

    def put(self, tex: str, *, display: bool) -> str:
        """The mark that stands for a formula; an empty one leaves nothing."""
        names = _LABEL.findall(tex)
        cleaned = self.clean(tex)
        if not cleaned:
            return " "
        math = Math(cleaned, display)
        for name in names:
            self.labels[name.strip()] = math
        self.kept.append(math)
        return f"{OPEN}M{len(self.kept) - 1}{CLOSE}"

    def get(self, number: int) -> Math:
        return self.kept[number] if number < len(self.kept) else Math("")

    def clean(self, tex: str) -> str:
        """One line, without labels and layout; a listing inside becomes typewriter text."""
        tex = _LABEL.sub("", tex)
        tex = MARK.sub(self._listing, tex)
        tex = _SILENT.sub(" ", tex)
        tex = units.in_formula(tex)
        tex = re.sub(r"\\ensuremath\s*(?=\{)", "", tex)
        tex = re.sub(r"\s+", " ", tex).strip()
        tex = re.sub(r"(?:\\\\\s*)+$", "", tex).strip()
        return re.sub(r"^(?:\\\\\s*)+", "", tex)

    def _listing(self, mark: re.Match[str]) -> str:
        if mark.group(1) == "M":
            return self.get(int(mark.group(2))).tex
        text = self.vault.get(int(mark.group(2))).text
        return "\\text{" + re.sub(r"([#$%&_{}])", r"\\\1", text.replace("\\", "/")) + "}"

    def extract(self, text: str) -> str:
        """`text` with a mark for each formula; a lone `$` stays an ordinary sign."""
        out: list[str] = []
        at = 0
        while match := _START.search(text, at):
            out.append(text[at : match.start()])
            found = self._formula(text, match)
            if found is None:
                out.append("\\$" if match.group("dollar") else match.group())
                at = match.end()
            else:
                piece, at = found
                out.append(piece)
        out.append(text[at:])
        return "".join(out)

    def _formula(self, text: str, match: re.Match[str]) -> tuple[str, int] | None:
        name = match.group("name")
        if name is not None:
            return self._environment(text, name.strip(), match.end())
        if sign := match.group("open"):
            close = "\\)" if sign == "(" else "\\]"
            end = text.find(close, match.end())
            if end < 0 or end - match.end() > _LONGEST:
                return " ", match.end()
            return self.put(text[match.end() : end], display=sign == "["), end + 2
        if dollars := match.group("dollar"):
            closed = _closing(text, match.end(), dollars)
            if closed is None and dollars == "$$":
                return (" ", match.end()) if text[match.end() : match.end() + 1] == " " else None
            if closed is None:
                return None
            inside = text[match.end() : closed]
            return self.put(inside, display=dollars == "$$"), closed + len(dollars)
        if match.group("ensure"):
            closed = _closing(text, match.end(), "}")
            if closed is None:
                return None
            return self.put(text[match.end() : closed], display=False), closed + 1
        return None

    def _environment(self, text: str, name: str, at: int) -> tuple[str, int] | None:
        if name not in MATH_ENVIRONMENTS:
            return None
        close = f"\\end{{{name}}}"
        end = text.find(close, at)
        if end < 0:
            end = text.find("\n\n", at)
            end = len(text) if end < 0 else end
            close = ""
        body = text[at:end]
        if name in {"alignat", "alignat*", "xalignat"}:
            body = re.sub(r"^\s*\{[^{}]*\}", "", body)
        if name.startswith("IEEE"):
            body = re.sub(r"^\s*(?:\[[^\]]*\])?\s*\{[^{}]*\}", "", body)
        aligned = ALIGNED.get(name)
        if aligned and (body.strip()) and ("&" in body or "\\\\" in body):
            body = self._clean_rows(body)
            body = f"\\begin{{{aligned}}}{body}\\end{{{aligned}}}"
        return self.put(body, display=name != "math"), end + len(close)

    def _clean_rows(self, body: str) -> str:
        names = _LABEL.findall(body)
        cleaned = self.clean(body)
        return cleaned + "".join(f"\\label{{{name}}}" for name in names)


def _closing(text: str, at: int, sign: str) -> int | None:
    """Where the formula that opened before `at` closes, or None at the end of the paragraph."""
    depth = 0
    for match in _STEP.finditer(text, at, at + _LONGEST):
        found = match.group()
        if found == "{":
            depth += 1
        elif found == "}":
            if depth == 0:
                return match.start() if sign == "}" else None
            depth -= 1
        elif found in {"$", "$$"} and depth == 0:
            if found == sign:
                return match.start()
            if sign == "$":  # `$a$$b$`: two formulas that touch
                return match.start()
        elif (found[0] == "\n" and sign == "$") or (
            found[0] == "\n" and found.strip() == "" and sign == "}"
        ):
            return None
    return None
