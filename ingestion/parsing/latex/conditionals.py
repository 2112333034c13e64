"""Conditions of TeX, LaTeX and etoolbox, decided as far as the source alone decides them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ingestion.parsing.latex.expand import Expander

# Braced conditions: how many tests come before the branches, and how many branches.
BRACED: dict[str, tuple[int, int]] = {
    "ifthenelse": (1, 2),
    "iftoggle": (1, 2),
    "nottoggle": (1, 2),
    "ifbool": (1, 2),
    "notbool": (1, 2),
    "ifdefstring": (2, 2),
    "ifdefstrequal": (2, 2),
    "ifcsstring": (2, 2),
    "ifdef": (1, 2),
    "ifundef": (1, 2),
    "ifcsdef": (1, 2),
    "ifcsundef": (1, 2),
    "ifdefempty": (1, 2),
    "ifdefvoid": (1, 2),
    "ifstrequal": (2, 2),
    "ifstrempty": (1, 2),
    "ifblank": (1, 2),
    "notblank": (1, 2),
    "ifnumequal": (2, 2),
    "ifnumgreater": (2, 2),
    "ifnumless": (2, 2),
    "ifnumcomp": (3, 2),
    "ifempty": (1, 2),
    "IfNoValueTF": (1, 2),
    "IfValueTF": (1, 2),
    "IfNoValueT": (1, 1),
    "IfNoValueF": (1, 1),
    "IfValueT": (1, 1),
    "IfBooleanTF": (1, 2),
    "IfBooleanT": (1, 1),
    "IfBooleanF": (1, 1),
    "IfBlankTF": (1, 2),
    "IfStrEq": (2, 2),
    "IfSubStr": (2, 2),
    "IfFileExists": (1, 2),
    "ifSubfilesClassLoaded": (0, 2),
    "@ifclassloaded": (1, 2),
    "@ifpackageloaded": (1, 2),
    "@ifundefined": (1, 2),
    "ifinlist": (2, 2),
    "ifpackageloaded": (1, 2),
    "iflanguage": (1, 2),
    "ifentrytype": (1, 2),
    "iffieldundef": (1, 2),
    "ifboolexpr": (1, 2),
    "ifboolexpe": (1, 2),
}
_NUMBERED = re.compile(
    r"\s*(?:\\value\s*\{([^{}]+)\}|(-?\d+)|\\([a-zA-Z@]+))\s*([<>=])\s*"
    r"(?:\\value\s*\{([^{}]+)\}|(-?\d+)|\\([a-zA-Z@]+))"
)
_SKIPPED = re.compile(r"\\(if[a-zA-Z@]*|unless|else|or|fi)(?![a-zA-Z@])")
_OPERANDS = re.compile(r"\s*(\\[a-zA-Z@]+|\\.|[^\s\\])\s*(\\[a-zA-Z@]+|\\.|[^\s\\])")


def is_condition(name: str) -> bool:
    """Whether a command starts a condition that ends with `\\fi`."""
    return name.startswith("if") and name not in BRACED and name != "iff" and name != "ifx@"


#: Commands by which a file shared by a deck and an article asks whether beamer is there.
_OF_BEAMER = frozenset(
    [
        "frame",
        "frametitle",
        "framesubtitle",
        "usetheme",
        "setbeamertemplate",
        "setbeamercolor",
        "beamertemplatetheme",
        "alert",
        "pause",
        "only",
        "onslide",
        "uncover",
        "beamergotobutton",
        "mode",
        "titlepage@",
    ]
)


class Conditions:
    """The state of open conditions, and the decisions."""

    def __init__(self, expander: Expander) -> None:
        self.expander = expander
        self.open: list[str] = []  # "taken", or "both" when the source does not decide

    def primitive(self, name: str) -> None:
        """`\\ifx…`, `\\ifnum…`, a `\\newif`: go on in the branch that holds."""
        truth = self._test(name)
        if truth is None and not self._has_fi():
            return
        if truth is None:
            self.open.append("both")
            if name not in {"ifmmode", "ifdim"}:
                self.expander.note("undecided", name)
        elif truth or self._skip(stop_at_else=True):
            self.open.append("taken")

    def otherwise(self) -> None:
        """`\\else` or `\\or` reached from inside a branch."""
        if self.open and self.open[-1] == "taken":
            self._skip(stop_at_else=False)
            self.open.pop()

    def end(self) -> None:
        if self.open:
            self.open.pop()

    def _has_fi(self) -> bool:
        layer = self.expander.stream.settle()
        return layer is not None and _SKIPPED.search(layer.text, layer.pos) is not None

    def _skip(self, *, stop_at_else: bool) -> bool:
        """Past this branch. True when an `\\else` was reached, False at `\\fi` or the end."""
        layer = self.expander.stream.settle()
        if layer is None:
            return False
        depth = 0
        for match in _SKIPPED.finditer(layer.text, layer.pos):
            name = match.group(1)
            if name == "fi":
                if depth == 0:
                    layer.pos = match.end()
                    self.expander.stream.blanks()
                    return False
                depth -= 1
            elif name in {"else", "or"}:
                if depth == 0 and stop_at_else and name == "else":
                    layer.pos = match.end()
                    self.expander.stream.blanks()
                    return True
            elif is_condition(name) and name not in self.expander.known.macros:
                depth += 1
        # No \fi: the rest stays text, so that nothing is lost.
        return False

    def _test(self, name: str) -> bool | None:
        expander = self.expander
        stream = expander.stream
        if name in {"iftrue", "iffalse"}:
            return name == "iftrue"
        if name[2:] in expander.known.flags:
            return expander.known.flags[name[2:]]
        if name == "ifdefined":
            return self._defined(stream.argument().lstrip("\\"))
        if name == "ifcsname":
            return self._defined(stream.until("\\endcsname").strip())
        if name == "ifmmode":
            return expander.in_math()
        if name in {"ifx", "if", "ifcat"}:
            return self._same(name)
        if name in {"ifnum", "ifodd"}:
            return self._number(name)
        if name in {"ifpdf", "ifPDFTeX", "ifpdftex", "ifoptionbeamer"}:
            return True
        if name in {"ifxetex", "ifXeTeX", "ifluatex", "ifLuaTeX", "ifvoid", "ifeof", "ifinner",
                    "iftutex", "ifhmode@"}:  # fmt: skip
            if name in {"ifvoid", "ifeof"}:
                stream.argument()
            return False
        if name == "ifcase":
            return self._case()
        return None

    def _defined(self, name: str) -> bool:
        known = self.expander.known
        if self.expander.beamer and (name in _OF_BEAMER or name.startswith("insert")):
            return True
        return name in known.macros or name.removeprefix("if") in known.flags

    def _same(self, name: str) -> bool | None:
        match = self.expander.stream.match(_OPERANDS)
        if not match:
            return None
        left, right = (self._meaning(operand) for operand in match.groups())
        if name == "if" and None not in (left, right):
            return left == right
        if left is None or right is None:
            return None
        return left == right

    def _meaning(self, operand: str) -> str | None:
        """What a token stands for, or None when the course does not say."""
        if not operand.startswith("\\"):
            return operand
        name = operand[1:]
        if name in {"undefined", "@undefined"}:
            return "undefined"
        if name in {"empty", "@empty"}:
            return "macro:"
        macro = self.expander.known.macros.get(name)
        if macro is not None:
            return f"macro:{macro.body.strip()}"
        return "undefined" if name.islower() and len(name) > 3 else None

    def _number(self, name: str) -> bool | None:
        stream = self.expander.stream
        if name == "ifodd":
            match = stream.match(re.compile(r"\s*(?:\\value\s*\{([^{}]+)\}|(-?\d+)|\\\w+)\s*"))
            value = self._value(match.group(1), match.group(2), None) if match else None
            return None if value is None else value % 2 == 1
        match = stream.match(_NUMBERED)
        if not match:
            return None
        left = self._value(match.group(1), match.group(2), match.group(3))
        right = self._value(match.group(5), match.group(6), match.group(7))
        if left is None or right is None:
            return None
        return {"<": left < right, ">": left > right, "=": left == right}[match.group(4)]

    def _value(self, counter: str | None, number: str | None, macro: str | None) -> int | None:
        if number is not None:
            return int(number)
        if counter is not None:
            return self.expander.known.counters.get(counter.strip())
        if macro in {"z@", "@ne"}:
            return 0 if macro == "z@" else 1
        found = self.expander.known.macros.get(macro or "")
        return int(found.body) if found and found.body.strip().isdigit() else None

    def _case(self) -> bool | None:
        match = self.expander.stream.match(re.compile(r"\s*(?:(\d+)|\\([a-zA-Z@]+))\s*"))
        if not match:
            return None
        return None if match.group(1) is None else match.group(1) == "0" or None

    def braced(self, name: str) -> None:
        """A condition with its branches in braces: the one that holds is read next, or both."""
        stream = self.expander.stream
        tests, branches = BRACED[name]
        values = [stream.argument() for _ in range(tests)]
        texts = [stream.group() or "" for _ in range(branches)]
        truth = self._decide(name, values)
        if branches == 1:
            wanted = not name.endswith("F") if truth is None else truth != name.endswith("F")
            stream.push(texts[0] if wanted else "")
        elif truth is None:
            self.expander.note("undecided", name)
            joint = "\n\n" if "\\begin" in texts[0] + texts[1] else " "
            stream.push(joint.join(text for text in texts if text.strip()))
        else:
            stream.push(texts[0] if truth else texts[1])

    def _decide(self, name: str, values: list[str]) -> bool | None:
        expander, known = self.expander, self.expander.known
        expanded = [expander.expanded(value).strip() for value in values]
        first = expanded[0] if expanded else ""
        raw = values[0].strip().lstrip("\\") if values else ""
        match name:
            case "ifthenelse":
                return self._ifthen(values[0])
            case "iftoggle" | "ifbool":
                return known.flags.get(first)
            case "nottoggle" | "notbool":
                flag = known.flags.get(first)
                return None if flag is None else not flag
            case "ifdef" | "ifcsdef":
                return self._defined(raw)
            case "ifundef" | "ifcsundef" | "@ifundefined":
                return not self._defined(raw)
            case "ifdefempty" | "ifdefvoid":
                return not known.macros[raw].body.strip() if raw in known.macros else None
            case "ifdefstring" | "ifcsstring" | "ifdefstrequal":
                if raw not in known.macros:
                    return None
                return expander.expanded(known.macros[raw].body).strip() == expanded[1]
            case "ifstrequal" | "IfStrEq":
                return expanded[0] == expanded[1]
            case "IfSubStr":
                return expanded[1] in expanded[0]
            case "ifstrempty" | "ifblank" | "ifempty" | "IfBlankTF":
                return not first
            case "notblank":
                return bool(first)
            case "IfNoValueTF" | "IfNoValueT" | "IfNoValueF":
                return "preuvenovalue" in values[0]
            case "IfValueTF" | "IfValueT":
                return "preuvenovalue" not in values[0]
            case "IfBooleanTF" | "IfBooleanT" | "IfBooleanF":
                return "BooleanTrue" in values[0]
            case "ifnumequal" | "ifnumgreater" | "ifnumless":
                return self._compare(expanded[0], {"e": "=", "g": ">", "l": "<"}[name[5]],
                                     expanded[1])  # fmt: skip
            case "ifnumcomp":
                return self._compare(expanded[0], expanded[1], expanded[2])
            case "IfFileExists":
                return expander.file_exists(first)
            case "ifSubfilesClassLoaded":
                return any("subfiles" in name for name in expander.classes)
            case "@ifclassloaded":
                return first in expander.classes
            case "@ifpackageloaded" | "ifpackageloaded":
                return first in expander.packages
            case "iflanguage":
                return None
            case _:
                return None

    def _compare(self, left: str, relation: str, right: str) -> bool | None:
        if not (left.lstrip("-").isdigit() and right.lstrip("-").isdigit()):
            return None
        a, b = int(left), int(right)
        return {"=": a == b, "<": a < b, ">": a > b}.get(relation.strip())

    def _ifthen(self, test: str) -> bool | None:
        """A test of the ifthen package: `\\equal`, `\\boolean`, `\\isundefined`, comparisons."""
        test = test.strip()
        if negated := re.match(r"\\(?:not|NOT)\s*", test):
            inner = self._ifthen(test[negated.end() :])
            return None if inner is None else not inner
        for word, combine in ((r"\\(?:or|OR)\b", any), (r"\\(?:and|AND)\b", all)):
            pieces = re.split(word, test)
            if len(pieces) > 1:
                values = [self._ifthen(piece) for piece in pieces]
                return None if None in values else combine(bool(value) for value in values)
        stream = type(self.expander.stream)()
        stream.push(test)
        name = stream.argument()
        if name == "\\equal":
            left, right = stream.argument(), stream.argument()
            if any(self._unknown_macro(side) for side in (left, right)):
                return None
            return (self.expander.expanded(left).strip()
                    == self.expander.expanded(right).strip())  # fmt: skip
        if name in {"\\boolean", "\\isodd"}:
            return self.expander.known.flags.get(stream.argument().strip())
        if name in {"\\isundefined", "\\undefined"}:
            return not self._defined(stream.argument().lstrip("\\"))
        expanded = self.expander.expanded(test).strip()
        match = re.fullmatch(r"(-?\d+)\s*([<>=])\s*(-?\d+)", expanded)
        return self._compare(*match.groups()) if match else None

    def _unknown_macro(self, text: str) -> bool:
        names = re.findall(r"\\([a-zA-Z@]+)", self.expander.expanded(text))
        return any(name not in self.expander.known.macros for name in names)
