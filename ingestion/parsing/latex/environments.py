"""What each environment of LaTeX means to a reader: lists, tables, boxes, figures, columns."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pylatexenc.latexwalker import (
    LatexCharsNode,
    LatexEnvironmentNode,
    LatexGroupNode,
    LatexMacroNode,
    LatexSpecialsNode,
)

from ingestion.parsing.latex import boxes, drawings, vocabulary
from ingestion.parsing.latex.definitions import number as counter
from ingestion.parsing.latex.macros import options_of
from ingestion.parsing.latex.walking import (
    Node,
    arguments_of,
    as_inlines,
    contents,
    given,
    source_of,
)
from ingestion.parsing.plain import line
from ingestion.parsing.tree import (
    Block,
    Box,
    Figure,
    Inline,
    Item,
    Listing,
    Paragraph,
    Table,
    Text,
)

if TYPE_CHECKING:
    from ingestion.parsing.latex.nodes import Builder

_ITEMS = frozenset(
    {"item", "question", "part", "subpart", "task", "choice", "CorrectChoice", "bibitem",
     "bonusquestion", "titledquestion"}
)  # fmt: skip
_SHORT_TITLE = 160


def visit(builder: Builder, node: LatexEnvironmentNode) -> None:
    """One environment into blocks of the builder."""
    name = node.environmentname
    hint, builder.hint = builder.hint, ""
    if name in vocabulary.LISTS:
        builder.add_all(_listing(builder, node, name))
    elif name in vocabulary.TABLES:
        table = _table(builder, node)
        if table is not None:
            builder.add(table)
    elif name in vocabulary.DRAWINGS:
        builder.add(drawings.figure(str(node.latex_verbatim()), builder))
    elif name in vocabulary.FIGURES or name in vocabulary.TABLE_FLOATS:
        _float(builder, node, name)
    elif hint or boxes.is_box(name) or name.startswith("preuve"):
        _box(builder, node, name, hint)
    elif name in vocabulary.ARRANGED:
        builder.flush()
        builder.visit(node.nodelist)
        builder.flush()
    elif boxes.kind_of_name(name, builder.context.boxes):
        _box(builder, node, name, hint)
    else:
        _unknown(builder, node, name)


def _unknown(builder: Builder, node: LatexEnvironmentNode, name: str) -> None:
    """An environment nobody defines: its body is read, options before it are not."""
    builder.context.unknown[f"begin{{{name}}}"] += 1
    nodes, _ = _without_options(list(node.nodelist))
    builder.flush()
    builder.visit(nodes)
    builder.flush()


def _without_options(nodes: list[Node]) -> tuple[list[Node], str]:
    """Nodes without a leading `[…]`, and what it held."""
    if nodes and isinstance(nodes[0], LatexCharsNode):
        match = re.match(r"\s*\[([^\[\]]*)\]", nodes[0].chars)
        if match:
            rest = nodes[0].chars[match.end() :]
            first = LatexCharsNode(parsing_state=nodes[0].parsing_state, chars=rest)
            return [first, *nodes[1:]], match.group(1)
    return nodes, ""


# -- lists --------------------------------------------------------------------------------------


def _listing(builder: Builder, node: LatexEnvironmentNode, name: str) -> list[Block]:
    style = vocabulary.LISTS[name]
    options = " ".join(source_of(argument) for argument in given(arguments_of(node)))
    start = builder.context.enumerated + 1 if "resume" in options else 1
    form = _number_form(options, builder.depth) if style == "number" else None
    items: list[Item] = []
    before: list[Node] = []
    current: list[Node] | None = None
    label: tuple[Inline, ...] = ()
    value = start - 1
    first_value = None

    def close() -> None:
        nonlocal current
        if current is None:
            return
        builder.depth += 1
        blocks = builder.sub(current)
        builder.depth -= 1
        if blocks or label:
            items.append(Item(tuple(blocks), label))
        current = None

    for child in node.nodelist:
        if isinstance(child, LatexMacroNode) and child.macroname in _ITEMS:
            close()
            current = []
            label = builder.inlines(given(arguments_of(child))[0]) if given(
                arguments_of(child)) and child.macroname in {"item", "titledquestion"} else ()  # fmt: skip  # noqa: E501
            if style == "number" and not label:
                value += 1
                first_value = first_value or value
                label = (Text(form(value)),) if form else ()
        elif (
            isinstance(child, LatexMacroNode)
            and child.macroname == "setcounter"
            and current is None
            and (moved := _counter_value(child)) is not None
        ):
            value = moved
        elif current is None:
            before.append(child)
        else:
            current.append(child)
    close()
    if style == "number" and builder.depth == 0:
        builder.context.enumerated = value
    blocks: list[Block] = builder.sub(before) if any(_shown(child) for child in before) else []
    if items:
        blocks.append(Listing(tuple(items), style, first_value or start))
    return blocks


def _shown(node: Node) -> bool:
    return not isinstance(node, LatexCharsNode) or bool(node.chars.strip())


def _counter_value(node: Node) -> int | None:
    arguments = arguments_of(node)
    name, value = (source_of(argument).strip() for argument in arguments[:2])
    return int(value) if name.startswith("enum") and value.lstrip("-").isdigit() else None


def _number_form(options: str, depth: int):  # type: ignore[no-untyped-def]
    """How the items of a numbered list are labelled, or None for 1, 2, 3."""
    match = re.search(r"\\(arabic|alph|Alph|roman|Roman)\*?", options)
    if match:
        label = re.search(r"label\s*=\s*(.*)", options)
        text = label.group(1) if label else options
        text = re.sub(
            r"\\(?:bfseries|textbf|emph|itshape|upshape|rm|bf|protect|small)\b\s*", "", text
        )
        pieces = re.match(
            r"\{?(.*?)\\(?:arabic|alph|Alph|roman|Roman)\s*\*?(?:\{[^{}]*\})?([^,\]]*)", text
        )
        before, after = pieces.groups() if pieces else ("", ".")
        before, after = (re.sub(r"[{}\\]", "", side).strip() for side in (before, after))
        if match.group(1) == "arabic" and not before and after in {"", "."}:
            return None
        gap = " " if before and before[-1].isalpha() else ""
        return lambda value: f"{before}{gap}{counter(value, match.group(1))}{after}"
    short = re.fullmatch(r"\s*\{?([^=]{0,12}?)([1aAiI])([^=\w]{0,4})\}?\s*", options)
    if short and options.strip():
        before, sign, after = short.groups()
        if re.search(r"[a-zA-Z]", before) and not before.endswith((" ", "-", ".", "{")):
            return None
        kind = {"1": "arabic", "a": "alph", "A": "Alph", "i": "roman", "I": "Roman"}[sign]
        if kind == "arabic" and not before and after in {"", "."}:
            return None
        return lambda value: f"{before}{counter(value, kind)}{after}"
    if depth == 1 and not options:
        return lambda value: f"({counter(value, 'alph')})"
    return None


# -- tables -------------------------------------------------------------------------------------


def _table(builder: Builder, node: LatexEnvironmentNode) -> Table | None:
    rows: list[tuple[tuple[Inline, ...], ...]] = []
    row: list[tuple[Inline, ...]] = []
    cell: list[Node] = []
    before = len(builder.page.captions)

    def end_cell() -> None:
        row.append(as_inlines(builder.sub(cell)))
        cell.clear()

    def end_row() -> None:
        end_cell()
        if any(row):
            rows.append(tuple(row))
        row.clear()

    tabbing = node.environmentname == "tabbing"
    for child in node.nodelist:
        if isinstance(child, LatexSpecialsNode) and child.specials_chars == "&":
            end_cell()
        elif isinstance(child, LatexMacroNode) and child.macroname in {
            "\\",
            "tabularnewline",
            "cr",
        }:
            end_row()
        elif (
            tabbing
            and isinstance(child, LatexMacroNode)
            and child.macroname in {">", "=", "+", "<"}
        ):
            end_cell()
        elif tabbing and isinstance(child, LatexMacroNode) and child.macroname == "kill":
            row.clear()
            cell.clear()
        else:
            cell.append(child)
    end_row()
    captions = builder.page.captions[before:]
    del builder.page.captions[before:]
    if not rows:
        return None
    return Table(tuple(rows), header=len(rows) > 1, caption=captions[0] if captions else ())


def _float(builder: Builder, node: LatexEnvironmentNode, name: str) -> None:
    """A figure or a table with its caption, whatever it holds."""
    before = len(builder.page.captions)
    blocks = builder.sub(node.nodelist)
    captions = builder.page.captions[before:]
    del builder.page.captions[before:]
    caption = _joined(captions)
    pictures = [block for block in blocks if isinstance(block, Figure) and block.files]
    others = [block for block in blocks if block not in pictures]
    builder.flush()
    table = next((block for block in others if isinstance(block, Table)), None)
    if table is not None and caption and not table.caption:
        others[others.index(table)] = Table(table.rows, table.header, caption)
        caption = ()
    drawn = next((block for block in others if isinstance(block, Figure)), None)
    if drawn is not None and caption and not drawn.caption:
        others[others.index(drawn)] = Figure(caption, drawn.alt, drawn.files, drawn.words)
        caption = ()
    if pictures or caption:
        files = tuple(file for picture in pictures for file in picture.files)
        alt = ", ".join(picture.alt for picture in pictures if picture.alt)
        inner = tuple(cap for picture in pictures for cap in picture.caption)
        others.append(Figure(caption or inner, alt, files))
    for block in others:
        builder.add(block)
    del name


def _joined(captions: list[tuple[Inline, ...]]) -> tuple[Inline, ...]:
    out: list[Inline] = []
    for caption in captions:
        if out:
            out.append(Text(" ; "))
        out += caption
    return tuple(out)


# -- boxes --------------------------------------------------------------------------------------


def _box(builder: Builder, node: LatexEnvironmentNode, name: str, hint: str) -> None:
    arguments = given(arguments_of(node))
    nodes = list(node.nodelist)
    title: tuple[Inline, ...] = ()
    printed = ""
    if name == "preuvetheorem":
        printed = builder.text(arguments[0]) if arguments else ""
        title = builder.inlines(arguments[1]) if len(arguments) > 1 else ()
    elif name in {"tcolorbox", "mdframed"}:
        fields = boxes.title_in(source_of(arguments[0])) if arguments else ""
        title = builder.read_inline(fields) if fields else ()
    elif arguments:
        title = builder.inlines(arguments[-1])
    else:
        nodes, title = _leading_title(builder, nodes, name)
    kind = boxes.decide(hint, name, line(title), builder.context.boxes, printed)
    if not printed and kind in {"theorem", "remark", "exercise", "solution", "proof"}:
        printed = boxes.printed_name(hint or name, kind, builder.context.language)
    builder.flush()
    blocks = builder.sub(nodes)
    blocks = _without_label(blocks, kind, printed)
    if blocks or title:
        builder.add(Box(kind, tuple(blocks), title, printed))


def _leading_title(
    builder: Builder, nodes: list[Node], name: str
) -> tuple[list[Node], tuple[Inline, ...]]:
    """The title of a box whose arguments nobody declared: `[Title]` or `{Title}` in front."""
    rest, options = _without_options(nodes)
    if options and "=" not in options:
        return rest, builder.read_inline(options)
    if options:
        fields = options_of(options)
        title = fields.get("title") or fields.get("frametitle") or ""
        nodes = rest
        if title:
            return nodes, builder.read_inline(title)
    first = nodes[0] if nodes else None
    if isinstance(first, LatexGroupNode) and len(str(first.latex_verbatim())) < _SHORT_TITLE:
        return nodes[1:], as_inlines(builder.sub(contents(first)))
    del name
    return nodes, ()


def _without_label(blocks: list[Block], kind: str, printed: str) -> list[Block]:
    """A box's own « Définition. » at the head of its text, which the prefix says already."""
    if not blocks or not isinstance(blocks[0], Paragraph):
        return blocks
    first = blocks[0].inlines
    head = line(first[:1]).strip(" .:—–-()")
    if not head or len(head) > 40:
        return blocks
    same = boxes.kind_of_title(head) == kind or (printed and head.casefold() == printed.casefold())
    if not same or (isinstance(first[0], Text) and len(first) == 1):
        return blocks
    if isinstance(first[0], Text):
        return blocks
    rest = list(first[1:])
    if rest and isinstance(rest[0], Text):
        rest[0] = Text(rest[0].text.lstrip(" .:—–-"))
    tail = tuple(inline for inline in rest if inline != Text(""))
    return [*([Paragraph(tail)] if tail else []), *blocks[1:]]
