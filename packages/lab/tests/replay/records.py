"""Recorded runs and traces with few words."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from otel_errcompact_lab.transcripts import RecordedCall, RecordedEvent, RecordedRun, RecordedSpan, RecordedTrace

if TYPE_CHECKING:
    from otel_errcompact_lab.transcripts import AttributeValue
    from otel_errcompact_lab.transcripts.model import StatusCode

REFUSED = "ConnectionError: no such host found"
MISSING = "FileNotFoundError: no such file"
DECLINED = "The user doesn't want to proceed with this tool use. The tool use was rejected."
SECOND = 1_000_000_000
TRACE_ID = 0xABC


def call(
    tool: str = "db.query",
    result: str = "3 rows",
    *,
    failed: bool | None = None,
    exit_code: int | None = None,
    arguments: str = "",
    call_id: str = "",
    start: int = 0,
    end: int = 0,
) -> RecordedCall:
    """Make a call; without times it comes after the call before it."""
    return RecordedCall(
        tool=tool,
        result=result,
        flagged=failed,
        exit_code=exit_code,
        arguments=arguments,
        call_id=call_id,
        start_ns=start * SECOND,
        end_ns=end * SECOND,
        line=1,
    )


def failing(tool: str = "db.query", result: str = REFUSED) -> RecordedCall:
    return call(tool, result, failed=True)


def healthy(tool: str = "db.query") -> RecordedCall:
    return call(tool, "3 rows", failed=False)


def run(*calls: RecordedCall, run_id: str = "run-1", source: str = "runs/shop.jsonl") -> RecordedRun:
    calls = tuple(
        made if made.end_ns else replace(made, start_ns=number * SECOND, end_ns=number * SECOND + 1)
        for number, made in enumerate(calls, 1)
    )
    return RecordedRun(
        run_id=run_id,
        agent="shop",
        source=source,
        calls=calls,
        context_tokens=100,
        result_tokens=40,
        outcome="reward 1",
    )


def span(
    span_id: int,
    name: str = "GET",
    *,
    start: int = 1,
    end: int = 9,
    parent: int | None = None,
    status: StatusCode = "unset",
    description: str = "",
    error: str = "",
    attributes: dict[str, AttributeValue] | None = None,
    scope: str = "app",
    trace_id: int = TRACE_ID,
) -> RecordedSpan:
    """Make a span; `error` gives it an exception event with that message."""
    details: dict[str, AttributeValue] = {"exception.type": "ValueError", "exception.message": error}
    return RecordedSpan(
        trace_id=trace_id,
        span_id=span_id,
        name=name,
        start_ns=start * SECOND,
        end_ns=end * SECOND,
        parent_id=parent,
        status=status,
        status_description=description,
        attributes=attributes or {},
        events=(RecordedEvent(name="exception", time_ns=end * SECOND, attributes=details),) if error else (),
        scope_name=scope,
        scope_version="1.0",
        resource={"service.name": "shop"},
        dropped_attributes=1,
        dropped_events=2,
        dropped_links=3,
    )


def tool_span(
    span_id: int,
    tool: str = "search",
    *,
    conversation: str = "",
    start: int = 1,
    end: int = 9,
    parent: int | None = None,
    status: StatusCode = "unset",
    error: str = "",
    scope: str = "app",
    trace_id: int = TRACE_ID,
) -> RecordedSpan:
    attributes: dict[str, AttributeValue] = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool}
    if conversation:
        attributes["gen_ai.conversation.id"] = conversation
    return span(
        span_id,
        f"execute_tool {tool}",
        start=start,
        end=end,
        parent=parent,
        status=status,
        error=error,
        attributes=attributes,
        scope=scope,
        trace_id=trace_id,
    )


def trace(*spans: RecordedSpan, source: str = "traces/shop.jsonl") -> RecordedTrace:
    return RecordedTrace(run_id=f"{spans[0].trace_id:032x}", source=source, spans=spans)
