"""The expander: a document's files as one plain LaTeX text, the way TeX would have read them.

One pass from left to right: `\\input` is followed, the course's own commands and environments are
replaced by what they stand for, conditions are decided, overlays and layout commands go, and what
the next steps need (frames, sections, counters, labels) stays. Every loop has a budget.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from dataclasses import dataclass, field

from ingestion.parsing.latex import definitions, vocabulary
from ingestion.parsing.latex.conditionals import BRACED, Conditions, is_condition
from ingestion.parsing.latex.inputs import Folder, OutsideError, Reference
from ingestion.parsing.latex.macros import (
    BoxStyle,
    Definitions,
    Environment,
    Macro,
    Theorem,
    plain_parameters,
    read_values,
    substitute,
)
from ingestion.parsing.latex.masking import Declared, Vault, Verbatim, mask
from ingestion.parsing.latex.overlays import Pauses, shown
from ingestion.parsing.latex.stream import TOKEN, Layer, Stream
from ingestion.parsing.latex.structure import Structure
from ingestion.parsing.types import DocumentError

_MOST_EXPANSIONS = 400_000
_MOST_IN_ONE_PLACE = 4_000
_LONGEST_TEXT = 30_000_000
_DEEPEST = 400
_DIMENSION = re.compile(
    r"\s*=?\s*(?:-?\s*(?:\d*[.,]?\d+|\d+[.,]?)\s*(?:true\s*)?(?:pt|em|ex|cm|mm|in|bp|sp|pc|dd|cc|mu|"
    r"fil+|\\[a-zA-Z@]+)|-?\\[a-zA-Z@]+)(?:\s*(?:plus|minus)\s*-?[\d.]*\s*(?:pt|em|ex|cm|mm|fil+|"
    r"\\[a-zA-Z@]+))*"
)
_ASSIGNMENT = re.compile(
    r"\s*(?:=\s*-?(?:[\d.,]+\s*(?:pt|em|ex|cm|mm|in|bp|\\[a-zA-Z@]+)?|\\[a-zA-Z@]+)"
    r"|-?[\d.,]+\s*(?:pt|em|ex|cm|mm|in|\\[a-zA-Z@]+)(?![a-zA-Z])|\\[a-zA-Z]*(?:skip|sep|width|size))"
    r"(?:\s*(?:plus|minus)\s*-?[\d.]*\s*(?:pt|em|ex|cm|mm|fil+))*"
)
_LENGTHS = re.compile(
    r"skip|sep$|width$|height$|indent|margin|depth$|penalty|tolerance|stretch|size$"
)
_XSPACE_NONE = set("{}~.!,:;?/')-\\ \n\t»”")
_TAIL = re.compile(r"\\[a-zA-Z@]+$")


@dataclass(frozen=True, slots=True)
class Warning_:  # noqa: N801
    """Something a person should know, with its place."""

    what: str
    text: str
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        place = (
            f"{self.file}:{self.line}: " if self.line else (f"{self.file}: " if self.file else "")
        )
        return place + self.text


@dataclass(frozen=True, slots=True)
class Place:
    """Where a frame or heading of the expanded text stands in the sources."""

    at: int
    file: str
    line: int


@dataclass(slots=True)
class Expanded:
    """What the expander hands on."""

    text: str
    known: Definitions
    places: list[Place] = field(default_factory=list)
    pages: dict[int, int] = field(default_factory=dict)  # start of a frame -> its pages
    hooked: list[tuple[int, int]] = field(default_factory=list)  # ranges made by hooks
    files: list[str] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)  # title, subtitle, lecture, class, …
    warnings: list[Warning_] = field(default_factory=list)
    unresolved: list[str] = field(default_factory=list)
    bibliographies: list[str] = field(default_factory=list)
    pictures: list[str] = field(default_factory=list)


class Expander:
    """Expands one document. `main` is its root file; `boxes` are the kinds that preuve.toml states."""  # noqa: E501

    def __init__(
        self,
        folder: Folder,
        main: str,
        vault: Vault,
        declared: Declared,
        *,
        preamble: bool,
        boxes: dict[str, str] | None = None,
        macros: dict[str, str] | None = None,
        seconds: float = 60.0,
    ) -> None:
        self.folder, self.main, self.vault, self.declared = folder, main, vault, declared
        self.stream = Stream()
        self.known = Definitions()
        self.conditions = Conditions(self)
        self.structure = Structure(self)
        self.boxes = boxes or {}
        self.muted = self.preamble = preamble
        self.beamer = False  # the document's class is beamer
        self.done = False
        self.classes: set[str] = set()
        self.packages: set[str] = set()
        self.environments: list[str] = []
        self.wrapped: list[tuple[str, Environment, list[str], str]] = []
        self.result = Expanded("", self.known)
        self.pauses: Pauses | None = None
        self.frame_at: int | None = None
        self.steps = self.here = self.produced = 0
        self.deadline = time.monotonic() + seconds
        self._out: list[str] = []
        self._size = 0
        self._word = False  # the last thing written was a command word
        self._undecided: Counter[str] = Counter()
        self._captured: list[tuple[list[str], int, bool, bool]] = []
        for name, body in (macros or {}).items():
            count = max([0, *(int(n) for n in re.findall(r"#([1-9])", body))])
            self.known.define(name.lstrip("\\"), Macro(body, plain_parameters(str(count), None)))

    # -- output ---------------------------------------------------------------------------------

    def emit(self, piece: str) -> None:
        if self.muted or not piece:
            return
        if self._word and (piece[0].isalpha() or piece[0] == "@"):
            self._out.append(" ")
            self._size += 1
        self._out.append(piece)
        self._size += len(piece)
        self._word = bool(piece[0] == "\\" and _TAIL.search(piece[-40:]))

    @property
    def size(self) -> int:
        return self._size

    def in_math(self) -> bool:
        """Whether the place being written is inside a formula."""
        recent = "".join(self._out[-400:])
        recent = recent[max(recent.rfind("\n\n"), 0) :]
        single = len(re.findall(r"(?<!\\)\$", recent)) % 2 == 1
        pairs = recent.rfind("\\(") > recent.rfind("\\)") or recent.rfind("\\[") > recent.rfind(
            "\\]"
        )
        inside = any(name in vocabulary.MATH_ENVIRONMENTS for name in self.environments)
        return single or pairs or inside

    # -- running --------------------------------------------------------------------------------

    def run(self) -> Expanded:
        self.enter(self.main)
        self._loop(0)
        self.structure.finish_frame()
        for name, count in self._undecided.most_common(8):
            self.warn("undecided", f"condition \\{name} not decided by the source: both branches "
                                   f"kept ({count} times)", placed=False)  # fmt: skip
        self.result.text = "".join(self._out)
        return self.result

    def expanded(self, text: str) -> str:
        """`text` alone, expanded now with what is known now."""
        if "\\" not in text and "{" not in text:
            return text
        layers, self.stream.layers = self.stream.layers, []
        saved = (self._out, self._size, self._word, self.muted)
        conditions, self.conditions.open = self.conditions.open, []
        self._out, self._size, self._word, self.muted = [], 0, False, False
        places, self.result.places = self.result.places, []
        try:
            self.stream.push(text)
            self._loop(0)
            return "".join(self._out)
        finally:
            self._out, self._size, self._word, self.muted = saved
            self.stream.layers = layers
            self.conditions.open = conditions
            self.result.places = places

    def _loop(self, floor: int) -> None:
        stream = self.stream
        while len(stream.layers) > floor and not self.done:
            layer = stream.layers[-1]
            match = TOKEN.search(layer.text, layer.pos)
            if match is None:
                self.emit(layer.text[layer.pos :])
                stream.layers.pop()
                if layer.file:
                    self.structure.left(layer.file)
                continue
            if match.start() > layer.pos:
                self.emit(layer.text[layer.pos : match.start()])
            layer.pos = match.end()
            if layer.file:
                self.here = 0
            token = match.group()
            if token[0] == "\\":
                self.command(token[1:])
            elif token == "{":  # noqa: S105
                self.known.open()
                self.emit(token)
            elif token == "}":  # noqa: S105
                self.known.close()
                self.emit(token)
            else:
                self.emit("\n\n")

    def command(self, name: str) -> None:
        """One command: its handler, the course's definition, or the command itself."""
        if not (name[0].isalpha() or name[0] == "@"):
            self._sign(name)
            return
        of_structure = self.structure.handlers.get(name)
        of_definitions = definitions.HANDLERS.get(name)
        if of_structure is not None:
            self.stream.blanks()
            of_structure(name)
            return
        if of_definitions is not None:
            self.stream.blanks()
            of_definitions(self, name)
            return
        macro = self.known.macros.get(name)
        if macro is not None:
            self._expand(name, macro)
        elif name in BRACED:
            self.conditions.braced(name)
        elif is_condition(name):
            self.conditions.primitive(name)
        elif name in {"else", "or"}:
            if self.conditions.open:
                self.conditions.otherwise()
        elif name == "fi":
            self.stream.blanks()
            self.conditions.end()
        else:
            self._standard(name)

    def _sign(self, name: str) -> None:
        macro = self.known.macros.get(name)
        if macro is not None:
            self._expand(name, macro)
        elif name == "\n":
            self.emit("\\ ")
        elif name == "\\":
            self.emit("\\\\")
            self.stream.match(re.compile(r"\*"))
            self.stream.match(re.compile(r"[ \t]*\[\s*-?[\d.,]+\s*[a-z\\]+\s*\]"))
            self.stream.match(re.compile(r"[ \t]*\[\s*-?[\d.]*\\[a-zA-Z]+\s*\]"))
        elif name in {"/", "-", "@"}:
            return
        else:
            self.emit("\\" + name)

    def _expand(self, name: str, macro: Macro) -> None:
        self.steps += 1
        self.here += 1
        if (
            self.steps > _MOST_EXPANSIONS
            or self.here > _MOST_IN_ONE_PLACE
            or self.produced > _LONGEST_TEXT
            or len(self.stream.layers) > _DEEPEST
            or (self.steps % 512 == 0 and time.monotonic() > self.deadline)
        ):
            self._give_up(name)
            return
        if name[0].isalpha() or name[0] == "@":
            self.stream.blanks()
        values = read_values(self.stream, macro.parameters) if macro.parameters else []
        text = substitute(macro.body, values)
        self.produced += len(text)
        self.stream.push(text)

    def _give_up(self, name: str) -> None:
        """A definition that never ends is cut: back to the file, one warning."""
        self.warn("macro loop", f"\\{name}: the definition does not end, it is left out")
        while self.stream.layers and not self.stream.layers[-1].file:
            self.stream.layers.pop()
        self.here = 0
        if self.steps > _MOST_EXPANSIONS or time.monotonic() > self.deadline:
            self.known.macros.clear()
            self.steps = 0
            self.deadline = time.monotonic() + 60

    def _standard(self, name: str) -> None:
        """A command of LaTeX or of a package that the course does not define."""
        stream = self.stream
        if (
            name in vocabulary.OVERLAID
            and (overlay := self.overlay()) is not None
            and not shown(overlay)
        ) and name not in {"item", "includegraphics"}:
            self.read(vocabulary.SHOWN.get(name, ("{", 0))[0])
            return
        spec = vocabulary.DROPPED.get(name)
        if spec is not None and not (spec == "" and self._keeps_in_math(name)):
            self.read(spec)
            if not spec:
                stream.blanks()
            self._dropped(name)
            return
        if name == "xspace":
            following = stream.peek()
            if following and following not in _XSPACE_NONE:
                self.emit(" ")
            return
        if _LENGTHS.search(name) and stream.match(_ASSIGNMENT):
            return
        self.emit("\\" + name)

    def _keeps_in_math(self, name: str) -> bool:
        return name in {"nonumber", "hline", "mathstrut"}

    def _dropped(self, name: str) -> None:
        if name in {
            "hfill",
            "hfil",
            "hspace",
            "dotfill",
            "hrulefill",
            "vspace",
            "break",
        } or name in {"bigskip", "medskip", "smallskip", "newpage", "clearpage", "vfill"}:
            self.emit(" ")

    def read(self, spec: str) -> list[str | None]:
        """What follows a command, by a specification of vocabulary."""
        stream = self.stream
        values: list[str | None] = []
        for letter in spec:
            if letter == "*":
                values.append("*" if stream.star() else None)
            elif letter == "[":
                values.append(stream.option())
            elif letter == "<":
                values.append(stream.overlay())
            elif letter == "(":
                match = stream.match(re.compile(r"\s*\([^()]*\)"))
                values.append(match.group() if match else None)
            else:
                values.append(stream.argument())
        return values

    def overlay(self) -> str | None:
        """An overlay specification here, counted for the frame's pages."""
        found = self.stream.overlay()
        if found is not None and self.pauses is not None:
            self.pauses.specify(found)
        return found

    # -- files ----------------------------------------------------------------------------------

    def enter(self, path: str) -> bool:
        """Go on reading in another file of the folder."""
        if any(layer.file == path for layer in self.stream.layers):
            self.warn("loop", f"\\input loop: {path} includes itself, cut here")
            return False
        if len(self.stream.layers) > _DEEPEST:
            self.warn("loop", f"{path}: included too deeply")
            return False
        try:
            text = self.folder.text(path)
        except DocumentError as error:
            if path == self.main:
                raise
            self.warn("unreadable", f"{path}: {error.user_message}")
            return False
        masked = mask(text, self.vault, self.declared)
        for name, line in masked.unclosed:
            self.result.warnings.append(
                Warning_("unclosed", f"\\begin{{{name}}} is never closed", path, line)
            )
        self.stream.layers.append(Layer(masked.text + "\n", file=path, source=masked))
        if path not in self.result.files:
            self.result.files.append(path)
        return True

    def include(self, reference: Reference) -> bool:
        """Follow a reference to a file; say so when it cannot be followed."""
        at = self.stream.place()[0] or self.main
        try:
            path = self.folder.find(reference, at, self.main)
        except OutsideError:
            self.warn(
                "outside", f"\\{reference.command}{{{reference.name}}} leaves the folder: not read"
            )
            self.result.unresolved.append(reference.name)
            return False
        if path is None:
            if reference.command not in {"usepackage", "RequirePackage", "documentclass",
                                         "LoadClass", "usetheme"}:  # fmt: skip
                self.warn(
                    "missing",
                    f"\\{reference.command}{{{reference.name}}}: no such file in the folder",
                )
                self.result.unresolved.append(reference.name)
            return False
        if not self.folder.may_read(path):
            self.warn(
                "private",
                f"\\{reference.command}{{{reference.name}}}: the file is private, not read",
            )
            self.result.unresolved.append(reference.name)
            return False
        return self.enter(path)

    def file_exists(self, name: str) -> bool:
        try:
            reference = Reference("IfFileExists", name)
            return (
                self.folder.find(reference, self.stream.place()[0] or self.main, self.main)
                is not None
            )
        except OutsideError:
            return False

    def listing(self, name: str, options: str, language: str = "") -> None:
        """A file shown as a listing."""
        at = self.stream.place()[0] or self.main
        try:
            path = self.folder.find(Reference("lstinputlisting", name), at, self.main)
        except OutsideError:
            path = None
        if path is None or not self.folder.may_read(path):
            self.warn("missing", f"listing {name}: no such file in the folder")
            self.result.unresolved.append(name)
            return
        try:
            lines = self.folder.text(path).split("\n")
        except DocumentError as error:
            self.warn("unreadable", f"{path}: {error.user_message}")
            return
        numbers = dict(re.findall(r"(firstline|lastline)\s*=\s*(\d+)", options))
        lines = lines[
            int(numbers.get("firstline", 1)) - 1 : int(numbers.get("lastline", len(lines)))
        ]
        mark = self.vault.put(Verbatim("block", "\n".join(lines).strip("\n"), language))
        self.emit(f"\n\n{mark}\n\n")
        if path not in self.result.files:
            self.result.files.append(path)

    # -- remarks --------------------------------------------------------------------------------

    def warn(self, what: str, text: str, *, placed: bool = True) -> None:
        if len(self.result.warnings) < 500:
            file, line = self.stream.place() if placed else (self.main, 0)
            self.result.warnings.append(Warning_(what, text, file, line))

    def note(self, what: str, name: str) -> None:
        if what == "undecided":
            self._undecided[name] += 1

    def mark(self) -> None:
        """Remember which source line the place being written comes from."""
        if not self.muted:
            file, line = self.stream.place()
            self.result.places.append(Place(self._size, file, line))

    def theorem(self, name: str, theorem: Theorem) -> None:
        self.known.theorems[name] = theorem

    def box(self, name: str, style: BoxStyle) -> None:
        self.known.boxes[name] = style

    def _expand_environment(self, name: str, begin: str) -> None:
        self.steps += 1
        self.here += 1
        if self.here > _MOST_IN_ONE_PLACE or len(self.stream.layers) > _DEEPEST:
            self._give_up(name)
            return
        self.produced += len(begin)
        self.stream.push(begin)

    def skip_dimension(self) -> None:
        self.stream.match(_DIMENSION)
