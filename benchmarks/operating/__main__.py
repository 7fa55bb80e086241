"""
What the operator's side costs: `python -m benchmarks.operating [--failures 100000]`.

It starts the collector, Prometheus, Jaeger and VictoriaLogs with the shipped configuration on free loopback ports, lets
real agents fail, waits until all of it has arrived, and prints tables. Linux only. `python -m e2e.build` builds the
programs.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.operating import load, outage, prometheus, report
from benchmarks.operating.watch import cores, disk, usage
from e2e.stack import start

if TYPE_CHECKING:
    from collections.abc import Sequence

    from e2e.stack import Stack

IDLE_SECONDS: Final = 30
WRITTEN_SECONDS: Final = 600
READ_EVERY_SECONDS: Final = 5
STEADY: Final = 14
"""Readings, more than a minute in which nothing is merged or written any more."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the tables, and fail if anything was lost."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.operating", description=__doc__.strip().splitlines()[0])
    parser.add_argument("--failures", type=int, default=100_000, help="how many the agents meet together")
    parser.add_argument("--agents", type=int, default=2, help="processes that meet them at once")
    parser.add_argument("--pause", type=float, default=0.0, help="seconds an agent rests after each run of ten calls")
    parser.add_argument("--idle", type=float, default=IDLE_SECONDS, help="seconds for which idle programs are watched")
    parser.add_argument("--outage", type=int, default=20_000, help="failures while Jaeger is away; 0 leaves that out")
    parser.add_argument("--json", type=Path, help="also write what was measured to this file")
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="errcompact-operating-", ignore_cleanup_errors=True) as folder:
        stack, _ = start(Path(folder) / "stack")
        try:
            measured = _measure(stack, Path(folder), asked)
        finally:
            stack.close()
    print(report.tables(measured))
    if asked.json:
        asked.json.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
    return 0 if measured["lost"] == 0 else 1


def _measure(stack: Stack, folder: Path, asked: argparse.Namespace) -> dict[str, Any]:
    measured: dict[str, Any] = {
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}",
        "load": os.getloadavg()[0],
        "idle_before": cores(stack.programs, asked.idle),
    }
    before = {name: usage(program) for name, program in stack.programs.items()}
    head = prometheus.head(stack)
    _say(f"{asked.agents} agents meet {asked.failures} failures")
    began = time.monotonic()
    agents = load.run(stack, folder / "agents", failures=asked.failures, processes=asked.agents, pause=asked.pause)
    worked = time.monotonic() - began
    now = prometheus.head(stack)
    _say(f"done in {worked:.0f} s; waiting until all has arrived")
    arrived = load.arrived(stack, agents)
    failures = agents.sum("failures")
    measured |= {
        "agents": {
            name: agents.sum(name)
            for name in ("failures", "raw_bytes", "spans", "runs", "escalations", "cpu_s", "worked_cpu_s")
        }
        | {
            "processes": len(agents.accounts),
            "worked_s": max(account["worked_s"] for account in agents.accounts),
            "classes": max(account["classes"] for account in agents.accounts),
            "peak_bytes": max(account["peak_bytes"] for account in agents.accounts),
            "trajectory_bytes": agents.trajectory_bytes,
        },
        "worked_s": worked,
        "arrived": arrived._asdict(),
        "lost": failures - min(arrived.failures, arrived.spans) + len(arrived.different),
        "programs": {
            name: {"cpu_s": (at := usage(program)).cpu_s - before[name].cpu_s, "peak_bytes": at.peak_bytes}
            for name, program in stack.programs.items()
        },
        "head": now._asdict(),
        "samples_per_s": (now.samples - head.samples) / worked,
        "series": prometheus.series_by_name(stack),
    }
    measured["idle_after"] = cores(stack.programs, asked.idle)
    measured["disk"] = _kept(stack)
    if asked.outage:
        _say("the same with Jaeger away")
        measured["jaeger_away"] = outage.jaeger_away(stack, folder / "jaeger-away", asked.outage)
        _say("and with no collector")
        measured["collector_away"] = outage.collector_away(stack, folder / "collector-away", asked.outage)
    measured["block"] = prometheus.block(stack)._asdict()
    return measured


def _kept(stack: Stack) -> dict[str, int]:
    """Return what the back ends keep for the time of the retention, once they have written it."""
    folders = {name: stack.programs[name].directory for name in ("jaeger", "victoria-logs")}
    sizes: list[dict[str, int]] = []

    deadline = time.monotonic() + WRITTEN_SECONDS
    while time.monotonic() < deadline and not (sizes and sizes[-STEADY:] == [sizes[-1]] * STEADY):
        time.sleep(READ_EVERY_SECONDS)
        sizes.append({name: disk(folder) for name, folder in folders.items()})
    return sizes[-1]


def _say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
