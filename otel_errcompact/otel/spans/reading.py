"""Read an ended span: call, agent and conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.otel import sdk, semconv
from otel_errcompact.otel.data import BoundaryCall
from otel_errcompact.otel.spans.conventions import AGENTS, read_text, translate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from opentelemetry.sdk.trace import ReadableSpan

    from otel_errcompact.otel.data import EndedSpan

NO_CALL_ID: Final = "<not specified>"
"""The call id that Google ADK writes where there is none."""


def read_span(span: ReadableSpan) -> EndedSpan:
    """Return an ended span in the words of the official convention."""
    return translate(sdk.read_span(span))


def read_call(span: EndedSpan) -> BoundaryCall | None:
    """
    Return the call that an ended span bounds, or None.

    At its start the name alone makes a span a candidate; whether it is a boundary only its attributes tell.
    """
    attributes = span.attributes
    operation = read_text(attributes, semconv.GEN_AI_OPERATION_NAME)
    if operation in semconv.MODEL_OPERATIONS:
        return BoundaryCall(tool=operation)
    if operation != semconv.SPAN_TOOL and read_text(attributes, semconv.MCP_METHOD_NAME) != semconv.MCP_TOOL_CALL:
        return None
    tool = read_text(attributes, semconv.GEN_AI_TOOL_NAME) or span.name.partition(" ")[2]
    return BoundaryCall(
        tool=tool,
        call_id=read_text(attributes, semconv.GEN_AI_TOOL_CALL_ID).removeprefix(NO_CALL_ID),
        arguments=read_text(attributes, semconv.GEN_AI_TOOL_CALL_ARGUMENTS),
    )


def read_conversation(span: EndedSpan) -> str:
    """Return the conversation or session that a span names, or nothing."""
    attributes = span.attributes
    return read_text(attributes, semconv.GEN_AI_CONVERSATION_ID) or read_text(attributes, semconv.SESSION_ID)


def read_agent(span: EndedSpan) -> str:
    """Return the agent that a span names, or nothing."""
    return read_text(span.attributes, semconv.GEN_AI_AGENT_NAME)


def read_class(span: EndedSpan) -> str:
    """Return the dedup key that a span's maker set, or nothing."""
    return read_text(span.attributes, semconv.CLASS)


def read_http_status(attributes: Mapping[str, object]) -> str:
    """Return the HTTP status of a span; empty if there is none."""
    return read_text(attributes, semconv.HTTP_RESPONSE_STATUS_CODE) or read_text(attributes, semconv.HTTP_STATUS_CODE)


def read_http_url(attributes: Mapping[str, object]) -> str:
    """Return the address of an HTTP client's span, or nothing."""
    return read_text(attributes, semconv.URL_FULL) or read_text(attributes, semconv.HTTP_URL)


def is_agent(span: EndedSpan) -> bool:
    """
    Return whether a span is an agent's or a workflow's.

    Such a span reports inner failures in words of its own.
    """
    return read_text(span.attributes, semconv.GEN_AI_OPERATION_NAME) in AGENTS


def is_serving(span: EndedSpan) -> bool:
    """
    Return whether a span is a tool call's server side.

    The run is the caller's.
    """
    return span.is_server and read_text(span.attributes, semconv.MCP_METHOD_NAME) == semconv.MCP_TOOL_CALL


def is_made_here(span: EndedSpan) -> bool:
    """Return whether a boundary of this library has made a span."""
    return span.scope == semconv.SCOPE


def is_settled_by_maker(span: EndedSpan) -> bool:
    """
    Return whether a boundary of this library counts the span's call.

    It has made the span; or it found the span open for the call, and put the class on it or refused the call.
    """
    return is_made_here(span) or semconv.CLASS in span.attributes or is_refused(span)


def is_refused(span: EndedSpan) -> bool:
    """Return whether our boundary refused the span's call."""
    return semconv.OUTCOME in span.attributes
