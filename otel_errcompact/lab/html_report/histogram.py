"""Histograms along an axis whose ends are known last."""

from __future__ import annotations

from collections import Counter
from typing import Final

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
            for cell, count in self._cells.items():
                halved[cell // 2] += count
            self._cells = halved

    def bins(self, first: int, last: int, number: int) -> tuple[int, ...]:
        """Return the counts in `number` equal bins from `first` to `last`."""
        found = [0] * number
        for cell, count in self._cells.items():
            middle = min(max(cell * self._width + self._width // 2, first), last)
            found[(middle - first) * number // (last - first + 1)] += count
        return tuple(found)
