"""What falls together: a server that ends while its request is prepared, or its ledger made."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from otel_errcompact.boundary import RunRegistry
from otel_errcompact_hosts.mcp_proxy.relay import Relay
from otel_errcompact_hosts.mcp_proxy.tool_calls import ToolCalls

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

PATIENCE_S = 30.0


class Queued:
    """One side of the relay, whose lines are put in by the test."""

    def __init__(self) -> None:
        self.coming: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.written: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    def put(self, message: dict[str, Any]) -> None:
        """Let a message come."""
        self.coming.put_nowait(json.dumps(message).encode() + b"\n")

    async def read(self) -> AsyncIterator[bytes]:
        """Yield what comes."""
        while (line := await self.coming.get()) is not None:
            yield line

    async def write(self, line: bytes) -> None:
        """Take a line."""
        self.written.put_nowait(json.loads(line))

    async def next(self) -> dict[str, Any]:
        """What was written next."""
        return await asyncio.wait_for(self.written.get(), PATIENCE_S)


class Ending(Queued):
    """A server that may answer, and end at once."""

    def __init__(self, *answered: str, ends: bool = False) -> None:
        super().__init__()
        self._answered, self._ends = answered, ends
        self.is_over = asyncio.Event()

    async def write(self, line: bytes) -> None:
        """Answer what it answers."""
        if self.is_over.is_set():
            raise BrokenPipeError("it has ended")
        await super().write(line)
        message = json.loads(line)
        if message.get("method") in self._answered:
            self.put({"jsonrpc": "2.0", "id": message["id"], "result": {"content": []}})
            if self._ends:
                self.coming.put_nowait(None)

    async def finish(self) -> None:
        """Take the end of the input for its own."""
        self.coming.put_nowait(None)

    async def stop(self, *, at_once: bool = False) -> None:
        """End."""
        del at_once
        self.is_over.set()
        self.coming.put_nowait(None)

    def describe(self) -> str:
        """Return what became of it."""
        return "the MCP server 'shop' ended"


def call(identifier: int) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identifier, "method": "tools/call", "params": {"name": "price", "arguments": {}}}


async def test_a_call_that_waits_for_the_ledger_while_its_server_ends_is_answered_by_the_next() -> None:
    """Nobody else would answer it: it was not sent, and did not wait for an answer yet."""
    client, first, second = Queued(), Ending(), Ending("tools/call")
    calls: asyncio.Future[ToolCalls] = asyncio.get_running_loop().create_future()

    async def start() -> Ending:
        return second

    relay = asyncio.create_task(Relay(client, start, lambda: calls).run(first, asyncio.Event()))
    client.put(call(1))
    while not client.coming.empty():  # noqa: ASYNC110 - until the relay has taken it
        await asyncio.sleep(0)
    first.coming.put_nowait(None)
    await asyncio.wait_for(first.is_over.wait(), PATIENCE_S)
    calls.set_result(ToolCalls(RunRegistry(stoppable=False)))
    assert await client.next() == {"jsonrpc": "2.0", "id": 1, "result": {"content": []}}
    client.coming.put_nowait(None)
    await asyncio.wait_for(relay, PATIENCE_S)


@pytest.mark.parametrize("is_initialized", [True, False])
async def test_a_server_that_ends_when_it_has_shaken_hands_again(is_initialized: bool) -> None:
    """The call is answered, and the proxy goes on."""
    client, first = Queued(), Ending("initialize")
    calls: asyncio.Future[ToolCalls] = asyncio.get_running_loop().create_future()
    calls.set_result(ToolCalls(RunRegistry(stoppable=False)))
    later = iter([Ending("initialize", ends=True), Ending("initialize", "tools/call")])

    async def start() -> Ending:
        return next(later)

    relay = asyncio.create_task(Relay(client, start, lambda: calls).run(first, asyncio.Event()))
    client.put({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}})
    await client.next()
    await first.next()
    if is_initialized:
        client.put({"jsonrpc": "2.0", "method": "notifications/initialized"})
        await first.next()
    first.coming.put_nowait(None)
    await asyncio.wait_for(first.is_over.wait(), PATIENCE_S)
    client.put(call(1))
    answer = await client.next()
    assert answer["id"] == 1
    assert answer["result"]["isError"] is True
    text = answer["result"]["content"][0]["text"]
    assert text.startswith(
        "the MCP server cannot be started again: the MCP server 'shop' ended when it had shaken hands"
    )
    client.put({**call(2), "params": {"name": "price", "arguments": {"item": "tea"}}})
    assert await client.next() == {"jsonrpc": "2.0", "id": 2, "result": {"content": []}}
    client.coming.put_nowait(None)
    await asyncio.wait_for(relay, PATIENCE_S)
