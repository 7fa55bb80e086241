"""
Hostile text through the whole way: tool call or span event, with metrics and the trajectory file.

"The SDK alone" is a span with the same text as the stack trace of an `exception` event, and its encoding as OTLP, which
every exporter does. Without the encoding the SDK copies nothing, and a text of any size costs the same.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult

import otel_errcompact as errcompact
from benchmarks.cost.measure import Row
from benchmarks.quality.hostile import grown, seeds
from otel_errcompact.config import Options, TrajectoryOptions
from otel_errcompact.digest import encodable
from otel_errcompact.otel import semconv

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.trace import Tracer

    Way = Callable[[str], object]

SIZE: Final = 10_000_000
RATIO: Final = 3.0
GROWTH: Final = 13.0
"""Ten times the text must not cost much more than ten times the time."""

TURNS: Final = 3

SHAPES: Final[dict[str, Callable[[int], str]]] = {
    "one line": lambda size: "Error: " + "a" * size,
    "digits": lambda size: "Error: " + "1" * size,
    "quotes": lambda size: "Error: " + "'\"" * (size // 2),
    "nested brackets": lambda size: "[" * (size // 2) + "]" * (size // 2),
    "nested JSON": lambda size: '{"error":' * (size // 9),
    "slashes": lambda size: "/a" * (size // 2),
    "spaces": lambda size: "error:" + " " * size + "x",
    "frames": lambda size: (
        "Traceback (most recent call last):\n" + '  File "/a.py", line 1, in f\n' * (size // 29) + "ValueError: x"
    ),
    "empty lines": lambda size: "\n" * size,
    "ANSI": lambda size: "\x1b[" * (size // 2),
    "tags": lambda size: "<html>" + "<a " * (size // 3),
    "control characters": lambda size: "\x00\x07" * (size // 2),
    "umlauts": lambda size: "Fehler: ü" * (size // 9),
    "emoji": lambda size: "\N{GRINNING FACE} " * (size // 2),
    "lone surrogates": lambda size: "x\ud800" * (size // 2),
    "log lines": lambda size: "2024-01-01 INFO worker: processed item 17 of 20\n" * (size // 48),
}

SAID: Final = (
    "pytest/assertions",
    "harness/langgraph_invalid_arguments",
    "cargotest/backtrace",
    "make/missing_separator",
    "pip/conflict",
)
"""What tools said, grown in five ways: those that took longest of all formats."""


class Encoding(SpanExporter):
    """Encodes spans as OTLP and sends them nowhere."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Encode the spans."""
        encode_spans(spans).SerializeToString()
        return SpanExportResult.SUCCESS


def record(tracer: Tracer, text: str) -> None:
    """Let a tool's span fail with a text."""
    span = tracer.start_span(
        "execute_tool bash",
        attributes={semconv.GEN_AI_OPERATION_NAME: semconv.SPAN_TOOL, semconv.GEN_AI_TOOL_NAME: "bash"},
    )
    span.add_event(semconv.EXCEPTION_EVENT, {semconv.EXCEPTION_TYPE: "ToolError", semconv.EXCEPTION_STACKTRACE: text})
    span.set_attribute(semconv.ERROR_TYPE, "ToolError")
    span.end()


def sdk_alone() -> Way:
    """Return the way of a text through the SDK: lone surrogates, which it cannot encode, come to it escaped."""
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(Encoding()))
    tracer = provider.get_tracer("bench")
    return lambda text: record(tracer, text)


def ours(folder: Path) -> tuple[Way, Way]:
    """Return the ways of a text through a tool call and through a span, with everything installed."""
    provider = TracerProvider(shutdown_on_exit=False)
    meters = MeterProvider([InMemoryMetricReader()], shutdown_on_exit=False)
    options = Options(trajectory=TrajectoryOptions(path=folder / "trajectory.jsonl"))
    errcompact.install(tracer_provider=provider, meter_provider=meters, options=options)
    tracer = provider.get_tracer("bench")

    def call(text: str) -> None:
        with errcompact.run() as run:
            with run.tool("bash") as call:
                call.fail(text)
            assert call.text

    return call, lambda text: record(tracer, text)


def texts(size: int) -> Iterator[tuple[str, str]]:
    """Yield hostile texts with their names."""
    for name, shape in SHAPES.items():
        yield name, shape(size)
    said = seeds()
    for name in SAID:
        yield from grown(name, said[name], size)


def measure(rounds: int) -> list[Row]:
    """Return the rows of hostile text; `rounds` below 10 measures a tenth of the size."""
    size = SIZE if rounds >= 10 else SIZE // 10
    rows: list[Row] = []
    alone = sdk_alone()
    with tempfile.TemporaryDirectory() as folder:
        call, span = ours(Path(folder))
        ratios: dict[str, tuple[float, float]] = {}
        slowest: dict[str, float] = {}
        for name, text in texts(size):
            base = best(alone, encodable(text))
            by_call, by_span = best(call, text), best(span, text)
            ratios[name] = (by_call / base, by_span / base)
            slowest[name] = max(by_call, by_span)
            if name in SHAPES:
                for way, value in zip(("call", "span"), ratios[name], strict=True):
                    rows.append(Row(name=f"hostile, {name}: {way} / SDK", value=value, unit="ratio", goal=RATIO))
        worst = max(ratios, key=lambda name: max(ratios[name]))
        rows.append(
            Row(
                name=f"hostile, the worst of {len(ratios)} ({worst})",
                value=max(ratios[worst]),
                unit="ratio",
                goal=RATIO,
            )
        )
        last = max(slowest, key=lambda name: slowest[name])
        rows.append(Row(name=f"hostile, the slowest ({last})", value=slowest[last], unit="ms"))
        growth = {name: best(call, shape(size)) / best(call, shape(size // 10)) for name, shape in SHAPES.items()}
        most = max(growth, key=lambda name: growth[name])
        rows.append(Row(name=f"hostile, ten times the text ({most})", value=growth[most], unit="times", goal=GROWTH))
    return rows


def best(way: Way, text: str) -> float:
    """Return the shortest time in milliseconds of this thread, of texts that differ in their last character."""
    times: list[float] = []
    for turn in range(TURNS):
        changed = f"{text}{chr(ord('a') + turn)}"
        started = time.thread_time_ns()
        way(changed)
        times.append((time.thread_time_ns() - started) / 1e6)
    return min(times)
