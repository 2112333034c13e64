#!/usr/bin/env python3
"""Compile decks with pdfTeX and hold every slide number and start page against this parser's.

    python bench/slide_numbers.py DECK.tex [DECK.tex …] [--root FOLDER] [--keep]

Needs a TeX Live with beamer (`apt-get install texlive-latex-extra`), for this bench only. Missing
pictures and missing \\input files are stubbed; the source itself is not changed. Prints one line a
deck: frames compared, numbers and pages that differ; exit 1 if any does.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from ingestion.parsing import settings
from ingestion.parsing.latex.document import open_document
from ingestion.parsing.latex.numbering import number

HOOK = r"""
\makeatletter
\newwrite\preuvenumbers
\immediate\openout\preuvenumbers=preuve-numbers.txt\relax
\AddToHook{shipout/before}{\immediate\write\preuvenumbers{\number\c@page|\number\c@framenumber}}
\makeatother
"""


def compiled(
    root: Path,
    deck: str,
    keep: bool,  # noqa: FBT001
) -> tuple[dict[int, int], list[tuple[int, int]], str]:
    """Frame number of each page, page ranges of the frames, and the end of the log."""
    work = Path(tempfile.mkdtemp(prefix="preuve-tex-"))
    shutil.copytree(root, work / "src", dirs_exist_ok=True)
    source = work / "src" / deck
    for path in (work / "src").rglob("*.tex"):
        _stub(path)
    hook = source.parent / "preuve-hook.tex"
    hook.write_text(HOOK, encoding="utf-8")
    command = (
        "\\PassOptionsToPackage{demo}{graphicx}"
        "\\AddToHook{begindocument/end}{\\input{preuve-hook}}"
        f"\\input{{{source.name}}}"
    )
    done = 0
    for _ in range(12):
        done += 1  # noqa: SIM113
        subprocess.run(
            ["pdflatex", "-interaction=nonstopmode", "-shell-escape", f"-jobname={source.stem}", command],  # noqa: E501
            cwd=source.parent, capture_output=True, check=False, timeout=1_500,
            env=os.environ | {"max_print_line": "1000",
                              "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        )  # fmt: skip
        text = source.with_suffix(".log").read_text(errors="replace")
        missing = re.findall(r"File `([^'`]+\.sty)' not found", text)
        for name in missing:
            (source.parent / name).write_text("\\endinput\n", encoding="utf-8")
        if not missing and done > 1:
            break
    numbers: dict[int, int] = {}
    record = source.parent / "preuve-numbers.txt"
    if record.exists():
        for row in record.read_text().splitlines():
            page, frame = row.split("|")
            numbers[int(page)] = int(frame)
    ranges: list[tuple[int, int]] = []
    nav = source.with_suffix(".nav")
    if nav.exists():
        ranges = [(int(a), int(b)) for a, b in
                  re.findall(r"beamer@framepages \{(\d+)\}\{(\d+)\}", nav.read_text(errors="replace"))]  # fmt: skip  # noqa: E501
    log = source.with_suffix(".log")
    errors = (
        re.findall(r"^! .*$", log.read_text(errors="replace"), re.MULTILINE)
        if log.exists()
        else ["no log"]
    )
    if not keep:
        shutil.rmtree(work, ignore_errors=True)
    else:
        print("kept", work)
    return numbers, ranges, f"{len(errors)} TeX errors{': ' + errors[0] if errors else ''}"


def _stub(path: Path) -> None:
    """Files that a source reads and the folder lacks, made empty."""
    text = path.read_text(encoding="utf-8", errors="replace")
    for name in re.findall(r"\\input\{([^{}#]+)\}", text):
        target = path.parent / (name if name.endswith(".tex") else name + ".tex")
        if not target.exists() and ".." not in name:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text("", encoding="utf-8")


def main() -> int:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("decks", nargs="+", type=Path)
    arguments.add_argument("--root", type=Path, default=None)
    arguments.add_argument("--keep", action="store_true")
    arguments.add_argument("--verbose", action="store_true")
    options = arguments.parse_args()
    bad = 0
    for deck in options.decks:
        root = options.root or deck.parent
        path = deck.resolve().relative_to(root.resolve()).as_posix()
        numbers, ranges, log = compiled(root, path, options.keep)
        source = open_document(root, path, settings.load(root), "fr")
        frames = [item for item in number(source.parts).frames if item.visible]
        # Frames in order when TeX made as many (maketitle and againframe make more), else by page.
        places = [a for a, _ in ranges] if len(ranges) == len(frames) else [f.page for f in frames]
        starts = {a for a, _ in ranges}
        wrong, unknown, pages = [], 0, 0
        for item, place in zip(frames, places, strict=True):
            if item.slide is None:
                unknown += 1
                continue
            pages += item.page is not None and item.page not in starts | (
                {place} if place else set()
            )
            pages += place is not None and item.page is not None and item.page != place
            if numbers.get(place or 0) != item.slide:
                wrong.append((item.frame.line, item.slide, numbers.get(place or 0), item.page))
            if options.verbose:
                print(
                    item.frame.line,
                    item.slide,
                    item.page,
                    numbers.get(place or 0),
                    item.frame.title[:50],
                )
        last = max((b for _, b in ranges), default=0)
        print(f"{path}: {len(frames)} frames, {len(frames) - unknown} compared, {len(wrong)} numbers differ, "  # noqa: E501
              f"{pages} start pages differ, {unknown} unknown; TeX made {len(ranges)} frames on {last} pages; {log}")  # fmt: skip  # noqa: E501
        for row in wrong[:8]:
            print("   line, ours, TeX, page:", row)
        bad += bool(wrong) or not numbers
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
