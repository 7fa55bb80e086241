"""The shipped balancer in front of two collectors: what belongs together meets in one of them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from e2e.sink import Sink, eventually
from e2e.test_collector import ERROR, OTELCOL, Collector, counter, exception, running, span, traces

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TRACES = 40

pytestmark = pytest.mark.skipif(
    not OTELCOL, reason="no collector: set OTELCOL to what collector-config/builder.yaml builds"
)


@pytest.fixture
def tier(tmp_path: Path) -> Iterator[tuple[Collector, Collector]]:
    """Two collectors, each with back ends of its own."""
    for name in ("one", "two", "balancer"):
        (tmp_path / name).mkdir()
    for first in running(tmp_path / "one"):
        for second in running(tmp_path / "two"):
            yield first, second


@pytest.fixture
def balancer(tier: tuple[Collector, Collector], tmp_path: Path) -> Iterator[Collector]:
    """What agents send to."""
    behind = ", ".join(f"127.0.0.1:{collector.grpc_port}" for collector in tier)
    front = Collector(
        folder=tmp_path / "balancer",
        sink=Sink(),
        environment={"COLLECTORS": f"[{behind}]"},
        configuration="otelcol-balancer.yaml",
    )
    try:
        front.start()
        yield front
    finally:
        front.stop()
        front.sink.close()


def test_a_trace_meets_in_one_collector(balancer, tier):
    """All spans of a trace go the same way, whichever request brings them, and so a failure keeps all of them."""
    healthy = {os.urandom(16): span(name="plan") for _ in range(TRACES)}
    for trace, planned in healthy.items():
        planned.trace_id = trace
    assert balancer.send(traces(*healthy.values())) == 200
    failed = [span(trace, status=ERROR, events=[exception(exception__type="E")]) for trace in healthy]
    assert balancer.send(traces(*failed, service="shop-tools")) == 200

    assert eventually(lambda: sum(len(collector.sink.spans()) for collector in tier) == 2 * TRACES, 30)
    seen = [{one.trace_id for one in collector.sink.spans()} for collector in tier]
    assert seen[0] | seen[1] == set(healthy)
    assert seen[0] & seen[1] == set()
    assert all(seen)


def test_a_process_keeps_its_collector(balancer, tier):
    """A counter's points all pass one collector: by two of them they would arrive out of order."""
    for value in range(1, 21):
        assert balancer.send(counter(value)) == 200

    assert eventually(lambda: sorted(value for values in points(tier) for value in values) == [*range(1, 21)], 30)
    assert [] in points(tier)


def points(tier: tuple[Collector, Collector]) -> list[list[Any]]:
    """What has arrived of the counter, by collector."""
    return [[point.as_int for _, point in collector.sink.sums("shop.orders")] for collector in tier]
