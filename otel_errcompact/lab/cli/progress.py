"""A progress bar for long work: on a terminal, and only there."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from otel_errcompact.lab.transcripts import beside

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from pathlib import Path

QUIET_BYTES: Final = 2_000_000
"""Files up to this size together are read before a bar could be looked at."""


@contextmanager
def progress(files: Sequence[Path], doing: str = "replaying") -> Generator[Callable[[int], None]]:
    """
    Show on standard error how much of the files has been read.

    Args:
        files: The files.
        doing: What is done with them, in a word.
    """
    size = sum(_size(part) for file in files for part in (file, *beside(file)))
    console = Console(stderr=True)
    columns = (TextColumn(doing), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    hidden = size <= QUIET_BYTES or not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=hidden) as bar:
        task = bar.add_task("", total=size)
        yield lambda count: bar.advance(task, count)


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0
