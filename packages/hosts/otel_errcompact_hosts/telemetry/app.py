"""The receiver as an ASGI application: `POST /v1/traces`, `/v1/logs` and `/v1/metrics`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from otel_errcompact_hosts.ports.edge import Edge, send_answer
from otel_errcompact_hosts.telemetry.bodies import NOT_ALLOWED, NOT_FOUND, RequestError, answer_error
from otel_errcompact_hosts.telemetry.receiver import SIGNALS, Request

if TYPE_CHECKING:
    from otel_errcompact_hosts.ports.edge import Activity, App, Gate, Message, Receive, Send
    from otel_errcompact_hosts.telemetry.receiver import Receiver


def telemetry_app(receiver: Receiver, gate: Gate, activity: Activity) -> App:
    """Return the application."""

    async def take(scope: Message, receive: Receive, send: Send) -> None:
        headers: dict[bytes, bytes] = dict(scope["headers"])
        kind, encoding = (headers.get(name, b"").decode("latin-1") for name in (b"content-type", b"content-encoding"))
        try:
            request = Request(_find_signal(scope), (await receive())["body"], kind, encoding)
            # Counting may wait for a store, which the other requests of a service must not.
            reply = await asyncio.to_thread(receiver.receive, request)
        except RequestError as error:
            reply = answer_error(error, kind)
        await send_answer(send, *reply)

    return Edge(take, activity, gate, write_problem=_write_problem)


def _find_signal(scope: Message) -> str:
    signal = scope["path"].removeprefix("/v1/")
    if signal not in SIGNALS:
        known = ", ".join(f"/v1/{each}" for each in SIGNALS)
        raise RequestError(NOT_FOUND, f"there is no {scope['path'][:200]!r}; post to {known}")
    if scope["method"] != "POST":
        raise RequestError(NOT_ALLOWED, "telemetry is sent by POST")
    return str(signal)


def _write_problem(status: int, problem: str, kind: str) -> tuple[str, bytes]:
    return answer_error(RequestError(status, problem), kind)[1:]
