"""Files are played one after another, those of one kind together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from otel_errcompact.config import Options
from otel_errcompact_lab.html_report import Collector, play
from otel_errcompact_lab.transcripts import read_files
from packages.lab.tests.cli.transcripts import conversation, write_lines
from packages.lab.tests.html_report.conftest import page_of

if TYPE_CHECKING:
    from pathlib import Path

    from packages.lab.tests.html_report.conftest import WriteTrajectory


def test_a_file_without_records_is_passed_over(tmp_path: Path) -> None:
    """It is told of; what others hold is on the page."""
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    files = (empty, write_lines(tmp_path / "runs.jsonl", conversation("a", "Error: refused")))
    collector = Collector()
    problems: list[Exception] = []
    play(read_files(files, on_problem=problems.append), collector, options=Options())
    assert [str(problem) for problem in problems] == [f"{empty}: is empty; nothing was recorded"]
    assert (collector.page().totals.files, collector.page().totals.failures) == (1, 1)


def test_files_of_both_kinds_count_together(tmp_path: Path, write_trajectory: WriteTrajectory) -> None:
    """Two transcripts escalate each by itself; of a file of raw errors no escalation is claimed."""
    transcripts = [
        write_lines(tmp_path / f"{name}.jsonl", conversation(name, *["Error: refused"] * 3)) for name in ("a", "b")
    ]
    page = page_of(*transcripts, write_trajectory(*["Error: refused"] * 3))
    assert (page.totals.files, page.totals.runs, page.totals.failures) == (3, 3, 9)
    assert [[entry.place.run_id for entry in group.entries] for group in page.escalations] == [["a", "b"]]
