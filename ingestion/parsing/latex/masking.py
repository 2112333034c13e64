"""Source text made safe to read: listings, addresses and comments leave the text.

What is verbatim goes into a vault and a short private-use mark stands in its place, so that no
later step can trip over a `$`, `%`, brace or `\\begin{frame}` inside a listing.
"""

from __future__ import annotations

import re
import textwrap
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

OPEN, CLOSE = "\ue000", "\ue001"
MARK = re.compile(f"{OPEN}([A-Z])(\\d+){CLOSE}")

_BLOCKS = frozenset(
    {
        "verbatim", "Verbatim", "BVerbatim", "LVerbatim", "SaveVerbatim", "VerbatimOut",
        "lstlisting", "minted", "alltt", "semiverbatim", "spverbatim", "boxedverbatim",
        "verbatimtab", "listing*", "filecontents", "filecontents*", "Filesave", "sverbatim",
        "LTXexample", "tcblisting", "dispListing", "dispExample", "sidebyside", "verbatimwrite",
        "Sinput", "Soutput", "Scode", "knitrout", "pycode", "pyconsole", "pyblock", "pyverbatim",
        "sageblock", "sageverbatim", "codebox", "SourceCode", "Highlighting", "PythonB", "rcode",
        "asy", "luacode", "luacode*", "gnuplot", "plantuml", "dot2tex", "ccode", "javacode",
        "pythoncode", "sqlcode", "bashcode", "bash", "console", "shell", "terminal",
        "pyglist", "lilypond", "rawhtml", "htmlonly", "ipython", "fverbatim", "vglisting",
    }
)  # fmt: skip
# Not defined in the course and named like a listing: read as one.
_LOOKS_LIKE_LISTING = re.compile(
    r"^(?!pseudo|algo)(?:.*)(?:verbatim|listing|terminal|console|shell|bash|output|fileinput|bashinput|ubootinput|"
    r"[a-z]code\*?$|code$|^code|inputx?$|session$|prompt$)",
    re.IGNORECASE,
)
_HIDDEN = frozenset({"comment", "filecontents", "filecontents*", "luacode", "luacode*", "asy"})
_TOKEN = re.compile(r"\\([a-zA-Z@]+)(\*?)|\\.|%|\\\n", re.DOTALL)
_NAME = re.compile(r"\s*\{\s*([^{}\n]*?)\s*\}")
_CODE_COMMANDS = frozenset(
    {"verb", "Verb", "lstinline", "mintinline", "spverb", "pyginline", "code@verb", "UseVerb"}
)
_COMMENT = re.compile(r"%[^\n]*(\n[ \t]*|$)")
_RULED_COLUMNS = re.compile(
    r"\\begin\s*\{(?:tabular|array|tabularx|longtable|tabular\*|supertabular|tabu|NiceTabular)"
)


@dataclass(frozen=True, slots=True)
class Verbatim:
    kind: str  # block, inline, url
    text: str
    language: str = ""


@dataclass(slots=True)
class Vault:
    """What left the text, by number. One vault serves a whole document."""

    kept: list[Verbatim] = field(default_factory=list)

    def put(self, verbatim: Verbatim) -> str:
        self.kept.append(verbatim)
        return f"{OPEN}V{len(self.kept) - 1}{CLOSE}"

    def get(self, number: int) -> Verbatim:
        return self.kept[number] if number < len(self.kept) else Verbatim("inline", "")


@dataclass(slots=True)
class Declared:
    """The verbatim environments and commands that a course defines for itself."""

    blocks: dict[str, int] = field(default_factory=dict)  # name -> braced arguments
    commands: dict[str, int] = field(default_factory=dict)
    defined: set[str] = field(default_factory=set)  # ordinary environments
    shorts: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Masked:
    """Masked text, and the source line of each of its positions."""

    text: str
    starts: tuple[int, ...]
    lines: tuple[int, ...]
    unclosed: tuple[tuple[str, int], ...] = ()

    def line(self, at: int) -> int:
        return self.lines[bisect_right(self.starts, at) - 1] if self.starts else 1


def declarations(sources: Iterable[str]) -> Declared:
    """What the files of one document declare as verbatim, as an ordinary environment, as dead."""
    found = Declared()
    wrappers: list[tuple[str, str]] = []
    for source in sources:
        text = _without_comments(source)
        for name, arguments in re.findall(r"\\lstnewenvironment\s*\{([^{}]+)\}(?:\[(\d)\])?", text):
            found.blocks[name] = int(arguments or 0)
        for custom, language in re.findall(r"\\newminted(?:\s*\[([^\]]*)\])?\s*\{([^{}]+)\}", text):
            name = custom or f"{language}code"
            found.blocks[name], found.blocks[name + "*"] = 0, 1
        for custom, language in re.findall(
            r"\\newmintinline(?:\s*\[([^\]]*)\])?\s*\{([^{}]+)\}", text
        ):
            found.commands[custom or f"{language}inline"] = 0
        for name in re.findall(
            r"\\(?:DefineVerbatimEnvironment|CustomVerbatimEnvironment|RecustomVerbatimEnvironment|"
            r"newverbatim|newtcblisting|NewTCBListing|DeclareTCBListing)\*?\s*(?:\[[^\]]*\])?"
            r"\s*\{([^{}]+)\}",
            text,
        ):
            found.blocks[name] = 0
        for match in re.finditer(
            r"\\(?:newtcblisting|NewTCBListing|DeclareTCBListing)\*?\s*(?:\[[^\]]*\])?\s*"
            r"\{([^{}]+)\}\s*(?:\[(\d)\]|\{([^{}]*)\})",
            text,
        ):
            count = match.group(2) or len(re.findall("m", match.group(3) or ""))
            found.blocks[match.group(1)] = int(count)
        for name, body in re.findall(
            r"\\(?:new|renew|provide)environment\s*\*?\s*\{([^{}]+)\}((?:.|\n){0,600})", text
        ):
            found.defined.add(name)
            wrappers.append((name, body))
        found.defined.update(
            re.findall(
                r"\\(?:newtheorem|newtcolorbox|newtcbtheorem|NewTColorBox|DeclareTColorBox|newmdenv|"
                r"newmdtheoremenv|declaretheorem|NewDocumentEnvironment|NewEnviron|newframedtheorem|"
                r"newshadedtheorem|specialcomment|includecomment)\*?\s*(?:\[[^\]]*\])?\s*"
                r"\{([^{}]+)\}",
                text,
            )
        )
        for name, inner in re.findall(
            r"\\(?:new|renew|provide)command\s*\*?\s*\{?\\([a-zA-Z]+)\}?\s*\[1\]\s*"
            r"\{\s*\\(url|nolinkurl|path|lstinline|verb)\s*(?:\[[^\]]*\])?\{?#1\}?\s*\}",
            text,
        ):
            found.commands[name] = -1 if inner in {"url", "nolinkurl", "path"} else 0
        for pattern in (
            r"\\(?:MakeShortVerb|DefineShortVerb)\*?\s*(?:\[[^\]]*\])?\s*\{?\\(.)\}?",
            r"\\lstMakeShortInline\*?\s*(?:\[[^\]]*\])?\s*\{?\\?([^\s{}\\])\}?",
        ):
            found.shorts.update(re.findall(pattern, text))
    for name, body in wrappers:
        if re.search(r"\\VerbatimEnvironment|\\verbatim\b|\\begin\{(?:Verb|lstl|mint)", body[:400]):
            head = re.match(r"\s*\[(\d)\](\s*\[)?", body)
            opener = body.split("}{", 1)[0]
            if re.search(r"\\VerbatimEnvironment|\\verbatim\b", opener) or "\\begin{V" in opener:
                found.blocks[name] = int(head.group(1)) - bool(head.group(2)) if head else 0
    for name in found.blocks:
        found.defined.discard(name)
    return found


def _without_comments(source: str) -> str:
    return re.sub(r"(?<!\\)%[^\n]*", "", source)


class _Mask:
    def __init__(self, source: str, vault: Vault, declared: Declared) -> None:
        self.source = source
        self.vault = vault
        self.declared = declared
        self.out: list[str] = []
        self.size = 0
        self.starts: list[int] = []
        self.lines: list[int] = []
        self.newlines = [m.start() for m in re.finditer("\n", source)]
        self.unclosed: list[tuple[str, int]] = []
        shorts = "".join(re.escape(char) for char in sorted(declared.shorts))
        self.token = re.compile(_TOKEN.pattern + (f"|[{shorts}]" if shorts else ""), re.DOTALL)

    def line_at(self, at: int) -> int:
        return bisect_right(self.newlines, at - 1) + 1 if at else 1

    def copy(self, start: int, end: int) -> None:
        """Source text as it is, with a line entry for its start and each of its lines."""
        piece = self.source[start:end]
        if not piece:
            return
        self.starts.append(self.size)
        line = self.line_at(start)
        self.lines.append(line)
        for match in re.finditer("\n", piece):
            line += 1
            self.starts.append(self.size + match.end())
            self.lines.append(line)
        self.out.append(piece)
        self.size += len(piece)

    def put(self, piece: str, at: int) -> None:
        self.starts.append(self.size)
        self.lines.append(self.line_at(at))
        self.out.append(piece)
        self.size += len(piece)

    def run(self) -> Masked:
        source, at = self.source, 0
        while match := self.token.search(source, at):
            self.copy(at, match.start())
            name = match.group(1)
            if match.group() == "%":
                at = self.comment(match.start())
            elif name == "begin":
                at = self.begin(match)
            elif name is not None:
                at = self.command(name, match)
            elif match.group() in self.declared.shorts:
                at = self.short(match)
            else:
                self.copy(match.start(), match.end())
                at = match.end()
        self.copy(at, len(source))
        return Masked(
            "".join(self.out), tuple(self.starts), tuple(self.lines), tuple(self.unclosed)
        )

    def comment(self, at: int) -> int:
        """Past the comment, its line end and the next line's indentation; a blank line stays."""
        match = _COMMENT.match(self.source, at)
        assert match is not None  # noqa: S101
        end = match.end()
        if self.source[end : end + 1] == "\n":
            self.put("\n", at)
        return end

    def begin(self, match: re.Match[str]) -> int:
        found = _NAME.match(self.source, match.end())
        if not found:
            self.copy(match.start(), match.end())
            return match.end()
        name = found.group(1)
        hidden = name in _HIDDEN
        if not hidden and not self.is_verbatim(name):
            self.copy(match.start(), found.end())
            return found.end()
        close = re.compile(r"\\end\s*\{\s*" + re.escape(name) + r"\s*\}").search(
            self.source, found.end()
        )
        if not close:
            self.unclosed.append((name, self.line_at(match.start())))
            self.copy(match.start(), found.end())
            return found.end()
        if hidden:
            self.put(" ", match.start())
        else:
            start, language = self.past_arguments(name, found.end(), close.start())
            body = _listing(self.source[start : close.start()])
            mark = self.vault.put(Verbatim("block", body, language))
            self.put(f"\n\n{mark}\n\n", match.start())
        return close.end()

    def is_verbatim(self, name: str) -> bool:
        if name in self.declared.blocks:
            return True
        if name in self.declared.defined:
            return False
        return name in _BLOCKS or bool(_LOOKS_LIKE_LISTING.search(name))

    def past_arguments(self, name: str, at: int, end: int) -> tuple[int, str]:
        """Where the listing itself starts, after options and arguments, and its language."""
        language = ""
        braced = self.declared.blocks.get(name)
        if braced is None:
            braced = {"minted": 1, "listing": 0, "SaveVerbatim": 1, "VerbatimOut": 1}.get(name, 0)
            if name in {"filecontents", "filecontents*", "Filesave", "verbatimwrite"}:
                braced = 1
        while True:
            options = re.compile(r"[ \t]*\[((?:[^\[\]{}]|\{[^{}]*\})*)\]").match(
                self.source, at, end
            )
            if not options:
                break
            at = options.end()
            named = re.search(r"language\s*=\s*\{?(?:\[[^\]]*\])?\s*([\w+#-]+)", options.group(1))
            language = named.group(1) if named else language
        for _ in range(braced):
            argument = re.compile(r"[ \t]*\{((?:[^{}]|\{[^{}]*\})*)\}").match(self.source, at, end)
            if not argument:
                break
            language = argument.group(1) if name == "minted" else language
            at = argument.end()
        return at, language

    def command(self, name: str, match: re.Match[str]) -> int:
        source, at = self.source, match.end()
        if name in {"url", "nolinkurl", "href", "path", "hyperref"}:
            return self.address(name, match)
        if name in _CODE_COMMANDS or name in self.declared.commands:
            if self.declared.commands.get(name) == -1:
                return self.address("url", match)
            options = re.compile(r"\s*\[[^\[\]\n]*\]").match(source, at)
            start = options.end() if options and name not in {"verb", "Verb"} else at
            if name in {"mintinline", "pyginline"}:
                language = _NAME.match(source, start)
                start = language.end() if language and name == "mintinline" else start
            found = self.delimited(start, name)
            if found is not None:
                text, end = found
                self.put(self.vault.put(Verbatim("inline", text)), match.start())
                return end
        self.copy(match.start(), at)
        return at

    def delimited(self, at: int, name: str) -> tuple[str, int] | None:
        """Code between braces or between two equal signs on one line; None for a `#1`."""
        source = self.source
        if name not in {"verb", "Verb"}:
            while source[at : at + 1] == " ":
                at += 1
        sign = source[at : at + 1]
        if not sign or sign.isalnum() or sign.isspace() or sign in "*}":
            return None
        if sign == "{" and name not in {"verb"}:
            end = _balanced(source, at)
            if end is None:
                return None
            text = source[at + 1 : end - 1]
            if re.search(r"#[1-9]", text) and len(text) < 4:
                return None
            return re.sub(r"\\([{}%#&_$])", r"\1", text), end
        end = source.find(sign, at + 1)
        if end < 0 or "\n" in source[at:end]:
            return None
        text = source[at + 1 : end]
        return (text, end + 1) if not re.fullmatch(r"#[1-9]", text) else None

    def address(self, name: str, match: re.Match[str]) -> int:
        """`\\url{…}` into the vault; for `\\href`, the address only: its text is ordinary."""
        source, at = self.source, match.end()
        options = re.compile(r"\s*\[[^\[\]]*\]").match(source, at)
        if name == "hyperref" or (options and name != "href"):
            self.copy(match.start(), at)
            return at
        at = options.end() if options else at
        start = at
        while start < len(source) and source[start] in " \t\n":
            start += 1
        sign = source[start : start + 1]
        if sign == "{":
            end = _balanced(source, start)
        elif sign in {"|", "!", "+"} and name in {"url", "path"}:
            found = source.find(sign, start + 1)
            end = found + 1 if found >= 0 and "\n" not in source[start:found] else None
        else:
            end = None
        if end is None or re.search(r"#[1-9]\b", source[start:end]):
            self.copy(match.start(), at)
            return at
        url = re.sub(r"\\([%#&_~{}$^])", r"\1", source[start + 1 : end - 1])
        url = re.sub(r"%\n\s*|\s+", "", url) if name != "path" else url
        mark = self.vault.put(Verbatim("inline" if name == "path" else "url", url))
        self.put(f"\\href{{{mark}}}" if name == "href" else mark, match.start())
        return end

    def short(self, match: re.Match[str]) -> int:
        """A short verbatim such as `|code|`; a rule of a table's columns is none."""
        source, at = self.source, match.start()
        line_start = source.rfind("\n", 0, at) + 1
        end = source.find(match.group(), at + 1)
        if (
            end < 0
            or "\n" in source[at:end]
            or _RULED_COLUMNS.search(source[line_start:at])
            or end == at + 1
        ):
            self.copy(at, at + 1)
            return at + 1
        self.put(self.vault.put(Verbatim("inline", source[at + 1 : end])), at)
        return end + 1


def _balanced(source: str, at: int) -> int | None:
    """Past the brace that closes the one at `at`, within a paragraph's reach."""
    depth, limit = 0, min(len(source), at + 3_000)
    while at < limit:
        char = source[at]
        if char == "\\":
            at += 2
            continue
        if char == "{":
            depth += 1
        elif char == "}":
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    return None


def _listing(body: str) -> str:
    """A listing as it is printed: its own first line end gone, common indentation gone."""
    body = body.expandtabs(4)
    first, _, rest = body.partition("\n")
    if not first.strip():
        body = rest
    elif rest:
        body = first.strip() + "\n" + textwrap.dedent(rest)
    return textwrap.dedent(body).rstrip().strip("\n")


def mask(source: str, vault: Vault, declared: Declared) -> Masked:
    """The source without comments, listings and addresses; listings are kept in the vault."""
    return _Mask(source, vault, declared).run()
