"""Check for whom a request is, by whom, and how large."""

from __future__ import annotations

import hmac
import json
import time
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact.runtime.records import dataclass
from otel_errcompact_hosts.ports.sockets import LOOPBACK

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator, Mapping, MutableMapping, Sequence

    Message = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[Message]]
    Send = Callable[[Message], Awaitable[None]]
    App = Callable[[Message, Receive, Send], Awaitable[None]]
    WriteProblem = Callable[[int, str, str], tuple[str, bytes]]

MAX_BODY: Final = 16 * 1_048_576
"""Bytes of a request's body."""

_MAX_DRAINED: Final = 4 * MAX_BODY
"""Bytes that are read of a body that is too large: a client that still sends would not read the answer."""

_MAX_HELD: Final = 3 * MAX_BODY
"""Bytes of all bodies that are still coming: senders that stop in the middle would fill memory."""

HEALTH: Final = "/v1/health"

UNAUTHORIZED, FORBIDDEN, TOO_LARGE, BUSY = 401, 403, 413, 503

_LOOPBACK: Final = lazy_pattern(r"(?i)(?:127(?:\.[0-9]{1,3}){3}|localhost|\[::1\])(?::[0-9]{1,5})?\Z")

_PROBLEMS: Final = {
    TOO_LARGE: (
        f"the body is larger than {MAX_BODY:,} bytes; send the begin and the end of the output, where its cause stands"
    ),
    BUSY: "too many bodies are coming at the same time; send this one again later",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """Whom a port lets in."""

    token: str = ""
    """What a request brings in `Authorization: Bearer`; nothing is asked for if empty."""

    hint: str = ""
    """What a request without it is answered."""

    is_loopback: bool = True
    """Whether only this machine reaches the port: then a request names it by an address or name of loopback."""

    def find_problem(self, headers: Mapping[bytes, bytes], host: bytes) -> tuple[int, str] | None:
        """Return why a request with these headers, by lower name, is refused."""
        if b"origin" in headers:
            return FORBIDDEN, "pages in browsers are not answered"
        # A name that leads here, and is none of these, is another's: so a page gets past the rules of its browser.
        if self.is_loopback and _LOOPBACK.match(host.decode("latin-1")) is None:
            return FORBIDDEN, "the request is for another host; send it to 127.0.0.1 or localhost"
        given = headers.get(b"authorization", b"")
        if self.token and not hmac.compare_digest(given, f"Bearer {self.token}".encode()):
            return UNAUTHORIZED, self.hint
        return None


def read_authority(context: Any) -> bytes:
    """Return whom a request of gRPC is for."""
    try:
        host: bytes = context._rpc_event.call_details.host  # noqa: SLF001 - nothing public leads there
    except AttributeError:  # in another release: no page in a browser sends such requests
        return LOOPBACK.encode()
    return host


class Activity:
    """Measures for how long no request has come."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._newest = clock()
        self._open = 0

    @contextmanager
    def note(self) -> Generator[None]:
        """Note a request, which lasts as long as the block."""
        with self._lock:
            self._open += 1
        try:
            yield
        finally:
            with self._lock:
                self._open -= 1
                self._newest = self._clock()

    @property
    def idle_seconds(self) -> float:
        """Seconds since the last request has ended; 0 while one is open."""
        with self._lock:
            return 0.0 if self._open else self._clock() - self._newest


def write_error(_: int, problem: str, __: str) -> tuple[str, bytes]:
    """Return a problem as the service writes it."""
    return "application/json", json.dumps({"error": problem}).encode()


class Edge:
    """
    Stands before an application.

    Args:
        app: Gets what is let in, with its whole body.
        activity: Notes it.
        gate: Whom a port lets in; a socket with a path is its user's own.
        kind: The content type of all bodies, whatever their headers say; empty for that of the header.
        write_problem: Returns content type and body of a refusal, by status, problem and content type of the request.
    """

    def __init__(
        self, app: App, activity: Activity, gate: Gate, *, kind: bytes = b"", write_problem: WriteProblem = write_error
    ) -> None:
        self._app = app
        self._activity = activity
        self._gate = gate
        self._kind = kind
        self._write_problem = write_problem
        self._held = 0

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request."""
        headers: dict[bytes, bytes] = dict(scope["headers"])
        kind = headers.get(b"content-type", b"").decode("latin-1")
        found = None if _is_local(scope) else self._gate.find_problem(headers, headers.get(b"host", b""))
        if found is not None:
            await self._refuse(send, *found, kind)
        elif scope["path"] == HEALTH:  # who only asks for it keeps no service alive
            await self._app(scope, receive, send)
        else:
            with self._activity.note():
                await self._pass_on(scope, headers, kind, receive, send)

    async def _pass_on(
        self, scope: Message, headers: dict[bytes, bytes], kind: str, receive: Receive, send: Send
    ) -> None:
        body = await self._read_body(receive)
        if isinstance(body, bytes):
            if self._kind:
                headers[b"content-type"] = self._kind
            # The path as it was sent: an escaped slash belongs to the id of a run.
            path = scope["raw_path"].decode("ascii", "replace")
            await self._app({**scope, "path": path, "headers": list(headers.items())}, _replay(body, receive), send)
        elif body is not None:
            await self._refuse(send, body, _PROBLEMS[body], kind)

    async def _read_body(self, receive: Receive) -> bytes | int | None:
        # The body; or the status of a refusal; or None where the sender has gone.
        body = bytearray()
        size, more = 0, True
        try:
            while more and size <= _MAX_DRAINED:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return None
                chunk: bytes = message.get("body", b"")
                size += len(chunk)
                if size <= MAX_BODY:
                    body += chunk
                    self._held += len(chunk)
                    if self._held > _MAX_HELD:
                        return BUSY
                more = message.get("more_body", False)
            return bytes(body) if size <= MAX_BODY else TOO_LARGE
        finally:
            self._held -= len(body)

    async def _refuse(self, send: Send, status: int, problem: str, kind: str) -> None:
        content_type, body = self._write_problem(status, problem, kind)
        headers = [(b"connection", b"close")] if status in _PROBLEMS else []  # the rest of the body may still come
        if status == BUSY:
            headers.append((b"retry-after", b"1"))
        await send_answer(send, status, content_type, body, headers)


async def send_answer(
    send: Send, status: int, content_type: str, body: bytes, headers: Sequence[tuple[bytes, bytes]] = ()
) -> None:
    """Send a whole answer."""
    about = [(b"content-type", content_type.encode()), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": [*about, *headers]})
    await send({"type": "http.response.body", "body": body})


def _is_local(scope: Message) -> bool:
    # A socket with a path has no port.
    server = scope.get("server")
    return server is None or server[1] is None


def _replay(body: bytes, receive: Receive) -> Receive:
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay
