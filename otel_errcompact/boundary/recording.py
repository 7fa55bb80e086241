"""The raw error on the span: an `exception` event that holds it whole."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from opentelemetry import trace
from opentelemetry.trace import Status, StatusCode

from otel_errcompact.digest import encodable, one_line
from otel_errcompact.errors import SpanRef
from otel_errcompact.otel import semconv
from otel_errcompact.otel.occurrences import MARK, chain

if TYPE_CHECKING:
    from opentelemetry.trace import Span

    from otel_errcompact.errors import RawError

TOOL_ERROR: Final = "tool_error"
"""`error.type` of a result that is an error without an exception, as the MCP conventions have it."""


COUNTED: Final = "__errcompact_counted__"


class Counted(NamedTuple):
    """
    That an exception was counted, when, and as what. It stands on the exception object and holds no reference to it.
    """

    run_id: str
    at: int
    key: str
    text: str
    concluded: bool = False
    """Whether the call it left was told of by a framework: seen there again, the object was raised again."""


def mark_counted(error: BaseException, counted: Counted) -> None:
    """Write on an exception that it was counted; classes that refuse attributes go without."""
    with suppress(Exception):
        setattr(error, COUNTED, counted)


def counted_since(error: BaseException, run_id: str, since: int) -> Counted | None:
    """
    Return what an exception, or one it was raised from, was already counted as in this run.

    Args:
        error: The exception.
        run_id: The run's id.
        since: When the call began that the exception now leaves. An object that was counted earlier and is raised
            again is a new occurrence.
    """
    marks = (getattr(link, COUNTED, None) for link in chain(error))
    return next(
        (mark for mark in marks if isinstance(mark, Counted) and mark.run_id == run_id and mark.at > since), None
    )


def counted_by_span(error: BaseException) -> bool:
    """Tell whether the span processor has counted an exception, or one it was raised from."""
    return any(getattr(link, MARK, None) is not None for link in chain(error))


def record(span: Span, raw: RawError, key: str) -> None:
    """
    Put a raw error on its span, with the class it was given, so that operators get from a class to its traces.

    Args:
        span: The span.
        raw: The raw error.
        key: The dedup key; empty if the error could not be classified.
    """
    kind = raw.type or TOOL_ERROR
    event: dict[str, str | bytes] = {
        semconv.EXCEPTION_TYPE: kind,
        semconv.EXCEPTION_MESSAGE: encodable(raw.message),
        semconv.EXCEPTION_STACKTRACE: encodable(raw.text),
    }
    if event[semconv.EXCEPTION_STACKTRACE] != raw.text:
        event[semconv.RAW] = raw.text.encode("utf-8", "surrogatepass")
    if key:
        event[semconv.CLASS] = key
        span.set_attribute(semconv.CLASS, key)
    span.add_event(semconv.EXCEPTION_EVENT, event)
    span.set_attribute(semconv.ERROR_TYPE, kind)
    if raw.detected:
        span.set_attribute(semconv.DETECTED, raw.detected)
    if raw.exit_code is not None:
        span.set_attribute(semconv.PROCESS_EXIT_CODE, raw.exit_code)
    span.set_status(Status(StatusCode.ERROR, one_line(raw.message or raw.text)))


def tool_span(tool: str, call_id: str) -> Span:
    """
    Return the span that a framework has opened for a tool call if it is the current one, else the invalid span.

    Args:
        tool: The tool's name.
        call_id: The id of the call; empty if unknown.
    """
    span = trace.get_current_span()
    attributes = getattr(span, "attributes", None)
    if not span.is_recording() or not isinstance(attributes, Mapping):
        return trace.INVALID_SPAN
    told = cast("Mapping[str, object]", attributes)
    # Some frameworks put the attributes on when the call is over, and till then have only named the span, if at all.
    called = getattr(span, "name", "")
    named = told.get(semconv.GEN_AI_TOOL_NAME) == tool or called in {
        f"{semconv.SPAN_TOOL} {tool}",
        semconv.MCP_TOOL_CALL,
    }
    same_call = told.get(semconv.GEN_AI_TOOL_CALL_ID, call_id) in {call_id, ""}
    return span if named and same_call and semconv.CLASS not in told else trace.INVALID_SPAN


def span_ref(span: Span) -> SpanRef | None:
    """Return the ids of `span`, or None for a span that is not real."""
    context = span.get_span_context()
    if not context.is_valid:
        return None
    return SpanRef(trace_id=context.trace_id, span_id=context.span_id, sampled=context.trace_flags.sampled)
