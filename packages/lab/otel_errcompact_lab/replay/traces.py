"""A recorded trace as spans, started and ended in the record's order."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, Final, cast

from opentelemetry import context as otel_context
from opentelemetry.context import Context
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

from otel_errcompact.digest.tokens import estimate_tokens
from otel_errcompact.otel import semconv
from otel_errcompact.otel.export.exporter import CopiedSpan
from otel_errcompact.otel.spans.context import with_run
from otel_errcompact.otel.spans.conventions import read_span
from otel_errcompact_lab.replay.results import PlayedCall

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor

    from otel_errcompact_lab.replay.tally import Tallies, Tally
    from otel_errcompact_lab.transcripts import AttributeValue, RecordedEvent, RecordedSpan, RecordedTrace

_SAMPLED: Final = TraceFlags(TraceFlags.SAMPLED)
_KINDS: Final = {
    "internal": SpanKind.INTERNAL,
    "server": SpanKind.SERVER,
    "client": SpanKind.CLIENT,
    "producer": SpanKind.PRODUCER,
    "consumer": SpanKind.CONSUMER,
}
_STATUS_CODES: Final = {"unset": StatusCode.UNSET, "ok": StatusCode.OK, "error": StatusCode.ERROR}


class RebuiltSpan(CopiedSpan):
    """A recorded span as the SDK knows it."""

    def __init__(self, recorded: RecordedSpan, scope: str) -> None:
        parent_id = recorded.parent_id
        failed = recorded.status == "error"
        super().__init__(
            recorded.name,
            context=_span_context(recorded.trace_id, recorded.span_id),
            parent=None if parent_id is None else _span_context(recorded.trace_id, parent_id),
            resource=Resource(recorded.resource),
            attributes=recorded.attributes,
            events=tuple(Event(event.name, _attributes_of_event(event), event.time_ns) for event in recorded.events),
            kind=_KINDS[recorded.kind],
            instrumentation_scope=InstrumentationScope(scope, recorded.scope_version),
            # Only a failed span may carry a description.
            status=Status(_STATUS_CODES[recorded.status], recorded.status_description if failed else None),
            start_time=recorded.start_ns,
            end_time=recorded.end_ns,
        )
        self.original = recorded


def run_of(trace: RecordedTrace) -> str:
    """Return a trace's run: its first conversation, else the trace itself."""
    for span in sorted(trace.spans, key=lambda span: span.start_ns):
        for name in (semconv.GEN_AI_CONVERSATION_ID, semconv.SESSION_ID):
            if found := span.attributes.get(name):
                return str(found)
    return trace.run_id


def play_trace(trace: RecordedTrace, tally: Tally, tallies: Tallies, processor: SpanProcessor, scope: str) -> None:
    """Start and end a trace's spans in the order of the record."""
    spans = [RebuiltSpan(span, scope if span.scope_name == semconv.SCOPE else span.scope_name) for span in trace.spans]
    # Spans that name no conversation belong to the run that is open around them.
    inside = with_run(tally.run_id, Context())
    token = otel_context.attach(inside)
    try:
        for index, ends in in_order(trace.spans):
            if ends:
                _count_span(spans[index], trace.spans[index], tally, tallies)
                processor.on_end(spans[index])
            else:
                # A processor only reads the span that it is given at the start.
                processor.on_start(cast("Span", spans[index]), inside)
    finally:
        otel_context.detach(token)


def _count_span(span: ReadableSpan, recorded: RecordedSpan, tally: Tally, tallies: Tallies) -> None:
    ended = read_span(span)
    call = ended.read_call()
    tokens = _count_tokens(recorded)
    tally.context_tokens += tokens
    if call is not None and call.tool not in semconv.MODEL_OPERATIONS:
        own = tallies.open(ended.conversation or tally.run_id)
        own.tool_calls += 1
        own.result_tokens += tokens
        if tallies.on_call is not None:
            tallies.on_call(
                PlayedCall(
                    run_id=own.run_id,
                    tool=call.tool,
                    arguments=call.arguments,
                    outcome="failure" if recorded.status == "error" else "success",
                    time_ns=recorded.end_ns,
                    span_id=recorded.span_id,
                )
            )


def in_order(spans: tuple[RecordedSpan, ...]) -> Iterator[tuple[int, bool]]:
    """
    Yield starts and ends in the order of time.

    At one time starts come first; outer spans start first and end last.
    """
    depths = _find_depths(spans)
    steps = [
        step
        for index, span in enumerate(spans)
        for step in (
            (span.start_ns, False, depths[span.span_id], index),
            (span.end_ns, True, -depths[span.span_id], index),
        )
    ]
    return ((index, ends) for _, ends, _, index in sorted(steps))


def _find_depths(spans: tuple[RecordedSpan, ...]) -> dict[int, int]:
    # Ids in a circle do no harm.
    parents = {span.span_id: span.parent_id for span in spans}
    depths: dict[int, int] = {}
    for span_id in parents:
        way: list[int] = []
        at: int | None = span_id
        while at in parents and at not in depths:
            depths[at] = 0
            way.append(at)
            at = parents[at]
        depth = depths.get(at, -1) if at is not None else -1
        for inner in reversed(way):
            depth += 1
            depths[inner] = depth
    return depths


def _attributes_of_event(event: RecordedEvent) -> Mapping[str, Any]:
    # JSON holds bytes as Base64.
    encoded = event.attributes.get(semconv.RAW)
    if not isinstance(encoded, str):
        return event.attributes
    try:
        return {**event.attributes, semconv.RAW: base64.b64decode(encoded, validate=True)}
    except ValueError:
        return event.attributes


def _count_tokens(span: RecordedSpan) -> int:
    texts = _count_texts(span.attributes) + sum(_count_texts(event.attributes) for event in span.events)
    return texts + estimate_tokens(span.status_description)


def _count_texts(attributes: Mapping[str, AttributeValue]) -> int:
    return sum(estimate_tokens(value) for value in attributes.values() if isinstance(value, str))


def _span_context(trace_id: int, span_id: int) -> SpanContext:
    return SpanContext(trace_id, span_id, is_remote=False, trace_flags=_SAMPLED)
