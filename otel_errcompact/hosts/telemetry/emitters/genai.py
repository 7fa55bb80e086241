"""The convention for generative AI: tool calls of any program."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, cast

from otel_errcompact.hosts.calls import HostCall, HostResult
from otel_errcompact.hosts.telemetry.emitters.emitter import Emitter
from otel_errcompact.hosts.telemetry.reports import Report, name_span, read_type, report_unknown
from otel_errcompact.otel import semconv
from otel_errcompact.otel.data import read_text
from otel_errcompact.otel.spans.conventions import translate
from otel_errcompact.otel.spans.recorded import NO_DETAIL, is_control_flow_name, read_failures

if TYPE_CHECKING:
    from collections.abc import Mapping

    from otel_errcompact.hosts.telemetry.emitters.emitter import Memory
    from otel_errcompact.hosts.telemetry.entries import Entry
    from otel_errcompact.otel.data import BoundaryCall, EndedSpan, Recorded

NAME: Final = "genai"

_EXCEPTIONS: Final = frozenset({semconv.EXCEPTION_EVENT, semconv.CLIENT_EXCEPTION_EVENT})


def find_run(entry: Entry, memory: Memory) -> str:
    """Return the conversation, session or trace of a span, as its run."""
    span = entry.span
    named = span.conversation or memory.conversations.get(span.trace_id)
    named = named or read_text(entry.resource, semconv.SESSION_ID)
    return named or (f"{span.trace_id:032x}" if span.trace_id else "")


def read_events(span: EndedSpan) -> Mapping[str, object]:
    """Return the attributes of a span's last exception event; none without one."""
    found = next((event for event in reversed(span.events) if event.name in _EXCEPTIONS), None)
    return cast("Mapping[str, object]", found.attributes or {}) if found is not None else {}


def _owns(entry: Entry) -> bool:  # noqa: ARG001 - the last of all: what no other knows
    return True


def _read(entry: Entry, memory: Memory) -> Report | None:
    return _read_record(entry, memory) if entry.is_log else _read_span(entry, memory)


def _read_record(entry: Entry, memory: Memory) -> Report | None:
    if entry.event != semconv.TOOL_EXCEPTION:
        return None
    attributes = entry.span.attributes
    text = read_text(attributes, semconv.EXCEPTION_STACKTRACE)
    kind, message = (read_text(attributes, name) for name in (semconv.EXCEPTION_TYPE, semconv.EXCEPTION_MESSAGE))
    call = HostCall(
        run_id=find_run(entry, memory),
        tool=entry.text(semconv.GEN_AI_TOOL_NAME),
        arguments=entry.text(semconv.GEN_AI_TOOL_CALL_ARGUMENTS),
        call_id=entry.text(semconv.GEN_AI_TOOL_CALL_ID),
        agent=_name_agent(entry, entry.span),
    )
    kind = kind or entry.text(semconv.ERROR_TYPE)
    text = text or (f"{kind}: {message}" if kind and message else message or entry.body)
    if not text:
        return report_unknown(call, kind)
    result = HostResult(text=text, failed=True, type=read_type(kind))
    return Report(call=call, result=result, aliases=_alias(entry))


def _read_span(entry: Entry, memory: Memory) -> Report | None:
    span = translate(entry.span)
    found = span.read_call()
    if found is None or found.tool in semconv.MODEL_OPERATIONS or span.is_serving:
        return None
    call = HostCall(
        run_id=find_run(entry, memory),
        tool=found.tool,
        arguments=found.arguments,
        call_id=found.call_id,
        agent=_name_agent(entry, span),
    )
    code = span.attributes.get(semconv.PROCESS_EXIT_CODE)
    status = code if isinstance(code, int) and not isinstance(code, bool) else None
    kind = span.text(semconv.ERROR_TYPE)
    if span.failed or kind:
        return _fail(entry, span, call, kind, status, found, memory)
    result = span.text(semconv.GEN_AI_TOOL_CALL_RESULT)
    return Report(
        call=call,
        result=HostResult(text=result, failed=None if result or status else False, exit_code=status),
        aliases=_alias(entry),
    )


def _fail(
    entry: Entry,
    span: EndedSpan,
    call: HostCall,
    kind: str,
    status: int | None,
    found: BoundaryCall,
    memory: Memory,
) -> Report | None:
    recorded = _find_failure(span)
    if recorded is not None and is_control_flow_name(recorded.type, frozenset()):
        return None
    aliases = _alias(entry)
    inner = memory.inner.pop(name_span(entry))
    if span.parent is not None:
        memory.inner.put(f"{span.trace_id:032x}/{span.parent.span_id:016x}", found.tool)
    if inner == found.tool:
        return None  # two instrumentations have made a span of one call, and the inner one is counted
    text = recorded.text if recorded is not None else ""
    if text in {"", NO_DETAIL, kind}:
        text = span.text(semconv.GEN_AI_TOOL_CALL_RESULT)
    if not text:
        return replace(report_unknown(call, kind, status), aliases=aliases)
    result = HostResult(text=text, failed=True, exit_code=status, type=read_type(kind))
    return Report(call=call, result=result, aliases=aliases)


def _find_failure(span: EndedSpan) -> Recorded | None:
    failures, _ = read_failures(span if span.failed else span._replace(failed=True))
    return failures[-1] if failures else None


def _name_agent(entry: Entry, span: EndedSpan) -> str:
    return span.agent or read_text(entry.resource, semconv.GEN_AI_AGENT_NAME) or entry.service


def _alias(entry: Entry) -> tuple[str, ...]:
    return (name,) if (name := name_span(entry)) else ()


EMITTER: Final = Emitter(name=NAME, owns=_owns, read=_read)
