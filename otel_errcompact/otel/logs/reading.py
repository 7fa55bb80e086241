"""READ: log records that report an exception."""

from __future__ import annotations

import re
import sys
import time
from typing import TYPE_CHECKING, Any, Final

from opentelemetry import trace
from opentelemetry._logs import SeverityNumber
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import SpanContext, TraceFlags

from otel_errcompact.otel import semconv
from otel_errcompact.otel.data import EndedSpan, LoggedFailure, Recorded
from otel_errcompact.otel.sdk import copy_attributes
from otel_errcompact.otel.spans.context import is_in_call
from otel_errcompact.otel.spans.conventions import read_span
from otel_errcompact.otel.spans.recorded import bare_name, read_exception, read_recorded
from otel_errcompact.runtime.foreign import qualified_name_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from opentelemetry.context import Context

SEVERE: Final = SeverityNumber.ERROR.value

_TELEMETRY: Final = ("opentelemetry.sdk", "opentelemetry.exporter")
"""Loggers of telemetry's own faults. Instrumentations, which report the application's, have other names."""

_LAST_FRAME: Final = '\n  File "'


def read_event_name(record: Any, attributes: Mapping[str, object]) -> str:
    """Return a record's event name, in older SDKs an attribute, or nothing."""
    name = getattr(record, "event_name", None) or attributes.get(semconv.EVENT_NAME)
    return name if isinstance(name, str) else ""


def is_exception_event(name: str) -> bool:
    """Return whether an event of this name is an exception."""
    return name == semconv.EXCEPTION_EVENT or name.endswith(semconv.EXCEPTION_SUFFIX)


def read_record(data: Any) -> LoggedFailure | None:
    """
    Return the failure in a log record, or None.

    None also for a record of ours, and of telemetry itself.

    Args:
        data: The argument of a processor of log records: in older SDKs a `LogData`, now a `ReadWriteLogRecord`, each
            with the record and its scope.
    """
    record = data.log_record
    attributes = copy_attributes(record.attributes)
    named = is_exception_event(read_event_name(record, attributes))
    carried: BaseException | None = getattr(record, "exception", None)
    scope = data.instrumentation_scope.name if data.instrumentation_scope is not None else ""
    if not named and carried is None and semconv.EXCEPTION_TYPE not in attributes:
        return None
    if scope == semconv.SCOPE or scope.startswith(_TELEMETRY):
        return None
    context = getattr(record, "context", None)
    place = _read_place(record, attributes, scope, context)
    recorded = read_recorded(place, attributes) or Recorded("", "", str(record.body or ""), traced=False)
    live = carried if carried is not None else _find_live(recorded)
    severity = record.severity_number
    return LoggedFailure(
        place,
        _complete_record(recorded) if live is None else _read_live(live, recorded),
        live,
        named,
        severity is not None and severity.value >= SEVERE,
        is_in_call(context),
    )


def _read_place(record: Any, attributes: dict[str, object], scope: str, context: Context | None) -> EndedSpan:
    now = record.timestamp or record.observed_timestamp or time.time_ns()
    trace_id, span_id = record.trace_id or 0, record.span_id or 0
    span = trace.get_current_span(context)
    there = span.get_span_context()
    if isinstance(span, ReadableSpan) and (there.trace_id, there.span_id) == (trace_id, span_id):
        around = read_span(span)
        attributes = {**around.attributes, **attributes}
        return around._replace(failed=False, description=None, attributes=attributes, events=(), end_ns=now)
    flags = TraceFlags(record.trace_flags or TraceFlags.DEFAULT)
    there = SpanContext(trace_id, span_id, is_remote=False, trace_flags=flags)
    return EndedSpan(scope, there, trace_id, span_id, attributes=attributes, scope=scope, start_ns=now, end_ns=now)


def _find_live(recorded: Recorded) -> BaseException | None:
    """Return the exception that is being handled, if the record reports it."""
    live = sys.exc_info()[1]
    if live is None or bare_name(recorded.type) != type(live).__name__:
        return None
    try:
        # The standard library's handler writes the first argument in place of the message.
        known = recorded.message in {str(live), str(live.args[0]) if live.args else ""}
    except Exception:  # noqa: BLE001 - the application's own __str__ may raise anything
        return None
    return live if known else None


def _read_live(live: BaseException, recorded: Recorded) -> Recorded:
    """Return the record of a live exception, as a span has it."""
    if not recorded.traced:
        return read_exception(live)
    try:
        return Recorded(qualified_name_of(type(live)), str(live), recorded.text, traced=True)
    except Exception:  # noqa: BLE001 - as above
        return recorded


def _complete_record(recorded: Recorded) -> Recorded:
    """
    Return type and message from the end of the stack text.

    The standard library's handler shortens both.
    """
    start = recorded.text.rfind(_LAST_FRAME)
    if start < 0 or not recorded.type:
        return recorded
    last = rf"^((?:[\w<>]+\.)*{re.escape(bare_name(recorded.type))})(?:: (.*))?\Z"
    found = re.search(last, recorded.text[start:].rstrip("\n"), re.MULTILINE | re.DOTALL)
    if found is None or recorded.message not in (found[2] or ""):
        return recorded
    return recorded._replace(type=found[1], message=found[2] or "")
