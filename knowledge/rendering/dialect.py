"""LaTeX mathematics put into the dialect that math-core reads.

math-core says what it does not know instead of guessing; this module spells the same formula with
what it does know (`\\mbox` as `\\text`, `eqnarray` as `aligned`, a rule or a label as nothing). A
formula comes out that shows the same signs; nothing here changes the text that people quote.
"""

from __future__ import annotations

import re

# Commands with nothing to show, and how many braced arguments go with them.
_SILENT = {
    "label": 1,
    "tag": 1,
    "nonumber": 0,
    "notag": 0,
    "hfill": 0,
    "hfil": 0,
    "allowbreak": 0,
    "nobreak": 0,
    "strut": 0,
    "null": 0,
    "vspace": 1,
    "index": 1,
    "rule": 2,
    "noindent": 0,
    "centering": 0,
    "protect": 0,
    "relax": 0,
    "xspace": 0,
    "leavevmode": 0,
    "hline": 0,
    "toprule": 0,
    "midrule": 0,
    "bottomrule": 0,
    "displaybreak": 0,
    "pagebreak": 0,
    "newline": 0,
    "tiny": 0,
    "scriptsize": 0,
    "footnotesize": 0,
    "small": 0,
    "normalsize": 0,
    "large": 0,
    "Large": 0,
    "LARGE": 0,
    "huge": 0,
    "Huge": 0,
    "pause": 0,
    "ignorespaces": 0,
    "unskip": 0,
    "medskip": 0,
    "bigskip": 0,
    "smallskip": 0,
    "par": 0,
    "bgroup": 0,
    "egroup": 0,
    "selectfont": 0,
    "itshape": 0,
    "upshape": 0,
    "ttfamily": 0,
    "rmfamily": 0,
    "sffamily": 0,
    "normalfont": 0,
    "boldmath": 0,
    "unboldmath": 0,
    "mathsurround": 0,
    "phantomsection": 0,
    "cline": 1,
    "cmidrule": 1,
    "addlinespace": 0,
    "mathchoice": 0,
    "qedhere": 0,
    "IEEEyesnumber": 0,
    "IEEEnonumber": 0,
    "limits": 0,  # kept where math-core accepts it, see _limits
}
# Commands whose argument alone is shown, with the index of that argument and the number of them.
_TRANSPARENT = {
    "ensuremath": (0, 1),
    "vcenter": (0, 1),
    "smash": (0, 1),
    "href": (1, 2),
    "hyperlink": (1, 2),
    "hypertarget": (1, 2),
    "parbox": (1, 2),
    "multicolumn": (2, 3),
    "multirow": (2, 3),
    "colorbox": (1, 2),
    "fcolorbox": (2, 3),
    "scalebox": (1, 2),
    "resizebox": (2, 3),
    "rotatebox": (1, 2),
    "rlap": (0, 1),
    "llap": (0, 1),
    "mathrlap": (0, 1),
    "mathllap": (0, 1),
    "mathclap": (0, 1),
    "clap": (0, 1),
    "uncover": (0, 1),
    "visible": (0, 1),
    "only": (0, 1),
    "onslide": (0, 0),
    "alert": (0, 1),
    "structure": (0, 1),
    "hl": (0, 1),
    "highlight": (0, 1),
    "tikzmarknode": (1, 2),
    "tikzmark": (1, 1),
    "footnote": (1, 1),
    "footnotemark": (0, 0),
    "textcolor": (1, 2),
    "mathcolor": (1, 2),
    "texorpdfstring": (0, 2),
    "centerline": (0, 1),
    "shortintertext": (0, 1),
    "adjustbox": (1, 2),
    "fontsize": (2, 2),
    "uline": (0, 1),
    "sout": (0, 1),
    "underbar": (0, 1),
    "color": (1, 1),
    "setlength": (2, 2),
    "arraycolsep": (0, 0),
    "arraystretch": (0, 0),
}
_AS_TEXT = {
    "mbox": "text",
    "hbox": "text",
    "textnormal": "text",
    "textup": "text",
    "textmd": "text",
    "textsc": "text",
    "textsl": "textit",
    "textrm": "text",
    "textsf": "text",
    "emph": "textit",
    "makebox": "text",
    "framebox": "fbox",
    "intertext": "text",
    "textsuperscript": "text",
    "textsubscript": "text",
    "underline ": "underline",
    "mathds": "mathbb",
    "mathbbm": "mathbb",
    "mathbbmss": "mathbb",
    "Bbb": "mathbb",
    "pmb": "boldsymbol",
    "mathbfit": "boldsymbol",
    "symbfit": "boldsymbol",
    "mathnormal": "mathit",
    "nicefrac": "frac",
    "sfrac": "frac",
    "textfrac": "frac",
    "dbinom": "binom",
    "varinjlim": "lim",
    "varprojlim": "lim",
    "mathbold": "mathbf",
    "mat": "mathbf",
    "bold": "mathbf",
    "widebar": "overline",
    "oldstylenums": "mathrm",
    "textquotesingle": "prime",
    "injlim": "lim",
    "overbar": "overline",
    "arcsec": "prime",
    "ooalign": "mathrm",
    "textsterling": "pounds",
    "coloneq": "coloneqq",
    "textless": "lt",
    "textgreater": "gt",
    "dotsi": "dots",
    "dotso": "dots",
    "hdots": "dots",
    "textellipsis": "dots",
    "mleft": "left",
    "mright": "right",
    "centernot": "not",
    "xlongrightarrow": "xrightarrow",
    "xlongleftarrow": "xleftarrow",
    "smallsetminus": "setminus",
    "oldphi": "phi",
    "symbfup": "mathbf",
    "symup": "mathrm",
    "symit": "mathit",
}
_LITERAL = {
    "degreeCelsius": "°\\mathrm{C}",
    "celsius": "°\\mathrm{C}",
    "textdegree": "°",
    "texteuro": "€",
    "euro": "€",
    "EUR": "€",
    "geneuro": "€",
    "og": "\\text{« }",
    "fg": "\\text{ »}",
    "ieme": "\\text{e}",
    "textbackslash": "\\backslash ",
    "textasciitilde": "\\sim ",
    "textunderscore": "\\_",
    "textbar": "|",
    "textdollar": "\\$",
    "textbullet": "\\bullet ",
    "textemdash": "—",
    "textendash": "–",
    "enspace": "\\;",
    "thinspace": "\\,",
    "negthinspace": "\\!",
    "nobreakspace": "~",
    "space": "\\ ",
    "today": "",
    "LaTeX": "\\text{LaTeX}",
    "TeX": "\\text{TeX}",
    "ldotp": ".",
    "lq": "\\text{‘}",
    "rq": "\\text{’}",
    "dag": "\\dagger ",
    "checkmark": "✓",
    "xmark": "✗",
    "cmark": "✓",
    "ding": "\\text{✓}",
    "oe": "\\text{œ}",
    "ae": "\\text{æ}",
    "ss": "\\text{ß}",
    "i": "\\imath ",
    "indep": "⫫",
    "independent": "⫫",
    "longto": "\\longrightarrow ",
    "argmin": "\\operatorname{argmin}",
    "argmax": "\\operatorname{argmax}",
    "hskip": "",
    "cr": "\\\\",
    "tabularnewline": "\\\\",
}
# Commands that packages (physics, commath, mathtools) and courses define alike.
_FENCES = {
    "abs": ("|", "|"),
    "norm": ("\\|", "\\|"),
    "ceil": ("\\lceil", "\\rceil"),
    "floor": ("\\lfloor", "\\rfloor"),
}
_ENVIRONMENTS = {
    "eqnarray": "aligned",
    "eqnarray*": "aligned",
    "IEEEeqnarray": "aligned",
    "split": "aligned",
    "alignedat": "aligned",
    "align": "aligned",
    "align*": "aligned",
    "flalign": "aligned",
    "flalign*": "aligned",
    "alignat": "aligned",
    "alignat*": "aligned",
    "xalignat": "aligned",
    "gather": "gathered",
    "gather*": "gathered",
    "multlined": "gathered",
    "multline": "gathered",
    "multline*": "gathered",
    "smallmatrix": "matrix",
    "psmallmatrix": "pmatrix",
    "bsmallmatrix": "bmatrix",
    "subarray": "matrix",
    "dcases*": "dcases",
    "cases*": "cases",
    "numcases": "cases",
    "subnumcases": "cases",
    "tabular": "array",
    "tabularx": "array",
    "tabu": "array",
    "pmatrix*": "pmatrix",
    "bmatrix*": "bmatrix",
    "vmatrix*": "vmatrix",
    "matrix*": "matrix",
    "NiceMatrix": "matrix",
    "pNiceMatrix": "pmatrix",
    "bNiceMatrix": "bmatrix",
    "bordermatrix": "pmatrix",
    "minipage": "gathered",
}
_WITH_ARGUMENT = {"alignedat", "alignat", "alignat*", "xalignat", "subarray", "IEEEeqnarray"}
_ONE_SHOWN = frozenset(
    {"equation", "equation*", "displaymath", "math", "small", "center", "tiny", "footnotesize"}
)
_COMMAND = re.compile(r"\\(?:([a-zA-Z@]+)\*?|(.))", re.DOTALL)
_DIMENSION = re.compile(
    r"\s*=?\s*(?:to\s*)?-?[\d.,]*\s*(?:\\[a-zA-Z]+|pt|em|ex|cm|mm|in|mu|sp|bp|pc)?"
)


def group(text: str, at: int) -> tuple[str, int] | None:
    """The content of the braces that open at `at` (after blanks), and where they end."""
    while at < len(text) and text[at] in " \t\n":
        at += 1
    if at >= len(text) or text[at] != "{":
        return None
    depth, pos = 0, at
    while pos < len(text):
        char = text[pos]
        if char == "\\":
            pos += 2
            continue
        if char == "{":
            depth += 1
        elif char == "}":
            depth -= 1
            if depth == 0:
                return text[at + 1 : pos], pos + 1
        pos += 1
    return None


def option(text: str, at: int) -> tuple[str, int] | None:
    """The content of the square brackets that open at `at` (after blanks), and where they end."""
    while at < len(text) and text[at] in " \t\n":
        at += 1
    if at >= len(text) or text[at] != "[":
        return None
    depth, pos = 0, at + 1
    while pos < len(text):
        char = text[pos]
        if char == "\\":
            pos += 2
            continue
        if char == "{":
            depth += 1
        elif char == "}":
            depth -= 1
        elif char == "]" and depth == 0:
            return text[at + 1 : pos], pos + 1
        pos += 1
    return None


def _argument(text: str, at: int) -> tuple[str, int]:
    """The argument that TeX would take at `at`: a group, a command or one sign."""
    found = group(text, at)
    if found:
        return found
    while at < len(text) and text[at] in " \t\n":
        at += 1
    match = _COMMAND.match(text, at)
    if match:
        return match.group(), match.end()
    return text[at : at + 1], min(at + 1, len(text))


def for_math_core(tex: str, *, depth: int = 0) -> str:
    """`tex` spelled for math-core. Terminates on any input; recursion is bounded."""
    if depth > 8:
        return tex
    out: list[str] = []
    at = 0
    if "√" in tex:
        tex = re.sub(r"√\s*(?=\{)", r"\\sqrt", tex)
        tex = re.sub(r"√\s*([^\s\\{}])", r"\\sqrt{\1}", tex)
    while match := _COMMAND.search(tex, at):
        out.append(tex[at : match.start()])
        name, at = match.group(1), match.end()
        if name is None:
            out.append(_sign(match.group(2) or ""))
            continue
        piece, at = _command(name, tex, match.start(), at, depth)
        out.append(piece)
    out.append(tex[at:])
    return "".join(out)


def _sign(sign: str) -> str:
    if sign == "-":
        return ""
    if sign in {"(", ")", "[", "]"}:
        return ""
    return "\\" + sign


def _command(name: str, tex: str, start: int, at: int, depth: int) -> tuple[str, int]:
    if name in {"begin", "end"}:
        return _environment(name, tex, at, depth)
    if name in {"text", "mbox", "hbox", "textnormal", "textrm", "textbf", "textit", "intertext",
                "shortintertext", "textsf", "texttt", "textup", "textsc", "textsl", "emph",
                "textmd", "makebox", "fbox", "framebox", "textsuperscript",
                "textsubscript"}:  # fmt: skip
        return _text(name, tex, at, depth)
    if name in {"matrix", "pmatrix", "cases"} and group(tex, at):
        body, at = _argument(tex, at)
        body = for_math_core(body, depth=depth + 1)
        return f"\\begin{{{name}}}{body}\\end{{{name}}}", at
    if name in _FENCES and group(tex, at):
        body, at = _argument(tex, at)
        left, right = _FENCES[name]
        return f"\\left{left} {for_math_core(body, depth=depth + 1)} \\right{right}", at
    if name == "substack":
        body, at = _argument(tex, at)
        return f"\\begin{{matrix}}{for_math_core(body, depth=depth + 1)}\\end{{matrix}}", at
    if name == "root":
        parts = re.compile(r"\s*(.*?)\\of").match(tex, at)
        if parts:
            body, end = _argument(tex, parts.end())
            return f"\\sqrt[{parts.group(1)}]{{{for_math_core(body, depth=depth + 1)}}}", end
    if name in {"mleft", "mright"}:
        name = name[1:]
    if name in {"left", "right"}:
        return _delimiter(name, tex, at)
    if name in {"hline", "cline", "cmidrule"}:
        return _rule(name, tex, at)
    if name in _TRANSPARENT:
        return _transparent(name, tex, at, depth)
    if name in _LITERAL:
        if name == "hskip":
            at = _DIMENSION.match(tex, at).end()  # type: ignore[union-attr]
        return _LITERAL[name], at
    if name in _SILENT:
        return _silent(name, tex, at)
    if name in _AS_TEXT:
        return f"\\{_AS_TEXT[name]}" + _gap(tex, at), at
    return tex[start:at], at


def _gap(tex: str, at: int) -> str:
    return " " if at < len(tex) and tex[at].isalpha() else ""


def _silent(name: str, tex: str, at: int) -> tuple[str, int]:
    if name == "limits":
        return "\\limits" + _gap(tex, at), at
    found = option(tex, at) if name in {"rule", "pagebreak", "addlinespace"} else None
    if found:
        at = found[1]
    for _ in range(_SILENT[name]):
        _, at = _argument(tex, at)
    return " ", at


def _transparent(name: str, tex: str, at: int, depth: int) -> tuple[str, int]:
    wanted, count = _TRANSPARENT[name]
    shown = ""
    overlay = re.compile(r"\s*<[^<>]*>").match(tex, at) if name in _OVERLAYS else None
    if overlay:
        at = overlay.end()
    if name in {"parbox", "colorbox", "fcolorbox", "textcolor", "color", "smash", "footnote"}:
        found = option(tex, at)
        at = found[1] if found else at
    for index in range(count):
        argument, at = _argument(tex, at)
        if index == wanted:
            shown = for_math_core(argument, depth=depth + 1)
    return (f"{{{shown}}}" if shown else " "), at


_OVERLAYS = {"uncover", "visible", "only", "onslide", "alert", "structure"}


def _text(name: str, tex: str, at: int, depth: int) -> tuple[str, int]:
    """Words inside a formula; a formula inside those words comes out of them."""
    while found := option(tex, at):
        if name not in {"makebox", "framebox"}:
            break
        at = found[1]
    to = re.compile(r"\s*to\s*[-\d.]+\s*\w+").match(tex, at) if name == "hbox" else None
    argument, at = _argument(tex, to.end() if to else at)
    argument = re.sub(r"\\[()]", "$", argument)
    inner = _AS_TEXT.get(name, name)
    if inner in {"intertext", "shortintertext"}:
        inner = "text"
    parts = re.split(r"(?<!\\)\$", argument)
    if len(parts) % 2 == 0:
        parts = [argument.replace("$", "\\$")]
    out = []
    for index, part in enumerate(parts):
        if index % 2:
            out.append("{" + for_math_core(part, depth=depth + 1) + "}")
        elif part:
            out.append(f"\\{inner}{{{_words(part, depth)}}}")
    shown = "".join(out) or "{}"
    if name in {"textsuperscript", "textsubscript"}:
        return ("^" if name == "textsuperscript" else "_") + f"{{{shown}}}", at
    if name in {"intertext", "shortintertext"}:
        return shown + "\\\\", at
    return (shown if len(parts) == 1 else f"{{{shown}}}"), at


def _words(text: str, depth: int) -> str:
    text = re.sub(r"\\(?:label|index|vspace|hspace)\*?\{[^{}]*\}", "", text)
    text = re.sub(r"\\(?:ensuremath|mathrm|mbox|text|textnormal|textrm|mathit)\b\s*", "", text)
    text = re.sub(r"\\(?:og|guillemotleft)\b\s*(?:\{\})?\s*", "« ", text)
    text = re.sub(r"\s*\\(?:fg|guillemotright)\b\s*(?:\{\})?", " »", text)
    text = re.sub(r"\\(?:dots|ldots|textellipsis)\b\s*(?:\{\})?", "…", text)
    text = re.sub(r"\\(?:quad|qquad|enspace|space|hfill|[,;:! ])(?![a-zA-Z])", " ", text)
    text = re.sub(
        r"\\(?:small|footnotesize|scriptsize|tiny|normalsize|large|it|rm|bf|sf|tt|em|bfseries|"
        r"itshape|upshape|rmfamily|sffamily|ttfamily|centering|normalfont|xspace|protect)\b\s*",
        "",
        text,
    )
    return re.sub(
        r"\\[a-zA-Z]+(?:\{\})?",
        lambda match: match.group() if match.group()[1:] in _TEXT_KNOWN else "",
        text,
    )


_TEXT_KNOWN = {"textbf", "textit", "texttt", "textrm", "textsf", "emph", "ss", "oe", "ae", "i"}


def _environment(name: str, tex: str, at: int, depth: int) -> tuple[str, int]:
    found = group(tex, at)
    if not found:
        return "", at
    kind, at = found[0].strip(), found[1]
    if name == "begin":
        if kind in _WITH_ARGUMENT and (argument := group(tex, at)):
            at = argument[1]
        if kind == "tabularx" and (argument := group(tex, at)):
            at = argument[1]
        if kind == "minipage" and (argument := group(tex, at)):
            at = argument[1]
        if kind not in {"array", "tabular", "tabularx", "tabu"} and (extra := option(tex, at)):
            at = extra[1]
        if kind in {"array", "tabular", "tabularx", "tabu"}:
            if placed := option(tex, at):
                at = placed[1]
            if columns := group(tex, at):
                return f"\\begin{{array}}{{{_columns(columns[0])}}}", columns[1]
            return "\\begin{array}{c}", at
    if kind in _ONE_SHOWN:
        return "", at
    return f"\\{name}{{{_ENVIRONMENTS.get(kind, kind)}}}", at


def _columns(spec: str) -> str:
    """A column specification in the letters that math-core reads: l, c, r and |."""
    for _ in range(4):
        spec = re.sub(
            r"\*\s*\{(\d{1,2})\}\s*\{([^{}]*)\}", lambda m: m.group(2) * int(m.group(1)), spec
        )
    spec = re.sub(r"[@!><]\s*\{(?:[^{}]|\{[^{}]*\})*\}", "", spec)
    spec = re.sub(r"[pmbXwWSD]\s*(?:\[[^\]]*\])?(?:\{[^{}]*\})*", "l", spec)
    return re.sub(r"[^lcr|]", "", spec) or "c"


def _delimiter(name: str, tex: str, at: int) -> tuple[str, int]:
    match = re.compile(r"\s*(<|>|\\lbrack|\\rbrack|\\lbrace|\\rbrace|\\vert|\\\|)").match(tex, at)
    if not match:
        return f"\\{name}" + _gap(tex, at), at
    sign = {
        "<": "\\langle ",
        ">": "\\rangle ",
        "\\lbrack": "[",
        "\\rbrack": "]",
        "\\lbrace": "\\{",
        "\\rbrace": "\\}",
        "\\vert": "|",
    }.get(match.group(1), match.group(1))
    return f"\\{name}{sign}", match.end()


def _rule(name: str, tex: str, at: int) -> tuple[str, int]:
    if name in {"cline", "cmidrule"}:
        trim = re.compile(r"\s*\([^()]*\)").match(tex, at)
        _, at = _argument(tex, trim.end() if trim else at)
    return " ", at
