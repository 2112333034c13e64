"""CSV and TSV files: rows with their header, twenty to a chunk."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from ingestion.parsing.chunking import Draft
from ingestion.parsing.encoding import decode
from ingestion.parsing.tree import Inline, Table, Text
from ingestion.parsing.types import DocumentError, ScannedDocument

if TYPE_CHECKING:
    from pathlib import Path

_ROWS = 20
_MOST_ROWS = 200_000
_LONGEST_CELL = 2_000


def drafts(path: Path, document: ScannedDocument) -> list[Draft]:
    """A chunk for each twenty rows, under the header; titles say which rows."""
    try:
        text, _ = decode(path.read_bytes())
    except OSError as error:
        raise DocumentError(f"cannot be read: {error.strerror}") from None
    rows = _rows(text, tab=path.suffix.lower() == ".tsv")
    if not rows:
        raise DocumentError("the table is empty")
    header, body = rows[0], rows[1:]
    headed = _is_header(header, body)
    if not headed:
        header, body = [], rows
    found: list[Draft] = []
    for start in range(0, max(len(body), 1), _ROWS):
        part = body[start : start + _ROWS]
        first = start + 1
        shown = [header, *part] if headed else part
        title = document.title
        if len(body) > _ROWS:
            word = "lignes" if document.language.startswith("fr") else "rows"
            title = f"{title} ({word} {first}–{first + len(part) - 1})"
        found.append(
            Draft(
                kind="table",
                blocks=(Table(tuple(_row(row) for row in shown), header=headed),),
                title=(Text(title),),
                key=f"{document.title} {first}",
                sheet=document.title,
            )
        )
    return found


def _row(row: list[str]) -> tuple[tuple[Inline, ...], ...]:
    return tuple((Text(" ".join(cell.split())[:_LONGEST_CELL]),) for cell in row)


def _rows(text: str, *, tab: bool) -> list[list[str]]:
    text = text.replace("\x00", "")
    reader = csv.reader(io.StringIO(text), delimiter="\t" if tab else delimiter(text))
    rows: list[list[str]] = []
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                rows.append(row)
            if len(rows) > _MOST_ROWS:
                raise DocumentError(f"more than {_MOST_ROWS} rows")
    except csv.Error as error:
        raise DocumentError(f"not a readable table: {error}") from None
    return rows


def delimiter(text: str) -> str:
    """The sign that cuts the first lines into the same number of cells, more than one."""
    lines = [row for row in text.split("\n")[:30] if row.strip()]
    best, score = ",", 0.0
    for sign in (";", ",", "\t", "|"):
        counts = [len(next(csv.reader([row], delimiter=sign), [])) for row in lines]
        if not counts or max(counts) < 2:
            continue
        common = max(set(counts), key=counts.count)
        value = counts.count(common) / len(counts) + min(common, 20) / 100
        if common > 1 and value > score:
            best, score = sign, value
    return best


def _is_header(header: list[str], body: list[list[str]]) -> bool:
    """Whether the first row names columns: words over rows that hold numbers, or any words."""
    numeric = sum(_number(cell) for cell in header)
    return bool(body) and numeric * 2 <= len([cell for cell in header if cell.strip()])


def _number(cell: str) -> bool:
    cleaned = cell.strip().replace(" ", "").replace("\u00a0", "").strip("$€%")
    return bool(cleaned) and cleaned.replace(",", "").replace(".", "").lstrip("+-").isdigit()
