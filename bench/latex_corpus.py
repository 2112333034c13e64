#!/usr/bin/env python3
"""Read every course of the shared corpus and print what came out, one line a repository.

    python bench/latex_corpus.py [--corpus ../shared/corpus] [--failed 20] [--repository NAME] [--json]

Frames are counted against the independent count of SOURCES.tsv (frame environments, \\frame
commands, environments that wrap a frame); every file is read, part of a document, or refused with a
reason. Equations are those of the chunks, with the course's macros expanded.
"""  # noqa: E501

from __future__ import annotations

import argparse
import csv
import json
import resource
import sys
import time
import traceback
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from ingestion.parsing.parse import parse
from ingestion.parsing.scanner import scan
from ingestion.parsing.types import DocumentError
from knowledge.rendering.highlight import visible_text
from knowledge.rendering.mathml import to_mathml
from knowledge.rendering.spans import spans

PAGE = 2_200  # characters of source on a page of print


@dataclass
class Figures:
    """What one repository gave."""

    repository: str
    files: int = 0
    documents: int = 0
    parts: int = 0
    refused: int = 0
    exceptions: int = 0
    frames: int = 0
    expected: int = 0
    chunks: int = 0
    equations: int = 0
    converted: int = 0
    empty: int = 0
    mismatched: int = 0
    source_pages: float = 0.0
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        return self.frames / self.expected if self.expected else 1.0


def run(folder: Path, expected: int, failed: Counter[str], unknown: Counter[str]) -> Figures:
    figures = Figures(folder.name, expected=expected)
    started = time.perf_counter()
    result = scan(folder, course_language="fr")
    figures.files, figures.documents = result.seen, len(result.documents)
    figures.parts, figures.refused = len(result.included), len(result.refused)
    figures.notes += [f"refused {item.path}: {item.reason}" for item in result.refused]
    for document in result.documents:
        try:
            parsed = parse(folder, document, course_code="BENCH", course_language="fr")
        except DocumentError as error:
            figures.refused += 1
            figures.notes.append(f"refused {document.path}: {error.user_message}")
            continue
        except Exception:  # noqa: BLE001 - the point of this run is to count them
            figures.exceptions += 1
            figures.notes.append(f"EXCEPTION {document.path}\n{traceback.format_exc()}")
            continue
        figures.frames += parsed.report.frames
        figures.chunks += len(parsed.chunks)
        unknown.update(dict(parsed.report.unknown_macros))
        for chunk in parsed.chunks:
            figures.empty += not chunk.search.strip()
            if visible_text(chunk.display) != "".join(chunk.text.split()):
                figures.mismatched += 1
                figures.notes.append(f"display differs from text: {document.path} {chunk.key}")
            for span in spans(chunk.text):
                if span.tex is not None:
                    figures.equations += 1
                    if to_mathml(span.tex, display=span.display) is None:
                        failed[span.tex] += 1
                    else:
                        figures.converted += 1
    figures.seconds = time.perf_counter() - started
    size = sum(path.stat().st_size for path in folder.rglob("*.tex"))
    figures.source_pages = size / PAGE
    return figures


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    here = Path(__file__).resolve().parents[1]
    arguments.add_argument("--corpus", type=Path, default=here.parent / "shared" / "corpus")
    arguments.add_argument("--repository", default="")
    arguments.add_argument("--failed", type=int, default=0, help="show so many failed equations")
    arguments.add_argument("--notes", action="store_true")
    arguments.add_argument("--json", action="store_true")
    options = arguments.parse_args()
    with (options.corpus / "SOURCES.tsv").open(encoding="utf-8") as table:
        sources = list(csv.DictReader(table, delimiter="\t"))
    failed: Counter[str] = Counter()
    unknown: Counter[str] = Counter()
    found: list[Figures] = []
    for source in sources:
        name = source["repo"].replace("/", "__")
        if options.repository not in name:
            continue
        counted = sum(int(source[key]) for key in ("frames_env", "frames_cmd", "frames_custom_env"))
        found.append(run(options.corpus / name, counted, failed, unknown))
    if options.json:
        print(
            json.dumps([asdict(figures) | {"ratio": figures.ratio} for figures in found], indent=1)
        )
        return 0
    print(f"{'repository':40} files  docs parts refus  exc frames/expected ratio chunks   eq  MathML%"  # noqa: E501
          "  pages/s")  # fmt: skip
    for figures in found:
        share = 100 * figures.converted / figures.equations if figures.equations else 100
        print(
            f"{figures.repository[:40]:40} {figures.files:5} {figures.documents:5} {figures.parts:5} "  # noqa: E501
            f"{figures.refused:5} {figures.exceptions:4} {figures.frames:6}/{figures.expected:<8} "
            f"{figures.ratio:5.3f} {figures.chunks:6} {figures.equations:5} {share:7.2f} "
            f"{figures.source_pages / figures.seconds:8.0f}  empty {figures.empty} differ {figures.mismatched}"  # noqa: E501
        )
        if options.notes:
            for note in figures.notes:
                print("    ", note)
    equations = sum(figures.equations for figures in found)
    converted = sum(figures.converted for figures in found)
    seconds = sum(figures.seconds for figures in found)
    pages = sum(figures.source_pages for figures in found)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"all: {sum(f.frames for f in found)} frames of {sum(f.expected for f in found)}, "
        f"{converted} of {equations} equations as MathML "
        f"({100 * converted / max(1, equations):.2f} %), {seconds:.1f} s, {pages / seconds:.0f} "
        f"source pages/s, peak {peak:.0f} MB"
    )
    for tex, count in failed.most_common(options.failed):
        print(f"  {count:4} {tex[:150]}")
    if options.failed:
        print("unknown commands:", ", ".join(f"{name} {n}" for name, n in unknown.most_common(80)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
