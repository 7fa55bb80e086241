"""The receiver as an ASGI application: `POST /v1/traces`, `/v1/logs` and `/v1/metrics`."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from typing import TYPE_CHECKING, Any, Final

from otel_errcompact.hosts.telemetry.bodies import (
    KINDS,
    NO_METHOD,
    NOT_FOUND,
    TIMED_OUT,
    TOO_LARGE,
    UNAUTHORIZED,
    RequestError,
    answer_error,
)
from otel_errcompact.hosts.telemetry.receiver import Request

if TYPE_CHECKING:
    from otel_errcompact.hosts.telemetry.bodies import Reply
    from otel_errcompact.hosts.telemetry.receiver import Receiver

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

AT_ONCE: Final = 4
"""Requests that are taken at the same time, so that memory has a bound; further ones wait."""

BODY_S: Final = 30.0
"""Seconds in which a body has to come: a sender that stops in the middle would keep its place for ever."""

WRONG_TOKEN: Final = "the token is missing or wrong; set OTEL_EXPORTER_OTLP_HEADERS=authorization=Bearer%20<token>"  # noqa: S105 - a sentence

_PREFIX: Final = "/v1/"


def telemetry_app(
    receiver: Receiver, *, token: str = "", on_request: Callable[[], object] = lambda: None
) -> Application:
    """
    Return the application, to run alone or to mount in another one.

    Args:
        receiver: Takes the requests.
        token: What senders bring in `Authorization: Bearer`; nothing is asked for if empty.
        on_request: Called at each request, for what ends when it is idle.
    """
    admitted = asyncio.Semaphore(AT_ONCE)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _live(receive, send)
        if scope["type"] != "http":
            return
        on_request()
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        try:
            signal = _find_signal(scope)
            if not has_token(headers.get("authorization", ""), token):
                raise RequestError(UNAUTHORIZED, WRONG_TOKEN)  # noqa: TRY301 - one answer for all
            async with admitted:
                body = await _read_in_time(receive, headers, receiver.max_bytes)
                if body is None:
                    return
                request = Request(signal, body, headers.get("content-type", ""), headers.get("content-encoding", ""))
                # Counting may wait for a store, which the other requests of a service must not.
                reply = await asyncio.to_thread(receiver.receive, request)
        except RequestError as error:
            reply = answer_error(error, headers.get("content-type", ""))
        await _answer(send, reply)

    return app


def _find_signal(scope: Scope) -> str:
    # A mount may stand in the path, or in front of it.
    path = str(scope["path"]).removeprefix(str(scope.get("root_path", "")))
    signal = path.removeprefix(_PREFIX)
    if signal not in KINDS or not path.startswith(_PREFIX):
        known = ", ".join(f"{_PREFIX}{each}" for each in KINDS)
        raise RequestError(NOT_FOUND, f"there is no {path[:200]!r}; post to {known}")
    if scope["method"] != "POST":
        raise RequestError(NO_METHOD, f"{path} takes POST alone; post an OTLP request")
    return signal


def has_token(header: str, token: str) -> bool:
    """Return whether a header brings the token that is asked for."""
    return not token or hmac.compare_digest(header.encode(), f"Bearer {token}".encode())


async def _read_in_time(receive: Receive, headers: dict[str, str], limit: int) -> bytes | None:
    try:
        return await asyncio.wait_for(_read(receive, headers, limit), BODY_S)
    except TimeoutError as error:
        raise RequestError(TIMED_OUT, f"the body has not come within {BODY_S:g} seconds; send it at once") from error


async def _read(receive: Receive, headers: dict[str, str], limit: int) -> bytes | None:
    length = headers.get("content-length", "0")
    problem = f"the body is longer than {limit} bytes; send smaller batches"
    if length.isdecimal() and int(length) > limit:
        raise RequestError(TOO_LARGE, problem)
    pieces: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        piece: bytes = message.get("body", b"")
        size += len(piece)
        if size > limit:
            raise RequestError(TOO_LARGE, problem)
        pieces.append(piece)
        if not message.get("more_body"):
            return b"".join(pieces)


async def _answer(send: Send, reply: Reply) -> None:
    headers = [
        (b"content-type", reply.content_type.encode("latin-1")),
        (b"content-length", str(len(reply.body)).encode("ascii")),
    ]
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    await send({"type": "http.response.body", "body": reply.body})


async def _live(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        kind = str(message["type"])
        await send({"type": f"{kind}.complete"})
        if kind == "lifespan.shutdown":
            return
