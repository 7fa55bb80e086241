"""Standard streams of the command line: closed ones, full disks, gone readers."""

from __future__ import annotations

import errno
import io
import os
import sys
from contextlib import suppress
from typing import Any, Final

from otel_errcompact.exceptions import ErrcompactError

_STANDARD_ERROR: Final = 2


class OutputError(ErrcompactError, OSError):
    """Standard output takes no more text."""


class ReaderGoneError(OutputError):
    """The program behind the pipe has ended, as `head` does."""


class _Descriptor(io.FileIO):
    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError as error:
            raise ReaderGoneError from error
        except OSError as error:
            reason = "it is closed" if error.errno == errno.EBADF else error.strerror
            raise OutputError(
                f"standard output: cannot be written ({reason}); send it to a file on a disk with room"
            ) from error


def guard_streams() -> None:
    """Make standard streams usable, and failed writes of output an `OutputError`."""
    # A closed descriptor would be given to the next file that is opened.
    while (number := os.open(os.devnull, os.O_RDONLY)) <= _STANDARD_ERROR:
        pass
    os.close(number)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - for the life of the process
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    descriptor = _Descriptor(1, "w", closefd=False)
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(descriptor),
        encoding=getattr(sys.stdout, "encoding", None) or "utf-8",
        # What a terminal's encoding cannot show is escaped, not a fault.
        errors="backslashreplace",
        line_buffering=is_terminal,
    )


def drop_output() -> None:
    """Drop unwritten output, which would fail again at exit."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
