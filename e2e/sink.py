"""A small OTLP/HTTP back end that remembers what it was sent, and can be told to refuse."""

from __future__ import annotations

import gzip
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Final

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from google.protobuf.message import Message
    from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
    from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
    from opentelemetry.proto.metrics.v1.metrics_pb2 import NumberDataPoint
    from opentelemetry.proto.trace.v1.trace_pb2 import Span

SIGNALS: Final[dict[str, type[Message]]] = {
    "traces": ExportTraceServiceRequest,
    "metrics": ExportMetricsServiceRequest,
    "logs": ExportLogsServiceRequest,
}
TAKEN: Final = 200


class Sink:
    """
    One back end for all three signals, whatever path a back end of its kind puts in front of `/v1/...`.

    Args:
        port: The port to listen on; a free one if 0.
    """

    def __init__(self, port: int = 0) -> None:
        self.status = TAKEN
        """What requests are answered with. Only those that are answered with 200 are remembered."""
        self.delay_s = 0.0
        self.refused = 0
        self.received: list[tuple[str, bytes]] = []
        sink = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                time.sleep(sink.delay_s)
                status = sink.status
                if status == TAKEN:
                    unpacked = gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body
                    sink.received.append((self.path.rpartition("/")[2], unpacked))
                else:
                    sink.refused += 1
                self.send_response(status)
                self.send_header("Content-Type", "application/x-protobuf")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._server.daemon_threads = True
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """The address."""
        return f"http://127.0.0.1:{self.port}"

    def close(self) -> None:
        """Stop listening; what was received stays."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def requests(self, signal: str) -> list[Any]:
        """The decoded requests of one signal."""
        return [SIGNALS[name].FromString(body) for name, body in tuple(self.received) if name == signal]

    def spans(self) -> list[Span]:
        """All spans."""
        return [
            span
            for request in self.requests("traces")
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    def logs(self) -> list[LogRecord]:
        """All log records."""
        return [
            record
            for request in self.requests("logs")
            for resource in request.resource_logs
            for scope in resource.scope_logs
            for record in scope.log_records
        ]

    def sums(self, metric: str) -> Iterator[tuple[dict[str, Any], NumberDataPoint]]:
        """The points of a counter with their attributes, those of the resource included, as they came in."""
        for request in self.requests("metrics"):
            for resource in request.resource_metrics:
                outer = attributes(resource.resource.attributes)
                for scope in resource.scope_metrics:
                    for found in scope.metrics:
                        if found.name == metric:
                            for point in found.sum.data_points:
                                yield outer | attributes(point.attributes), point

    def counts(self, metric: str) -> dict[tuple[tuple[str, Any], ...], int]:
        """The last value of each series of a counter."""
        return {
            tuple(sorted(labels.items())): int(point.as_int or point.as_double) for labels, point in self.sums(metric)
        }

    def holds(self, text: str) -> bool:
        """Whether a text stands anywhere in what was received."""
        return any(text.encode() in body for _, body in tuple(self.received))


def attributes(pairs: Iterator[KeyValue] | Any) -> dict[str, Any]:
    """Plain values of OTLP attributes."""
    return {pair.key: plain(pair.value) for pair in pairs}


def plain(value: AnyValue) -> Any:
    """The plain value of an OTLP value."""
    kind = value.WhichOneof("value")
    if kind is None:
        return None
    if kind == "array_value":
        return [plain(item) for item in value.array_value.values]
    if kind == "kvlist_value":
        return attributes(value.kvlist_value.values)
    return getattr(value, kind)


def eventually(holds: Callable[[], bool], seconds: float = 20.0) -> bool:
    """Whether something becomes true in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if holds():
            return True
        time.sleep(0.05)
    return holds()
