"""The listeners of a ledger: none is called under a run's lock."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    from otel_errcompact.runtime.guard import Guard

    _Guarded = tuple[AbstractContextManager[object], Callable[[Any], object]]
    Receivers = Mapping[type[Any], Callable[[Any], object]]
    """What is called with each kind of event."""


class Listener:
    """
    Receives what happens in runs, outside any lock.

    Args:
        receivers: What receives each kind of event; see `engine/events.py`. A subclass returns it.
    """

    stage = "listener"
    """The name of the listener in the log, should it fail."""

    def __init__(self, receivers: Receivers) -> None:
        self._receivers = receivers

    def receivers(self) -> Receivers:
        """Return what receives each kind of event."""
        return self._receivers


class Listeners:
    """
    Holds the listeners of a ledger and isolates their faults.

    A fault is counted and does not reach the other listeners.

    Args:
        guard: Keeps failing listeners away from the application.
    """

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._all: tuple[Listener, ...] = ()
        self._of: dict[type, list[_Guarded]] = {}

    def __len__(self) -> int:
        return len(self._all)

    def add(self, listener: Listener) -> None:
        """Notify `listener` of everything from now on."""
        self._set((*self._all, listener))

    def remove(self, listener: Listener) -> None:
        """Notify `listener` no more."""
        self._set(tuple(known for known in self._all if known is not listener))

    def want(self, kind: type) -> bool:
        """Return whether a listener receives a kind of event."""
        return kind in self._of

    def notify(self, event: object) -> None:
        """Pass an event to those that receive its kind."""
        for stage, receive in self._of.get(type(event), ()):
            with stage:
                receive(event)

    def _set(self, listeners: tuple[Listener, ...]) -> None:
        receivers: defaultdict[type, list[_Guarded]] = defaultdict(list)
        for listener in listeners:
            for kind, receive in listener.receivers().items():
                receivers[kind].append((self._guard.stage(listener.stage), receive))
        self._all, self._of = listeners, dict(receivers)
