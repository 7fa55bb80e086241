"""A server on this machine that answers as a provider's interface is documented, for SDKs as they are."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Asked(NamedTuple):
    """A request as it arrived."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


class Served(NamedTuple):
    """Where the server is, and what it was asked."""

    url: str
    asked: list[Asked]


@contextmanager
def served(answer: Callable[[Asked], tuple[int, dict[str, Any]]]) -> Iterator[Served]:
    """Serve what `answer` says, status and body, until the block is left."""
    asked: list[Asked] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            asked.append(Asked(self.path, {name.lower(): value for name, value in self.headers.items()}, body))
            status, reply = answer(asked[-1])
            text = json.dumps(reply).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield Served(f"http://127.0.0.1:{server.server_port}", asked)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
