"""Find out which standard streams can be replaced."""

from __future__ import annotations

import errno
import os
import stat

from otel_errcompact_hosts.wrapping.pipelines import leads_to_host

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Final

OUTPUT: Final = 1
ERROR: Final = 2
_POLL_MS: Final = 1_000
_READER_ENDED: Final = frozenset({errno.EPIPE, errno.ECONNRESET, errno.ENOTCONN})


class Stream:
    """
    A standard stream of ours, and the pipe in its place.

    Args:
        number: The descriptor that is written to; of two that are one file the lower one.
        stands_for: The command's descriptors that lead here.
        is_redirected: Whether its user sends it to a file of its own, which gets it as it comes.
        begins: Where in its file the output begins; -1 where that is not known yet.
    """

    __slots__ = ("_begins", "failure", "is_gone", "is_redirected", "number", "reader", "stands_for", "writer")

    def __init__(
        self, number: int, stands_for: tuple[int, ...], *, is_redirected: bool = False, begins: int = -1
    ) -> None:
        self.number = number
        self.stands_for = stands_for
        self.is_redirected = is_redirected
        self.is_gone = False
        """Whether nothing can be written any more."""

        self.failure: OSError | None = None
        """Why what was printed is lost, such as a full disk; a reader that has ended wants no more."""

        self._begins = begins
        self.reader = -1
        self.writer = -1

    @property
    def is_for_both(self) -> bool:
        """Whether output and errors lead here, as behind `2>&1`."""
        return len(self.stands_for) > 1

    def open(self) -> None:
        """Make the pipe that the command writes to."""
        self.reader, self.writer = os.pipe()

    def close_writer(self) -> None:
        """Leave the pipe's writing end to the command."""
        os.close(self.writer)
        self.writer = -1

    def close_reader(self) -> None:
        """Close the reading end, which stops a command that still writes."""
        if self.reader >= 0:
            os.close(self.reader)
            self.reader = -1

    def find_begin(self) -> bool:
        """Return whether it is a file, whose end can be taken back."""
        try:
            found = os.fstat(self.number)
            if self._begins < 0 and stat.S_ISREG(found.st_mode) and _writes_at_end(self.number, found.st_size):
                self._begins = found.st_size
        except OSError:
            return False
        return self._begins >= 0

    def can_take_back(self, written: int) -> bool:
        """Return whether nothing but our output was added."""
        try:
            return self._begins >= 0 and os.fstat(self.number).st_size == self._begins + written
        except OSError:
            return False

    def take_back(self, written: int) -> None:
        """Take back what we have printed."""
        if not self.can_take_back(written):
            raise OSError("another process has written to it")
        os.ftruncate(self.number, self._begins)
        os.lseek(self.number, self._begins, os.SEEK_SET)

    def write(self, data: bytes) -> None:
        """Write to our own stream, as long as it is read."""
        if self.is_gone:
            return
        problem = write_whole(self.number, data)
        if problem is not None:
            self.is_gone = True
            self.failure = None if problem.errno in _READER_ENDED else problem


def list_streams(*, is_started_by_host: bool = False) -> tuple[Stream, ...]:
    """
    Return the streams to capture; none if the command needs ours.

    A terminal has a human before it, who wants to see all; a closed stream shows nothing, and so does one that is
    thrown away, and a file that one stream alone leads to while the other is thrown away. A file for both holds what
    its user wants, unless it is where the host reads.

    Args:
        is_started_by_host: Whether no line of a shell can have sent the output elsewhere.
    """
    try:
        found = {number: os.fstat(number) for number in (0, OUTPUT, ERROR)}
    except OSError:
        return ()
    if os.isatty(OUTPUT) or os.isatty(ERROR):
        return ()
    read = [number for number in (OUTPUT, ERROR) if not _is_thrown_away(found[number])]
    if len(read) == 2 and os.path.samestat(found[OUTPUT], found[ERROR]):  # noqa: PLR2004 - both
        is_data = stat.S_ISREG(found[OUTPUT].st_mode) and not is_started_by_host and not leads_to_host(found[OUTPUT])
        return () if is_data else (Stream(OUTPUT, (OUTPUT, ERROR)),)
    # A file for one of them alone holds what its user wants; of two such files, that for errors can take a digest.
    own_file = [number for number in read if stat.S_ISREG(found[number].st_mode)][:1]
    if read == own_file:
        return ()
    return tuple(Stream(number, (number,), is_redirected=number in own_file) for number in read)


def _writes_at_end(number: int, size: int) -> bool:
    import fcntl

    return bool(fcntl.fcntl(number, fcntl.F_GETFL) & os.O_APPEND) or os.lseek(number, 0, os.SEEK_CUR) == size


def _is_thrown_away(found: os.stat_result) -> bool:
    if not stat.S_ISCHR(found.st_mode):
        return False
    try:
        return found.st_rdev == os.stat(os.devnull).st_rdev  # noqa: PTH116 - pathlib costs more than all of this
    except OSError:
        return False


def write_whole(number: int, data: bytes) -> OSError | None:
    """Write all bytes; return the failure, if any."""
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(number, rest) :]
        except BlockingIOError:
            _wait_for_room(number)
        except OSError as error:
            return error
    return None


def _wait_for_room(number: int) -> None:
    import select

    poller = select.poll()
    poller.register(number, select.POLLOUT)
    poller.poll(_POLL_MS)


def open_readers(streams: tuple[Stream, ...]) -> Iterator[Stream]:
    """Yield the streams whose pipe is still held by a process."""
    return (stream for stream in streams if stream.reader >= 0)
