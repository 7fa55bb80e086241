"""A collector's stand-in on a real port, and what posts to one."""

from __future__ import annotations

import gzip
import threading
import urllib.error
import urllib.request
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PATIENCE_S = 60.0


class Collector:
    """A server that keeps what is posted to it, and answers with a status."""

    def __init__(self, port: int = 0, status: int = 200) -> None:
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        self.status = status
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                collector.requests.append((self.path, headers, body))
                self.send_response(collector.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def bodies(self, path: str) -> list[bytes]:
        """What was posted to a path, unpacked."""
        return [
            gzip.decompress(body) if headers.get("content-encoding") == "gzip" else body
            for at, headers, body in self.requests
            if at == path
        ]

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@contextmanager
def collecting(port: int = 0, status: int = 200) -> Iterator[Collector]:
    """A collector that listens inside the block."""
    collector = Collector(port, status)
    try:
        yield collector
    finally:
        collector.close()


def post(url: str, body: bytes, content_type: str = "application/x-protobuf", **headers: str) -> tuple[int, bytes]:
    """Post a body; return status and answer."""
    request = urllib.request.Request(url, body, {"Content-Type": content_type, **headers}, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()
