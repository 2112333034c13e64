"""Commands that other files of a course define, for a fragment that does not include them.

A slide file without a preamble, or one whose macro file lies outside the folder, still means what
the course means by its commands. Files are weighed by how many of the missing commands they
define; the first one to define a command wins.
"""

from __future__ import annotations

import os
import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from ingestion.parsing.encoding import decode
from ingestion.parsing.latex import vocabulary
from ingestion.parsing.latex.macros import Macro, plain_parameters
from ingestion.parsing.latex.stream import Stream
from ingestion.parsing.types import DocumentError

if TYPE_CHECKING:
    from collections.abc import Callable

_MOST_FILES = 3_000
_LARGEST = 1_000_000
_DEFINITION = re.compile(
    r"\\(?P<command>newcommand|providecommand|DeclareRobustCommand|DeclareMathOperator)\*?\s*"
    r"\{?\s*\\(?P<name>[a-zA-Z]+)\s*\}?"
)
_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%[^\n]*\n?[ \t]*")

Shelf = dict[str, Macro]


def missing(text: str, known: dict[str, Macro]) -> set[str]:
    """The commands of an expanded text that neither the document nor our tables define."""
    names = set(re.findall(r"\\([a-zA-Z]+)", text))
    return {
        name
        for name in names
        if name not in known and name not in vocabulary.PROTECTED and name not in vocabulary.DROPPED
        and name not in vocabulary.SHOWN and not name.startswith("preuve")
    }  # fmt: skip


def find(root: Path, wanted: set[str], may_read: Callable[[str], bool]) -> dict[str, Macro]:
    """The definitions of `wanted` commands in the other files of the folder."""
    shelves = [
        (path, shelf) for path, shelf in _shelves(str(root), _newest(root)) if may_read(path)
    ]
    found: dict[str, Macro] = {}
    rest = set(wanted)
    while rest and shelves:
        best = max(shelves, key=lambda entry: (len(rest & entry[1].keys()), entry[0]))
        names = rest & best[1].keys()
        if not names:
            break
        found |= {name: best[1][name] for name in names}
        rest |= _used(best[1][name].body for name in names) & best[1].keys()
        rest -= found.keys()
    return found


def _used(bodies: object) -> set[str]:
    return {name for body in bodies for name in re.findall(r"\\([a-zA-Z]+)", body)}  # type: ignore[attr-defined]


def _sources(root: Path) -> list[Path]:
    found: list[Path] = []
    for folder, names, files in os.walk(root, followlinks=False):
        names[:] = sorted(name for name in names if not name.startswith("."))
        for name in sorted(files):
            path = Path(folder) / name
            if path.suffix.lower() in {".tex", ".sty", ".cls"} and not path.is_symlink():
                found.append(path)
        if len(found) > _MOST_FILES:
            break
    return found[:_MOST_FILES]


def _newest(root: Path) -> tuple[int, int]:
    """A stamp that changes when a source changes."""
    stats = [path.stat() for path in _sources(root)]
    return len(stats), max((stat.st_mtime_ns for stat in stats), default=0)


@lru_cache(maxsize=4)
def _shelves(root: str, _stamp: tuple[int, int]) -> list[tuple[str, Shelf]]:
    shelves: list[tuple[str, Shelf]] = []
    base = Path(root)
    for path in _sources(base):
        if path.stat().st_size > _LARGEST:
            continue
        try:
            text, _ = decode(path.read_bytes())
        except (DocumentError, OSError):
            continue
        if shelf := definitions_in(text):
            shelves.append((path.relative_to(base).as_posix(), shelf))
    return shelves


def definitions_in(text: str) -> Shelf:
    """The `\\newcommand`s of a source, by name."""
    text = _COMMENT.sub(r"\1", text)
    shelf: Shelf = {}
    for match in _DEFINITION.finditer(text):
        stream = Stream()
        stream.push(text)
        stream.layers[0].pos = match.end()
        if match.group("command") == "DeclareMathOperator":
            star = "*" if "*" in match.group() else ""
            shelf[match.group("name")] = Macro(f"\\operatorname{star}{{{stream.argument()}}}")
            continue
        count, default = stream.option(), stream.option()
        body = stream.group()
        if body is not None:
            shelf[match.group("name")] = Macro(body, plain_parameters(count, default))
    return shelf
