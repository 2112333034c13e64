"""HTML made harmless, with MathML let through."""

from __future__ import annotations

import nh3

_MATHML = {
    "math", "mrow", "mi", "mo", "mn", "ms", "mtext", "mspace", "mfrac", "msqrt", "mroot", "mstyle",
    "msub", "msup", "msubsup", "munder", "mover", "munderover", "mmultiscripts", "mprescripts",
    "none", "mtable", "mtr", "mtd", "mpadded", "mphantom", "menclose", "merror",
}  # fmt: skip
_HTML = {
    "p", "br", "div", "span", "strong", "b", "em", "i", "u", "s", "sub", "sup", "mark", "code",
    "pre", "kbd", "ul", "ol", "li", "dl", "dt", "dd", "table", "caption", "thead", "tbody", "tr",
    "th", "td", "blockquote", "figure", "figcaption", "h3", "h4", "h5", "h6", "hr", "a", "small",
}  # fmt: skip
_MATH_ATTRIBUTES = {
    "display", "displaystyle", "scriptlevel", "mathvariant", "stretchy", "form", "fence",
    "separator", "lspace", "rspace", "largeop", "movablelimits", "symmetric", "minsize", "maxsize",
    "accent", "accentunder", "linethickness", "width", "height", "depth", "voffset", "notation",
    "columnalign", "columnspan", "rowspan", "class",
}  # fmt: skip
_ATTRIBUTES: dict[str, set[str]] = {
    "*": {"class", "data-tex", "data-text", "lang"},
    "ol": {"start", "class", "data-text"},
    "li": {"value", "class", "data-text"},
    "td": {"colspan", "rowspan", "class", "data-text"},
    "th": {"colspan", "rowspan", "scope", "class", "data-text"},
    "a": {"href", "class"},
    **{name: set(_MATH_ATTRIBUTES) for name in _MATHML},
}


def sanitise(html: str) -> str:
    """`html` with only plain structure, MathML and `http(s)` links; no image, script or style."""
    return nh3.clean(
        html,
        tags=_HTML | _MATHML,
        attributes=_ATTRIBUTES,
        url_schemes={"http", "https"},
        link_rel="noopener noreferrer nofollow",
        strip_comments=True,
        clean_content_tags={"script", "style"},
    )
