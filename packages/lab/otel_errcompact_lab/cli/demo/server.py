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
    """Answers every report with 410."""

    mirror: str
    """Answers two reports with 403, and then with what is no HTTP."""


@contextmanager
def servers() -> Generator[Addresses]:
    """Serve both addresses while the block runs."""
    upload, mirror = HTTPServer(_LOOPBACK, _Closed), _Mirror(_LOOPBACK, _Forbidden)
    with upload, mirror:
        for server in (upload, mirror):
            Thread(target=server.serve_forever, args=(_POLL_S,), daemon=True).start()
        try:
            yield Addresses(_url_of(upload), _url_of(mirror))
        finally:
            for server in (upload, mirror):
                server.shutdown()


def _url_of(server: HTTPServer) -> str:
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


class _Closed(_Handler):
    def do_POST(self) -> None:
        self.refuse(410, "uploads_closed", "uploads have moved away from here")


class _Mirror(HTTPServer):
    """A server that breaks."""

    answers = 2


class _Forbidden(_Handler):
    def do_POST(self) -> None:
        mirror = cast("_Mirror", self.server)
        mirror.answers -= 1
        if mirror.answers < 0:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.wfile.write(b"mirror: cannot start the server\r\n")
            return
        self.refuse(403, "read_only", "this account may not write to the mirror")
