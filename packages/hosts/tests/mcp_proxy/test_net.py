"""Servers on the net, byte by byte: what they answer, and what they are asked."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from otel_errcompact.exceptions import MissingExtraError
from otel_errcompact_hosts.mcp_proxy.net import connect
from otel_errcompact_hosts.mcp_proxy.serving import serve_url

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from otel_errcompact_hosts.mcp_proxy.net import NetServer

PING: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
PONG = b'{"jsonrpc":"2.0","id":1,"result":{"caf\xc3\xa9":1.0}}'
MODERN = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}
PATIENCE_S = 60.0


def answer(body: bytes, kind: str = "application/json", status: str = "200 OK", **fields: str) -> bytes:
    """An answer with its length."""
    named = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{named}Content-Length: {len(body)}\r\n\r\n".encode() + body


def events(body: bytes) -> bytes:
    """A stream of events, which the end of the connection ends."""
    return b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n" + body


class Script:
    """A server that gives one answer after the other; an unfinished one ends its connection, as None does at once."""

    def __init__(self, answers: tuple[bytes | None, ...]) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []
        """The connection's number, and the request's first line and fields."""
        self.connections = 0
        self.url = ""

    async def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of a connection."""
        self.connections += 1
        number = self.connections
        try:
            while True:
                line, fields = re.split("\r\n", (await reader.readuntil(b"\r\n\r\n")).decode(), maxsplit=1)
                head = "\r\n".join((line, re.sub("(?m)^[^:\r]*:", lambda name: name[0].lower(), fields)))
                self.asked.append(f"{number} {head}")
                length = head.partition("content-length: ")[2].partition("\r\n")[0]
                await reader.readexactly(int(length or 0))
                given = self.answers.pop(0) if self.answers else answer(b"", status="404 Not Found")
                if given is None:
                    return
                writer.write(given.replace(b"URL", self.url.encode()))
                await writer.drain()
                if b"Ends" in given or (b"ength" not in given and b"chunked" not in given):
                    return
        except (asyncio.IncompleteReadError, ConnectionResetError):
            self.asked.append(f"{number} closed")
        finally:
            writer.close()


@asynccontextmanager
async def scripted(*answers: bytes | None, path: str = "/mcp") -> AsyncIterator[tuple[Script, NetServer]]:
    script = Script(answers)
    async with await asyncio.start_server(script.take, "127.0.0.1", 0) as listening:
        script.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
        server = await connect(f"{script.url}{path}")
        yield script, server
        await server.stop()


async def ask(server: NetServer, message: dict[str, Any] = PING) -> bytes:
    """Send a request and return the line that comes next."""
    await server.write(json.dumps(message).encode() + b"\n")
    return await next_line(server)


async def wait_for(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not is_so():  # noqa: ASYNC110 - of another task
            await asyncio.sleep(0.01)


async def next_line(server: NetServer) -> bytes:
    async with asyncio.timeout(PATIENCE_S):
        async for line in server.read():
            return line
    return b""


def error_of(line: bytes) -> str:
    return str(json.loads(line)["error"]["message"])


@pytest.mark.parametrize(
    "given",
    [
        answer(PONG),
        answer(PONG, kind="application/json; charset=utf-8"),
        b"HTTP/1.1 100 Continue\r\n\r\n" + answer(PONG),
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"5;a=b\r\n" + PONG[:5] + b"\r\n%x\r\n" % len(PONG[5:]) + PONG[5:] + b"\r\n0\r\nx: y\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n" + PONG,
        events(b": hello\r\nevent: message\r\ndata: " + PONG + b"\r\n\r\n"),
        events(b'event: other\ndata: {"id": 9}\n\ndata:' + PONG[:16] + b"\ndata: " + PONG[16:] + b"\n\n"),
    ],
)
async def test_an_answer_passes_as_it_is(given: bytes) -> None:
    """In whichever form it comes; only a line feed between its values becomes a space."""
    async with scripted(given) as (_, server):
        assert (await ask(server)).replace(b" ", b"") == PONG + b"\n"


async def test_an_answer_on_several_lines_is_one_line() -> None:
    """The client reads lines."""
    async with scripted(answer(b'{"jsonrpc": "2.0",\n "id": 1,\n "result": {}}\n')) as (_, server):
        assert await ask(server) == b'{"jsonrpc": "2.0",  "id": 1,  "result": {}}\n'


async def test_a_connection_is_used_again_while_it_lasts() -> None:
    """One that has ended meanwhile is not."""
    closing, chunk = answer(PONG, Connection="close"), b"data: " + PONG + b"\n\n"
    accepted, refused = answer(b"", status="202 Accepted"), answer(b"no", status="400 No")
    async with scripted(accepted, answer(chunk, kind="text/event-stream"), refused, closing, answer(PONG)) as (
        script,
        server,
    ):
        await server.write(b'{"jsonrpc": "2.0", "method": "notifications/progress"}\n')
        assert await ask(server) == PONG + b"\n"
        assert error_of(await ask(server)).endswith("answered with status 400 No")
        for _ in range(2):
            assert await ask(server) == PONG + b"\n"
    assert [asked[:2] for asked in script.asked if "POST" in asked] == ["1 ", "1 ", "1 ", "1 ", "2 "]


async def test_a_stream_that_ends_before_the_answer_is_taken_up_again() -> None:
    """Behind the newest event that came; without one it is over."""
    begun = b'id: 7\nretry: 0\ndata: {"jsonrpc":"2.0","method":"notifications/progress"}\n\n'
    async with scripted(events(begun), None, events(b"data: " + PONG + b"\n\n"), events(b"")) as (script, server):
        assert b"progress" in await ask(server)
        assert await next_line(server) == PONG + b"\n"
        assert "last-event-id: 7\r\n" in script.asked[2]
        assert error_of(await ask(server)) == f"the MCP server at {script.url} closed the connection before it answered"


async def test_an_answer_that_breaks_off_ends_the_link() -> None:
    """Whoever waits for it is told why."""
    async with scripted(answer(PONG, Ends="here").replace(b"Length: ", b"Length: 9")) as (script, server):
        assert await ask(server) == b""
        why = f"the MCP server at {script.url} was lost (RemoteProtocolError: peer closed connection without sending"
        assert server.describe().startswith(why)


async def test_a_redirect_is_followed_at_the_same_server_alone() -> None:
    """What is sent may hold secrets."""
    moved = [answer(b"", status="307 Temporary Redirect", Location=place) for place in ("/mcp/", "http://x.test/mcp")]
    async with scripted(moved[0], answer(PONG), moved[1], *[moved[0]] * 21) as (script, server):
        assert await ask(server) == PONG + b"\n"
        assert error_of(await ask(server)).endswith("answered with status 307 Temporary Redirect")
        assert await ask(server) == b""
        assert server.describe().endswith("was lost (TooManyRedirects: Exceeded maximum allowed redirects.)")
    assert [asked.split(" ")[2] for asked in script.asked[:3]] == ["/mcp", "/mcp/", "/mcp"]


async def test_a_session_is_named_listened_to_and_ended() -> None:
    """With its version; a stream that the server has not is not asked for again."""
    begun = {"serverInfo": {"name": "shop"}, "protocolVersion": "2025-11-25"}
    first = answer(json.dumps({"jsonrpc": "2.0", "id": 1, "result": begun}).encode(), Mcp_Session_Id="s1")
    heard = b'data: {"jsonrpc":"2.0","method":"notifications/message"}\n\n'
    accepted = answer(b"", status="202 Accepted")
    stream, no_stream = events(b"retry: 0\n" + heard), answer(b"", status="405 No")
    async with scripted(first, accepted, stream, no_stream) as (script, server):
        await ask(server, {**PING, "method": "initialize"})
        assert b"message" in await ask(server, {"jsonrpc": "2.0", "method": "notifications/initialized"})
        await wait_for(lambda: not script.answers)
        script.answers.append(answer(b"", status="204 No Content"))
    methods = [asked.split(" ")[1] for asked in script.asked if "closed" not in asked]
    assert methods == ["POST", "POST", "GET", "GET", "DELETE"]
    for asked in script.asked[1:]:
        if "closed" not in asked:
            assert "mcp-session-id: s1\r\nmcp-protocol-version: 2025-11-25\r\n" in asked


async def test_a_request_without_a_session_says_itself_in_headers() -> None:
    """Also arguments that the tool's schema asks for; what no header can hold is encoded."""
    deep = {"type": "object", "properties": {"dry": {"type": "boolean", "x-mcp-header": "Dry"}}}
    schema = {"properties": {"city": {"x-mcp-header": "City"}, "how": deep, "other": {}, "none": {"x-mcp-header": "N"}}}
    tools = {"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "caf\u00e9", "inputSchema": schema}]}}
    arguments = {"city": "Paris", "how": {"dry": True}, "other": "x"}
    async with scripted(answer(json.dumps(tools).encode()), answer(PONG)) as (script, server):
        await ask(server, {**PING, "method": "tools/list"})
        await ask(
            server, {**PING, "method": "tools/call", "params": {**MODERN, "name": "caf\u00e9", "arguments": arguments}}
        )
    head = script.asked[1].partition("mcp-protocol")[2].partition("content-length")[0]
    assert head == (
        "-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: =?base64?Y2Fmw6k=?=\r\n"
        "mcp-param-city: Paris\r\nmcp-param-dry: true\r\n"
    )


async def test_a_request_without_a_session_is_cancelled_by_the_end_of_its_connection() -> None:
    """No notification is sent; of another one, or in a session, it is."""
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    waiting = answer(PONG)[: -len(PONG)]
    async with scripted(waiting, answer(b"", status="202 Accepted")) as (script, server):
        await server.write(json.dumps({**PING, "params": MODERN}).encode() + b"\n")
        await wait_for(lambda: not script.answers[1:])
        await server.write(json.dumps(cancel).encode() + b"\n")
        await wait_for(lambda: "1 closed" in script.asked)
        assert len(script.asked) == 2
        await server.write(json.dumps(cancel).encode() + b"\n")
        assert script.asked[2].startswith("2 POST")


async def test_the_older_form_takes_messages_where_it_says() -> None:
    """Its answers come on the stream, which ends the link when it ends; another server is not written to."""
    stream = b"event: endpoint\ndata: /messages?s=1\n\ndata: " + PONG + b"\n\n"
    accepted = answer(b"", status="202 Accepted")
    async with scripted(events(stream), accepted, path="/sse") as (_, server):
        assert await next_line(server) == PONG + b"\n"
        assert await next_line(server) == b""
        assert server.describe().endswith("was lost (it closed the connection)")
    for given, why in (
        (events(b"event: endpoint\ndata: http://x.test/m\n\n"), "it sends messages elsewhere"),
        (answer(b"", status="503 Busy"), "status 503 Busy"),
        (None, "RemoteProtocolError: Server disconnected without sending a response."),
    ):
        with pytest.raises(ConnectionError, match=why):
            async with scripted(given, path="/sse"):
                pass


async def test_a_proxy_is_asked_where_the_environment_names_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """With its login; what is to be safe goes through it unread, or not at all."""
    async with scripted(answer(PONG), answer(b"", status="407 Log In"), answer(PONG)) as (script, server):
        monkeypatch.setenv("HTTP_PROXY", script.url.replace("//", "//ann:p%40ss@"))
        monkeypatch.setenv("ALL_PROXY", script.url.removeprefix("http://"))
        far = await connect("http://bob:secret@far.test/mcp?x=1")
        assert await ask(far) == PONG + b"\n"
        assert script.asked[0].startswith("1 POST http://far.test/mcp?x=1 HTTP/1.1\r\nhost: far.test\r\n")
        assert "authorization: Basic Ym9iOnNlY3JldA==\r\n" in script.asked[0]
        assert "proxy-authorization: Basic YW5uOnBAc3M=\r\n" in script.asked[0]
        await far.stop()
        safe = await connect("https://far.test/mcp")
        assert await ask(safe) == b""
        assert safe.describe().endswith("was lost (ProxyError: 407 Log In)")
        await safe.stop()
        asked = next(asked for asked in script.asked if "CONNECT" in asked)
        assert asked == "2 CONNECT far.test:443 HTTP/1.1\r\nhost: far.test:443\r\naccept: */*\r\n\r\n"
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        assert await ask(server) == PONG + b"\n"
        assert "POST /mcp HTTP/1.1" in script.asked[-1]


async def test_a_proxy_that_is_none_or_a_header_that_cannot_be_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is an error that holds no secret."""
    async with scripted() as (script, _):
        server = await connect(f"{script.url}/mcp", headers={"X-Key": "one\ntwo"})
        assert await ask(server) == b""
        assert server.describe() == f"the MCP server at {script.url} was lost (LocalProtocolError)"
        await server.stop()
    monkeypatch.setenv("ALL_PROXY", "gopher://127.0.0.1")
    with pytest.raises(ConnectionError, match="Unknown scheme for proxy URL"):
        await connect("http://far.test/mcp")


def test_without_its_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that the page names."""
    monkeypatch.setitem(sys.modules, "httpx2", None)
    monkeypatch.delitem(sys.modules, "otel_errcompact_hosts.mcp_proxy.net")
    with pytest.raises(MissingExtraError, match=r"a server on the net needs .* pip install 'otel-errcompact\[mcp\]'"):
        serve_url("http://127.0.0.1:9/mcp")
