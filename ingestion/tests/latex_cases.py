"""The shared LaTeX cases (`../shared/latex/cases.jsonl`) held against this room."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ingestion.parsing.labels import bare
from ingestion.parsing.latex.articles import heading_count
from ingestion.parsing.latex.document import open_document
from ingestion.parsing.parse import parse
from ingestion.parsing.scanner import scan
from ingestion.parsing.settings import CourseFile

if TYPE_CHECKING:
    from ingestion.parsing.types import ParsedChunk, ParsedDocument

CASES = Path(__file__).resolve().parents[3] / "shared" / "latex" / "cases.jsonl"


def load() -> list[dict[str, Any]]:
    if not CASES.is_file():
        return []
    return [
        json.loads(row) for row in CASES.read_text(encoding="utf-8").splitlines() if row.strip()
    ]


def write(case: dict[str, Any], folder: Path) -> None:
    """The files of a case, each in its own encoding."""
    files: dict[str, tuple[str, str]] = {}
    given = case["input"]
    if isinstance(given, str):
        main = "._x.tex" if "binary" in case["kind"] else "main.tex"
        files[main] = (given, case.get("encoding", "utf-8"))
    else:
        files |= {path: (text, case.get("encoding", "utf-8")) for path, text in given.items()}
    for path, entry in case.get("files", {}).items():
        files[path] = (entry["text"], entry.get("encoding", "utf-8"))
    for path, (text, encoding) in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode(encoding))


def check(case: dict[str, Any], folder: Path) -> list[str]:
    """What is wrong with the reading of a case: nothing when all is right."""
    write(case, folder)
    expected = case["expected"]
    started = time.monotonic()
    result = scan(folder)
    if isinstance(expected, str):
        reasons = [item.reason for item in result.refused]
        return (
            [] if not result.documents and any("not text" in r for r in reasons) else [str(result)]
        )
    if len(result.documents) != 1:
        return [f"documents: {[document.path for document in result.documents]}"]
    document = result.documents[0]
    parsed = parse(folder, document, course_code="TST1", course_language="fr")
    seconds = time.monotonic() - started
    faults: list[str] = []
    if seconds > expected.get("max_seconds", 20):
        faults.append(f"took {seconds:.1f} s")
    faults += _counts(expected, folder, document.path, parsed)
    for wanted in expected.get("frames", []):
        faults += _frame(wanted, parsed.chunks)
    faults += _fragments(expected, parsed.chunks)
    whole = "\n".join(f"{chunk.title}\n{chunk.text}" for chunk in parsed.chunks)
    faults += [f"must not appear: {word!r}" for word in expected.get("lacks", []) if word in whole]
    for word in expected.get("warnings", []):
        if not any(word in warning or _MEANING.get(word, word) in warning
                   for warning in parsed.report.warnings):  # fmt: skip
            faults.append(f"no warning about {word}: {parsed.report.warnings}")
    for entry in expected.get("entries", []):
        if not any(chunk.term == entry["term"] and entry["definition"] in chunk.text
                   for chunk in parsed.chunks):  # fmt: skip
            faults.append(f"no entry {entry}: {[(c.term, c.text) for c in parsed.chunks]}")
    return faults


_MEANING = {"missing": "no such file", "outside": "leaves the folder"}


def _counts(expected: dict[str, Any], folder: Path, path: str, parsed: ParsedDocument) -> list[str]:
    faults: list[str] = []
    chunks = parsed.chunks
    if "n_frames" in expected and parsed.report.frames != expected["n_frames"]:
        faults.append(f"frames: {parsed.report.frames}, not {expected['n_frames']}")
    if parsed.report.frames < expected.get("n_frames_min", 0):
        faults.append(f"frames: {parsed.report.frames}, less than {expected['n_frames_min']}")
    if "n_sections" in expected:
        found = heading_count(open_document(folder, path, CourseFile(), "fr"))
        if found != expected["n_sections"]:
            faults.append(f"sections: {found}, not {expected['n_sections']}")
    if "n_fragments" in expected and len(chunks) != expected["n_fragments"]:
        faults.append(f"chunks: {len(chunks)}, not {expected['n_fragments']}")
    questions = {chunk.question for chunk in chunks if chunk.question}
    if "n_questions" in expected and len(questions) != expected["n_questions"]:
        faults.append(f"questions: {questions}")
    if "context" in expected and not any(expected["context"] in chunk.text for chunk in chunks):
        faults.append("the context of the exercise is lost")
    if "fragments_max_chars" in expected:
        longest = max(len(chunk.text) for chunk in chunks)
        if longest > expected["fragments_max_chars"]:
            faults.append(f"a chunk of {longest} characters")
    if "each_fragment" in expected:
        odd = [c.text for c in chunks if len(re.findall(r"(?<!\\)\$", c.text)) % 2]
        faults += [f"odd number of $: {text[:80]}" for text in odd]
    return faults


def _frame(wanted: dict[str, Any], chunks: tuple[ParsedChunk, ...]) -> list[str]:
    title = wanted["title"]
    found = [chunk for chunk in chunks if chunk.title == title]
    if not found:
        return [f"no frame {title!r}: {[chunk.title for chunk in chunks]}"]
    chunk = found[0]
    faults: list[str] = []
    if "slide" in wanted and chunk.slide != wanted["slide"]:
        faults.append(f"{title!r}: slide {chunk.slide}, not {wanted['slide']}")
    if "slides" in wanted and [chunk.slide, chunk.slide_end] != wanted["slides"]:
        faults.append(f"{title!r}: slides {chunk.slide}–{chunk.slide_end}, not {wanted['slides']}")
    if "section" in wanted and chunk.section != wanted["section"]:
        faults.append(f"{title!r}: section {chunk.section!r}")
    if wanted.get("appendix") and not chunk.appendix:
        faults.append(f"{title!r}: not in the appendix")
    if "subtitle" in wanted and wanted["subtitle"] not in chunk.text:
        faults.append(f"{title!r}: subtitle {wanted['subtitle']!r} lost")
    faults += _words(title, wanted, chunk.text)
    for box in wanted.get("boxes", []):
        if box["kind"] not in chunk.boxes:
            faults.append(f"{title!r}: boxes {chunk.boxes}, no {box['kind']}")
        if box.get("title", "") not in chunk.text:
            faults.append(f"{title!r}: box title {box['title']!r} lost")
    return faults


def _words(title: str, wanted: dict[str, Any], text: str) -> list[str]:
    joined = " ".join(text.split())
    spoken = bare(joined)
    faults = [
        f"{title!r}: {word!r} is missing from {joined!r}"
        for word in wanted.get("has", [])
        if word not in text and " ".join(word.split()) not in joined
        and bare(word) not in spoken
    ]  # fmt: skip
    faults += [
        f"{title!r}: {word!r} must not be in {joined!r}"
        for word in wanted.get("lacks", [])
        if word in text
    ]
    return faults


def _fragments(expected: dict[str, Any], chunks: tuple[ParsedChunk, ...]) -> list[str]:
    faults: list[str] = []
    for wanted in expected.get("fragments", []):
        question = str(wanted.get("question", ""))
        found = [
            c
            for c in chunks
            if c.title == wanted["title"] and (not question or c.question == question)
        ]
        if not found:
            titles = [(chunk.title, chunk.question) for chunk in chunks]
            faults.append(f"no fragment {wanted['title']!r} {question}: {titles}")
            continue
        faults += _words(wanted["title"], wanted, "\n".join(chunk.text for chunk in found))
    return faults
