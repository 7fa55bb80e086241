"""Two servers on the loopback address, both of which misbehave."""

from __future__ import annotations

import json
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Final, NamedTuple, cast
from uuid import uuid4

if TYPE_CHECKING:
    from collections.abc import Generator

_LOOPBACK: Final = ("127.0.0.1", 0)
_POLL_S: Final = 0.02


class Addresses(NamedTuple):
    """Where reports can be sent."""

    upload: str
    """Answers every report with 503."""

    mirror: str
    """Answers two reports with 403 and is gone."""


@contextmanager
def servers() -> Generator[Addresses]:
    """Serve both addresses while the block runs."""
    upload, mirror = HTTPServer(_LOOPBACK, _Paused), _Mirror(_LOOPBACK, _Forbidden)
    threads = (
        Thread(target=upload.serve_forever, args=(_POLL_S,), daemon=True),
        Thread(target=mirror.serve_all, daemon=True),
    )
    with upload, mirror:
        for thread in threads:
            thread.start()
        try:
            yield Addresses(_url(upload), _url(mirror))
        finally:
            upload.shutdown()


def _url(server: HTTPServer) -> str:
    return f"http://127.0.0.1:{server.server_port}/reports"


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Keep the terminal clean."""

    def refuse(self, status: int, code: str, message: str) -> None:
        # As APIs do, with a request id that differs each time.
        self.rfile.read(int(self.headers["Content-Length"]))
        error = {"code": code, "message": message, "request_id": str(uuid4())}
        body = json.dumps({"error": error}, indent=2).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class _Paused(_Handler):
    def do_POST(self) -> None:
        self.refuse(503, "uploads_paused", "uploads are paused, try again later")


class _Mirror(HTTPServer):
    answers = 2

    def serve_all(self) -> None:
        while self.answers:
            self.handle_request()


class _Forbidden(_Handler):
    def do_POST(self) -> None:
        mirror = cast("_Mirror", self.server)
        mirror.answers -= 1
        if not mirror.answers:
            # Closed before the answer goes out, so that the next call surely finds a closed port.
            mirror.server_close()
        self.refuse(403, "read_only", "this account may not write to the mirror")
