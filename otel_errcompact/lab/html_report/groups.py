"""Entries of many runs in groups, in bounded memory."""

from __future__ import annotations

import heapq
from itertools import count
from typing import TYPE_CHECKING, Final, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator

Key = TypeVar("Key")
Entry = TypeVar("Entry")

MAX_GROUPS: Final = 10_000
"""Groups that are counted; entries of further ones are counted together."""

MAX_ENTRIES: Final = 50
"""Entries of one group that have a line on the page; of more, those of the highest rank."""


class Best(Generic[Entry]):
    """
    The entries of the highest ranks; of one rank, the first ones.

    Args:
        limit: How many are kept.
    """

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


class Group(Generic[Entry]):
    """Holds the entries of one group and counts its runs."""

    def __init__(self) -> None:
        self.count = self.runs = self.rank = 0
        self._newest_run = 0
        self._best: Best[Entry] = Best(MAX_ENTRIES)

    def add(self, entry: Entry, *, run: int, rank: int) -> None:
        """Add an entry; those of one run come one after the other."""
        self.count += 1
        self.runs += run != self._newest_run
        self._newest_run = run
        self.rank = max(self.rank, rank)
        self._best.add(entry, rank)

    def entries(self) -> tuple[Entry, ...]:
        """Return the entries that were kept, the highest rank first."""
        return self._best.entries()


class Groups(Generic[Key, Entry]):
    """Groups by what their entries have in common."""

    def __init__(self) -> None:
        self._groups: dict[Key, Group[Entry]] = {}
        self.count = 0
        """Entries, those without a group included."""

    def add(self, key: Key, entry: Entry, *, run: int, rank: int = 0) -> None:
        """Add an entry to its group, while there is room for groups."""
        self.count += 1
        if key in self._groups or len(self._groups) < MAX_GROUPS:
            self._groups.setdefault(key, Group()).add(entry, run=run, rank=rank)

    def best(self, limit: int) -> Iterator[tuple[Key, Group[Entry]]]:
        """Yield the groups of the highest rank, then the largest."""
        groups = sorted(self._groups.items(), key=lambda item: (-item[1].rank, -item[1].count))
        yield from groups[:limit]
