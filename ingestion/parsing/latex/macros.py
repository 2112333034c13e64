"""What a course defines for itself: commands, environments, boxes, theorems, glossary entries."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from ingestion.parsing.latex.stream import Stream


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter: m braced, o optional, s star, u up to `stop`, d between two signs."""

    kind: Literal["m", "o", "s", "u", "d"]
    default: str = ""
    stop: str = ""


@dataclass(frozen=True, slots=True)
class Macro:
    body: str
    parameters: tuple[Parameter, ...] = ()


@dataclass(frozen=True, slots=True)
class Environment:
    begin: str
    end: str
    parameters: tuple[Parameter, ...] = ()


@dataclass(frozen=True, slots=True)
class BoxStyle:
    """A `\\newtcolorbox`-like box: its options, in which its parameters may stand."""

    options: str
    parameters: tuple[Parameter, ...] = ()


@dataclass(frozen=True, slots=True)
class Theorem:
    """A theorem-like environment: what it prints; tcolorbox theorems take title and label."""

    printed: str
    braced: bool = False
    prefix: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """A glossary entry or an acronym as the source states it (LaTeX)."""

    key: str
    name: str
    description: str
    translation: str = ""
    acronym: bool = False
    plural: str = ""
    line: int = 0


NO_VALUE = "\\preuvenovalue"
_PARAMETER = re.compile(r"#(#*)([1-9])")
_WORD_BEFORE = re.compile(r"\\[a-zA-Z@]+\Z")


def substitute(body: str, values: list[str]) -> str:
    """`body` with `#1`… replaced; a doubled `##1` loses one sign and waits for its own macro."""

    def value(match: re.Match[str]) -> str:
        if match.group(1):
            return "#" * (len(match.group(1))) + match.group(2)
        index = int(match.group(2)) - 1
        text = values[index] if index < len(values) else ""
        if text[:1].isalpha() and _WORD_BEFORE.search(body, 0, match.start()):
            return " " + text  # `\\Vert#1` must not become another command
        return text

    return _PARAMETER.sub(value, body) if "#" in body else body


def read_values(stream: Stream, parameters: tuple[Parameter, ...]) -> list[str]:
    """The values that stand after a command, one for each parameter."""
    values: list[str] = []
    for parameter in parameters:
        if parameter.kind == "m":
            values.append(stream.argument())
        elif parameter.kind == "o":
            found = stream.option()
            values.append(parameter.default if found is None else found)
        elif parameter.kind == "s":
            values.append("\\BooleanTrue" if stream.star() else "\\BooleanFalse")
        elif parameter.kind == "d" and parameter.stop == "<>":
            overlay = stream.overlay()
            values.append(parameter.default if overlay is None else overlay)
        elif parameter.kind == "d":
            values.append(_delimited(stream, parameter))
        else:
            values.append(stream.until(parameter.stop))
    return values


def _delimited(stream: Stream, parameter: Parameter) -> str:
    opening, closing = parameter.stop[0], parameter.stop[-1]
    stream.blanks()
    if stream.peek() != opening:
        return parameter.default
    stream.skip(1)
    return stream.until(closing)


def plain_parameters(count: str | None, default: str | None) -> tuple[Parameter, ...]:
    """The parameters of a `\\newcommand{…}[count][default]`."""
    number = int(count) if count and count.strip().isdigit() else 0
    if not number:
        return ()
    rest = (Parameter("m"),) * (number - (default is not None))
    return (Parameter("o", default), *rest) if default is not None else rest


def document_parameters(spec: str) -> tuple[Parameter, ...]:
    """The parameters of an xparse specification such as `s O{red} m`."""
    found: list[Parameter] = []
    stream = Stream()
    stream.push(spec)
    while True:
        stream.all_blanks()
        letter = stream.peek()
        if not letter:
            return tuple(found)
        stream.skip(1)
        if letter in "mv":
            found.append(Parameter("m"))
        elif letter == "o":
            found.append(Parameter("o", NO_VALUE))
        elif letter == "O":
            found.append(Parameter("o", stream.argument()))
        elif letter == "s":
            found.append(Parameter("s"))
        elif letter in "dDrR":
            signs = stream.argument() + stream.argument()
            default = stream.argument() if letter in "DR" else NO_VALUE
            found.append(Parameter("d", default, signs if len(signs) == 2 else "()"))
        elif letter == "t":
            stream.argument()
            found.append(Parameter("s"))
        elif letter in "eE" or letter == ">":
            stream.argument()
        elif letter in "bB":
            continue


def primitive_parameters(text: str) -> tuple[Parameter, ...]:
    """The parameters of `\\def\\x#1#2.{…}`: a delimiter after `#n` ends that argument."""
    pieces = re.split(r"#[1-9]", text)
    return tuple(
        Parameter("u", stop=piece) if piece.strip() else Parameter("m") for piece in pieces[1:]
    )


_KEY = re.compile(r"\s*([a-zA-Z][\w -]*?)\s*=\s*")


def options_of(text: str) -> dict[str, str]:
    """`key = value` pairs of an option list; braces around a value are taken off."""
    found: dict[str, str] = {}
    for piece in split_commas(text):
        match = _KEY.match(piece)
        if match:
            value = piece[match.end() :].strip()
            found[match.group(1).strip().lower()] = unbraced(value)
        elif piece.strip():
            found.setdefault(piece.strip().lower(), "")
    return found


def split_commas(text: str) -> list[str]:
    """The pieces of a list at its commas, those inside braces or brackets apart."""
    pieces: list[str] = []
    depth, start = 0, 0
    for at, char in enumerate(text):
        if char in "{[" and text[at - 1 : at] != "\\":
            depth += 1
        elif char in "}]" and text[at - 1 : at] != "\\":
            depth -= 1
        elif char == "," and depth == 0:
            pieces.append(text[start:at])
            start = at + 1
    return [*pieces, text[start:]]


def unbraced(value: str) -> str:
    """`{x}` as `x`; anything else as it is."""
    while value.startswith("{") and value.endswith("}"):
        depth = 0
        for at, char in enumerate(value):
            depth += (char == "{") - (char == "}")
            if depth == 0 and at < len(value) - 1:
                return value
        value = value[1:-1].strip()
    return value


@dataclass(slots=True)
class Definitions:
    """Every table of one document; scopes undo what a group defined."""

    macros: dict[str, Macro] = field(default_factory=dict)
    environments: dict[str, Environment] = field(default_factory=dict)
    boxes: dict[str, BoxStyle] = field(default_factory=dict)
    theorems: dict[str, Theorem] = field(default_factory=dict)
    flags: dict[str, bool] = field(default_factory=dict)
    hooks: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    counters: dict[str, int] = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)
    _scopes: list[list[tuple[dict[str, Macro], str, Macro | None]]] = field(default_factory=list)

    def open(self) -> None:
        self._scopes.append([])

    def close(self) -> None:
        if not self._scopes:
            return
        for table, name, old in reversed(self._scopes.pop()):
            if old is None:
                table.pop(name, None)
            else:
                table[name] = old

    def define(self, name: str, macro: Macro, *, everywhere: bool = False) -> None:
        if self._scopes and not everywhere:
            self._scopes[-1].append((self.macros, name, self.macros.get(name)))
        self.macros[name] = macro
