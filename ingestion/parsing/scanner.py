"""A folder of course sources, looked over: its documents, what each is made of, what is refused."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from ingestion.parsing import outlook, recognise, settings
from ingestion.parsing.encoding import decode
from ingestion.parsing.latex.inputs import LARGEST_FILE, Folder, closure
from ingestion.parsing.settings import CourseFile, Stated
from ingestion.parsing.types import DocumentError, Refused, ScannedDocument, ScanResult

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ingestion.parsing.outlook import Outlook

TEXT_TYPES = {".tex": "latex", ".ltx": "latex", ".latex": "latex", ".md": "markdown",
              ".markdown": "markdown", ".txt": "text", ".csv": "csv", ".tsv": "csv"}  # fmt: skip
_SUPPORT = {".sty", ".cls", ".bib", ".bst", ".def", ".cfg", ".clo", ".ldf", ".nav", ".tikz", ".pgf"}
_PICTURES = {".png", ".jpg", ".jpeg", ".pdf", ".eps", ".svg", ".gif", ".ps", ".mps"}
_SKIPPED_FOLDERS = {"__MACOSX", "__pycache__", "node_modules"}
_MOST_FILES = 20_000


@dataclass(slots=True)
class _Scan:
    root: Path
    settings: CourseFile
    language: str
    alone: str = ""
    files: dict[str, str] = field(default_factory=dict)  # path -> type
    refused: list[Refused] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    included: set[str] = field(default_factory=set)
    support: set[str] = field(default_factory=set)
    seen: int = 0

    def refuse(self, path: str, reason: str) -> None:
        self.refused.append(Refused(path, reason))


def scan(root: Path, *, course_language: str = "fr", only: str | None = None) -> ScanResult:
    """The documents under `root` (a folder or a single file), and every file that is none.

    Each file is a document, a part of one (`included`), or refused with a reason. Nothing outside
    the folder is read and no symbolic link is followed. Raises DocumentError when `root` does not
    exist or its `preuve.toml` is faulty.
    """
    root = Path(root)
    if not root.exists():
        raise DocumentError(f"{root}: no such file or folder")
    alone = root.is_file()
    base = root.parent if alone else root
    course_file = CourseFile() if alone else settings.load(base)
    state = _Scan(base, course_file, course_file.course.get("language", course_language),
                  alone=root.name if alone else "")  # fmt: skip
    if alone:
        _look(state, root, root.name)
    else:
        _walk(state)
    documents = _latex(state) + _others(state)
    _leftovers(state)
    _check_stated(state)
    documents = sorted((_linked(document, documents) for document in documents), key=_order)
    if only is not None:
        wanted = only.removeprefix("./")
        documents = [document for document in documents if document.path == wanted]
        state.refused = [item for item in state.refused if item.path == wanted]
        if not documents and not state.refused:
            kind = "is part of another document" if wanted in state.included else "no such document"
            state.refuse(wanted, kind)
    return ScanResult(
        documents=tuple(documents),
        refused=tuple(sorted(state.refused, key=lambda item: item.path)),
        included=tuple(sorted(state.included)),
        seen=state.seen,
        course=dict(course_file.course),
        warnings=tuple(state.warnings),
    )


def _order(document: ScannedDocument) -> tuple[str, str]:
    return re.sub(r"\d+", lambda match: match.group().zfill(6), document.path), document.path


# -- the files ----------------------------------------------------------------------------------


def _walk(state: _Scan) -> None:
    for folder, names, files in os.walk(state.root, followlinks=False):
        here = Path(folder)
        for name in list(names):
            path = here / name
            if name.startswith(".") or name in _SKIPPED_FOLDERS:
                names.remove(name)
            elif path.is_symlink():
                names.remove(name)
                state.refuse(_relative(state, path), "a symbolic link to a folder: not followed")
        names.sort()
        for name in sorted(files):
            path = here / name
            relative = _relative(state, path)
            if name.startswith(".") and not name.startswith("._"):
                continue
            state.seen += 1
            if state.seen > _MOST_FILES:
                raise DocumentError(f"more than {_MOST_FILES} files in the folder")
            _look(state, path, relative)


def _relative(state: _Scan, path: Path) -> str:
    return path.relative_to(state.root).as_posix()


def _look(state: _Scan, path: Path, relative: str) -> None:
    """One file: its type, or why it is refused."""
    state.seen = max(state.seen, 1)
    if path.is_symlink():
        state.refuse(relative, "a symbolic link: not followed")
        return
    if relative == settings.FILE:
        state.included.add(relative)
        return
    suffix = PurePosixPath(relative).suffix.lower()
    if suffix in _SUPPORT or suffix in _PICTURES:
        state.support.add(relative)
        return
    kind = TEXT_TYPES.get(suffix)
    try:
        size = path.stat().st_size
        if kind is None:
            name = suffix or "without extension"
            raise DocumentError(f"unsupported type ({name})")  # noqa: TRY301
        if not path.name.startswith("._") and size > LARGEST_FILE:
            raise DocumentError(f"larger than {LARGEST_FILE // 1_000_000} MB")  # noqa: TRY301
        decode(path.read_bytes())
    except DocumentError as error:
        state.refuse(relative, error.user_message)
    except OSError as error:
        state.refuse(relative, f"cannot be read: {error.strerror}")
    else:
        state.files[relative] = kind


def _leftovers(state: _Scan) -> None:
    """Styles, bibliographies and pictures that no document uses."""
    for path in sorted(state.support - state.included):
        suffix = PurePosixPath(path).suffix.lower()
        kind = "a picture" if suffix in _PICTURES - {".pdf"} else f"unsupported type ({suffix})"
        state.refuse(path, f"{kind}, and no document uses it" if suffix != ".pdf" else kind)


# -- LaTeX --------------------------------------------------------------------------------------


def _latex(state: _Scan) -> list[ScannedDocument]:
    sources = [path for path, kind in state.files.items() if kind == "latex"]
    folders = {
        private: Folder(state.root, alone=state.alone,
                        may_read=(lambda path: True) if private
                        else (lambda path: not state.settings.is_private(path)))
        for private in (False, True)
    }  # fmt: skip

    def folder_of(path: str) -> Folder:
        return folders[state.settings.is_private(path)]

    closures = {path: closure(folder_of(path), path) for path in sources}
    roots = _roots(sources, closures, folder_of)
    documents = []
    for path in roots:
        members = closures[path]
        look = outlook.latex(folder_of(path), members)
        if not look.has_text:
            state.refuse(path, "holds only definitions, and no document includes it")
            continue
        state.included.update(member for member in members if member != path)
        state.included.update(_used(state, look, path))
        documents.append(_document(state, path, look, [*members]))
    return documents


def _roots(sources: list[str], closures: dict[str, list[str]], folder_of: object) -> list[str]:
    """The files that no other file includes; of a circle, the one that declares a class."""
    del folder_of
    included = {other for path in sources for other in closures[path][1:] if path not in closures[other]  # noqa: E501
                } if all(other in closures for path in sources for other in closures[path]) else {
        other for path in sources for other in closures[path][1:]
        if path not in closures.get(other, [])}  # fmt: skip
    roots = [path for path in sources if path not in included]
    reached: set[str] = set()
    kept: list[str] = []
    for path in sorted(roots, key=lambda path: (-len(closures[path]), path)):
        if path in reached:
            continue
        kept.append(path)
        reached.update(closures[path])
    return sorted(kept)


def _used(state: _Scan, look: Outlook, path: str) -> Iterable[str]:
    """Pictures and bibliographies of the folder that a document names."""
    here = PurePosixPath(path).parent
    wanted = {PurePosixPath(name).name for name in look.pictures}
    stems = {PurePosixPath(name).stem for name in look.pictures} | wanted
    for candidate in state.support:
        name = PurePosixPath(candidate)
        if (
            name.name in wanted
            or name.stem in stems
            or (name.suffix == ".bib" and name.stem in look.bibliographies)
            or (
                name.suffix == ".nav"
                and name.stem == PurePosixPath(path).stem
                and name.parent == here
            )
        ):
            yield candidate


def _document(state: _Scan, path: str, look: Outlook, files: list[str]) -> ScannedDocument:
    stated = state.settings.documents.get(path, Stated())
    kind = stated.kind or recognise.kind_of(path, look.looks)
    title = stated.title or look.title
    number = stated.number if stated.number is not None else recognise.number_of(path)
    session = stated.session
    if session is None:
        session = recognise.session_of(path, look.session_words)
    if session is None and kind == "slides":
        session = number
    private = state.settings.is_private(path)
    status, warnings = _status(path, kind, stated, look)
    return ScannedDocument(
        path=path,
        kind=kind,
        language=stated.language or look.language or state.language,
        sha256=_hash(state, path, files, kind, session, title),
        files=tuple(files),
        title=title or _from_name(path),
        session=session,
        number=number,
        status=status,
        private=private,
        valid_from=stated.valid_from,
        valid_until=stated.valid_until,
        statement_path=stated.statement,
        warnings=tuple(warnings),
    )


def _status(path: str, kind: str, stated: Stated, look: Outlook) -> tuple[str, list[str]]:
    """Published, unless it is an exam or a solution that nobody released."""
    if stated.status:
        return stated.status, []
    how = f'state [[document]] path = "{path}", status = "published" in {settings.FILE}'
    if kind in {"exam", "solution"}:
        what = "an exam" if kind == "exam" else "a solution"
        return "draft", [
            f"recognised as {what}: kept as a draft, no student sees it; to publish it, {how}"
        ]
    if kind == "workshop" and look.looks.solutions:
        return "draft", [
            (
                f"holds {look.looks.solutions} solutions beside the questions: kept as a draft, no "
                f"student sees it; to publish it, {how}"
            )
        ]
    return "published", []


def _from_name(path: str) -> str:
    stem = PurePosixPath(path).stem
    words = re.sub(r"[_\s-]+", " ", stem).strip()
    return words[:1].upper() + words[1:]


def _hash(
    state: _Scan, path: str, files: list[str], kind: str, session: int | None, title: str
) -> str:
    """SHA-256 of what the document is made of; of the file itself when it is one plain file."""
    course_file = state.settings
    stated = course_file.documents.get(path)
    if len(files) == 1 and not (course_file.boxes or course_file.macros or stated):
        return hashlib.sha256((state.root / path).read_bytes()).hexdigest()
    digest = hashlib.sha256()
    for name in files:
        digest.update(name.encode() + b"\0")
        digest.update(hashlib.sha256((state.root / name).read_bytes()).digest())
    shaping = (sorted(course_file.boxes.items()), sorted(course_file.macros.items()), kind, session,
               title, stated.statement if stated else "")  # fmt: skip
    digest.update(repr(shaping).encode())
    return digest.hexdigest()


# -- the rest -----------------------------------------------------------------------------------


def _others(state: _Scan) -> list[ScannedDocument]:
    documents = []
    for path, kind in state.files.items():
        if kind == "latex" or path in state.included:
            continue
        text = decode((state.root / path).read_bytes())[0]
        look = outlook.plain(text, kind)
        document = _document(state, path, look, [path])
        documents.append(_as(document, kind, state.settings.documents.get(path)))
    return documents


def _as(document: ScannedDocument, kind: str, stated: Stated | None) -> ScannedDocument:
    """Files that are not LaTeX: tables are data; prose without a telling name is text."""
    from dataclasses import replace  # noqa: PLC0415

    if stated is not None and stated.kind:
        return document
    if kind == "csv" and document.kind not in {"exam", "solution", "glossary"}:
        return replace(document, kind="data")
    if document.kind in {"article", "slides"}:
        return replace(document, kind="text")
    return document


def _linked(document: ScannedDocument, documents: list[ScannedDocument]) -> ScannedDocument:
    """A solution with the path of the statement it solves, when one is there."""
    from dataclasses import replace  # noqa: PLC0415

    if document.statement_path or document.kind != "solution":
        return document
    wanted = _bare_name(document.path)
    candidates = [
        other for other in documents
        if other.kind in {"workshop", "article", "exam"} and other.path != document.path
        and _bare_name(other.path) == wanted
    ]  # fmt: skip
    same_folder = [other for other in candidates
                   if PurePosixPath(other.path).parent == PurePosixPath(document.path).parent]  # fmt: skip  # noqa: E501
    found = same_folder or candidates
    return replace(document, statement_path=found[0].path) if found else document


def _bare_name(path: str) -> tuple[str, ...]:
    words = recognise.tokens(PurePosixPath(path).stem)
    ignored = {"solution", "solutions", "corrige", "corriges", "correction", "corrections", "sol",
               "reponses", "answers", "enonce", "statement", "solutionnaire"}  # fmt: skip
    return tuple(word.lstrip("0") or "0" for word in words if word not in ignored)


def _check_stated(state: _Scan) -> None:
    for path in state.settings.documents:
        if not (state.root / path).is_file():
            state.warnings.append(f'{settings.FILE}: [[document]] path = "{path}": no such file')
        elif path in state.included:
            state.warnings.append(
                f'{settings.FILE}: [[document]] path = "{path}": part of another document'
            )
