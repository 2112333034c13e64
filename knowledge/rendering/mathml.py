"""LaTeX formulas as MathML: no script, no font, no inline style, nothing from outside."""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape

from math_core import LatexError, LatexToMathML

from knowledge.rendering.dialect import for_math_core

_LONGEST = 6_000
_CONVERTER = LatexToMathML(fancy_error=False)
_STYLE = re.compile(r'\s+style="([^"]*)"')
_CLASS_OF = (
    ("text-align: right", "math-right"),
    ("text-align: left", "math-left"),
    ("border-top", "math-top"),
    ("border-bottom", "math-bottom"),
    ("border-right", "math-edge"),
)


def _without_style(match: re.Match[str]) -> str:
    names = [name for rule, name in _CLASS_OF if rule in match.group(1)]
    return f' class="{" ".join(names)}"' if names else ""


@lru_cache(maxsize=8_192)
def to_mathml(tex: str, *, display: bool) -> str | None:
    """The formula as one `<math>` element, or None when it cannot be shown faithfully.

    `tex` comes without its dollars. Inline styles become class names (`math-left`, `math-right`,
    `math-top`, `math-edge`), because the pages' content policy allows no inline style.
    """
    if not tex.strip() or len(tex) > _LONGEST:
        return None
    prepared = for_math_core(tex).strip()
    for candidate in (prepared, f"\\begin{{aligned}}{prepared}\\end{{aligned}}"):
        try:
            markup = _CONVERTER.convert_with_local_state(candidate, displaystyle=display)
        except LatexError:
            if "&" not in prepared:
                return None
            continue
        if display and 'display="block"' not in markup:
            markup = markup.replace("<math", '<math display="block"', 1)
        return _STYLE.sub(_without_style, markup)
    return None


def math_html(tex: str, *, display: bool) -> str:
    """The formula for a page: MathML, or its source as code; `data-tex` carries the plain text."""
    mark = "$$" if display else "$"
    source = escape(f"{mark}{tex}{mark}", quote=True)
    markup = to_mathml(tex, display=display)
    if markup is None:
        return f'<span class="math math-source" data-tex="{source}"><code>{source}</code></span>'
    kind = "math math-display" if display else "math"
    return f'<span class="{kind}" data-tex="{source}">{markup}</span>'
