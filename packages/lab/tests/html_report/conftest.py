"""Pages of small recorded runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from otel_errcompact.audit.trajectory import TrajectoryFile
from otel_errcompact.config import Options, TrajectoryOptions
from otel_errcompact.engine.events import Arrived
from otel_errcompact.errors import RawError
from otel_errcompact_lab.html_report import Collector, play
from otel_errcompact_lab.transcripts import read_files
from packages.lab.tests.cli.transcripts import conversation, write_lines

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from otel_errcompact_lab.html_report.collector import PageData

    Gather = Callable[..., PageData]
    WriteTrajectory = Callable[..., Path]


@pytest.fixture
def gather(tmp_path: Path) -> Gather:
    """Plays conversations, each a run of one tool with these results, and returns the page's data."""

    def play_conversations(raw: bool = False, **runs: list[str]) -> PageData:
        lines = [conversation(run_id, *results) for run_id, results in runs.items()]
        return page_of(write_lines(tmp_path / "runs.jsonl", *lines), raw=raw)

    return play_conversations


@pytest.fixture
def write_trajectory(tmp_path: Path) -> WriteTrajectory:
    """Writes a trajectory file in which each text is a failure of the tool bash in run-1, a second after the last."""

    def write(*texts: str) -> Path:
        path = tmp_path / "trajectory.jsonl"
        file = TrajectoryFile(TrajectoryOptions(path=path))
        for second, text in enumerate(texts, start=1_800_000_000):
            file.write_raw(
                Arrived(run_id="run-1", raw=RawError(text=text, tool="bash", time_ns=second * 1_000_000_000))
            )
        file.close()
        return path

    return write


def page_of(*files: Path, raw: bool = False) -> PageData:
    collector = Collector(raw=raw)
    play(read_files(files, on_problem=_refuse), collector, options=Options())
    return collector.page()


def _refuse(problem: Exception) -> None:
    raise problem
