"""The listeners of a ledger: none is called under a run's lock."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from otel_errcompact.compactor.classify import Classified
    from otel_errcompact.engine.observations import BegunRun, Observation, Refusal, Resumed, Success
    from otel_errcompact.engine.report import RunReport
    from otel_errcompact.errors import RawError
    from otel_errcompact.escalator.escalation import AnsweredEscalation, Escalation
    from otel_errcompact.history.history import ErrorClass
    from otel_errcompact.runtime.guard import Guard

    _Guarded = tuple[tuple[AbstractContextManager[object], "Listener"], ...]


class Listener:
    """
    Receives what happens in runs, outside any lock.

    Override the methods you need.
    """

    stage = "listener"
    """The name of the listener in the log, should it fail."""

    def on_raw(self, run_id: str, raw: RawError) -> None:
        """Keep the raw error; called before anything else is done with it."""

    def on_observed(self, observation: Observation) -> None:
        """Receive one occurrence."""

    def on_handled(self, run_id: str, agent: str, raw: RawError, found: Classified) -> None:
        """Receive a failure inside a call that in the end succeeded."""

    def on_begin(self, begun: BegunRun) -> None:
        """
        Receive a run at its first failure.

        A run without failures is only ended. Of a run that other processes have too, each process hears of it at its
        own first failure, or when it joins or changes a run that has failed elsewhere.
        """

    def on_changed(self, begun: BegunRun) -> None:
        """Receive the new settings of a run that has begun."""

    def on_succeeded(self, success: Success) -> None:
        """Receive a success in a run in which something has failed."""

    def on_resolved(self, run_id: str, agent: str, tool: str, resolved: tuple[ErrorClass, ...]) -> None:
        """Receive classes whose operation has succeeded again."""

    def on_taken_back(self, run_id: str, agent: str, tool: str, error_class: ErrorClass) -> None:
        """Receive a resolved class that is open again after the same failure."""

    def on_repeated(self, run_id: str, agent: str, tool: str) -> None:
        """Receive an identical call that succeeded again with the same result."""

    def on_refused(self, refusal: Refusal) -> None:
        """Receive an identical call that was not executed again."""

    def on_escalated(self, escalation: Escalation) -> None:
        """Receive an escalation, before it is answered."""

    def on_answered(self, answered: AnsweredEscalation) -> None:
        """Receive an escalation and its answer."""

    def on_resumed(self, resumed: Resumed) -> None:
        """Receive a run that a human resumed without an open escalation."""

    def on_run_end(self, report: RunReport) -> None:
        """Receive the account of a run at its end."""

    def on_evicted(self, report: RunReport) -> None:
        """
        Receive the account of a run evicted to bound memory.

        It was never opened.
        """


class Listeners:
    """
    Holds the listeners of a ledger and isolates their faults.

    A fault is counted and does not reach the other listeners.

    Args:
        guard: Keeps failing listeners away from the application.
    """

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._all: _Guarded = ()
        self._of_raw: _Guarded = ()
        self._of_observed: _Guarded = ()
        self._of_success: _Guarded = ()

    def __len__(self) -> int:
        return len(self._all)

    @property
    def want_successes(self) -> bool:
        """Whether a listener receives successes."""
        return bool(self._of_success)

    def add(self, listener: Listener) -> None:
        """Notify `listener` of everything from now on."""
        self._set((*(known for _, known in self._all), listener))

    def remove(self, listener: Listener) -> None:
        """Notify `listener` no more."""
        self._set(tuple(known for _, known in self._all if known is not listener))

    def notify(self, call: Callable[[Listener], None]) -> None:
        """Call `call` with each listener."""
        for stage, listener in self._all:
            with stage:
                call(listener)

    def notify_raw(self, run_id: str, raw: RawError) -> None:
        """Notify of a raw error."""
        for stage, listener in self._of_raw:
            with stage:
                listener.on_raw(run_id, raw)

    def notify_observed(self, observation: Observation) -> None:
        """Notify of an occurrence."""
        for stage, listener in self._of_observed:
            with stage:
                listener.on_observed(observation)

    def notify_success(self, success: Success) -> None:
        """Notify of a success."""
        for stage, listener in self._of_success:
            with stage:
                listener.on_succeeded(success)

    def _set(self, listeners: tuple[Listener, ...]) -> None:
        self._all = tuple((self._guard.stage(listener.stage), listener) for listener in listeners)
        # Mostly no listener receives raw errors or successes, and each call would pay for asking.
        self._of_raw = tuple(one for one in self._all if _overrides(one[1].on_raw, Listener.on_raw))
        self._of_observed = tuple(one for one in self._all if _overrides(one[1].on_observed, Listener.on_observed))
        self._of_success = tuple(one for one in self._all if _overrides(one[1].on_succeeded, Listener.on_succeeded))


def _overrides(method: object, base: object) -> bool:
    return getattr(method, "__func__", None) is not base
