"""Values that leave the parsing room: frozen, framework-free."""

from __future__ import annotations

from dataclasses import dataclass, field


class DocumentError(Exception):
    """A file that cannot be read. `user_message` says what to do; nothing kept is lost."""

    def __init__(self, user_message: str, *, retryable: bool = False) -> None:
        super().__init__(user_message)
        self.user_message = user_message
        self.retryable = retryable


@dataclass(frozen=True, slots=True)
class ParsedChunk:
    """One chunk of a document, in reading order.

    `key` is stable while this chunk stays the same even if text elsewhere in the file changes.
    `text` is plain with equations as `$…$` or `$$…$$`; `display` is safe HTML; `search` is what
    is embedded and indexed (course words a person would type). Quotes are cut from `text`.
    """

    key: str
    kind: str  # slide, section, exercise, solution, term, box, table, text
    title: str
    text: str
    display: str
    search: str
    section: str = ""
    session: int | None = None
    slide: int | None = None
    slide_end: int | None = None
    page: int | None = None
    sheet: str = ""
    boxes: tuple[str, ...] = ()  # definition, important, example, formula, theorem, …
    term: str = ""
    term_translation: str = ""
    exercise: str = ""
    question: str = ""
    part: str = ""  # "1/2" of a continuation split in parts
    notes: str = ""
    statement_key: str = ""  # a solution's statement chunk
    appendix: bool = False


@dataclass(frozen=True, slots=True)
class ParseReport:
    frames: int = 0
    chunks: int = 0
    boxes: int = 0
    equations: int = 0
    unresolved_inputs: tuple[str, ...] = ()
    unknown_macros: tuple[tuple[str, int], ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    chunks: tuple[ParsedChunk, ...]
    report: ParseReport


@dataclass(frozen=True, slots=True)
class ScannedDocument:
    """One root of a folder: what it is, what it is made of, and the hash of all that.

    `path` is relative to the scanned folder, with `/`. `files` names each file it is made of.
    """

    path: str
    kind: str  # slides, article, plan, workshop, solution, glossary, cheat_sheet, exam, data, text
    language: str
    sha256: str
    files: tuple[str, ...]
    title: str = ""
    session: int | None = None
    number: int | None = None
    status: str = "published"
    private: bool = False
    valid_from: str = ""  # ISO 8601 as stated in preuve.toml; read in the course's time zone
    valid_until: str = ""
    statement_path: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Refused:
    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class ScanResult:
    documents: tuple[ScannedDocument, ...]
    refused: tuple[Refused, ...]
    included: tuple[str, ...] = ()  # files that belong to a root and are not documents themselves
    seen: int = 0
    course: dict[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
