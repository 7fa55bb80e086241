"""Find out which standard streams can be replaced."""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Final

OUTPUT: Final = 1
ERROR: Final = 2
_POLL_MS: Final = 1_000


class Stream:
    """
    A standard stream of ours, and what the command has in its place.

    Args:
        number: The descriptor that is written to; of two that are one file the lower one.
        stands_for: The command's descriptors that lead here.
        is_redirected: Whether its user sends it to a file of its own, which gets it as it comes.
    """

    __slots__ = ("is_gone", "is_redirected", "number", "reader", "stands_for", "writer")

    def __init__(self, number: int, stands_for: tuple[int, ...], *, is_redirected: bool = False) -> None:
        self.number = number
        self.stands_for = stands_for
        self.is_redirected = is_redirected
        self.is_gone = False
        self.reader = -1
        self.writer = -1

    def open(self) -> None:
        """
        Make the pipe that the command writes to.

        Raises:
            OSError: If there are no descriptors left.
        """
        self.reader, self.writer = os.pipe()

    def close_writer(self) -> None:
        """Leave the pipe's writing end to the command."""
        os.close(self.writer)
        self.writer = -1

    def close_reader(self) -> None:
        """Close the reading end, so that a command that still writes is stopped."""
        if self.reader >= 0:
            os.close(self.reader)
            self.reader = -1

    def write(self, data: bytes) -> None:
        """Write to our own stream, as long as it is read."""
        if not self.is_gone and not write_whole(self.number, data):
            self.is_gone = True


def list_streams() -> tuple[Stream, ...]:
    """
    Return the streams to capture; none if the command has to have ours themselves.

    A terminal has a human before it, who wants to see all; a closed stream shows nothing, and so does one that is
    thrown away.
    """
    try:
        found = {number: os.fstat(number) for number in (0, OUTPUT, ERROR)}
    except OSError:
        return ()
    if os.isatty(OUTPUT) or os.isatty(ERROR):
        return ()
    read = [number for number in (OUTPUT, ERROR) if not _is_thrown_away(found[number])]
    if len(read) == 2 and os.path.samestat(found[OUTPUT], found[ERROR]):  # noqa: PLR2004 - both
        return (Stream(OUTPUT, (OUTPUT, ERROR)),)
    files = {number for number in read if stat.S_ISREG(found[number].st_mode)}
    own_file = files if len(files) == 1 and len(read) == 2 else set[int]()  # noqa: PLR2004 - both
    return tuple(Stream(number, (number,), is_redirected=number in own_file) for number in read)


def _is_thrown_away(found: os.stat_result) -> bool:
    if not stat.S_ISCHR(found.st_mode):
        return False
    try:
        return found.st_rdev == os.stat(os.devnull).st_rdev  # noqa: PTH116 - pathlib costs more than all of this
    except OSError:
        return False


def write_whole(number: int, data: bytes) -> bool:
    """
    Write all bytes, also where the descriptor does not block.

    Args:
        number: The descriptor.
        data: The bytes.

    Returns:
        Whether they were taken; not if nobody reads them, or the disk is full.
    """
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(number, rest) :]
        except BlockingIOError:
            _wait_for_room(number)
        except OSError:
            return False
    return True


def _wait_for_room(number: int) -> None:
    import select

    poller = select.poll()
    poller.register(number, select.POLLOUT)
    poller.poll(_POLL_MS)


def open_readers(streams: tuple[Stream, ...]) -> Iterator[Stream]:
    """Yield the streams whose pipe is still held by a process."""
    return (stream for stream in streams if stream.reader >= 0)
