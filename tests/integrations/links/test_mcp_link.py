"""The proxy and servers by the MCP SDK: as programs, and on the net."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from otel_errcompact_hosts.mcp_proxy.net import NetServer, connect
from tests.integrations.links.inspection import PROXY, Inspector, compare

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SHOP = (sys.executable, str(Path(__file__).parent / "shop.py"))
CALLS: list[tuple[str, dict[str, Any]]] = [("price", {"item": "tea"}), ("slowly", {})]
FAILURES: list[tuple[str, dict[str, Any]]] = [("boom", {"item": "tea"}), ("price", {}), ("nothing", {})]
PATIENCE_S = 60.0


@pytest.fixture
def shop() -> Iterator[Callable[[str], str]]:
    """Starts the shop on a port, and gives its address."""
    started: list[subprocess.Popen[bytes]] = []

    def start(transport: str, port: int = 0) -> str:
        with socket.create_server(("127.0.0.1", port)) as free:
            port = free.getsockname()[1]
        started.append(
            subprocess.Popen([*SHOP, transport, str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)
        )
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return f"http://127.0.0.1:{port}/{'sse' if transport == 'sse' else 'mcp'}"
            time.sleep(0.05)
        raise TimeoutError(transport)

    start.stop = lambda: [(one.kill(), one.wait()) for one in started]  # type: ignore[attr-defined]
    yield start
    start.stop()  # type: ignore[attr-defined]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_an_inspector_sees_the_same_server_through_the_proxy(tmp_path: Path, mode: str) -> None:
    """In both forms of the protocol; failures are digests."""
    calls = [*CALLS, *([("order", {})] if mode == "legacy" else [])]
    direct, through = Inspector((*SHOP, "stdio"), tmp_path), Inspector((*PROXY, "--", *SHOP, "stdio"), tmp_path)
    expected, found = await direct.inspect(mode, [*calls, *FAILURES]), await through.inspect(mode, [*calls, *FAILURES])
    compare(expected, found, FAILURES)
    assert through.heard == direct.heard
    assert found["version"] == ("2025-11-25" if mode == "legacy" else "2026-07-28")
    assert [heard[0] for heard in direct.heard][:3] == ["progress"] * 3


@pytest.mark.parametrize(
    ("transport", "mode"), [("streamable-http", "legacy"), ("streamable-http", "auto"), ("sse", "legacy")]
)
async def test_a_server_on_the_net(tmp_path: Path, shop: Callable[[str], str], transport: str, mode: str) -> None:
    """Is what it is as a program: the same answers, the same progress, the same questions."""
    calls = [*CALLS, *([("order", {})] if mode == "legacy" else [])]
    direct = Inspector((*SHOP, "stdio"), tmp_path)
    through = Inspector((*PROXY, "--url", shop(transport)), tmp_path)
    expected = await direct.inspect(mode, [*calls, *FAILURES])
    found = await through.inspect(mode, [*calls, *FAILURES])
    compare(expected, found, FAILURES)
    assert sorted(map(str, through.heard)) == sorted(map(str, direct.heard))


async def test_headers_are_passed_on(tmp_path: Path, shop: Callable[[str], str], monkeypatch: Any) -> None:
    """From the command line or, where others shall not read them, from the environment."""
    url = shop("streamable-http")
    for arguments in (("--header", "X-Team: tea"), ()):
        found = await Inspector((*PROXY, "--url", url, *arguments), tmp_path).inspect("legacy", [("header", {})])
        assert found["header {}"]["content"][0]["text"] == "tea"
        monkeypatch.setenv("ERRCOMPACT_HEADER_X-Team", "tea")


async def test_a_cancelled_call_ends_there(tmp_path: Path, shop: Callable[[str], str]) -> None:
    """The connection goes on."""
    async with Inspector((*PROXY, "--url", shop("streamable-http")), tmp_path).client("auto") as client:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(client.call_tool("wait", {}), 2)
        assert (await client.call_tool("price", {"item": "tea"})).is_error is False


async def test_a_server_that_is_away_and_comes_back(tmp_path: Path, shop: Any) -> None:
    """A session that it has forgotten is begun again with the client's own handshake."""
    url = shop("streamable-http")
    port = int(url.rpartition(":")[2].partition("/")[0])
    async with Inspector((*PROXY, "--url", url), tmp_path).client("legacy") as client:
        assert (await client.call_tool("price", {"item": "tea"})).is_error is False
        shop.stop()
        away = await client.call_tool("price", {"item": "milk"})
        shop("streamable-http", port)
        await client.call_tool("price", {"item": "rice"})
        back = await client.call_tool("price", {"item": "tea"})
    assert away.is_error
    assert f"the MCP server at {url.removesuffix('/mcp')} was lost (" in away.content[0].text
    assert back.is_error is False


async def test_an_address_at_which_nothing_is(tmp_path: Path) -> None:
    """Is an error at the first request, not a silence."""
    server = await connect("http://127.0.0.1:9/mcp")
    await server.write(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
    assert [line async for line in server.read()] == []
    await server.stop()
    assert server.describe().startswith("the MCP server at http://127.0.0.1:9 was lost (ConnectError")
    with pytest.raises(ConnectionError):
        await connect("http://127.0.0.1:9/sse")


class Lines:
    """A server on the net, asked line by line."""

    def __init__(self, server: NetServer) -> None:
        self.server = server
        self._lines = server.read()

    async def ask(self, method: str, params: dict[str, Any] | None = None, identifier: int = 1) -> dict[str, Any]:
        """Send a request, and return its answer."""
        await self.send({"jsonrpc": "2.0", "id": identifier, "method": method, "params": params or {}})
        async for line in self._lines:
            message: dict[str, Any] = json.loads(line)
            if message.get("id") == identifier:
                return message
        raise EOFError(method)

    async def send(self, message: Any) -> None:
        """Send what may be a batch."""
        await self.server.write(json.dumps(message).encode() + b"\n")


MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "lines", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
HANDSHAKE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "lines", "version": "1"},
}


@pytest.mark.parametrize("transport", ["streamable-http", "sse"])
async def test_a_session_line_by_line(shop: Callable[[str], str], transport: str) -> None:
    """A handshake, a batch, a tool; the session ends with the link."""
    server = await connect(shop(transport), headers={"X-Team": "tea"})
    lines = Lines(server)
    begun = await lines.ask("initialize", HANDSHAKE)
    assert begun["result"]["serverInfo"] == {"name": "shop", "version": "1.2.3"}
    await lines.send([{"jsonrpc": "2.0", "method": "notifications/initialized"}])
    assert len((await lines.ask("tools/list", identifier=2))["result"]["tools"]) == 6
    called = await lines.ask("tools/call", {"name": "header", "arguments": {}}, 3)
    assert called["result"]["content"] == [{"type": "text", "text": "tea"}]
    await server.finish()
    await server.stop()
    assert server.describe().endswith("was lost (it closed the connection)")
    with pytest.raises(ConnectionError):
        await server.write(b'{"jsonrpc": "2.0", "id": 4, "method": "ping"}\n')


async def test_requests_without_a_session(shop: Callable[[str], str]) -> None:
    """Each says its version, its method and its name in headers; what is wrong with one is its answer."""
    server = await connect(shop("streamable-http"))
    lines = Lines(server)
    assert "result" in await lines.ask("tools/list", {"_meta": MODERN})
    called = await lines.ask("tools/call", {"name": "price", "arguments": {"item": "tea"}, "_meta": MODERN}, 2)
    assert called["result"]["structuredContent"] == {"item": "tea", "euros": 3.5}
    assert "error" in await lines.ask("no/such", {"_meta": MODERN}, 3)
    await server.stop(at_once=True)


async def test_a_session_that_is_forgotten(shop: Any) -> None:
    """Ends the link, and says why; the next one begins a new session."""
    url = shop("streamable-http")
    server = await connect(url)
    lines = Lines(server)
    await lines.ask("initialize", HANDSHAKE)
    shop.stop()
    shop("streamable-http", int(url.rpartition(":")[2].partition("/")[0]))
    answer = await lines.ask("ping", identifier=2)
    assert answer["error"]["message"] == "Session not found"
    with pytest.raises(ConnectionError, match="it has forgotten the session"):
        await lines.ask("ping", identifier=3)
    await server.stop()
    assert server.describe() == f"the MCP server at {url.removesuffix('/mcp')} was lost (it has forgotten the session)"


LOG_IN = "; log in without the proxy (errcompact mcp unwrap), or give --header 'Authorization: ...'"


@contextmanager
def answering(status: int) -> Iterator[str]:
    """A gateway before a server: it says no to every request; its address holds secrets."""

    class Gateway(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Gateway) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://ann:pass-1@127.0.0.1:{server.server_port}/s/token-2/mcp?key=key-3"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize(("status", "words"), [(401, f"401 Unauthorized{LOG_IN}"), (503, "503 Service Unavailable")])
async def test_a_bad_status_is_named_without_the_secrets_of_the_address(
    status: int, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The agent reads whether it lacks a login or has to wait, and neither it nor the log learns the way in."""
    with answering(status) as url:
        server = await connect(url)
        answer = await Lines(server).ask("tools/call", {"name": "price", "arguments": {}})
        await server.stop(at_once=True)
    place = f"http://127.0.0.1:{url.partition('@')[2].partition(':')[2].partition('/')[0]}"
    assert answer["error"]["message"] == f"the MCP server at {place} answered with status {words}"
    said = f"{caplog.text} {server.describe()}"
    assert f"the MCP server at {place} answered with status {words}" in said
    assert not [secret for secret in ("ann", "pass-1", "token-2", "key-3") if secret in said]


async def test_what_is_no_message_is_not_sent_and_ends_nothing(shop: Callable[[str], str]) -> None:
    """A blank line, a line of no JSON, a list of numbers."""
    server = await connect(shop("streamable-http"))
    lines = Lines(server)
    for line in (b"\n", b"{no\n", b"[1]\n", b'{"id": 1}\n'):
        await server.write(line)
    begun = await lines.ask("initialize", HANDSHAKE)
    await server.stop()
    assert begun["result"]["serverInfo"]["name"] == "shop"
