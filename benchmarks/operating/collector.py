"""
How many failures a second one collector takes without loss: `python -m benchmarks.operating.collector [--seconds 30]`.

It sends what the library's exporter would send, encoded beforehand, as fast as the collector answers, and counts what
arrives at a back end that does nothing. Linux only.
"""

from __future__ import annotations

import argparse
import http.client
import os
import random
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator

import otel_errcompact as errcompact
from benchmarks.operating.mix import kinds, weights
from benchmarks.operating.report import table
from benchmarks.operating.sink import Sink
from benchmarks.operating.watch import usage
from e2e.build import program
from e2e.programs import Program, free_ports
from e2e.recipes import ROOT
from otel_errcompact.config import TrajectoryOptions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.operating.mix import Kind

SENDERS: Final = 4
SPANS: Final = 512
"""Spans of one request, as the SDK's exporters batch them."""

BATCHES: Final = 20
MARK: Final = b"\xfe\xfd\xfc\xfb"
"""The last bytes of every trace id as it is encoded; each request puts its own there, so that no trace comes twice."""

FAILING: Final = 4
MILLION: Final = 1_000_000
MB: Final = 1_000_000
DRAIN_SECONDS: Final = 120
QUIET_SECONDS: Final = 15
"""Healthy spans wait ten seconds for a failure in their trace."""


class Batch(NamedTuple):
    """
    One request, without its own trace ids.
    """

    body: bytes
    failures: int
    spans: int


class Ids(RandomIdGenerator):
    """
    Ids of traces that end in the mark.
    """

    def generate_trace_id(self) -> int:
        """Return a trace id."""
        return random.getrandbits(96) << 32 | int.from_bytes(MARK, "big")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print a table, and fail if anything was lost."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.operating.collector", description=__doc__)
    parser.add_argument("--seconds", type=float, default=30, help="how long it is sent to")
    parser.add_argument("--calls", type=int, default=10, help="calls of a run, four of which fail")
    asked = parser.parse_args(arguments)
    prepared = batches(asked.calls)
    with tempfile.TemporaryDirectory(prefix="errcompact-collector-", ignore_cleanup_errors=True) as folder:
        sink = Sink()
        collector, port = _collector(Path(folder), sink.url)
        collector.start()
        try:
            collector.wait_ready()
            idle = usage(collector)
            sent, refused, took = send(port, prepared, asked.seconds)
            spans = sum(batch.spans for batch in sent)
            wait_quiet(sink)
            used = usage(collector)
        finally:
            collector.kill()
        arrived = sink.spans()
        sink.close()
    failures = sum(batch.failures for batch in sent)
    rows = [
        ("machine", f"{os.cpu_count()} cores, shared with what sends and what receives"),
        ("spans per failure", f"{spans / failures:.2f}"),
        ("failures sent", f"{failures:,} in {len(sent):,} requests, {refused:,} refused and sent again"),
        ("bytes of OTLP per failure", f"{sum(len(batch.body) for batch in sent) / failures:,.0f}"),
        ("failures per second", f"{failures / took:,.0f}"),
        ("spans per second", f"{spans / took:,.0f}"),
        ("spans that arrived", f"{arrived:,} of {spans:,}"),
        ("CPU seconds per million failures", f"{(used.cpu_s - idle.cpu_s) * MILLION / failures:,.0f}"),
        ("failures per CPU second", f"{failures / (used.cpu_s - idle.cpu_s):,.0f}"),
        ("peak memory, MB", f"{used.peak_bytes / MB:,.0f}"),
    ]
    print(table(("one collector", "measured"), rows))
    return 0 if arrived == spans else 1


def batches(calls: int) -> list[Batch]:
    """Return requests as the library's exporter makes them."""
    exporter = InMemorySpanExporter()
    tracers = TracerProvider(id_generator=Ids(), resource=Resource.create({"service.name": "operating-collector"}))
    tracers.add_span_processor(SimpleSpanProcessor(exporter))
    options = errcompact.Options(trajectory=TrajectoryOptions(enabled=False))
    installed = errcompact.install(tracer_provider=tracers, options=options)
    known, made = kinds(), []
    for _ in range(BATCHES):
        exporter.clear()
        failures = 0
        while len(exporter.get_finished_spans()) < SPANS - calls - 1:
            failures += _run(known, calls)
        spans = exporter.get_finished_spans()
        made.append(Batch(encode_spans(spans).SerializeToString(), failures, len(spans)))
    installed.uninstall()
    return made


def _run(known: Sequence[Kind], calls: int) -> int:
    failing = set(random.sample(range(calls), FAILING))
    never = errcompact.Thresholds(same=MILLION, consecutive=MILLION, total=MILLION)
    with errcompact.run(agent="operating", thresholds=never) as run:
        for number in range(calls):
            kind = random.choices(known, weights())[0]
            with run.tool(kind.tool, arguments={"limit": random.randrange(MILLION)}) as call:
                if number in failing:
                    call.fail(kind.fail())
                else:
                    call.result = "found"
    return len(failing)


def wait_quiet(sink: Sink) -> None:
    """Wait until nothing arrives any more, and give up in the end."""
    deadline = time.monotonic() + DRAIN_SECONDS
    while sink.quiet_s() < QUIET_SECONDS and time.monotonic() < deadline:
        time.sleep(0.5)


def send(port: int, prepared: Sequence[Batch], seconds: float) -> tuple[list[Batch], int, float]:
    """Send for some seconds, and return what was taken, how often it was refused, and how long it took."""
    taken: list[Batch] = []
    refused: list[int] = []
    began = time.monotonic()

    def send(number: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        count = 0
        while time.monotonic() - began < seconds:
            batch = random.choice(prepared)
            own = (number << 24 | count).to_bytes(4, "big")
            count += 1
            body = batch.body.replace(MARK, own)
            while True:
                connection.request("POST", "/v1/traces", body, {"Content-Type": "application/x-protobuf"})
                answer = connection.getresponse()
                answer.read()
                if answer.status == http.client.OK:
                    taken.append(batch)
                    break
                refused.append(answer.status)
                time.sleep(0.2)

    threads = [threading.Thread(target=send, args=(number,)) for number in range(SENDERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return taken, len(refused), time.monotonic() - began


def _collector(folder: Path, sink: str) -> tuple[Program, int]:
    grpc, port, health, zpages = free_ports(4)
    environ: Mapping[str, str] = {
        "OTLP_GRPC_ADDRESS": f"127.0.0.1:{grpc}",
        "OTLP_HTTP_ADDRESS": f"127.0.0.1:{port}",
        "HEALTH_ADDRESS": f"127.0.0.1:{health}",
        "ZPAGES_ADDRESS": f"127.0.0.1:{zpages}",
        "QUEUE_DIRECTORY": str(folder / "queue"),
        "TEMPO_URL": sink,
        "PROMETHEUS_URL": sink,
        "LOKI_URL": sink,
        # Whether all have arrived can be said only where all are kept.
        "HEALTHY_TRACES_PERCENT": "100",
    }
    command = [program("otelcol"), "--config", ROOT / "collector-config" / "otelcol.yaml"]
    ready = f"http://127.0.0.1:{health}"
    return Program(name="otelcol", command=command, ready=ready, directory=folder / "otelcol", environ=environ), port


if __name__ == "__main__":
    sys.exit(main())
