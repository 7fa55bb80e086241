"""Where the state of runs lives."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from otel_errcompact.history.history import History


class StoredRun(Protocol):
    """What a store reads of the state of a run."""

    run_id: str
    history: History
    attended: bool
    """Whether the application has opened the run and passes its gates."""

    raw_characters: int
    """Characters of raw errors that the state holds."""

    @property
    def is_open_here(self) -> bool:
        """Whether this process has opened the run and not left it."""
        ...

    @property
    def newest_tick(self) -> int:
        """The newest tick that the state holds."""
        ...

    def drop_raw(self) -> None:
        """Forget the raw errors, to bound memory."""
        ...


S = TypeVar("S", bound=StoredRun)


class Store(Protocol[S]):
    """Where the state of runs lives."""

    is_shared: ClassVar[bool]
    """Whether other processes work on the same runs."""

    @property
    def evicted_runs(self) -> int:
        """Runs that were forgotten to bound memory."""
        ...

    def next_tick(self) -> int:
        """Return the next tick, which orders calls, failures and successes."""
        ...

    def edit(self, run_id: str, create: Callable[[str], S]) -> AbstractContextManager[S]:
        """Return a run's state, new if unknown, under the run's lock."""
        ...

    def find(self, run_id: str) -> AbstractContextManager[S | None]:
        """Return a run's state under its lock, or None if unknown."""
        ...

    def view(self, run_id: str) -> AbstractContextManager[S | None]:
        """Return a run's state to read it, or None if unknown."""
        ...

    def repeat_later(self, run_id: str, change: Callable[[S], object], *, characters: int = 0) -> None:
        """
        Make the change under way again, should others miss it.

        Args:
            run_id: The run's id.
            change: Makes the change.
            characters: How many characters of text it holds.
        """
        ...

    def peek(self, run_id: str) -> S | None:
        """
        Return a run's state without its lock, or None if unknown.

        For one look that most calls end with: at one attribute, which another thread may change meanwhile.
        """
        ...

    def is_held(self, run_id: str) -> bool:
        """
        Return whether this thread already holds the run.

        A signal handler or a finaliser has interrupted it.
        """
        ...

    def account(self, state: S) -> None:
        """
        Update the store's totals after an edit of a run.

        The edit is over: the state is not handed out any more.
        """
        ...

    def run_ids(self) -> tuple[str, ...]:
        """Return the ids of all known runs."""
        ...

    def states(self) -> tuple[S, ...]:
        """
        Return the states of all known runs.

        Their locks are not held: read only numbers of them.
        """
        ...

    def discard(self, run_id: str, *, unless: Callable[[S], bool] = ...) -> S | None:
        """
        Forget a run and return its last state.

        Args:
            run_id: The run's id.
            unless: Called with the state; where it returns true, the run stays.
        """
        ...
