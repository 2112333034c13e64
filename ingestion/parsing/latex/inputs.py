"""The files of a course: read inside its folder only, and found the way TeX looks for them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from ingestion.parsing.encoding import decode
from ingestion.parsing.types import DocumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LARGEST_FILE = 8_000_000
_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%[^\n]*")
_INPUT = re.compile(
    r"\\(input|include|subfile|subfileinclude|loadglsentries|InputIfFileExists|includestandalone|"
    r"lstinputlisting|verbatiminput|VerbatimInput|inputminted|usepackage|RequirePackage|"
    r"documentclass|LoadClass|usetheme|usecolortheme|useinnertheme|useoutertheme)\b\*?\s*"
    r"(?:\[[^\]]*\]\s*)?(?:\{([^{}]*)\}(?:\s*\{([^{}]*)\})?)?"
    r"|\\input\s+([^\s{}\\%]+)"
    r"|\\(import|subimport|includefrom|subincludefrom|inputfrom|subinputfrom)\*?\s*"
    r"\{([^{}]*)\}\s*\{([^{}]*)\}"
)
_DEFINED_INPUT = re.compile(
    r"\\(?:new|renew|provide)command\s*\*?\s*\{?\\([a-zA-Z]+)\}?\s*\[(\d)\]\s*(?:\[[^\]]*\])?\s*"
    r"\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*?\\(?:input|include|subfile)\s*\{[^{}]*#[1-9][^{}]*\}"
    r"(?:[^{}]|\{[^{}]*\})*)\}"
)
_STYLES = {
    "usepackage": ("{}.sty",),
    "RequirePackage": ("{}.sty",),
    "documentclass": ("{}.cls",),
    "LoadClass": ("{}.cls",),
    "usetheme": ("beamertheme{}.sty",),
    "usecolortheme": ("beamercolortheme{}.sty",),
    "useinnertheme": ("beamerinnertheme{}.sty",),
    "useoutertheme": ("beameroutertheme{}.sty",),
}
_LISTINGS = {"lstinputlisting", "verbatiminput", "VerbatimInput", "inputminted"}


class OutsideError(Exception):
    """A path that leaves the folder."""


@dataclass(frozen=True, slots=True)
class Reference:
    """One request for a file in a source: by which command, which name, from which folder."""

    command: str
    name: str
    directory: str = ""


@dataclass(slots=True)
class Folder:
    """A folder of sources. `may_read` says which of its files this document may include."""

    root: Path
    may_read: Callable[[str], bool] = lambda path: True
    alone: str = ""  # a single file was given: nothing beside it is read
    _texts: dict[str, str] = field(default_factory=dict)
    _names: dict[str, bool] = field(default_factory=dict)

    def exists(self, path: str) -> bool:
        if self.alone and path != self.alone:
            return False
        if path not in self._names:
            full = self.root / path
            try:
                inside = full.resolve().is_relative_to(self.root.resolve())
                self._names[path] = inside and full.is_file()
            except (OSError, ValueError, RuntimeError):
                self._names[path] = False
        return self._names[path]

    def text(self, path: str) -> str:
        """The decoded text of a file inside the folder; raises DocumentError."""
        if path not in self._texts:
            if not self.exists(path):
                raise DocumentError(f"{path}: no such file in the folder")
            full = self.root / path
            if full.stat().st_size > LARGEST_FILE:
                raise DocumentError(f"{path}: larger than {LARGEST_FILE // 1_000_000} MB")
            self._texts[path] = decode(full.read_bytes())[0]
        return self._texts[path]

    def find(self, reference: Reference, at: str, main: str) -> str | None:
        """The file a reference names, looked for beside the file at hand and beside the root.

        None when it is not in the folder; raises OutsideError when the name leaves it.
        """
        name = reference.name.strip().strip('"').replace("\\", "/")
        if not name or name.startswith(("|", "http:", "https:")) or "\x00" in name:
            return None
        if reference.command in _STYLES:
            candidates = [form.format(name) for form in _STYLES[reference.command]]
        elif reference.command in _LISTINGS:
            candidates = [name]
        else:
            candidates = [name] if PurePosixPath(name).suffix == ".tex" else [name + ".tex", name]
        if name.startswith(("/", "~")) or re.match(r"[a-zA-Z]:", name):
            raise OutsideError(name)
        here, top = PurePosixPath(at).parent, PurePosixPath(main).parent
        bases = [here / reference.directory] if reference.directory else [here]
        bases += [top / reference.directory]
        if not reference.directory:
            bases += [PurePosixPath("."), *list(here.parents)]
        outside = False
        for base in dict.fromkeys(bases):
            for candidate in candidates:
                path = normal(base / candidate)
                if path is None:
                    outside = True
                elif self.exists(path):
                    return path
        if outside and ".." in PurePosixPath(name).parts:
            raise OutsideError(name)
        return None


def normal(path: PurePosixPath) -> str | None:
    """The path without `.` and `..`, or None when it leaves the folder."""
    parts: list[str] = []
    for part in path.parts:
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in {".", "/"}:
            parts.append(part)
    return "/".join(parts)


def references(text: str) -> Iterator[Reference]:
    """Every request for a file in a source, comments left out; also those that a macro makes."""
    text = _COMMENT.sub(r"\1", text)
    for match in _INPUT.finditer(text):
        command, first, second, primitive, importing, directory, name = match.groups()
        if importing:
            yield Reference("input", name, directory)
        elif primitive:
            yield Reference("input", primitive)
        elif first is not None:
            if command == "inputminted":
                first = second or first
            if command in _STYLES or command == "include":
                for piece in first.split(","):
                    yield Reference(command, piece.strip())
            elif "#" not in first:
                yield Reference(command, first)
    for match in _DEFINED_INPUT.finditer(text):
        yield from _through(match, text)


def _through(definition: re.Match[str], text: str) -> Iterator[Reference]:
    """The files that `\\newcommand{\\x}[1]{… \\input{a/#1} …}` reads where it is used."""
    name, count, body = definition.groups()
    wanted = re.findall(r"\\(input|include|subfile)\s*\{([^{}]*)\}", body)
    use = re.compile(rf"\\{name}(?![a-zA-Z])\s*" + r"\{([^{}]*)\}\s*" * int(count))
    for match in use.finditer(text):
        for command, pattern in wanted:
            path = re.sub(r"#([1-9])", lambda m: match.group(int(m.group(1))), pattern)  # noqa: B023
            yield Reference(command, path)


def closure(folder: Folder, main: str) -> list[str]:
    """The files of the folder that `main` is made of, itself first; loops are cut."""
    found = [main]
    for path in found:
        try:
            text = folder.text(path)
        except DocumentError:
            continue
        for reference in references(text):
            try:
                target = folder.find(reference, path, main)
            except OutsideError:
                continue
            if target and target not in found and folder.may_read(target) and len(found) < 2_000:
                found.append(target)
    return found
