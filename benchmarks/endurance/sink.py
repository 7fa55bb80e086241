"""
An OTLP/HTTP back end in a process of its own that can be killed, and made to misbehave.

    python -m benchmarks.endurance.sink PORT FOLDER

It reads `FOLDER/mode` at each request and writes what it takes to `FOLDER/received.jsonl` before it answers: what was
answered with 200 is on disk, whatever becomes of the process.
"""

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
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).resolve().parents[2]
IDENTITY: Final = re.compile(rb"\[id ([\w-]+):(\d+):(\d+):(\d+)\]")
"""What each failure says of itself: worker, process, lane and number."""

HANG_S: Final = 30.0
ERRORS: Final = "errcompact.errors"
INTERNAL: Final = "errcompact.internal.failures"
MODES: Final = ("hang", "429", "503", "400", "drop", "lost")
"""Never answers; three refusals; closes the connection before, and after it has taken the request."""


class SinkProcess:
    """
    The back end as its driver sees it.

    Args:
        folder: Where it keeps what it has received.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._read = 0
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self.url: str = f"http://127.0.0.1:{self._port}"
        self.behave("ok")
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    def behave(self, mode: str) -> None:
        """Let it answer in this way from now on."""
        fresh = self._folder / "mode.new"
        fresh.write_text(mode, encoding="ascii")
        fresh.replace(self._folder / "mode")

    def start(self) -> None:
        """Start it on its port, where it is not running."""
        if self._process is None:
            command = [sys.executable, "-m", "benchmarks.endurance.sink", str(self._port), str(self._folder)]
            self._process = subprocess.Popen(command, cwd=ROOT)
            deadline = time.monotonic() + 30
            while time.monotonic() < deadline:
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", self._port)) == 0:
                        return
                time.sleep(0.05)
            raise TimeoutError("the sink does not listen")

    def kill(self) -> None:
        """End it at once, in the middle of whatever it does."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
            self._process = None

    def received(self) -> Iterator[dict[str, Any]]:
        """Yield what has come in since the last call."""
        path = self._folder / "received.jsonl"
        if not path.exists():
            return
        with path.open("rb") as file:
            file.seek(self._read)
            for line in file:
                if not line.endswith(b"\n"):  # it is being written
                    break
                self._read += len(line)
                if line.startswith(b"{") and line.endswith(
                    b"}\n"
                ):  # the last write of a process that was killed may be torn
                    yield json.loads(line)


def metrics_of(body: bytes) -> Iterator[dict[str, Any]]:
    """Yield what a request says of each process: its failures so far, and those of the library itself."""
    for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics:
        named = {pair.key: pair.value.string_value for pair in resource.resource.attributes}
        points = [
            (metric.name, point)
            for scope in resource.scope_metrics
            for metric in scope.metrics
            if metric.name in (ERRORS, INTERNAL)
            for point in metric.sum.data_points
        ]
        yield {
            "service": named.get("service.name", ""),
            "instance": named.get("service.instance.id", ""),
            "time_ns": max((point.time_unix_nano for _, point in points), default=0),
            "errors": sum(int(point.as_int or point.as_double) for name, point in points if name == ERRORS),
            "internal": {
                point.attributes[0].value.string_value: int(point.as_int or point.as_double)
                for name, point in points
                if name == INTERNAL
            },
        }


def serve(port: int, folder: Path) -> None:  # noqa: C901 - one small program
    """Answer requests until the end of the process."""
    log = os.open(folder / "received.jsonl", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    # A predecessor may have been killed in the middle of a line.
    os.write(log, b"\n")

    def mode() -> str:
        return (folder / "mode").read_text(encoding="ascii")

    def take(path: str, body: bytes) -> None:
        if path.endswith("/traces"):
            found = {b":".join(each).decode() for each in IDENTITY.findall(body)}
            entries: list[dict[str, Any]] = [{"spans": sorted(found)}] if found else []
        else:
            entries = list(metrics_of(body)) if path.endswith("/metrics") else []
        if entries:
            os.write(log, "".join(json.dumps(entry) + "\n" for entry in entries).encode())

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            now = mode()
            deadline = time.monotonic() + HANG_S
            while now == "hang" and time.monotonic() < deadline:
                time.sleep(0.1)
                if mode() != "hang":
                    self.close_connection = True
                    return
            if now == "drop":
                self.close_connection = True
                return
            if now in {"ok", "lost"}:
                take(self.path, body)
            if now == "lost":
                self.close_connection = True
                return
            self.send_response(200 if now == "ok" else int(now) if now.isdigit() else 503)
            if now == "429":
                self.send_header("Retry-After", "1")
            self.send_header("Content-Type", "application/x-protobuf")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 128

        def handle_error(self, *_: object) -> None:
            """A client that was killed is no error."""

    Server(("127.0.0.1", port), Handler).serve_forever()


if __name__ == "__main__":
    serve(int(sys.argv[1]), Path(sys.argv[2]))
