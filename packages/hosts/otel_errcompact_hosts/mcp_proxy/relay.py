"""The relay: lines from the client to the server, and back."""

from __future__ import annotations

import asyncio
import logging
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Literal, Protocol

from otel_errcompact.runtime.guard import Guard
from otel_errcompact.runtime.records import dataclass
from otel_errcompact_hosts.mcp_proxy.messages import (
    Message,
    is_answer,
    is_batch,
    is_request,
    key_of,
    make_error,
    method_of,
    params_of,
    parse_line,
    write_line,
)
from otel_errcompact_hosts.mcp_proxy.tool_calls import ToolCall, ToolCalls
from otel_errcompact_hosts.payloads import record_of, text_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from otel_errcompact_hosts.mcp_proxy.standard_streams import StandardStreams

_logger: Final = logging.getLogger("otel_errcompact")

ANSWER_SECONDS: Final = 10.0
"""How long the server may still answer when the client has closed its side."""

POLL_SECONDS: Final = 0.02

PREPARE_SECONDS: Final = 0.3
"""How long after the first answer what counts calls is loaded, unless one is made before."""

HANDSHAKE_SECONDS: Final = 60.0
"""How long a server that was started again may take to begin."""

LASTING: Final = {"logging/setLevel": "", "resources/subscribe": "uri"}
"""Requests whose effect lasts as long as the server, with the parameter that they are about."""

UNDONE_BY: Final = {"resources/unsubscribe": "resources/subscribe"}


class Server(Protocol):
    """The side that answers."""

    def read(self) -> AsyncIterator[bytes]:
        """Yield its lines until it ends."""
        ...

    async def write(self, line: bytes) -> None:
        """
        Send it a line.

        Raises:
            OSError: It is gone.
        """
        ...

    async def finish(self) -> None:
        """Say that no more lines come."""
        ...

    async def stop(self, *, at_once: bool = False) -> None:
        """End it and all that it has started."""
        ...

    def describe(self) -> str:
        """Return what it is and how it ended, without a full stop."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pending:
    request: Message
    call: ToolCall | None = None


class _Lasting:
    """What a server has to be told when it is started again."""

    def __init__(self) -> None:
        self.handshake: Message | None = None
        self.is_initialized = False
        self.requests: dict[tuple[str, str], Message] = {}

    def note(self, message: Message) -> None:
        method = method_of(message)
        if method == "initialize":
            self.handshake, self.is_initialized = message, False
            self.requests.clear()
        elif method == "notifications/initialized":
            self.is_initialized = True
        elif (name := LASTING.get(method)) is not None:
            self.requests[method, str(params_of(message).get(name, ""))] = message
        elif (undone := UNDONE_BY.get(method)) is not None:
            self.requests.pop((undone, str(params_of(message).get(LASTING[undone], ""))), None)


class Relay:
    """
    Passes lines between a client and a server that may end.

    It is started again at the next request.
    """

    def __init__(
        self, client: StandardStreams, start: Callable[[], Awaitable[Server]], make: Callable[[], Awaitable[ToolCalls]]
    ) -> None:
        self._client = client
        self._start = start
        self._make_calls = make
        self._is_prepared = False
        self._client_name = ""
        self._pending: dict[str, _Pending] = {}
        self._own: dict[str, asyncio.Future[None]] = {}
        """Our own requests to a server that was started again."""
        self._lasting = _Lasting()
        self._server: Server | None = None
        self._pump: asyncio.Task[None] | None = None
        self._stopping = False
        self._guard = Guard()

    async def run(self, server: Server, stop: asyncio.Event) -> None:
        """Relay until the client closes, or at once when `stop` is set."""
        self._take_up(server)
        asked = asyncio.ensure_future(stop.wait())
        reading = asyncio.ensure_future(self._read_client())
        try:
            await asyncio.wait({asked, reading}, return_when=asyncio.FIRST_COMPLETED)
            if not stop.is_set():
                await reading
                await self._finish_pending(asked)
        finally:
            self._stopping = True
            reading.cancel()
            asked.cancel()
            if self._server is not None:
                await self._server.stop(at_once=stop.is_set())
            if self._pump is not None:
                await asyncio.wait({self._pump}, timeout=1)
                self._pump.cancel()

    async def _finish_pending(self, asked: asyncio.Task[Literal[True]]) -> None:
        if self._server is None or self._pump is None:
            return
        await self._server.finish()
        until = asyncio.get_running_loop().time() + ANSWER_SECONDS
        while self._pending and asyncio.get_running_loop().time() < until:
            if self._pump.done() or asked.done():
                return
            await asyncio.sleep(POLL_SECONDS)

    async def _read_client(self) -> None:
        async for line in self._client.read():
            messages = parse_line(line)
            passed = [message for message in messages if await self._take_from_client(message)]
            if len(passed) == len(messages):
                await self._send_line(line, messages)
            elif passed:
                await self._send_line(write_line(passed, batch=True), passed)

    async def _take_from_client(self, message: Message) -> bool:
        # Whether the server is to get it.
        method = method_of(message)
        if method == "notifications/cancelled":
            self._pending.pop(key_of(params_of(message).get("requestId")), None)
        if not is_request(message):
            return True
        call: ToolCall | None = None
        if method == "initialize":
            self._client_name = text_of(record_of(params_of(message), "clientInfo"), "name")
        elif method == "tools/call":
            calls, begun = await self._calls(), None
            with self._guard.stage("mcp_begin"):
                begun = await calls.begin(message)
            if begun is not None and not isinstance(begun, ToolCall):
                await self._client.write(write_line([begun]))
                return False
            call = begun
        pending = _Pending(request=message, call=call)
        # Nothing is waited for behind this, so that no server ends unseen before the request waits for its answer.
        if self._server is None and not await self._open_again(pending):
            return False
        self._pending[key_of(message["id"])] = pending
        return True

    async def _send_line(self, line: bytes, messages: list[Message]) -> None:
        for message in messages:
            self._lasting.note(message)
        if self._server is None:
            return
        try:
            await self._server.write(line)
        except OSError as error:
            # The end of its output, which is near, answers what is pending.
            _logger.debug("the server takes no more lines: %s", error)

    def _take_up(self, server: Server) -> None:
        self._server = server
        self._pump = asyncio.ensure_future(self._read_server(server))

    async def _open_again(self, pending: _Pending) -> bool:
        await self._wait_for_end()
        try:
            server = await self._start()
            self._take_up(server)
            if method_of(pending.request) != "initialize":
                await self._repeat_handshake(server)
        except OSError as error:
            if self._server is not None:
                await self._server.stop()
            await self._wait_for_end()
            await self._answer_lost(pending, f"the MCP server cannot be started again: {error}")
            return False
        return True

    async def _wait_for_end(self) -> None:
        if self._pump is not None:
            await asyncio.wait({self._pump})

    async def _repeat_handshake(self, server: Server) -> None:
        lasting = self._lasting
        if lasting.handshake is None:
            return
        await self._ask_server(server, lasting.handshake)
        if lasting.is_initialized:
            note: Message = {"jsonrpc": "2.0", "method": "notifications/initialized"}
            with suppress(OSError):  # as in `_ask_server`
                await server.write(write_line([note]))
        for request in lasting.requests.values():
            await self._ask_server(server, request)
        if self._server is not server:
            await self._wait_for_end()
            raise ConnectionError(f"{server.describe()} when it had shaken hands")

    async def _ask_server(self, server: Server, request: Message) -> None:
        identifier = f"errcompact-{os.urandom(16).hex()}"
        answered = self._own[key_of(identifier)] = asyncio.get_running_loop().create_future()
        with suppress(OSError):  # the end of the server, which is near, says more
            await server.write(write_line([{**request, "id": identifier}]))
        waits: set[asyncio.Future[None]] = {answered}
        if self._pump is not None:
            waits.add(self._pump)
        await asyncio.wait(waits, timeout=HANDSHAKE_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        if not answered.done():
            raise ConnectionError(f"{server.describe()} before it answered '{method_of(request)}'")

    async def _read_server(self, server: Server) -> None:
        try:
            async for line in server.read():
                await self._pass_back(line)
        except Exception as error:  # noqa: BLE001 - whatever breaks, the client waits for answers
            self._guard.record_failure("mcp_read", error)
        finally:
            self._server = None
            if not self._stopping:
                await server.stop()
        text = f"{server.describe()} before it answered"
        if not self._stopping:
            text = f"{text}. It is started again at the next request; what it held in memory is gone"
        pending, self._pending = self._pending, {}
        for each in pending.values():
            await self._answer_lost(each, text)

    async def _pass_back(self, line: bytes) -> None:
        messages = parse_line(line)
        passed = [each for message in messages if (each := await self._take_from_server(message)) is not None]
        if len(passed) == len(messages) and all(new is old for new, old in zip(passed, messages, strict=True)):
            await self._client.write(line)
        elif passed:
            await self._client.write(write_line(passed, batch=is_batch(line)))
        if not self._is_prepared:  # what counts calls takes longer to load than the client to connect
            self._is_prepared = True
            asyncio.get_running_loop().call_later(PREPARE_SECONDS, self._make_calls)

    async def _take_from_server(self, message: Message) -> Message | None:
        # What the client is to read, if anything.
        if not is_answer(message):
            return message
        key = key_of(message["id"])
        if (own := self._own.pop(key, None)) is not None:
            if not own.done():
                own.set_result(None)
            return None
        pending = self._pending.pop(key, None)
        if pending is None or pending.call is None:
            return message
        calls, changed = await self._calls(), None
        with self._guard.stage("mcp_conclude"):
            changed = await calls.conclude(pending.call, message)
        return changed or message

    async def _calls(self) -> ToolCalls:
        calls = await asyncio.shield(self._make_calls())
        calls.client = self._client_name or calls.client
        return calls

    async def _answer_lost(self, pending: _Pending, text: str) -> None:
        answer = make_error(pending.request, text)
        if pending.call is not None:
            calls = await self._calls()
            with self._guard.stage("mcp_fail"):
                answer = await calls.fail(pending.call, text)
        await self._client.write(write_line([answer]))
