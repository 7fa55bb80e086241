"""A raw error as a span in OTLP/JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from opentelemetry.trace import format_span_id, format_trace_id

from otel_errcompact import late
from otel_errcompact.audit.life import clip
from otel_errcompact.audit.otlp_json import write_attributes, write_text
from otel_errcompact.digest import encodable
from otel_errcompact.otel import semconv

if TYPE_CHECKING:
    from collections.abc import Mapping

    from otel_errcompact.audit.otlp_json import Value
    from otel_errcompact.errors import RawError, SpanRef

_INTERNAL: Final = 1
"""The kind of a span that is neither a client's nor a server's."""
_ERROR: Final = 2


def write_span(
    run_id: str,
    raw: RawError,
    text: str,
    span: SpanRef,
    time_ns: int,
    *,
    redacted: bool,
    named: Mapping[str, Value],
) -> str:
    """
    Return the span as OTLP/JSON has it.

    By hand, since the official encoder takes longer than all else that is done about a failure; a test compares.

    Args:
        run_id: The run's id.
        raw: The raw error.
        text: Its text, as far as the line keeps it.
        span: The ids of the span.
        time_ns: When it began and ended.
        redacted: Whether secrets are taken out.
        named: Further attributes of the span, which are written as they are.
    """
    exact = late.redact(text) if redacted else text
    details: dict[str, Value] = {
        semconv.EXCEPTION_TYPE: raw.type,
        semconv.EXCEPTION_MESSAGE: late.redact(raw.message) if redacted else raw.message,
        semconv.EXCEPTION_STACKTRACE: exact,
    }
    if not exact.isascii() and encodable(exact) != exact:
        details[semconv.RAW] = exact.encode("utf-8", "surrogatepass")
    attributes = {**_build_attributes(run_id, raw, redacted=redacted), **named}
    return (
        f'{{"traceId":"{format_trace_id(span.trace_id)}","spanId":"{format_span_id(span.span_id)}",'
        f'"name":{write_text(_name_span(raw))},"kind":{_INTERNAL},'
        f'"startTimeUnixNano":"{time_ns}","endTimeUnixNano":"{time_ns}",'
        f'"attributes":[{write_attributes(attributes)}],'
        f'"events":[{{"timeUnixNano":"{time_ns}","name":"{semconv.EXCEPTION_EVENT}",'
        f'"attributes":[{write_attributes(details)}]}}],'
        f'"status":{{"code":{_ERROR}}}}}'
    )


def _name_span(raw: RawError) -> str:
    if not raw.boundary or _is_model_call(raw):
        return str(raw.scope)
    return f"{semconv.SPAN_TOOL} {raw.tool}".rstrip()


def _is_model_call(raw: RawError) -> bool:
    return raw.tool == raw.operation.name and raw.tool in semconv.MODEL_OPERATIONS


def _build_attributes(run_id: str, raw: RawError, *, redacted: bool) -> dict[str, Value]:
    attributes: dict[str, Value] = {
        semconv.GEN_AI_CONVERSATION_ID: run_id,
        semconv.GEN_AI_AGENT_NAME: raw.agent,
    }
    if raw.boundary and _is_model_call(raw):
        attributes[semconv.GEN_AI_OPERATION_NAME] = raw.operation.name
    elif raw.boundary:
        attributes[semconv.GEN_AI_OPERATION_NAME] = semconv.SPAN_TOOL
        attributes[semconv.GEN_AI_TOOL_NAME] = raw.tool
        attributes[semconv.GEN_AI_TOOL_CALL_ID] = raw.call_id
        attributes[semconv.GEN_AI_TOOL_CALL_ARGUMENTS] = clip(late.redact(raw.arguments) if redacted else raw.arguments)
    if raw.exit_code is not None:
        attributes[semconv.PROCESS_EXIT_CODE] = raw.exit_code
    return attributes
