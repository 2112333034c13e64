"""Plain chunk text and quotes as safe HTML."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from knowledge.rendering.mathml import math_html
from knowledge.rendering.spans import spans

if TYPE_CHECKING:
    from collections.abc import Sequence


def render_text(text: str, marks: Sequence[tuple[int, int]] = ()) -> str:
    """`text` as HTML: escaped, formulas as MathML, line structure kept, `marks` highlighted.

    `marks` are character ranges of `text`; out-of-range parts are ignored and overlaps merged. A
    mark that touches a formula marks the whole formula.
    """
    ranges = _merged(text, marks)
    out: list[str] = []
    for span in spans(text):
        if span.tex is not None:
            markup = math_html(span.tex, display=span.display)
            touched = any(start < span.end and end > span.start for start, end in ranges)
            out.append(f"<mark>{markup}</mark>" if touched else markup)
            continue
        at = span.start
        for start, end in ranges:
            start, end = max(start, span.start), min(end, span.end)
            if start >= end:
                continue
            out.append(_lines(text[at:start]))
            out.append(f"<mark>{_lines(text[start:end])}</mark>")
            at = end
        out.append(_lines(text[at : span.end]))
    return "".join(out)


def _merged(text: str, marks: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted((max(0, start), min(len(text), end)) for start, end in marks):
        if start >= end:
            continue
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _lines(text: str) -> str:
    """Escaped text; each line break is kept, and so is the indentation of nested items."""
    lines = escape(text, quote=True).split("\n")
    kept = [lines[0]]
    for line in lines[1:]:
        bare = line.lstrip(" ")
        kept.append("&nbsp;" * (len(line) - len(bare)) + bare)
    return "<br>\n".join(kept)
