"""A raw error as a span in OTLP/JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from opentelemetry.trace import format_span_id, format_trace_id

from otel_errcompact.audit.life import clip
from otel_errcompact.audit.otlp_json import to_key_values
from otel_errcompact.digest import encodable, one_line
from otel_errcompact.otel import semconv
from otel_errcompact.redaction.redact import redact

if TYPE_CHECKING:
    from collections.abc import Mapping

    from otel_errcompact.errors import RawError, SpanRef

_INTERNAL: Final = 1
"""The kind of a span that is neither a client's nor a server's."""
_ERROR: Final = 2
_NOT_REMOTE: Final = 0x100
"""The flag of a parent that is known to be in the same process."""


def encode_span(
    run_id: str, raw: RawError, text: str, span: SpanRef, time_ns: int, *, redacted: bool
) -> dict[str, Any]:
    """
    Return the span as OTLP/JSON has it.

    By hand, since the official encoder takes longer than all else that is done about a failure; a test compares.
    """
    exact = redact(text) if redacted else text
    message = redact(raw.message) if redacted else raw.message
    details: dict[str, Any] = {
        semconv.EXCEPTION_TYPE: raw.type,
        semconv.EXCEPTION_MESSAGE: message,
        semconv.EXCEPTION_STACKTRACE: exact,
    }
    if not raw.type and not message:
        details[semconv.EXCEPTION_TYPE] = semconv.TOOL_ERROR
    details = _drop_empty(details)
    if details.get(semconv.EXCEPTION_STACKTRACE, "") != exact:
        details[semconv.RAW] = exact.encode("utf-8", "surrogatepass")
    at = str(time_ns)
    return {
        "traceId": format_trace_id(span.trace_id),
        "spanId": format_span_id(span.span_id),
        "name": encodable(_name_span(raw)),
        "kind": _INTERNAL,
        "startTimeUnixNano": at,
        "endTimeUnixNano": at,
        "attributes": to_key_values(_build_attributes(run_id, raw, redacted=redacted)),
        "events": [{"timeUnixNano": at, "name": semconv.EXCEPTION_EVENT, "attributes": to_key_values(details)}],
        "status": {"message": one_line(encodable(message or raw.type or exact[:400])), "code": _ERROR},
        "flags": _NOT_REMOTE,
    }


def _name_span(raw: RawError) -> str:
    if not raw.boundary or _is_model_call(raw):
        return str(raw.scope)
    return f"{semconv.SPAN_TOOL} {raw.tool}".rstrip()


def _is_model_call(raw: RawError) -> bool:
    return raw.tool == raw.operation.name and raw.tool in semconv.MODEL_OPERATIONS


def _build_attributes(run_id: str, raw: RawError, *, redacted: bool) -> dict[str, Any]:
    attributes: dict[str, Any] = {
        semconv.GEN_AI_CONVERSATION_ID: run_id,
        semconv.RUN_ID: run_id,
        semconv.GEN_AI_AGENT_NAME: raw.agent,
        semconv.ERROR_TYPE: raw.type or semconv.TOOL_ERROR,
    }
    if raw.boundary and _is_model_call(raw):
        attributes[semconv.GEN_AI_OPERATION_NAME] = raw.operation.name
    elif raw.boundary:
        attributes[semconv.GEN_AI_OPERATION_NAME] = semconv.SPAN_TOOL
        attributes[semconv.GEN_AI_TOOL_NAME] = raw.tool
        attributes[semconv.GEN_AI_TOOL_CALL_ID] = raw.call_id
        attributes[semconv.GEN_AI_TOOL_CALL_ARGUMENTS] = clip(redact(raw.arguments) if redacted else raw.arguments)
    attributes = _drop_empty(attributes)
    if raw.exit_code is not None:
        attributes[semconv.PROCESS_EXIT_CODE] = raw.exit_code
    return attributes


def _drop_empty(attributes: Mapping[str, str]) -> dict[str, Any]:
    """Leave out empty values and escape lone surrogates, which UTF-8 cannot hold."""
    return {name: encodable(value) for name, value in attributes.items() if value}
