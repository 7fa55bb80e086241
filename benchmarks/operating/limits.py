"""
Whether memory limits hold under load: `python -m benchmarks.operating.limits [--failures 40000] [--seconds 60]`.

First the stack of docker-compose.yml with docker-compose.jaeger.yml over it, then the collector tier of
kubernetes/base. Each program runs with the variables of its container, by which it keeps below its limit; its peak of
resident memory is compared with that limit. Resident memory holds pages of files too, which the kernel would take back
first. Linux only.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from benchmarks.operating import load
from benchmarks.operating.collector import batches, send, wait_quiet
from benchmarks.operating.report import table
from benchmarks.operating.sink import Sink
from benchmarks.operating.watch import usage
from e2e.build import program
from e2e.manifests import Workload, built, mebibytes
from e2e.programs import Program, free_ports
from e2e.stack import start
from tests.stack.compose import JAEGER, services

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MIB: Final = 2**20
CALLS: Final = 10
OF_COMPOSE: Final = {"m": "Mi", "g": "Gi"}


class Peak(NamedTuple):
    """
    The peak of a program's memory, beside its limit.
    """

    name: str
    limit_mib: int
    peak_mib: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print tables, and fail if a limit was reached or data was lost."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.operating.limits", description=__doc__)
    parser.add_argument("--failures", type=int, default=40_000, help="how many the agents of the stack meet together")
    parser.add_argument("--seconds", type=float, default=60, help="for how long the tier is sent to")
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="errcompact-limits-", ignore_cleanup_errors=True) as folder:
        lost, peaks = _of_stack(Path(folder), asked.failures)
        (Path(folder) / "tier").mkdir()
        lost_by_tier, peaks_of_tier = _of_tier(Path(folder) / "tier", asked.seconds)
    print(_table("docker-compose.jaeger.yml", peaks), _table("kubernetes/base", peaks_of_tier), sep="\n\n")
    exceeded = [each.name for each in (*peaks, *peaks_of_tier) if each.peak_mib >= each.limit_mib]
    return 1 if exceeded or lost or lost_by_tier else 0


def _table(what: str, peaks: Sequence[Peak]) -> str:
    rows = [
        (each.name, f"{each.limit_mib:,}", f"{each.peak_mib:,.0f}", f"{100 * each.peak_mib / each.limit_mib:.0f} %")
        for each in peaks
    ]
    return table((what, "limit, MiB", "peak under load, MiB", "of the limit"), rows)


def _of_stack(folder: Path, failures: int) -> tuple[int, list[Peak]]:
    """Let two agents fail as fast as they can, and return how much was lost and the peaks."""
    stack, _ = start(folder / "stack")
    try:
        began = time.monotonic()
        agents = load.run(stack, folder / "agents", failures=failures, processes=2)
        took = time.monotonic() - began
        arrived = load.arrived(stack, agents)
        limits = {name: services(JAEGER)[name]["mem_limit"] for name in stack.programs}
        peaks = [
            _peak(name, each, mebibytes(limits[name][:-1] + OF_COMPOSE[limits[name][-1]]))
            for name, each in stack.programs.items()
        ]
    finally:
        stack.close()
    lost = int(agents.sum("failures")) - min(arrived.failures, arrived.spans)
    _say(f"stack: {failures:,} failures in {took:.0f} s, {lost} lost, load {os.getloadavg()[0]:.1f}")
    return lost, peaks


def _of_tier(folder: Path, seconds: float) -> tuple[int, list[Peak]]:
    """Send to the agent as fast as it answers, and return how many spans were lost and the peaks."""
    sink = Sink()
    programs: dict[str, Program] = {}
    limits: dict[str, int] = {}
    try:
        entrance = 0
        for name, limit, each, port in _tier(folder, sink.url):
            programs[name], limits[name], entrance = each, limit, port
            each.start()
            each.wait_ready()
        sent, refused, took = send(entrance, batches(CALLS), seconds)
        wait_quiet(sink)
        peaks = [_peak(name, each, limits[name]) for name, each in programs.items()]
    finally:
        for each in reversed(programs.values()):
            each.kill()
    spans, arrived = sum(batch.spans for batch in sent), sink.spans()
    sink.close()
    _say(f"tier: {spans:,} spans in {took:.0f} s, {refused:,} requests sent again, {spans - arrived} spans lost")
    return spans - arrived, peaks


def _tier(folder: Path, sink: str) -> Iterator[tuple[str, int, Program, int]]:
    """Yield the programs of the tier, receivers first, each with its limit and its port for OTLP/HTTP."""
    manifests = built("kubernetes/base")
    workloads = {each.name: each for each in manifests.workloads()}
    gateways: list[str] = []
    for number in range(workloads["errcompact-gateway"].manifest["spec"]["replicas"]):
        # Whether all spans have arrived can be said only where all are kept.
        made = _part(workloads["errcompact-gateway"], folder, number, sink, HEALTHY_TRACES_PERCENT="100")
        gateways.append(made[2].environ["OTLP_GRPC_ADDRESS"])
        yield made
    balancer = _part(workloads["errcompact-balancer"], folder, 0, sink, COLLECTORS=f"[{', '.join(gateways)}]")
    yield balancer
    yield _part(workloads["errcompact-agent"], folder, 0, sink, BALANCER_URL=f"http://127.0.0.1:{balancer[3]}")


def _part(workload: Workload, folder: Path, number: int, sink: str, **addresses: str) -> tuple[str, int, Program, int]:
    name = f"{workload.name.removeprefix('errcompact-')}-{number}"
    grpc, port, health, zpages = free_ports(4)
    _, content = workload.configuration()
    (folder / f"{name}.yaml").write_text(content, encoding="utf-8")
    environ: Mapping[str, str] = {
        **workload.environ(metadata_name=name, spec_nodeName="node"),
        "OTLP_GRPC_ADDRESS": f"127.0.0.1:{grpc}",
        "OTLP_HTTP_ADDRESS": f"127.0.0.1:{port}",
        "HEALTH_ADDRESS": f"127.0.0.1:{health}",
        "ZPAGES_ADDRESS": f"127.0.0.1:{zpages}",
        "QUEUE_DIRECTORY": str(folder / name / "queue"),
        **dict.fromkeys(("TEMPO_URL", "PROMETHEUS_URL", "LOKI_URL"), sink),
        **addresses,
    }
    made = Program(
        name=name,
        command=[program("otelcol"), "--config", folder / f"{name}.yaml"],
        ready=f"http://127.0.0.1:{health}",
        directory=folder / name,
        environ=environ,
    )
    return name, mebibytes(workload.container["resources"]["limits"]["memory"]), made, port


def _peak(name: str, running: Program, limit_mib: int) -> Peak:
    return Peak(name, limit_mib, usage(running).peak_bytes / MIB)


def _say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
