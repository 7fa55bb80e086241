"""What becomes of failures, whichever signal tells of them: counted, held by a boundary, or handled."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from opentelemetry.trace import format_trace_id

from otel_errcompact.detector.results import classify_result, is_control_flow
from otel_errcompact.otel.spans.boundaries import Held, OpenBoundaries
from otel_errcompact.otel.spans.context import current_run_id, is_unbound, unbound_run_id
from otel_errcompact.otel.spans.occurrences import HANDLED, Occurrences
from otel_errcompact.otel.spans.reading import is_agent, read_call, read_conversation, read_span
from otel_errcompact.otel.spans.recorded import is_control_flow_name
from otel_errcompact.otel.spans.unattended import UnattendedRuns
from otel_errcompact.runtime.forks import reset_in_child

if TYPE_CHECKING:
    from collections.abc import Iterable

    from otel_errcompact.engine.ledger import Ledger
    from otel_errcompact.errors import RawError
    from otel_errcompact.otel.data import BoundaryCall, EndedSpan, Recorded
    from otel_errcompact.otel.spans.boundaries import Boundary
    from otel_errcompact.runtime.guard import Guard

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
        self.runs: Final = UnattendedRuns(ledger)
        self.boundaries: Final = OpenBoundaries(self._count_evicted_span, self.runs.begin, ledger.tick)
        self.occurrences: Final = Occurrences()
        self.control_flow: Final = ledger.options.control_flow
        self._users = 0
        reset_in_child(self._forget)

    def open(self) -> None:
        """Note one more processor that tells of spans."""
        if not self._users:
            self.runs.open()
        self._users += 1

    def close(self) -> None:
        """Note one less; with the last one the runs end that are known from their spans alone."""
        self._users -= 1
        if self._users:
            return
        with self.guard.stage("shutdown"):
            self.runs.close()
        # The classes stay: exporters that are shut down later still ask for them.
        self.boundaries.clear()
        self.runs.clear()

    def counts(self, recorded: Recorded, live: BaseException | None, call: BoundaryCall | None) -> bool:
        """Tell whether something is a failure, and not a way to steer the program, or a call that a human declined."""
        if live is not None:
            return not is_control_flow(live, self.control_flow)
        if is_control_flow_name(recorded.type, self.control_flow):
            return False
        if call is None or recorded.traced:
            return True
        text = recorded.message or recorded.text
        return classify_result(text, tool=call.tool, arguments=call.arguments, flagged=True).outcome != "ignored"

    def observe(self, span: EndedSpan, boundary: Boundary | None, raw: RawError, span_ids: Iterable[int]) -> str:
        """Count a failure, and return its class."""
        run_id = self.run_of(span, boundary)
        self.runs.observe(run_id, span)
        found = self.ledger.observe(run_id, raw).found
        if is_unbound(run_id):
            self.ledger.store.discard(run_id)
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

    def take_part(self, span: EndedSpan, boundary: Boundary | None) -> None:
        """Note that the span of an agent, a tool or a model has ended: what it took part in is an agent run."""
        self.runs.take_part(self.run_of(span, boundary), span)

    def conclude(self, span: EndedSpan) -> None:
        """Note how the span of an agent has ended: so has its run, unless an agent around it ends otherwise."""
        booked = self.runs.is_booked(span.trace_id)
        run_id = _traced_run(span) if booked else self.run_of(span, None)
        self.runs.take_part(run_id, span)
        self.runs.conclude(run_id, span, failed=span.failed)

    def end(self, root: EndedSpan) -> None:
        """Note that a local root span has ended, and with it the run of its trace."""
        # What a conversation's tool or model has failed with is no end of the conversation.
        if root.failed and (run_id := read_conversation(root)) and read_call(root) is None:
            self.runs.conclude(run_id, root, failed=True)
        self.runs.end_trace(root.trace_id, failed=root.failed)

    def _named_run(self, span: EndedSpan, boundary: Boundary | None) -> str:
        """The span's own conversation; else the run open where it started, or now; else its agent's; else empty."""
        open_run = (boundary.run_id if boundary is not None else "") or current_run_id()
        if self.runs.is_booked(span.trace_id) and is_agent(span):
            # It names its conversation when it ends, and what went before has counted for the trace.
            return open_run
        told = read_conversation(span) or open_run
        if told:
            return told
        agent = self.boundaries.agent_of(span.trace_id)
        return read_conversation(read_span(agent)) if agent is not None else ""

    def _count_evicted_span(self) -> None:
        self.guard.failures[OPEN_SPAN_EVICTED] += 1

    def _forget(self) -> None:
        self.boundaries.clear()
        self.occurrences.clear()
        self.runs.clear()


def _traced_run(span: EndedSpan) -> str:
    return format_trace_id(span.trace_id) if span.trace_id else unbound_run_id()
