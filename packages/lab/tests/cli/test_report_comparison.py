"""`errcompact report --compare`: two reports in, what changed out."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from otel_errcompact.exceptions import ConfigurationError
from packages.lab.tests.cli.transcripts import REFUSED, conversation, write_lines

if TYPE_CHECKING:
    from pathlib import Path

    from packages.lab.tests.cli.conftest import Errcompact


@pytest.fixture
def baseline(tmp_path: Path) -> Path:
    """Six runs, of which one failed."""
    clean = [conversation(f"old-{number}", "3 rows") for number in range(5)]
    return write_lines(tmp_path / "baseline.jsonl", conversation("old", "Error: quota exceeded"), *clean)


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Six runs with one failure each, alike."""
    return write_lines(tmp_path / "runs.jsonl", *[conversation(f"new-{number}", REFUSED) for number in range(6)])


def test_a_comparison_as_markdown(errcompact: Errcompact, runs: Path, baseline: Path) -> None:
    """Figures of both, then the classes by their change."""
    outcome = errcompact("report", runs, "--compare", baseline)
    assert (outcome.code, outcome.err) == (0, "")
    told = re.sub("[0-9a-f]{16}", "KEY", outcome.out)
    assert (
        told
        == """\
# Compared with the baseline

| | baseline | here |
|---|---:|---:|
| Runs | 6 | 6 |
| Runs with failures | 1 | 6 |
| of all runs | 16.7 % | 100.0 % |
| Tool calls | 6 | 6 |
| Failures | 1 | 6 |
| of all calls | 16.7 % | 100.0 % |
| Error classes | 1 | 1 |
| Escalations | 0 | 0 |
| Longest streak | 1 | 1 |
| Tokens of raw errors | 6 | 42 |
| of the whole context | 13.0 % | 58.3 % |

## New: 1

- `KEY` [Error] no such host found: here 6 in 6 of 6 runs

## Gone: 1

- `KEY` [Error] quota exceeded: baseline 1 in 1 of 6 runs (may be chance)

More and less are by the share of the runs that have the class. What may be chance: reports of equal
agents would differ as much in more than 1 of 100 comparisons (Fisher's exact test).
"""
    )


def test_a_comparison_as_json(errcompact: Errcompact, runs: Path, baseline: Path) -> None:
    """Every class with its counts in both."""
    outcome = errcompact("report", runs, "--compare", baseline, "--json")
    told = json.loads(outcome.out)
    figures = {each["name"]: (each["baseline"], each["here"]) for each in told["figures"]}
    assert (outcome.code, outcome.err, figures["Failures"], figures["of all runs"]) == (0, "", (1, 6), (1 / 6, 1.0))
    assert (told["basis"], told["runs"]) == ("runs", {"baseline": 6, "here": 6})
    assert [(each["change"], each["maybe_chance"], each["baseline"], each["here"]) for each in told["classes"]] == [
        ("new", False, {"count": 0, "runs": 0, "status": None}, {"count": 6, "runs": 6, "status": "unresolved"}),
        ("gone", True, {"count": 1, "runs": 1, "status": "unresolved"}, {"count": 0, "runs": 0, "status": None}),
    ]


def test_a_comparison_as_page(errcompact: Errcompact, runs: Path, baseline: Path, tmp_path: Path) -> None:
    """It has a section of the page; without --compare it has none."""
    page = tmp_path / "report.html"
    assert errcompact("report", runs, "--compare", baseline, "-o", page).code == 0
    assert '<section id="compared"' in page.read_text(encoding="utf-8")
    assert errcompact("report", runs, "-o", page).code == 0
    assert '<section id="compared"' not in page.read_text(encoding="utf-8")


def test_a_baseline_of_several_files(errcompact: Errcompact, runs: Path, baseline: Path) -> None:
    """The option may come again."""
    outcome = errcompact("report", runs, "--compare", baseline, "--compare", runs, "--json")
    assert json.loads(outcome.out)["runs"] == {"baseline": 12, "here": 6}


@pytest.mark.parametrize("text", [None, ""], ids=["missing", "empty"])
def test_a_baseline_without_runs_is_refused(
    errcompact: Errcompact, runs: Path, tmp_path: Path, text: str | None
) -> None:
    """Nothing is called new for want of it."""
    if text is not None:
        (tmp_path / "old.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"--compare .*old.jsonl: holds no run to compare with"):
        errcompact("report", runs, "--compare", tmp_path / "old.jsonl")
