"""Many threads and tasks over many runs: every count is exact."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider

import otel_errcompact as errcompact
from otel_errcompact import Options, Run, Thresholds
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.otel.metrics.instruments import Telemetry
from otel_errcompact.otel.spans.processor import ErrorCompactionSpanProcessor

pytestmark = pytest.mark.usefixtures("untraced")

NEVER = Thresholds(same=10**6, consecutive=10**6, total=10**6)
RUNS, THREADS, TASKS, CALLS = 100, 50, 200, 40
TOOLS = {"read": KeyError, "write": ValueError, "send": ConnectionError}


def counted(reader: InMemoryMetricReader) -> int:
    data = reader.get_metrics_data()
    assert data is not None
    return sum(
        int(point.value)  # type: ignore[union-attr]
        for resource in data.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
        if metric.name == "errcompact.errors"
        for point in metric.data.data_points
    )


@pytest.fixture
def reader() -> InMemoryMetricReader:
    return InMemoryMetricReader()


@pytest.fixture
def ledger(reader: InMemoryMetricReader) -> Ledger:
    made = Ledger(Options(thresholds=NEVER))
    made.listeners.add(Telemetry(MeterProvider([reader], shutdown_on_exit=False), made))
    return made


@pytest.fixture
def runs(ledger: Ledger) -> list[Run]:
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(ErrorCompactionSpanProcessor(ledger))
    made = [errcompact.run(f"run-{number}", ledger=ledger, tracer_provider=provider) for number in range(RUNS)]
    for run in made:
        ledger.open(run.run_id)
    return made


def worker_calls(worker: int) -> list[tuple[int, str]]:
    """The calls a worker makes: run and tool, spread so that every run is used by many workers at once."""
    tools = list(TOOLS)
    return [((worker * 7 + number * 13) % RUNS, tools[(worker + number) % len(tools)]) for number in range(CALLS)]


def check(ledger: Ledger, reader: InMemoryMetricReader, workers: int) -> None:
    expected: dict[int, dict[str, int]] = {number: dict.fromkeys(TOOLS, 0) for number in range(RUNS)}
    for worker in range(workers):
        for run, tool in worker_calls(worker):
            expected[run][tool] += 1
    for number, tools in expected.items():
        report = ledger.report(f"run-{number}")
        assert {found.tool: found.count for found in report.classes} == {
            tool: count for tool, count in tools.items() if count
        }
        assert report.occurrences == sum(tools.values())
    assert counted(reader) == workers * CALLS


def test_fifty_threads_count_exactly(ledger: Ledger, runs: list[Run], reader: InMemoryMetricReader) -> None:
    """Two thousand failures from fifty threads in a hundred runs: each is counted once, in its own run and class."""

    def work(worker: int) -> None:
        for run, tool in worker_calls(worker):
            with runs[run].tool(tool):
                raise TOOLS[tool](tool)

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(work, range(THREADS)))
    check(ledger, reader, THREADS)


async def test_two_hundred_tasks_count_exactly(ledger: Ledger, runs: list[Run], reader: InMemoryMetricReader) -> None:
    """Eight thousand failures from two hundred tasks that take turns inside each call."""

    async def work(worker: int) -> None:
        for run, tool in worker_calls(worker):
            async with runs[run].tool(tool):
                await asyncio.sleep(0)
                raise TOOLS[tool](tool)

    await asyncio.gather(*(work(worker) for worker in range(TASKS)))
    check(ledger, reader, TASKS)
