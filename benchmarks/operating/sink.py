"""A back end that does nothing with what it gets, in a process of its own, so that it holds up nobody."""

from __future__ import annotations

import multiprocessing
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

if TYPE_CHECKING:
    from multiprocessing.connection import Connection


class Sink:
    """
    Takes OTLP/HTTP, keeps requests of spans as they came, and counts their spans when it is asked.
    """

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=_serve, args=(other,), daemon=True)
        self._process.start()
        self.url: str = f"http://127.0.0.1:{self._pipe.recv()}"

    def quiet_s(self) -> float:
        """Return for how long no spans have come."""
        self._pipe.send("quiet")
        return float(self._pipe.recv())

    def spans(self) -> int:
        """Return how many spans have come, each counted once."""
        self._pipe.send("spans")
        return int(self._pipe.recv())

    def close(self) -> None:
        """End it."""
        self._pipe.send("close")
        self._process.join()


def _serve(pipe: Connection) -> None:
    bodies: list[bytes] = []
    last = [time.monotonic()]

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.path.endswith("/v1/traces"):
                bodies.append(body)
                last[0] = time.monotonic()
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    pipe.send(server.server_address[1])
    threading.Thread(target=server.serve_forever, daemon=True).start()
    while (asked := pipe.recv()) != "close":
        pipe.send(time.monotonic() - last[0] if asked == "quiet" else _count(bodies))


def _count(bodies: list[bytes]) -> int:
    return len(
        {
            (span.trace_id, span.span_id)
            for body in bodies
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        }
    )
