"""The life of a run as OTLP/JSON: each thing that the ledger tells, as the attributes of one log record."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, Final

from opentelemetry.trace import format_span_id, format_trace_id

from otel_errcompact.digest import encodable
from otel_errcompact.otel import semconv

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from otel_errcompact.engine.observations import BegunRun, Observation, Refusal, Resumed, Success
    from otel_errcompact.engine.report import RunReport
    from otel_errcompact.errors import Operation, RawError, SpanRef
    from otel_errcompact.escalator.escalation import AnsweredEscalation, Escalation
    from otel_errcompact.history.history import ErrorClass

Value = str | bytes | bool | int | tuple[str, ...]

MAX_TEXT: Final = 65_536
"""Characters of one text in a line that is no raw error, and of a call's arguments; longer ones lose their middle."""

INFO: Final = 9
ERROR: Final = 17
"""Severity numbers."""

_SEVERITIES: Final = {INFO: "INFO", ERROR: "ERROR"}


def log_record(
    event: str, attributes: Mapping[str, Value], *, time_ns: int, severity: int = INFO, span: SpanRef | None = None
) -> dict[str, Any]:
    """Return a log record as OTLP/JSON has it; attributes that say nothing are left out."""
    at = str(time_ns)
    fields: dict[str, Any] = {
        "timeUnixNano": at,
        "observedTimeUnixNano": at,
        "severityNumber": severity,
        "severityText": _SEVERITIES[severity],
        "eventName": event,
        "attributes": key_values(attributes),
    }
    if span is not None:
        fields["traceId"] = format_trace_id(span.trace_id)
        fields["spanId"] = format_span_id(span.span_id)
    return fields


def key_values(attributes: Mapping[str, Value]) -> list[dict[str, object]]:
    """Return attributes as OTLP/JSON has them, without empty texts, False and empty lists."""
    return [
        {"key": name, "value": any_value(value)}
        for name, value in attributes.items()
        if value or (value == 0 and value is not False)
    ]


def any_value(value: Value) -> dict[str, Any]:
    """Return one value as OTLP/JSON has it."""
    if isinstance(value, str):
        return {"stringValue": encodable(value)}
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, bytes):
        return {"bytesValue": base64.b64encode(value).decode("ascii")}
    return {"arrayValue": {"values": [{"stringValue": encodable(item)} for item in value]}}


def clipped(text: str, limit: int = MAX_TEXT) -> str:
    """Return a text without its middle where it is longer than `limit`."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n... {len(text) - 2 * half} characters cut ...\n{text[-half:]}"


def of_operation(operation: Operation) -> dict[str, Value]:
    """Return what a call tries to do."""
    return {
        semconv.OPERATION: operation.name,
        semconv.TARGETS: operation.targets,
        semconv.WIDE: operation.wide,
    }


def of_raw(raw: RawError) -> dict[str, Value]:
    """Return what is needed of a failure to count it again, besides what every span of a failure has."""
    return {
        semconv.TOOL: "" if raw.boundary else raw.tool,
        **of_operation(raw.operation),
        semconv.DETECTED: raw.detected,
        semconv.DIRECTORY: raw.directory,
        **({semconv.BEGAN: raw.began} if raw.began else {}),
    }


def of_begin(begun: BegunRun) -> dict[str, Value]:
    """Return the settings of a run."""
    return {
        semconv.RUN_ID: begun.run_id,
        semconv.GEN_AI_AGENT_NAME: begun.agent,
        semconv.TICK: begun.tick,
        semconv.MODE: begun.mode,
        semconv.THRESHOLDS: begun.thresholds.model_dump_json(),
        semconv.ASKS: begun.asks,
        semconv.ATTENDED: begun.attended,
        semconv.STOPPABLE: begun.stoppable,
    }


def of_observation(observation: Observation, record: int) -> dict[str, Value]:
    """
    Return what became of one failure.

    Its facts are told where reading the text again might find others: of a live exception, of what a model has read,
    and of each new class.
    """
    found, raw = observation.found, observation.raw
    attributes: dict[str, Value] = {
        semconv.RUN_ID: observation.run_id,
        semconv.GEN_AI_AGENT_NAME: observation.agent,
        semconv.TICK: observation.tick,
        semconv.RECORD: record,
        semconv.CLASS: found.key,
        semconv.OUTCOME: observation.outcome,
        semconv.COUNT: observation.count,
        semconv.STREAK_LENGTH: observation.streak,
        semconv.KIND: "rejected" if observation.kind.rejected else "transient" if observation.kind.transient else "",
        semconv.CALL: observation.call,
        semconv.TOKENS_RAW: observation.raw_tokens,
        semconv.TOKENS_DIGEST: observation.digest_tokens,
    }
    if raw.exception is not None or observation.count == 1 or found.facts.format in _TOLD_FORMATS:
        facts = found.facts
        attributes |= {
            semconv.ERROR_TYPE: facts.type,
            semconv.CAUSE: clipped(facts.cause),
            semconv.TEMPLATE: clipped(found.template) if found.template != facts.cause else "",
            semconv.TALLY: facts.tally,
            semconv.CODE_FUNCTION_NAME: facts.location.function,
            semconv.CODE_FILE_PATH: facts.location.file,
            semconv.HINT: observation.hint,
        }
        if facts.location.line is not None:
            attributes[semconv.CODE_LINE_NUMBER] = facts.location.line
    return attributes


_TOLD_FORMATS: Final = frozenset({"prose", "unclassified"})
"""Formats of facts that a model may have found."""


def of_handled(run_id: str, agent: str, record: int, key: str) -> dict[str, Value]:
    """Return that a failure was inside a call that in the end succeeded."""
    return {
        semconv.RUN_ID: run_id,
        semconv.GEN_AI_AGENT_NAME: agent,
        semconv.RECORD: record,
        semconv.CLASS: key,
        semconv.OUTCOME: semconv.HANDLED,
    }


def of_success(success: Success) -> dict[str, Value]:
    """Return a success."""
    return {
        semconv.RUN_ID: success.run_id,
        semconv.GEN_AI_AGENT_NAME: success.agent,
        semconv.TICK: success.tick,
        **({semconv.BEGAN: success.began} if success.began else {}),
        semconv.GEN_AI_TOOL_NAME: success.tool,
        **of_operation(success.operation),
        semconv.CALL: success.call,
        semconv.DIRECTORY: success.directory,
    }


def of_classes(run_id: str, agent: str, tool: str, classes: Iterable[ErrorClass]) -> dict[str, Value]:
    """Return the classes that were resolved, or whose resolution was taken back."""
    return {
        semconv.RUN_ID: run_id,
        semconv.GEN_AI_AGENT_NAME: agent,
        semconv.GEN_AI_TOOL_NAME: tool,
        semconv.CLASSES: tuple(found.key for found in classes),
    }


def of_refusal(refusal: Refusal) -> dict[str, Value]:
    """Return a refusal."""
    return {
        semconv.RUN_ID: refusal.run_id,
        semconv.GEN_AI_AGENT_NAME: refusal.agent,
        semconv.TICK: refusal.tick,
        **({semconv.BEGAN: refusal.began} if refusal.began else {}),
        semconv.GEN_AI_TOOL_NAME: refusal.tool,
        semconv.CLASS: refusal.key,
        semconv.CALL: refusal.call,
        semconv.DIRECTORY: refusal.directory,
        semconv.COUNT: refusal.count,
    }


def of_escalation(escalation: Escalation) -> dict[str, Value]:
    """Return a breach."""
    return {
        semconv.RUN_ID: escalation.run_id,
        semconv.GEN_AI_AGENT_NAME: escalation.agent,
        semconv.TICK: escalation.tick,
        semconv.THRESHOLD: escalation.threshold,
        semconv.COUNT: escalation.count,
        semconv.LIMIT: escalation.limit,
        semconv.HALTS: escalation.halts,
        semconv.CLASS: escalation.key,
        semconv.GEN_AI_TOOL_NAME: escalation.tool,
        semconv.DIGEST: clipped(escalation.digest),
    }


def of_answer(answered: AnsweredEscalation) -> dict[str, Value]:
    """Return what was done about a breach, with the breach."""
    escalation = answered.escalation
    return {
        semconv.RUN_ID: escalation.run_id,
        semconv.GEN_AI_AGENT_NAME: escalation.agent,
        semconv.TICK: answered.tick,
        semconv.ACTION: answered.action,
        semconv.MESSAGE: clipped(answered.message),
        semconv.THRESHOLD: escalation.threshold,
        semconv.CLASS: escalation.key,
    }


def of_resume(resumed: Resumed) -> dict[str, Value]:
    """Return that a human lets a run go on."""
    return {
        semconv.RUN_ID: resumed.run_id,
        semconv.GEN_AI_AGENT_NAME: resumed.agent,
        semconv.TICK: resumed.tick,
        semconv.MESSAGE: clipped(resumed.message),
    }


def of_end(report: RunReport) -> dict[str, Value]:
    """Return how a run ended, in numbers that tell whether lines are lost."""
    return {
        semconv.RUN_ID: report.run_id,
        semconv.GEN_AI_AGENT_NAME: report.agent,
        semconv.RESULT: report.result,
        semconv.OCCURRENCES: report.occurrences,
        semconv.HANDLED_COUNT: report.handled,
        semconv.AFTER_ESCALATION: report.after_escalation,
        semconv.CLASS_COUNT: len(report.classes),
        semconv.ESCALATION_COUNT: len(report.escalations),
        semconv.TOKENS_RAW: report.raw_tokens,
        semconv.TOKENS_DIGEST: report.digest_tokens,
    }
