"""The state of runs in this process's memory, bounded."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from contextlib import nullcontext
from dataclasses import field
from typing import TYPE_CHECKING, ClassVar, Final, Generic

from otel_errcompact.history.stores import S
from otel_errcompact.runtime.forks import reset_in_child
from otel_errcompact.runtime.locks import Held, ReentrantLock
from otel_errcompact.runtime.models import FrozenModel, setting
from otel_errcompact.runtime.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager


class MemoryLimits(FrozenModel):
    """How much is remembered; the least recently used goes first."""

    runs: int = setting(default=1_000, ge=1)
    """Runs in this process that are known from their spans alone; see `OPEN_ROOM` for those that a program opens."""

    classes_per_run: int = setting(default=100, ge=1)
    """Error classes of one run."""

    classes: int = setting(default=5_000, ge=1)
    """Error classes of all runs together that are known from their spans alone."""

    raw_characters: int = setting(default=4_000_000, ge=1_000)
    """Characters of raw errors kept for `run.raw()`, of all runs together: of open runs, and of all others."""

    raw_text_characters: int = setting(default=100_000, ge=1_000)
    """Characters of one such raw error; a longer one loses its middle, visibly. The trajectory keeps it whole."""


OPEN_ROOM: Final = 5
"""
How many times `MemoryLimits.classes` the open runs and their classes may be together.

A program goes through the gate of a run that it has opened for as long as that is open, so that its streaks are kept:
what bounds such runs is their size, and not their number. One in which nothing has failed counts as one class.
"""


@dataclass(slots=True, eq=False)
class _Entry(Generic[S]):
    state: S
    pool: _Pool[S]
    """The pool that counts it."""

    lock: ReentrantLock = field(default_factory=ReentrantLock)
    classes: int = 0
    characters: int = 0
    """What the totals of its pool count for this run."""


class _Pool(Generic[S]):
    """
    Runs with a bound of their own, least recently used first.
    """

    def __init__(self) -> None:
        self.entries: Final[OrderedDict[str, _Entry[S]]] = OrderedDict()
        self.with_texts: Final[OrderedDict[str, _Entry[S]]] = OrderedDict()
        """Those that hold raw errors."""

        self.classes = 0
        self.characters = 0

    # An interrupt may land between any two of these lines: what it leaves out is put right by the next edit.

    def use(self, entry: _Entry[S]) -> None:
        """Make a run the most recently used one."""
        run_id = entry.state.run_id
        self.entries[run_id] = entry
        self.entries.move_to_end(run_id)

    def count(self, entry: _Entry[S], classes: int, characters: int) -> None:
        """Count a run that is new here, or has changed."""
        run_id = entry.state.run_id
        if entry.pool is not self:
            entry.pool.remove(entry)
            entry.pool = self
        self.entries[run_id] = entry
        self.classes += classes - entry.classes
        self.characters += characters - entry.characters
        entry.classes, entry.characters = classes, characters
        if characters:
            self.with_texts[run_id] = entry
            self.with_texts.move_to_end(run_id)

    def remove(self, entry: _Entry[S]) -> None:
        """Count a run no more."""
        run_id = entry.state.run_id
        self.entries.pop(run_id, None)
        self.with_texts.pop(run_id, None)
        self.classes -= entry.classes
        self.characters -= entry.characters
        entry.classes = entry.characters = 0


class MemoryStore(Generic[S]):
    """
    Holds the state of runs in this process's memory.

    A child process starts empty after a fork.

    Beyond the limits runs that are known from their spans alone are forgotten. Open runs lose their raw errors first,
    and are forgotten only beyond `OPEN_ROOM`.

    Args:
        limits: How much is remembered.
        on_evict: Called with the state of each run that had to go; not under the run's lock.
    """

    is_shared: ClassVar[bool] = False

    def __init__(self, limits: MemoryLimits | None = None, on_evict: Callable[[S], object] = lambda _: None) -> None:
        self._ticks: Final = itertools.count(1)
        self._limits = limits or MemoryLimits()
        self._on_evict = on_evict
        self._reset_entries()
        reset_in_child(self._reset_entries)

    def edit(self, run_id: str, create: Callable[[str], S]) -> AbstractContextManager[S]:
        """Return a run's state, new if unknown, under the run's lock."""
        with self._lock:
            entry = self._entries.get(run_id)
            if entry is None:
                entry = self._entries[run_id] = _Entry(create(run_id), self._others)  # until it proves to be open
            entry.pool.use(entry)
        return Held(entry.lock, entry.state)

    def find(self, run_id: str) -> AbstractContextManager[S | None]:
        """Return a run's state under its lock, or None if unknown."""
        entry = self._entries.get(run_id)
        return _NOTHING if entry is None else Held(entry.lock, entry.state)

    view = find

    def repeat_later(self, run_id: str, change: Callable[[S], object], *, characters: int = 0) -> None:
        """Do nothing: no change of these runs can be missed elsewhere."""

    def next_tick(self) -> int:
        """Return the next tick, which orders calls, failures and successes."""
        return next(self._ticks)

    def peek(self, run_id: str) -> S | None:
        """Return a run's state without its lock, or None if unknown."""
        entry = self._entries.get(run_id)
        return None if entry is None else entry.state

    def is_held(self, run_id: str) -> bool:
        """
        Return whether this thread already holds the run.

        A signal handler or a finaliser has interrupted it.
        """
        entry = self._entries.get(run_id)
        return entry is not None and entry.lock.is_mine()

    def discard(self, run_id: str, *, unless: Callable[[S], bool] = lambda _: False) -> S | None:
        """
        Forget a run and return its last state.

        Args:
            run_id: The run's id.
            unless: Called with the state; where it returns true, the run stays.
        """
        with self.find(run_id) as state:
            if state is not None and unless(state):
                return state
        with self._lock:
            entry = self._entries.pop(run_id, None)
            if entry is None:
                return None
            entry.pool.remove(entry)
        with entry.lock:
            return entry.state

    def run_ids(self) -> tuple[str, ...]:
        """Return the ids of all known runs, open ones last."""
        with self._lock:
            return (*self._others.entries, *self._open.entries)

    def states(self) -> tuple[S, ...]:
        """
        Return the states of all known runs.

        Their locks are not held: read only numbers of them.
        """
        with self._lock:
            entries = (*self._others.entries.values(), *self._open.entries.values())
        return tuple([entry.state for entry in entries])

    def account(self, state: S) -> None:
        """Update the totals after an edit, and evict beyond the limits."""
        classes, characters = len(state.history), state.raw_characters
        pool = self._open if state.attended else self._others
        entry = self._entries.get(state.run_id)
        known = entry is not None and entry.pool is pool and entry.classes == classes
        if known and entry is not None and entry.characters == characters and not self._has_too_many():
            return
        with self._lock:
            if entry is not None and self._entries.get(state.run_id) is entry and entry.state is state:
                pool.count(entry, classes, characters)
            evicted = self._evict_open() if pool is self._open else self._evict_others()
            self.evicted_runs += len(evicted)
        for gone in evicted:
            # Not under the run's lock: the thread that evicts it may hold it.
            self._on_evict(gone.state)

    def _has_too_many(self) -> bool:
        return len(self._others.entries) > self._limits.runs

    def _evict_others(self) -> list[_Entry[S]]:
        limits, pool = self._limits, self._others
        evicted: list[_Entry[S]] = []
        while len(pool.entries) > 1 and (
            self._has_too_many() or pool.classes > limits.classes or pool.characters > limits.raw_characters
        ):
            evicted.append(self._forget_oldest(pool))
        return evicted

    def _evict_open(self) -> list[_Entry[S]]:
        limits, pool = self._limits, self._open
        for _ in range(len(pool.with_texts) - 1):
            if pool.characters <= limits.raw_characters:
                break
            self._drop_texts(pool)
        evicted: list[_Entry[S]] = []
        while len(pool.entries) > 1 and len(pool.entries) + pool.classes > OPEN_ROOM * limits.classes:
            evicted.append(self._forget_oldest(pool))
        return evicted

    def _forget_oldest(self, pool: _Pool[S]) -> _Entry[S]:
        run_id, entry = next(iter(pool.entries.items()))
        self._entries.pop(run_id, None)
        pool.remove(entry)
        return entry

    def _drop_texts(self, pool: _Pool[S]) -> None:
        # Of the run that has changed longest ago, unless a thread is at work on it.
        run_id, entry = next(iter(pool.with_texts.items()))
        if entry.lock.is_mine() or not entry.lock.acquire(blocking=False):
            pool.with_texts.move_to_end(run_id)
            return
        try:
            entry.state.drop_raw()
            pool.count(entry, entry.classes, 0)
            pool.with_texts.pop(run_id, None)
        finally:
            entry.lock.release()

    def _reset_entries(self) -> None:
        self._lock = ReentrantLock()
        self._entries: dict[str, _Entry[S]] = {}
        self._open: _Pool[S] = _Pool()
        self._others: _Pool[S] = _Pool()
        self.evicted_runs = 0


_NOTHING: Final = nullcontext(None)
