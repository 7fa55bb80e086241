"""A file of lines that several processes may share."""

from __future__ import annotations

import errno
import os
import stat
from collections import deque
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final

from opentelemetry import context

from otel_errcompact.otel.sdk import suppress_instrumentation

if TYPE_CHECKING:
    from pathlib import Path

    from otel_errcompact.config import TrajectoryOptions
    from otel_errcompact.runtime.guard import Guard

try:
    import fcntl
except ImportError:  # pragma: no cover - not on Windows, where one process has to write a file alone
    fcntl = None  # type: ignore[assignment]

MAX_PENDING: Final = 64
"""Lines that are kept for a disk that refuses them."""

TRAJECTORY_DROPPED: Final = "trajectory_dropped"
"""Lines that a disk kept refusing, as a stage of internal failures."""

TRAJECTORY_ROTATED: Final = "trajectory_rotated"
"""Lines in files that rotation removed, as a stage of internal failures."""

_OPTIONAL_FLAGS: Final = ("O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK")
"""Not on every system. A link is not followed, and opening a FIFO without a reader does not block."""

_FLAGS: Final = os.O_WRONLY | os.O_APPEND | os.O_CREAT | sum(getattr(os, name, 0) for name in _OPTIONAL_FLAGS)

_OF_OTHERS: Final = 0o077
"""The permissions of those who do not own a file."""


class LineFile:
    """
    A file of lines that several processes may share, rotated by size.

    Args:
        path: Where it is.
        options: Its size, and the number of rotated files.
        guard: Counts the lines that are given up, and those that rotation removes.
    """

    def __init__(self, path: Path, options: TrajectoryOptions, guard: Guard) -> None:
        self.dropped = 0
        """Lines that were given up, since the disk kept refusing them."""
        self.path: Final = path
        self._options = options
        self._guard = guard
        self._pending: deque[bytes] = deque()
        self._name = os.fspath(path)
        self._max_bytes = options.max_bytes
        self._file: int | None = None
        self._identity = (0, 0)
        """Device and number of the open file: no other file has them while it is open."""
        self._torn = False

    @property
    def unwritten(self) -> int:
        """Lines that are not in the file: given up, or still kept."""
        return self.dropped + len(self._pending)

    def append(self, line: bytes) -> None:
        """
        Write a line, after those that are kept.

        Raises:
            OSError: The disk refuses; the line is kept and tried again with the next one.
        """
        if len(self._pending) >= MAX_PENDING:
            self._pending.popleft()
            self._drop_lines(1)
        self._pending.append(line)
        self._flush_lines()

    def end(self) -> None:
        """Write what waits, or give it up, and close the file."""
        with suppress(OSError):
            self._flush_lines()
        if self._pending:
            self._drop_lines(len(self._pending))
            self._pending.clear()
        self.close()

    def _drop_lines(self, number: int) -> None:
        self.dropped += number
        self._guard.record_loss(TRAJECTORY_DROPPED, number)

    def forget(self) -> None:
        """Start empty in a child process; the parent writes its own lines."""
        self._pending.clear()
        self.close()

    def _flush_lines(self) -> None:
        token = suppress_instrumentation()
        try:
            while self._pending:
                self.write(self._pending[0])
                self._pending.popleft()
        finally:
            context.detach(token)

    def write(self, line: bytes) -> None:
        """
        Write one line now.

        Raises:
            OSError: The disk refuses, or took a part of it.
        """
        file, size = self._find_current_file()
        if size and size + len(line) > self._max_bytes:
            self._rotate_files(file)
            file, _ = self._find_current_file()
        if self._torn:
            line = b"\n" + line
        written = os.write(file, line)
        self._torn = written < len(line)
        if self._torn:
            raise OSError(f"only {written} of {len(line)} bytes went into {self.path}")

    def _find_current_file(self) -> tuple[int, int]:
        """
        Return the open file at the path, and its size.

        Another process may have rotated the earlier one away, or written to this one.
        """
        if self._file is not None:
            found = _look_at(self._name)
            if found is not None and (found.st_dev, found.st_ino) == self._identity:
                return self._file, found.st_size
            self.close()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file, opened = _open_file(self._name)
        self._identity = opened.st_dev, opened.st_ino
        return self._file, opened.st_size

    def _rotate_files(self, file: int) -> None:
        """
        Move the file to `<path>.1`, and older files on.

        Of several processes that find the file full, the one that holds its lock moves it; the others do not wait and
        find the new file next time.
        """
        found = _look_at(self._name) if _lock_file(file) else None
        if found is None or (found.st_dev, found.st_ino) != self._identity:
            return
        names = [
            self.path,
            *(self.path.with_name(f"{self.path.name}.{n}") for n in range(1, self._options.backups + 1)),
        ]
        if names[-1].exists():
            # As the options ask for: no loss to warn of.
            self._guard.failures[TRAJECTORY_ROTATED] += _count_lines(names[-1])
        for older, newer in zip(names[:0:-1], names[-2::-1], strict=True):
            if newer.exists():
                newer.replace(older)
        if len(names) == 1:
            self.path.unlink()
        self.close()

    def close(self) -> None:
        """Close the file; the next line opens it again."""
        if self._file is not None:
            file, self._file = self._file, None
            os.close(file)


def _count_lines(path: Path) -> int:
    with path.open("rb", buffering=0) as file:
        return sum(part.count(b"\n") for part in iter(partial(file.read, _PART), b""))


_PART: Final = 1 << 20
"""Bytes of a file that are read at once."""


def _open_file(path: str) -> tuple[int, os.stat_result]:
    """
    Open a regular file to append to, and make it private.

    Raises:
        OSError: It is a link, a FIFO, a device or a folder; or it is another user's.
    """
    try:
        file = os.open(path, _FLAGS, 0o600)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO, errno.EMLINK):
            raise _build_refusal(path, "a link, a FIFO or a socket") from error
        raise
    try:
        opened = os.fstat(file)
        if not stat.S_ISREG(opened.st_mode):
            raise _build_refusal(path, "a FIFO or a device")
        if opened.st_mode & _OF_OTHERS and hasattr(os, "geteuid"):
            _make_private(file, opened, path)
    except OSError:
        os.close(file)
        raise
    return file, opened


def _make_private(file: int, opened: os.stat_result, path: str) -> None:
    # What was there before may be open to others, and raw errors hold secrets.
    try:
        os.fchmod(file, stat.S_IMODE(opened.st_mode) & ~_OF_OTHERS)
    except PermissionError as error:
        # Some file systems have no permissions of their own: there a file of ours is as private as it can be.
        if opened.st_uid != os.geteuid():
            what = "another user's file, which others may read; make it private or give a path of its own"
            raise PermissionError(error.errno, what, path) from error


def _build_refusal(path: str, what: str) -> OSError:
    return OSError(errno.EINVAL, f"{what}, where raw errors go into a regular file only; give its own path", path)


def _look_at(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)  # noqa: PTH116 - a path object takes as long as the system itself
    except FileNotFoundError:
        return None


def _lock_file(file: int) -> bool:
    """Lock an open file against other processes; return whether that worked."""
    if fcntl is None:  # pragma: no cover
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
