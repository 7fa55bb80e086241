"""The changes that a backend misses while it is away."""

from __future__ import annotations

import logging
import time
from collections import deque
from typing import TYPE_CHECKING, Final, Generic, NamedTuple

from otel_errcompact.history.stores import S
from otel_errcompact.runtime.bounded import BoundedTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from otel_errcompact.history.stores.parts import UnreadableRunError

MAX_MISSED: Final = 10_000
MAX_CHARACTERS: Final = 64_000_000
"""
Changes, and characters of their texts, that are made again when the backend is back.

Of more, the oldest stay in this process.
"""

MAX_UNREADABLE: Final = 1_000
"""Runs of which it is remembered that their state cannot be read, so that it is said once."""

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

    characters: int = 0
    """How many characters of text it holds."""


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
        self.missed: deque[Missed[S]] = deque()
        self._characters = 0
        self._unreadable: BoundedTable[str, bool] = BoundedTable(MAX_UNREADABLE)
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
            _logger.info("the store of runs %s is back, with %d changes that it had missed", self._name, number)
        self._until = None

    def add(self, missed: Missed[S] | None) -> None:
        """Count a change that stays in this process, and keep it."""
        self._count()
        if missed is None:
            return
        self.missed.append(missed)
        self._characters += missed.characters
        while len(self.missed) > MAX_MISSED or self._characters > MAX_CHARACTERS:
            self._characters -= self.missed.popleft().characters

    def remove(self, made: Iterable[Missed[S]]) -> None:
        """Forget changes that are not to be made again."""
        gone = set(map(id, made))
        self.missed = deque(each for each in self.missed if id(each) not in gone)
        self._characters = sum(each.characters for each in self.missed)

    def stamp(self, tried: Iterable[Missed[S]], stamp: str) -> None:
        """Note that the backend may have changes under a new stamp."""
        changed = set(map(id, tried))
        self.missed = deque(each._replace(stamp=stamp) if id(each) in changed else each for each in self.missed)

    def say_unreadable(self, error: UnreadableRunError) -> None:
        """Log, once for each run, that its state cannot be read."""
        if self._unreadable.get(error.run_id) is None:
            self._unreadable.put(error.run_id, True)
            _logger.warning("%s: it is counted in this process alone", error)
