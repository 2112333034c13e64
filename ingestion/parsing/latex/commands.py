"""What each command of LaTeX means to a reader: titles, references, notes, links, units."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ingestion.parsing.latex import units
from ingestion.parsing.latex.masking import MARK
from ingestion.parsing.latex.walking import Node, contents, given, last, source_of
from ingestion.parsing.tree import (
    Break,
    Code,
    Emphasis,
    Figure,
    Heading,
    Inline,
    Link,
    Math,
    Note,
    Strong,
    Text,
    flatten,
)

if TYPE_CHECKING:
    from ingestion.parsing.latex.nodes import Builder

Arguments = Sequence[Node | None]
Handler = Callable[["Builder", str, Arguments], None]


def _nothing(builder: Builder, name: str, arguments: Arguments) -> None:
    """Layout, anchors and counters: nothing to read."""


def _title(builder: Builder, name: str, arguments: Arguments) -> None:
    inlines = builder.inlines(last(arguments))
    if name == "frametitle":
        builder.page.title = inlines
    else:
        builder.page.subtitle = inlines


def _note(builder: Builder, name: str, arguments: Arguments) -> None:
    text = "\n".join(builder.plain_of(contents(last(arguments))))
    if text.strip():
        builder.page.notes.append(text.strip())


def _footnote(builder: Builder, name: str, arguments: Arguments) -> None:
    inlines = builder.inlines(last(arguments))
    if inlines:
        builder.page.footnotes.append(Note(inlines))


def _heading(builder: Builder, name: str, arguments: Arguments) -> None:
    inlines = builder.inlines(last(arguments))
    if inlines:
        builder.add(Heading(inlines))


def _caption(builder: Builder, name: str, arguments: Arguments) -> None:
    inlines = builder.inlines(last(arguments))
    if inlines:
        builder.page.captions.append(inlines)


def _subfloat(builder: Builder, name: str, arguments: Arguments) -> None:
    options = list(given(arguments[:-1]))
    builder.visit(contents(last(arguments)))
    if options:
        builder.page.captions.append(builder.inlines(options[-1]))


def _picture(builder: Builder, name: str, arguments: Arguments) -> None:
    file, alt = source_of(arguments[0]), builder.text(arguments[1])
    builder.page.pictures.append(Figure(alt=alt, files=(file,)))


def _hint(builder: Builder, name: str, arguments: Arguments) -> None:
    builder.hint = source_of(last(arguments)).strip()


def _reference(builder: Builder, name: str, arguments: Arguments) -> None:
    keys = [key.strip() for key in source_of(last(arguments)).split(",")]
    for index, key in enumerate(keys):
        if index:
            builder.line.append(Text(", "))
        builder.line += builder.context.resolve(name, key)


def _cite(builder: Builder, name: str, arguments: Arguments) -> None:
    keys = [key.strip() for key in source_of(last(arguments)).split(",") if key.strip()]
    notes = [builder.text(node) for node in given(arguments[1:-1])]
    text = builder.context.cite(name, keys, notes)
    if name in {"footcite", "footfullcite"}:
        builder.page.footnotes.append(Note((Text(text),)))
    elif text:
        builder.line.append(Text(text))


def _link(builder: Builder, name: str, arguments: Arguments) -> None:
    source = source_of(arguments[-2])
    mark = MARK.fullmatch(source.strip())
    url = builder.context.vault.get(int(mark.group(2))).text if mark else source
    inlines = builder.inlines(last(arguments))
    if not inlines:
        return
    builder.line.append(Link(url, inlines) if _is_flat(inlines) else Strong(inlines))


def _is_flat(inlines: Sequence[Inline]) -> bool:
    return not any(isinstance(inline, Link | Break) for inline in flatten(inlines))


def _address(builder: Builder, name: str, arguments: Arguments) -> None:
    source = source_of(last(arguments)).replace("\\", "")
    mark = MARK.fullmatch(source.strip())
    url = builder.context.vault.get(int(mark.group(2))).text if mark else source
    builder.line.append(Link(url, (Text(url),)) if name != "path" else Code(url))


def _code(builder: Builder, name: str, arguments: Arguments) -> None:
    builder.wrap("code", contents(last(arguments)))


def _quote(builder: Builder, name: str, arguments: Arguments) -> None:
    french = builder.context.language.startswith("fr")
    builder.line.append(Text("« " if french else "“"))
    builder.line += builder.inlines(last(arguments))
    builder.line.append(Text(" »" if french else "”"))


_SUPERSCRIPT = str.maketrans("0123456789+-=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ")
_SUBSCRIPT = str.maketrans("0123456789+-=()", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎")


def _raised(builder: Builder, name: str, arguments: Arguments) -> None:
    """`m\\textsuperscript{2}` as m²; ordinals (« 1er ») stay letters."""
    inlines = builder.inlines(last(arguments))
    if len(inlines) != 1 or not isinstance(inlines[0], Text):
        builder.line += inlines
        return
    text = inlines[0].text
    table = _SUBSCRIPT if name == "textsubscript" else _SUPERSCRIPT
    digits = all(char in "0123456789+-=()" for char in text)
    builder.line.append(Text(text.translate(table) if digits else text))


def _multicolumn(builder: Builder, name: str, arguments: Arguments) -> None:
    builder.visit(contents(last(arguments)))


def _quantity(builder: Builder, name: str, arguments: Arguments) -> None:
    language = builder.context.language
    values = [_math_free(builder, node) for node in arguments if node is not None
              and str(node.latex_verbatim()).startswith("{")]  # fmt: skip
    if not values:
        return
    if name in {"SI", "qty"}:
        shown = units.quantity(values[0], values[-1], language)
    elif name in {"si", "unit"}:
        shown = units.unit(values[0])
    elif name == "ang":
        shown = units.number(values[0].split(";")[0], language) + "°"
    elif name in {"SIrange", "qtyrange", "numrange"}:
        joint = " à " if language.startswith("fr") else " to "
        shown = joint.join(units.number(value, language) for value in values[:2])
        if len(values) > 2:
            shown += " " + units.unit(values[2])
    else:
        shown = " ; ".join(units.number(value, language) for value in values[0].split(";"))
    builder.line.append(Text(shown))


def _math_free(builder: Builder, node: Node) -> str:
    """The source of an argument, with the formulas of it written out."""
    return MARK.sub(
        lambda mark: builder.context.formulas.get(int(mark.group(2))).tex, source_of(node)
    )


def _term(builder: Builder, name: str, arguments: Arguments) -> None:
    braced = [node for node in given(arguments) if str(node.latex_verbatim()).startswith("{")]
    if name in {"glslink", "glsdisp"}:
        builder.visit(contents(braced[-1]) if braced else [])
        return
    key = source_of(braced[0]).strip() if braced else source_of(last(arguments)).strip()
    builder.line += builder.context.term(name, key)


def _contents(builder: Builder, name: str, arguments: Arguments) -> None:
    builder.page.contents = source_of(last(arguments)).strip() or "all"


def _title_page(builder: Builder, name: str, arguments: Arguments) -> None:
    builder.page.title_page = True


def _fact(builder: Builder, name: str, arguments: Arguments) -> None:
    builder.line += builder.context.facts.get(name.removeprefix("insert"), ())


def _paragraph(builder: Builder, name: str, arguments: Arguments) -> None:
    builder.flush()


def _break(builder: Builder, name: str, arguments: Arguments) -> None:
    builder.line.append(Break())


def _new_item(builder: Builder, name: str, arguments: Arguments) -> None:
    """An `\\item` outside any list: a paragraph of its own."""
    builder.flush()
    if given(arguments):
        builder.line += [*builder.inlines(last(arguments)), Text(" ")]


def _chemistry(builder: Builder, name: str, arguments: Arguments) -> None:
    builder.line.append(Math(f"\\mathrm{{{_math_free(builder, last(arguments))}}}"))


def _bibitem(builder: Builder, name: str, arguments: Arguments) -> None:
    builder.flush()


def _emphasised(builder: Builder, name: str, arguments: Arguments) -> None:
    inlines = builder.inlines(last(arguments))
    if inlines:
        builder.line.append(Emphasis(inlines))


def _tikz(builder: Builder, name: str, arguments: Arguments) -> None:
    builder.drawing_next = True


def _small_capitals(builder: Builder, name: str, arguments: Arguments) -> None:
    builder.visit(contents(last(arguments)))


def _many(names: str, handler: Handler) -> dict[str, Handler]:
    return dict.fromkeys(names.split(), handler)


HANDLERS: dict[str, Handler] = {
    **_many(
        "label setcounter addtocounter appendix framebreak footnotemark nolinebreak tcblower "
        "sectionpage partpage beginappendix index hline cite@ legend preuvenovalue DTLfetch "
        "BooleanTrue BooleanFalse nonumber columnbreak",
        _nothing,
    ),
    **_many("frametitle framesubtitle", _title),
    **_many("note", _note),
    **_many("footnote footnotetext thanks endnote sidenote tablefootnote", _footnote),
    **_many("section subsection subsubsection chapter part paragraph subparagraph tcbsubtitle",
            _heading),
    **_many("caption captionof subcaption", _caption),
    **_many("subfloat subfigure", _subfloat),
    **_many("preuvepicture", _picture),
    **_many("preuvehint", _hint),
    **_many("ref pageref eqref autoref cref Cref nameref vref subref fref prettyref", _reference),
    **_many(
        "cite citep citet textcite parencite footcite autocite citeauthor citeyear citealt citealp "
        "fullcite citetitle smartcite supercite footfullcite Citet Citep citeyearpar Textcite "
        "Parencite",
        _cite,
    ),
    **_many("href", _link),
    **_many("url nolinkurl path", _address),
    **_many("texttt code lstinline mintinline verb keystroke keys menu", _code),
    **_many("enquote textquote blockquote frquote", _quote),
    **_many("textsuperscript textsubscript up", _raised),
    **_many("multicolumn", _multicolumn),
    **_many("SI qty si unit num ang SIrange qtyrange numrange numlist SIlist nombre numprint np",
            _quantity),
    **_many(
        "gls Gls glspl Glspl glsfirst glstext glsname glssymbol glsdesc glslink acrshort acrlong "
        "acrfull ac acs acl acf acp Ac glsdisp",
        _term,
    ),
    **_many("tableofcontents", _contents),
    **_many("titlepage maketitle", _title_page),
    **_many(
        "inserttitle insertsubtitle insertauthor insertdate insertinstitute insertsection "
        "insertsubsection insertpart",
        _fact,
    ),
    **_many("par intertext@", _paragraph),
    **_many("newline linebreak cr tabularnewline", _break),
    **_many("item question choice CorrectChoice task bonusquestion subpart", _new_item),
    **_many("ce cee", _chemistry),
    **_many("bibitem", _bibitem),
    **_many("bsc", _small_capitals),
    **_many("tikz", _tikz),
    **_many("column", _nothing),
}  # fmt: skip
