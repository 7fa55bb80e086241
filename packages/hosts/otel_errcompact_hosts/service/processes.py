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
from pathlib import Path
from typing import Final

TERM_S: Final = 10.0
"""Seconds in which a process ends by itself before it is killed."""

_LOOK_S: Final = 0.05
_START_TIME: Final = 19
"""Where it stands in /proc/PID/stat, behind the name."""


def start_mark(pid: int) -> str:
    """Return when a process began, in the system's words; empty without one."""
    if sys.platform == "linux":
        try:
            text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""
        state, *fields = text.rpartition(")")[2].split()
        return "" if state == "Z" else fields[_START_TIME - 1]
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
