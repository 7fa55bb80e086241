"""MCP servers on the net, as lines."""

from __future__ import annotations

import asyncio
import json
import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from otel_errcompact.integrations.requirement import required
from otel_errcompact.runtime.lazy import lazy_pattern

with required("mcp", "2.1.0", extra="mcp"):
    import anyio
    import httpx2
    from mcp.client.sse import sse_client
    from mcp.client.streamable_http import MCP_SESSION_ID, streamable_http_client
    from mcp.shared.inbound import (
        MCP_METHOD_HEADER,
        MCP_NAME_HEADER,
        MCP_PROTOCOL_VERSION_HEADER,
        NAME_BEARING_METHODS,
        encode_header_value,
        mcp_param_headers,
        x_mcp_header_map,
    )
    from mcp.shared.message import ClientMessageMetadata, SessionMessage
    from mcp_types import PROTOCOL_VERSION_META_KEY, jsonrpc_message_adapter

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from contextlib import AbstractAsyncContextManager

_logger: Final = logging.getLogger("otel_errcompact")

CONNECT_SECONDS: Final = 30.0
CLOSE_SECONDS: Final = 5.0
FIRST_BAD_STATUS: Final = 400
NOT_FOUND: Final = 404
UNTOLD: Final = "Server returned an error response"
"""What the package says of a bad status, whichever it is."""

_IS_SSE: Final = lazy_pattern(r"/sse(?:[/?&]|$)")


class NetServer:
    """
    An MCP server on the net.

    Args:
        url: Its address.
        is_sse: Whether it speaks the older form of MCP over HTTP.
        headers: What every request carries.
    """

    def __init__(self, url: str, *, is_sse: bool, headers: Mapping[str, str]) -> None:
        self._url = url
        self._name = f"the MCP server at {_origin_of(url)}"
        self._is_sse = is_sse
        self._headers = dict(headers)
        self._read: Any = None
        self._write: Any = None
        self._version = ""
        self._header_maps: dict[str, Any] = {}
        self._problem = ""
        self._statuses: dict[str, str] = {}
        self._is_connected = asyncio.Event()
        self._is_over = asyncio.Event()
        self._task = asyncio.create_task(self._hold_connection())

    async def wait_until_connected(self) -> None:
        """
        Wait for the connection.

        Raises:
            ConnectionError: There is none.
        """
        await self._is_connected.wait()
        if self._problem:
            raise ConnectionError(self._problem)

    async def read(self) -> AsyncIterator[bytes]:
        """Yield its messages as lines until the connection ends."""
        with suppress(anyio.ClosedResourceError, anyio.EndOfStream, anyio.BrokenResourceError):
            async for received in self._read:
                if isinstance(received, Exception):
                    _logger.warning("%s: %s", self._name, received)
                    continue
                line = received.message.model_dump_json(by_alias=True, exclude_unset=True)
                message = json.loads(line)
                self._look_at_answer(message)
                yield (json.dumps(message) if self._name_status(message) else line).encode() + b"\n"
                if self._problem:
                    return
        await asyncio.wait({self._task}, timeout=CLOSE_SECONDS)

    async def write(self, line: bytes) -> None:
        """
        Send it the messages of a line.

        Raises:
            OSError: The connection has ended.
        """
        try:
            value = json.loads(line)
        except ValueError:
            value = []
            if line.strip():
                _logger.warning("a line of the client is no JSON, and not sent to %s", self._name)
        for message in value if isinstance(value, list) else [value]:
            try:
                parsed = jsonrpc_message_adapter.validate_python(message, by_name=False)
            except ValueError:
                _logger.warning("what the client wrote is no message, and not sent to %s", self._name)
                continue
            metadata = ClientMessageMetadata(headers=self._headers_of(message))
            try:
                await self._write.send(SessionMessage(parsed, metadata))
            except (anyio.ClosedResourceError, anyio.BrokenResourceError) as error:
                raise ConnectionError(self._problem or "the connection has ended") from error

    async def finish(self) -> None:
        """Nothing: the answers come on the requests' own connections."""

    async def stop(self, *, at_once: bool = False) -> None:
        """
        End the session and the connection.

        Args:
            at_once: Without waiting for the server to confirm.
        """
        self._is_over.set()
        await asyncio.wait({self._task}, timeout=0 if at_once else CLOSE_SECONDS)
        self._task.cancel()
        await asyncio.wait({self._task})

    def describe(self) -> str:
        """Return what it is and how it ended."""
        return f"{self._name} was lost ({self._problem or 'it closed the connection'})"

    async def _hold_connection(self) -> None:
        # A connection is entered and left in one task.
        try:
            async with self._make_client() as client, self._open_streams(client) as streams:
                self._read, self._write = streams[0], streams[1]
                self._is_connected.set()
                await self._is_over.wait()
        except Exception as error:  # noqa: BLE001 - whatever the network brings
            self._problem = _describe_error(error)
        finally:
            self._is_connected.set()

    def _make_client(self) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            headers=self._headers,
            # A tool may take as long as its client waits.
            timeout=httpx2.Timeout(CONNECT_SECONDS, read=None),
            event_hooks={"response": [self._note_status]},
        )

    def _open_streams(self, client: httpx2.AsyncClient) -> AbstractAsyncContextManager[Any]:
        if self._is_sse:
            return sse_client(self._url, headers=self._headers, sse_read_timeout=float("inf"))
        return streamable_http_client(self._url, http_client=client)

    async def _note_status(self, response: httpx2.Response) -> None:
        # The protocol's own answers are JSON; a login page or a gateway's word is not passed on.
        if response.status_code >= FIRST_BAD_STATUS and response.request.method == "POST":
            if response.status_code == NOT_FOUND and MCP_SESSION_ID in response.request.headers:
                self._problem = "it has forgotten the session"
            status = f"status {response.status_code} {response.reason_phrase}".rstrip()
            _logger.warning("%s answered with %s", self._name, status)
            request = json.loads(response.request.content)
            if isinstance(request, dict) and "method" in request and "id" in request:
                self._statuses[json.dumps(request["id"])] = status

    def _headers_of(self, message: dict[str, Any]) -> dict[str, str]:
        params = message.get("params") or {}
        meta = params.get("_meta") or {} if isinstance(params, dict) else {}
        method = message.get("method", "")
        if (version := meta.get(PROTOCOL_VERSION_META_KEY)) is None:
            is_first = not self._version or method == "initialize"
            return {} if is_first else {MCP_PROTOCOL_VERSION_HEADER: self._version}
        headers = {MCP_PROTOCOL_VERSION_HEADER: str(version), MCP_METHOD_HEADER: method}
        if isinstance(name := params.get(NAME_BEARING_METHODS.get(method, "")), str):
            headers[MCP_NAME_HEADER] = encode_header_value(name)
            if method == "tools/call" and (header_map := self._header_maps.get(name)):
                headers.update(
                    mcp_param_headers(
                        header_map, arguments if isinstance(arguments := params.get("arguments"), dict) else {}
                    )
                )
        return headers

    def _look_at_answer(self, message: dict[str, Any]) -> None:
        # The session's version, and what each tool wants to see in a header.
        result = message.get("result")
        if not isinstance(result, dict):
            return
        if "serverInfo" in result and isinstance(version := result.get("protocolVersion"), str):
            self._version = version
        tools = result.get("tools")
        for tool in tools if isinstance(tools, list) else []:
            if isinstance(tool, dict) and isinstance(schema := tool.get("inputSchema"), dict):
                self._header_maps[str(tool.get("name"))] = x_mcp_header_map(schema)

    def _name_status(self, message: dict[str, Any]) -> bool:
        # Where the package has no more to say than that there was one, which does not tell a login from a busy server.
        if "method" in message:
            return False
        status = self._statuses.pop(json.dumps(message.get("id")), "")
        error = message.get("error")
        if not status or not isinstance(error, dict) or error.get("message") != UNTOLD:
            return False
        error["message"] = f"{self._name} answered with {status}"
        return True


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
    await server.wait_until_connected()
    return server


def _origin_of(url: str) -> str:
    # Users, paths and queries may hold secrets, which the model would read.
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _describe_error(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
