"""Reading the definitions of a course into the tables of the expander."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ingestion.parsing.latex import vocabulary
from ingestion.parsing.latex.macros import (
    BoxStyle,
    Entry,
    Environment,
    Macro,
    Parameter,
    Theorem,
    document_parameters,
    options_of,
    plain_parameters,
    primitive_parameters,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from ingestion.parsing.latex.expand import Expander

_NAME = re.compile(r"\\([a-zA-Z@]+|.)")


def _command_name(expander: Expander) -> str:
    match = _NAME.search(expander.stream.argument())
    return match.group(1) if match else ""


def _define(expander: Expander, name: str, macro: Macro, *, everywhere: bool = False) -> None:
    if name and name not in vocabulary.PROTECTED and not name.startswith("preuve"):
        expander.known.define(name, macro, everywhere=everywhere)


def _newcommand(expander: Expander, command: str) -> None:
    stream = expander.stream
    stream.star()
    name = _command_name(expander)
    count, default = stream.option(), stream.option()
    body = stream.argument()
    if command == "providecommand" and name in expander.known.macros:
        return
    _define(expander, name, Macro(body, plain_parameters(count, default)))


def _def(expander: Expander, command: str) -> None:
    stream = expander.stream
    match = stream.match(re.compile(r"\s*\\([a-zA-Z@]+|.)", re.DOTALL))
    if not match:
        return
    parameters = stream.match(re.compile(r"[^{}\\]*(?=\{)"))
    if parameters is None:
        # A delimiter with a command in it: skipped with its body.
        stream.match(re.compile(r"[^{}]*"))
        stream.group()
        return
    body = stream.argument()
    if command in {"edef", "xdef"}:
        body = expander.expanded(body)
    _define(
        expander,
        match.group(1),
        Macro(body, primitive_parameters(parameters.group())),
        everywhere=command in {"gdef", "xdef"},
    )


def _let(expander: Expander, _command: str) -> None:
    match = expander.stream.match(
        re.compile(r"\s*\{?\\([a-zA-Z@]+|.)\}?\s*=?\s*(\\(?:[a-zA-Z@]+|.)|\S)")
    )
    if not match:
        return
    name, target = match.groups()
    macro = expander.known.macros.get(target[1:]) if target.startswith("\\") else None
    if macro is not None:
        _define(expander, name, macro)
    elif target != f"\\{name}":
        _define(expander, name, Macro(target))


def _operator(expander: Expander, _command: str) -> None:
    star = "*" if expander.stream.star() else ""
    name = _command_name(expander)
    _define(expander, name, Macro(f"\\operatorname{star}{{{expander.stream.argument()}}}"))


def _delimiter(expander: Expander, command: str) -> None:
    """`\\DeclarePairedDelimiter\\abs{\\lvert}{\\rvert}`; the starred use stretches them."""
    stream = expander.stream
    name = _command_name(expander)
    if command.endswith(("X", "XPP")):
        stream.option()
    left, right = stream.argument(), stream.argument()
    if command.endswith("X"):
        body = stream.argument()
        body = body.replace("\\delimsize", "")
        _define(expander, name, Macro(f"\\left{left} {body} \\right{right}",
                                      (Parameter("s"), Parameter("o"), Parameter("m"))))  # fmt: skip  # noqa: E501
        return
    _define(
        expander,
        name,
        Macro(f"\\left{left} #3 \\right{right}", (Parameter("s"), Parameter("o"), Parameter("m"))),
    )


def _document_command(expander: Expander, _command: str) -> None:
    name = _command_name(expander)
    spec, body = expander.stream.argument(), expander.stream.argument()
    _define(expander, name, Macro(body, document_parameters(spec)))


#: Environments that the beamer class itself defines.
BEAMER_ENVIRONMENTS = frozenset(
    [
        "block",
        "alertblock",
        "exampleblock",
        "theorem",
        "lemma",
        "corollary",
        "proof",
        "definition",
        "definitions",
        "example",
        "examples",
        "fact",
        "columns",
        "column",
        "overprint",
        "overlayarea",
        "actionenv",
        "alertenv",
        "structureenv",
    ]
)


def _environment(expander: Expander, command: str) -> None:
    stream = expander.stream
    stream.star()
    name = stream.argument().strip()
    count, default = stream.option(), stream.option()
    begin, end = stream.argument(), stream.argument()
    if expander.beamer and command != "renewenvironment" and name in BEAMER_ENVIRONMENTS:
        return  # LaTeX would stop here: a deck never runs it, it serves the article beside it
    _add_environment(expander, name, Environment(begin, end, plain_parameters(count, default)))


def _document_environment(expander: Expander, _command: str) -> None:
    stream = expander.stream
    name, spec = stream.argument().strip(), stream.argument()
    begin, end = stream.argument(), stream.argument()
    _add_environment(expander, name, Environment(begin, end, document_parameters(spec)))


def _collected_environment(expander: Expander, _command: str) -> None:
    """`\\NewEnviron{x}{… \\BODY …}`: what stands around the body opens and closes it."""
    stream = expander.stream
    name = stream.argument().strip()
    count, default = stream.option(), stream.option()
    body = stream.argument()
    stream.option()
    begin, _, end = body.partition("\\BODY")
    _add_environment(expander, name, Environment(begin, end, plain_parameters(count, default)))


def _add_environment(expander: Expander, name: str, environment: Environment) -> None:
    opened = re.sub(r"(?:\\VerbatimEnvironment|\\verbatim)\b", "", environment.begin)
    if name and name not in {"frame", "document", "itemize", "enumerate", "tabular"}:
        expander.known.environments[name] = Environment(
            opened, environment.end, environment.parameters
        )


def _theorem(expander: Expander, _command: str) -> None:
    stream = expander.stream
    stream.star()
    name = stream.argument().strip()
    stream.option()
    printed = stream.argument()
    stream.option()
    expander.theorem(name, Theorem(expander.expanded(printed).strip()))


def _declared_theorem(expander: Expander, _command: str) -> None:
    stream = expander.stream
    before = stream.option() or ""
    names = stream.argument()
    options = options_of(before + "," + (stream.option() or ""))
    for name in names.split(","):
        printed = options.get("name") or options.get("title") or name.strip().capitalize()
        expander.theorem(name.strip(), Theorem(printed))


def _md_theorem(expander: Expander, _command: str) -> None:
    stream = expander.stream
    stream.option()
    name = stream.argument().strip()
    stream.option()
    expander.theorem(name, Theorem(expander.expanded(stream.argument()).strip()))
    stream.option()


def _box_theorem(expander: Expander, _command: str) -> None:
    """`\\newtcbtheorem[…]{name}{printed}{options}{prefix}`."""
    stream = expander.stream
    stream.option()
    name, printed = stream.argument().strip(), stream.argument()
    stream.argument()
    prefix = stream.argument()
    theorem = Theorem(expander.expanded(printed).strip(), braced=True, prefix=prefix)
    expander.theorem(name, theorem)
    expander.theorem(name + "*", theorem)


def _box(expander: Expander, _command: str) -> None:
    stream = expander.stream
    stream.option()
    name = stream.argument().strip()
    count, default = stream.option(), stream.option()
    expander.box(name.lstrip("\\"), BoxStyle(stream.argument(), plain_parameters(count, default)))


def _document_box(expander: Expander, _command: str) -> None:
    stream = expander.stream
    stream.option()
    name, spec = stream.argument().strip(), stream.argument()
    expander.box(name.lstrip("\\"), BoxStyle(stream.argument(), document_parameters(spec)))


def _inline_box(expander: Expander, _command: str) -> None:
    """`\\newtcbox{\\x}[1][]{…}`: a command that shows its last argument."""
    stream = expander.stream
    stream.option()
    name = _command_name(expander)
    count, default = stream.option(), stream.option()
    stream.argument()
    parameters = (*plain_parameters(count, default), Parameter("m"))
    _define(expander, name, Macro(f"#{len(parameters)}", parameters))


def _framed_box(expander: Expander, _command: str) -> None:
    stream = expander.stream
    options = stream.option() or ""
    expander.box(stream.argument().strip(), BoxStyle(options))


def _flag(expander: Expander, command: str) -> None:
    stream = expander.stream
    if command == "newif":
        match = stream.match(re.compile(r"\s*\{?\\if([a-zA-Z@]+)\}?"))
        if match:
            expander.known.flags.setdefault(match.group(1), False)
            for word in ("true", "false"):
                expander.known.macros[match.group(1) + word] = Macro(
                    f"\\preuveflag{{{match.group(1)}}}{{{word}}}"
                )
        return
    name = stream.argument().strip()
    if command in {"newtoggle", "newbool", "providetoggle", "providebool", "newboolean"}:
        expander.known.flags.setdefault(name, False)
    elif command in {"toggletrue", "booltrue"}:
        expander.known.flags[name] = True
    elif command in {"togglefalse", "boolfalse"}:
        expander.known.flags[name] = False
    else:  # settoggle, setbool, setboolean, preuveflag
        expander.known.flags[name] = stream.argument().strip() == "true"


def _entry(expander: Expander, command: str) -> None:
    """Glossary entries and acronyms, kept as the source states them."""
    stream = expander.stream
    line = stream.place()[1]
    options = stream.option() if "acronym" in command or "abbrev" in command else None
    key = stream.argument().strip()
    if command in {"newacronym", "newabbreviation", "acrodef", "newacro"}:
        short = stream.option() if command == "acrodef" else None
        name = stream.argument() if command != "acrodef" else (short or key)
        description = stream.argument()
        fields = options_of(options or "")
        entry = Entry(key, name, description, fields.get("translation", ""), acronym=True,
                      plural=fields.get("shortplural", ""), line=line)  # fmt: skip
    else:
        text = stream.argument()
        fields = options_of(text)
        description = fields.get("description", "")
        if command in {"longnewglossaryentry", "longprovideglossaryentry"}:
            description = stream.argument()
        translation = (
            fields.get("translation") or fields.get("english") or fields.get("user1") or ""
        )
        if command == "DeclareAcronym":
            entry = Entry(key, fields.get("short", key), fields.get("long", ""),
                          fields.get("foreign", translation), acronym=True, line=line)  # fmt: skip
        else:
            entry = Entry(key, fields.get("name") or fields.get("text") or key, description,
                          translation, plural=fields.get("plural", ""), line=line)  # fmt: skip
    expanded = Entry(
        entry.key,
        expander.expanded(entry.name),
        expander.expanded(entry.description),
        expander.expanded(entry.translation),
        acronym=entry.acronym,
        plural=expander.expanded(entry.plural),
        line=entry.line,
    )
    if all(known.key != entry.key for known in expander.known.entries):
        expander.known.entries.append(expanded)


def _counter(expander: Expander, command: str) -> None:
    stream, counters = expander.stream, expander.known.counters
    name = stream.argument().strip()
    if command == "newcounter":
        stream.option()
        counters.setdefault(name, 0)
        return
    value = 1
    if command in {"setcounter", "addtocounter"}:
        text = expander.expanded(stream.argument()).strip()
        inner = re.fullmatch(r"\\value\s*\{\s*([^{}]+)\s*\}", text)
        if inner:
            text = str(counters.get(inner.group(1), 0))
        if name in {"framenumber", "enumi", "enumii", "enumiii"}:
            expander.emit(f"\\{command}{{{name}}}{{{text}}}")
        if not text.lstrip("+-").isdigit():
            return
        value = int(text)
    counters[name] = value if command == "setcounter" else counters.get(name, 0) + value


def _shown_counter(expander: Expander, command: str) -> None:
    name = expander.stream.argument().strip()
    value = expander.known.counters.get(name)
    if value is None:
        return
    expander.emit(number(value, command))


def number(value: int, style: str) -> str:
    """A counter's value as `\\arabic`, `\\alph`, `\\Roman`… print it."""
    if style in {"alph", "Alph"} and 0 < value <= 26:
        letter = chr(96 + value)
        return letter if style == "alph" else letter.upper()
    if style in {"roman", "Roman"} and 0 < value < 400:
        text = ""
        for amount, sign in ((100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"), (9, "ix"),
                             (5, "v"), (4, "iv"), (1, "i")):  # fmt: skip
            while value >= amount:
                text, value = text + sign, value - amount
        return text if style == "roman" else text.upper()
    return str(value)


HANDLERS: dict[str, Callable[[Expander, str], None]] = {
    **dict.fromkeys(
        ("newcommand", "renewcommand", "providecommand", "DeclareRobustCommand", "newrobustcmd",
         "renewrobustcmd", "providerobustcmd", "newcommandx", "renewcommandx"),
        _newcommand,
    ),
    **dict.fromkeys(("def", "gdef", "edef", "xdef"), _def),
    "let": _let,
    "DeclareMathOperator": _operator,
    **dict.fromkeys(("DeclarePairedDelimiter", "DeclarePairedDelimiterX"), _delimiter),
    **dict.fromkeys(
        ("NewDocumentCommand", "RenewDocumentCommand", "ProvideDocumentCommand",
         "DeclareDocumentCommand", "NewExpandableDocumentCommand"),
        _document_command,
    ),
    **dict.fromkeys(("newenvironment", "renewenvironment", "provideenvironment"), _environment),
    **dict.fromkeys(
        ("NewDocumentEnvironment", "RenewDocumentEnvironment", "DeclareDocumentEnvironment",
         "ProvideDocumentEnvironment"),
        _document_environment,
    ),
    **dict.fromkeys(("NewEnviron", "RenewEnviron"), _collected_environment),
    **dict.fromkeys(("newtheorem", "newframedtheorem", "newshadedtheorem", "spnewtheorem"), _theorem),  # noqa: E501
    "declaretheorem": _declared_theorem,
    "newmdtheoremenv": _md_theorem,
    **dict.fromkeys(("newtcbtheorem", "renewtcbtheorem", "NewTcbTheorem"), _box_theorem),
    **dict.fromkeys(("newtcolorbox", "renewtcolorbox"), _box),
    **dict.fromkeys(("NewTColorBox", "DeclareTColorBox", "ProvideTColorBox", "RenewTColorBox"),
                    _document_box),
    **dict.fromkeys(("newtcbox", "renewtcbox"), _inline_box),
    **dict.fromkeys(("newmdenv", "renewmdenv"), _framed_box),
    **dict.fromkeys(
        ("newif", "newtoggle", "providetoggle", "toggletrue", "togglefalse", "settoggle", "newbool",
         "providebool", "booltrue", "boolfalse", "setbool", "newboolean", "setboolean",
         "preuveflag"),
        _flag,
    ),
    **dict.fromkeys(
        ("newglossaryentry", "longnewglossaryentry", "longprovideglossaryentry",
         "provideglossaryentry", "newacronym", "newabbreviation", "DeclareAcronym", "acrodef",
         "newacro", "newdualentry"),
        _entry,
    ),
    **dict.fromkeys(("newcounter", "setcounter", "addtocounter", "stepcounter", "refstepcounter"),
                    _counter),
    **dict.fromkeys(("arabic", "alph", "Alph", "roman", "Roman", "fnsymbol"), _shown_counter),
}  # fmt: skip
