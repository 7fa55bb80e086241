"""The receiver on real ports, by HTTP and by gRPC."""

from __future__ import annotations

import gzip
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

import otel_errcompact_hosts.telemetry.serving as serving_module
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact_hosts.ports.edge import Activity
from otel_errcompact_hosts.telemetry.bodies import MAX_BYTES
from otel_errcompact_hosts.telemetry.counting import ReportedRuns
from otel_errcompact_hosts.telemetry.receiver import Receiver
from otel_errcompact_hosts.telemetry.serving import TelemetryServer
from packages.hosts.tests.telemetry.messages import span, spans
from tests.collectors import PATIENCE_S, collecting, post

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


ROOT = Path(__file__).parents[4]


def failed(number: int) -> Any:
    """A request with the span of a failed call."""
    call = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "query", "gen_ai.conversation.id": "c"}
    return spans(span("execute_tool query", call, span_id=number, failed=True, description="no such table: orders"))


def wait_for(condition: Callable[[], object]) -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@contextmanager
def serving(ledger: Ledger, **options: Any) -> Iterator[str]:
    """The receiver on a real port."""
    pytest.importorskip("uvicorn", reason="the extra serve is not installed")
    from otel_errcompact_hosts.telemetry.serving import TelemetryServer

    server = TelemetryServer(Receiver(ReportedRuns(ledger)), port=0, **{"grpc_port": None, **options})
    try:
        yield f"http://127.0.0.1:{server.port}"
    finally:
        server.close()


def free_port() -> int:
    """A port on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_what_is_posted_is_counted() -> None:
    """Over real sockets, packed or not."""
    ledger = Ledger()
    with serving(ledger) as url:
        body = gzip.compress(failed(1).SerializeToString())
        assert post(f"{url}/v1/traces", body, **{"Content-Encoding": "gzip"}) == (200, b"")
        assert post(f"{url}/v1/metrics", b"{}", "application/json") == (200, b"{}")
    assert ledger.report("c").occurrences == 1


def test_other_paths_methods_and_tokens_are_refused() -> None:
    """Each with one sentence that says what to do."""
    with serving(Ledger(), token="secret") as url:
        bearer = {"Authorization": "Bearer secret"}
        status, answer = post(f"{url}/v1/traces", b"{}", "application/json")
        assert (status, "the token is missing or wrong" in json.loads(answer)["message"]) == (401, True)
        assert post(f"{url}/v1/traces", b"{}", "application/json", **bearer) == (200, b"{}")
        for path in ("/v1/spans", "/v1/health"):
            status, answer = post(url + path, b"{}", "application/json", **bearer)
            assert (status, "post to /v1/traces, /v1/logs, /v1/metrics" in json.loads(answer)["message"]) == (404, True)
        status, answer = post(f"{url}/v1/traces", b" " * (MAX_BYTES + 1), "application/json", **bearer)
        assert (status, f"longer than {MAX_BYTES} bytes" in json.loads(answer)["message"]) == (413, True)
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(urllib.request.Request(f"{url}/v1/traces", headers=bearer), timeout=PATIENCE_S)
        with caught.value:
            assert caught.value.code == 405


def test_grpc() -> None:
    """A real exporter's road: received, heard of and counted, and refused with the code of its fault."""
    grpc = pytest.importorskip("grpc", reason="the extra otlp is not installed")
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2_grpc import TraceServiceStub

    from otel_errcompact_hosts.ports.edge import Activity, Gate
    from otel_errcompact_hosts.telemetry.grpc_server import GrpcServer

    ledger, gate = Ledger(), Gate(token="secret", hint="bring the token")
    server = GrpcServer(Receiver(ReportedRuns(ledger)), "127.0.0.1:0", gate, Activity())
    with grpc.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        export = TraceServiceStub(channel).Export
        metadata = (("authorization", "Bearer secret"),)
        assert not export(failed(1), metadata=metadata, compression=grpc.Compression.Gzip).HasField("partial_success")
        with pytest.raises(grpc.RpcError) as caught:
            export(failed(1))
        assert caught.value.code() is grpc.StatusCode.UNAUTHENTICATED
        assert caught.value.details() == "bring the token"
        for signal, service in (("traces", "trace.v1.Trace"), ("logs", "logs.v1.Logs")):
            raw = channel.unary_unary(f"/opentelemetry.proto.collector.{service}Service/Export")
            with pytest.raises(grpc.RpcError) as caught:
                raw(b"\xff", metadata=metadata)
            assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
            assert f"no request with {signal}" in caught.value.details()
        with pytest.raises(grpc.RpcError) as caught:
            raw(b"\x08\x00" * 200_001, metadata=metadata)
        assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        metrics = channel.unary_unary("/opentelemetry.proto.collector.metrics.v1.MetricsService/Export")
        assert metrics(b"", metadata=metadata) == b""
    server.close()
    assert ledger.report("c").occurrences == 1


def test_a_port_that_is_taken_gets_one_clear_error() -> None:
    """Such as that of a collector on the same machine."""
    pytest.importorskip("uvicorn", reason="the extra serve is not installed")
    with collecting() as other, pytest.raises(ConfigurationError, match="is a collector there") as caught:
        TelemetryServer(Receiver(ReportedRuns(Ledger())), port=other.port, grpc_port=None)
    assert f"port {other.port} of 127.0.0.1 cannot be taken" in str(caught.value)


def test_a_service_hears_of_requests_beside_its_own_ports() -> None:
    """So that it does not end while telemetry comes; what was refused keeps it from nothing."""
    now = [0.0]
    activity = Activity(lambda: now[0])
    with serving(Ledger(), activity=activity) as url:
        now[0] = 5.0
        assert post(f"{url}/v1/traces", b"", Origin="http://page.example")[0] == 403
        assert activity.idle_seconds == 5.0
        assert post(f"{url}/v1/traces", failed(1).SerializeToString()) == (200, b"")
        assert activity.idle_seconds == 0.0
    assert not _listens(int(url.rpartition(":")[2]))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.0.2.1", "collector"])
def test_without_a_token_other_machines_are_kept_out(host: str) -> None:
    """An address that they can reach is refused before it is listened on."""
    pytest.importorskip("uvicorn", reason="the extra serve is not installed")
    with pytest.raises(ConfigurationError, match=f"^other machines can reach {re.escape(host)}, and no token"):
        TelemetryServer(Receiver(ReportedRuns(Ledger())), host=host, port=0, grpc_port=None)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.8.0.1"])
def test_this_machine_alone_needs_no_token(host: str) -> None:
    """Whatever the name of its loopback address."""
    pytest.importorskip("uvicorn", reason="the extra serve is not installed")
    server = TelemetryServer(Receiver(ReportedRuns(Ledger())), host=host, port=0, grpc_port=None)
    assert str(server) == f"OTLP on {host}:{server.port} (HTTP), counted and not passed on"
    server.close()


@pytest.mark.parametrize("token", ["", "secret"])
def test_other_machines_send_with_a_token_or_where_none_is_wanted(token: str) -> None:
    """The second is for receivers behind a balancer, which brings none."""
    pytest.importorskip("uvicorn", reason="the extra serve is not installed")
    ledger = Ledger()
    with serving(ledger, host="0.0.0.0", token=token) as url:
        assert post(f"{url}/v1/traces", failed(1).SerializeToString())[0] == (401 if token else 200)
        assert post(f"{url}/v1/traces", failed(2).SerializeToString(), Authorization="Bearer secret")[0] == 200
    assert ledger.report("c").occurrences == (1 if token else 2)


@pytest.mark.programs
def test_the_program_says_what_an_open_address_needs(tmp_path: Path) -> None:
    """One sentence, and nothing listens."""
    pytest.importorskip("uvicorn", reason="the extra serve is not installed")
    command = [sys.executable, "-m", "otel_errcompact_hosts.telemetry", "--host", "0.0.0.0", "--port", "0"]
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "OTEL_ERRCOMPACT_TRAJECTORY_ENABLED": "false"}
    ended = subprocess.run(
        command, env=environ, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1] == (
        "other machines can reach 0.0.0.0, and no token is asked for; give --token-file FILE with a token that senders "
        "bring, or --without-token where only a private network reaches it"
    )


@pytest.mark.parametrize(
    ("options", "token"),
    [
        pytest.param([], None, id="neither"),
        pytest.param(["--without-token"], "", id="none is wanted"),
        pytest.param(["--token-file", "token"], "secret", id="a file"),
    ],
)
def test_the_command_line_says_which_token(
    options: list[str], token: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An address that others can reach needs one of the two options."""
    asked: list[str | None] = []

    def ask(*_: object, token: str | None, **__: object) -> None:
        asked.append(token)
        raise SystemExit

    monkeypatch.chdir(tmp_path)
    Path("token").write_text("secret\n", encoding="utf-8")
    monkeypatch.setattr(serving_module, "TelemetryServer", ask)
    monkeypatch.setattr(serving_module, "install", lambda **_: SimpleNamespace(ledger=Ledger()))
    with pytest.raises(SystemExit):
        serving_module.main(options)
    assert asked == [token]


@pytest.mark.programs
def test_the_program_alone_counts_and_exports_its_metrics_alone(tmp_path: Path) -> None:
    """One real process on the road of one real agent: nothing is lost at its end, and nothing that came leaves it."""
    pytest.importorskip("uvicorn", reason="the extra serve is not installed")
    port = free_port()
    with collecting() as collector:
        environ = {
            **{name: value for name, value in os.environ.items() if not name.startswith("OTEL_")},
            "PYTHONPATH": str(ROOT),
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{collector.port}",
            "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
            "OTEL_ERRCOMPACT_TRAJECTORY_PATH": str(tmp_path / "trajectory.jsonl"),
            "OTEL_SERVICE_NAME": "receiver",
        }
        command = [sys.executable, "-m", "otel_errcompact_hosts.telemetry", "--port", str(port), "--grpc-port", "0"]
        process = subprocess.Popen(command, env=environ, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
        try:
            wait_for(lambda: _listens(port) or process.poll() is not None)
            for number in (1, 2):
                assert post(f"http://127.0.0.1:{port}/v1/traces", failed(number).SerializeToString())[0] == 200
            process.send_signal(signal.SIGTERM)
            _, errors = process.communicate(timeout=PATIENCE_S)
        finally:
            process.kill()
        assert not re.search("Traceback|ERROR", errors), errors
        assert f"listening for OTLP on 127.0.0.1:{port} (HTTP), counted and not passed on\n" in errors
        (metrics,) = {at for at, _, _ in collector.requests}
    assert metrics == "/v1/metrics"
    assert any(b"errcompact.errors" in body for body in collector.bodies(metrics))


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
