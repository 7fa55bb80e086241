"""The receiver as an ASGI application: `POST /v1/traces`, `/v1/logs` and `/v1/metrics`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.routing import Route

from otel_errcompact_hosts.telemetry.bodies import (
    NOT_FOUND,
    TIMED_OUT,
    TOO_LARGE,
    RequestError,
    answer_error,
    check_token,
)
from otel_errcompact_hosts.telemetry.receiver import AT_ONCE, SIGNALS, Request

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request as HttpRequest

    from otel_errcompact_hosts.telemetry.receiver import Receiver

BODY_S: Final = 30.0
"""Seconds in which a body has to come: a sender that stops in the middle would keep its place for ever."""


def telemetry_app(receiver: Receiver, *, token: str = "", on_request: Callable[[], object] = lambda: None) -> Starlette:
    """Return the application; without a token nothing is asked for."""
    admitted = asyncio.Semaphore(AT_ONCE)

    async def take(request: HttpRequest) -> Response:
        on_request()
        signal, headers = request.path_params["signal"], request.headers
        content_type = headers.get("content-type", "")
        try:
            if signal not in SIGNALS:
                known = ", ".join(f"/v1/{each}" for each in SIGNALS)
                raise RequestError(NOT_FOUND, f"there is no {signal[:200]!r}; post to {known}")  # noqa: TRY301
            check_token(headers.get("authorization", ""), token)
            async with admitted:
                body = await _read_in_time(request, receiver.max_bytes)
                given = Request(signal, body, content_type, headers.get("content-encoding", ""))
                # Counting may wait for a store, which the other requests of a service must not.
                reply = await asyncio.to_thread(receiver.receive, given)
        except RequestError as error:
            reply = answer_error(error, content_type)
        except ClientDisconnect:
            return Response(status_code=TIMED_OUT)  # which is read by no one
        return Response(reply.body, reply.status, media_type=reply.content_type)

    return Starlette(routes=[Route("/v1/{signal}", take, methods=["POST"])])


async def _read_in_time(request: HttpRequest, limit: int) -> bytes:
    try:
        return await asyncio.wait_for(_read_body(request, limit), BODY_S)
    except TimeoutError as error:
        raise RequestError(TIMED_OUT, f"the body has not come within {BODY_S:g} seconds; send it at once") from error


async def _read_body(request: HttpRequest, limit: int) -> bytes:
    length = request.headers.get("content-length", "0")
    size = int(length) if length.isdecimal() else 0
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if max(size, len(body)) > limit:
            raise RequestError(TOO_LARGE, f"the body is longer than {limit} bytes; send smaller batches")
    return bytes(body)
