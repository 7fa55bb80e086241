"""The tables of `docs/calibration.md` are what the tool measures, where the runs are at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from packages.lab.tests.analysis.calibration_page import PAGE, SETS, calibrated, lines, refusals

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.meta


@pytest.mark.parametrize("heading", SETS)
def test_the_tables_are_what_the_tool_measures(shared_data: Path, heading: str) -> None:
    """Every row, to the token."""
    folder = SETS[heading]
    if not (shared_data / folder).is_dir():
        pytest.skip(f"the runs for measuring are not there: {shared_data / folder}")
    section = PAGE.read_text(encoding="utf-8").split(f"\n### {heading}\n")[1].split("\n## ")[0].split("\n### ")[0]
    found = calibrated(shared_data, folder)
    rows = [line for line in section.splitlines() if line.startswith("|") and line[2] in "`a0123456789"]
    assert rows == [*lines(found), refusals(found)]
    assert found.refusals.worked == 0
