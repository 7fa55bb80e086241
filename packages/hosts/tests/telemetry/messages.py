"""OTLP messages as agents send them, made from what was measured of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

if TYPE_CHECKING:
    from collections.abc import Mapping

TRACE: Final = 0x0AF7651916CD43DD8448EB211C80319C
NOW: Final = 1_764_200_000_000_000_000


def value(content: object) -> AnyValue:
    """A value of OTLP."""
    if isinstance(content, bool):
        return AnyValue(bool_value=content)
    if isinstance(content, int):
        return AnyValue(int_value=content)
    if isinstance(content, float):
        return AnyValue(double_value=content)
    if isinstance(content, tuple):
        return AnyValue(array_value=ArrayValue(values=[value(item) for item in content]))
    return AnyValue(string_value=str(content))


def attributes(content: Mapping[str, object]) -> list[KeyValue]:
    """Attributes of OTLP."""
    return [KeyValue(key=key, value=value(item)) for key, item in content.items()]


def record(
    content: Mapping[str, object],
    *,
    event: str = "",
    body: str = "",
    span_id: int = 0,
    at: int = NOW,
    severity: int = 9,
) -> LogRecord:
    """A log record."""
    return LogRecord(
        time_unix_nano=at,
        severity_number=severity,
        body=AnyValue(string_value=body) if body else None,
        attributes=attributes(content),
        trace_id=TRACE.to_bytes(16, "big") if span_id else b"",
        span_id=span_id.to_bytes(8, "big") if span_id else b"",
        event_name=event,
    )


def span(
    name: str,
    content: Mapping[str, object],
    *,
    span_id: int = 1,
    parent: int = 0,
    failed: bool = False,
    description: str = "",
    events: tuple[tuple[str, Mapping[str, object]], ...] = (),
    kind: int = 1,
    trace: int = TRACE,
) -> Span:
    """A span that has ended."""
    return Span(
        trace_id=trace.to_bytes(16, "big"),
        span_id=span_id.to_bytes(8, "big"),
        parent_span_id=parent.to_bytes(8, "big") if parent else b"",
        name=name,
        kind=kind,
        start_time_unix_nano=NOW,
        end_time_unix_nano=NOW + 1_000_000,
        attributes=attributes(content),
        events=[Span.Event(time_unix_nano=NOW, name=event, attributes=attributes(inside)) for event, inside in events],
        status=Status(code=2, message=description) if failed else None,
    )


def logs(*records: LogRecord, scope: str = "", service: str = "", **resource: object) -> ExportLogsServiceRequest:
    """A request with log records of one scope."""
    request = ExportLogsServiceRequest()
    group = request.resource_logs.add()
    group.resource.attributes.extend(attributes(_resource(service, resource)))
    part = group.scope_logs.add()
    part.scope.name = scope
    part.log_records.extend(records)
    return request


def spans(*ended: Span, scope: str = "", service: str = "", **resource: object) -> ExportTraceServiceRequest:
    """A request with spans of one scope."""
    request = ExportTraceServiceRequest()
    group = request.resource_spans.add()
    group.resource.attributes.extend(attributes(_resource(service, resource)))
    part = group.scope_spans.add()
    part.scope.name = scope
    part.spans.extend(ended)
    return request


def _resource(service: str, others: Mapping[str, object]) -> dict[str, object]:
    named = {name.replace("__", "."): content for name, content in others.items()}
    return {"service.name": service, **named} if service else named


def entries(request: Any) -> list[Any]:
    """All spans or log records of a request."""
    if isinstance(request, ExportTraceServiceRequest):
        return [each for group in request.resource_spans for part in group.scope_spans for each in part.spans]
    return [each for group in request.resource_logs for part in group.scope_logs for each in part.log_records]


def read_attributes(entry: Any) -> dict[str, str]:
    """The attributes of ours on a span, an event or a log record."""
    return {each.key: each.value.string_value for each in entry.attributes if each.key.startswith("errcompact.")}
