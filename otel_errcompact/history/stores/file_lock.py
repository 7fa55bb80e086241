"""
Locks by name between the processes of a machine, in one file.

A name is a byte of the file, which a process locks: the kernel gives the lock up when the process ends, in any way.
"""

from __future__ import annotations

import os
import random
import time
import zlib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

CAN_LOCK: Final = os.name == "posix"
"""Whether the platform has such locks."""

FIRST_SLEEP_S: Final = 0.000_05
LAST_SLEEP_S: Final = 0.001
"""Between two tries to get a lock."""


class FileLock:
    """
    One lock at a time, of many names.

    Args:
        path: The file; made for this user alone.

    Raises:
        OSError: The file cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        self._held: int | None = None

    def acquire(self, name: str, wait_s: float) -> bool:
        """
        Take the lock of a name; return whether it could be had.

        Args:
            name: The name; two names may share a lock, and then wait for each other.
            wait_s: Seconds to wait for another process.
        """
        self.release()
        place = zlib.crc32(name.encode("utf-8", "replace"))
        until, sleep = time.monotonic() + wait_s, FIRST_SLEEP_S
        while not self._try_lock(place):
            if time.monotonic() >= until:
                return False
            time.sleep(sleep * random.uniform(0.5, 1.5))  # noqa: S311 - so that those who wait do not meet again
            sleep = min(1.5 * sleep, LAST_SLEEP_S)
        return True

    def release(self) -> None:
        """Give the lock up, if one is held."""
        import fcntl  # which Windows has not

        place, self._held = self._held, None
        if place is not None:
            fcntl.lockf(self._file, fcntl.LOCK_UN, 1, place)

    def close(self) -> None:
        """Close the file, and give the lock up with it."""
        os.close(self._file)

    def _try_lock(self, place: int) -> bool:
        import fcntl

        self._held = place  # before: an interrupt may land behind the lock
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
        except OSError:
            self._held = None
            return False
        return True
