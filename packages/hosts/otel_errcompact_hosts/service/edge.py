"""Check token and size of each request, before the application does."""

from __future__ import annotations

import hmac
import json
import time
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping
    from pathlib import Path

    Message = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[Message]]
    Send = Callable[[Message], Awaitable[None]]
    App = Callable[[Message, Receive, Send], Awaitable[None]]

MAX_BODY: Final = 16 * 1_048_576
"""Bytes of a request's body."""

_MAX_DRAINED: Final = 4 * MAX_BODY
"""Bytes that are read of a body that is too large: a client that still sends would not read the answer."""

HEALTH: Final = "/v1/health"

_TOO_LARGE: Final = (
    f"the body is larger than {MAX_BODY:,} bytes; send the begin and the end of the output, where its cause stands"
)
_UNAUTHORIZED: Final = "this port needs the header 'Authorization: Bearer TOKEN'; the token is in the file {}"


class Activity:
    """Measures for how long no request has come."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._newest = clock()
        self._open = 0

    def begin(self) -> None:
        """Note the begin of a request."""
        with self._lock:
            self._open += 1

    def note(self) -> None:
        """Note a request that is over at once."""
        self.begin()
        self.end()

    def end(self) -> None:
        """Note its end."""
        with self._lock:
            self._open -= 1
            self._newest = self._clock()

    @property
    def idle_seconds(self) -> float:
        """Seconds since the last request has ended; 0 while one is open."""
        with self._lock:
            return 0.0 if self._open else self._clock() - self._newest


class Edge:
    """Stands before the application."""

    def __init__(self, app: App, activity: Activity, token: str, token_file: Path) -> None:
        self._app = app
        self._activity = activity
        self._token = f"Bearer {token}".encode()
        self._unauthorized = _UNAUTHORIZED.format(token_file)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        headers: dict[bytes, bytes] = dict(scope["headers"])
        path: str = scope["raw_path"].decode("ascii", "replace")
        if path == HEALTH:  # who only asks for it keeps no service alive
            await self._app(scope, receive, send)
            return
        self._activity.begin()
        try:
            if not _is_local(scope) and not hmac.compare_digest(headers.get(b"authorization", b""), self._token):
                await _send_answer(send, 401, self._unauthorized)
                return
            body = await _read_body(headers, receive)
            if body is None:
                await _send_answer(send, 413, _TOO_LARGE)
                return
            # The path as it was sent: an escaped slash belongs to the id of a run. All bodies are JSON.
            headers[b"content-type"] = b"application/json"
            passed = {**scope, "path": path, "headers": list(headers.items())}
            await self._app(passed, _replay_body(body, receive), send)
        finally:
            self._activity.end()


def _is_local(scope: Message) -> bool:
    # A socket with a path has no port.
    server = scope.get("server")
    return server is None or server[1] is None


async def _read_body(headers: dict[bytes, bytes], receive: Receive) -> bytes | None:
    length = headers.get(b"content-length", b"0")
    announced = int(length) if length.isdigit() else 0
    if announced > MAX_BODY and b"expect" in headers:
        return None
    chunks: list[bytes] = []
    size, more = 0, True
    while more and size <= _MAX_DRAINED:
        message = await receive()
        chunk: bytes = message.get("body", b"")
        size += len(chunk)
        if size <= MAX_BODY and announced <= MAX_BODY:
            chunks.append(chunk)
        more = message.get("more_body", False)
    return b"".join(chunks) if size <= MAX_BODY else None


def _replay_body(body: bytes, receive: Receive) -> Receive:
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay


async def _send_answer(send: Send, status: int, problem: str) -> None:
    body = json.dumps({"error": problem}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if status == 413:  # noqa: PLR2004 - content too large
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
