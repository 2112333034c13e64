"""The input of the expander: a stack of texts, read token by token and argument by argument."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ingestion.parsing.latex.masking import Masked

TOKEN = re.compile(r"\\(?:[a-zA-Z@]+|.|\n)|[{}]|\n[ \t]*\n", re.DOTALL)
_BLANK = re.compile(r"[ \t]*(?:\n(?![ \t]*\n)[ \t]*)?")
_GROUP = re.compile(r"\\.|[{}]", re.DOTALL)
_BRACKET = re.compile(r"\\.|[{}\[\]]|\n[ \t]*\n", re.DOTALL)
_PARAGRAPH = re.compile(r"\n[ \t]*\n")
OVERLAY = re.compile(r"\s*<([^<>\n]{0,80})>")
_OVERLAY_WORD = re.compile(
    r"(?:[\d+.,\-|:@() ]|alert|visible|uncover|only|invisible|beamer|article|presentation|handout|"
    r"trans|second|all|[a-z]+@)*"
)
_LONGEST_ARGUMENT = 60_000


@dataclass(slots=True)
class Layer:
    """One text being read. `file` and `source` are set when it is a file."""

    text: str
    pos: int = 0
    file: str = ""
    source: Masked | None = None
    opened: bool = False  # saw its own \begin{document}


class Stream:
    """A stack of layers; the topmost is read first, and an exhausted one is left behind."""

    def __init__(self) -> None:
        self.layers: list[Layer] = []

    def push(self, text: str) -> None:
        if text:
            self.layers.append(Layer(text))

    def settle(self) -> Layer | None:
        """The topmost layer that has something left; finished macro texts are dropped."""
        while self.layers:
            layer = self.layers[-1]
            if layer.pos < len(layer.text):
                return layer
            if layer.file:
                return None
            self.layers.pop()
        return None

    def blanks(self) -> None:
        """Past blanks and one line end, as TeX does after a command; a blank line stays."""
        while layer := self.settle():
            match = _BLANK.match(layer.text, layer.pos)
            assert match is not None  # noqa: S101
            layer.pos = match.end()
            if layer.pos < len(layer.text):
                return

    def all_blanks(self) -> None:
        """Past any white space, as TeX does before a braced argument of a definition."""
        while layer := self.settle():
            while layer.pos < len(layer.text) and layer.text[layer.pos].isspace():
                layer.pos += 1
            if layer.pos < len(layer.text):
                return

    def peek(self) -> str:
        layer = self.settle()
        return layer.text[layer.pos] if layer else ""

    def rest(self, size: int = 80) -> str:
        """The next characters of the topmost layer, for looking ahead."""
        layer = self.settle()
        return layer.text[layer.pos : layer.pos + size] if layer else ""

    def skip(self, count: int) -> None:
        layer = self.settle()
        if layer:
            layer.pos = min(len(layer.text), layer.pos + count)

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """`pattern` at the current place, read when it matches."""
        layer = self.settle()
        found = pattern.match(layer.text, layer.pos) if layer else None
        if layer and found:
            layer.pos = found.end()
        return found

    def star(self) -> bool:
        self.blanks()
        if self.peek() == "*":
            self.skip(1)
            return True
        return False

    def argument(self) -> str:
        """The next argument without its braces: a group, a command or one character."""
        self.blanks()
        layer = self.settle()
        if layer is None:
            return ""
        char = layer.text[layer.pos]
        if char == "{":
            return self._group(layer)
        if char == "}":
            return ""
        match = TOKEN.match(layer.text, layer.pos)
        if match and match.group().startswith("\\"):
            layer.pos = match.end()
            return match.group()
        if char == "\n":
            return ""
        if char == "\ue000":
            end = layer.text.find("\ue001", layer.pos)
            piece = layer.text[layer.pos : end + 1]
            layer.pos = end + 1
            return piece
        layer.pos += 1
        return char

    def group(self) -> str | None:
        """The next argument if it is braced, else None and nothing is read."""
        layer = self.settle()
        before = (len(self.layers), layer.pos) if layer else None
        self.all_blanks()
        layer = self.settle()
        if layer is not None and layer.text[layer.pos] == "{":
            return self._group(layer)
        if layer is not None and before and len(self.layers) == before[0]:
            layer.pos = before[1]
        return None

    def _group(self, layer: Layer) -> str:
        depth, start = 0, layer.pos
        for match in _GROUP.finditer(layer.text, start):
            sign = match.group()
            if sign == "{":
                depth += 1
            elif sign == "}":
                depth -= 1
                if depth == 0:
                    layer.pos = match.end()
                    return layer.text[start + 1 : match.start()]
        # Never closed: what stands in this paragraph is taken, the rest of the file is kept.
        end = _PARAGRAPH.search(layer.text, start)
        layer.pos = end.start() if end else len(layer.text)
        return layer.text[start + 1 : layer.pos]

    def option(self) -> str | None:
        """The next `[…]` without its brackets, or None when there is none."""
        layer = self.settle()
        if layer is None:
            return None
        blank = _BLANK.match(layer.text, layer.pos)
        start = blank.end() if blank else layer.pos
        if start >= len(layer.text):
            self.blanks()
            layer = self.settle()
            if layer is None:
                return None
            start = layer.pos
        if layer.text[start] != "[":
            return None
        depth = 0
        level = 0
        for match in _BRACKET.finditer(layer.text, start):
            sign = match.group()
            if sign == "{":
                depth += 1
            elif sign == "}":
                depth -= 1
                if depth < 0:
                    return None
            elif sign == "[" and depth == 0:
                level += 1
            elif sign == "]" and depth == 0:
                level -= 1
                if level == 0:
                    layer.pos = match.end()
                    return layer.text[start + 1 : match.start()]
            elif sign[0] == "\n" and depth == 0:
                return None
            if match.start() - start > _LONGEST_ARGUMENT:
                return None
        return None

    def overlay(self) -> str | None:
        """The next `<…>` if it reads as an overlay specification."""
        layer = self.settle()
        if layer is None:
            return None
        match = OVERLAY.match(layer.text, layer.pos)
        if match and match.group(1) and _OVERLAY_WORD.fullmatch(match.group(1)):
            layer.pos = match.end()
            return match.group(1)
        return None

    def until(self, stop: str) -> str:
        """Text up to a delimiter of a `\\def`; the delimiter is read too."""
        layer = self.settle()
        if layer is None:
            return ""
        end = layer.text.find(stop, layer.pos)
        if end < 0:
            return self.argument()
        piece = layer.text[layer.pos : end]
        layer.pos = end + len(stop)
        return piece

    def place(self) -> tuple[str, int]:
        """The file being read and the line in it."""
        for layer in reversed(self.layers):
            if layer.source is not None:
                return layer.file, layer.source.line(min(layer.pos, len(layer.text)))
        return "", 0
