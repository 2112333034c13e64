"""pylatexenc's tolerant walker, reading plain characters in runs instead of one by one."""

from __future__ import annotations

import re
from typing import Any

from pylatexenc.latexwalker import LatexToken, LatexWalker

from ingestion.parsing.latex import grammar
from ingestion.parsing.latex.settle import balance

_RUN = re.compile(r"(?=\S)(?:[^\\{}%$&~`'!?\-]|'(?!')|-(?!-)|[!?](?!`))+")
_RUN_WITHOUT_BRACKETS = re.compile(r"(?=\S)(?:[^\\{}%$&~`'!?\-\[\]]|'(?!')|-(?!-)|[!?](?!`))+")


class Walker(LatexWalker):  # type: ignore[misc]
    """The same nodes as LatexWalker, several times faster on prose."""

    _one_sign = False

    def get_token(
        self,
        pos: int,
        include_brace_chars: Any = None,
        environments: bool = True,  # noqa: FBT001, FBT002 - pylatexenc's own signature
        **kwargs: Any,
    ) -> Any:
        if not self._one_sign:
            pattern = _RUN_WITHOUT_BRACKETS if include_brace_chars else _RUN
            run = pattern.match(self.s, pos)
            if run is not None:
                return LatexToken(
                    tok="char", arg=run.group(), pos=pos, len=run.end() - pos, pre_space=""
                )
        return super().get_token(
            pos, include_brace_chars=include_brace_chars, environments=environments, **kwargs
        )

    def get_latex_expression(self, pos: int, *args: Any, **kwargs: Any) -> Any:
        """One argument; without braces it is one sign, not a run."""
        start = pos
        while start < len(self.s) and self.s[start].isspace():
            start += 1
        self._one_sign = start < len(self.s) and self.s[start] != "{"
        try:
            return super().get_latex_expression(pos, *args, **kwargs)
        finally:
            self._one_sign = False


def walk(text: str) -> list[Any]:
    """The nodes of a text whose formulas and listings are marks already."""
    walker = Walker(balance(text), latex_context=grammar.context(), tolerant_parsing=True)
    nodes, _, _ = walker.get_latex_nodes(pos=0)
    return list(nodes)
