"""READ: the spans and log records of a request, within bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from opentelemetry.sdk.trace import Event
from opentelemetry.trace import SpanContext, TraceFlags

from otel_errcompact.otel import semconv
from otel_errcompact.otel.data import EndedSpan, read_text
from otel_errcompact.runtime.records import dataclass
from otel_errcompact_hosts.ports.edge import TOO_LARGE
from otel_errcompact_hosts.telemetry.bodies import BAD_REQUEST, JSON, RequestError
from otel_errcompact_hosts.telemetry.messages import (
    LOGS,
    MAX_JSON,
    RECORD,
    SPAN,
    TRACES,
    Bound,
    Piece,
    TooManyFieldsError,
    parse_json,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from opentelemetry.util.types import Attributes

    Found = dict[str, Any]

_STATUS_ERROR: Final = 2
_KIND_SERVER: Final = 2
_EVENTS: Final = 64
"""Events of one span that are read, the newest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """
    One span or log record.
    """

    content: Mapping[str, object]
    """All that is read of it, by the names of its fields."""

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


class Entries:
    """
    Reads the spans or log records of a request, one by one.

    Raises:
        RequestError: It is no such request, or too much to be split.
    """

    def __init__(self, signal: str, body: bytes, content_type: str) -> None:
        self._signal = signal
        self._content_type = content_type
        self._bound = Bound()
        try:
            self._request = self._open(body).read(_REQUESTS[signal], self._bound)
        except TooManyFieldsError as error:
            raise RequestError(TOO_LARGE, str(error)) from error
        except ValueError as error:
            raise self._refuse(error) from error

    def __len__(self) -> int:
        return sum(len(pieces) for _, _, pieces in self._list_parts())

    def __iter__(self) -> Iterator[Entry]:
        """
        Yield each entry, up to the bound of a request.

        Raises:
            RequestError: One is no span or log record.
        """
        schema, make = (SPAN, _make_span) if self._signal == "traces" else (RECORD, _make_record)
        for resource, scope, pieces in self._list_parts():
            for piece in pieces:
                try:
                    yield make(piece.read(schema, self._bound), resource, scope)
                except TooManyFieldsError:
                    return
                except ValueError as error:
                    raise self._refuse(error) from error

    def _list_parts(self) -> Iterator[tuple[dict[str, object], str, list[Piece]]]:
        for group in self._request.get("groups", ()):
            resource = _read_attributes(group.get("resource", {}))
            for part in group.get("parts", ()):
                yield resource, part.get("scope", {}).get("name", ""), part.get("entries", [])

    def _open(self, body: bytes) -> Piece:
        if self._content_type != JSON:
            return Piece(body, 0, len(body))
        if len(body) > MAX_JSON:
            raise RequestError(TOO_LARGE, f"the body is longer than {MAX_JSON} bytes of JSON; send smaller batches")
        return parse_json(body)

    def _refuse(self, error: ValueError) -> RequestError:
        kind = "JSON" if self._content_type == JSON else "protobuf"
        problem = str(error).partition("\n")[0][:200]
        return RequestError(BAD_REQUEST, f"the body is no request with {self._signal} in {kind}: {problem}")


_REQUESTS: Final = {"traces": TRACES, "logs": LOGS}


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
        event=name,
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
