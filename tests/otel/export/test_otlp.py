"""OTLP exporters as the standard environment variables ask for them."""

from __future__ import annotations

import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from otel_errcompact.otel.export import otlp
from otel_errcompact.otel.export.queue import BatchPolicy

GRPC = "opentelemetry.exporter.otlp.proto.grpc"
HTTP = "opentelemetry.exporter.otlp.proto.http"
ENDPOINT = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4317"}
HTTP_ENDPOINT = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318"}


def package(exporter: object) -> str | None:
    """The package that an exporter comes from."""
    if exporter is None:
        return None
    exporter.shutdown()
    return type(exporter).__module__.rpartition(".")[0]


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        pytest.param({}, None, id="nothing"),
        pytest.param(ENDPOINT, GRPC, id="endpoint"),
        pytest.param(
            {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://localhost:4317"}, GRPC, id="endpoint of the signal"
        ),
        pytest.param({"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://localhost:4317"}, None, id="of another signal"),
        pytest.param({"OTEL_TRACES_EXPORTER": "console,otlp"}, GRPC, id="by name"),
        pytest.param({**ENDPOINT, "OTEL_TRACES_EXPORTER": "none"}, None, id="none"),
        pytest.param({**ENDPOINT, "OTEL_TRACES_EXPORTER": "console"}, None, id="another exporter"),
        pytest.param({**ENDPOINT, "OTEL_SDK_DISABLED": "TRUE"}, None, id="disabled"),
        pytest.param({**ENDPOINT, "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"}, HTTP, id="protocol"),
        pytest.param(
            {**ENDPOINT, "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf"},
            HTTP,
            id="protocol of the signal",
        ),
        pytest.param(HTTP_ENDPOINT, HTTP, id="port of HTTP"),
        pytest.param({**HTTP_ENDPOINT, "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, GRPC, id="protocol before port"),
        pytest.param({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:port"}, GRPC, id="port that is no number"),
    ],
)
def test_span_exporter(environ, expected):
    """An endpoint or the exporter's name asks for OTLP; protocol and off switches are honoured."""
    assert package(otlp.make_exporter("traces", environ)) == expected


def test_metric_exporter():
    """Metrics have variables of their own."""
    environ = {**ENDPOINT, "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL": "http/protobuf"}
    assert package(otlp.make_exporter("metrics", environ)) == HTTP
    assert otlp.make_exporter("metrics", {**environ, "OTEL_METRICS_EXPORTER": "none"}) is None


def test_unknown_protocol(caplog):
    """A protocol that is not known warns with what is allowed, and the default is taken."""
    assert package(otlp.make_exporter("traces", {**HTTP_ENDPOINT, "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"})) == HTTP
    assert [record.getMessage() for record in caplog.records] == [
        "OTLP protocol 'http/json' is not known (grpc, http/protobuf); http/protobuf is used for traces"
    ]


def test_missing_extra(caplog, monkeypatch):
    """Where the extra is not installed, the log says how to get it."""
    monkeypatch.setattr(otlp, "entry_points", lambda _: [])
    assert otlp.make_exporter("traces", ENDPOINT) is None
    assert [record.getMessage() for record in caplog.records] == [
        "export of traces by OTLP needs an optional dependency: pip install 'otel-errcompact[otlp]'"
    ]


def test_process_environment(monkeypatch):
    """Without an environment of its own it is the process's."""
    assert otlp.make_exporter("traces") is None
    assert otlp.make_exporter("metrics") is None


def test_log_exporter():
    """Log records have variables of their own, too."""
    environ = {**ENDPOINT, "OTEL_EXPORTER_OTLP_LOGS_PROTOCOL": "http/protobuf"}
    assert package(otlp.make_exporter("logs", environ)) == HTTP
    assert otlp.make_exporter("logs", {**environ, "OTEL_LOGS_EXPORTER": "none"}) is None


def test_pace(caplog):
    """When batches go is said by the variables of the SDK's own processors; what is no number warns."""
    assert (otlp.read_batches("spans", {}), otlp.read_batches("logs", {})) == (
        BatchPolicy(5.0, 512),
        BatchPolicy(1.0, 512),
    )
    environ = {"OTEL_BSP_SCHEDULE_DELAY": "200", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "0", "OTEL_BLRP_SCHEDULE_DELAY": "7"}
    assert (otlp.read_batches("spans", environ), otlp.read_batches("logs", environ)) == (
        BatchPolicy(0.2, 512),
        BatchPolicy(0.007, 512),
    )
    assert [record.getMessage() for record in caplog.records] == [
        "OTEL_BSP_MAX_EXPORT_BATCH_SIZE='0' is no positive number; 512 is used"
    ]


@pytest.mark.programs
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this platform")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_sends_over_a_connection_of_its_own(monkeypatch):
    """
    On one that it shared with its parent requests mixed, and spans were lost that nothing counted.

    It goes to the same place with the same key, whatever has become of the variables since.
    """
    ports, keys = [], []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"  # a connection is kept

        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            ports.append(self.client_address[1])
            keys.append(self.headers["key"])
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "key=4711")
    exporter = otlp.make_exporter("traces")
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_HEADERS")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
    exporter.export([])
    exporter.export([])
    child = os.fork()
    if child == 0:
        exporter.export([])
        # No test of the parent goes on in here.
        os._exit("OTEL_EXPORTER_OTLP_HEADERS" in os.environ)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    exporter.export([])
    server.shutdown()
    server.server_close()

    parent, again, other, last = ports
    assert (again, last) == (parent, parent)
    assert other != parent
    assert keys == ["4711"] * 4
