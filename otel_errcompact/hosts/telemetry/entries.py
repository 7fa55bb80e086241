"""READ: the spans and log records of an OTLP message."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from opentelemetry.sdk.trace import Event
from opentelemetry.trace import SpanContext, TraceFlags

from otel_errcompact.otel import semconv
from otel_errcompact.otel.data import EndedSpan, read_text
from otel_errcompact.runtime.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from opentelemetry.util.types import Attributes

MAX_DEPTH: Final = 16
"""Levels of nested values that are read; what lies deeper is left out."""

_STATUS_ERROR: Final = 2
_KIND_SERVER: Final = 2
_EVENTS: Final = 64
"""Events of one span that are read, the newest."""

Path = tuple[int, int, int]
"""Where an entry lies in its message: resource, scope, entry."""


class Place(NamedTuple):
    """What the entries of one scope share."""

    resource: Mapping[str, object]
    scope: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """
    One span or log record.
    """

    path: Path
    resource: Mapping[str, object]
    span: EndedSpan
    """The span; of a log record the span it was written in, with the record's attributes and time."""

    is_log: bool = False
    event: str = ""
    """The name of a log record's event."""

    body: str = ""
    """The body of a log record, if it is a text."""

    events_left_out: int = 0
    """How many events of the span stand before those that were read."""

    @property
    def name(self) -> str:
        """The name of the span, or of the log record's event."""
        return self.event if self.is_log else self.span.name

    @property
    def scope(self) -> str:
        """The name of the instrumentation scope."""
        return self.span.scope

    @property
    def service(self) -> str:
        """The name of the service that has sent it."""
        return read_text(self.resource, semconv.SERVICE_NAME)

    def text(self, *names: str) -> str:
        """Return the first of these attributes that has a value, as text."""
        attributes = self.span.attributes
        return next((found for name in names if (found := read_text(attributes, name))), "")

    def flag(self, name: str) -> bool | None:
        """Return an attribute that is yes or no, else None."""
        return _FLAGS.get(str(self.span.attributes.get(name, "")).lower())

    def number(self, name: str) -> int | None:
        """Return a whole number, also one in a text, else None."""
        value = self.span.attributes.get(name)
        if isinstance(value, str) and value.removeprefix("-").isdecimal() and len(value) < _DIGITS:
            return int(value)
        return value if isinstance(value, int) and not isinstance(value, bool) else None


_FLAGS: Final = {"true": True, "false": False}
_DIGITS: Final = 12


def read_entries(signal: str, message: Any) -> Iterator[Entry]:
    """
    Yield the entries of a request; none of a request with metrics.

    Args:
        signal: `traces`, `logs` or `metrics`.
        message: The request, decoded.
    """
    if signal == "metrics":
        return
    groups = message.resource_spans if signal == "traces" else message.resource_logs
    for i, group in enumerate(groups):
        resource = _read_attributes(group.resource.attributes)
        parts = group.scope_spans if signal == "traces" else group.scope_logs
        for j, part in enumerate(parts):
            place = Place(resource, part.scope.name)
            if signal == "traces":
                for k, span in enumerate(part.spans):
                    yield _read_span((i, j, k), place, span)
            else:
                for k, record in enumerate(part.log_records):
                    yield _read_record((i, j, k), place, record)


def _read_span(path: Path, place: Place, span: Any) -> Entry:
    trace_id, span_id = _number(span.trace_id), _number(span.span_id)
    parent_id = _number(span.parent_span_id)
    # The lowest byte holds the flags of the trace context; exporters that do not write it export what is sampled.
    context = SpanContext(trace_id, span_id, is_remote=True, trace_flags=TraceFlags(TraceFlags.SAMPLED))
    parent = SpanContext(trace_id, parent_id, is_remote=True) if parent_id else None
    failed = span.status.code == _STATUS_ERROR
    ended = EndedSpan(
        span.name,
        context,
        trace_id,
        span_id,
        parent,
        failed=failed,
        description=span.status.message or None if failed else None,
        attributes=_read_attributes(span.attributes),
        events=tuple(
            Event(event.name, cast("Attributes", _read_attributes(event.attributes)), event.time_unix_nano)
            for event in span.events[-_EVENTS:]
        ),
        scope=place.scope,
        start_ns=span.start_time_unix_nano,
        end_ns=span.end_time_unix_nano,
        is_server=span.kind == _KIND_SERVER,
    )
    return Entry(path=path, resource=place.resource, span=ended, events_left_out=max(0, len(span.events) - _EVENTS))


def _read_record(path: Path, place: Place, record: Any) -> Entry:
    attributes = _read_attributes(record.attributes)
    trace_id, span_id = _number(record.trace_id), _number(record.span_id)
    now = record.time_unix_nano or record.observed_time_unix_nano
    # Some loggers put the place in the source where the name of the event should be, and that beside.
    name = read_text(attributes, semconv.EVENT_NAME) or record.event_name
    context = SpanContext(trace_id, span_id, is_remote=True, trace_flags=TraceFlags(TraceFlags.SAMPLED))
    span = EndedSpan(
        name,
        context,
        trace_id,
        span_id,
        None,
        failed=False,
        description=None,
        attributes=attributes,
        events=(),
        scope=place.scope,
        start_ns=now,
        end_ns=now,
    )
    body = record.body.string_value if record.HasField("body") else ""
    return Entry(path=path, resource=place.resource, span=span, is_log=True, event=name, body=body)


def _number(identifier: bytes) -> int:
    return int.from_bytes(identifier, "big")


def _read_attributes(attributes: Any) -> dict[str, object]:
    return {attribute.key: _read_value(attribute.value, 0) for attribute in attributes}


def _read_value(value: Any, depth: int) -> object:
    kind = value.WhichOneof("value")
    if kind is None or depth > MAX_DEPTH:
        return None
    if kind == "array_value":
        return tuple(_read_value(item, depth + 1) for item in value.array_value.values)
    if kind == "kvlist_value":
        return {item.key: _read_value(item.value, depth + 1) for item in value.kvlist_value.values}
    return getattr(value, kind)


def encode_bytes(identifier: str) -> str:
    """
    Return an id in hexadecimal digits as Base64.

    That is how the JSON of protobuf holds bytes.

    Raises:
        ValueError: It is no id.
    """
    return base64.b64encode(bytes.fromhex(identifier)).decode("ascii")
