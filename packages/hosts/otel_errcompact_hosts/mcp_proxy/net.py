"""MCP servers on the net, as lines."""

from __future__ import annotations

import asyncio
import logging
from binascii import b2a_base64
from contextlib import suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

import httpx2

from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact.runtime.records import dataclass
from otel_errcompact_hosts.mcp_proxy import messages
from otel_errcompact_hosts.mcp_proxy.messages import Message, key_of, method_of, params_of, parse_line, write_line
from otel_errcompact_hosts.payloads import as_record, as_records, parse_record, record_of, text_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping

_logger: Final = logging.getLogger("otel_errcompact")

CONNECT_SECONDS: Final = 30.0
CLOSE_SECONDS: Final = 5.0
RETRY_SECONDS: Final = 1.0
MAX_TRIES: Final = 2
"""How often a stream is opened again that cannot be opened, or that ends before an answer."""

_SESSION: Final = "mcp-session-id"
_VERSION: Final = "mcp-protocol-version"
_NAMED_BY: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_EVENTS: Final = "text/event-stream"
_ACCEPTS: Final = {"accept": f"application/json, {_EVENTS}", "content-type": "application/json"}
_IS_SSE: Final = lazy_pattern(r"/sse(?:[/?&]|$)")
_LOG_IN: Final = "; log in without the proxy (errcompact mcp unwrap), or give --header 'Authorization: ...'"


@dataclass(slots=True, kw_only=True)
class _Stream:
    last: str = ""
    """The id of the newest event, behind which another stream may begin."""

    wait_s: float = RETRY_SECONDS
    is_answered: bool = False


class NetServer:
    """An MCP server on the net, as `connect` makes it."""

    def __init__(self, url: str, *, is_sse: bool, headers: Mapping[str, str]) -> None:
        self._url = httpx2.URL(url)
        # Users, paths and queries may hold secrets, which the model would read.
        self._name = f"the MCP server at {self._url.scheme}://{self._url.netloc.decode()}"
        self._client = httpx2.AsyncClient(
            headers=httpx2.Headers({**_ACCEPTS, **headers}, encoding="utf-8"),
            # A tool may take as long as its client waits, and so may any number of them.
            timeout=httpx2.Timeout(CONNECT_SECONDS, read=None),
            limits=httpx2.Limits(),
            follow_redirects=True,
            event_hooks={"response": [self._hold_redirect]},
        )
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._tasks = set[asyncio.Task[None]]()
        self._schemas: dict[str, Message] = {}
        self._problem: str | None = None
        """Why the connection has ended, if it has and that is known."""
        self.endpoint: asyncio.Future[None] | None = None
        """Done once the stream of the older form has said where it takes messages."""
        if is_sse:
            self.endpoint = asyncio.get_running_loop().create_future()
            self._spawn(self._listen(_Stream()))

    async def read(self) -> AsyncIterator[bytes]:
        """Yield its messages as lines until the connection ends."""
        while (line := await self._lines.get()) is not None:
            yield line

    async def write(self, line: bytes) -> None:
        """Send it the messages of a line, unless the connection has ended."""
        for message in parse_line(line):
            if self._problem is not None:
                raise ConnectionError(self._problem or "the connection has ended")
            body = write_line([message]) if messages.is_batch(line) else line
            if messages.is_request(message):
                self._spawn(self._post(message, body), key_of(message["id"]))
            elif not self._cancel(message):
                await self._post(message, body)

    async def finish(self) -> None:
        """Nothing: the answers come on the requests' own connections."""

    async def stop(self, *, at_once: bool = False) -> None:
        """End the session and the connections."""
        is_begun = _SESSION in self._client.headers and self._problem is None
        self._lose("")
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=CLOSE_SECONDS)
        if is_begun and not at_once:
            with suppress(httpx2.HTTPError, TimeoutError):
                async with asyncio.timeout(CLOSE_SECONDS):
                    await self._client.delete(self._url)
        await self._client.aclose()

    def describe(self) -> str:
        """Return what it is and how it ended."""
        return f"{self._name} was lost ({self._problem or 'it closed the connection'})"

    def _spawn(self, work: Coroutine[None, None, None], name: str = "") -> None:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _cancel(self, message: Message) -> bool:
        # Without a session, the end of its connection is how a request is cancelled.
        if method_of(message) != "notifications/cancelled" or _SESSION in self._client.headers:
            return False
        key = key_of(params_of(message).get("requestId"))
        return any(task.cancel() for task in self._tasks if task.get_name() == key)

    def _lose(self, problem: str) -> None:
        self._problem = self._problem or problem
        if self.endpoint is not None and not self.endpoint.done():
            self.endpoint.set_exception(ConnectionError(self._problem))
        self._lines.put_nowait(None)

    async def _hold_redirect(self, response: httpx2.Response) -> None:
        # What is sent may hold secrets: it goes to no other server; and it is sent as it is, or not at all.
        place = response.url.join(response.headers.get("location", ""))
        if response.status_code not in {307, 308} or not self._is_here(place):
            response.headers.pop("location", None)

    def _is_here(self, place: httpx2.URL) -> bool:
        here = self._url
        return (place.host, place.port) == (here.host, here.port) and place.scheme in {here.scheme, "https"}

    async def _post(self, message: Message, body: bytes) -> None:
        method, fixed = method_of(message), self._client.headers
        try:
            headers = self._headers_of(message)
            async with self._client.stream("POST", self._url, content=body, headers=headers) as response:
                if not response.is_success:
                    await self._take_refusal(message, response)
                elif messages.is_request(message) and self.endpoint is None:
                    if method == "initialize" and _SESSION in response.headers:
                        fixed[_SESSION] = response.headers[_SESSION]
                    await self._take_answer(message, response)
                else:
                    await response.aread()  # so that its connection can be used again
            if method == "notifications/initialized" and _SESSION in fixed:
                self._spawn(self._listen(_Stream()))
        except Exception as error:  # noqa: BLE001 - whatever the network brings
            self._lose(_describe_error(error))

    async def _take_answer(self, message: Message, response: httpx2.Response) -> None:
        stream = _Stream()
        if response.headers.get("content-type", "").lower().startswith(_EVENTS):
            with suppress(httpx2.TransportError):
                await self._take_events(response, stream)
            if stream.last and not stream.is_answered:
                await asyncio.sleep(stream.wait_s)
                await self._listen(stream)
        else:
            stream.is_answered = self._deliver(await response.aread())
        if not stream.is_answered:
            text = f"{self._name} closed the connection before it answered"
            self._deliver(write_line([messages.make_error(message, text)]))

    async def _take_refusal(self, message: Message, response: httpx2.Response) -> None:
        # The protocol's own answers are JSON; a login page or a gateway's word is not passed on.
        said = f"{self._name} answered with {_status_of(response)}"
        said += _LOG_IN if response.status_code == HTTPStatus.UNAUTHORIZED else ""
        _logger.warning("%s", said)
        error = record_of(parse_record(await response.aread()), "error")
        if messages.is_request(message):
            self._deliver(write_line([{**messages.make_error(message, said), **({"error": error} if error else {})}]))
        if response.status_code == HTTPStatus.NOT_FOUND and _SESSION in self._client.headers:
            self._lose("it has forgotten the session")

    def _deliver(self, line: bytes) -> bool:
        # Whether it is an answer; the session's version and what each tool takes are kept.
        delivered = parse_line(line)
        for message in delivered:
            result = record_of(message, "result")
            if "serverInfo" in result and (version := text_of(result, "protocolVersion")):
                self._client.headers[_VERSION] = version
            for tool in as_records(result.get("tools")):
                self._schemas[text_of(tool, "name")] = record_of(tool, "inputSchema")
        if delivered:  # in JSON a line feed is never part of a text
            self._lines.put_nowait(line.strip().replace(b"\n", b" ") + b"\n")
        return any(map(messages.is_answer, delivered))

    async def _listen(self, stream: _Stream) -> None:
        tries = MAX_TRIES
        while tries and not stream.is_answered:
            problem, tries = "", tries - 1
            headers = {"accept": _EVENTS, **({"last-event-id": stream.last} if stream.last else {})}
            try:
                async with self._client.stream("GET", self._url, headers=headers) as response:
                    if response.is_success:
                        await self._take_events(response, stream)
                        tries = MAX_TRIES
                    else:
                        problem, tries = _status_of(response), 0
            except Exception as error:  # noqa: BLE001 - as in `_post`
                problem = _describe_error(error)
            if self.endpoint is not None:  # all that it says comes on this one
                self._lose(problem)
                return
            await asyncio.sleep(stream.wait_s)

    async def _take_events(self, response: httpx2.Response, stream: _Stream) -> None:
        async for event in httpx2.EventSource(response, max_event_size=None):
            stream.last = event.id or stream.last
            stream.wait_s = stream.wait_s if event.retry is None else event.retry / 1000
            if event.event == "message":
                stream.is_answered |= self._deliver(event.data.encode())
            elif event.event == "endpoint" and self.endpoint is not None and not self.endpoint.done():
                place = response.url.join(event.data)
                if not self._is_here(place):
                    raise ConnectionError("it sends messages elsewhere")
                self._url = self._url.copy_with(raw_path=place.raw_path)
                self.endpoint.set_result(None)

    def _headers_of(self, message: Message) -> dict[str, str]:
        # A request without a session says in headers what it is.
        method, params = method_of(message), params_of(message)
        version = text_of(record_of(params, "_meta"), messages.PROTOCOL_VERSION)
        if not version:
            return {}
        headers = {_VERSION: version, "mcp-method": method}
        if name := text_of(params, _NAMED_BY.get(method, "")):
            headers["mcp-name"] = _write_value(name)
        return {**headers, **dict(_mirror_arguments(self._schemas.get(name, {}), record_of(params, "arguments")))}


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
    try:
        server = NetServer(url, is_sse=is_sse, headers=headers or {})
    except (httpx2.InvalidURL, ValueError, ImportError) as error:  # of the address, or of a proxy's
        raise ConnectionError(str(error)) from error
    if server.endpoint is not None:
        await server.endpoint
    return server


def _mirror_arguments(schema: Message, arguments: Message) -> Iterator[tuple[str, str]]:
    for name, inner in record_of(schema, "properties").items():
        value, token = arguments.get(name), text_of(as_record(inner), "x-mcp-header")
        if token and isinstance(value, str | int | float):
            yield f"mcp-param-{token}", _write_value(str(value).lower() if isinstance(value, bool) else str(value))
        yield from _mirror_arguments(as_record(inner), as_record(value))


def _write_value(text: str) -> str:
    is_plain = text.isascii() and text.isprintable() and text == text.strip() and not text.startswith("=?base64?")
    return text if is_plain else f"=?base64?{b2a_base64(text.encode(), newline=False).decode()}?="


def _status_of(response: httpx2.Response) -> str:
    return f"status {response.status_code} {response.reason_phrase}".rstrip()


def _describe_error(error: Exception) -> str:
    # Of a header that cannot be sent the value is named, which may be a secret.
    said = "" if isinstance(error, httpx2.LocalProtocolError) else str(error)
    return f"{type(error).__name__}: {said}" if said else type(error).__name__
