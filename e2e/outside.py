"""A proxy that records each request to another machine, and refuses it."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY")
"""Programs in Go read them, and use no proxy for addresses of this machine."""


class Outside:
    """
    A proxy on a free port of the loopback interface, from construction to `close`.
    """

    def __init__(self) -> None:
        self._asked: list[str] = []
        asked = self._asked

        class Handler(BaseHTTPRequestHandler):
            def do_CONNECT(self) -> None:
                asked.append(self.path)
                self.send_error(502)

            def do_GET(self) -> None:
                self.do_CONNECT()

            def do_POST(self) -> None:
                self.do_CONNECT()

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def asked(self) -> Sequence[str]:
        """The addresses that were asked for: a host with its port, or a URL."""
        return tuple(self._asked)

    @property
    def environ(self) -> Mapping[str, str]:
        """The variables that make a program use this proxy."""
        return dict.fromkeys(VARIABLES, f"http://127.0.0.1:{self._server.server_port}")

    def close(self) -> None:
        """Stop the server."""
        self._server.shutdown()
        self._server.server_close()
