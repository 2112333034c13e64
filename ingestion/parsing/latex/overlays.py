"""Overlay specifications of beamer: what is ever shown, and how many pages a frame makes."""

from __future__ import annotations

import re

_MODES = {"beamer", "article", "presentation", "handout", "trans", "second", "all"}
_NUMBERS = re.compile(r"(\d+|\+|\.)(?:\((-?\d+)\))?")


def shown(spec: str) -> bool:
    """Whether what carries `<spec>` is shown on some page of the presentation."""
    verdict: bool | None = None
    named = False
    for piece in spec.split("|"):
        mode, _, numbers = piece.partition(":")
        mode = mode.strip()
        if mode in _MODES:
            named = True
            if mode in {"beamer", "presentation", "all"}:
                verdict = numbers.strip() != "0"
        elif piece.strip():
            verdict = piece.strip() != "0"
    if verdict is None:
        return not named
    return verdict


class Pauses:
    """The pages of one frame: `\\pause`, `<+->`, `<2-3>` and their counter."""

    def __init__(self) -> None:
        self.pause = 1
        self.pages = 1

    def specify(self, spec: str) -> None:
        """Count an overlay specification; `+` and `.` read and move the pause counter."""
        moved = False
        for piece in spec.split("|"):
            mode, found, numbers = piece.partition(":")
            if found and mode.strip() in _MODES - {"beamer", "presentation", "all"}:
                continue
            numbers = numbers if found else piece
            if numbers.strip() in _MODES:
                continue
            numbers = numbers.rpartition("@")[2]
            for value, offset in _NUMBERS.findall(numbers):
                if value == "+":
                    page = self.pause
                    moved = True
                elif value == ".":
                    page = self.pause if moved else self.pause - 1
                else:
                    page = int(value)
                self.pages = max(self.pages, page + int(offset or 0))
        if moved:
            self.pause += 1

    def next(self, to: str | None) -> None:
        """A `\\pause`, with the page it names if it names one."""
        self.pause = int(to) if to and to.isdigit() else self.pause + 1
        self.pages = max(self.pages, self.pause)
