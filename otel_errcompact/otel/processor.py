"""The span processor: failures that spans record become occurrences in the ledger."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from opentelemetry.sdk.trace import SpanProcessor
from opentelemetry.trace import StatusCode, format_trace_id

from otel_errcompact.forks import reset_in_child
from otel_errcompact.otel.boundaries import STAYED, Held, OpenBoundaries
from otel_errcompact.otel.bounded import BoundedTable
from otel_errcompact.otel.context import current_run_id
from otel_errcompact.otel.occurrences import HANDLED, Occurrences
from otel_errcompact.otel.spans import (
    boundary_call,
    class_on,
    conversation_of,
    failures_of,
    is_control_flow_name,
    is_live,
    is_settled_by_maker,
    raw_error,
    read,
)
from otel_errcompact.recognise import is_control_flow, judge

if TYPE_CHECKING:
    from collections.abc import Iterable

    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import ReadableSpan, Span

    from otel_errcompact.errors import RawError
    from otel_errcompact.guard import Guard
    from otel_errcompact.ledger import Ledger
    from otel_errcompact.otel.boundaries import Boundary
    from otel_errcompact.otel.spans import BoundaryCall, EndedSpan, Recorded

MAX_TRACE_RUNS: Final = 1_000
OPEN_SPAN_EVICTED: Final = "open_span_evicted"

_ERROR: Final = StatusCode.ERROR


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


class ErrorCompactionSpanProcessor(SpanProcessor):
    """
    Observe the failures of spans that nobody wrapped, each occurrence once.

    Inside a boundary (a tool call, an MCP call, a model call) the boundary decides: what fails inside is held until
    the boundary's span ends, and is then its root cause, or handled.

    Args:
        ledger: Where failures become numbers.
        guard: Keeps our own faults away from the application; the ledger's if None.
    """

    def __init__(self, ledger: Ledger, *, guard: Guard | None = None) -> None:
        self.duplicates = 0
        """Records of failures that were recognised as known occurrences."""
        self._ledger = ledger
        self._guard = guard or ledger.guard
        self._ending = self._guard.stage("on_end")
        self._control_flow = ledger.options.control_flow
        self._boundaries = OpenBoundaries(self._count_evicted_span)
        self._occurrences = Occurrences()
        self._trace_runs: BoundedTable[int, bool] = BoundedTable(MAX_TRACE_RUNS)
        self._plain_names = self._boundaries.plain
        self._open_spans = self._boundaries.spans
        self._open_runs = self._trace_runs.entries
        self._closed = False
        reset_in_child(self._forget)

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Take note of a span that is a boundary or starts inside one."""
        # Private attributes, since the public ones would double what a healthy span costs; where they are not there
        # the span is looked at in full, by public attributes alone.
        sdk_span: Any = span
        try:
            scopes = self._plain_names[sdk_span._name]  # noqa: SLF001 - as said
            if sdk_span._instrumentation_scope._name in scopes and not self._open_spans:  # noqa: SLF001 - as said
                return
        except Exception:  # noqa: BLE001, S110 - a name that is new or no text, or another SDK's span
            pass
        with self._guard.stage("on_start"):
            self._started(span, parent_context)

    def on_end(self, span: ReadableSpan) -> None:
        """Observe what a span has failed with."""
        sdk_span: Any = span
        try:
            if (
                sdk_span._status._status_code is not _ERROR  # noqa: SLF001 - as in `on_start`
                and not sdk_span._events._dq  # noqa: SLF001 - as above
                and not self._open_spans
                and not self._open_runs
            ):
                return
        except Exception:  # noqa: BLE001, S110 - another SDK's span
            pass
        with self._ending:
            self._ended(read(span))

    def shutdown(self) -> None:
        """End the runs that are known from their traces alone; spans that end later are ignored."""
        if self._closed:
            return
        self._closed = True
        for trace_id in tuple(self._open_runs):
            with self._guard.stage("shutdown"):
                self._end_run(trace_id)
        # The classes stay: exporters that are shut down after this processor still ask for them.
        self._boundaries.clear()
        self._trace_runs.clear()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:  # noqa: ARG002 - the SDK's signature
        """Do nothing: every failure is observed when its span ends."""
        return True

    def class_of(self, span_id: int) -> str | None:
        """Return the dedup key of the failure that was recorded on a span lately; None if it is not known."""
        return self._occurrences.class_of(span_id)

    def _started(self, span: Span, parent_context: Context | None) -> None:
        if not self._closed:
            self._boundaries.enter(span, parent_context)

    def _ended(self, span: EndedSpan) -> None:
        if self._closed or not span.context.is_valid:
            return
        boundary = self._boundaries.leave(span.span_id) if self._open_spans else None
        if boundary is not None and boundary.span_id == span.span_id:
            self._settle(boundary, span)
        else:
            self._note(span, boundary)
        if self._open_runs and self._is_local_root(span):
            self._end_run(span.trace_id)

    def _note(self, span: EndedSpan, boundary: Boundary | None) -> None:
        """Take the failures of a span that is no boundary: to the boundary around it, if there is one."""
        if not span.failed:
            if boundary is not None:
                boundary.recover(span.name)
            if not span.events:
                return
        found = self._failures(span, None)
        origins = self._occurrences.origins(span, found.failure)
        if is_settled_by_maker(span):
            self._follow(span, found.failure, origins, [])
            return
        for raw in found.handled:
            self._hold(span, boundary, raw, STAYED)
        if found.failure is None:
            return
        origin = min(origins) if origins else span.span_id
        self._occurrences.remember(span, found.failure, origin)
        if origins:
            self._pass_on(span, boundary, origins)
        elif boundary is None:
            self._observe(span, None, found.failure, (origin,))
        else:
            self._hold(span, boundary, found.failure, origin)

    def _pass_on(self, span: EndedSpan, boundary: Boundary | None, origins: frozenset[int]) -> None:
        """Take note of a span that records what is known already."""
        self.duplicates += 1
        if boundary is not None:
            boundary.pass_on(origins, span.span_id)
        self._occurrences.judge(self._key_of(origins), span.span_id)

    def _hold(self, span: EndedSpan, boundary: Boundary | None, raw: RawError, origin: int) -> None:
        """Hold a failure until the boundary's outcome is known; what no boundary holds is handled."""
        held = Held(replace(raw, exception=None), origin, span.name, [span.span_id])
        self._handle(span, boundary, [held] if boundary is None else boundary.hold(held))

    def _settle(self, boundary: Boundary, span: EndedSpan) -> None:
        """Decide what a boundary's span, and all that was held inside it, amount to."""
        held = boundary.close()
        call = boundary_call(span)
        if call is None:
            self._release(boundary, span, held)
            return
        found = self._failures(span, call)
        origins = self._occurrences.origins(span, found.failure)
        root = None if found.failure is None or found.whole else _root(held, origins)
        twin = None if found.failure is None else _twin(held, call)
        part = [inner for inner in held if inner is root or inner is twin or inner.origin in origins]
        self.duplicates += len(part)
        self._handle(span, boundary, [inner for inner in held if inner not in part])
        for raw in found.handled:
            self._hold(span, None, raw, STAYED)
        if is_settled_by_maker(span):
            self._follow(span, found.failure, origins, part)
            if boundary.outer is not None:
                boundary.outer.tell(call.tool, failed=found.failure is not None)
        elif found.failure is not None:
            self._fail(boundary, span, call, _with_root(found.failure, root), origins, part)
        elif not span.failed:
            self._succeed(boundary, span, call)

    def _release(self, boundary: Boundary, span: EndedSpan, held: list[Held]) -> None:
        """Treat a span as plain whose name alone promised a boundary: what it held is no longer held by it."""
        outer = boundary.holder
        for inner in held:
            if outer is None:
                self._observe(span, boundary, inner.raw, inner.span_ids)
            else:
                self._handle(span, outer, outer.hold(inner))
        self._note(span, outer)

    def _follow(self, span: EndedSpan, failure: RawError | None, origins: frozenset[int], part: list[Held]) -> None:
        """Leave the outcome to our own boundary that made the span, and only make it known to the spans around."""
        if failure is None:
            return
        if conversation_of(span) == format_trace_id(span.trace_id):
            self._trace_run(span)
        self._occurrences.remember(span, failure, min(origins, default=span.span_id))
        if key := class_on(span) or self._key_of(origins):
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
        self._occurrences.remember(span, failure, origin)
        key = self._key_of(origins)
        if key or (not part and call.tool in boundary.failing):
            self.duplicates += 1
            self._occurrences.judge(key, *span_ids)
        elif (holder := boundary.holder) is not None:
            self._hold(span, holder, failure, origin)
            holder.pass_on(frozenset({origin}), *span_ids)
        else:
            self._observe(span, boundary, failure, span_ids)

    def _succeed(self, boundary: Boundary, span: EndedSpan, call: BoundaryCall) -> None:
        """Note a success, unless control flow ends the span, or the result is the digest of a failure inside."""
        live = sys.exc_info()[1]
        steered = live is not None and is_control_flow(live, self._control_flow)
        if not steered and call.tool not in boundary.failing:
            run_id = self._run_of(span, boundary)
            self._ledger.succeed(run_id, call.tool, scope=call.operation, arguments=call.arguments)

    def _failures(self, span: EndedSpan, call: BoundaryCall | None) -> _Failures:
        records, repeated = failures_of(span)
        if not records:
            return _NOTHING
        self.duplicates += repeated
        last = records.pop()
        live = sys.exc_info()[1]
        if live is not None and not is_live(live, last, span):
            live = None
        handled = [
            raw_error(span, record, exception=None, call=call) for record in records if self._counts(record, None, call)
        ]
        newest = raw_error(span, last, exception=live, call=call) if self._counts(last, live, call) else None
        whole = last.traced or live is not None
        if newest is None or span.failed:
            return _Failures(newest, whole, handled)
        return _Failures(None, whole, [*handled, newest])

    def _counts(self, recorded: Recorded, live: BaseException | None, call: BoundaryCall | None) -> bool:
        """Tell whether something is a failure, and not a way to steer the program, or a call that a human declined."""
        if live is not None:
            return not is_control_flow(live, self._control_flow)
        if is_control_flow_name(recorded.type, self._control_flow):
            return False
        if call is None or recorded.traced:
            return True
        text = recorded.message or recorded.text
        return judge(text, tool=call.tool, arguments=call.arguments, flagged=True).outcome != "ignored"

    def _observe(self, span: EndedSpan, boundary: Boundary | None, raw: RawError, span_ids: Iterable[int]) -> None:
        run_id = self._named_run(span, boundary) or self._trace_run(span)
        observation = self._ledger.observe(run_id, raw)
        self._occurrences.judge(observation.found.key, *span_ids)

    def _handle(self, span: EndedSpan, boundary: Boundary | None, held: list[Held]) -> None:
        run_id = self._run_of(span, boundary) if held else ""
        for inner in held:
            self._occurrences.judge(HANDLED, *inner.span_ids)
            self._ledger.handled(run_id, inner.raw)

    def _run_of(self, span: EndedSpan, boundary: Boundary | None) -> str:
        return self._named_run(span, boundary) or format_trace_id(span.trace_id)

    def _named_run(self, span: EndedSpan, boundary: Boundary | None) -> str:
        """The span's own conversation; else the run open where it started, or now; else its agent's; else empty."""
        told = conversation_of(span) or (boundary.run_id if boundary is not None else "") or current_run_id()
        if told:
            return told
        agent = self._boundaries.agent_of(span.trace_id)
        return conversation_of(read(agent)) if agent is not None else ""

    def _key_of(self, origins: Iterable[int]) -> str:
        """The class of the first of these occurrences that was counted; empty if none was."""
        return next(filter(None, map(self._occurrences.class_of, origins)), "")

    def _trace_run(self, span: EndedSpan) -> str:
        """Return the id of the run that is named by a span's trace, and remember it: nobody else will end it."""
        trace_id = span.trace_id
        self._trace_runs.put(trace_id, True)
        return format_trace_id(trace_id)

    def _is_local_root(self, span: EndedSpan) -> bool:
        parent = span.parent
        return parent is None or (parent.is_remote and parent.span_id not in self._open_spans)

    def _end_run(self, trace_id: int) -> None:
        """End a run known from its trace alone, unless the ledger has forgotten it, or somebody has opened it."""
        if trace_id not in self._open_runs:
            return
        self._trace_runs.pop(trace_id)
        run_id = format_trace_id(trace_id)
        with self._ledger.store.find(run_id) as state:
            unattended = state is not None and not state.attended
        if unattended:
            self._ledger.end(run_id)

    def _count_evicted_span(self) -> None:
        self._guard.failures[OPEN_SPAN_EVICTED] += 1

    def _forget(self) -> None:
        self._boundaries.clear()
        self._occurrences.clear()
        self._trace_runs.clear()


def _span_ids(held: list[Held]) -> list[int]:
    return [span_id for inner in held for span_id in inner.span_ids]


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
