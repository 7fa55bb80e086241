"""What senders and destinations do wrong: nobody else waits for it, and nothing is lost in silence."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import threading
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.history.stores.address import open_backend
from otel_errcompact.hosts.calls import HostCall, HostResult
from otel_errcompact.hosts.telemetry import app
from otel_errcompact.hosts.telemetry.bodies import JSON, PROTOBUF, decode
from otel_errcompact.hosts.telemetry.counting import ReportedRuns
from otel_errcompact.hosts.telemetry.forwarding import GrpcDestination, HttpDestination, Message, RefusedError
from otel_errcompact.hosts.telemetry.receiver import Receiver
from tests.hosts.telemetry.messages import entries, span, spans

if TYPE_CHECKING:
    from pathlib import Path

    from tests.hosts.telemetry.conftest import Bench

FAILED = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "query", "gen_ai.conversation.id": "c"}


def failed(number: int) -> Any:
    return spans(span("execute_tool query", FAILED, span_id=number, failed=True, description="no such table: orders"))


def test_senders_that_stop_in_the_middle_keep_no_other_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a machine that sleeps: each is answered after a while, and its place is free again."""
    monkeypatch.setattr(app, "BODY_S", 0.05)
    application = app.telemetry_app(Receiver(ReportedRuns(Ledger())))
    answers: list[tuple[int, bytes]] = []

    async def ask(body: bytes | None) -> None:
        async def receive() -> dict[str, Any]:
            if body is None:
                await asyncio.Event().wait()
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                answers.append((message["status"], b""))
            else:
                answers[-1] = (answers[-1][0], message["body"])

        headers = [(b"content-type", b"application/json")]
        await application({"type": "http", "path": "/v1/traces", "method": "POST", "headers": headers}, receive, send)

    async def ask_all() -> None:
        stalled = [asyncio.create_task(ask(None)) for _ in range(app.AT_ONCE)]
        await asyncio.sleep(0)
        await asyncio.wait_for(asyncio.gather(ask(b"{}"), *stalled), 30)

    asyncio.run(ask_all())
    assert answers.count((200, b"{}")) == 1
    problem = {"code": 4, "message": "the body has not come within 0.05 seconds; send it at once"}
    assert [json.loads(body) for status, body in answers if status == 408] == [problem] * app.AT_ONCE


def test_a_body_packed_in_several_pieces_is_read_whole(bench: Bench) -> None:
    """As what is written to a gzip file twice is."""
    first, second = (failed(number).SerializeToString() for number in (1, 2))
    assert bench.post("traces", gzip.compress(first) + gzip.compress(second), PROTOBUF, "gzip").status == 200
    assert len(entries(type(failed(1)).FromString(bench.newest_body()))) == 2
    assert bench.ledger.report("c").occurrences == 2


EXEMPLAR = {"spanId": "00f067aa0ba902b7", "traceId": "4bf92f3577b34da6a3ce929d0e0e4736", "asDouble": 1.5}


@pytest.mark.parametrize("kind", ["gauge", "sum", "histogram", "exponentialHistogram"])
def test_metrics_in_json_are_the_same_in_protobuf(kind: str) -> None:
    """With exemplars, whose ids are in hexadecimal digits too."""
    point = {"timeUnixNano": "7", "exemplars": [EXEMPLAR]}
    if kind == "exponentialHistogram":
        point |= {"scale": 3, "positive": {"offset": -2, "bucketCounts": ["1", "0", "5"]}, "zeroCount": "2"}
    metric = {"name": "m", kind: {"dataPoints": [point]}}
    body = json.dumps({"resourceMetrics": [{"scopeMetrics": [{"metrics": [metric]}]}]}).encode()
    read = ExportMetricsServiceRequest.FromString(decode("metrics", body, JSON, whole=True).SerializeToString())
    (found,) = read.resource_metrics[0].scope_metrics[0].metrics
    (written,) = getattr(found, found.WhichOneof("data")).data_points
    (exemplar,) = written.exemplars
    assert (exemplar.trace_id.hex(), exemplar.span_id.hex()) == (EXEMPLAR["traceId"], EXEMPLAR["spanId"])
    if kind == "exponentialHistogram":
        assert (written.scale, written.positive.offset, list(written.positive.bucket_counts)) == (3, -2, [1, 0, 5])


class Channel:
    """A channel of gRPC whose calls fail with a code."""

    def __init__(self, code: str, details: bytes = b"") -> None:
        self._code, self._details = code, details

    def unary_unary(self, _: str) -> Any:
        def call(*_: object, **__: object) -> None:
            error: Any = RuntimeError(self._code)
            error.code = lambda: type("Code", (), {"name": self._code})
            error.trailing_metadata = lambda: (("grpc-status-details-bin", self._details),) if self._details else None
            raise error

        return call


def destination(code: str, details: bytes = b"") -> GrpcDestination:
    return GrpcDestination({"traces": Channel(code, details), "metrics": Channel(code, details)}, None)


def test_what_is_too_large_for_a_collector_is_refused_and_holds_nothing_up() -> None:
    """It says the same code when it is busy, but then when to come again."""
    message = Message("traces", failed(1).SerializeToString(), PROTOBUF, "")
    with pytest.raises(RefusedError, match="RESOURCE_EXHAUSTED"):
        destination("RESOURCE_EXHAUSTED").send(message)
    busy = b"\x08\x08\x1a\x2btype.googleapis.com/google.rpc.RetryInfo"
    assert destination("RESOURCE_EXHAUSTED", busy).send(message) is False
    assert destination("UNAVAILABLE").send(message) is False


def test_metrics_that_cannot_be_written_in_protobuf_are_refused() -> None:
    """They will be no better later."""
    body = b'{"resourceMetrics": [{"scopeMetrics": 7}]}'
    with pytest.raises(RefusedError, match="no request with metrics in JSON"):
        destination("UNAVAILABLE").send(Message("metrics", body, JSON, ""))


@pytest.mark.parametrize("status", [301, 302, 307])
def test_an_address_that_leads_elsewhere_takes_nothing(status: int) -> None:
    """What is followed as GET would be answered as if it had arrived."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        answers = [f"HTTP/1.1 {status} Moved\r\nLocation: {url}/login", "HTTP/1.1 200 OK"]

        def answer() -> None:
            with suppress(OSError):  # nothing follows the first request, and the server is closed
                for head in answers:
                    connection, _ = server.accept()
                    with connection:
                        connection.recv(65_536)
                        connection.sendall(f"{head}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())

        threading.Thread(target=answer, daemon=True).start()
        with pytest.raises(RefusedError, match=f"status {status}"):
            HttpDestination({"traces": url}).send(Message("traces", b"", PROTOBUF, ""))


def test_a_run_that_another_receiver_still_hears_of_does_not_end(tmp_path: Path) -> None:
    """Each has heard nothing of it for so long, and the store has: its counts stay until nobody hears of it."""
    backends = [open_backend(f"sqlite:///{tmp_path}/runs.db") for _ in range(2)]
    ledgers = [Ledger(backend=backend) for backend in backends]
    now = [0.0]
    first, second = (ReportedRuns(each, idle_s=10.0, clock=lambda: now[0]) for each in ledgers)
    for each in ledgers:
        each.store._ticks._clock_ns = lambda: int(now[0] * 1e9)  # type: ignore[attr-defined]
    call, other = (HostCall(run_id=name, tool="query", arguments="{}") for name in ("c", "other"))
    result = HostResult(text="no such table: orders", failed=True)
    first.conclude(call, result)
    now[0] = 8.0
    assert second.conclude(call, result).count == 2
    now[0] = 15.0
    first.conclude(other, result)
    assert second.conclude(call, result).count == 3
    now[0] = 30.0
    second.conclude(other, result)
    assert ledgers[1].report("c").occurrences == 0
    for backend in filter(None, backends):
        backend.close()
