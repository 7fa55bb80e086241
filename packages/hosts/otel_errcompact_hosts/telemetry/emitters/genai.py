"""The convention for generative AI: tool calls of any program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from otel_errcompact.otel import semconv
from otel_errcompact.otel.data import read_text
from otel_errcompact.otel.spans.conventions import translate
from otel_errcompact.otel.spans.recorded import NO_DETAIL, is_control_flow_name, read_failures
from otel_errcompact_hosts.calls import HostCall, HostResult
from otel_errcompact_hosts.telemetry.reports import MAX_NAME, Report, name_span, read_type, report_unknown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from otel_errcompact.otel.data import EndedSpan
    from otel_errcompact_hosts.telemetry.entries import Entry
    from otel_errcompact_hosts.telemetry.reports import Memory

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


def read_entry(entry: Entry, memory: Memory) -> Report | None:
    """Return what an entry reports of a call."""
    return _read_record(entry, memory) if entry.is_log else _read_span(entry, memory)


def _read_record(entry: Entry, memory: Memory) -> Report | None:
    if entry.name != semconv.TOOL_EXCEPTION:
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
    return Report(call=call, result=result, aliases=(name_span(entry),))


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
    status = entry.number(semconv.PROCESS_EXIT_CODE)
    kind = span.text(semconv.ERROR_TYPE)
    text = span.text(semconv.GEN_AI_TOOL_CALL_RESULT)
    if not span.failed and not kind:
        return Report(
            call=call, result=HostResult(text=text, failed=None if text or status else False, exit_code=status)
        )
    failures, _ = read_failures(span._replace(failed=True))
    recorded = failures[-1] if failures else None
    if recorded is not None and is_control_flow_name(recorded.type, frozenset()):
        return None
    inner, tool = memory.inner.pop(name_span(entry)), found.tool[:MAX_NAME]
    if span.parent is not None:
        memory.inner.put(f"{span.trace_id:032x}/{span.parent.span_id:016x}", tool)
    if inner == tool:
        return None  # two instrumentations have made a span of one call, and the inner one is counted
    if recorded is not None and recorded.text not in {"", NO_DETAIL, kind}:
        text = recorded.text
    if not text:
        return report_unknown(call, kind, status)
    return Report(call=call, result=HostResult(text=text, failed=True, exit_code=status, type=read_type(kind)))


def _name_agent(entry: Entry, span: EndedSpan) -> str:
    return span.agent or read_text(entry.resource, semconv.GEN_AI_AGENT_NAME) or entry.service
