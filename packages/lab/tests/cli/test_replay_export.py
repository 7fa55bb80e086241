"""Where an OTLP endpoint is configured a replay sends its spans and metrics there: a real one, on this machine."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from packages.lab.tests.cli.transcripts import REFUSED, conversation, write_lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.programs

pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="needs the extra 'otlp'")


class Collector(HTTPServer):
    """
    Takes OTLP by HTTP, and counts what it got: spans by name, metrics by name.
    """

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.got: Counter[str] = Counter()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.got.update(_spans(body) if self.path == "/v1/traces" else _metrics(body))
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


def _spans(body: bytes) -> list[str]:
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    request = ExportTraceServiceRequest.FromString(body)
    return [span.name for resource in request.resource_spans for scope in resource.scope_spans for span in scope.spans]


def _metrics(body: bytes) -> list[str]:
    from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

    request = ExportMetricsServiceRequest.FromString(body)
    return [
        metric.name
        for resource in request.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
    ]


@pytest.fixture
def collector() -> Iterator[Collector]:
    """A collector on a free port of this machine."""
    with Collector() as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def replay(file: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "otel_errcompact_lab.cli.main", "replay", str(file)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**os.environ, "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf", **environ},
    )


def test_spans_and_metrics_go_to_the_endpoint(collector: Collector, tmp_path: Path) -> None:
    """All of them, once, before the program ends."""
    file = write_lines(tmp_path / "a.jsonl", conversation("a", REFUSED, "3 rows", REFUSED))
    done = replay(file, OTEL_EXPORTER_OTLP_ENDPOINT=collector.endpoint)
    assert (done.returncode, done.stderr) == (0, "")
    assert collector.got["execute_tool db.query"] == 3
    assert collector.got["invoke_agent tau-bench"] == 1
    assert collector.got["errcompact.errors"] == 1


def test_an_endpoint_that_is_not_there_is_a_problem_and_no_obstacle(tmp_path: Path) -> None:
    """What came of the runs is printed; what was lost is said, and the exit code tells."""
    file = write_lines(tmp_path / "a.jsonl", conversation("a", REFUSED))
    done = replay(file, OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:1", OTEL_EXPORTER_OTLP_TIMEOUT="1")
    assert done.returncode == 1
    assert "errcompact: OTEL_EXPORTER_OTLP_ENDPOINT: 2 spans could not be exported" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Runs with failures: 1 of 1." in done.stdout
