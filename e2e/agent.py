"""
An agent that does what it is told: a line of JSON on its standard input is one thing to do, a line is the answer.

It is installed as the README says, by `errcompact.install()` and the standard variables; nothing in it knows that it is
watched. What it counts itself is read beside, from a reader of its own on the same meter provider.
"""

from __future__ import annotations

import json
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from opentelemetry import trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import HistogramDataPoint, InMemoryMetricReader, NumberDataPoint

import otel_errcompact as errcompact
from otel_errcompact.config import ContextOptions
from otel_errcompact.errors import RawError
from otel_errcompact.installation.install import current_ledger, current_logger_provider, current_meter_provider
from otel_errcompact_context import ContextWindow, MemoryArchive, OverflowGuard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from opentelemetry.sdk.metrics.export import Metric

ABOVE_ALL: Final = 1_000_000
"""A threshold that is never reached."""


class ToolFailedError(Exception):
    """
    What the agent's tools fail with.
    """


def main() -> None:
    """Do what is told until the input ends."""
    errcompact.install()
    reader = InMemoryMetricReader()
    meters = current_meter_provider()
    if not isinstance(meters, MeterProvider):
        sys.exit("no OTLP endpoint is configured")
    meters.add_metric_reader(reader)
    deeds: dict[str, Callable[..., object]] = {
        "burst": burst,
        "escalate": escalate,
        "watch": watch,
        "trace": traces,
        "succeed": succeed,
        "work": work,
        "converse": converse,
        "flush": flush,
        "points": lambda: list(points(reader)),
    }
    for line in sys.stdin:
        asked = json.loads(line)
        began = time.time()
        answer = deeds[asked.pop("do")](**asked)
        print(json.dumps({"began": began, "ended": time.time(), "answer": answer}), flush=True)


def burst(message: str, *, tool: str = "search", agent: str = "e2e", times: int = 1, recovers: bool = False) -> object:
    """Fail with one message a few times within one run that never escalates, and perhaps recover."""
    failed: list[dict[str, object]] = []
    with errcompact.run(agent=agent, thresholds=_never()) as run:
        for _ in range(times):
            with run.tool(tool) as call:
                failed.append(_here(message))
                raise ToolFailedError(message)
            failed[-1].update(read=call.text)
        for key in {found.key for found in run.report().classes}:
            failed[-1].update(key=key, raw=run.raw(key))
        if recovers:
            with run.tool(tool) as call:
                call.result = "found"
    return failed


def escalate(message: str, *, tool: str = "deploy", agent: str = "e2e", more: int = 0) -> object:
    """Fail with one message until the run is stopped, nobody being there to ask; then perhaps fail on."""
    failures = 0
    with errcompact.run(agent=agent, thresholds=errcompact.Thresholds(halts=frozenset({"same"}))) as run:
        try:
            for number in range(100):
                with run.tool(tool, arguments={"attempt": number}):
                    failures += 1
                    raise ToolFailedError(message)
                run.check()
        except errcompact.RunHalted:
            pass
        # An agent that does not ask the gate before its calls, but only hands in what they said.
        for _ in range(more):
            current_ledger().observe(run.run_id, RawError(text=message, tool=tool))
        (answered, *_) = run.report().escalations
        return {"failures": failures, "key": answered.escalation.key}


def watch(message: str, *, tool: str = "print", agent: str = "e2e", times: int = 4) -> object:
    """Fail on spans that another instrumentation would make, in a run that nobody has opened, so nobody can stop it."""
    tracer = trace.get_tracer("instrumentation.of.another")
    conversation = {"gen_ai.conversation.id": f"conversation-{time.time_ns()}", "gen_ai.agent.name": agent}
    for _ in range(times):
        attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool, **conversation}
        with (
            suppress(ToolFailedError),
            tracer.start_as_current_span(f"execute_tool {tool}", attributes=attributes),
        ):
            raise ToolFailedError(message)
    return times


def traces(*, healthy: int, message: str, tool: str = "reserve") -> object:
    """Make traces of agents that nobody wraps: healthy ones, and in their midst one whose agent fails."""
    tracer = trace.get_tracer("instrumentation.of.another")
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "traced"}
    call = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool}
    for number in range(healthy + 1):
        with (
            tracer.start_as_current_span("POST /ask", kind=trace.SpanKind.SERVER),
            suppress(ToolFailedError),
            tracer.start_as_current_span("invoke_agent traced", attributes=agent),
            tracer.start_as_current_span(f"execute_tool {tool}", attributes=call),
        ):
            if number == healthy // 2:
                raise ToolFailedError(message)
    return healthy


def succeed(*, tool: str = "search", agent: str = "e2e", times: int = 1, calls: int = 1) -> object:
    """Do runs in which nothing fails, and one call is made again and again."""
    for _ in range(times):
        with errcompact.run(agent=agent) as run:
            for _ in range(calls):
                with run.tool(tool, arguments={"words": "tea"}) as call:
                    call.result = "found"
    return times


def work(message: str, *, seconds: float, pause: float = 0.02, tool: str = "poll", agent: str = "e2e") -> object:
    """Fail for some time, each failure in a run and a trace of its own, and tell when each ended."""
    traces: list[tuple[str, float]] = []
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        with errcompact.run(agent=agent) as run, run.tool(tool):
            context = trace.get_current_span().get_span_context()
            raise ToolFailedError(message)
        traces.append((f"{context.trace_id:032x}", time.time()))
        time.sleep(pause)
    return traces


def converse(*, turns: int = 60) -> object:
    """Hold a conversation that outgrows its window, with a provider that refuses it once, and then on a full disk."""
    options = ContextOptions(window_tokens=8_000, reserve_tokens=1_000, snip_messages=20)
    guard = OverflowGuard(ContextWindow(options, archive=MemoryArchive()))
    messages: list[object] = [{"role": "user", "content": "Which of the pages is it?"}]
    refusals = 0

    def send(sent: list[object]) -> str:
        nonlocal refusals
        if len(sent) > 10 and not refusals:
            refusals += 1
            raise ToolFailedError("prompt is too long")
        return f"not that one, of {len(sent)} messages"

    for turn in range(turns):
        messages = guard.call(send, [*messages, *_turn(turn)], session="e2e").messages
    full = ContextWindow(options, archive=MemoryArchive(max_characters=0))
    whole = [messages[0], *(message for turn in range(turns) for message in _turn(turn))]
    problems = [note.problem for note in full.compact(whole).notes if note.problem]
    return {"messages": len(messages), "refusals": refusals, "problems": problems}


def _turn(number: int) -> tuple[object, object]:
    call = {"type": "tool_use", "id": f"toolu_{number}", "name": "read", "input": {"page": number}}
    result = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": f"page {number}\n" * 200}
    return {"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}


def flush() -> bool:
    """Hand over everything now."""
    done = [
        provider.force_flush()
        for provider in (trace.get_tracer_provider(), current_meter_provider(), current_logger_provider())
        if hasattr(provider, "force_flush")
    ]
    return all(done)


def points(reader: InMemoryMetricReader) -> Iterator[dict[str, Any]]:
    """Say what the library has counted."""
    data = reader.get_metrics_data()
    for resource in data.resource_metrics if data else ():
        for scope in resource.scope_metrics:
            for metric in scope.metrics:
                yield from _points_of(metric)


def _points_of(metric: Metric) -> Iterator[dict[str, Any]]:
    for point in metric.data.data_points:
        common = {"instrument": metric.name, "attributes": dict(point.attributes or {})}
        if isinstance(point, NumberDataPoint):
            yield {**common, "value": point.value}
        elif isinstance(point, HistogramDataPoint):
            yield {**common, "count": point.count, "sum": point.sum}


def _never() -> errcompact.Thresholds:
    return errcompact.Thresholds(same=ABOVE_ALL, consecutive=ABOVE_ALL, total=ABOVE_ALL)


def _here(message: str) -> dict[str, object]:
    context = trace.get_current_span().get_span_context()
    return {"trace": f"{context.trace_id:032x}", "span": f"{context.span_id:016x}", "message": message}


if __name__ == "__main__":
    main()
