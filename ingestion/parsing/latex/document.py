"""One LaTeX document opened: its files expanded, its labels, works and terms known."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from ingestion.parsing.latex import library, references
from ingestion.parsing.latex.expand import Expanded, Expander
from ingestion.parsing.latex.formulas import Formulas
from ingestion.parsing.latex.frames import Part, split
from ingestion.parsing.latex.inputs import Folder, closure
from ingestion.parsing.latex.masking import Declared, Vault, declarations
from ingestion.parsing.latex.nodes import Context, read_inline
from ingestion.parsing.plain import line
from ingestion.parsing.tree import Inline, Math, Text
from ingestion.parsing.types import DocumentError

if TYPE_CHECKING:
    from pathlib import Path

    from ingestion.parsing.latex.macros import Entry, Macro
    from ingestion.parsing.settings import CourseFile

_MATH_SHOWN = 160


@dataclass(slots=True)
class Source:
    """A document ready to be cut into chunks."""

    expanded: Expanded
    context: Context
    parts: list[Part]
    entries: dict[str, Entry]
    works: dict[str, references.Work]
    labels: dict[str, references.Target]
    language: str
    warnings: list[str] = field(default_factory=list)

    def title(self, latex: str) -> tuple[Inline, ...]:
        return read_inline(latex, self.context)

    @property
    def document_title(self) -> str:
        facts = self.context.facts
        pieces = [line(facts.get(name, ())) for name in ("title", "subtitle")]
        return " — ".join(piece for piece in pieces if piece)


_BEAMER = re.compile(r"^[^%\n]*\\documentclass\s*(?:\[[^\]]*\])?\s*\{beamer\}", re.MULTILINE)


def open_document(
    root: Path, path: str, settings: CourseFile, language: str, *, alone: bool = False
) -> Source:
    """Read `path` and all it includes; raises DocumentError when it cannot be read at all."""
    folder = Folder(root, may_read=settings.reader_of(path), alone=path if alone else "")
    folder.text(path)
    sources = []
    for name in closure(folder, path):
        try:
            sources.append(folder.text(name))
        except DocumentError:
            continue
    declared = declarations(sources)
    preamble = any(
        re.search(r"^[^%\n]*\\begin\s*\{document\}", text, re.MULTILINE) for text in sources
    )
    beamer = any(_BEAMER.search(text) for text in sources)
    expanded, vault = _expanded(folder, path, declared, settings, preamble=preamble, beamer=beamer)
    context = Context(vault, Formulas(vault), language, boxes=settings.boxes)
    context.known = frozenset(expanded.known.macros)
    entries = {entry.key: entry for entry in expanded.known.entries}
    works = references.bibliography(folder, expanded.bibliographies, expanded.text)
    targets = references.labels(expanded.text)
    source = Source(expanded, context, split(expanded), entries, works, targets, language)
    context.resolve = _resolver(source)
    context.cite = lambda command, keys, notes: references.cited(works, command, keys, notes)
    context.term = lambda command, key: read_inline(
        references.term_latex(entries, command, key), context
    )
    for name in ("title", "subtitle", "author", "date", "institute", "lecture"):
        if latex := expanded.facts.get(name):
            context.facts[name] = read_inline(_without_thanks(latex), context)
    return source


def _expanded(
    folder: Folder,
    path: str,
    declared: Declared,
    settings: CourseFile,
    *,
    preamble: bool,
    beamer: bool,
) -> tuple[Expanded, Vault]:
    """The document expanded; one that misses its macro files borrows from the course's others."""

    def run(borrowed: dict[str, Macro]) -> tuple[Expanded, Vault]:
        vault = Vault()
        expander = Expander(
            folder, path, vault, declared,
            preamble=preamble, boxes=settings.boxes, macros=settings.macros,
        )  # fmt: skip
        expander.beamer = beamer
        for name, macro in borrowed.items():
            expander.known.define(name, macro)
        return expander.run(), vault

    expanded, vault = run({})
    if folder.alone or (preamble and not expanded.unresolved):
        return expanded, vault
    wanted = library.missing(expanded.text, expanded.known.macros)
    borrowed = library.find(folder.root, wanted, folder.may_read)
    return run(borrowed) if borrowed else (expanded, vault)


def _without_thanks(latex: str) -> str:
    return re.sub(r"\\(?:thanks|footnote|inst)\s*\{[^{}]*\}", "", latex)


def _resolver(source: Source):  # type: ignore[no-untyped-def]
    busy: set[str] = set()

    def resolve(command: str, key: str) -> tuple[Inline, ...]:
        target = source.labels.get(key)
        if command == "pageref":
            return (Text("…"),) if target is None else ()
        if target is None or not target.latex.strip() or key in busy:
            return (Text(re.sub(r"^[a-zA-Z]{1,5}:", "", key).replace("_", " ")),)
        busy.add(key)
        try:
            if target.kind == "formula":
                return _formula(source, target.latex)
            inlines = read_inline(target.latex, source.context)
        finally:
            busy.discard(key)
        french = source.language.startswith("fr")
        marks = ("« ", " »") if french else ("“", "”")
        return (Text(marks[0]), *inlines, Text(marks[1]))

    return resolve


def _formula(source: Source, latex: str) -> tuple[Inline, ...]:
    cleaned = source.context.formulas.clean(latex)
    if len(cleaned) > _MATH_SHOWN or "\\\\" in cleaned or "&" in cleaned:
        return (Text("(…)"),)
    return (Math(cleaned),)


__all__ = ["Source", "cached_property", "open_document"]
