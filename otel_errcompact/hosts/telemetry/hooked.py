"""The runs that hooks report, which telemetry leaves to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.runtime.bounded import BoundedTable

if TYPE_CHECKING:
    from otel_errcompact.engine.observations import Verdict
    from otel_errcompact.hosts.calls import Answer, HostCall, HostResult, HostRuns

MAX_RUNS: Final = 4_096
"""Runs that are remembered, the newest."""


class HookedRuns:
    """
    Passes on what hooks report, and remembers their runs.

    Args:
        inner: The runs of the service.
    """

    def __init__(self, inner: HostRuns) -> None:
        self._inner = inner
        self._reported: BoundedTable[str, bool] = BoundedTable(MAX_RUNS)

    def reports(self, run_id: str) -> bool:
        """Return whether a hook has reported a call of a run."""
        return self._reported.get(run_id) is not None

    def refuse(self, call: HostCall) -> str:
        """Return why a call must not be executed; empty if it may."""
        self._reported.put(call.run_id, True)
        return self._inner.refuse(call)

    def conclude(self, call: HostCall, result: HostResult, *, is_read: bool = True) -> Answer:
        """Judge and count what a call has returned."""
        self._reported.put(call.run_id, True)
        return self._inner.conclude(call, result, is_read=is_read)

    def begin_turn(self, run_id: str) -> None:
        """Begin a turn."""
        self._inner.begin_turn(run_id)

    def verdict(self, run_id: str) -> Verdict:
        """Return whether the run may continue."""
        return self._inner.verdict(run_id)

    def list_stopped(self, run_id: str) -> tuple[str, ...]:
        """Return those of a run and its sub-agents that are stopped."""
        return self._inner.list_stopped(run_id)

    def resume(self, run_id: str, message: str = "") -> None:
        """Let a stopped run continue, with a human's message for the agent."""
        self._inner.resume(run_id, message)

    def end(self, run_id: str) -> None:
        """End a run, unless a verdict stands."""
        self._inner.end(run_id)
