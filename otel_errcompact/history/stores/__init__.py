"""Where the state of runs lives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from otel_errcompact.history.history import History


class StoredRun(Protocol):
    """What a store reads of the state of a run."""

    run_id: str
    history: History
    raw_characters: int
    """Characters of raw errors that the state holds."""


S = TypeVar("S", bound=StoredRun)


class Store(Protocol[S]):
    """Where the state of runs lives."""

    evicted_runs: int
    """Runs that were forgotten to bound memory."""

    def edit(self, run_id: str, create: Callable[[str], S]) -> AbstractContextManager[S]:
        """Return the run's state, alone under the run's lock; a run that is unknown is created."""
        ...

    def find(self, run_id: str) -> AbstractContextManager[S | None]:
        """Return the run's state, alone under the run's lock; None for a run that is unknown."""
        ...

    def is_held(self, run_id: str) -> bool:
        """Return whether this thread is at work on the run: it was interrupted by a signal handler or a finaliser."""
        ...

    def account(self, state: S) -> None:
        """Bring the store's totals up to date after a run was edited; it is not handed out any more."""
        ...

    def run_ids(self) -> tuple[str, ...]:
        """Return the ids of all known runs, least recently used first."""
        ...

    def discard(self, run_id: str) -> S | None:
        """Forget a run and return its last state."""
        ...
