"""Records of files, with a progress bar on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from otel_errcompact_lab.cli.output import say_shared, say_skipped
from otel_errcompact_lab.cli.sources import list_readable
from otel_errcompact_lab.transcripts import Forks, beside, find, read_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from otel_errcompact_lab.cli.output import Problems
    from otel_errcompact_lab.transcripts import RecordedLife, RecordedRun, RecordedTrace

QUIET_BYTES: Final = 2_000_000
"""Files up to this size together are read before a bar could be looked at."""


def read_records(
    paths: Iterable[Path],
    problems: Problems,
    *,
    doing: str = "replaying",
    on_skipped: Callable[[Path, tuple[Path, ...]], None] = say_skipped,
) -> Iterator[tuple[Path, Iterator[RecordedRun | RecordedTrace | RecordedLife]]]:
    """Yield files and what they record, calls of several sessions once."""
    files = list(find(list_readable(paths, problems), on_problem=problems.take, on_skipped=on_skipped))
    size, forks = sum(_size_of(part) for file in files for part in (file, *beside(file))), Forks()
    console = Console(stderr=True)
    columns = (TextColumn(doing), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    hidden = size <= QUIET_BYTES or not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=hidden) as bar:
        task = bar.add_task("", total=size)
        found = read_files(files, on_problem=problems.take, on_bytes=lambda count: bar.advance(task, count))
        for file, records in found:
            yield file, filter(None, map(forks.own_part, records))
    say_shared(forks.shared)


def _size_of(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0
