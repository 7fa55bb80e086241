"""MCP servers on the net, as lines."""

from __future__ import annotations

import asyncio
import json
import logging
from binascii import b2a_base64
from contextlib import suppress
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin, urlsplit

from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact.runtime.records import dataclass
from otel_errcompact_hosts.mcp_proxy.http_client import HttpClient, Response, is_same_server
from otel_errcompact_hosts.mcp_proxy.messages import (
    LineBuffer,
    Message,
    is_answer,
    is_batch,
    is_request,
    key_of,
    make_error,
    method_of,
    params_of,
    parse_line,
)
from otel_errcompact_hosts.payloads import as_record, as_records, record_of, text_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping

_logger: Final = logging.getLogger("otel_errcompact")

CLOSE_SECONDS: Final = 5.0
RETRY_SECONDS: Final = 1.0
MAX_TRIES: Final = 2
"""How often a stream is opened again that cannot be opened, or that ends before an answer."""

_UNAUTHORIZED: Final = 401
_NOT_FOUND: Final = 404
_NO_METHOD: Final = -32601
_INTERNAL: Final = -32603
_SESSION: Final = "mcp-session-id"
_VERSION: Final = "mcp-protocol-version"
_VERSION_IN_META: Final = "io.modelcontextprotocol/protocolVersion"
_NAMED_BY: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_ACCEPTS: Final = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
_EVENTS: Final = "text/event-stream"
_IS_SSE: Final = lazy_pattern(r"/sse(?:[/?&]|$)")
_PLAIN: Final = lazy_pattern(r"(?!=\?base64\?.*\?=\Z)(?! )[ -~]*(?<! )\Z")
"""What a header can hold as it is."""

_LOG_IN: Final = "; log in without the proxy (errcompact mcp unwrap), or give --header 'Authorization: ...'"


@dataclass(slots=True, kw_only=True)
class _Stream:
    """Where a stream of events stands."""

    request: Message | None = None
    """What it is to answer; None for one of the server's own messages."""

    last: str = ""
    """The id of the newest event, behind which another stream may begin."""

    wait_s: float = RETRY_SECONDS
    is_answered: bool = False


class NetServer:
    """
    An MCP server on the net.

    Args:
        url: Its address.
        is_sse: Whether it speaks the older form of MCP over HTTP.
        headers: What every request carries.
    """

    def __init__(self, url: str, *, is_sse: bool, headers: Mapping[str, str]) -> None:
        self._client = HttpClient(url, headers)
        self._name = f"the MCP server at {_origin_of(url)}"
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._tasks = set[asyncio.Task[None]]()
        self._without_session: dict[str, asyncio.Task[None]] = {}
        """Requests that are cancelled by an end of their connections."""
        self._fixed: dict[str, str] = {}
        """The session and its version, as headers."""
        self._header_maps: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        self._problem = ""
        self._is_over = False
        self.endpoint: asyncio.Future[str] | None = None
        """Where the older form of MCP takes messages, once its stream has said so."""
        if is_sse:
            self.endpoint = asyncio.get_running_loop().create_future()
            self._spawn(self._listen(_Stream()))

    async def read(self) -> AsyncIterator[bytes]:
        """Yield its messages as lines until the connection ends."""
        while (line := await self._lines.get()) is not None:
            yield line

    async def write(self, line: bytes) -> None:
        """
        Send it the messages of a line.

        Raises:
            OSError: The connection has ended.
        """
        messages = [message for message in parse_line(line) if is_answer(message) or method_of(message)]
        if not messages and line.strip():
            _logger.warning("what the client wrote is no message, and not sent to %s", self._name)
        for message in messages:
            if self._is_over:
                raise ConnectionError(self._problem or "the connection has ended")
            body = json.dumps(message).encode() if is_batch(line) else line.strip()
            if is_request(message):
                task = self._spawn(self._post(message, body))
                if _version_of(message):
                    self._without_session[key_of(message["id"])] = task
            elif not self._cancel(message):
                await self._post(message, body)

    async def finish(self) -> None:
        """Nothing: the answers come on the requests' own connections."""

    async def stop(self, *, at_once: bool = False) -> None:
        """
        End the session and the connections.

        Args:
            at_once: Without waiting for the server to confirm.
        """
        is_begun, self._is_over = _SESSION in self._fixed and not self._problem, True
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=CLOSE_SECONDS)
        if is_begun and not at_once:
            with suppress(OSError, EOFError, ValueError):
                async with asyncio.timeout(CLOSE_SECONDS), self._client.send("DELETE", {**_ACCEPTS, **self._fixed}):
                    pass
        self._client.close()
        self._lines.put_nowait(None)

    def describe(self) -> str:
        """Return what it is and how it ended."""
        return f"{self._name} was lost ({self._problem or 'it closed the connection'})"

    def _spawn(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _cancel(self, message: Message) -> bool:
        # Without a session, the end of its connection is how a request is cancelled.
        key = key_of(params_of(message).get("requestId"))
        if method_of(message) != "notifications/cancelled" or (task := self._without_session.pop(key, None)) is None:
            return False
        task.cancel()
        return True

    def _lose(self, problem: str) -> None:
        self._problem = self._problem or problem
        self._is_over = True
        if self.endpoint is not None and not self.endpoint.done():
            self.endpoint.set_exception(ConnectionError(self._problem))
        self._lines.put_nowait(None)

    # --- messages ----------------------------------------------------------------------------------------------------

    async def _post(self, message: Message, body: bytes) -> None:
        try:
            if method_of(message) == "initialize":
                self._fixed.clear()
            headers = {**_ACCEPTS, **self._fixed, **self._headers_of(message)}
            async with self._client.send("POST", headers, body) as response:
                if response.is_bad:
                    await self._take_refusal(message, response)
                elif not is_request(message) or self.endpoint is not None:
                    await response.read()
                else:
                    if method_of(message) == "initialize" and (session := response.headers.get(_SESSION)):
                        self._fixed[_SESSION] = session
                    await self._take_answer(message, response)
            if method_of(message) == "notifications/initialized" and _SESSION in self._fixed:
                self._spawn(self._listen(_Stream()))
        except Exception as error:  # noqa: BLE001 - whatever the network brings
            self._lose(_describe_error(error))
        finally:
            self._without_session.pop(key_of(message.get("id")), None)

    async def _take_answer(self, message: Message, response: Response) -> None:
        stream = _Stream(request=message)
        if response.kind == _EVENTS:
            with suppress(OSError, EOFError):
                await self._take_events(response, stream)
            if stream.last and not stream.is_answered:
                await asyncio.sleep(stream.wait_s)
                await self._listen(stream)
        elif response.kind == "application/json":
            self._deliver(await response.read(), stream)
        if not stream.is_answered:
            self._answer(make_error(message, f"{self._name} closed the connection before it answered"))

    async def _take_refusal(self, message: Message, response: Response) -> None:
        # The protocol's own answers are JSON; a login page or a gateway's word is not passed on.
        said = f"{self._name} answered with status {response.status}{_LOG_IN if response.code == _UNAUTHORIZED else ''}"
        _logger.warning("%s", said)
        body = as_record(next(iter(parse_line(await response.read())), None))
        if is_request(message):
            code = _NO_METHOD if response.code == _NOT_FOUND else _INTERNAL
            error = record_of(body, "error") or {"code": code, "message": said}
            self._answer({"jsonrpc": "2.0", "id": message["id"], "error": error})
        if response.code == _NOT_FOUND and _SESSION in self._fixed:
            self._lose("it has forgotten the session")

    def _answer(self, answer: Message) -> None:
        self._lines.put_nowait(json.dumps(answer).encode() + b"\n")

    def _deliver(self, data: bytes, stream: _Stream) -> None:
        messages = parse_line(data)
        for message in messages:
            self._look_at_answer(message)
            own = stream.request is not None and key_of(message.get("id")) == key_of(stream.request["id"])
            stream.is_answered = stream.is_answered or (is_answer(message) and own)
        if messages:  # in JSON a line feed is never part of a text
            self._lines.put_nowait(data.strip().replace(b"\n", b" ") + b"\n")

    # --- streams of events -------------------------------------------------------------------------------------------

    async def _listen(self, stream: _Stream) -> None:
        tries = 0
        while tries < MAX_TRIES and not stream.is_answered:
            headers = {"accept": _EVENTS, **self._fixed, **({"last-event-id": stream.last} if stream.last else {})}
            try:
                async with self._client.send("GET", headers) as response:
                    if response.is_bad or response.kind != _EVENTS:
                        problem, tries = f"status {response.status}", MAX_TRIES
                    else:
                        await self._take_events(response, stream)
                        problem, tries = "", 0
            except Exception as error:  # noqa: BLE001 - as above
                problem, tries = _describe_error(error), tries + 1
            if self.endpoint is not None:  # all that it says comes on this one
                self._lose(problem)
                return
            await asyncio.sleep(stream.wait_s)

    async def _take_events(self, response: Response, stream: _Stream) -> None:
        buffer, event, data = LineBuffer(), "", list[bytes]()
        async for chunk in response.iterate():
            for line in buffer.add(chunk):
                name, _, value = line.rstrip(b"\r\n").partition(b":")
                value = value.removeprefix(b" ")
                if name == b"data":
                    data.append(value)
                elif name == b"event":
                    event = value.decode()
                elif name == b"id":
                    stream.last = value.decode()
                elif name == b"retry" and value.isdigit():
                    stream.wait_s = int(value) / 1000
                elif not name and not value:
                    self._take_event(event, b"\n".join(data), stream)
                    event, data = "", []

    def _take_event(self, event: str, data: bytes, stream: _Stream) -> None:
        if event == "endpoint" and self.endpoint is not None:
            url = urljoin(self._client.url, data.decode())
            if not is_same_server(self._client.url, url):
                self._lose("it sends messages elsewhere")
            elif not self.endpoint.done():
                self._client.url = url
                self.endpoint.set_result(url)
        elif event in {"", "message"} and data:
            self._deliver(data, stream)

    # --- headers -----------------------------------------------------------------------------------------------------

    def _headers_of(self, message: Message) -> dict[str, str]:
        version, method, params = _version_of(message), method_of(message), params_of(message)
        if not version:
            return {}
        headers = {_VERSION: version, "mcp-method": method}
        if name := text_of(params, _NAMED_BY.get(method, "")):
            headers["mcp-name"] = _write_value(name)
            for path, token in self._header_maps.get(name, ()) if method == "tools/call" else ():
                value: object = params.get("arguments")
                for key in path:
                    value = as_record(value).get(key)
                if isinstance(value, str | int | float):
                    text = str(value).lower() if isinstance(value, bool) else str(value)
                    headers[f"mcp-param-{token}"] = _write_value(text)
        return headers

    def _look_at_answer(self, message: Message) -> None:
        # The session's version, and what each tool wants to see in a header.
        result = record_of(message, "result")
        if "serverInfo" in result and (version := text_of(result, "protocolVersion")):
            self._fixed[_VERSION] = version
        for tool in as_records(result.get("tools")):
            self._header_maps[text_of(tool, "name")] = list(_find_headers(record_of(tool, "inputSchema")))


async def connect(url: str, *, transport: str = "", headers: Mapping[str, str] | None = None) -> NetServer:
    """
    Connect to a server on the net.

    Args:
        url: Its address.
        transport: `sse` for the older form of MCP over HTTP; where empty, the address decides.
        headers: What every request carries.

    Raises:
        OSError: It cannot be reached.
    """
    is_sse = transport == "sse" if transport else _IS_SSE.search(url) is not None
    server = NetServer(url, is_sse=is_sse, headers=headers or {})
    if server.endpoint is not None:
        await server.endpoint
    return server


def _version_of(message: Message) -> str:
    return text_of(record_of(params_of(message), "_meta"), _VERSION_IN_META)


def _find_headers(schema: Message, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    for name, inner in record_of(schema, "properties").items():
        if token := text_of(as_record(inner), "x-mcp-header"):
            yield (*path, name), token
        yield from _find_headers(as_record(inner), (*path, name))


def _write_value(text: str) -> str:
    return text if _PLAIN.match(text) else f"=?base64?{b2a_base64(text.encode(), newline=False).decode()}?="


def _origin_of(url: str) -> str:
    # Users, paths and queries may hold secrets, which the model would read.
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _describe_error(error: BaseException) -> str:
    said = getattr(error, "strerror", None) or str(error)
    return f"{type(error).__name__}: {said}" if said else type(error).__name__
