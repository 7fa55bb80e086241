"""Requests by HTTP/1.1 on streams: a library for them takes longer to load than most servers to answer."""

from __future__ import annotations

import asyncio
import os
import ssl
from binascii import b2a_base64
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final
from urllib.parse import SplitResult, unquote, urljoin, urlsplit

from otel_errcompact.runtime.records import dataclass

if TYPE_CHECKING:
    from asyncio import StreamReader, StreamWriter
    from collections.abc import AsyncIterator, Mapping

CONNECT_SECONDS: Final = 30.0
IDLE_SECONDS: Final = 4.0
"""How long a connection is kept for the next request: servers close theirs after five seconds or later."""

CHUNK: Final = 65_536
MAX_REDIRECTS: Final = 5
_REDIRECTS: Final = frozenset({307, 308})
"""Statuses that keep the method, and with it what was sent."""

_FIRST_BAD: Final = 300
_FIRST_FINAL: Final = 200
_EMPTY: Final = frozenset({204, 304})


@dataclass(slots=True, kw_only=True)
class Response:
    """An answer, whose body is still to be read."""

    status: str
    """Its number and the server's word for it."""

    headers: Mapping[str, str]
    """By names in small letters."""

    reader: StreamReader
    is_read: bool = False

    @property
    def code(self) -> int:
        """The number of its status."""
        return int(self.status[:3])

    @property
    def is_bad(self) -> bool:
        """Whether the request was refused, or answered elsewhere."""
        return self.code >= _FIRST_BAD

    @property
    def kind(self) -> str:
        """What its body is written in."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    async def read(self) -> bytes:
        """Return the whole body."""
        return b"".join([chunk async for chunk in self.iterate()])

    async def iterate(self) -> AsyncIterator[bytes]:
        """
        Yield the body as it comes.

        Raises:
            EOFError: The connection has ended before it.
        """
        is_chunked = "chunked" in self.headers.get("transfer-encoding", "").lower()
        size = 0 if self.code in _EMPTY else int(self.headers.get("content-length", -1))
        while is_chunked and (size := int((await self.reader.readuntil()).partition(b";")[0], 16)):
            async for chunk in self._iterate_bytes(size):
                yield chunk
            await self.reader.readuntil()
        while is_chunked and (await self.reader.readuntil()).strip():
            pass  # fields behind the body
        async for chunk in self._iterate_bytes(size):
            yield chunk
        self.is_read = size >= 0

    async def _iterate_bytes(self, size: int) -> AsyncIterator[bytes]:
        # Without a size, all until the connection ends.
        while size and (chunk := await self.reader.read(min(size, CHUNK) if size > 0 else CHUNK)):
            size -= len(chunk) if size > 0 else 0
            yield chunk
        if size > 0:
            raise EOFError("the connection has ended in the middle of an answer")


class HttpClient:
    """
    Sends requests to one server.

    Args:
        url: The server's address.
        headers: What every request carries.
    """

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        self.url = url
        self._headers = {name.lower(): value.strip() for name, value in headers.items()}
        self._idle: list[tuple[float, StreamReader, StreamWriter]] = []
        user, at, _ = urlsplit(url).netloc.rpartition("@")
        if at:
            self._headers.setdefault("authorization", _write_login(user))

    @asynccontextmanager
    async def send(self, method: str, headers: Mapping[str, str], body: bytes = b"") -> AsyncIterator[Response]:
        """
        Send a request and give its answer; redirects at the same server are followed.

        Raises:
            OSError: There is no connection.
            EOFError: It has ended before the answer.
        """
        for _ in range(MAX_REDIRECTS):
            async with self._send_once(method, headers, body) as response:
                url = urljoin(self.url, response.headers.get("location", ""))
                if response.code not in _REDIRECTS or not is_same_server(self.url, url):
                    yield response
                    return
                await response.read()
                self.url = url
        raise ConnectionError("it sends each request elsewhere")

    def close(self) -> None:
        """Close the connections that no request uses."""
        while self._idle:
            self._idle.pop()[2].close()

    @asynccontextmanager
    async def _send_once(self, method: str, headers: Mapping[str, str], body: bytes) -> AsyncIterator[Response]:
        parts, loop = urlsplit(self.url), asyncio.get_running_loop()
        reader, writer = await self._take_connection(parts)
        response = None
        try:
            writer.write(self._write_head(method, parts, {"content-length": str(len(body)), **headers}) + body)
            await writer.drain()
            response = await _read_head(reader)
            yield response
        finally:
            if response is not None and response.is_read and response.headers.get("connection", "").lower() != "close":
                self._idle.append((loop.time(), reader, writer))
            else:
                writer.close()

    async def _take_connection(self, parts: SplitResult) -> tuple[StreamReader, StreamWriter]:
        for _ in range(2 if self._idle else 0):
            await asyncio.sleep(0)  # until the loop knows which of them have ended
        while self._idle:
            used_at, reader, writer = self._idle.pop()
            if asyncio.get_running_loop().time() - used_at < IDLE_SECONDS and not reader.at_eof():
                return reader, writer
            writer.close()
        async with asyncio.timeout(CONNECT_SECONDS):
            return await _connect(parts)

    def _write_head(self, method: str, parts: SplitResult, headers: Mapping[str, str]) -> bytes:
        host = parts.netloc.rpartition("@")[2]
        target = f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"
        proxy = _find_proxy(parts) if parts.scheme == "http" else None
        fields = {"host": host, **self._headers, **headers}
        if proxy is not None:
            target, fields = f"http://{host}{target}", {**fields, **_login_of(proxy)}
        lines = (f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items()), "", "")
        return "\r\n".join(lines).encode()


async def _read_head(reader: StreamReader) -> Response:
    status = ""
    while not status or int(status[:3]) < _FIRST_FINAL:
        status = (await reader.readuntil()).decode("latin-1").partition(" ")[2].strip()
        headers = dict[str, str]()
        while line := (await reader.readuntil()).decode("latin-1").strip():
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
    return Response(status=status, headers=headers, reader=reader)


def is_same_server(one: str, other: str) -> bool:
    """Return whether two addresses are of one server; what is sent may hold secrets."""
    return _place_of(urlsplit(one)) == _place_of(urlsplit(other))


def _place_of(parts: SplitResult) -> tuple[str, str, int]:
    return parts.scheme, parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)


async def _connect(parts: SplitResult) -> tuple[StreamReader, StreamWriter]:
    scheme, host, port = _place_of(parts)
    context = _make_context() if scheme == "https" else None
    proxy = _find_proxy(parts)
    if proxy is None:
        return await asyncio.open_connection(host, port, ssl=context)
    reader, writer = await asyncio.open_connection(proxy.hostname, proxy.port or 80)
    if context is not None:
        fields = "".join(f"{name}: {value}\r\n" for name, value in _login_of(proxy).items())
        writer.write(f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n{fields}\r\n".encode())
        response = await _read_head(reader)
        if response.code != _FIRST_FINAL:
            writer.close()
            raise ConnectionError(f"the proxy {proxy.hostname} answered with status {response.status}")
        await writer.start_tls(context, server_hostname=host)
    return reader, writer


def _make_context() -> ssl.SSLContext:
    context = ssl.create_default_context()
    if not context.get_ca_certs():  # of folders nothing is loaded before it is needed
        try:
            import certifi
        except ImportError:
            return context
        context.load_verify_locations(certifi.where())
    return context


def _find_proxy(parts: SplitResult) -> SplitResult | None:
    if not any(name.lower().endswith("_proxy") for name in os.environ):
        return None
    from urllib.request import getproxies, proxy_bypass

    found = getproxies().get(parts.scheme) or getproxies().get("all", "")
    if not found or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    return urlsplit(found if "//" in found else f"http://{found}")


def _login_of(proxy: SplitResult) -> dict[str, str]:
    user, at, _ = proxy.netloc.rpartition("@")
    return {"proxy-authorization": _write_login(user)} if at else {}


def _write_login(user: str) -> str:
    return f"Basic {b2a_base64(unquote(user).encode(), newline=False).decode()}"
