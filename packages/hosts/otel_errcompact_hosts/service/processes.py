"""
Find and end processes by id and start time.

An id alone may be another's by now.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from typing import Final

from otel_errcompact_hosts.wrapping.pipelines import START_TIME, read_stat

TERM_S: Final = 10.0
"""Seconds in which a process ends by itself before it is killed."""

_LOOK_S: Final = 0.05


def start_mark(pid: int) -> str:
    """Return when a process began, in the system's words; empty without one."""
    if sys.platform == "linux":
        _, fields = read_stat(pid)
        return fields[START_TIME] if fields and fields[0] != "Z" else ""
    command = ["ps", "-o", "lstart=", "-p", str(pid)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - with a number
    return done.stdout.strip()


def end_process(pid: int, mark: str, *, term_s: float = TERM_S) -> bool:
    """End the process that is meant; return whether it has ended."""
    for wanted, seconds in ((signal.SIGTERM, term_s), (signal.SIGKILL, TERM_S)):
        if not mark or start_mark(pid) != mark:
            return bool(mark)
        with suppress(ProcessLookupError):
            os.kill(pid, wanted)
        ends = time.monotonic() + seconds
        while start_mark(pid) == mark and time.monotonic() < ends:
            time.sleep(_LOOK_S)
    return start_mark(pid) != mark
