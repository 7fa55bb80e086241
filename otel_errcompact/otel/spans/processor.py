"""The span processor: failures that spans record become occurrences in the ledger."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.detector.results import is_control_flow
from otel_errcompact.otel.sdk import FilteringSpanProcessor
from otel_errcompact.otel.semconv import MODEL_OPERATIONS, SPAN_TOOL
from otel_errcompact.otel.spans.boundaries import STAYED
from otel_errcompact.otel.spans.claims import claims_of
from otel_errcompact.otel.spans.outcomes import Outcomes
from otel_errcompact.otel.spans.reading import (
    is_agent,
    is_made_here,
    is_refused,
    is_serving,
    is_settled_by_maker,
    read_agent,
    read_call,
    read_class,
    read_span,
)
from otel_errcompact.otel.spans.recorded import bare_name, build_raw_error, is_live, read_failures

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import ReadableSpan, Span

    from otel_errcompact.engine.ledger import Ledger
    from otel_errcompact.errors import RawError
    from otel_errcompact.otel.data import BoundaryCall, EndedSpan
    from otel_errcompact.otel.spans.boundaries import Boundary, Held
    from otel_errcompact.runtime.guard import Guard


class _Failures(NamedTuple):
    """
    What one span has recorded.
    """

    failure: RawError | None
    """What the span failed with."""

    whole: bool
    """Whether the failure is known in full, and not just from the span's status."""

    handled: list[RawError]
    """What it recorded besides."""


_NOTHING: Final = _Failures(None, whole=True, handled=[])


class ErrorCompactionSpanProcessor(FilteringSpanProcessor):
    """
    Observe the failures of spans that nobody wrapped, each occurrence once.

    Inside a boundary (a tool call, an MCP call, a model call) the boundary decides: what fails inside is held until
    the boundary's span ends, and is then its root cause, or handled.

    Args:
        ledger: Where failures become numbers.
        guard: Keeps our own faults away from the application; the ledger's if None.
        outcomes: What is known together with other processors of the same ledger; nothing yet if None.
    """

    def __init__(self, ledger: Ledger, *, guard: Guard | None = None, outcomes: Outcomes | None = None) -> None:
        self.outcomes: Final = outcomes or Outcomes(ledger, guard)
        """What becomes of failures; shared with the processor of log records."""
        self.outcomes.open()
        self._ledger = ledger
        self._claims = claims_of(ledger)
        self._guard = guard or ledger.guard
        self._ending = self._guard.stage("on_end")
        self._boundaries = boundaries = self.outcomes.boundaries
        self._occurrences = self.outcomes.occurrences
        super().__init__(boundaries.plain, boundaries.spans, boundaries.agents, self.outcomes.runs.traces)
        self._closed = False

    @property
    def duplicates(self) -> int:
        """Records of failures that were recognised as known occurrences."""
        return self.outcomes.duplicates

    def shutdown(self) -> None:
        """End the runs that are known from their traces alone; spans that end later are ignored."""
        if self._closed:
            return
        self._closed = True
        self.outcomes.close()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:  # noqa: ARG002 - the SDK's signature
        """Do nothing: every failure is observed when its span ends."""
        return True

    def class_of(self, span_id: int) -> str | None:
        """Return the dedup key of the failure that was recorded on a span lately; None if it is not known."""
        return self._occurrences.class_of(span_id)

    def _start(self, span: Span, parent_context: Context | None) -> None:
        with self._guard.stage("on_start"):
            if not self._closed:
                self._boundaries.enter(span, parent_context)

    def _end(self, span: ReadableSpan) -> None:
        with self._ending:
            self._ended(read_span(span))

    def _ended(self, span: EndedSpan) -> None:
        if self._closed or not span.context.is_valid:
            return
        boundary = self._boundaries.leave(span.span_id) if self._open_spans else None
        if boundary is not None and boundary.span_id == span.span_id:
            self._settle(boundary, span)
        else:
            self._note(span, boundary)
        if not self._open_traces:
            return
        told_late = boundary is not None and boundary.span_id == span.span_id and is_agent(span)
        if self._boundaries.leave_agent(span.span_id) or told_late:
            self.outcomes.conclude(span)
        if self._is_local_root(span):
            self.outcomes.end(span)

    def _note(self, span: EndedSpan, boundary: Boundary | None) -> None:
        """Take the failures of a span that is no boundary: to the boundary around it, if there is one."""
        if not span.failed:
            if boundary is not None:
                boundary.recover(span.name)
            if not span.events:
                return
        found = self._failures(span, None)
        origins = self._occurrences.origins(span, found.failure, whole=found.whole)
        if is_settled_by_maker(span):
            self._follow(span, found, origins, [])
            return
        for raw in found.handled:
            self.outcomes.hold(span, boundary, raw, STAYED, span.span_id)
        if found.failure is None:
            return
        origin = min(origins) if origins else span.span_id
        self._occurrences.remember(span, found.failure, origin, whole=found.whole)
        if origins:
            self.outcomes.pass_on(boundary, origins, span.span_id)
        elif boundary is None:
            self.outcomes.observe(span, None, found.failure, (origin,))
        else:
            self.outcomes.hold(span, boundary, found.failure, origin, span.span_id)

    def _settle(self, boundary: Boundary, span: EndedSpan) -> None:
        """Decide what a boundary's span, and all that was held inside it, amount to."""
        held = boundary.close()
        if not (held or span.failed or span.events or boundary.outer) and boundary.run_id and is_made_here(span):
            return  # as nearly all of our own are
        call = read_call(span)
        if call is None:
            self._release(boundary, span, held)
            return
        if not (boundary.run_id or is_serving(span)):
            self.outcomes.take_part(span, boundary)
        settled = is_settled_by_maker(span) or self._is_told_elsewhere(call, span)
        found = self._failures(span, call)
        origins = self._occurrences.origins(span, found.failure, whole=found.whole)
        # The raw error of a boundary of ours may be a log record, which leaves no more than a status on the span.
        root = None if found.failure is None or found.whole or settled else _root(held, origins)
        twin = None if found.failure is None else _twin(held, call)
        part = [inner for inner in held if inner in {root, twin} or inner.is_part_of(found.failure, origins)]
        self.outcomes.duplicates += len(part)
        self.outcomes.handle(span, boundary, [inner.inside(call.tool) for inner in held if inner not in part])
        for raw in found.handled:
            if not (settled and _passes_on(raw, found.failure)):
                self.outcomes.hold(span, None, raw, STAYED, span.span_id)
        if settled:
            self._follow(span, found, origins, part)
            if boundary.outer is not None:
                boundary.outer.tell(call.tool, failed=is_refused(span) or found.failure is not None)
        elif found.failure is not None:
            failure, whole = _with_root(found.failure, root), found.whole or root is not None
            failure = replace(failure, began=boundary.began)
            self._occurrences.remember(span, failure, min(origins, default=span.span_id), whole=whole)
            self._fail(boundary, span, call, failure, origins, part)
        elif not span.failed:
            self._succeed(boundary, span, call)

    def _is_told_elsewhere(self, call: BoundaryCall, span: EndedSpan) -> bool:
        if not call.call_id:
            return self._claims.take_expected(call.tool)
        return self._claims.is_expected(call.call_id) or self._claims.is_settled(call.call_id, span.start_ns)

    def _release(self, boundary: Boundary, span: EndedSpan, held: list[Held]) -> None:
        """Treat a span as plain whose name alone promised a boundary: what it held is no longer held by it."""
        outer = boundary.holder
        for inner in held:
            if outer is not None:
                self.outcomes.handle(span, outer, outer.hold(inner))
            elif inner.alone:
                self.outcomes.observe(span, boundary, inner.raw, inner.span_ids)
            else:
                self.outcomes.handle(span, boundary, [inner])
        self._note(span, outer)

    def _follow(self, span: EndedSpan, found: _Failures, origins: frozenset[int], part: list[Held]) -> None:
        """Leave the outcome to our own boundary that made the span, and only make it known to the spans around."""
        if found.failure is None:
            return
        self._occurrences.remember(span, found.failure, min(origins, default=span.span_id), whole=found.whole)
        if key := read_class(span) or self.outcomes.key_of(origins):
            self._occurrences.judge(key, span.span_id, *_span_ids(part))

    def _fail(
        self,
        boundary: Boundary,
        span: EndedSpan,
        call: BoundaryCall,
        failure: RawError,
        origins: frozenset[int],
        part: list[Held],
    ) -> None:
        """Count a failed boundary once: here, at the boundary around it, or where it has been counted already."""
        origin = min(origins, default=span.span_id)
        span_ids = [span.span_id, origin, *_span_ids(part)]
        key = self.outcomes.key_of(origins)
        if key or (not part and call.tool in boundary.failing):
            self.outcomes.duplicates += 1
            self._occurrences.judge(key, *span_ids)
        elif (holder := boundary.holder) is not None:
            self.outcomes.hold(span, holder, failure, origin, span.span_id)
            holder.pass_on(frozenset({origin}), *span_ids)
        else:
            self.outcomes.observe(span, boundary, failure, span_ids)

    def _succeed(self, boundary: Boundary, span: EndedSpan, call: BoundaryCall) -> None:
        """Note a success, unless control flow ends the span, or the result is the digest of a failure inside."""
        live = sys.exc_info()[1]
        steered = live is not None and is_control_flow(live, self.outcomes.control_flow)
        if not steered and call.tool not in boundary.failing:
            run_id = self.outcomes.run_of(span, boundary)
            # The answer of a model is no step of the agent: it would end each loop before it is one.
            is_model = boundary.operation != SPAN_TOOL and call.tool in MODEL_OPERATIONS
            if is_model and not self._ledger.is_failing(run_id, call.operation):
                return
            self._ledger.succeed(
                run_id,
                call.tool,
                operation=call.operation,
                arguments=call.arguments,
                agent=read_agent(span),
                began=boundary.began,
            )

    def _failures(self, span: EndedSpan, call: BoundaryCall | None) -> _Failures:
        records, repeated = read_failures(span)
        if not records:
            return _NOTHING
        self.outcomes.duplicates += repeated
        last = records.pop()
        live = sys.exc_info()[1]
        if live is not None and not is_live(live, last, span):
            live = None
        counts = self.outcomes.counts
        handled = [
            build_raw_error(span, record, exception=None, call=call) for record in records if counts(record, None, call)
        ]
        newest = build_raw_error(span, last, exception=live, call=call) if counts(last, live, call) else None
        whole = last.traced or live is not None
        if newest is not None and not span.failed:
            handled.append(newest)
            newest = None
        return _Failures(newest, whole, [raw for raw in handled if self._occurrences.is_news(span, raw)])

    def _is_local_root(self, span: EndedSpan) -> bool:
        parent = span.parent
        return parent is None or (parent.is_remote and parent.span_id not in self._open_spans)


def _span_ids(held: list[Held]) -> list[int]:
    return [span_id for inner in held for span_id in inner.span_ids]


def _passes_on(raw: RawError, failure: RawError | None) -> bool:
    """
    Tell whether a span's own record is what its failure was raised as, of which our boundary has put the cause there.
    """
    return failure is not None and f"{bare_name(failure.type)}: {failure.message}" in raw.text


def _root(held: list[Held], origins: frozenset[int]) -> Held | None:
    """The failure inside that explains a boundary's own: the one it passes on, else the newest not recovered from."""
    passed_on = [inner for inner in held if inner.origin in origins]
    candidates = passed_on or [inner for inner in held if not inner.recovered]
    return candidates[-1] if candidates else None


def _twin(held: list[Held], call: BoundaryCall) -> Held | None:
    """The same call inside itself, as it is where two instrumentations make spans of it."""
    newest = held[-1] if held else None
    return newest if newest is not None and newest.raw.boundary and newest.raw.tool == call.tool else None


def _with_root(failure: RawError, root: Held | None) -> RawError:
    """A boundary's failure with what is known of its root cause; the boundary stays the operation."""
    if root is None or (failure.message and not root.raw.message):
        return failure
    return replace(failure, text=root.raw.text, type=root.raw.type, message=root.raw.message)
