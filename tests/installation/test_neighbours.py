"""Beside other set-ups of telemetry, in either order: their exporters get what they would get without the library."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Final

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

from tests.collectors import collecting

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.programs

SET_UP: Final = {
    "application": """
def set_up():
    set_tracers()
    metrics.set_meter_provider(MeterProvider([reader]))
    set_loggers()
""",
    "application, traces last": """
def set_up():
    set_loggers()
    metrics.set_meter_provider(MeterProvider([reader]))
    set_tracers()
""",
    "logfire": """
import logfire
def set_up():
    logfire.configure(
        send_to_logfire=False,
        console=False,
        additional_span_processors=[SimpleSpanProcessor(exporter)],
        metrics=logfire.MetricsOptions(additional_readers=[reader]),
        advanced=logfire.AdvancedOptions(log_record_processors=[SimpleLogRecordProcessor(records)]),
    )
""",
    "sentry": """
import sentry_sdk
from sentry_sdk.integrations.otlp import OTLPIntegration
def set_up():
    integration = OTLPIntegration(setup_otlp_traces_exporter=True, collector_url=SENTRY)
    sentry_sdk.init(dsn="http://public@127.0.0.1:1/1", integrations=[integration])
    trace.get_tracer_provider().add_span_processor(SimpleSpanProcessor(exporter))
    metrics.set_meter_provider(MeterProvider([reader]))
    set_loggers()
""",
    "distro": """
from opentelemetry.distro import OpenTelemetryConfigurator, OpenTelemetryDistro
def set_up():
    os.environ |= {"OTEL_METRICS_EXPORTER": "none", "OTEL_LOGS_EXPORTER": "none", "OTEL_TRACES_EXPORTER": "none"}
    OpenTelemetryDistro().configure()
    OpenTelemetryConfigurator().configure(auto_instrumentation_version="1")
    trace.get_tracer_provider().add_span_processor(SimpleSpanProcessor(exporter))
    _logs.get_logger_provider().add_log_record_processor(SimpleLogRecordProcessor(records))
""",
}

PROGRAM: Final = """
import json, logging, os, sys
from opentelemetry import _logs, metrics, trace
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

SENTRY = os.environ.pop("SENTRY", None)
logging.basicConfig(level="INFO", format="%(levelname)s %(name)s %(message)s")
exporter, reader, records = InMemorySpanExporter(), InMemoryMetricReader(), InMemoryLogRecordExporter()
import otel_errcompact as errcompact

def set_tracers():
    tracers = TracerProvider()
    tracers.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(tracers)

def set_loggers():
    loggers = LoggerProvider()
    loggers.add_log_record_processor(SimpleLogRecordProcessor(records))
    _logs.set_logger_provider(loggers)

SET_UP
early = trace.get_tracer("early")  # as modules take one when they are imported
for step in ORDER:
    if step == "library":
        installed = errcompact.install()
    else:
        set_up()
errcompact.install()
tracers = [early, trace.get_tracer("late")]
for tracer in tracers:
    with tracer.start_as_current_span("request"):
        with errcompact.run(agent="shop") as run:
            for _ in range(4):
                run.begin_turn()
                with run.tool("charge", arguments={"order": 7}) as call:
                    if not call.refused:
                        raise LookupError("no price for this order")
    try:
        with tracer.start_as_current_span("unattended"):
            raise KeyError("sku")
    except KeyError:
        pass
found = reader.get_metrics_data()
points = [
    point
    for resource in (found.resource_metrics if found else ())
    for scope in resource.scope_metrics
    for metric in scope.metrics
    if metric.name == "errcompact.errors"
    for point in metric.data.data_points
]
installed.uninstall()
left = [
    type(each).__name__
    for each in getattr(getattr(trace.get_tracer_provider(), "_active_span_processor", None), "_span_processors", ())
    if type(each).__module__.startswith("otel_errcompact")
]
print(json.dumps({
    "left": left,
    "spans": sorted(span.name for span in exporter.get_finished_spans()),
    "failures": sum(point.value for point in points),
    "escalations": len([each for each in records.get_finished_logs()
                        if each.log_record.event_name == "errcompact.escalation"]),
    "written": sum("resourceSpans" in line for line in open("errcompact-trajectory.jsonl")),
}))
"""


def start(neighbour: str, order: list[str], folder: Path, **environ: str) -> dict[str, object]:
    """Start one program, and return what it says of what arrived."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.replace("SET_UP", SET_UP[neighbour]).replace("ORDER", repr(order))],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "OTEL_ERRCOMPACT_TRAJECTORY_PATH": "errcompact-trajectory.jsonl",
            **environ,
        },
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return {**json.loads(done.stdout.splitlines()[-1]), "stderr": done.stderr}


ORDERS: Final = [["library", "neighbour"], ["neighbour", "library"]]
SPANS: Final = sorted([*["request", "invoke_agent shop", "unattended"], *["execute_tool charge"] * 4] * 2)


@pytest.mark.parametrize("order", ORDERS, ids="-".join)
@pytest.mark.parametrize("neighbour", SET_UP)
class TestNeighbours:
    def test_without_an_endpoint(self, neighbour, order, tmp_path):
        """All arrives where the neighbour sends it: spans, our metrics and our log records; nothing is refused."""
        found = start(neighbour, order, tmp_path, SENTRY="http://127.0.0.1:1/v1/traces")
        assert found["spans"] == SPANS
        assert found["failures"] == (0 if neighbour == "distro" else 6)  # it has no reader here
        assert found["escalations"] == 2
        assert found["written"] == 6
        # The first installation was asked to be removed, and with it goes what has joined later.
        assert "ErrorCompactionSpanProcessor" not in found["left"]
        assert "not allowed" not in str(found["stderr"])
        assert "Traceback" not in str(found["stderr"])

    def test_with_an_endpoint(self, neighbour, order, tmp_path):
        """The same; and where nothing else sends by OTLP, our metrics go there too, no failure twice."""
        with collecting() as collector:
            url = f"http://127.0.0.1:{collector.port}"
            found = start(
                neighbour,
                order,
                tmp_path,
                SENTRY=f"{url}/sentry",
                OTEL_EXPORTER_OTLP_ENDPOINT=url,
                OTEL_EXPORTER_OTLP_PROTOCOL="http/protobuf",
            )
            counts = [count_failures(body) for body in collector.bodies("/v1/metrics")]
        assert found["spans"] == SPANS
        assert found["failures"] == (0 if neighbour == "distro" else 6)
        assert found["escalations"] == 2
        assert "ErrorCompactionSpanProcessor" not in found["left"]
        # Logfire sends by OTLP itself wherever there is an endpoint.
        is_sent = order[0] == "library" or neighbour == "logfire"
        assert max(counts, default=0) == (6 if is_sent else 0)
        assert "not allowed" not in str(found["stderr"])


def count_failures(body: bytes) -> int:
    """Return how many failures one request with metrics counts."""
    return sum(
        point.as_int
        for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
        if metric.name == "errcompact.errors"
        for point in metric.sum.data_points
    )
