"""A tree as safe HTML whose visible text is the plain text.

List markers, cell separators and joints that HTML shows in its own way stand in `data-text`,
formulas in `data-tex`, so that a quote of the plain text can be found again in the page.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from ingestion.parsing import labels
from ingestion.parsing.plain import figure_name, label_joint
from ingestion.parsing.tree import (
    Block,
    Box,
    Break,
    Code,
    CodeBlock,
    Emphasis,
    Figure,
    Heading,
    Inline,
    Item,
    Link,
    Listing,
    Math,
    Note,
    Paragraph,
    Strong,
    Table,
    Text,
)
from knowledge.rendering.mathml import math_html
from knowledge.rendering.sanitise import sanitise

if TYPE_CHECKING:
    from collections.abc import Sequence


def display(blocks: Sequence[Block], language: str) -> str:
    """Safe HTML of blocks."""
    return sanitise("\n".join(_Page(language).block(block) for block in blocks))


class _Page:
    def __init__(self, language: str) -> None:
        self.language = language

    def block(self, block: Block, joint: str = "") -> str:
        match block:
            case Paragraph(inlines=inlines):
                return f"<p{_virtual(joint)}>{self.run(inlines)}</p>"
            case Listing():
                return self.listing(block)
            case Table():
                return self.table(block)
            case CodeBlock(text=text):
                return f"<pre><code>{escape(text.expandtabs(4))}</code></pre>"
            case Figure():
                return self.figure(block)
            case Box():
                return self.box(block)
            case Heading(inlines=inlines):
                return f"<h4>{self.run(inlines)}</h4>"
            case Note(inlines=inlines):
                label = labels.word("note", self.language) + labels.colon(self.language)
                return f'<p class="footnote">{escape(label)}{self.run(inlines)}</p>'

    def run(self, inlines: Sequence[Inline]) -> str:
        out: list[str] = []
        for inline in inlines:
            match inline:
                case Text(text=text):
                    out.append(escape(text))
                case Math(tex=tex, display=display):
                    out.append(math_html(tex, display=display))
                case Code(text=text):
                    out.append(f"<code>{escape(text)}</code>")
                case Strong(children=children):
                    out.append(f"<strong>{self.run(children)}</strong>")
                case Emphasis(children=children):
                    out.append(f"<em>{self.run(children)}</em>")
                case Link(url=url, children=children):
                    shown = self.run(children)
                    safe = url.startswith(("http://", "https://"))
                    out.append(f'<a href="{escape(url)}">{shown}</a>' if safe else shown)
                case Break():
                    out.append("<br>")
        return "".join(out)

    def listing(self, listing: Listing) -> str:
        items: list[str] = []
        number = listing.start - 1
        for item in listing.items:
            marker = "- "
            if listing.style == "number":
                number += 1
                marker = marker if item.label else f"{number}. "
            content = self.item(item, listing.style)
            if content:
                kind = ' class="labelled"' if item.label and listing.style != "term" else ""
                items.append(f"<li{kind}{_virtual(marker)}>{content}</li>")
        if listing.style == "number":
            start = f' start="{listing.start}"' if listing.start != 1 else ""
            return f"<ol{start}>{''.join(items)}</ol>"
        kind = ' class="terms"' if listing.style == "term" else ""
        return f"<ul{kind}>{''.join(items)}</ul>"

    def item(self, item: Item, style: str) -> str:
        blocks = list(item.blocks)
        out = ""
        first = blocks.pop(0) if blocks and isinstance(blocks[0], Paragraph) else None
        if item.label:
            label = self.run(item.label)
            out = f"<strong>{label}</strong>" if style == "term" else label
            if isinstance(first, Paragraph):
                joint = labels.colon(self.language) if style == "term" else " "
                out += escape(label_joint(item.label, joint))
        if isinstance(first, Paragraph):
            out += self.run(first.inlines)
        return out + "".join(self.block(block) for block in blocks)

    def table(self, table: Table) -> str:
        out = ["<table>"]
        if table.caption:
            label = labels.word("table", self.language) + labels.colon(self.language)
            out.append(f"<caption>{escape(label)}{self.run(table.caption)}</caption>")
        rows = list(table.rows)
        if table.header and rows:
            out.append(f"<thead>{self.row(rows.pop(0), 'th')}</thead>")
        out.append(f"<tbody>{''.join(self.row(row, 'td') for row in rows)}</tbody></table>")
        return "".join(out)

    def row(self, row: Sequence[Sequence[Inline]], tag: str) -> str:
        cells = [
            f"<{tag}{_virtual('| ' if index else '')}>{self.run(cell)}</{tag}>"
            for index, cell in enumerate(row)
        ]
        shown = any(self.run(cell).strip() for cell in row)
        return f"<tr>{''.join(cells)}</tr>" if shown else ""

    def figure(self, figure: Figure) -> str:
        label = escape(labels.word("figure", self.language) + labels.colon(self.language))
        out = ['<figure class="figure">']
        if figure.caption:
            out.append(f"<figcaption>{label}{self.run(figure.caption)}</figcaption>")
        elif name := figure_name(figure):
            out.append(f"<figcaption>{label}{escape(name)}</figcaption>")
        words = [shown for word in figure.words if (shown := self.run(word)).strip()]
        if words:
            out.append(f'<p class="figure-words">{" ; ".join(words)}</p>')
        return "".join(out) + "</figure>"

    def box(self, box: Box) -> str:
        label = labels.box_label(box, self.language)
        out = [f'<div class="box box-{box.kind}">']
        if label:
            out.append(f'<p class="box-title">{self.run(label)}</p>')
        for index, block in enumerate(box.blocks):
            joint = ""
            if index == 0 and label and isinstance(block, Paragraph):
                joint = labels.joiner(label, block.inlines)
            out.append(self.block(block, joint))
        return "".join(out) + "</div>"


def _virtual(text: str) -> str:
    return f' data-text="{escape(text)}"' if text.strip() else ""
