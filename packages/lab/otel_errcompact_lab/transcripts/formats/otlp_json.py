"""
OTLP/JSON traces: an export request a line, or one document.

Ids are read as hex, as OTLP says, and as base64, as plain Protobuf-to-JSON writes them; enumerations as numbers and as
names. Requests of other signals are passed over, but for the log records in which a trajectory file tells the lives of
runs.
"""

from __future__ import annotations

import base64
import binascii
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, cast

from otel_errcompact.otel import semconv
from otel_errcompact_lab.transcripts.model import (
    RecordedEvent,
    RecordedLife,
    RecordedSpan,
    RecordedTrace,
    in_order_of_end,
)
from otel_errcompact_lab.transcripts.records import Place, Record, as_json, fields_of, record
from otel_errcompact_lab.transcripts.run_builder import FIRST_NS
from otel_errcompact_lab.transcripts.run_lives import EVENTS, Lives

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from otel_errcompact_lab.transcripts.model import AttributeValue, SpanKind, StatusCode
    from otel_errcompact_lab.transcripts.records import Value

MAX_OPEN_SPANS: Final = 50_000
"""How many spans are held while their traces may still grow; beyond, the trace touched least recently is handed on."""

_OTHER_SIGNALS: Final = frozenset({"resourceLogs", "resourceMetrics", "resourceProfiles"})

_KINDS: Final[dict[str, SpanKind]] = {
    "1": "internal",
    "2": "server",
    "3": "client",
    "4": "producer",
    "5": "consumer",
    "SPAN_KIND_INTERNAL": "internal",
    "SPAN_KIND_SERVER": "server",
    "SPAN_KIND_CLIENT": "client",
    "SPAN_KIND_PRODUCER": "producer",
    "SPAN_KIND_CONSUMER": "consumer",
}
_STATUSES: Final[dict[str, StatusCode]] = {
    "1": "ok",
    "2": "error",
    "STATUS_CODE_OK": "ok",
    "STATUS_CODE_ERROR": "error",
}
_NO_JSON_NUMBERS: Final = frozenset({"NaN", "Infinity", "-Infinity"})
_ELEMENTS: Final = ({str}, {bool}, {int}, {float})
_TRACE_ID_BYTES: Final = 16
_SPAN_ID_BYTES: Final = 8


def detect(value: object) -> bool:
    """Recognise an export request of spans, or a line about a run."""
    fields = fields_of(value)
    return "resourceSpans" in fields or ("resourceLogs" in fields and _is_life(value))


def read(values: Iterable[Value]) -> Iterator[RecordedTrace | RecordedLife]:
    """Read each trace and each life of a run across requests."""
    traces, lives, source = _Traces(), Lives(), ""
    for value, place in values:
        source = place.path
        request = record(value, place)
        if request is None:
            continue
        for event in _list_records(request):
            told = lives.add(event.text("eventName"), _read_attributes(event), _time_of(event), source)
            yield from traces.add_all(told, source)
        if not _OTHER_SIGNALS.isdisjoint(request.fields):
            continue
        if "resourceSpans" not in request.fields:
            place.problem("holds no resourceSpans and is skipped; expected is an OTLP/JSON export request")
        for span in _read_spans(request):
            yield from traces.add_all(lives.add_raw(span), source)
    yield from traces.add_all(lives.rest(), source)
    yield from traces.rest()


def _is_life(value: object) -> bool:
    request = Record(fields_of(value), Place("", 0, lambda _: None))
    return any(event.text("eventName") in EVENTS for event in _list_records(request))


def _list_records(request: Record) -> Iterator[Record]:
    if "resourceLogs" not in request.fields:
        return
    for of_resource in request.children("resourceLogs"):
        for of_scope in of_resource.children("scopeLogs"):
            if of_scope.child("scope").text("name") == semconv.SCOPE:
                yield from of_scope.children("logRecords")


def _time_of(event: Record) -> int:
    return event.integer("timeUnixNano", minimum=0) or FIRST_NS


@dataclass(slots=True)
class _Traces:
    """Traces whose spans still come in, the one touched least recently first."""

    open: OrderedDict[int, _Trace] = field(default_factory=OrderedDict[int, "_Trace"])
    size: int = 0

    def add(self, span: RecordedSpan, source: str) -> Iterator[RecordedTrace]:
        trace = self.open.setdefault(span.trace_id, _Trace(source))
        self.open.move_to_end(span.trace_id)
        trace.spans.append(span)
        self.size += 1
        if self.size > MAX_OPEN_SPANS:
            yield self.close_oldest()

    def add_all(
        self, found: Iterable[RecordedLife | RecordedSpan], source: str
    ) -> Iterator[RecordedTrace | RecordedLife]:
        """Take the spans to their traces, and yield all else."""
        for each in found:
            if isinstance(each, RecordedSpan):
                yield from self.add(each, source)
            else:
                yield each

    def rest(self) -> Iterator[RecordedTrace]:
        while self.open:
            yield self.close_oldest()

    def close_oldest(self) -> RecordedTrace:
        trace_id, trace = self.open.popitem(last=False)
        self.size -= len(trace.spans)
        return RecordedTrace(run_id=f"{trace_id:032x}", source=trace.source, spans=in_order_of_end(trace.spans))


@dataclass(slots=True)
class _Trace:
    source: str
    spans: list[RecordedSpan] = field(default_factory=list[RecordedSpan])


def _read_spans(request: Record) -> Iterator[RecordedSpan]:
    for of_resource in request.children("resourceSpans"):
        resource = _read_attributes(of_resource.child("resource"))
        for of_scope in of_resource.children("scopeSpans"):
            scope = of_scope.child("scope")
            for span in of_scope.children("spans"):
                found = _read_span(span, scope, resource)
                if found is not None:
                    yield found


def _read_span(span: Record, scope: Record, resource: Mapping[str, AttributeValue]) -> RecordedSpan | None:
    trace_id, span_id = _read_id(span, "traceId", _TRACE_ID_BYTES), _read_id(span, "spanId", _SPAN_ID_BYTES)
    if not trace_id or not span_id:
        span.place.problem("needs a traceId of 16 bytes and a spanId of 8, in hex or base64, and is skipped")
        return None
    start_ns, end_ns = _read_times(span)
    status = span.child("status")
    return RecordedSpan(
        trace_id=trace_id,
        span_id=span_id,
        parent_id=_read_parent(span) or None,
        name=span.text("name"),
        start_ns=start_ns,
        end_ns=end_ns,
        kind=_KINDS.get(span.label("kind"), "internal"),
        status=_STATUSES.get(status.label("code"), "unset"),
        status_description=status.text("message"),
        attributes=_read_attributes(span),
        events=tuple(_read_event(event, end_ns) for event in span.children("events")),
        scope_name=scope.text("name"),
        scope_version=scope.text("version"),
        resource=resource,
        dropped_attributes=_read_count(span, "droppedAttributesCount"),
        dropped_events=_read_count(span, "droppedEventsCount"),
        dropped_links=_read_count(span, "droppedLinksCount"),
    )


def _read_event(event: Record, span_end_ns: int) -> RecordedEvent:
    return RecordedEvent(
        name=event.text("name"),
        time_ns=event.integer("timeUnixNano", minimum=0) or span_end_ns,
        attributes=_read_attributes(event),
        dropped_attributes=_read_count(event, "droppedAttributesCount"),
    )


def _read_times(span: Record) -> tuple[int, int]:
    # Of a span that lacks one of them both are the same.
    start_ns = span.integer("startTimeUnixNano", minimum=0)
    end_ns = span.integer("endTimeUnixNano", minimum=0)
    first = start_ns or end_ns or FIRST_NS
    return first, max(end_ns or first, first)


def _read_count(holder: Record, key: str) -> int:
    return holder.integer(key, minimum=0) or 0


def _read_parent(span: Record) -> int:
    parent_id = _read_id(span, "parentSpanId", _SPAN_ID_BYTES)
    if parent_id is None:
        span.place.inner("parentSpanId").problem("must be 8 bytes in hex or base64; it is ignored")
    return parent_id or 0


def _read_id(span: Record, key: str, size: int) -> int | None:
    # 0, which is no valid id, if it is missing; None if it cannot be read.
    text = span.text(key)
    try:
        raw = binascii.unhexlify(text) if len(text) == 2 * size else base64.b64decode(text, validate=True)
    except ValueError:
        return None
    return int.from_bytes(raw, "big") if len(raw) == size or not text else None


def _read_attributes(holder: Record) -> dict[str, AttributeValue]:
    found = ((item.text("key"), _read_attribute(item.child("value"))) for item in holder.children("attributes"))
    return {key: value for key, value in found if key and value is not None}


def _read_attribute(value: Record) -> AttributeValue | None:
    if "arrayValue" in value.fields:
        return _read_array(value.child("arrayValue"))
    if "kvlistValue" in value.fields:
        return value.json("kvlistValue")
    return _read_scalar(value)


def _read_array(array: Record) -> AttributeValue:
    # OpenTelemetry's Python API holds lists of one type only; any other list becomes JSON.
    items = [_read_scalar(item) for item in array.children("values")]
    if {type(item) for item in items} in _ELEMENTS:
        return cast("AttributeValue", tuple(items))
    return as_json(array.fields, array.place) if items else ()


def _read_scalar(value: Record) -> str | bool | int | float | None:
    for name, read_as in _SCALARS.items():
        if name in value.fields:
            return read_as(value, name)
    return None


def _read_double(value: Record, key: str) -> float | None:
    text = value.fields[key]
    return float(text) if isinstance(text, str) and text in _NO_JSON_NUMBERS else value.number(key)


_SCALARS: Final[dict[str, Callable[[Record, str], str | bool | int | float | None]]] = {
    "stringValue": Record.text,
    "boolValue": Record.flag,
    "intValue": Record.integer,
    "doubleValue": _read_double,
    "bytesValue": Record.text,
}
