"""
What the span processor adds to spans, in instructions.

Healthy spans stand beside what `BatchSpanProcessor` adds, its worker included: both export the same spans in one
process. Failing spans stand beside `record_exception`, with all that `install()` adds and the trajectory file.
"""

from __future__ import annotations

import tempfile
from contextvars import copy_context
from pathlib import Path
from typing import TYPE_CHECKING, Final

from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

import otel_errcompact as errcompact
from benchmarks.cost.instructions import count_instructions
from benchmarks.cost.measure import ATTRIBUTES, FRAMES, NEVER, Nowhere, Row, bare_tracer, fail, place, take_turns, words
from otel_errcompact.config import Options, TrajectoryOptions
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.escalator.thresholds import Thresholds
from otel_errcompact.installation.install import install
from otel_errcompact.otel.spans.processor import ErrorCompactionSpanProcessor

if TYPE_CHECKING:
    from collections.abc import Callable

    from opentelemetry.trace import Span, Tracer

BATCH: Final = 500
"""Spans that the batch processor exports at once; a divisor of the spans between few and many turns."""

LEAKED: Final = 1_000
RUN: Final = 50
"""Failures of one run, as a long conversation has."""

TOOL: Final = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "db"}
_SPANS: Final = 25
"""Healthy spans of one turn."""


def healthy(tracer: Tracer, context: otel_context.Context | None = None) -> Callable[[], None]:
    """Return a turn of healthy spans."""

    def turn() -> None:
        for _ in range(_SPANS):
            tracer.start_span("GET /orders", context, attributes=ATTRIBUTES).end()

    return turn


def make_bare() -> Callable[[], None]:
    """Return a turn of healthy spans without a processor."""
    return healthy(bare_tracer())


def make_batch() -> Callable[[], None]:
    """Return a turn of healthy spans that a batch processor exports."""
    batch = BatchSpanProcessor(Nowhere(), schedule_delay_millis=3_600_000, max_export_batch_size=BATCH + 1)
    spans, turns = healthy(_tracer(batch)), 0

    def turn() -> None:
        nonlocal turns
        spans()
        turns += 1
        if turns % (BATCH // _SPANS) == 0:
            batch.force_flush()

    return turn


def make_empty() -> Callable[[], None]:
    """Return a turn of healthy spans with a processor that does nothing."""
    return healthy(_tracer(SpanProcessor()))


def make_closed() -> Callable[[], None]:
    """Return a turn of healthy spans after a tool call."""
    tracer = _tracer(_processor())
    _open_call(tracer).end()
    return healthy(tracer)


def make_elsewhere() -> Callable[[], None]:
    """Return a turn of healthy spans while a tool call of another trace is open."""
    tracer = _tracer(_processor())
    open_call = _open_call(tracer)
    spans = healthy(tracer)
    return lambda: (spans(), open_call.is_recording())[0]


def make_leaked(*, keep: bool) -> Callable[[], None]:
    """Return a turn of healthy spans after tool calls that have never ended."""
    tracer = _tracer(_processor())
    kept = [span for span in (_open_call(tracer) for _ in range(LEAKED)) if keep]
    spans = healthy(tracer)
    return lambda: (spans(), kept)[0]


def make_inside(*, ours: bool = True) -> Callable[[], None]:
    """Return a turn of healthy spans inside an open tool call."""
    tracer = _tracer(_processor()) if ours else bare_tracer()
    return healthy(tracer, trace.set_span_in_context(_open_call(tracer)))


def make_in_run(*, ours: bool = True) -> Callable[[], None]:
    """Return a turn of healthy spans in an open run, as an HTTP or model library makes them between calls."""
    provider = TracerProvider(shutdown_on_exit=False)
    ledger = Ledger()
    if ours:
        provider.add_span_processor(ErrorCompactionSpanProcessor(ledger))
    run, context = errcompact.run(agent="shop", ledger=ledger, tracer_provider=provider), copy_context()
    context.run(run.__enter__)
    spans = healthy(provider.get_tracer("bench"))
    return lambda: (context.run(spans), run)[0]


def make_beginning(*, ours: bool = True) -> Callable[[], None]:
    """Return a turn of spans that start, and never end."""
    tracer = _tracer(_processor()) if ours else bare_tracer()

    def turn() -> None:
        for _ in range(_SPANS):
            tracer.start_span("GET /orders", attributes=ATTRIBUTES)

    return turn


def make_calls(*, ours: bool = True) -> Callable[[], None]:
    """Return a turn of healthy tool calls, as an instrumentation makes their spans."""
    tracer = _tracer(_processor()) if ours else bare_tracer()

    def turn() -> None:
        for _ in range(_SPANS):
            _open_call(tracer).end()

    return turn


def make_failing(*, ours: bool = True, new: bool = False) -> Callable[[], None]:
    """
    Return a turn of one failing span, outside every boundary.

    Args:
        ours: Whether the library is installed, with its trajectory file.
        new: Whether each failure is the first of its class.
    """
    provider = TracerProvider(shutdown_on_exit=False)
    if ours:
        _install(provider)
    tracer, number = provider.get_tracer("bench"), 0

    @place
    def turn() -> None:
        nonlocal number
        number += 1
        message = f"no route to host 'db-{words(number)}'" if new else "no route to host 'db'"
        attributes = {"gen_ai.conversation.id": f"run-{number // RUN}"}
        try:
            with tracer.start_as_current_span("query", attributes=attributes):
                fail(FRAMES - 1, message)
        except ConnectionError:
            pass

    return turn


def measure(rounds: int) -> list[Row]:
    """Return what the span processor adds, as ratios."""
    return [*_measure_time(rounds), *_measure_instructions()]


def _measure_time(rounds: int) -> list[Row]:
    """Return processor time; the batch processor exports in this thread, once in a round."""
    names = {
        "span_empty": "by a processor that does nothing",
        "span_closed": "all calls closed",
        "span_elsewhere": "one call open elsewhere",
        "span_leaked_kept": "1,000 leaked calls kept",
    }
    variants = {name: PATHS[name]() for name in ("span_bare", "span_batch", *names)}
    times = take_turns(variants, rounds=max(rounds // 4, 2), calls=BATCH // _SPANS)
    batch = times["span_batch"] - times["span_bare"]
    return [
        Row(name=f"time of a healthy span, {name}", value=(times[path] - times["span_bare"]) / batch, unit="of batch")
        for path, name in names.items()
    ]


def _measure_instructions() -> list[Row]:
    count = count_instructions
    span, record = count("span_bare") / _SPANS, count("record")
    batch = count("span_batch") / _SPANS - span

    def added(path: str, bare: float = span) -> float:
        return (count(path) / _SPANS - bare) / batch

    failing = count("span_failing_bare")
    return [
        Row(name="healthy span, added by BatchSpanProcessor", value=batch / span, unit="spans"),
        Row(name="healthy span, a processor that does nothing", value=added("span_empty"), unit="of batch"),
        Row(name="healthy span, all calls closed", value=added("span_closed"), unit="of batch", goal=1 / 6),
        Row(name="healthy span, one call open elsewhere", value=added("span_elsewhere"), unit="of batch", goal=1 / 4),
        Row(name="healthy span, 1,000 leaked calls dropped", value=added("span_leaked"), unit="of batch", goal=1 / 4),
        Row(name="healthy span, 1,000 leaked calls kept", value=added("span_leaked_kept"), unit="of batch", goal=1 / 4),
        Row(
            name="healthy span inside an open call",
            value=added("span_inside", count("span_inside_bare") / _SPANS),
            unit="of batch",
            goal=0.5,
        ),
        Row(
            name="healthy span in a run, no call open",
            value=added("span_in_run", count("span_in_run_bare") / _SPANS),
            unit="of batch",
            goal=0.5,
        ),
        Row(
            name="start of a healthy span",
            value=added("span_start", count("span_start_bare") / _SPANS),
            unit="of batch",
        ),
        Row(
            name="healthy tool call of an instrumentation",
            value=added("span_call", count("span_call_bare") / _SPANS),
            unit="of batch",
        ),
        Row(
            name="failing span, repeated, with the trajectory file",
            value=(count("span_failing_repeat") - failing) / record,
            unit="of record",
            goal=0.10,
        ),
        Row(
            name="failing span, first, with the trajectory file",
            value=(count("span_failing_first") - failing) / record,
            unit="of record",
            goal=0.18,
        ),
    ]


PATHS: Final[dict[str, Callable[[], Callable[[], object]]]] = {
    "span_bare": make_bare,
    "span_empty": make_empty,
    "span_batch": make_batch,
    "span_closed": make_closed,
    "span_elsewhere": make_elsewhere,
    "span_leaked": lambda: make_leaked(keep=False),
    "span_leaked_kept": lambda: make_leaked(keep=True),
    "span_inside": make_inside,
    "span_inside_bare": lambda: make_inside(ours=False),
    "span_in_run": make_in_run,
    "span_in_run_bare": lambda: make_in_run(ours=False),
    "span_start": make_beginning,
    "span_start_bare": lambda: make_beginning(ours=False),
    "span_call": make_calls,
    "span_call_bare": lambda: make_calls(ours=False),
    "span_failing_bare": lambda: make_failing(ours=False),
    "span_failing_repeat": make_failing,
    "span_failing_first": lambda: make_failing(new=True),
}


def _tracer(processor: SpanProcessor) -> Tracer:
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(processor)
    return provider.get_tracer("bench")


def _processor() -> SpanProcessor:
    return ErrorCompactionSpanProcessor(Ledger())


def _open_call(tracer: Tracer) -> Span:
    return tracer.start_span("execute_tool db", otel_context.Context(), attributes=TOOL)


def _install(provider: TracerProvider) -> None:
    """Install with the trajectory file; nothing ever escalates."""
    options = Options(
        thresholds=Thresholds(same=NEVER, consecutive=NEVER, total=NEVER),
        trajectory=TrajectoryOptions(path=Path(tempfile.mkdtemp(prefix="errcompact-bench-")) / "trajectory.jsonl"),
    )
    meters = MeterProvider([InMemoryMetricReader()], shutdown_on_exit=False)
    install(tracer_provider=provider, meter_provider=meters, options=options)
