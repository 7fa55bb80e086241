"""The state of runs in this process's memory, bounded."""

from __future__ import annotations

from collections import OrderedDict
from contextlib import nullcontext
from dataclasses import field
from typing import TYPE_CHECKING, Final, Generic

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
    """Runs in this process."""

    classes_per_run: int = setting(default=100, ge=1)
    """Error classes of one run."""

    classes: int = setting(default=5_000, ge=1)
    """Error classes of all runs together."""

    raw_characters: int = setting(default=4_000_000, ge=1_000)
    """Characters of raw errors kept for `run.raw()`, of all runs together."""

    raw_text_characters: int = setting(default=100_000, ge=1_000)
    """Characters of one such raw error; a longer one loses its middle, visibly. The trajectory keeps it whole."""


@dataclass(slots=True)
class _Entry(Generic[S]):
    state: S
    lock: ReentrantLock = field(default_factory=ReentrantLock)
    classes: int = 0
    characters: int = 0
    """What the store's totals count for this run."""


class MemoryStore(Generic[S]):
    """
    Holds the state of runs in this process's memory.

    A child process starts empty after a fork.

    Args:
        limits: How much is remembered.
        on_evict: Called with the state of each run that had to go; not under the run's lock.
    """

    def __init__(self, limits: MemoryLimits | None = None, on_evict: Callable[[S], object] = lambda _: None) -> None:
        self._limits = limits or MemoryLimits()
        self._on_evict = on_evict
        self._reset()
        reset_in_child(self._reset)

    def edit(self, run_id: str, create: Callable[[str], S]) -> AbstractContextManager[S]:
        """Return a run's state, new if unknown, under the run's lock."""
        with self._lock:
            entry = self._entries.get(run_id)
            if entry is None:
                entry = self._entries[run_id] = _Entry(create(run_id))
            else:
                self._entries.move_to_end(run_id)
        return Held(entry.lock, entry.state)

    def find(self, run_id: str) -> AbstractContextManager[S | None]:
        """Return a run's state under its lock, or None if unknown."""
        entry = self._entries.get(run_id)
        return _NOTHING if entry is None else Held(entry.lock, entry.state)

    def is_held(self, run_id: str) -> bool:
        """
        Return whether this thread already holds the run.

        A signal handler or a finaliser has interrupted it.
        """
        entry = self._entries.get(run_id)
        return entry is not None and entry.lock.is_mine()

    def discard(self, run_id: str) -> S | None:
        """Forget a run and return its last state."""
        with self._lock:
            entry = self._entries.pop(run_id, None)
            if entry is None:
                return None
            self._forget(entry)
        with entry.lock:
            return entry.state

    def run_ids(self) -> tuple[str, ...]:
        """Return the ids of all known runs, least recently used first."""
        with self._lock:
            return tuple(self._entries)

    def states(self) -> tuple[S, ...]:
        """Return the states of all known runs to read numbers of, not under their locks."""
        with self._lock:
            entries = tuple(self._entries.values())
        return tuple([entry.state for entry in entries])

    def account(self, state: S) -> None:
        """Update the totals after an edit, and evict beyond the limits."""
        classes, characters = len(state.history), state.raw_characters
        entry = self._entries.get(state.run_id)
        known = entry is not None and classes == entry.classes and characters == entry.characters
        if known and len(self._entries) <= self._limits.runs:
            return
        with self._lock:
            if entry is not None and self._entries.get(state.run_id) is entry and entry.state is state:
                self._classes += classes - entry.classes
                self._characters += characters - entry.characters
                entry.classes, entry.characters = classes, characters
            evicted = self._evict()
        for gone in evicted:
            # Not under the run's lock: the thread that evicts it may hold it.
            self._on_evict(gone.state)

    def _evict(self) -> list[_Entry[S]]:
        evicted: list[_Entry[S]] = []
        while len(self._entries) > 1 and self._over():
            _, entry = self._entries.popitem(last=False)
            self._forget(entry)
            evicted.append(entry)
        self.evicted_runs += len(evicted)
        return evicted

    def _over(self) -> bool:
        limits = self._limits
        return (
            len(self._entries) > limits.runs
            or self._classes > limits.classes
            or self._characters > limits.raw_characters
        )

    def _forget(self, entry: _Entry[S]) -> None:
        self._classes -= entry.classes
        self._characters -= entry.characters

    def _reset(self) -> None:
        self._lock = ReentrantLock()
        self._entries: OrderedDict[str, _Entry[S]] = OrderedDict()
        self._classes = 0
        self._characters = 0
        self.evicted_runs = 0


_NOTHING: Final = nullcontext(None)
