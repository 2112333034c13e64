"""The commands that carry a document's structure: environments, files, titles, hooks, overlays."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ingestion.parsing.latex import boxes, vocabulary
from ingestion.parsing.latex.inputs import Reference
from ingestion.parsing.latex.macros import Environment, read_values, substitute
from ingestion.parsing.latex.masking import Verbatim
from ingestion.parsing.latex.overlays import Pauses, shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from ingestion.parsing.latex.expand import Expander

_HOOKS = {
    "AtBeginSection": "section",
    "AtBeginSubsection": "subsection",
    "AtBeginSubsubsection": "subsubsection",
    "AtBeginPart": "part",
    "AtBeginLecture": "lecture",
}
_ALTERNATIVE = re.compile(r"\s*\\(?:only|alt|onslide|visible|uncover|temporal|alert)(?![a-zA-Z])")
_HOOK_END = "\\preuvehookend "


class Structure:
    def __init__(self, expander: Expander) -> None:
        self.expander = expander
        self.hidden: set[str] = set()  # environments left out of what is printed
        self._hook_starts: list[int] = []
        many: dict[Callable[[str], None], str] = {
            self._begin: "begin",
            self._end: "end",
            self._input: "input include subfile subfileinclude loadglsentries InputIfFileExists "
            "includestandalone",
            self._import: "import subimport includefrom subincludefrom inputfrom subinputfrom",
            self._package: "usepackage RequirePackage documentclass LoadClass usetheme",
            self._listing: "lstinputlisting verbatiminput VerbatimInput inputminted",
            self._fact: "title subtitle author date institute lecture",
            self._heading: "section subsection subsubsection part",
            self._hook: " ".join(_HOOKS),
            self._hook_end: "preuvehookend",
            self._at_begin_document: "AtBeginDocument",
            self._mode: "mode",
            self._only: "only uncover visible invisible onslide",
            self._alt: "alt temporal",
            self._pause: "pause",
            self._name: "csname",
            self._string: "string",
            self._the: "the",
            self._length: "kern hskip vskip mskip raise lower moveleft moveright",
            self._code: "catcode lccode uccode sfcode mathcode",
            self._char: "char symbol",
            self._rule: "hrule vrule",
            self._style: "tikzstyle",
            self._end_group: "preuveend",
            self._drop_template: "setbeamertemplate defbeamertemplate addtobeamertemplate "
            "setbeameroption",
            self._includeonly: "includeonly",
            self._bibliography: "bibliography addbibresource",
            self._picture: "includegraphics pgfuseimage",
            self._comment: "excludecomment includecomment specialcomment",
            self._end_input: "endinput",
            self._frame_command: "frame",
            self._star_test: "@ifstar @ifnextchar",
            self._stop: "enddocument",
            self._jobname: "jobname",
            self._box_word: "hbox vbox vtop",
        }
        self.handlers: dict[str, Callable[[str], None]] = {
            name: handler for handler, names in many.items() for name in names.split()
        }

    # -- environments ---------------------------------------------------------------------------

    def _begin(self, _name: str) -> None:
        expander, stream = self.expander, self.expander.stream
        group = stream.group()
        if group is None:
            return
        name = expander.expanded(group).strip()
        if name == "document":
            self._begin_document()
            return
        if name in self.hidden:
            self._skip(name)
            return
        expander.environments.append(name)
        expander.known.open()
        if name == "frame":
            self._start_frame()
            return
        overlay = expander.overlay() if name not in {"tabular", "array"} else None
        if overlay is not None and not shown(overlay):
            overlay = "hidden"
        known = expander.known
        if name in known.environments:
            self._custom(name, known.environments[name])
        elif name in known.boxes:
            style = known.boxes[name]
            values = read_values(stream, style.parameters)
            options = substitute(style.options, values)
            if not style.parameters and (extra := stream.option()):
                options = f"{options},{extra}"
            expander.emit(f"\\preuvehint{{{name}}}\\begin{{preuvebox}}")
            stream.push("{" + boxes.title_in(options) + "}")
        elif name in known.theorems:
            theorem = known.theorems[name]
            title = stream.option() or ""
            label = ""
            if theorem.braced:
                title, key = stream.argument(), stream.argument()
                label = f"\\label{{{theorem.prefix}:{key}}}" if key else ""
            elif not title:
                expander.overlay()
            printed = theorem.printed or name.capitalize()
            expander.emit(f"\\preuvehint{{{name}}}\\begin{{preuvetheorem}}")
            stream.push(f"{{{printed}}}{{{title}}}{label}")
        else:
            expander.mark()
            expander.emit(f"\\begin{{{name}}}")
            if name in vocabulary.ARRANGED:
                expander.read(vocabulary.ARRANGED[name])
            if overlay is None and name in vocabulary.LISTS:
                self._list_options(name)

    def _skip(self, name: str) -> None:
        """Past an environment that the source keeps out of what it prints."""
        layer = self.expander.stream.settle()
        if layer is not None:
            end = re.compile(r"\\end\s*\{\s*" + re.escape(name) + r"\s*\}").search(
                layer.text, layer.pos
            )
            layer.pos = end.end() if end else len(layer.text)

    def _list_options(self, name: str) -> None:
        """`[<+->]` after a list: counted for the pages, and gone."""
        stream = self.expander.stream
        match = stream.match(re.compile(r"\s*\[\s*<([^<>\]]*)>\s*\]"))
        self.default_overlay = match.group(1) if match else None

    default_overlay: str | None = None

    def _custom(self, name: str, environment: Environment) -> None:
        expander = self.expander
        stream = expander.stream
        values = read_values(stream, environment.parameters)
        begin, end = (substitute(text, values) for text in (environment.begin, environment.end))
        kind = boxes.kind_of_name(name, expander.boxes)
        if kind:
            expander.emit(f"\\preuvehint{{{name}}}")
            if not boxes.opens_box(environment.begin, expander.known):
                begin = f"\\begin{{preuvebox}}{{}}{begin}"
                end = f"{end}\\end{{preuvebox}}"
        expander.wrapped.append((name, environment, values, end))
        expander._expand_environment(name, begin)

    def _end(self, _name: str) -> None:
        expander, stream = self.expander, self.expander.stream
        group = stream.group()
        if group is None:
            return
        name = expander.expanded(group).strip()
        if name == "document":
            self._end_document()
            return
        custom = next(
            (i for i in range(len(expander.wrapped) - 1, -1, -1) if expander.wrapped[i][0] == name),
            None,
        )
        if name in expander.known.environments and custom is not None:
            end = expander.wrapped[custom][3]
            del expander.wrapped[custom:]
            stream.push(f"{end}\\preuveend{{{name}}}")
            return
        if name in expander.known.boxes:
            expander.emit("\\end{preuvebox}")
        elif name in expander.known.theorems:
            expander.emit("\\end{preuvetheorem}")
        elif name not in expander.known.environments:
            expander.emit(f"\\end{{{name}}}")
        self._close(name)
        if name == "frame":
            self.finish_frame()

    def _end_group(self, _name: str) -> None:
        self._close(self.expander.stream.argument())

    def _close(self, name: str) -> None:
        open_names = self.expander.environments
        if name in open_names:
            while open_names.pop() != name:
                self.expander.known.close()
            self.expander.known.close()

    def _begin_document(self) -> None:
        expander = self.expander
        for layer in reversed(expander.stream.layers):
            if layer.file:
                layer.opened = True
                break
        expander.muted = False

    def _end_document(self) -> None:
        layers = self.expander.stream.layers
        innermost = next((i for i in range(len(layers) - 1, -1, -1) if layers[i].file), 0)
        if (
            innermost > 0
            and layers[innermost].opened
            and layers[innermost].file != self.expander.main
        ):
            del layers[innermost:]
        else:
            self.expander.done = True

    # -- frames ---------------------------------------------------------------------------------

    def _start_frame(self) -> None:
        expander = self.expander
        self.finish_frame()
        expander.mark()
        expander.frame_at = expander.size
        expander.pauses = Pauses()
        expander.emit("\\begin{frame}")

    def _frame_command(self, _name: str) -> None:
        expander = self.expander
        if "frame" not in expander.environments and expander.frame_at is None:
            expander.mark()
        if "frame" not in expander.environments:
            self.finish_frame()
            expander.mark()
            expander.frame_at = expander.size
            expander.pauses = Pauses()
        expander.emit("\\frame")

    def finish_frame(self) -> None:
        expander = self.expander
        if expander.frame_at is not None and expander.pauses is not None:
            expander.result.pages[expander.frame_at] = expander.pauses.pages
        expander.frame_at = expander.pauses = None

    # -- files ----------------------------------------------------------------------------------

    def _input(self, command: str) -> None:
        expander, stream = self.expander, self.expander.stream
        option = stream.option() if command in {"includestandalone", "subfile"} else None
        del option
        name = stream.group()
        if name is None:
            match = stream.match(re.compile(r"[ \t]*([^\s{}\\%]+)"))
            name = match.group(1) if match and command == "input" else ""
        name = expander.expanded(name).strip()
        branches = [stream.group(), stream.group()] if command == "InputIfFileExists" else []
        if not name or "#" in name:
            return
        if branches and not expander.file_exists(name):
            stream.push(branches[1] or "")
            return
        expander.include(Reference("include" if command == "include" else "input", name))

    def _import(self, _command: str) -> None:
        expander, stream = self.expander, self.expander.stream
        stream.star()
        directory, name = stream.argument(), stream.argument()
        expander.include(Reference("input", expander.expanded(name), expander.expanded(directory)))

    def _package(self, command: str) -> None:
        expander, stream = self.expander, self.expander.stream
        options = stream.option() or ""
        names = stream.argument()
        stream.option()
        if command in {"documentclass", "LoadClass"}:
            expander.classes.add(names.strip())
            expander.result.facts.setdefault("class", names.strip())
            expander.result.facts.setdefault("class options", options)
            expander.muted = expander.preamble
        for name in names.split(","):
            expander.packages.add(name.strip())
            if not expander.include(Reference(command, name.strip())):
                continue

    def _listing(self, command: str) -> None:
        expander, stream = self.expander, self.expander.stream
        stream.star()
        options = stream.option() or ""
        language = stream.argument() if command == "inputminted" else ""
        expander.listing(expander.expanded(stream.argument()).strip(), options, language)

    def left(self, _file: str) -> None:
        """A file is read to its end."""

    def _end_input(self, _name: str) -> None:
        layers = self.expander.stream.layers
        while layers and not layers[-1].file:
            layers.pop()
        if layers:
            layers[-1].pos = len(layers[-1].text)

    def _includeonly(self, _name: str) -> None:
        self.expander.stream.argument()
        self.expander.warn("includeonly", "\\includeonly is not followed: every \\include is read")

    def _bibliography(self, _name: str) -> None:
        self.expander.stream.option()
        for name in self.expander.stream.argument().split(","):
            self.expander.result.bibliographies.append(name.strip())

    def _picture(self, name: str) -> None:
        expander, stream = self.expander, self.expander.stream
        stream.star()
        expander.overlay()
        options = ",".join(filter(None, (stream.option(), stream.option())))
        file = expander.expanded(stream.argument()).strip()
        expander.result.pictures.append(file)
        alt = re.search(r"\balt\s*=\s*(\{[^{}]*\}|[^,]*)", options)
        words = alt.group(1).strip("{} ") if alt else ""
        expander.emit(f"\\preuvepicture{{{file}}}{{{words}}}")

    # -- facts and headings ---------------------------------------------------------------------

    def _fact(self, command: str) -> None:
        expander, stream = self.expander, self.expander.stream
        short = stream.option()
        del short
        value = stream.argument()
        if command == "lecture":
            expander.overlay()
            stream.argument()
        expander.result.facts.setdefault(command, expander.expanded(value).strip())
        if command == "lecture":
            self._run_hook("lecture", starred=False)

    def _heading(self, command: str) -> None:
        expander, stream = self.expander, self.expander.stream
        starred = stream.star()
        overlay = stream.overlay()
        hidden = overlay is not None and not shown(overlay)
        stream.option()
        title = stream.argument()
        counters = expander.known.counters
        if not starred and not hidden:
            counters[command] = counters.get(command, 0) + 1
            inner = ["part", "section", "subsection", "subsubsection"]
            for lower in inner[inner.index(command) + 1 :]:
                if command != "part":
                    counters[lower] = 0
        if hidden:
            return
        expander.mark()
        number = "" if starred else str(counters[command])
        text = expander.expanded(title).strip()
        expander.emit(f"\\{command}{'*' if starred else ''}[{number}]{{{text}}}")
        self._run_hook(command, starred=starred)

    def _hook(self, command: str) -> None:
        stream = self.expander.stream
        special = stream.option()
        self.expander.known.hooks[_HOOKS[command]] = (stream.argument(), special)

    def _run_hook(self, kind: str, *, starred: bool) -> None:
        expander = self.expander
        body, special = expander.known.hooks.get(kind, ("", None))
        if starred and special is not None:
            body = special
        if body.strip() and not expander.muted:
            self._hook_starts.append(expander.size)
            expander.stream.push(body + _HOOK_END)

    def _hook_end(self, _name: str) -> None:
        if self._hook_starts:
            self.expander.result.hooked.append((self._hook_starts.pop(), self.expander.size))

    def _at_begin_document(self, _name: str) -> None:
        body = self.expander.stream.argument()
        if "\\begin{frame}" not in body and "\\maketitle" not in body:
            self.expander.expanded(body)

    # -- overlays -------------------------------------------------------------------------------

    def _mode(self, _name: str) -> None:
        stream = self.expander.stream
        stream.star()
        spec = stream.overlay()
        if spec is None:
            return
        visible = shown(spec)
        body = stream.group()
        if body is not None:
            if visible:
                stream.push(body)
            return
        if not visible:
            layer = stream.settle()
            if layer is not None:
                match = re.compile(r"\\mode\s*\*?\s*<|\\end\s*\{document\}").search(
                    layer.text, layer.pos
                )
                layer.pos = match.start() if match else len(layer.text)

    def _only(self, command: str) -> None:
        expander, stream = self.expander, self.expander.stream
        stream.match(re.compile(r"\s*[*+](?=\s*<)"))
        overlay = expander.overlay()
        if command == "onslide" and not re.match(r"\s*\{", stream.rest()):
            # Alternatives of one area, one under the other.
            expander.emit("\n\n" if "overprint" in expander.environments else " ")
            return
        body = stream.group()
        if overlay is None and (found := expander.overlay()) is not None:
            overlay = found
        if body is None or (overlay is not None and not shown(overlay)):
            return
        if command == "invisible" and overlay is None:
            return
        if expander.in_math():
            stream.push("{" + body + "}")
        else:
            # Alternatives that follow one another are never shown together: a blank between them.
            stream.push(body + (" " if _ALTERNATIVE.match(stream.rest()) else ""))

    def _alt(self, command: str) -> None:
        expander, stream = self.expander, self.expander.stream
        overlay = expander.overlay()
        bodies = [stream.argument() for _ in range(3 if command == "temporal" else 2)]
        if overlay is None:
            expander.overlay()
        kept = list(dict.fromkeys(body for body in bodies if body.strip()))
        stream.push(" ".join(kept) + (" " if _ALTERNATIVE.match(stream.rest()) else ""))

    def _pause(self, _name: str) -> None:
        to = self.expander.stream.option()
        if self.expander.pauses is not None:
            self.expander.pauses.next(to)
        self.expander.emit(" ")

    # -- small things ---------------------------------------------------------------------------

    def _name(self, _command: str) -> None:
        name = self.expander.stream.until("\\endcsname")
        name = self.expander.expanded(name).strip()
        if re.fullmatch(r"[a-zA-Z@]+", name):
            self.expander.stream.push(f"\\{name} ")
        elif name in self.expander.known.macros:
            self.expander.stream.push(self.expander.known.macros[name].body)

    def _string(self, _command: str) -> None:
        self.expander.emit(self.expander.stream.argument().replace("\\", "\\textbackslash{}"))

    def _the(self, _command: str) -> None:
        match = self.expander.stream.match(re.compile(r"\s*\\([a-zA-Z@]+)\s*"))
        if match and match.group(1).startswith("c@"):
            value = self.expander.known.counters.get(match.group(1)[2:])
            self.expander.emit("" if value is None else str(value))
        elif match and match.group(1) == "value":
            name = self.expander.stream.argument()
            self.expander.emit(str(self.expander.known.counters.get(name, "")))

    def _length(self, _command: str) -> None:
        self.expander.skip_dimension()
        self.expander.emit(" ")

    def _code(self, _command: str) -> None:
        self.expander.stream.match(re.compile(r"\s*`?\\?.[^=\n]{0,3}\s*=?\s*\\?[\w@]+\s?"))

    def _char(self, command: str) -> None:
        """`\\char92`, `\\char`\\\\`, `\\symbol{92}`: the sign itself, never as markup."""
        stream = self.expander.stream
        if command == "symbol":
            number = self.expander.expanded(stream.argument()).strip()
            code = int(number) if number.isdigit() else 0
        else:
            match = stream.match(
                re.compile(r"\s*(?:`\\?(.)|\"([0-9A-Fa-f]+)|'([0-7]+)|(\d+))\s?", re.DOTALL)
            )
            if not match:
                return
            sign, hexadecimal, octal, decimal = match.groups()
            code = ord(sign) if sign else int(hexadecimal or octal or decimal,
                                              16 if hexadecimal else 8 if octal else 10)  # fmt: skip  # noqa: E501
        if 32 <= code < 0x11_0000 and not 0xD800 <= code < 0xE100:
            mark = self.expander.vault.put(Verbatim("sign", chr(code)))
            self.expander.emit(mark)

    def _rule(self, _name: str) -> None:
        stream = self.expander.stream
        while stream.match(re.compile(r"\s*(?:height|width|depth)")):
            self.expander.skip_dimension()

    def _style(self, _name: str) -> None:
        self.expander.stream.match(
            re.compile(
                r"\s*(?:\{[^{}]*\}|[^=\[{]{0,60})\s*(?:\+?=)?\s*(?:\[[^\[\]]*\]|\{[^{}]*\})?"
            )
        )

    def _drop_template(self, command: str) -> None:
        stream = self.expander.stream
        stream.star()
        stream.argument()
        while (option := stream.option()) is not None or re.match(
            r"[ \t]*\n?[ \t]*\{", stream.rest()
        ):
            if option is None:
                stream.argument()
        del command

    def _comment(self, command: str) -> None:
        stream = self.expander.stream
        name = stream.argument().strip()
        if command == "specialcomment":
            stream.argument()
            stream.argument()
        self.hidden.discard(name)
        if command == "excludecomment":
            self.hidden.add(name)
        else:
            self.expander.known.environments[name] = Environment("", "")

    def _star_test(self, command: str) -> None:
        stream = self.expander.stream
        sign = "*" if command == "@ifstar" else stream.argument()
        first, second = stream.argument(), stream.argument()
        stream.blanks()
        found = stream.peek() == sign
        if found and command == "@ifstar":
            stream.skip(1)
        stream.push(first if found else second)

    def _stop(self, _name: str) -> None:
        self.expander.done = True

    def _jobname(self, _name: str) -> None:
        stem = self.expander.main.rsplit("/", 1)[-1].removesuffix(".tex")
        self.expander.emit(stem)

    def _box_word(self, name: str) -> None:
        self.expander.stream.match(
            re.compile(r"\s*(?:to|spread)\s*-?[\d.,]*\s*(?:\\[a-zA-Z@]+|[a-z]{2})")
        )
        self.expander.emit("\\hbox" if name == "hbox" else "\\vbox")
