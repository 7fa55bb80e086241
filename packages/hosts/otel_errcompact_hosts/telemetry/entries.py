"""READ: the spans and log records of a request, within bounds."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, cast

from opentelemetry.sdk.trace import Event
from opentelemetry.trace import SpanContext, TraceFlags

from otel_errcompact.otel import semconv
from otel_errcompact.otel.data import EndedSpan, read_text
from otel_errcompact.runtime.records import dataclass
from otel_errcompact_hosts.telemetry.bodies import BAD_REQUEST, JSON, RequestError
from otel_errcompact_hosts.telemetry.messages import RECORD, SPAN, Reader, describe_request, parse_json

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping

    from opentelemetry.util.types import Attributes

    Found = dict[str, Any]

_NAMES: Final = {
    "traces": ("resourceSpans", "scopeSpans", "spans"),
    "logs": ("resourceLogs", "scopeLogs", "logRecords"),
}
_STATUS_ERROR: Final = 2
_KIND_SERVER: Final = 2
_EVENTS: Final = 64
"""Events of one span that are read, the newest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One span or log record."""

    content: Mapping[str, object]
    """All that is read of it, by the names of its fields."""

    resource: Mapping[str, object]
    span: EndedSpan
    """The span; of a log record the span it was written in, with the record's attributes and time."""

    is_log: bool = False
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


class Entries:
    """
    Reads the spans or log records of a request, one by one.

    Raises:
        RequestError: It is no such request, or too much to be split.
    """

    def __init__(self, signal: str, body: bytes, content_type: str) -> None:
        self._signal = signal
        self._kind = "JSON" if content_type == JSON else "protobuf"
        self._reader = Reader()
        names = _NAMES[signal]
        with self._refusing():
            request = parse_json(body) if content_type == JSON else body
            found = self._reader.read(request, describe_request(*names))
        self._parts: list[tuple[Found, Found, list[Any]]] = [
            (group.get("resource", {}), part.get("scope", {}), part.get(names[2], []))
            for group in found.get(names[0], ())
            for part in group.get(names[1], ())
        ]

    def __len__(self) -> int:
        return sum(len(pieces) for _, _, pieces in self._parts)

    def __iter__(self) -> Iterator[Entry]:
        """
        Yield each entry, up to the bound of a request.

        Raises:
            RequestError: One is no span or log record.
        """
        schema, make = (SPAN, _make_span) if self._signal == "traces" else (RECORD, _make_record)
        with self._refusing():
            for resource, scope, pieces in self._parts:
                about = _read_attributes(resource)
                for piece in pieces:
                    try:
                        found = self._reader.read(piece, schema)
                    except RequestError:
                        return
                    yield make(found, about, scope.get("name", ""))

    @contextmanager
    def _refusing(self) -> Generator[None]:
        try:
            yield
        except ValueError as error:
            problem = str(error).partition("\n")[0][:200]
            raise RequestError(
                BAD_REQUEST, f"the body is no request with {self._signal} in {self._kind}: {problem}"
            ) from error


def _make_span(found: Found, resource: Mapping[str, object], scope: str) -> Entry:
    return Entry(content=found, resource=resource, span=_read_span(found, scope))


def _make_record(found: Found, resource: Mapping[str, object], scope: str) -> Entry:
    now, body = found.get("timeUnixNano") or found.get("observedTimeUnixNano", 0), found.get("body")
    span = _read_span({**found, "startTimeUnixNano": now, "endTimeUnixNano": now}, scope)
    # Some loggers put the place in the source where the name of the event should be, and that beside.
    name = read_text(span.attributes, semconv.EVENT_NAME) or found.get("eventName", "")
    return Entry(
        content=found,
        resource=resource,
        span=span._replace(name=name),
        is_log=True,
        body=body if isinstance(body, str) else "",
    )


def _read_span(found: Found, scope: str) -> EndedSpan:
    trace_id, span_id, parent_id = (found.get(name, 0) for name in ("traceId", "spanId", "parentSpanId"))
    sampled, status = TraceFlags(TraceFlags.SAMPLED), found.get("status", {})
    return EndedSpan(
        found.get("name", ""),
        SpanContext(trace_id, span_id, is_remote=True, trace_flags=sampled),
        trace_id,
        span_id,
        SpanContext(trace_id, parent_id, is_remote=True, trace_flags=sampled) if parent_id else None,
        failed=status.get("code") == _STATUS_ERROR,
        description=status.get("message") or None,
        attributes=_read_attributes(found),
        events=tuple(
            Event(event.get("name", ""), cast("Attributes", _read_attributes(event)), event.get("timeUnixNano", 0))
            for event in found.get("events", [])[-_EVENTS:]
        ),
        scope=scope,
        start_ns=found.get("startTimeUnixNano", 0),
        end_ns=found.get("endTimeUnixNano", 0),
        is_server=found.get("kind") == _KIND_SERVER,
    )


def _read_attributes(found: Found) -> dict[str, object]:
    return dict(found.get("attributes", ()))
