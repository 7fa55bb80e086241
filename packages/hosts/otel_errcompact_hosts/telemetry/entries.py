"""READ: the spans and log records of a request, within bounds."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final, cast

from google.protobuf.message import DecodeError
from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from opentelemetry.sdk.trace import Event
from opentelemetry.trace import SpanContext, TraceFlags

from otel_errcompact.otel import semconv
from otel_errcompact.otel.data import EndedSpan, read_text
from otel_errcompact.runtime.records import dataclass
from otel_errcompact_hosts.telemetry.bodies import BAD_REQUEST, TOO_LARGE, RequestError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from opentelemetry.util.types import Attributes

MAX_ENTRIES: Final = 16_384
"""Spans or log records of a request at most, with the resources and scopes around them."""

MAX_VALUES: Final = 1_000_000
"""Values of attributes in a request at most."""

MAX_ENTRY_BYTES: Final = 4 * 1024 * 1024
"""Bytes of one span or log record that is read: its values take thirty times as much memory at worst."""

MAX_DEPTH: Final = 16
"""Levels of nested values that are read; what lies deeper is left out."""

_VARINT, _LENGTH = 0, 2
_FIXED: Final = {1: 8, 5: 4}
_LAST_SHIFT: Final = 63
_GROUPS, _PARTS, _ENTRIES = 1, 2, 2
"""The fields of a request, of what belongs to a resource, and of what belongs to a scope; the same in both signals."""
_ABOUT: Final = 1
"""The field of the last two that holds the resource or the scope itself."""

_STATUS_ERROR: Final = 2
_KIND_SERVER: Final = 2
_EVENTS: Final = 64
"""Events of one span that are read, the newest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """
    One span or log record.
    """

    raw: bytes
    """The entry as it came."""

    resource: Mapping[str, object]
    span: EndedSpan
    """The span; of a log record the span it was written in, with the record's attributes and time."""

    is_log: bool = False
    event: str = ""
    """The name of a log record's event."""

    body: str = ""
    """The body of a log record, if it is a text."""

    @property
    def name(self) -> str:
        """The name of the span, or of the log record's event."""
        return self.span.name

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


def read_entries(signal: str, request: bytes, on_skipped: Callable[[], object]) -> tuple[Entry, ...]:
    """
    Return the entries of a request, without those too long.

    Raises:
        RequestError: It is no such request, or has more than `MAX_ENTRIES` or `MAX_VALUES`.
    """
    try:
        return tuple(_read_groups(signal, request, on_skipped))
    except (DecodeError, ValueError) as error:
        raise RequestError(BAD_REQUEST, f"the body is no request with {signal} in protobuf: {error}") from error


def _read_groups(signal: str, request: bytes, on_skipped: Callable[[], object]) -> Iterator[Entry]:
    fields = _count_down(MAX_ENTRIES, "spans or log records")
    values = _count_down(MAX_VALUES, "values")
    for group in _split_message(request, fields)[_GROUPS]:
        parts = _split_message(group, fields)
        resource = _read_attributes(Resource.FromString(_join_pieces(parts[_ABOUT])).attributes, values)
        for part in parts[_PARTS]:
            found = _split_message(part, fields)
            scope = InstrumentationScope.FromString(_join_pieces(found[_ABOUT])).name
            for raw in found[_ENTRIES]:
                if len(raw) > MAX_ENTRY_BYTES:
                    on_skipped()
                elif signal == "traces":
                    yield Entry(raw=raw, resource=resource, span=_read_span(Span.FromString(raw), scope, values))
                else:
                    yield _read_record(raw, resource, scope, values)


def _count_down(limit: int, what: str) -> Iterator[None]:
    yield from (None for _ in range(limit))
    raise RequestError(TOO_LARGE, f"the request has more than {limit} {what}; send smaller batches")


def _join_pieces(pieces: list[bytes]) -> bytes:
    # A message that comes in several pieces is all of them.
    message = b"".join(pieces)
    if len(message) > MAX_ENTRY_BYTES:
        raise RequestError(TOO_LARGE, f"a resource or scope has more than {MAX_ENTRY_BYTES} bytes; send less of it")
    return message


def _split_message(message: bytes, left: Iterator[None]) -> Mapping[int, list[bytes]]:
    # The messages inside one, by the numbers of their fields: none of them is read for it.
    found: defaultdict[int, list[bytes]] = defaultdict(list)
    at = 0
    while at < len(message):
        next(left)
        tag, at = _read_number(message, at)
        kind = tag & 7
        if kind == _VARINT:
            _, at = _read_number(message, at)
        elif kind == _LENGTH:
            size, at = _read_number(message, at)
            found[tag >> 3].append(message[at : at + size])
            at += size
        elif kind in _FIXED:
            at += _FIXED[kind]
        else:
            raise ValueError(f"a field of the wire type {kind}, which OTLP has not")
    if at > len(message):
        raise ValueError("a field is longer than its message")
    return found


def _read_number(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(message) and shift <= _LAST_SHIFT:
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:  # noqa: PLR2004 - the highest bit says that more follows
            return value, at
        shift += 7
    raise ValueError("a number without an end")


def _read_span(span: Any, scope: str, values: Iterator[None]) -> EndedSpan:
    trace_id, span_id, parent_id = _read_id(span.trace_id), _read_id(span.span_id), _read_id(span.parent_span_id)
    sampled = TraceFlags(TraceFlags.SAMPLED)
    return EndedSpan(
        span.name,
        SpanContext(trace_id, span_id, is_remote=True, trace_flags=sampled),
        trace_id,
        span_id,
        SpanContext(trace_id, parent_id, is_remote=True, trace_flags=sampled) if parent_id else None,
        failed=span.status.code == _STATUS_ERROR,
        description=span.status.message or None,
        attributes=_read_attributes(span.attributes, values),
        events=tuple(
            Event(event.name, cast("Attributes", _read_attributes(event.attributes, values)), event.time_unix_nano)
            for event in span.events[-_EVENTS:]
        ),
        scope=scope,
        start_ns=span.start_time_unix_nano,
        end_ns=span.end_time_unix_nano,
        is_server=span.kind == _KIND_SERVER,
    )


def _read_record(raw: bytes, resource: Mapping[str, object], scope: str, values: Iterator[None]) -> Entry:
    record = LogRecord.FromString(raw)
    now = record.time_unix_nano or record.observed_time_unix_nano
    place = Span(trace_id=record.trace_id, span_id=record.span_id, start_time_unix_nano=now, end_time_unix_nano=now)
    attributes = _read_attributes(record.attributes, values)
    # Some loggers put the place in the source where the name of the event should be, and that beside.
    name = read_text(attributes, semconv.EVENT_NAME) or record.event_name
    span = _read_span(place, scope, values)._replace(name=name, attributes=attributes)
    return Entry(raw=raw, resource=resource, span=span, is_log=True, event=name, body=record.body.string_value)


def _read_id(identifier: bytes) -> int:
    return int.from_bytes(identifier, "big")


def _read_attributes(attributes: Any, values: Iterator[None]) -> dict[str, object]:
    return {attribute.key: _read_value(attribute.value, values, 0) for attribute in attributes}


def _read_value(value: Any, values: Iterator[None], depth: int) -> object:
    next(values)
    kind = value.WhichOneof("value")
    if kind is None or depth > MAX_DEPTH:
        return None
    if kind == "array_value":
        return tuple(_read_value(item, values, depth + 1) for item in value.array_value.values)
    if kind == "kvlist_value":
        return {item.key: _read_value(item.value, values, depth + 1) for item in value.kvlist_value.values}
    return getattr(value, kind)
