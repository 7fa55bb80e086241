"""Find out whether a line of a shell takes an output."""

from __future__ import annotations

import os
import stat
from itertools import takewhile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Final

_MAX_SHELLS: Final = 3
_SHELLS: Final = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ksh93", "mksh", "fish", "busybox"})
_OUTPUT: Final = "1"
START_TIME: Final = 19
"""Where it stands in what Linux says behind the name of a process."""


def leads_to_line(number: int, *, shells_alone: bool) -> bool:
    """
    Return whether the line that we stand in reads a stream.

    Its next command does in `errcompact exec -- make-rows | load`, where a digest would be loaded, and its shell in
    `x=$(errcompact exec -- make-rows)`. Only Linux says so; elsewhere the host is taken for the reader.
    """
    try:
        own = os.fstat(number)
        return stat.S_ISFIFO(own.st_mode) and any(
            _reads_pipe(process, own) for process in _list_neighbours(shells_alone=shells_alone)
        )
    except OSError:
        return False


def leads_to_host(own: os.stat_result) -> bool:
    """
    Return whether our shells print to a file and nowhere else.

    That is not so in `errcompact exec -- make-rows > rows 2>&1`, nor with braces before the redirection.
    """
    try:
        inherited = set(os.listdir("/proc/self/fd"))  # noqa: PTH208 - pathlib costs more
        return all(
            os.path.samestat(found, own)
            for process in takewhile(lambda each: each == os.getppid() or _is_shell(each), _list_ancestors())
            for name, found in _list_open(process, stat.S_IWUSR)
            if name == _OUTPUT or name not in inherited
        )
    except OSError:
        return False


def _list_neighbours(*, shells_alone: bool) -> Iterator[int]:
    # Commands of one line are children of one shell. A command in the background may have lost it, but not its group.
    if _is_shell(os.getpgrp()):
        yield os.getpgrp()
    before = os.getpid()
    for process in _list_ancestors():
        if _is_shell(process):
            yield process
        if not shells_alone:
            try:
                with open(f"/proc/{process}/task/{process}/children", "rb", buffering=0) as file:  # noqa: PTH123 - as above
                    yield from (child for child in map(int, file.read().split()) if child != before)
            except OSError:
                return
        before = process


def _list_ancestors() -> Iterator[int]:
    # A shell is in our group, and so may be a shell around that.
    process = os.getppid()
    for _ in range(_MAX_SHELLS):
        yield process
        _, fields = read_stat(process)
        if not fields or int(fields[2]) != os.getpgrp():
            return
        process = int(fields[1])


def read_stat(process: int) -> tuple[str, list[str]]:
    """Return a process's name and the fields behind it, on Linux."""
    try:
        with open(f"/proc/{process}/stat", "rb", buffering=0) as file:  # noqa: PTH123 - as above
            line = file.read().decode(errors="replace")
    except OSError:
        return "", []
    name, _, rest = line.partition("(")[2].rpartition(")")
    return name, rest.split()


def _is_shell(process: int) -> bool:
    try:
        return os.readlink(f"/proc/{process}/exe").rpartition("/")[2] in _SHELLS  # noqa: PTH115 - as above
    except OSError:
        return False


def _reads_pipe(process: int, pipe: os.stat_result) -> bool:
    try:
        return any(os.path.samestat(found, pipe) for _, found in _list_open(process, stat.S_IRUSR))
    except OSError:
        return False


def _list_open(process: int, mode: int) -> Iterator[tuple[str, os.stat_result]]:
    folder = f"/proc/{process}/fd"
    for name in os.listdir(folder):  # noqa: PTH208 - as above
        path = f"{folder}/{name}"
        if os.lstat(path).st_mode & mode:
            yield name, os.stat(path)  # noqa: PTH116 - as above
