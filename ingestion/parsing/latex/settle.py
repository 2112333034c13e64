"""A frame body made safe for the walker: environments and braces balanced in linear time."""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"\\(begin|end)\s*\{([^{}\n]{0,80})\}|\\(begin|end)(?![a-zA-Z])|\\.|[{}]", re.DOTALL
)
_FLOOR = 300


def balance(text: str) -> str:
    """`text` with every environment and group closed once; what closes nothing is dropped.

    pylatexenc's tolerant mode is exponential on environments that never close; balanced text never
    takes it there. Nesting deeper than a page can show is flattened.
    """
    out: list[str] = []
    opened: list[str] = []
    at = 0
    for match in _TOKEN.finditer(text):
        out.append(text[at : match.start()])
        at = match.end()
        token = match.group()
        if match.group(3):
            continue
        if match.group(1) == "begin":
            if len(opened) < _FLOOR:
                opened.append(_name(match.group(2)))
                out.append(f"\\begin{{{opened[-1]}}}")
        elif match.group(1) == "end":
            name = _name(match.group(2))
            if name in opened:
                while opened[-1] != name:
                    out.append(_close(opened.pop()))
                opened.pop()
                out.append(f"\\end{{{name}}}")
        elif token == "{":  # noqa: S105
            if len(opened) < _FLOOR:
                opened.append("{")
                out.append(token)
        elif token == "}":  # noqa: S105
            if opened and opened[-1] == "{":
                opened.pop()
                out.append(token)
        else:
            out.append(token)
    out.append(text[at:])
    while opened:
        out.append(_close(opened.pop()))
    return "".join(out)


def _close(name: str) -> str:
    return "}" if name == "{" else f"\\end{{{name}}}"


def _name(text: str) -> str:
    """An environment's name in the signs that pylatexenc accepts."""
    return re.sub(r"[^\w* ._-]", "-", text.strip()) or "-"
