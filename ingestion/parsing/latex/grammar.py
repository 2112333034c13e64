"""The grammar given to pylatexenc's walker: what follows each command and each \\begin."""

from __future__ import annotations

from functools import lru_cache

from pylatexenc import latex2text, latexwalker, macrospec

from ingestion.parsing.latex import boxes, vocabulary

# Commands that this room reads itself, with what follows them.
_OWN = {
    "item": "[",
    "label": "{",
    "ref": "*{", "pageref": "*{", "eqref": "*{", "autoref": "*{", "cref": "*{", "Cref": "*{",
    "nameref": "*{", "vref": "*{", "subref": "*{", "fref": "*{", "prettyref": "{",
    "footnote": "[[{", "footnotetext": "[[{", "footnotemark": "[", "thanks": "{",
    "endnote": "[{", "sidenote": "[{", "tablefootnote": "[{",
    "href": "[{{", "url": "{", "nolinkurl": "{", "path": "{",
    "caption": "*[{", "captionof": "*{[{", "subcaption": "[{", "subfloat": "[[{", "subfigure": "[[{",
    "legend": "{",
    "frametitle": "[{", "framesubtitle": "[{",
    "note": "[{",
    "multicolumn": "{{{",
    "preuvehint": "{", "preuvepicture": "{{",
    "section": "*[{", "subsection": "*[{", "subsubsection": "*[{", "chapter": "*[{", "part": "*[{",
    "paragraph": "*[{", "subparagraph": "*[{",
    "enquote": "*{", "textquote": "[[{", "blockquote": "[[{", "MakeOuterQuote": "{",
    "textsuperscript": "{", "textsubscript": "{", "up": "{", "ier": "", "nd": "", "no": "",
    "symbol": "{", "char": "",
    "SI": "[{[{", "qty": "[{{", "si": "[{", "unit": "[{", "num": "[{", "ang": "[{",
    "SIrange": "[{{{", "qtyrange": "[{{{", "numrange": "[{{", "numlist": "[{", "SIlist": "[{{",
    "nombre": "{", "numprint": "[{", "np": "[{",
    "gls": "*[{[", "Gls": "*[{[", "glspl": "*[{[", "Glspl": "*[{[", "glsfirst": "*[{[",
    "glstext": "*[{[", "glsname": "*[{[", "glssymbol": "*[{[", "glsdesc": "*[{[", "glslink": "*[{{",
    "acrshort": "*[{[", "acrlong": "*[{[", "acrfull": "*[{[", "ac": "*{", "acs": "*{", "acl": "*{",
    "acf": "*{", "acp": "*{", "Ac": "*{", "glsdisp": "*[{{",
    "setcounter": "{{", "addtocounter": "{{",
    "tableofcontents": "[", "titlepage": "", "maketitle": "", "sectionpage": "", "partpage": "",
    "inserttitle": "", "insertsubtitle": "", "insertauthor": "", "insertdate": "",
    "insertinstitute": "", "insertsection": "", "insertsubsection": "", "insertpart": "",
    "appendix": "", "framebreak": "", "par": "", "newline": "", "linebreak": "[",
    "tabularnewline": "[", "cr": "", "intertext": "{",
    "tikz": "[", "putx": "", "draw": "",
    "hl": "{", "alert": "{", "structure": "{", "strong": "{",
    "ce": "{", "cee": "{",
    "keys": "{", "menu": "{", "keystroke": "{", "key": "{",
    "question": "[", "part@": "[", "choice": "", "CorrectChoice": "", "titledquestion": "{[",
    "task": "[", "bonusquestion": "[", "subpart": "[", "columns": "",
    "tcblower": "", "tcbsubtitle": "[{", "bibitem": "[{", "column": "{", "iteme": "",
    "ldots": "", "dots": "", "textellipsis": "",
    "DTLfetch": "{{{{", "foreach": "", "rotatebox": "[{{",
    "verb": "{", "code": "{", "lstinline": "[{", "mintinline": "[{{",
    "og": "", "fg": "", "frquote": "{", "ieme": "", "iemes": "", "ier@": "", "iere": "", "ieres": "",
    "iers": "", "primo": "", "secundo": "", "degres": "", "degre": "", "bsc": "{",
    "nolinebreak": "[", "beginappendix": "",
    "cite": "*[[{", "nocitex": "{", "citep": "*[[{", "citet": "*[[{", "textcite": "*[[{",
    "parencite": "*[[{", "footcite": "*[[{", "autocite": "*[[{", "citeauthor": "*[[{",
    "citeyear": "*[[{", "citealt": "*[[{", "citealp": "*[[{", "fullcite": "*[[{", "citetitle": "*[[{",
    "smartcite": "*[[{", "supercite": "*[[{", "footfullcite": "*[[{", "Citet": "*[[{", "Citep": "*[[{",
    "citeyearpar": "*[[{", "Textcite": "*[[{", "Parencite": "*[[{",
    "parskipx": "",
}  # fmt: skip
_ENVIRONMENTS = {
    **dict.fromkeys(vocabulary.ARRANGED, ""),
    **dict.fromkeys(vocabulary.LISTS, "["),
    **dict.fromkeys(vocabulary.FIGURES, "["),
    **dict.fromkeys(vocabulary.TABLE_FLOATS, "["),
    **dict.fromkeys(vocabulary.DRAWINGS, "["),
    "wrapfigure": "[{[{", "wraptable": "[{[{", "subfigure": "[[{", "subtable": "[[{",
    "tabular": "[{", "array": "[{", "tabular*": "{[{", "tabularx": "{[{", "tabulary": "{[{",
    "longtable": "[{", "supertabular": "[{", "xltabular": "[{{", "tabu": "{", "longtabu": "{",
    "NiceTabular": "[{[", "tblr": "[{", "longtblr": "[[{", "ltablex": "{{", "tabbing": "",
    "block": "{", "alertblock": "{", "exampleblock": "{", "beamerboxesrounded": "[{",
    "tcolorbox": "[", "mdframed": "[", "preuvebox": "{", "preuvetheorem": "{{",
    "thebibliography": "{", "list": "{{", "tasks": "[(", "titled-frame": "{",
    "picture": "", "pspicture": "",
    "parts": "", "subparts": "", "questions": "", "choices": "", "checkboxes": "",
    "inparaenum": "[", "letter": "{", "altenv": "{{{{", "colorblock": "[{",
    "algorithm": "[", "algorithmic": "[", "algorithm2e": "[",
}  # fmt: skip


def _specification(spec: str) -> str:
    """The part of a specification that pylatexenc's argument parser reads."""
    return "".join(letter for letter in spec if letter in "*[{")


@lru_cache(maxsize=1)
def context() -> macrospec.LatexContextDb:
    """The context of every walk."""
    known = latexwalker.get_default_latex_context_db().filter_context(
        keep_categories=["latex-base", "nonascii-specials"]
    )
    macros: dict[str, str] = {}
    for name in vocabulary.STRONG | vocabulary.EMPHASIS | {"texttt"}:
        macros[name] = "{"
    for name, (spec, _) in vocabulary.SHOWN.items():
        macros[name] = _specification(spec)
    macros |= {name: _specification(spec) for name, spec in _OWN.items()}
    macros |= dict.fromkeys(vocabulary.SWITCHES, "")
    environments = {name: _specification(spec) for name, spec in _ENVIRONMENTS.items()}
    for name in boxes.STANDARD:
        environments.setdefault(name, "[")
    known.add_context_category(
        "preuve",
        prepend=True,
        macros=[macrospec.std_macro(name, spec) for name, spec in macros.items()],
        environments=[
            macrospec.std_environment(name, spec or None) for name, spec in environments.items()
        ],
    )
    return known


@lru_cache(maxsize=1)
def symbols() -> dict[str, str]:
    """Commands that print one sign or word, from pylatexenc's table and ours."""
    table = {
        spec.macroname: spec.simplify_repl
        for spec in latex2text.get_default_latex_context_db().iter_macro_specs()
        if isinstance(spec.simplify_repl, str) and "%" not in spec.simplify_repl
    }
    for name in ("today", "cite", "ref", "sqrt", "vspace", "hspace", "\\", "id", "Ident", "image",
                 "original", "therefore@", "top@", "citep", "citet", "autoref", "cref", "Cref"):  # fmt: skip
        table.pop(name, None)
    return table | {
        "LaTeX": "LaTeX", "TeX": "TeX", "LaTeXe": "LaTeX2e", "XeLaTeX": "XeLaTeX", "LuaLaTeX": "LuaLaTeX",
        "XeTeX": "XeTeX", "pdfLaTeX": "pdfLaTeX", "BibTeX": "BibTeX", "pdfTeX": "pdfTeX",
        "LuaTeX": "LuaTeX", "METAFONT": "METAFONT", "TikZ": "TikZ",
        "og": "« ", "fg": " »", "guillemotleft": "«", "guillemotright": "»",
        "%": "%", " ": " ", ",": " ", ";": " ", ":": " ", "!": "", "/": "", "-": "", "@": "", ">": " ",
        "quad": " ", "qquad": " ", "enskip": " ", "enspace": " ", "thinspace": " ", "space": " ",
        "nobreakspace": " ", "negthinspace": "", "hfill": " ", "ldots": "…", "dots": "…",
        "textellipsis": "…", "textasciicircum": "^", "textasciitilde": "~", "textbar": "|",
        "textless": "<", "textgreater": ">", "textunderscore": "_", "textbackslash": "\\",
        "slash": "/", "textquotedbl": '"', "textquotesingle": "'", "lq": "‘", "rq": "’",
        "ier": "er", "iers": "ers", "iere": "re", "ieres": "res", "ieme": "e", "iemes": "es",
        "primo": "1°", "secundo": "2°", "tertio": "3°", "no": "nº ", "nos": "nos ", "No": "Nº ",
        "degres": "°", "degre": "°", "degree": "°", "textdegree": "°", "euro": "€", "EUR": "€",
        "officialeuro": "€", "geneuro": "€", "textgreek": "", "checkmark": "✓", "cmark": "✓",
        "xmark": "✗", "textbullet": "•", "labelitemi": "•", "textrightarrow": "→", "TM": "™",
        "copyright": "©", "pounds": "£", "S": "§", "P": "¶", "dag": "†", "ddag": "‡", "i": "i", "j": "j",
        "SS": "SS", "AA": "Å", "aa": "å", "and": ", ", "textvisiblespace": "␣", "longrightarrow": "→",
        "longleftarrow": "←", "iff": "⇔", "implies": "⇒", "gets": "←", "colon": ":", "lbrack": "[",
        "rbrack": "]", "faArrowRight": "→", "faCheck": "✓", "faTimes": "✗", "faWarning": "⚠",
        "smiley": "☺", "frownie": "☹", "square": "□", "textcopyleft": "🄯", "blacksquare": "▪",
        "ast": "*", "tabularnewline": "", "bigodot": "⊙", "textregistered": "®", "textsection": "§",
        "qed": "", "blacktriangleright": "▶", "Lightning": "⚡", "Letter": "✉",
    }  # fmt: skip
