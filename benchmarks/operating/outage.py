"""What waits in the collector's queue while Tempo is away, and whether it arrives when Tempo is back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from benchmarks.operating import load
from benchmarks.operating.watch import disk
from e2e.backends import eventually

if TYPE_CHECKING:
    from pathlib import Path

    from e2e.stack import Stack

SERVICE: Final = "operating-outage"
QUEUE: Final = 'max_over_time(otelcol_exporter_queue_size{exporter="otlp_http/tempo"}[10m])'
ARRIVAL_SECONDS: Final = 120


def measure(stack: Stack, folder: Path, failures: int) -> dict[str, Any]:
    """Kill Tempo, let an agent fail, and start Tempo again."""
    tempo, queue = stack.programs["tempo"], stack.data_of("otelcol") / "queue"
    before = disk(queue)
    tempo.kill()
    agents = load.run(stack, folder, failures=failures, processes=1, name=SERVICE)
    # The collector tells the size of its queue every ten seconds.
    found: list[float] = []

    def settled() -> bool:
        found.append(stack.backends.prometheus.total(QUEUE))
        return len(found) > 60 and found[-1] == found[-60] > 0

    eventually(settled, seconds=ARRIVAL_SECONDS, what="a queue that stands still")
    waiting, on_disk = found[-1], disk(queue) - before
    tempo.restart()
    arrived = load.arrived(stack, agents, SERVICE)
    return {
        "failures": agents.sum("failures"),
        "queue_bytes": waiting,
        "queue_disk_bytes": on_disk,
        "arrived": arrived._asdict(),
        "lost": agents.sum("failures") - min(arrived.failures, arrived.spans) + arrived.different,
    }
