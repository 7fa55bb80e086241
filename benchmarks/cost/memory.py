"""
What the process grows by: a million distinct failures, and a soak of a million healthy spans and tool calls.

Each figure is taken in a process of its own: `python -m benchmarks.cost.memory failures|soak COUNT` prints it.
"""

from __future__ import annotations

import gc
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider

import otel_errcompact as errcompact
from benchmarks.cost.measure import NEVER, Row, words
from otel_errcompact.config import Options, TrajectoryOptions
from otel_errcompact.escalator.thresholds import Thresholds
from otel_errcompact.otel import semconv

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT: Final = Path(__file__).resolve().parents[2]
A_ROUND: Final = 5_000
"""Failures, and spans, of one round: 200 rounds are a million."""

FAILURES_MB: Final = 10.0
SOAK_MB: Final = 1.0
WARM_UP: Final = 2_000
"""Failures after which all that is loaded, compiled and cached at first is there."""


def measure(rounds: int) -> list[Row]:
    """Return the rows of memory, of `rounds` times 5,000 failures and spans."""
    count = rounds * A_ROUND
    return [
        Row(name=f"memory, {count:,} distinct failures", value=_grow("failures", count), unit="MB", goal=FAILURES_MB),
        Row(
            name=f"memory, from 10 % to 100 % of {count:,} healthy spans and tool calls",
            value=_grow("soak", count),
            unit="MB",
            goal=SOAK_MB,
        ),
    ]


def resident_bytes() -> int:
    """Return the memory this process holds (Linux)."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * 4_096


def grow_by_failures(provider: TracerProvider, count: int) -> float:
    """
    Return the megabytes that distinct failures of spans add.

    A thousand failures to a run, so that runs, classes, raw texts and labels all reach their bounds.
    """
    tracer = provider.get_tracer("bench")

    def fail(number: int) -> None:
        name = words(number)
        span = tracer.start_span("query", attributes={semconv.GEN_AI_CONVERSATION_ID: f"run-{number // 1_000}"})
        message = f"no route to host 'db-{name}'"
        text = f'Traceback (most recent call last):\n  File "/srv/app/db.py", line 7, in query_{name}\n    connect()\n'
        details = {semconv.EXCEPTION_TYPE: "ConnectionError", semconv.EXCEPTION_MESSAGE: message}
        details[semconv.EXCEPTION_STACKTRACE] = f"{text}ConnectionError: {message}\n"
        span.add_event(semconv.EXCEPTION_EVENT, details)
        span.set_attribute(semconv.ERROR_TYPE, "ConnectionError")
        span.end()

    return _growth(fail, count, first=10)


def grow_by_soak(provider: TracerProvider, count: int) -> float:
    """Return the megabytes that healthy spans and tool calls add after the first tenth of them."""
    tracer = provider.get_tracer("bench")

    def work(number: int) -> None:
        with errcompact.run(f"run-{number}") as run, tracer.start_as_current_span("GET /orders"):
            with run.tool("query") as call:
                call.result = "3 rows"
            assert call.text == "3 rows"

    for number in range(WARM_UP):
        work(number)
    return _growth(work, count, first=count // 10)


def _growth(work: Callable[[int], None], count: int, *, first: int) -> float:
    for number in range(first):
        work(number)
    gc.collect()
    before = resident_bytes()
    for number in range(first, count):
        work(number)
    gc.collect()
    return (resident_bytes() - before) / 2**20


def _grow(what: str, count: int) -> float:
    command = [sys.executable, "-m", "benchmarks.cost.memory", what, str(count)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return float(done.stdout)


def main() -> None:
    """Print the growth in megabytes."""
    what, count = sys.argv[1], int(sys.argv[2])
    never = Thresholds(same=NEVER, rejected=NEVER, loop=NEVER, consecutive=NEVER, total=NEVER)
    with tempfile.TemporaryDirectory() as folder:
        provider = TracerProvider(shutdown_on_exit=False)
        errcompact.install(
            tracer_provider=provider,
            meter_provider=MeterProvider([InMemoryMetricReader()], shutdown_on_exit=False),
            options=Options(thresholds=never, trajectory=TrajectoryOptions(path=Path(folder) / "trajectory.jsonl")),
        )
        print({"failures": grow_by_failures, "soak": grow_by_soak}[what](provider, count))


if __name__ == "__main__":
    main()
