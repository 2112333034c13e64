"""What labels, citations and glossary keys point at, so that a reference reads as words."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ingestion.parsing.latex.inputs import Folder, normal
from ingestion.parsing.latex.macros import Entry, unbraced
from ingestion.parsing.latex.vocabulary import MATH_ENVIRONMENTS
from ingestion.parsing.types import DocumentError

if TYPE_CHECKING:
    from collections.abc import Sequence

_TOKEN = re.compile(
    r"\\(?P<edge>begin|end)\{(?P<name>[^{}]*)\}(?:\[(?P<options>[^\[\]]*)\])?"
    r"|\\(?P<heading>part|chapter|section|subsection|subsubsection|paragraph)\*?(?:\[(?P<number>[^\[\]]*)\])?(?=\{)"
    r"|\\(?P<word>label|caption|frametitle)\*?(?:\[[^\[\]]*\])?(?=\{)"
)
_SHORTEST_FORMULA = 160


@dataclass(frozen=True, slots=True)
class Target:
    """What a label names: kind is heading, frame, float, formula, theorem or other."""

    kind: str
    latex: str


@dataclass(slots=True)
class _Open:
    name: str
    at: int
    labels: list[str] = field(default_factory=list)
    caption: str = ""
    title: str = ""


def labels(text: str) -> dict[str, Target]:
    """Every label of an expanded text with what it points at."""
    found: dict[str, Target] = {}
    opened: list[_Open] = []
    heading = ""
    for match in _TOKEN.finditer(text):
        if match.group("edge") == "begin":
            entry = _Open(match.group("name"), match.end())
            entry.title = _title_after(text, match)
            opened.append(entry)
            named = re.search(r"label\s*=\s*\{?([^,{}\]]+)", match.group("options") or "")
            if named and entry.name == "frame":
                entry.labels.append(named.group(1).strip())
        elif match.group("edge") == "end":
            _close(text, opened, match, found)
        elif match.group("heading"):
            heading = group(text, match.end())
            if opened and opened[-1].name == "frame":
                continue
        elif match.group("word") == "caption":
            for entry in reversed(opened):
                if entry.name != "center":
                    entry.caption = entry.caption or group(text, match.end())
                    break
        elif match.group("word") == "frametitle":
            for entry in opened:
                if entry.name == "frame":
                    entry.title = group(text, match.end())
        else:
            key = group(text, match.end()).strip()
            holder = _holder(opened)
            if holder is not None:
                holder.labels.append(key)
            else:
                found.setdefault(key, Target("heading", heading))
    for entry in opened:
        for key in entry.labels:
            found.setdefault(key, Target("heading", entry.title or heading))
    return found


_HOLDERS = re.compile(r"(?:sub)?figure|(?:sub)?table|wrap|longtable|frame$|preuvetheorem|preuvebox|"
                      r"lstlisting|algorithm|theorem|definition|example|lemma")  # fmt: skip


def _holder(opened: list[_Open]) -> _Open | None:
    for entry in reversed(opened):
        if entry.name in MATH_ENVIRONMENTS or _HOLDERS.match(entry.name):
            return entry
    return None


def _title_after(text: str, match: re.Match[str]) -> str:
    """The title that stands in braces after the \\begin of a frame or a box."""
    name = match.group("name")
    titled = {"frame", "block", "alertblock", "exampleblock", "preuvebox"}
    if name in titled and re.compile(r"\s*\{").match(text, match.end()):
        return group(text, match.end())
    if name == "preuvetheorem":
        printed = group(text, match.end())
        end = _group_end(text, match.end())
        title = group(text, end)
        return f"{printed} : {title}" if title.strip() else printed
    return match.group("options") or "" if name in {"theorem", "definition", "example"} else ""


def _close(text: str, opened: list[_Open], match: re.Match[str], found: dict[str, Target]) -> None:
    name = match.group("name")
    index = next((i for i in range(len(opened) - 1, -1, -1) if opened[i].name == name), None)
    if index is None:
        return
    entry = opened[index]
    del opened[index:]
    for key in entry.labels:
        if name in MATH_ENVIRONMENTS:
            target = Target("formula", text[entry.at : match.start()])
        elif entry.caption:
            target = Target("float", entry.caption)
        else:
            target = Target("frame" if name == "frame" else "theorem", entry.title)
        found.setdefault(key, target)


def group(text: str, at: int) -> str:
    """The braced text at `at` (after blanks), without its braces."""
    while at < len(text) and text[at].isspace():
        at += 1
    if text[at : at + 1] != "{":
        return ""
    end = _group_end(text, at)
    return text[at + 1 : end - 1]


def _group_end(text: str, at: int) -> int:
    depth = 0
    for match in re.compile(r"\\.|[{}]", re.DOTALL).finditer(text, at):
        if match.group() == "{":
            depth += 1
        elif match.group() == "}":
            depth -= 1
            if depth <= 0:
                return match.end()
    return len(text)


# -- citations ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Work:
    """A work of a bibliography, as far as a citation needs it."""

    author: str
    year: str
    title: str


def bibliography(folder: Folder, names: Sequence[str], text: str) -> dict[str, Work]:
    """The works of the `.bib` files that a document names and of its own list."""
    works: dict[str, Work] = {}
    for name in names:
        path = normal_bib(folder, name)
        if path is None:
            continue
        try:
            works |= _bib_entries(folder.text(path))
        except DocumentError:
            continue
    for match in re.finditer(
        r"\\bibitem\s*(?:\[((?:[^\[\]{}]|\{[^{}]*\})*)\])?\s*\{([^{}]*)\}", text
    ):
        shown, key = match.groups()
        label = re.match(r"\{?([^{}()]*)\}?\(?(\d{4}[a-z]?)?\)?", shown or "")
        works.setdefault(
            key.strip(),
            Work(
                (label.group(1) if label else "") or key,
                (label.group(2) or "") if label else "",
                "",
            ),
        )
    return works


def normal_bib(folder: Folder, name: str) -> str | None:
    from pathlib import PurePosixPath  # noqa: PLC0415

    name = name if name.endswith(".bib") else name + ".bib"
    path = normal(PurePosixPath(name))
    return path if path and folder.exists(path) else None


def _bib_entries(source: str) -> dict[str, Work]:
    works: dict[str, Work] = {}
    for match in re.finditer(r"@(\w+)\s*\{\s*([^,\s{}]+)\s*,", source):
        if match.group(1).lower() in {"comment", "string", "preamble"}:
            continue
        end = _group_end(source, source.index("{", match.start()))
        body = source[match.end() : end - 1]
        fields = {
            name.lower(): unbraced(value.strip().strip('"'))
            for name, value in re.findall(
                r"(\w+)\s*=\s*(\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}|\"[^\"]*\"|[^,\s]+)", body
            )
        }
        year = re.search(r"\d{4}", fields.get("year") or fields.get("date") or "")
        works[match.group(2)] = Work(
            _authors(fields.get("author") or fields.get("editor") or ""),
            year.group() if year else "",
            re.sub(r"[{}]", "", fields.get("title", "")),
        )
    return works


def _authors(text: str) -> str:
    names = [
        re.sub(r"[{}]", "", name).strip() for name in re.split(r"\s+and\s+", text) if name.strip()
    ]
    last = [
        name.split(",")[0].strip() if "," in name else name.split()[-1] for name in names if name
    ]
    if len(last) > 2:
        return f"{last[0]} et al."
    return " & ".join(last)


def cited(works: dict[str, Work], command: str, keys: Sequence[str], notes: Sequence[str]) -> str:
    """A citation as a reader sees it: (Author, year), or the key when the work is unknown."""
    shown: list[str] = []
    for key in keys:
        work = works.get(key)
        if work is None:
            shown.append(key)
        elif command in {"citet", "textcite", "Textcite", "Citet"}:
            shown.append(f"{work.author} ({work.year})" if work.year else work.author)
        elif command == "citeauthor":
            shown.append(work.author)
        elif command in {"citeyear", "citeyearpar"}:
            shown.append(work.year)
        elif command in {"citetitle"}:
            shown.append(work.title or key)
        elif command in {"fullcite", "footfullcite"}:
            shown.append(", ".join(part for part in (work.author, work.title, work.year) if part))
        else:
            shown.append(", ".join(part for part in (work.author, work.year) if part) or key)
    text = " ; ".join(shown)
    after = f", {notes[-1]}" if notes and notes[-1] else ""
    if command in {"citet", "textcite", "citeauthor", "citeyear", "citetitle", "fullcite",
                   "footfullcite", "citealt", "citealp", "Textcite", "Citet"}:  # fmt: skip
        return text + after
    known = all(key in works for key in keys)
    return f"({text}{after})" if known else f"[{text}{after}]"


def term_latex(entries: dict[str, Entry], command: str, key: str) -> str:
    """What `\\gls{key}` and its relatives print."""
    entry = entries.get(key)
    if entry is None:
        return key
    if command in {"acrlong", "acl", "glsdesc"}:
        return entry.description
    if command in {"acrfull", "acf"}:
        return f"{entry.description} ({entry.name})"
    name = entry.name
    if command.lower() in {"glspl", "acp"}:
        name = entry.plural or (name if name.endswith(("s", "x", "z")) else name + "s")
    return name[:1].upper() + name[1:] if command[:1] == "G" else name
