"""A stand-in for the models of all hosts: it follows a script, and remembers what it was sent."""

from __future__ import annotations

import gzip
import json
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Final

from hosts_rig.script import CLOSING, Turn
from hosts_rig.wire import chat, gemini, messages, responses

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from hosts_rig.wire import Result

INTERFACES: Final[tuple[ModuleType, ...]] = (messages, responses, chat, gemini)
DELEGATED: Final = "As a helper of the shop"
"""What the task of a sub-agent begins with."""

INNER: Final = 50
ASIDE: Final = Turn(text="Shop")
"""What a helper gets that asks for a title or a model."""


class StandInModel:
    """
    One model on loopback, whichever interface a host speaks.

    Args:
        script: What it says, turn by turn; after the last it closes.
        delegated: The turns of a sub-agent, whose task contains `DELEGATED`.
    """

    def __init__(self, script: Sequence[Turn], delegated: Sequence[Turn] = ()) -> None:
        self._scripts = {False: tuple(script), True: tuple(delegated)}
        self.requests: list[dict[str, Any]] = []
        """The bodies of what the agent has asked, oldest first; those of helpers are not among them."""
        self.delegated: list[dict[str, Any]] = []
        """The same of sub-agents."""
        self.paths: list[str] = []
        """The path of every request, of helpers as well."""
        self._interface: ModuleType = messages
        self._lock = threading.Lock()
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                path = self.path.partition("?")[0]
                kind, answer = model.answer(path, json.loads(body or b"{}"))
                self.reply(200 if answer else 404, kind, answer or b"{}")

            def do_GET(self) -> None:
                model.paths.append(f"GET {self.path}")
                self.reply(200, "application/json", b'{"object": "list", "data": []}')

            def do_HEAD(self) -> None:
                self.reply(200, "application/json", b"")

            def reply(self, status: int, kind: str, body: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop listening; what was received stays."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, path: str, request: dict[str, Any]) -> tuple[str, bytes]:
        """
        The content type and body that a request is answered with; no body for a path that no interface has.
        """
        self.paths.append(f"POST {path}")
        if path.endswith(("count_tokens", ":countTokens")):
            return "application/json", b'{"input_tokens": 10, "totalTokens": 10}'
        for interface in INTERFACES:
            if path.endswith(interface.PATHS):
                request.setdefault("stream", ":stream" in path)
                number, turn = self._next(interface, request)
                if turn.before is not None:
                    turn.before()
                kind = "text/event-stream" if request["stream"] else "application/json"
                return kind, interface.render(turn, number, request)
        return "application/json", b""

    def _next(self, interface: ModuleType, request: dict[str, Any]) -> tuple[int, Turn]:
        if not interface.shows_tools(request):
            return 0, ASIDE
        with self._lock:
            self._interface = interface
            inner = DELEGATED in interface.opening(request)
            kept, script = self.delegated if inner else self.requests, self._scripts[inner]
            kept.append(request)
            number = len(kept)
        turn = script[number - 1] if number <= len(script) else CLOSING
        turn = replace(turn, calls=tuple(call.fill(request) for call in turn.calls))
        # The calls of a sub-agent have numbers of their own: ids are unique in a session.
        return number + (INNER if inner else 0), turn

    def results(self, request: int = -1) -> list[Result]:
        """
        What the model has read about its calls, oldest first, as it stands in one request; by default in the last.
        """
        return list(self._interface.results(self.requests[request])) if self.requests else []

    def turn(self, number: int, place: int = 0) -> str:
        """
        What the model has read about a call of one of its turns; empty if it never did.
        """
        found = (result.text for result in self.results() if result.call_id.endswith(f"_{number:02}_{place}"))
        return next(found, "")
