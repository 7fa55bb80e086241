"""What is counted and kept in bounded memory."""

from __future__ import annotations

import heapq
from collections import Counter
from dataclasses import dataclass, field
from itertools import count
from typing import Final, Generic, TypeVar

MAX_CELLS: Final = 128
"""Cells beyond which two neighbours each become one."""


class Histogram:
    """
    Counts along an axis of whole numbers, in bounded memory.

    Cells begin one wide and become as coarse as they must: never more than a 64th of the counted range.
    """

    def __init__(self) -> None:
        self._width = 1
        self._cells: Counter[int] = Counter()

    def add(self, at: int) -> None:
        """Count one at a place."""
        self._cells[at // self._width] += 1
        while len(self._cells) > MAX_CELLS:
            self._width *= 2
            halved: Counter[int] = Counter()
            for cell, number in self._cells.items():
                halved[cell // 2] += number
            self._cells = halved

    def bins(self, first: int, last: int, number: int) -> tuple[int, ...]:
        """Return the counts in `number` equal bins from `first` to `last`."""
        found = [0] * number
        for cell, counted in self._cells.items():
            middle = min(max(cell * self._width + self._width // 2, first), last)
            found[(middle - first) * number // (last - first + 1)] += counted
        return tuple(found)


Entry = TypeVar("Entry")


class Best(Generic[Entry]):
    """The entries of the highest ranks; of one rank, the first ones."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._serial = count()
        self._heap: list[tuple[int, int, Entry]] = []

    def __len__(self) -> int:
        return len(self._heap)

    def add(self, entry: Entry, rank: int) -> Entry | None:
        """Add an entry; return the one that goes, if any."""
        kept = rank, -next(self._serial), entry
        if len(self._heap) < self._limit:
            heapq.heappush(self._heap, kept)
            return None
        return heapq.heappushpop(self._heap, kept)[2]

    def entries(self) -> tuple[Entry, ...]:
        """Return what was kept, the highest rank first."""
        return tuple(entry for _, _, entry in sorted(self._heap, key=lambda kept: kept[:2], reverse=True))


@dataclass(slots=True)
class Room:
    """Characters that are left for the time lines of all runs."""

    left: int


@dataclass(slots=True)
class Share:
    """The room that one run takes."""

    room: Room
    most: int
    taken: int = field(default=0, init=False)

    def take(self, size: int) -> bool:
        """Take room if there is enough, and return whether there was."""
        if self.taken + size > self.most or size > self.room.left:
            return False
        self.taken += size
        self.room.left -= size
        return True

    def give_back(self, size: int) -> None:
        """Give room back to all runs."""
        self.taken -= size
        self.room.left += size
