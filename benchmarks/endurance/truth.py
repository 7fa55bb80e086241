"""
What a worker has really done, kept by a mechanism of its own: numbers in a file that is mapped into memory.

They outlive a SIGKILL, need no call of the system, and are read from outside while the worker works. Each lane (a
thread or a task) has its own numbers, so that no lock is needed.
"""

from __future__ import annotations

import mmap
import struct
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

LANES: Final = 16
_LANE: Final = struct.Struct("<QQQ")


class Counts(NamedTuple):
    """
    Failures of a process.
    """

    begun: int
    """Written before the failure is handed in."""

    done: int
    """Written after the library has taken it."""

    unwatched: int
    """Of those that are done: handed in while nothing was installed."""

    under_way: int = 0
    """Lanes that are between the two: what a SIGKILL may cut."""


class Truth:
    """
    The numbers of one process.

    Args:
        path: The file; made where it is missing.
    """

    def __init__(self, path: Path) -> None:
        size = LANES * _LANE.size
        if not path.exists():
            # Whoever looks for it finds it whole.
            path.with_suffix(".new").write_bytes(bytes(size))
            path.with_suffix(".new").replace(path)
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), size)

    def begin(self, lane: int) -> int:
        """Count a failure that is about to be handed in; return its number."""
        begun, done, unwatched = self._read(lane)
        self._write(lane, begun + 1, done, unwatched)
        return begun + 1

    def finish(self, lane: int, *, unwatched: bool = False) -> None:
        """Count a failure that was taken."""
        begun, done, before = self._read(lane)
        self._write(lane, begun, done + 1, before + unwatched)

    def counts(self) -> Counts:
        """Return the sums over all lanes."""
        lanes = [self._read(lane) for lane in range(LANES)]
        sums = [sum(column) for column in zip(*lanes, strict=True)]
        return Counts(*sums, under_way=sum(begun > done for begun, done, _ in lanes))

    def _read(self, lane: int) -> tuple[int, int, int]:
        begun, done, unwatched = _LANE.unpack_from(self._map, lane * _LANE.size)
        return begun, done, unwatched

    def _write(self, lane: int, *numbers: int) -> None:
        _LANE.pack_into(self._map, lane * _LANE.size, *numbers)


def has_arrived(exports: list[int]) -> bool:
    """Return whether the last export of metrics arrived, by the failures that each held; -1 is one that did not."""
    return bool(exports) and exports[-1] >= 0
