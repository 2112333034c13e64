"""A frame body or a section as a tree: pylatexenc walks, this module builds."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pylatexenc.latexwalker import (
    LatexCharsNode,
    LatexEnvironmentNode,
    LatexGroupNode,
    LatexMacroNode,
    LatexMathNode,
    LatexSpecialsNode,
)

from ingestion.parsing.latex import commands, drawings, environments, grammar, vocabulary
from ingestion.parsing.latex.masking import MARK, Vault
from ingestion.parsing.latex.walker import walk
from ingestion.parsing.latex.walking import (
    BLANKS,
    Node,
    arguments_of,
    as_inlines,
    blank,
    contents,
    last,
    trim,
)
from ingestion.parsing.plain import line, plain
from ingestion.parsing.tree import (
    Block,
    Break,
    Code,
    CodeBlock,
    Emphasis,
    Figure,
    Inline,
    Link,
    Note,
    Paragraph,
    Strong,
    Text,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ingestion.parsing.latex.formulas import Formulas

_ACCENTS = {
    "'": "\u0301", "`": "\u0300", "^": "\u0302", '"': "\u0308", "~": "\u0303", "=": "\u0304",
    ".": "\u0307", "c": "\u0327", "u": "\u0306", "v": "\u030c", "H": "\u030b", "k": "\u0328",
    "r": "\u030a", "b": "\u0331", "d": "\u0323", "t": "\u0361",
}  # fmt: skip
_OPTIONS = re.compile(r"(?:\s*\[[^\[\]]*\])+")
_PARAGRAPH = re.compile(r"\n[ \t]*\n\s*")


@dataclass(slots=True)
class Page:
    """What a walk finds beside the blocks."""

    title: tuple[Inline, ...] = ()
    subtitle: tuple[Inline, ...] = ()
    notes: list[str] = field(default_factory=list)
    contents: str = ""  # a table of contents was asked for: its options, or "all"
    title_page: bool = False
    footnotes: list[Note] = field(default_factory=list)
    captions: list[tuple[Inline, ...]] = field(default_factory=list)
    pictures: list[Figure] = field(default_factory=list)


@dataclass(slots=True)
class Context:
    """What one document's walks share."""

    vault: Vault
    formulas: Formulas
    language: str = "fr"
    boxes: dict[str, str] = field(default_factory=dict)
    resolve: Callable[[str, str], tuple[Inline, ...]] = lambda command, key: ()
    cite: Callable[[str, Sequence[str], Sequence[str]], str] = lambda command, keys, notes: ""
    term: Callable[[str, str], tuple[Inline, ...]] = lambda command, key: (Text(key),)
    facts: dict[str, tuple[Inline, ...]] = field(default_factory=dict)
    unknown: Counter[str] = field(default_factory=Counter)
    known: frozenset[str] = frozenset()
    enumerated: int = 0  # the last number of the last numbered list, for [resume]


def read(text: str, context: Context, page: Page | None = None) -> list[Block]:
    """The blocks of a text. `page` receives its title, notes and footnotes; they end the blocks."""
    page = page if page is not None else Page()
    builder = Builder(context, page)
    builder.visit(walk(context.formulas.extract(text)))
    blocks = builder.finish()
    blocks += page.footnotes
    page.footnotes = []
    return blocks


def read_inline(text: str, context: Context) -> tuple[Inline, ...]:
    """A title or another short text as inlines."""
    if not re.search(r"[\\${}~\ue000`'-]", text):
        return (Text(BLANKS.sub(" ", text).strip()),) if text.strip() else ()
    return as_inlines(read(text, context))


class Builder:
    """Turns nodes into blocks, in one pass; one builder for each environment body."""

    def __init__(self, context: Context, page: Page) -> None:
        self.context = context
        self.page = page
        self.blocks: list[Block] = []
        self.line: list[Inline] = []
        self.hint = ""
        self.depth = 0  # of lists, for the labels of their items
        self.drawing_next = False
        self.unread = False  # the last command was unknown: its arguments stand before us

    # -- assembling -----------------------------------------------------------------------------

    def finish(self) -> list[Block]:
        self.flush()
        return self.blocks

    def flush(self) -> None:
        """End the paragraph; pictures met in it come after it."""
        inlines = trim(self.line)
        self.line = []
        if any(not blank(inline) for inline in inlines):
            self.blocks.append(Paragraph(inlines))
        self.blocks += self.page.pictures
        self.page.pictures = []

    def add(self, block: Block) -> None:
        self.flush()
        self.blocks.append(block)

    def sub(self, nodes: Sequence[Node]) -> list[Block]:
        """The blocks of a body of its own."""
        pending, self.page.pictures = self.page.pictures, []
        builder = Builder(self.context, self.page)
        builder.depth = self.depth
        builder.visit(nodes)
        blocks = builder.finish()
        self.page.pictures = pending
        return blocks

    def add_all(self, blocks: Sequence[Block]) -> None:
        self.flush()
        self.blocks += blocks

    def plain_of(self, nodes: Sequence[Node]) -> list[str]:
        """Nodes as lines of plain text."""
        return plain(self.sub(nodes), self.context.language).split("\n")

    def read_inline(self, text: str) -> tuple[Inline, ...]:
        return read_inline(text, self.context)

    def inlines(self, node: Node | None) -> tuple[Inline, ...]:
        """An argument on one line."""
        return as_inlines(self.sub(contents(node))) if node is not None else ()

    def text(self, node: Node | None) -> str:
        return line(self.inlines(node))

    # -- visiting -------------------------------------------------------------------------------

    def visit(self, nodes: Sequence[Node]) -> None:
        rest = list(nodes)
        index = 0
        while index < len(rest):
            node = rest[index]
            index += 1
            if isinstance(node, LatexCharsNode):
                self.chars(node.chars)
            elif isinstance(node, LatexSpecialsNode):
                self.special(node.specials_chars)
            elif isinstance(node, LatexGroupNode):
                if self.drawing_next:
                    self.drawing_next = False
                    self.add(drawings.figure(str(node.latex_verbatim()), self))
                else:
                    self.visit(node.nodelist)
            elif isinstance(node, LatexMacroNode):
                switch = vocabulary.SWITCHES.get(node.macroname)
                if switch is not None:
                    self.switch(switch, rest[index:])
                    return
                self.macro(node, rest[index] if index < len(rest) else None)
                if self.unread:
                    self.unread = False
                    index = self.loose_arguments(rest, index)
            elif isinstance(node, LatexEnvironmentNode):
                environments.visit(self, node)
            elif isinstance(node, LatexMathNode):
                self.chars(node.latex_verbatim())

    def switch(self, kind: str, rest: Sequence[Node]) -> None:
        """`\\bf` and the like: the rest of the group is set in that shape."""
        if kind == "code" and not any(isinstance(node, LatexEnvironmentNode) for node in rest):
            self.wrap("code", rest)
        elif kind and not any(isinstance(node, LatexEnvironmentNode) for node in rest):
            self.wrap(kind, rest)
        else:
            self.visit(rest)

    def wrap(self, kind: str, nodes: Sequence[Node]) -> None:
        """Nodes in bold, emphasis or typewriter; blocks among them stay blocks."""
        blocks = self.sub(nodes)
        if len(blocks) != 1 or not isinstance(blocks[0], Paragraph):
            self.visit(nodes)
            return
        inlines = blocks[0].inlines
        source = _edge(nodes)
        if source[0]:
            self.line.append(Text(" "))
        if kind == "code":
            self.line += _coded(inlines)
        elif kind == "strong":
            self.line.append(Strong(inlines))
        else:
            self.line.append(Emphasis(inlines))
        if source[1]:
            self.line.append(Text(" "))

    def chars(self, chars: str) -> None:
        pieces = _PARAGRAPH.split(chars)
        for index, piece in enumerate(pieces):
            if index:
                self.flush()
            at = 0
            for mark in MARK.finditer(piece):
                self.plain(piece[at : mark.start()])
                self.kept(mark.group(1), int(mark.group(2)))
                at = mark.end()
            self.plain(piece[at:])

    def plain(self, text: str) -> None:
        if text:
            text = text.replace("\u00ad", "").replace("'", "'")
            if self.context.language.startswith("fr") and ("<<" in text or ">>" in text):
                text = text.replace("<<", "« ").replace(">>", " »")
            self.line.append(Text(BLANKS.sub(" ", text)))

    def kept(self, kind: str, number: int) -> None:
        """What stands behind a mark: a formula, code, an address."""
        if kind == "M":
            self.line.append(self.context.formulas.get(number))
            return
        verbatim = self.context.vault.get(number)
        if verbatim.kind == "block":
            self.add(CodeBlock(verbatim.text, verbatim.language))
        elif verbatim.kind == "sign":
            self.line.append(Text(verbatim.text))
        elif verbatim.kind == "url":
            self.line.append(Link(verbatim.text, (Text(verbatim.text),)))
        else:
            self.line.append(Code(verbatim.text))

    def special(self, chars: str) -> None:
        signs = {"~": " ", "``": "“", "''": "”", "--": "–", "---": "—", "!`": "¡", "?`": "¿"}
        self.line.append(Text(signs.get(chars, " " if chars == "&" else chars)))

    # -- commands -------------------------------------------------------------------------------

    def macro(self, node: Node, following: Node | None) -> None:
        name = node.macroname
        arguments = arguments_of(node)
        handler = commands.HANDLERS.get(name)
        if handler is not None:
            handler(self, name, arguments)
        elif name in _ACCENTS and arguments:
            self.accent(name, arguments[-1])
        elif name in vocabulary.STRONG:
            self.wrap("strong", contents(last(arguments)))
        elif name in vocabulary.EMPHASIS:
            self.wrap("emphasis", contents(last(arguments)))
        elif name in vocabulary.SHOWN:
            index = vocabulary.SHOWN[name][1]
            if 0 <= index < len(arguments):
                self.visit(contents(arguments[index]))
        elif (sign := grammar.symbols().get(name)) is not None:
            self.line.append(Text(sign))
            self.gap(node, name)
        elif name == "\\":
            self.line.append(Break())
        else:
            self.unknown(name, node, following)

    def gap(self, node: Node, name: str) -> None:
        """A blank after a sign only where TeX prints one: never after a command word."""
        if not name[0].isalpha() and node.macro_post_space:
            self.line.append(Text(" "))

    def unknown(self, name: str, node: Node, following: Node | None) -> None:
        """A command nobody defines: it is counted, what its braces hold stays text."""
        if len(name) > 1 and name not in self.context.known:
            self.context.unknown[name] += 1
        if not isinstance(following, LatexGroupNode) and node.macro_post_space and self.line:
            self.line.append(Text(" "))
        for argument in arguments_of(node):
            self.visit(contents(argument))
        self.unread = True

    def loose_arguments(self, nodes: list[Node], index: int) -> int:
        """What stands right after an unknown command: options go, groups stay, kept apart."""
        if index < len(nodes) and isinstance(nodes[index], LatexCharsNode):
            options = _OPTIONS.match(nodes[index].chars)
            rest = nodes[index].chars[options.end() :] if options else ""
            group_next = index + 1 < len(nodes) and isinstance(nodes[index + 1], LatexGroupNode)
            if options and (group_next and not rest):
                index += 1
        count = 0
        while index < len(nodes) and isinstance(nodes[index], LatexGroupNode):
            if count:
                self.line.append(Text(" "))
            self.visit(nodes[index].nodelist)
            count += 1
            index += 1
        return index

    def accent(self, name: str, argument: Node | None) -> None:
        text = self.text(argument)
        base = {"ı": "i", "ȷ": "j"}.get(text[:1], text[:1])
        combined = unicodedata.normalize("NFC", base + _ACCENTS[name]) if base else ""
        self.line.append(Text(combined + text[1:]))


def _edge(nodes: Sequence[Node]) -> tuple[bool, bool]:
    """Whether nodes begin and end with a blank."""
    chars = [node.chars for node in nodes if isinstance(node, LatexCharsNode)]
    if not nodes or not chars:
        return False, False
    first = isinstance(nodes[0], LatexCharsNode) and nodes[0].chars[:1].isspace()
    final = isinstance(nodes[-1], LatexCharsNode) and nodes[-1].chars[-1:].isspace()
    return first, final


_TYPED = str.maketrans({"–": "--", "—": "---", "“": "``", "”": "''"})


def _coded(inlines: Sequence[Inline]) -> list[Inline]:
    """Typewriter text as code, without ligatures; formulas and links stay what they are."""
    out: list[Inline] = []
    for inline in inlines:
        if isinstance(inline, Text):
            out.append(Code(inline.text.translate(_TYPED)))
        elif isinstance(inline, Strong | Emphasis):
            out += _coded(inline.children)
        else:
            out.append(inline)
    return out
