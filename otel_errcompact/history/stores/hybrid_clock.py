"""
Ticks that order what several processes do.

A hybrid logical clock (Kulkarni and others, 2014): never behind the time of day, and always after what was seen of
others. So a call that began after a failure was recorded has a later tick, on whichever machine.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from otel_errcompact.runtime.forks import reset_in_child
from otel_errcompact.runtime.locks import ReentrantLock

if TYPE_CHECKING:
    from collections.abc import Callable


class HybridClock:
    """
    Ticks in microseconds since the epoch, each later than all before.

    Args:
        clock_ns: Nanoseconds since the epoch.
    """

    def __init__(self, clock_ns: Callable[[], int] = time.time_ns) -> None:
        self._clock_ns = clock_ns
        self._newest = 0
        self._make_lock()
        reset_in_child(self._make_lock)

    def next_tick(self) -> int:
        """Return the next tick."""
        with self._lock:
            self._newest = max(self._newest + 1, self._clock_ns() // 1_000)
            return self._newest

    def follow(self, tick: int) -> None:
        """Let all further ticks be later than one of another process."""
        if tick > self._newest:
            with self._lock:
                self._newest = max(self._newest, tick)

    def _make_lock(self) -> None:
        self._lock = ReentrantLock()
