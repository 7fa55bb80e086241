"""
Keep one service for each machine and user.

It is found by its answer, and holds a lock that ends with its process.
"""

from __future__ import annotations

import os
import stat
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from otel_errcompact.exceptions import ErrcompactError
from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact.runtime.records import dataclass
from otel_errcompact_hosts.client.posting import ask
from otel_errcompact_hosts.ports.edge import HEALTH
from otel_errcompact_hosts.service.processes import end_process

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from otel_errcompact_hosts.service.places import Places

ANSWER_S: Final = 2.0
"""Seconds in which a service answers that is there."""

START_S: Final = 20.0
"""Seconds in which another one that starts, or ends, has done so."""

_LOOK_S: Final = 0.05
_VERSION: Final = lazy_pattern(r"\d+(?:\.\d+)*")


class ServiceError(ErrcompactError, RuntimeError):
    """The service cannot start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A service that answers."""

    version: str
    pid: int
    process: str
    """The mark of its process; see `start_mark`."""

    port: int | None

    def __str__(self) -> str:
        return f"version {self.version}, process {self.pid}"


def find_running(socket: Path, limit_s: float = ANSWER_S) -> Running | None:
    """Return the service that answers on a socket; None without one."""
    reply = ask("GET", HEALTH, socket_path=socket, limit_s=limit_s)
    health = reply.read() if reply is not None else {}
    pid, process, port = health.get("pid"), health.get("process"), health.get("port")
    if not isinstance(pid, int):
        return None
    return Running(
        version=str(health.get("version", "")),
        pid=pid,
        process=str(process or ""),
        port=port if isinstance(port, int) else None,
    )


def is_older(version: str, than: str) -> bool:
    """Return whether a version is older; not if either is no number."""
    found = [_VERSION.match(each) for each in (version, than)]
    first, second = (tuple(map(int, match[0].split("."))) if match is not None else () for match in found)
    return () != first < second


def stop_running(running: Running, socket: Path) -> None:
    """
    End a service, and wait until it no longer answers.

    Raises:
        ServiceError: Its process is not the one that it says, as in another container.
    """
    # In another container the id is of no process here, or of another one, and the service answers as before.
    if not end_process(running.pid, running.process) or find_running(socket) == running:
        raise ServiceError(
            f"the service at {socket} ({running}) runs where this user cannot end it; end it there, "
            "or name another socket with --socket"
        )


def take_over(
    places: Places, version: str, *, replace: bool = False, say: Callable[[str], None] = lambda _: None
) -> int | None:
    """
    Become the one service: return its lock, or None.

    It is None where another service answers.

    An older release that answers is replaced. The lock ends with the process, however that ends.

    Args:
        places: Where the service has its files.
        version: The release that starts.
        replace: Whether a service of any release is replaced.
        say: Called with a line about what was found.

    Raises:
        ServiceError: Another process holds the lock and does not answer, or cannot be replaced.
    """
    ends = time.monotonic() + START_S
    lock = None
    while lock is None:
        running = find_running(places.socket)
        if running is not None:
            if not replace and not is_older(running.version, version):
                say(f"already running: {running}, at {places.socket}")
                return None
            say(f"replacing {running}")
            stop_running(running, places.socket)
            replace = False
        lock = _try_lock(places.lock)
        if lock is None and time.monotonic() > ends:
            raise ServiceError(
                f"process {_read_pid(places.lock)} holds {places.lock} and does not answer; end it and start again"
            )
        if lock is None:
            time.sleep(_LOOK_S)
    running = find_running(places.socket)
    if running is not None:  # it began to answer, and this process was the slower one
        os.close(lock)
        say(f"already running: {running}, at {places.socket}")
        return None
    remove_socket(places.socket)
    return lock


def _try_lock(path: Path) -> int | None:
    import fcntl

    # Python closes it in programs that are started from here, so that none of them keeps the lock.
    lock = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return None
    os.ftruncate(lock, 0)
    os.write(lock, f"{os.getpid()}\n".encode())
    return lock


def _read_pid(path: Path) -> str:
    with suppress(OSError):
        return path.read_text(encoding="ascii", errors="replace").strip() or "?"
    return "?"


def remove_socket(path: Path) -> None:
    """Remove a socket that nothing answers on."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise ServiceError(f"{path} is there and is no socket; remove it, or name another path with --socket")
    path.unlink(missing_ok=True)
