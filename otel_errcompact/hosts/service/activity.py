"""When the service was last asked for anything."""

from __future__ import annotations

import time
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class Activity:
    """
    Measures for how long no request has come.

    Args:
        clock: Seconds, monotonic.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._newest = clock()
        self._open = 0

    def begin(self) -> None:
        """Note the begin of a request."""
        with self._lock:
            self._open += 1

    def note(self) -> None:
        """Note a request that is over at once."""
        self.begin()
        self.end()

    def end(self) -> None:
        """Note its end."""
        with self._lock:
            self._open -= 1
            self._newest = self._clock()

    @property
    def idle_seconds(self) -> float:
        """Seconds since the last request has ended; 0 while one is open."""
        with self._lock:
            return 0.0 if self._open else self._clock() - self._newest
