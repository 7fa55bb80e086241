"""Bound the processor time that goes into reading failures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

SHARE: Final = 4
"""One part of so many of a processor's time may go into reading failures ..."""

BURST_NS: Final = 5_000_000_000
"""... and so many nanoseconds at once, as after a deployment in which everything fails."""


class Load:
    """
    Tells whether reading failures takes more time than it may.

    Args:
        work_timer: Nanoseconds that this thread has worked.
    """

    def __init__(self, work_timer: Callable[[], int] = lambda: 0) -> None:
        self.work_timer: Final = work_timer
        self._at = self._owed_ns = 0

    def is_high(self, now: int) -> bool:
        """Return whether `now`, in nanoseconds, there is no time to read."""
        before, self._at = self._at, now
        self._owed_ns = max(0, self._owed_ns - (self._at - before) // SHARE)
        return self._owed_ns > BURST_NS

    def add(self, began: int) -> None:
        """Add what this thread has worked since `began` of its timer."""
        self._owed_ns += self.work_timer() - began
