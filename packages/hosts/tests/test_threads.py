"""Calls in threads that did not inherit the context of a run: two conversations never share anything."""

from __future__ import annotations

import asyncio
import contextvars
import itertools
import logging
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import NoOpTracerProvider

import otel_errcompact as errcompact
from otel_errcompact import Options, Run
from otel_errcompact.boundary import unbound
from otel_errcompact.config import TrajectoryOptions
from otel_errcompact.engine.events import Ended, Observation
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.engine.listeners import Listener

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from otel_errcompact.engine.listeners import Receivers
    from otel_errcompact.engine.report import RunReport
    from otel_errcompact.installation.install import Installation

CALLS = 8


class Told(Listener):
    """
    What operators are told.
    """

    def __init__(self) -> None:
        self.observed: list[Observation] = []
        self.ended: list[RunReport] = []

    def receivers(self) -> Receivers:
        return {Observation: self.observed.append, Ended: lambda event: self.ended.append(event.report)}


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def installed(told: Told, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Installation]:
    ledger = Ledger(Options(trajectory=TrajectoryOptions(path=tmp_path / "kept.jsonl")))
    ledger.listeners.add(told)
    monkeypatch.setattr(unbound, "_failures", itertools.count())
    installation = errcompact.install(
        tracer_provider=TracerProvider(shutdown_on_exit=False),
        meter_provider=MeterProvider([InMemoryMetricReader()], shutdown_on_exit=False),
        ledger=ledger,
    )
    yield installation
    installation.uninstall()


TEXT = "\n".join(["the ledger has no account for this customer:", *(f"  row {number}: missing" for number in range(9))])


@errcompact.compacted
def look_up(customer: str) -> str:
    raise LookupError(TEXT)


async def in_an_executor(calls: int) -> list[str]:
    loop = asyncio.get_running_loop()
    return [str(await loop.run_in_executor(None, look_up, "ann")) for _ in range(calls)]


@pytest.mark.usefixtures("installed")
async def test_conversations_in_an_executor_share_nothing(told: Told, own_log: pytest.LogCaptureFixture) -> None:
    """
    Each failure is told whole, however often another conversation has met it; none is refused; all are counted; and
    one warning says how to bind the thread.
    """

    async def conversation(name: str) -> list[str]:
        async with errcompact.run(name) as run:
            texts = await in_an_executor(CALLS)
            assert run.report().occurrences == 0
            return texts

    with own_log.at_level(logging.WARNING, "otel_errcompact"):
        texts = [text for texts in await asyncio.gather(conversation("a"), conversation("b")) for text in texts]
    assert len(set(texts)) == 1
    assert "row 8: missing" in texts[0]
    assert "again" not in texts[0]
    assert "NOT EXECUTED" not in texts[0]
    assert len(told.observed) == 2 * CALLS
    assert len({observation.run_id for observation in told.observed}) == 2 * CALLS
    (warning,) = [record.getMessage() for record in own_log.records if record.levelno == logging.WARNING]
    for way in ("contextvars.copy_context().run", "asyncio.to_thread", "compacted(run=run)", "errcompact.run()"):
        assert way in warning


@pytest.mark.usefixtures("installed")
async def test_threads_that_are_bound_are_of_the_run() -> None:
    """By each of the ways that the warning names."""
    async with errcompact.run("r") as run:

        @errcompact.compacted(run=run)
        def bound(customer: str) -> str:
            return look_up(customer)

        loop = asyncio.get_running_loop()
        await asyncio.to_thread(look_up, "ann")
        await loop.run_in_executor(None, contextvars.copy_context().run, look_up, "bob")
        await loop.run_in_executor(None, bound, "eve")
        assert run.report().occurrences == 3


def test_a_trace_is_the_run_for_operators_alone(installed: Installation, told: Told) -> None:
    """Its failures count together, and the text of each is still whole: a trace may hold two conversations."""
    with installed.tracer_provider.get_tracer("host").start_as_current_span("request") as span:
        texts = {str(look_up("ann")) for _ in range(CALLS)}
    trace_id = f"{span.get_span_context().trace_id:032x}"
    assert [observation.run_id for observation in told.observed] == [trace_id] * CALLS
    assert [observation.count for observation in told.observed] == [*range(1, CALLS + 1)]
    assert len(texts) == 1
    assert "again" not in texts.pop()


@pytest.mark.usefixtures("installed")
def test_healthy_calls_count_as_failing_ones_do(told: Told) -> None:
    """Each is a trace of its own that a tool took part in, or the failed share of such runs would be all of them."""

    @errcompact.compacted
    def healthy() -> str:
        return "fine"

    for _ in range(3):
        healthy()
    look_up("ann")
    assert sorted(report.result for report in told.ended) == ["clean", "clean", "clean", "failed"]


def test_without_a_tracer_nothing_is_kept_of_a_run(told: Told) -> None:
    """A lone call is no agent run: its failure is counted, its state forgotten, and no run is said to have ended."""
    ledger = Ledger()
    ledger.listeners.add(told)

    def lone() -> Run:
        return Run(unbound.UnboundScope(ledger=ledger, tracer_provider=NoOpTracerProvider()))

    texts = [lone().fail(TEXT, tool="t") for _ in range(CALLS)]
    assert (len(set(texts)), len(told.observed), told.ended, ledger.store.run_ids()) == (1, CALLS, [], ())


@pytest.mark.usefixtures("installed")
def test_a_call_inside_a_lone_call_is_part_of_it(told: Told) -> None:
    """What it passes on counts once."""

    @errcompact.compacted(failure=LookupError)
    def inner() -> str:
        raise KeyError("sku")

    @errcompact.compacted
    def outer() -> str:
        return str(inner())

    assert "KeyError" in str(outer())
    assert len(told.observed) == 1


@pytest.mark.usefixtures("installed")
def test_pools_of_many_threads(told: Told) -> None:
    """Side by side, too."""

    def work(function: Callable[[str], str]) -> str:
        return function("ann")

    with ThreadPoolExecutor(16) as pool:
        texts = set(pool.map(work, [look_up] * 200))
    assert (len(texts), len(told.observed)) == (1, 200)
