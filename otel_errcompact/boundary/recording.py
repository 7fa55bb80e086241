"""The raw error in telemetry, whole: an event or a log record."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from opentelemetry import trace
from opentelemetry.trace import Status, StatusCode

from otel_errcompact.digest import encodable, one_line
from otel_errcompact.errors import SpanRef
from otel_errcompact.history.history import SHORT_LENGTH
from otel_errcompact.otel import semconv
from otel_errcompact.otel.logs import records
from otel_errcompact.otel.metrics.labels import MAX_LABEL
from otel_errcompact.otel.spans.conventions import find_convention
from otel_errcompact.otel.spans.marks import COUNTED, MARK, find_linked
from otel_errcompact.runtime.foreign import mark_of

if TYPE_CHECKING:
    from opentelemetry._logs import LoggerProvider
    from opentelemetry.trace import Span

    from otel_errcompact.config import ExceptionSignal
    from otel_errcompact.errors import RawError
    from otel_errcompact.runtime.guard import Guard

_logger = logging.getLogger(semconv.SCOPE)

TOOL_ERROR: Final = semconv.TOOL_ERROR
MAX_DIGESTS: Final = 16
"""Digests of a run that are recognised when they come back."""


class Counted(NamedTuple):
    """
    The mark of a counted failure: when, and as which class.

    It stands on the exception object and holds no reference to it.
    """

    run_id: str
    at: int
    key: str
    text: str
    concluded: bool = False
    """Whether a framework has reported the call it left: seen there again, it was raised again."""

    type: str = ""
    """The type of its class."""


def mark_counted(error: BaseException, counted: Counted) -> None:
    """Mark an exception as counted, unless its class refuses attributes."""
    with suppress(Exception):
        setattr(error, COUNTED, counted)


def counted_since(error: BaseException, run_id: str, since: int) -> Counted | None:
    """
    Return the mark of an exception or its origins in this run.

    Args:
        error: The exception.
        run_id: The run's id.
        since: When the call began that the exception now leaves. An object that was counted earlier and is raised
            again is a new occurrence.
    """
    marks = (mark_of(link, COUNTED) for link in find_linked(error))
    return next(
        (mark for mark in marks if isinstance(mark, Counted) and mark.run_id == run_id and mark.at > since), None
    )


def counted_by_span(error: BaseException) -> bool:
    """Return whether the span processor has counted an exception or its origin."""
    return any(mark_of(link, MARK) is not None for link in find_linked(error))


class HandedOutDigests:
    """
    The newest digests of a run, which outer calls may fail with.
    """

    def __init__(self) -> None:
        self._digests: Final[deque[Counted]] = deque(maxlen=MAX_DIGESTS)

    def add(self, counted: Counted) -> None:
        """Add a digest, unless its text does not name its class."""
        if f"#{counted.key[:SHORT_LENGTH]}" in counted.text:
            self._digests.append(counted)

    def find(self, text: str, since: int = 0, *, once: bool = False) -> Counted | None:
        """
        Return the newest digest that an error quotes; None without one.

        Args:
            text: The text of an error.
            since: When the call began that has failed with it.
            once: Whether to forget the digest. Where the begin of a call is unknown, an error that quotes an earlier
                digest again and again is a loop.
        """
        newest_first = reversed(tuple(self._digests))  # other threads add to them meanwhile
        found = next((known for known in newest_first if known.at > since and known.text in text), None)
        if found is not None and once:
            with suppress(ValueError):  # another thread was faster
                self._digests.remove(found)
        return found


class Recorder:
    """
    Puts raw errors on their spans, into log records, or both.

    Args:
        signal: Which of them.
        logger_provider: Where log records go.
        guard: Keeps our own faults away from the application.
    """

    def __init__(self, signal: ExceptionSignal, logger_provider: LoggerProvider, guard: Guard) -> None:
        self._signal = signal
        self._logger_provider = logger_provider
        self._guard = guard

    def record(self, span: Span, raw: RawError, key: str, kind: str = "") -> None:
        """
        Record a raw error with its class on its span or beside.

        `error.type` of the span is that of the metrics, the type of the class: who filters spans by what a panel shows
        finds the failures that were counted there. `exception.type` of the event is what was raised.

        Args:
            span: The span.
            raw: The raw error.
            key: The dedup key; empty if the error could not be classified.
            kind: The type of the class; what was raised if empty.
        """
        details = _build_details(raw, raw.type or TOOL_ERROR, key)
        named: dict[str, str | int] = {
            semconv.ERROR_TYPE: one_line(kind[:MAX_LABEL], MAX_LABEL) or raw.type or TOOL_ERROR
        }
        if key:
            named[semconv.CLASS] = key
        named[semconv.CERTAINTY] = raw.certainty
        if raw.stated:
            named[semconv.STATED_BY] = raw.stated
        if raw.exit_code is not None:
            named[semconv.PROCESS_EXIT_CODE] = raw.exit_code
        span.set_attributes(named)
        message = one_line(raw.message or raw.text)
        span.set_status(Status(StatusCode.ERROR, message))
        logged = self._signal != "events" and self._log_error(raw, message, details)
        if not logged or self._signal == "logs/dup":
            span.add_event(semconv.EXCEPTION_EVENT, details)

    def _log_error(self, raw: RawError, message: str, details: dict[str, str | bytes]) -> bool:
        if not records.is_exported(self._logger_provider):
            _warn_once()
            return False
        with self._guard.stage("record"):
            event = semconv.TOOL_EXCEPTION if raw.boundary else semconv.RUN_EXCEPTION
            records.emit(self._logger_provider, event, message, details, span=raw.span, time_ns=raw.time_ns)
            return True
        return False


def _build_details(raw: RawError, kind: str, key: str) -> dict[str, str | bytes]:
    details: dict[str, str | bytes] = {
        semconv.EXCEPTION_TYPE: kind,
        semconv.EXCEPTION_MESSAGE: encodable(raw.message),
        semconv.EXCEPTION_STACKTRACE: encodable(raw.text),
    }
    if details[semconv.EXCEPTION_STACKTRACE] != raw.text:
        details[semconv.RAW] = raw.text.encode("utf-8", "surrogatepass")
    if key:
        details[semconv.CLASS] = key
    return details


@cache
def _warn_once() -> None:
    _logger.warning("exceptions are wanted as log records, but none are exported: raw errors stay on their spans")


def find_tool_span(tool: str, call_id: str) -> Span:
    """
    Return a framework's current span of a call, or the invalid span.

    Args:
        tool: The tool's name.
        call_id: The id of the call; empty if unknown.
    """
    return _find_tool_span(trace.get_current_span(), tool, call_id)


def _find_tool_span(span: Span, tool: str, call_id: str) -> Span:
    attributes = getattr(span, "attributes", None)
    if not span.is_recording() or not isinstance(attributes, Mapping):
        return trace.INVALID_SPAN
    known = cast("Mapping[str, object]", attributes)
    name, scope = str(getattr(span, "name", "")), getattr(span, "instrumentation_scope", None)
    is_tool = find_convention(scope.name if scope is not None else "").classify(name, known) == semconv.SPAN_TOOL
    # Some put the attributes on when the call is over, and till then have only named the span.
    known_tool = known.get(semconv.GEN_AI_TOOL_NAME)
    named = known_tool == tool if known_tool else name in {tool, semconv.MCP_TOOL_CALL} or name.endswith(f" {tool}")
    same_call = known.get(semconv.GEN_AI_TOOL_CALL_ID, call_id) in {call_id, ""}
    return span if is_tool and named and same_call and semconv.CLASS not in known else trace.INVALID_SPAN


def claim_tool_span(tool: str, call_id: str, key: str) -> None:
    """
    Claim a framework's span around a call, which is no occurrence.

    Args:
        tool: The tool's name.
        call_id: The id of the call; empty if unknown.
        key: The dedup key; empty if the call was refused.
    """
    span = trace.get_current_span()
    scope = getattr(span, "instrumentation_scope", None)
    if scope is None or scope.name == semconv.SCOPE:  # as where a run of ours is around the call
        return
    found = _find_tool_span(span, tool, call_id)
    if found is span:
        found.set_attribute(semconv.CLASS, key)


def span_ref(span: Span) -> SpanRef | None:
    """Return the ids of a span; None of one without any."""
    context = span.get_span_context()
    if not context.is_valid:
        return None
    return SpanRef(trace_id=context.trace_id, span_id=context.span_id, sampled=context.trace_flags.sampled)
