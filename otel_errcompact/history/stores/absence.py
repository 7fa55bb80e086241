"""The changes that a backend misses while it is away."""

from __future__ import annotations

import logging
import time
from collections import deque
from typing import TYPE_CHECKING, Final, Generic, NamedTuple

from otel_errcompact.history.stores import S

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_MISSED: Final = 10_000
"""Changes that are made again when the backend is back; of more, the oldest stay in this process."""

FIRST_WAIT_S: Final = 0.5
LAST_WAIT_S: Final = 30.0
"""The backend is tried again after the first wait, then after twice as long each time, up to the last."""

_logger: Final = logging.getLogger("otel_errcompact")


class Missed(NamedTuple, Generic[S]):
    """A change that was made in this process alone."""

    run_id: str
    again: Callable[[S], object]
    """Makes the change once more."""

    removes: bool
    """Whether the run was forgotten with it, unless `again` says that it stays."""

    stamp: str
    """What the backend may have noted it under, though its answer was lost; empty if it surely has not."""


class Absence(Generic[S]):
    """
    Knows whether a backend is away, and what it has missed.

    Args:
        name: What the backend is called in messages, without a password.
        count: Called for each change that stays in this process.
        clock: Seconds, monotonic.
    """

    def __init__(self, name: str, count: Callable[[], object], *, clock: Callable[[], float] = time.monotonic) -> None:
        self._name = name
        self._count = count
        self._clock = clock
        self.missed: deque[Missed[S]] = deque(maxlen=MAX_MISSED)
        self._until: float | None = None
        self._wait_s = FIRST_WAIT_S

    @property
    def lasts(self) -> bool:
        """Whether the backend is not to be asked yet."""
        return self._until is not None and self._clock() < self._until

    def begin(self, error: Exception) -> None:
        """Note that the backend did not answer; log the first time."""
        if self._until is None:
            _logger.warning(
                "the store of runs %s is away (%s): runs are counted in this process alone until it is back",
                self._name,
                error,
            )
            self._wait_s = FIRST_WAIT_S
        else:
            self._wait_s = min(2 * self._wait_s, LAST_WAIT_S)
        self._until = self._clock() + self._wait_s

    def ask_again(self) -> None:
        """Ask the backend at the next change, however soon that is."""
        if self._until is not None:
            self._until = self._clock()

    def end(self, number: int) -> None:
        """Note that the backend is back, and has caught up `number` changes."""
        if self._until is not None:
            _logger.warning("the store of runs %s is back, with %d changes that it had missed", self._name, number)
        self._until = None

    def add(self, missed: Missed[S] | None) -> None:
        """Count a change that stays in this process, and keep it."""
        self._count()
        if missed is not None:
            self.missed.append(missed)
