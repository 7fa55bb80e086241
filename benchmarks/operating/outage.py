"""What waits where while a program is away, and whether it arrives when the program is back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from benchmarks.operating import load
from benchmarks.operating.watch import disk
from e2e.backends import eventually
from e2e.programs import free_ports

if TYPE_CHECKING:
    from pathlib import Path

    from e2e.stack import Stack

SERVICE: Final = "operating-outage"
# The exporter for traces, whatever takes them.
QUEUE: Final = 'max_over_time(otelcol_exporter_queue_size{exporter="otlp_http/tempo"}[10m])'
ARRIVAL_SECONDS: Final = 120


def jaeger_away(stack: Stack, folder: Path, failures: int) -> dict[str, Any]:
    """Kill Jaeger, let an agent fail, and start Jaeger again."""
    jaeger, queue = stack.programs["jaeger"], stack.programs["otelcol"].directory / "queue"
    before = disk(queue)
    jaeger.kill()
    agents = load.run(stack, folder, failures=failures, name=SERVICE)
    # The collector tells the size of its queue every ten seconds.
    found: list[float] = []

    def settled() -> bool:
        found.append(stack.backends.prometheus.total(QUEUE))
        return len(found) > 60 and found[-1] == found[-60] > 0

    eventually(settled, seconds=ARRIVAL_SECONDS, what="a queue that stands still")
    waiting, on_disk = found[-1], disk(queue) - before
    jaeger.restart()
    arrived = load.arrived(stack, agents, SERVICE)
    return {
        "failures": agents.sum("failures"),
        "queue_bytes": waiting,
        "queue_disk_bytes": on_disk,
        "arrived": arrived._asdict(),
        "lost": agents.sum("failures") - min(arrived.failures, arrived.spans) + len(arrived.different),
    }


def collector_away(stack: Stack, folder: Path, failures: int) -> dict[str, Any]:
    """Let an agent fail that reaches no collector, and tell what it holds."""
    (closed,) = free_ports(1)
    agents = load.run(stack, folder, failures=failures, endpoint=f"http://127.0.0.1:{closed}")
    (account,) = agents.accounts
    return {
        "failures": account["failures"],
        "spans": account["spans"],
        "waiting": account["waiting"],
        "memory_bytes": account["memory_bytes"],
        "worked_s": account["worked_s"],
    }
