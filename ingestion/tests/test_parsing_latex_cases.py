"""Every shared LaTeX case is read right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ingestion.tests import latex_cases

if TYPE_CHECKING:
    from pathlib import Path

_CASES = latex_cases.load()


@pytest.mark.skipif(not _CASES, reason="../shared/latex/cases.jsonl is not on this machine")
@pytest.mark.parametrize("case", _CASES, ids=[case["id"] for case in _CASES])
def test_the_case_is_read_as_its_author_meant_it(case: dict[str, Any], tmp_path: Path) -> None:
    assert latex_cases.check(case, tmp_path) == []
