"""Measure one framework: `python -m benchmarks.integrations.measure NAME FILE`, in an environment that has it."""

from __future__ import annotations

import argparse
import asyncio
import gc
import importlib
import inspect
import json
import logging
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opentelemetry import trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

import otel_errcompact as errcompact
from benchmarks.integrations.idle import put_in
from benchmarks.integrations.scene import Scene, failing, healthy, look_up
from otel_errcompact.config import TrajectoryOptions
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.otel import semconv
from otel_errcompact.otel.sdk import put_first, take_out

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from opentelemetry.sdk.trace import ReadableSpan

CALLS = 20
"""Calls of the tool in one run: what a run costs to begin and end is spread over so many."""

NEVER = 10**9
WARM_UP = 3
SPANS = 50
FRAMES = 15
TOOLS = {"healthy": healthy, "failing": failing}
USES = ("without", "idle", "ours")
"""No integration; one whose runs do nothing, so that it only costs what the framework takes for hooks; a real one."""


class Nowhere(SpanExporter):
    """Takes spans and does nothing with them."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:  # noqa: ARG002 - nothing is done with them
        """Say that all is well."""
        return SpanExportResult.SUCCESS


class World:
    """
    The SDK as an application has it, in which ours is installed or not.

    Args:
        trajectory: The file for the raw errors.
    """

    def __init__(self, trajectory: Path) -> None:
        self.provider = TracerProvider(shutdown_on_exit=False)
        self.provider.add_span_processor(BatchSpanProcessor(Nowhere(), max_queue_size=100_000))
        trace.set_tracer_provider(self.provider)
        self._reader = InMemoryMetricReader()
        options = errcompact.Options(
            thresholds=errcompact.Thresholds(same=NEVER, consecutive=NEVER, total=NEVER),
            trajectory=TrajectoryOptions(path=trajectory),
        )
        meters = MeterProvider([self._reader], shutdown_on_exit=False)
        ledger = Ledger(options, timer=time.perf_counter_ns)
        self._installed = errcompact.install(tracer_provider=self.provider, meter_provider=meters, ledger=ledger)

    def use(self, integration: str) -> None:
        """Let our processor see the spans, or not, and new runs be real or idle."""
        put_in(idle=integration == "idle")
        take_out(self.provider, self._installed.processor)
        if integration == "ours":
            self.provider.add_span_processor(self._installed.processor)
            put_first(self.provider, self._installed.processor)

    def errors(self) -> int:
        """Return how many failures were counted."""
        data: Any = self._reader.get_metrics_data()
        points = (
            point
            for resource in data.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
            for point in (metric.data.data_points if metric.name == semconv.ERRORS else ())
        )
        return sum(int(point.value) for point in points)


def main() -> None:
    """Measure, and write the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", help="the framework")
    parser.add_argument("file", type=Path, help="where the figures go")
    parser.add_argument("--rounds", type=int, default=60, help="rounds in which the variants take turns")
    arguments = parser.parse_args()
    logging.disable()  # what a framework writes of a failure is not ours, and neither is a console
    framework = importlib.import_module(f"benchmarks.integrations.{arguments.name}")
    rounds = min(arguments.rounds, getattr(framework, "ROUNDS", arguments.rounds))
    with tempfile.TemporaryDirectory() as folder:
        figures = measured(framework.prepare, World(Path(folder) / "trajectory.jsonl"), rounds)
    arguments.file.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


def measured(prepare: Callable[[Scene], Callable[[], object]], world: World, rounds: int) -> dict[str, float]:
    """Return medians in microseconds of CPU time of this process."""
    samples: dict[str, list[float]] = {}
    variants = [(kind, use) for kind in TOOLS for use in USES]
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        for number in range(-WARM_UP, rounds):
            costs: dict[tuple[str, str], float] = {}
            for kind, use in variants:
                world.use(use)
                costs[kind, use] = _run_cost(prepare, kind, loop, ours=use != "without")
            world.use("without")
            found = {"span": _span(world.provider), "record_exception": _record_exception(world.provider)}
            for kind in TOOLS:
                without, idle, ours = (costs[kind, use] for use in USES)
                found |= {f"{kind} without": without, f"{kind} hooks": idle - without, f"{kind} ours": ours - idle}
                found[f"{kind} added"] = ours - without
            for name, value in found.items() if number >= 0 else ():
                samples.setdefault(name, []).append(value)
            variants.append(variants.pop(0))
    expected = (rounds + WARM_UP) * CALLS
    if world.errors() != expected:
        raise SystemExit(f"{world.errors()} failures were counted of {expected}: these figures would say nothing")
    return {name: statistics.median(values) for name, values in samples.items()}


def _run_cost(
    prepare: Callable[[Scene], Callable[[], object]], kind: str, loop: asyncio.AbstractEventLoop, *, ours: bool
) -> float:
    """Return what one tool call costs in one run of an agent, all that the framework does included."""
    executed = 0

    def price(item: str) -> str:
        nonlocal executed
        executed += 1
        return TOOLS[kind](item)

    price.__doc__ = healthy.__doc__
    run = prepare(Scene(tool=price, calls=CALLS, ours=ours))

    gc.collect()
    gc.freeze()
    gc.disable()
    started = time.process_time_ns()
    begun: Any = run()
    if inspect.isawaitable(begun):
        loop.run_until_complete(begun)
    cost = time.process_time_ns() - started
    gc.enable()
    if executed != CALLS:
        raise SystemExit(f"the tool was called {executed} times, not {CALLS}")
    return cost / CALLS / 1_000


def _span(provider: TracerProvider) -> float:
    """Return what the SDK takes to start and end a span with five attributes."""
    tracer = provider.get_tracer("benchmark")
    attributes = {f"gen_ai.attribute.{number}": "a value as long as most" for number in range(5)}
    started = time.process_time_ns()
    for _ in range(SPANS):
        tracer.start_span("execute_tool price", attributes=attributes).end()
    return (time.process_time_ns() - started) / SPANS / 1_000


def _record_exception(provider: TracerProvider) -> float:
    """Return what the SDK takes to record an exception of fifteen frames."""
    span = provider.get_tracer("benchmark").start_span("execute_tool price")
    try:
        look_up("tea", FRAMES - 2)
    except LookupError as error:
        started = time.process_time_ns()
        for _ in range(SPANS):
            span.record_exception(error)
        cost = time.process_time_ns() - started
    span.end()
    return cost / SPANS / 1_000


if __name__ == "__main__":
    main()
