"""Agents as processes of their own, and whether all that they did has arrived."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from e2e.backends import MICROSECONDS
from e2e.driving import environ

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from e2e.stack import Stack

SERVICE: Final = "operating"
UNLIMITED: Final = str(10**12)
ARRIVAL_SECONDS: Final = 300
POLL_SECONDS: Final = 5
ATTEMPTS: Final = 4
AGENT_SECONDS: Final = 3_600
TRACES: Final = 10_000
"""In one answer of Jaeger."""

# The exporter for traces, whatever takes them.
QUEUE: Final = 'sum(otelcol_exporter_queue_size{exporter="otlp_http/tempo"})'

_logger = logging.getLogger(__name__)


class Agents(NamedTuple):
    """
    What some agents have done together.
    """

    accounts: list[dict[str, Any]]
    trajectory_bytes: int

    def sum(self, name: str) -> float:
        """Return the sum over all agents."""
        return sum(account[name] for account in self.accounts)


class Arrived(NamedTuple):
    """
    What of it has arrived.
    """

    failures: int
    """As Prometheus counts them."""

    spans: int
    """Spans with an exception, as Jaeger finds them."""

    escalations: int
    """Log records, as VictoriaLogs finds them."""

    same: int
    """Raw errors of a sample that were the same, byte for byte."""

    different: tuple[str, ...]
    """The traces of those that were not, or that were not found."""


def run(
    stack: Stack,
    folder: Path,
    *,
    failures: int,
    processes: int = 1,
    pause: float = 0.0,
    name: str = SERVICE,
    endpoint: str = "",
) -> Agents:
    """
    Let agents fail, all at once, and wait until they have ended.

    Args:
        stack: Where they send to.
        folder: Where they keep their trajectory files and what they say.
        failures: How many they meet together.
        processes: How many agents.
        pause: Seconds for which an agent rests after each run.
        name: Their `service.name`.
        endpoint: Where they send to instead.
    """
    folder.mkdir(parents=True, exist_ok=True)
    started = []
    for number in range(processes):
        environment = {
            **environ(stack, name, "grpc"),
            "OTEL_ERRCOMPACT_TRAJECTORY_ENABLED": "true",
            "OTEL_ERRCOMPACT_TRAJECTORY_PATH": str(folder / f"trajectory-{number}.jsonl"),
            # Whole, so that it can be measured; as shipped it is rotated.
            "OTEL_ERRCOMPACT_TRAJECTORY_MAX_BYTES": UNLIMITED,
            **({"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint} if endpoint else {}),
        }
        arguments = [str(failures // processes), str(number + 1), str(pause)]
        with (folder / f"agent-{number}.err").open("ab") as errors:
            started.append(
                subprocess.Popen(
                    [sys.executable, "-m", "benchmarks.operating.agent", *arguments],
                    env=environment,
                    cwd=folder,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    text=True,
                )
            )
    accounts: list[dict[str, Any]] = []
    for process in started:
        output, _ = process.communicate(timeout=AGENT_SECONDS)
        assert process.returncode == 0, f"an agent ended with {process.returncode}; see {folder}"
        waiting, account = (json.loads(line) for line in output.splitlines())
        accounts.append({**waiting, **account})
    return Agents(accounts, sum(path.stat().st_size for path in folder.glob("trajectory-*")))


def arrived(stack: Stack, agents: Agents, name: str = SERVICE) -> Arrived:
    """Wait until what the agents did has arrived, and compare it."""
    failures = int(agents.sum("failures"))
    warm_ups = len(agents.accounts)
    spans = [0]

    def all_spans() -> bool:
        # To count is work, which is begun when the collector has handed on all it has.
        if stack.backends.prometheus.total(QUEUE) == 0:
            spans.append(_spans(stack, agents, name))
        return spans[-1] >= failures + warm_ups

    _wait(lambda: _counted(stack, "errcompact_errors_total", name) >= failures + warm_ups)
    _wait(all_spans)
    samples = [sample for account in agents.accounts for sample in account["samples"]]
    different = tuple(sample["trace"] for sample in samples if not _is_there(stack, sample))
    return Arrived(
        failures=_counted(stack, "errcompact_errors_total", name) - warm_ups,
        spans=spans[-1] - warm_ups,
        escalations=_logged(stack, name),
        same=len(samples) - len(different),
        different=different,
    )


def _wait(arrived: Callable[[], bool]) -> None:
    """Ask seldom, since answers cost work that is measured; give up in the end, and see what is lost."""
    deadline = time.monotonic() + ARRIVAL_SECONDS
    while not arrived() and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)


def _counted(stack: Stack, metric: str, name: str) -> int:
    # An instant query forgets a process that has ended after five minutes.
    return int(stack.backends.prometheus.total(f'sum(last_over_time({metric}{{service_name="{name}"}}[2h]))'))


def _logged(stack: Stack, name: str) -> int:
    query = f'"service.name":="{name}" "errcompact.threshold":* | stats count() as found'
    return int(stack.backends.victorialogs.query(query)[0]["found"])


def _spans(stack: Stack, agents: Agents, name: str) -> int:
    """Count a second at a time: no question to Jaeger counts, and an answer holds whole traces."""
    first = int(min(account["began"] for account in agents.accounts))
    found: set[str] = set()
    for second in range(first - 1, int(time.time()) + 1):
        traces = stack.backends.jaeger.get(
            "/api/traces", service=name, start=second * MICROSECONDS, end=(second + 1) * MICROSECONDS, limit=TRACES
        )["data"]
        assert len(traces) < TRACES, "more in a second than one answer holds"
        found |= {
            span["spanID"]
            for trace in traces
            for span in trace["spans"]
            # A boundary's own spans of failed calls: one exception each.
            if span["operationName"].startswith("execute_tool") and _failed(span)
        }
    return len(found)


def _failed(span: dict[str, Any]) -> bool:
    return any(
        field["value"] == "exception" for log in span["logs"] for field in log["fields"] if field["key"] == "event"
    )


def _is_there(stack: Stack, sample: dict[str, str]) -> bool:
    """Whether a span of the trace holds the raw error exactly; asked again, since it may be on its way."""
    for _ in range(ATTEMPTS):
        spans = stack.backends.jaeger.trace(sample["trace"])
        if any(sample["text"] in attributes.values() for span in spans for _, attributes in span.events):
            return True
        time.sleep(POLL_SECONDS)
    _logger.warning("not there as it was: %r\nbut: %r", sample["text"], [span.events for span in spans])
    return False
