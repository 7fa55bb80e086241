"""Describe the life of a run as attributes of log records."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from otel_errcompact.digest import cut_middle
from otel_errcompact.otel import semconv

if TYPE_CHECKING:
    from collections.abc import Iterable

    from otel_errcompact.audit.otlp_json import Value
    from otel_errcompact.engine.observations import BegunRun, Observation, Refusal, Resumed, Success
    from otel_errcompact.engine.report import RunReport
    from otel_errcompact.errors import Operation, RawError
    from otel_errcompact.escalator.escalation import AnsweredEscalation, Escalation
    from otel_errcompact.escalator.thresholds import Thresholds
    from otel_errcompact.history.history import ErrorClass

Attributes = dict[str, "Value"]

MAX_TEXT: Final = 65_536
"""Characters of one text in a line that is no raw error, and of a call's arguments; longer ones lose their middle."""

_MODEL_FORMATS: Final = frozenset({"prose", "unclassified"})
"""Formats of facts that a model may have found."""


def describe_raw(raw: RawError) -> Attributes:
    """Return what a later count of a failure needs beyond its span."""
    operation = raw.operation
    attributes: Attributes = {
        semconv.TOOL: "" if raw.boundary else raw.tool,
        semconv.OPERATION: operation.name,
        semconv.TARGETS: operation.targets,
        semconv.WIDE: operation.wide,
        semconv.STATED_BY: raw.stated,
        semconv.DIRECTORY: raw.directory,
    }
    if raw.began:
        attributes[semconv.BEGAN] = raw.began
    return attributes


def describe_settings(begun: BegunRun) -> Attributes:
    """Return the settings of a run."""
    return {
        **_run(begun.run_id, begun.agent, begun.tick),
        semconv.MODE: begun.mode,
        semconv.THRESHOLDS: _dump(begun.thresholds),
        semconv.ASKS: begun.asks,
        semconv.ATTENDED: begun.attended,
        semconv.STOPPABLE: begun.stoppable,
    }


def _dump(thresholds: Thresholds) -> str:
    # Not by pydantic: its first serialisation holds a lock of its own, which a fork in another thread leaves held.
    return json.dumps({**dict(thresholds), "halts": list(thresholds.halts)}, separators=(",", ":"))


def describe_observation(observation: Observation, record: int) -> Attributes:
    """
    Return the counts of one failure.

    Its facts are added where reading the text again might find others: of a live exception, of what a model has read,
    and of each new class.
    """
    found, kind = observation.found, observation.kind
    attributes: Attributes = {
        semconv.RUN_ID: observation.run_id,
        semconv.GEN_AI_AGENT_NAME: observation.agent,
        semconv.TICK: observation.tick,
        semconv.RECORD: record,
        semconv.CLASS: found.key,
        semconv.OUTCOME: observation.outcome,
        semconv.COUNT: observation.count,
        semconv.STREAK_LENGTH: observation.streak,
        semconv.KIND: next((name for name in ("rejected", "unknown", "transient") if getattr(kind, name)), ""),
        semconv.CALL: observation.call,
        semconv.TOKENS_RAW: observation.raw_tokens,
        semconv.TOKENS_SENT: observation.sent_tokens,
        semconv.TOKENS_DIGEST: observation.digest_tokens,
    }
    facts = found.facts
    if observation.raw.exception is not None or observation.count == 1 or facts.format in _MODEL_FORMATS:
        attributes[semconv.ERROR_TYPE] = facts.type
        attributes[semconv.CAUSE] = clip(facts.cause)
        attributes[semconv.TEMPLATE] = clip(found.template) if found.template != facts.cause else ""
        attributes[semconv.TALLY] = facts.tally
        attributes[semconv.CODE_FUNCTION_NAME] = facts.location.function
        attributes[semconv.CODE_FILE_PATH] = facts.location.file
        attributes[semconv.HINT] = observation.hint
        if facts.location.line is not None:
            attributes[semconv.CODE_LINE_NUMBER] = facts.location.line
    return attributes


def describe_handled(run_id: str, agent: str, record: int, key: str) -> Attributes:
    """Return a failure inside a call that in the end succeeded."""
    return {
        **_run(run_id, agent),
        semconv.RECORD: record,
        semconv.CLASS: key,
        semconv.OUTCOME: semconv.HANDLED,
    }


def describe_success(success: Success) -> Attributes:
    """Return a success."""
    return {
        **_run(success.run_id, success.agent, success.tick),
        **_began(success.began),
        semconv.GEN_AI_TOOL_NAME: success.tool,
        **_operation(success.operation),
        semconv.CALL: success.call,
        semconv.DIRECTORY: success.directory,
    }


def describe_classes(run_id: str, agent: str, tool: str, classes: Iterable[ErrorClass]) -> Attributes:
    """Return the classes that were resolved, or whose resolution was taken back."""
    return {
        **_run(run_id, agent),
        semconv.GEN_AI_TOOL_NAME: tool,
        semconv.CLASSES: tuple(found.key for found in classes),
    }


def describe_refusal(refusal: Refusal) -> Attributes:
    """Return a refusal."""
    return {
        **_run(refusal.run_id, refusal.agent, refusal.tick),
        **_began(refusal.began),
        semconv.GEN_AI_TOOL_NAME: refusal.tool,
        semconv.GEN_AI_TOOL_CALL_ARGUMENTS: refusal.arguments,
        semconv.CLASS: refusal.key,
        semconv.CALL: refusal.call,
        semconv.DIRECTORY: refusal.directory,
        semconv.COUNT: refusal.count,
    }


def describe_escalation(escalation: Escalation) -> Attributes:
    """Return an escalation."""
    return {
        **_run(escalation.run_id, escalation.agent, escalation.tick),
        semconv.THRESHOLD: escalation.threshold,
        semconv.COUNT: escalation.count,
        semconv.LIMIT: escalation.limit,
        semconv.HALTS: escalation.halts,
        semconv.CLASS: escalation.key,
        semconv.GEN_AI_TOOL_NAME: escalation.tool,
        semconv.DIGEST: clip(escalation.digest),
    }


def describe_answer(answered: AnsweredEscalation) -> Attributes:
    """Return an escalation and its answer."""
    escalation = answered.escalation
    return {
        **_run(escalation.run_id, escalation.agent, answered.tick),
        semconv.ACTION: answered.action,
        semconv.MESSAGE: clip(answered.message),
        semconv.THRESHOLD: escalation.threshold,
        semconv.CLASS: escalation.key,
    }


def describe_resume(resumed: Resumed) -> Attributes:
    """Return the message with which a human lets a run continue."""
    return {**_run(resumed.run_id, resumed.agent, resumed.tick), semconv.MESSAGE: clip(resumed.message)}


def describe_end(report: RunReport) -> Attributes:
    """Return how a run ended, with numbers that show lost lines."""
    return {
        **_run(report.run_id, report.agent),
        semconv.RESULT: report.result,
        semconv.OCCURRENCES: report.occurrences,
        semconv.HANDLED_COUNT: report.handled,
        semconv.REPEATS: report.repeats,
        semconv.AFTER_ESCALATION: report.after_escalation,
        semconv.CLASS_COUNT: len(report.classes),
        semconv.ESCALATION_COUNT: len(report.escalations),
        semconv.RECOVERED_COUNT: sum(found.status == "RECOVERED" for found in report.classes),
        semconv.TOKENS_RAW: report.raw_tokens,
        semconv.TOKENS_SENT: report.sent_tokens,
        semconv.TOKENS_DIGEST: report.digest_tokens,
    }


def clip(text: str) -> str:
    """Return a text without its middle if it exceeds the limit."""
    return cut_middle(text, MAX_TEXT)


def _run(run_id: str, agent: str, tick: int | None = None) -> Attributes:
    named: Attributes = {semconv.RUN_ID: run_id, semconv.GEN_AI_AGENT_NAME: agent}
    return named if tick is None else {**named, semconv.TICK: tick}


def _began(tick: int) -> Attributes:
    return {semconv.BEGAN: tick} if tick else {}


def _operation(operation: Operation) -> Attributes:
    return {
        semconv.OPERATION: operation.name,
        semconv.TARGETS: operation.targets,
        semconv.WIDE: operation.wide,
    }
