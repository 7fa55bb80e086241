"""Name processes so that others can tell whether they still run."""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from pathlib import Path

from otel_errcompact.runtime.forks import reset_in_child
from otel_errcompact.runtime.lazy import lazy_pattern

_NAME = lazy_pattern(r"(?P<machine>[^/]+)/(?P<process>[0-9]{1,10})/(?P<started>[0-9]*)")


class ThisProcess:
    """The name of this process: machine, process id and start time."""

    def __init__(self) -> None:
        self._name = ""
        reset_in_child(self._forget_name)

    @property
    def name(self) -> str:
        """The name, `machine/process/start`; another one in a forked child."""
        if not self._name:
            self._name = f"{_name_machine()}/{os.getpid()}/{_find_start(os.getpid())}"
        return self._name

    def _forget_name(self) -> None:
        self._name = ""


THIS_PROCESS = ThisProcess()


def has_ended(name: str) -> bool:
    """
    Return whether a process has surely ended.

    Of one on another machine nothing is known, and of one with an id that cannot be asked about.

    Args:
        name: The name that `ThisProcess` gave it.
    """
    found = _NAME.fullmatch(name)
    if found is None or found["machine"] != _name_machine():
        return False
    process = int(found["process"])
    if process == os.getpid():
        return name != THIS_PROCESS.name
    started = _find_start(process)
    if started or found["started"]:
        return started != found["started"]
    return not _is_running(process)


def _name_machine() -> str:
    # Containers on one machine have process ids of their own, and not always a host name of their own.
    name = socket.gethostname().replace("/", "_") or "localhost"
    with suppress(OSError):
        return f"{name}:{Path('/proc/self/ns/pid').stat().st_ino}"
    return name


def _find_start(process: int) -> str:
    # In ticks of the machine; empty if unknown.
    with suppress(OSError, IndexError):
        # The name of the program, in brackets, may hold anything.
        fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        return fields[19] if fields[0] != "Z" else ""
    return ""


def _is_running(process: int) -> bool:
    if os.name == "nt":  # where signal 0 would end it
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
