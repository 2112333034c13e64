"""`preuve.toml`: what a course states about itself, checked with messages a person can follow."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ingestion.parsing.types import DocumentError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

KINDS = ("slides", "article", "plan", "workshop", "solution", "glossary", "cheat_sheet", "exam",
         "data", "text")  # fmt: skip
BOX_KINDS = ("definition", "important", "example", "formula", "theorem", "remark", "exercise",
             "solution", "block")  # fmt: skip
STATUSES = ("draft", "published", "withdrawn")
PRIVATE_NAMES = frozenset({"private", "prive", "privé", "instructor", "instructeur", "enseignant",
                           "enseignants", "instructors", "staff-only"})  # fmt: skip
FILE = "preuve.toml"


@dataclass(frozen=True, slots=True)
class Stated:
    """What `[[document]]` says about one file."""

    kind: str = ""
    session: int | None = None
    number: int | None = None
    status: str = ""
    valid_from: str = ""
    valid_until: str = ""
    private: bool | None = None
    statement: str = ""
    title: str = ""
    language: str = ""


@dataclass(frozen=True, slots=True)
class CourseFile:
    """A validated `preuve.toml`, or the defaults when there is none."""

    course: dict[str, str] = field(default_factory=dict)
    documents: dict[str, Stated] = field(default_factory=dict)
    boxes: dict[str, str] = field(default_factory=dict)
    macros: dict[str, str] = field(default_factory=dict)
    private_folders: tuple[str, ...] = ()
    present: bool = False

    def is_private(self, path: str) -> bool:
        """Whether a file is private: stated, or in a private folder."""
        stated = self.documents.get(path)
        if stated is not None and stated.private is not None:
            return stated.private
        folders = path.split("/")[:-1]
        if any(name.casefold() in PRIVATE_NAMES for name in folders):
            return True
        return any(path.startswith(f"{folder}/") for folder in self.private_folders)

    def reader_of(self, path: str) -> Callable[[str], bool]:
        """What the document at `path` may include: a public one nothing that is private."""
        if self.is_private(path):
            return lambda other: True
        return lambda other: not self.is_private(other)


def load(root: Path) -> CourseFile:
    """The `preuve.toml` of a folder; raises DocumentError with every fault found."""
    path = root / FILE
    if not path.is_file() or path.is_symlink():
        return CourseFile()
    try:
        data = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise DocumentError(f"{FILE}: not UTF-8 text") from None
    except tomllib.TOMLDecodeError as error:
        raise DocumentError(f"{FILE}: {error}") from None
    faults: list[str] = []
    known = {"course", "document", "boxes", "macros", "private"}
    faults += [f"unknown table [{name}]" for name in data if name not in known]
    course = _course(data.get("course", {}), faults)
    documents = _documents(data.get("document", []), faults)
    boxes = _strings(data.get("boxes", {}), "boxes", faults)
    for name, kind in boxes.items():
        if kind not in BOX_KINDS:
            faults.append(f'[boxes] {name} = "{kind}": not one of {", ".join(BOX_KINDS)}')
    macros = _strings(data.get("macros", {}), "macros", faults)
    private = _private(data.get("private", {}), faults)
    if faults:
        raise DocumentError(f"{FILE}: " + "; ".join(faults[:6]))
    return CourseFile(course, documents, boxes, macros, private, present=True)


def _strings(table: Any, name: str, faults: list[str]) -> dict[str, str]:
    if not isinstance(table, dict):
        faults.append(f"[{name}] must be a table of names and texts")
        return {}
    found: dict[str, str] = {}
    for key, value in table.items():
        if isinstance(value, str):
            found[key] = value
        else:
            faults.append(f"[{name}] {key} must be a text in quotes")
    return found


def _course(table: Any, faults: list[str]) -> dict[str, str]:
    course = _strings(table, "course", faults)
    faults += [
        f"[course] {key}: unknown (code, language, title, timezone)"
        for key in course
        if key not in {"code", "language", "title", "timezone"}
    ]
    if course.get("language", "fr") not in {"fr", "en"}:
        faults.append(f'[course] language = "{course["language"]}": not "fr" or "en"')
    return course


def _private(table: Any, faults: list[str]) -> tuple[str, ...]:
    folders = table.get("folders", []) if isinstance(table, dict) else None
    if not isinstance(folders, list) or not all(isinstance(name, str) for name in folders):
        faults.append('[private] folders must be a list of names, such as ["examens"]')
        return ()
    return tuple(name.strip("/").removeprefix("./") for name in folders if name.strip("/. "))


def _documents(tables: Any, faults: list[str]) -> dict[str, Stated]:
    if not isinstance(tables, list):
        faults.append("[[document]] needs double brackets")
        return {}
    found: dict[str, Stated] = {}
    for table in tables:
        path = table.get("path") if isinstance(table, dict) else None
        if not isinstance(path, str) or not path.strip():
            faults.append("[[document]] without a path")
            continue
        path = path.strip().removeprefix("./")
        if path in found:
            faults.append(f"[[document]] {path}: stated twice")
        found[path] = _stated(path, table, faults)
    return found


def _stated(path: str, table: dict[str, Any], faults: list[str]) -> Stated:
    known = {"path", *Stated.__dataclass_fields__}
    faults += [f"[[document]] {path}: unknown key {key}" for key in table if key not in known]

    def text(key: str, allowed: tuple[str, ...] = ()) -> str:
        value = table.get(key, "")
        if not isinstance(value, str):
            value = str(value.isoformat()) if hasattr(value, "isoformat") else ""
            if not value:
                faults.append(f"[[document]] {path}: {key} must be a text in quotes")
        if value and allowed and value not in allowed:
            faults.append(
                f'[[document]] {path}: {key} = "{value}": not one of {", ".join(allowed)}'
            )
        return value

    def number(key: str) -> int | None:
        value = table.get(key)
        if value is not None and (
            not isinstance(value, int) or isinstance(value, bool) or value < 0
        ):
            faults.append(f"[[document]] {path}: {key} must be a whole number")
            return None
        return value

    private = table.get("private")
    if private is not None and not isinstance(private, bool):
        faults.append(f"[[document]] {path}: private must be true or false")
        private = None
    dates = {key: text(key) for key in ("valid_from", "valid_until")}
    for key, value in dates.items():
        if value and not re.fullmatch(
            r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:\d{2})?)?", value
        ):
            faults.append(f'[[document]] {path}: {key} = "{value}": not a date such as 2027-01-13')
    return Stated(
        kind=text("kind", KINDS), session=number("session"), number=number("number"),
        status=text("status", STATUSES), private=private, statement=text("statement"),
        title=text("title"), language=text("language", ("fr", "en")), **dates,
    )  # fmt: skip
