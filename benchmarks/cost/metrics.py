"""What metrics cost: the hand-over of one failure, and the longest pause of a collection."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from benchmarks.cost.measure import NEVER, SPAN, Row, make_span, scaled, take_turns, tenth_percentile
from otel_errcompact.config import Options
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.errors import RawError, SpanRef
from otel_errcompact.escalator.thresholds import Thresholds
from otel_errcompact.history.stores.memory import MemoryLimits
from otel_errcompact.otel.metrics.instruments import Telemetry

if TYPE_CHECKING:
    from collections.abc import Callable

    from otel_errcompact.engine.events import Observation

WAITING: Final = 10_000
HAND_OVER_US: Final = 2.0
PAUSE_MS: Final = 10.0
COLLECTIONS: Final = 12


class Metered:
    """
    A ledger with instruments and a reader, in which nothing ever escalates.

    Args:
        runs: How many runs it remembers.
    """

    def __init__(self, runs: int = 1_000) -> None:
        limits = MemoryLimits(runs=runs, classes=max(runs, 5_000))
        thresholds = Thresholds(same=NEVER, rejected=NEVER, loop=NEVER, consecutive=NEVER, total=NEVER)
        self.ledger = Ledger(Options(memory=limits, thresholds=thresholds))
        self.reader = InMemoryMetricReader()
        self.telemetry = Telemetry(MeterProvider([self.reader], shutdown_on_exit=False), self.ledger)

    def observe(self, run_id: str, number: int, *, classes: int, tools: int) -> Observation:
        """Count a failure of one of so many classes and tools, without the instruments."""
        name = f"table_{'abcdefghij'[number % classes // 10]}{'klmnopqrst'[number % classes % 10]}"
        message = f"no such table: {name}"
        raw = RawError(
            text=f"OperationalError: {message}",
            type="OperationalError",
            message=message,
            tool=f"tool {number // classes % tools}",
            agent="shop",
            span=SpanRef(trace_id=number + 1, span_id=number + 1),
        )
        return self.ledger.observe(run_id, raw)


def make_hand_over() -> Callable[[], object]:
    """Return the path of one failure into the metrics: a repeat of a class."""
    metered = Metered()
    metered.observe("r", 0, classes=1, tools=1)
    observation = metered.observe("r", 0, classes=1, tools=1)
    return lambda: metered.telemetry.count_observation(observation)


def measure(rounds: int) -> list[Row]:
    """Return the rows of metrics."""
    times = take_turns({SPAN: make_span(), "hand over": make_hand_over()}, rounds=rounds, calls=50)
    hand_over = scaled(times["hand over"], times[SPAN])
    return [
        Row(name="metrics, hand-over of one failure", value=hand_over, unit="us, scaled", goal=HAND_OVER_US),
        _pause("1 run, 1 class", runs=1, classes=1, tools=1, goal=PAUSE_MS),
        _pause("10 runs, 30 classes", runs=10, classes=30, tools=1, goal=PAUSE_MS),
        _pause("10,000 open runs, 30 classes", runs=10_000, classes=30, tools=1, goal=PAUSE_MS),
        # More than 1,000 series: most of it is what the SDK takes for so many points.
        _pause("10 runs, 100 classes in 10 tools each", runs=10, classes=100, tools=10),
    ]


def _pause(name: str, *, runs: int, classes: int, tools: int, goal: float | None = None) -> Row:
    """Measure how long one collection takes with 10,000 failures waiting, the SDK's own part included."""
    metered, span = Metered(runs), make_span()
    observations = [
        metered.observe(f"run {number % runs}", number, classes=classes, tools=tools) for number in range(WAITING)
    ]
    pauses: list[float] = []
    for _ in range(COLLECTIONS):
        for observation in observations:
            metered.telemetry.count_observation(observation)
        started = time.thread_time_ns()
        for _ in range(200):
            span()
        between = time.thread_time_ns()
        metered.reader.collect()
        pause = time.thread_time_ns() - between
        pauses.append(scaled(pause / 1e6, (between - started) / 200 / 1_000))
    return Row(
        name=f"metrics, collection with 10,000 failures waiting, {name}",
        value=tenth_percentile(pauses),
        unit="ms, scaled",
        goal=goal,
    )


PATHS: Final = {"hand_over": make_hand_over}
