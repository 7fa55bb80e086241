"""What becomes of failures, whichever signal tells of them: counted, held by a boundary, or handled."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from opentelemetry.trace import format_trace_id

from otel_errcompact.bounded import BoundedTable
from otel_errcompact.forks import reset_in_child
from otel_errcompact.otel.boundaries import Held, OpenBoundaries
from otel_errcompact.otel.context import PROCESS_RUN, current_run_id
from otel_errcompact.otel.occurrences import HANDLED, Occurrences
from otel_errcompact.otel.spans import conversation_of, is_control_flow_name, read
from otel_errcompact.recognise import is_control_flow, judge

if TYPE_CHECKING:
    from collections.abc import Iterable

    from otel_errcompact.errors import RawError
    from otel_errcompact.guard import Guard
    from otel_errcompact.ledger import Ledger
    from otel_errcompact.otel.boundaries import Boundary
    from otel_errcompact.otel.spans import BoundaryCall, EndedSpan, Recorded

MAX_TRACE_RUNS: Final = 1_000
OPEN_SPAN_EVICTED: Final = "open_span_evicted"


class Outcomes:
    """
    What the span processors and the log processor of one ledger know together, so that a failure both are told of
    counts once.

    Args:
        ledger: Where failures become numbers.
        guard: Keeps our own faults away from the application; the ledger's if None.
    """

    def __init__(self, ledger: Ledger, guard: Guard | None = None) -> None:
        self.ledger: Final = ledger
        self.guard: Final = guard or ledger.guard
        self.duplicates = 0
        """Records of failures that were recognised as known occurrences."""
        self.boundaries: Final = OpenBoundaries(self._count_evicted_span, ledger.tick)
        self.occurrences: Final = Occurrences()
        self.control_flow: Final = ledger.options.control_flow
        self._trace_runs: BoundedTable[int, bool] = BoundedTable(MAX_TRACE_RUNS)
        self.open_runs: Final = self._trace_runs.entries
        """Runs known from their traces alone; the same object for good, so that it is cheap to ask for any."""
        self._users = 0
        reset_in_child(self._forget)

    def open(self) -> None:
        """Note one more processor that tells of spans."""
        self._users += 1

    def close(self) -> None:
        """Note one less; with the last one the runs end that are known from their traces alone."""
        self._users -= 1
        if self._users:
            return
        for trace_id in tuple(self.open_runs):
            with self.guard.stage("shutdown"):
                self.end_run(trace_id)
        # The classes stay: exporters that are shut down later still ask for them.
        self.boundaries.clear()
        self._trace_runs.clear()

    def counts(self, recorded: Recorded, live: BaseException | None, call: BoundaryCall | None) -> bool:
        """Tell whether something is a failure, and not a way to steer the program, or a call that a human declined."""
        if live is not None:
            return not is_control_flow(live, self.control_flow)
        if is_control_flow_name(recorded.type, self.control_flow):
            return False
        if call is None or recorded.traced:
            return True
        text = recorded.message or recorded.text
        return judge(text, tool=call.tool, arguments=call.arguments, flagged=True).outcome != "ignored"

    def observe(self, span: EndedSpan, boundary: Boundary | None, raw: RawError, span_ids: Iterable[int]) -> str:
        """Count a failure, and return its class."""
        run_id = self._named_run(span, boundary) or self.trace_run(span)
        found = self.ledger.observe(run_id, raw).found
        self.occurrences.judge(found.key, *span_ids)
        return found.key

    def hold(self, span: EndedSpan, boundary: Boundary | None, raw: RawError, origin: int, span_id: int) -> None:
        """Hold a failure until the boundary's outcome is known; what no boundary holds is handled."""
        self.put(span, boundary, Held(replace(raw, exception=None), origin, span.name, [span_id]))

    def put(self, span: EndedSpan, boundary: Boundary | None, held: Held) -> None:
        """The same for what is made up already."""
        self.handle(span, boundary, [held] if boundary is None else boundary.hold(held))

    def handle(self, span: EndedSpan, boundary: Boundary | None, held: list[Held]) -> None:
        """Note failures that were handled."""
        run_id = self.run_of(span, boundary) if held else ""
        for inner in held:
            self.occurrences.judge(HANDLED, *inner.span_ids)
            self.ledger.handled(run_id, inner.raw)

    def pass_on(self, boundary: Boundary | None, origins: frozenset[int], span_id: int) -> None:
        """Take note of a span that records what is known already."""
        self.duplicates += 1
        if boundary is not None:
            boundary.pass_on(origins, span_id)
        self.occurrences.judge(self.key_of(origins), span_id)

    def key_of(self, origins: Iterable[int]) -> str:
        """The class of the first of these occurrences that was counted; empty if none was."""
        return next(filter(None, map(self.occurrences.class_of, origins)), "")

    def run_of(self, span: EndedSpan, boundary: Boundary | None) -> str:
        """The run that a span, or a log record in it, belongs to."""
        return self._named_run(span, boundary) or _traced_run(span)

    def trace_run(self, span: EndedSpan) -> str:
        """Return the id of the run that is named by a span's trace, and remember it: nobody else will end it."""
        if span.trace_id:
            self._trace_runs.put(span.trace_id, True)
        return _traced_run(span)

    def end_run(self, trace_id: int) -> None:
        """End a run known from its trace alone, unless the ledger has forgotten it, or somebody has opened it."""
        if trace_id not in self.open_runs:
            return
        self._trace_runs.pop(trace_id)
        run_id = format_trace_id(trace_id)
        with self.ledger.store.find(run_id) as state:
            unattended = state is not None and not state.attended
        if unattended:
            self.ledger.end(run_id)

    def _named_run(self, span: EndedSpan, boundary: Boundary | None) -> str:
        """The span's own conversation; else the run open where it started, or now; else its agent's; else empty."""
        told = conversation_of(span) or (boundary.run_id if boundary is not None else "") or current_run_id()
        if told:
            return told
        agent = self.boundaries.agent_of(span.trace_id)
        return conversation_of(read(agent)) if agent is not None else ""

    def _count_evicted_span(self) -> None:
        self.guard.failures[OPEN_SPAN_EVICTED] += 1

    def _forget(self) -> None:
        self.boundaries.clear()
        self.occurrences.clear()
        self._trace_runs.clear()


def _traced_run(span: EndedSpan) -> str:
    return format_trace_id(span.trace_id) if span.trace_id else PROCESS_RUN
