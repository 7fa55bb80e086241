"""Count the calls that telemetry reports, with or without the service."""

from __future__ import annotations

import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Final, Protocol

from opentelemetry import trace

from otel_errcompact.detector.operation import operation_of
from otel_errcompact.detector.results import classify_result
from otel_errcompact.errors import RawError, SpanRef
from otel_errcompact.hosts.calls import Answer
from otel_errcompact.installation.install import current_ledger
from otel_errcompact.runtime.locks import ReentrantLock

if TYPE_CHECKING:
    from collections.abc import Callable

    from otel_errcompact.engine.ledger import Ledger
    from otel_errcompact.hosts.calls import HostCall, HostResult
    from otel_errcompact.hosts.runs import LedgerRuns

IDLE_S: Final = 1_800.0
"""Seconds without a call after which a run has ended."""


_TICKS_S: Final = 1_000_000
"""Ticks of a shared store in a second."""


class Concluding(Protocol):
    """Judges and counts what calls have returned, as `HostRuns` does."""

    def conclude(self, call: HostCall, result: HostResult) -> Answer:
        """Judge and count what a call has returned."""
        ...


class ServiceRuns:
    """
    Counts reported calls in the runs of the local service.

    No agent reads what a report is answered, and each call has a span or log record of its host's.

    Args:
        runs: The runs of the service.
    """

    def __init__(self, runs: LedgerRuns) -> None:
        self._runs = runs

    def conclude(self, call: HostCall, result: HostResult) -> Answer:
        """Judge and count a result, once for each call id."""
        return self._runs.conclude(call, result, is_read=False, is_recorded=True)


class ReportedRuns:
    """
    Counts reported calls in a ledger.

    A run ends when nothing is reported of it any more.

    The current span is the one that reports the call: it becomes the exemplar of the count.

    Args:
        ledger: Where failures become numbers; the installed one if None.
        idle_s: Seconds without a call after which a run has ended.
        clock: Seconds, monotonic.
    """

    def __init__(
        self, ledger: Ledger | None = None, *, idle_s: float = IDLE_S, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.ledger: Final = ledger or current_ledger()
        self._idle_s = idle_s
        self._clock = clock
        self._lock = ReentrantLock()
        self._seen: OrderedDict[str, float] = OrderedDict()
        """When each run was reported last, the longest ago first."""

    def conclude(self, call: HostCall, result: HostResult) -> Answer:
        """Judge and count what a new call has returned."""
        self._end_left(call.run_id)
        judged = classify_result(
            result.text, tool=call.tool, arguments=call.arguments, flagged=result.failed, exit_code=result.exit_code
        )
        if judged.outcome == "ignored":
            return Answer(outcome="ignored")
        if judged.outcome == "success":
            self.ledger.succeed(
                call.run_id, call.tool, arguments=call.arguments, agent=call.agent, directory=call.directory
            )
            return Answer(outcome="success")
        observed = self.ledger.observe(call.run_id, _build(call, result, judged.stated))
        return Answer(outcome="failure", key=observed.found.key, count=observed.count)

    def close(self) -> None:
        """End all runs."""
        with self._lock:
            left = tuple(self._seen)
            self._seen.clear()
        for run_id in left:
            self.ledger.end(run_id)

    def _end_left(self, run_id: str) -> None:
        now = self._clock()
        ended: list[str] = []
        with self._lock:
            self._seen[run_id] = now
            self._seen.move_to_end(run_id)
            while len(self._seen) > 1:
                oldest, at = next(iter(self._seen.items()))
                if now - at < self._idle_s and len(self._seen) <= self.ledger.options.memory.runs:
                    break
                del self._seen[oldest]
                ended.append(oldest)
        for each in ended:
            if not self._is_reported_elsewhere(each):
                self.ledger.end(each)

    def _is_reported_elsewhere(self, run_id: str) -> bool:
        # Another receiver, which has heard of it since, ends it.
        store = self.ledger.store
        if not store.is_shared:
            return False
        state = store.peek(run_id)
        quiet = (store.next_tick() - state.newest_tick) / _TICKS_S if state is not None else self._idle_s
        return quiet < self._idle_s


def _build(call: HostCall, result: HostResult, stated: str) -> RawError:
    context = trace.get_current_span().get_span_context()
    known = SpanRef(trace_id=context.trace_id, span_id=context.span_id, sampled=context.trace_flags.sampled)
    return RawError(
        text=result.text,
        type=result.type,
        exit_code=result.exit_code,
        stated=stated,
        tool=call.tool,
        operation=operation_of(call.tool, call.arguments),
        call_id=call.call_id,
        arguments=call.arguments,
        agent=call.agent,
        directory=call.directory,
        time_ns=time.time_ns(),
        span=known if context.is_valid else None,
    )
