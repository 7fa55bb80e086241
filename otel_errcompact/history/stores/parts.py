"""
A run as parts of text, which a backend shares between processes.

A part is what changes together: the counts, the settings, one error class. Each carries the version of the run that has
written it last, so that a process reads what others have changed since it looked last, and writes what it has changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

from otel_errcompact.history.stores import StoredRun
from otel_errcompact.runtime.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

S_contra = TypeVar("S_contra", bound=StoredRun, contravariant=True)


class StoreAwayError(Exception):
    """The backend cannot be reached, or does not answer in time."""


class LostChangeError(StoreAwayError):
    """Another process has changed the run in the middle of a change."""


class UnreadableRunError(Exception):
    """
    The backend has a run whose state cannot be read.

    Args:
        run_id: The run's id.
        why: What is wrong with it.
    """

    def __init__(self, run_id: str, why: str) -> None:
        shown = run_id.encode("utf-8", "backslashreplace").decode("utf-8")
        super().__init__(f"run {shown} of the store cannot be read ({why})")
        self.run_id = run_id


@dataclass(frozen=True, slots=True)
class Parts:
    """What a backend holds of a run."""

    version: int
    """Rises with every change of the run; 0 where the backend does not know it."""

    bodies: Mapping[str, str]
    """
    The parts that are newer than the version asked about, by name.

    All parts, where that version is newer than the run's: the backend has lost it, as by a return to a backup.
    """


class Backend(Protocol):
    """
    Where the parts of runs are kept: a database, a server.

    All methods raise `StoreAwayError`. One thread calls at a time, and one change is open at a time.
    """

    @property
    def name(self) -> str:
        """What it is called in messages: its address without a password."""
        ...

    def begin(self, run_id: str, known: int) -> Parts:
        """Open a change, which locks the run until it ends."""
        ...

    def commit(self, run_id: str, parts: Mapping[str, str | None], stamp: str) -> int:
        """
        Write parts, end the change and return the run's new version.

        Args:
            run_id: The run's id.
            parts: New bodies by name; None removes a part.
            stamp: The writer's name and the number of its commit, with a blank between.

        Raises:
            LostChangeError: The run is not what `begin` has returned, or locked by another process; nothing is written.
            StoreAwayError: It is not known whether anything is written.
        """
        ...

    def has_committed(self, run_id: str, stamp: str) -> bool:
        """Return whether a commit was written although its answer was lost."""
        ...

    def cancel(self, run_id: str) -> None:
        """End the change without writing; raises nothing."""
        ...

    def remove(self, run_id: str) -> None:
        """Forget the run within its change, and end the change."""
        ...

    def read(self, run_id: str, known: int) -> Parts:
        """Return the parts newer than `known`, inside a change or not."""
        ...

    def may_have_changed(self, run_id: str, known: int) -> bool:
        """Return whether a run may be newer than `known`, at little cost."""
        ...

    def run_ids(self) -> tuple[str, ...]:
        """Return the ids of all runs that have not expired."""
        ...

    def leave_to_parent(self) -> None:
        """Let go of what a forked child must not even close."""
        ...

    def close(self) -> None:
        """Close the connection."""
        ...


class Codec(Protocol[S_contra]):
    """Writes the state of a run as parts, and reads it."""

    def dump(self, state: S_contra, marks: dict[str, object]) -> dict[str, str | None]:
        """
        Return the parts that have changed; None for those that are gone.

        Args:
            state: The state of the run.
            marks: What was written or read last, by part: updated.
        """
        ...

    def load(self, state: S_contra, bodies: Mapping[str, str], marks: dict[str, object], *, whole: bool) -> bool:
        """
        Take over parts; return False where all parts are needed.

        Args:
            state: The state of the run.
            bodies: Parts by name.
            marks: As for `dump`.
            whole: Whether these are all parts of the run.

        Raises:
            ValueError: A newer version of this library has written them.
        """
        ...
