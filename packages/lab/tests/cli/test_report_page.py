"""`errcompact report -o`: recorded runs in, one page out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from otel_errcompact.exceptions import ConfigurationError
from packages.lab.tests.cli.transcripts import REFUSED, conversation, write_lines

if TYPE_CHECKING:
    from pathlib import Path

    from packages.lab.tests.cli.conftest import Errcompact


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Two runs, one of which failed twice."""
    return write_lines(tmp_path / "runs.jsonl", conversation("a", REFUSED, REFUSED), conversation("b", "3 rows"))


def test_where_the_page_is_and_how_large(errcompact: Errcompact, runs: Path, tmp_path: Path) -> None:
    """One line on standard error; standard output stays empty."""
    page = tmp_path / "report.html"
    outcome = errcompact("report", runs, "-o", page)
    size = page.stat().st_size
    assert (outcome.code, outcome.out) == (0, "")
    assert outcome.err == f"errcompact: {page}: 2 failures in 2 runs, {size:,} bytes\n"
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>\n<!-- errcompact report -->\n<html")


def test_a_malformed_line_is_named_and_the_page_is_written(errcompact: Errcompact, runs: Path, tmp_path: Path) -> None:
    """As with every other command."""
    with runs.open("a", encoding="utf-8") as stream:
        stream.write("{\n")
    outcome = errcompact("report", runs, "-o", tmp_path / "report.html")
    assert outcome.code == 1
    assert outcome.err.startswith(f"errcompact: {runs}:3: is not valid JSON")
    assert (tmp_path / "report.html").exists()


def test_another_file_is_refused_before_anything_is_read(errcompact: Errcompact, runs: Path) -> None:
    """The input itself, say."""
    with pytest.raises(ConfigurationError, match="exists and is no errcompact page"):
        errcompact("report", runs, "-o", runs)


@pytest.mark.parametrize("options", [("--raw",), ("--json", "-o", "report.html")], ids=["raw", "json"])
def test_options_that_do_not_go_together(errcompact: Errcompact, runs: Path, options: tuple[str, ...]) -> None:
    """Wrong usage."""
    assert errcompact("report", runs, *options).code == 2
