"""What programs use: processor time, memory and disk, as the kernel tells (Linux)."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from e2e.programs import Program

TICKS: Final = os.sysconf("SC_CLK_TCK")
BLOCK: Final = 512
"""Bytes of what `st_blocks` counts, whatever the file system's own blocks are."""


class Usage(NamedTuple):
    """
    What a process has used since its start.
    """

    cpu_s: float
    peak_bytes: int


def usage(program: Program) -> Usage:
    """
    Return what a running program has used since its start.

    Raises:
        AssertionError: It does not run.
    """
    assert program.process is not None, f"{program.name} does not run"
    process = Path("/proc") / str(program.process.pid)
    # The name of the program, the second field, may hold spaces.
    fields = (process / "stat").read_text(encoding="ascii").rpartition(")")[2].split()
    status = dict(line.split(":", 1) for line in (process / "status").read_text(encoding="ascii").splitlines())
    return Usage((int(fields[11]) + int(fields[12])) / TICKS, int(status["VmHWM"].split()[0]) * 1_024)


def cores(programs: Mapping[str, Program], seconds: float) -> dict[str, float]:
    """Return how much of a core each program uses over some seconds in which nothing is asked of it."""
    began, before = time.monotonic(), {name: usage(each) for name, each in programs.items()}
    time.sleep(seconds)
    took = time.monotonic() - began
    return {name: (usage(each).cpu_s - before[name].cpu_s) / took for name, each in programs.items()}


def disk(folder: Path, pattern: str = "*") -> int:
    """Return the bytes that the files of a folder take on the disk, which is more than they hold."""
    return sum(_blocks(path) for path in folder.rglob(pattern)) * BLOCK


def _blocks(path: Path) -> int:
    try:
        return path.stat().st_blocks if path.is_file() else 0
    except FileNotFoundError:  # the program goes on working
        return 0
