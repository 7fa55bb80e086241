"""Find out who reads a pipe: the host, or the next command of a line."""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Final

_MAX_SHELLS: Final = 3


def leads_to_command(number: int) -> bool:
    """
    Return whether another command of the same line reads a stream.

    That is so in `errcompact exec -- make-rows | load`, where a digest would be loaded. Only Linux says so; elsewhere
    the host is taken for the reader.

    Args:
        number: The stream's descriptor.
    """
    try:
        own = os.fstat(number)
        return stat.S_ISFIFO(own.st_mode) and any(_reads(process, own) for process in _list_neighbours())
    except OSError:
        return False


def _list_neighbours() -> Iterator[int]:
    # Commands of one line are children of one shell, which is in the same group; so may be a shell around that.
    group, process, parent = os.getpgrp(), os.getpid(), os.getppid()
    for _ in range(_MAX_SHELLS):
        try:
            with open(f"/proc/{parent}/task/{parent}/children", "rb", buffering=0) as file:  # noqa: PTH123 - costs more
                children = file.read()
            with open(f"/proc/{parent}/stat", "rb", buffering=0) as file:  # noqa: PTH123 - as above
                fields = file.read().rpartition(b")")[2].split()
        except OSError:
            return
        yield from (child for child in map(int, children.split()) if child != process)
        if int(fields[2]) != group:
            return
        process, parent = parent, int(fields[1])


def _reads(process: int, pipe: os.stat_result) -> bool:
    folder = f"/proc/{process}/fd"
    try:
        for name in os.listdir(folder):  # noqa: PTH208 - as above
            path = f"{folder}/{name}"
            if os.lstat(path).st_mode & stat.S_IRUSR and os.path.samestat(os.stat(path), pipe):  # noqa: PTH116 - as above
                return True
    except OSError:
        return False
    return False
