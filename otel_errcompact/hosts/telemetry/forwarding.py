"""FORWARD: pass requests on, and keep them through an outage."""

from __future__ import annotations

import ssl
import urllib.error
import urllib.request
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol
from urllib.parse import urlsplit

from otel_errcompact.exceptions import ConfigurationError, MissingExtraError
from otel_errcompact.hosts.telemetry.bodies import JSON, RequestError, decode, unpack
from otel_errcompact.otel.export import otlp
from otel_errcompact.otel.export.queue import BACKOFF_S, MAX_BYTES, BatchPolicy, ExportQueue
from otel_errcompact.runtime.guard import Guard

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from otel_errcompact.otel.export.otlp import Address

DROPPED: Final = "forward_dropped"
"""Requests that were taken and never passed on, since the destination was away for too long."""

REFUSED: Final = "forward_refused"
"""Requests that the destination has refused for good."""

TIMEOUT_S: Final = 10.0

SERVICES: Final = {
    "traces": "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
    "logs": "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
    "metrics": "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
}
"""The methods of gRPC, by signal."""

_OWN_BYTES: Final = 500
_RETRYABLE: Final = frozenset({408, 429, 502, 503, 504})
_RETRYABLE_CODES: Final = frozenset(
    {"CANCELLED", "DEADLINE_EXCEEDED", "ABORTED", "OUT_OF_RANGE", "UNAVAILABLE", "DATA_LOSS"}
)
_EXHAUSTED: Final = "RESOURCE_EXHAUSTED"
_RETRY_INFO: Final = b"google.rpc.RetryInfo"
_UNLIMITED: Final = 1 << 30


class Message(NamedTuple):
    """A request to pass on, as it came or with its marks."""

    signal: str
    body: bytes
    content_type: str
    encoding: str


class RefusedError(Exception):
    """The destination does not take a request, and will not later."""


class Destination(Protocol):
    """Where requests are passed on to."""

    def send(self, message: Message) -> bool:
        """
        Send a request and return whether it has arrived.

        If not, it may later.

        Raises:
            RefusedError: It will not be taken later either.
        """
        ...

    def close(self) -> None:
        """Free what the destination holds."""
        ...


class Forwarder:
    """
    Passes requests on from a queue with bounds; `put` never waits.

    Beyond the bound the oldest requests are dropped, and counted.

    Args:
        destination: Where they go.
        guard: Counts what is lost: `forward_dropped`, `forward_refused`.
        max_bytes: Bytes in memory at most.
        backoff_s: Seconds between attempts, the last one again and again.
    """

    def __init__(
        self,
        destination: Destination,
        guard: Guard | None = None,
        *,
        max_bytes: int = MAX_BYTES,
        backoff_s: Sequence[float] = BACKOFF_S,
    ) -> None:
        self.guard: Final = guard or Guard()
        """Counts what is lost."""
        self._destination = destination
        self._max_bytes = max_bytes
        self.queue: Final[ExportQueue[Message]] = ExportQueue(
            self._send,
            _size_of,
            close=destination.close,
            on_lost=partial(self.guard.record_loss, DROPPED),
            max_bytes=max_bytes,
            batches=BatchPolicy(delay_s=1.0, batch=1),
            backoff_s=backoff_s,
        )
        """The requests that wait."""

    def put(self, message: Message) -> str:
        """Queue a request; return why that is impossible, or nothing."""
        if _size_of(message) > self._max_bytes:
            self.guard.record_loss(DROPPED, 1)
            return f"the request is larger than the {self._max_bytes} bytes that may wait to be passed on"
        self.queue.put(message)
        return ""

    def flush(self, timeout_s: float = 30.0) -> bool:
        """Send all that waits now; return whether it has arrived."""
        return self.queue.flush(timeout_s)

    def close(self) -> None:
        """Send what waits, or drop it within seconds."""
        self.queue.shutdown()

    def _send(self, messages: Sequence[Message]) -> bool:
        for message in messages:
            try:
                if not self._destination.send(message):
                    return False
            except RefusedError:
                self.guard.record_loss(REFUSED, 1)
        return True


class HttpDestination:
    """
    Sends by HTTP, in the encoding in which requests came.

    Args:
        urls: The whole address for each signal.
        headers: Headers for each signal.
        certificate: A file with the authority that the destination's certificate is checked against; the system's
            if empty.
        timeout_s: Seconds that an attempt may take.
    """

    def __init__(
        self,
        urls: Mapping[str, str],
        headers: Mapping[str, Mapping[str, str]] | None = None,
        *,
        certificate: str = "",
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self._urls = urls
        self._headers = headers or {}
        self._timeout_s = timeout_s
        secure = any(url.startswith("https:") for url in urls.values())
        context = ssl.create_default_context(cafile=certificate or None) if secure else None
        handlers = [urllib.request.HTTPSHandler(context=context)] if context is not None else []
        self._opener = urllib.request.build_opener(_NoRedirects, *handlers)

    def send(self, message: Message) -> bool:
        """Send a request; see `Destination.send`."""
        if message.signal not in self._urls:
            return True  # its own variable leads the other signals elsewhere
        headers = {"Content-Type": message.content_type, **self._headers.get(message.signal, {})}
        if message.encoding:
            headers["Content-Encoding"] = message.encoding
        request = urllib.request.Request(  # noqa: S310 - the operator's own address, checked where it is read
            self._urls[message.signal], message.body, headers, method="POST"
        )
        try:
            with self._opener.open(request, timeout=self._timeout_s) as answer:
                answer.read()
        except urllib.error.HTTPError as error:
            error.close()
            if error.code in _RETRYABLE:
                return False
            raise RefusedError(f"status {error.code}") from error
        return True

    def close(self) -> None:
        """Hold nothing."""
        self._opener.close()


class GrpcDestination:
    """
    Sends by gRPC, unpacked and as protobuf.

    Args:
        channels: A channel of grpcio for each signal.
        codec: The compression of grpcio.
        headers: Metadata for each signal.
        timeout_s: Seconds that an attempt may take.
    """

    def __init__(
        self,
        channels: Mapping[str, Any],
        codec: Any,
        headers: Mapping[str, Mapping[str, str]] | None = None,
        *,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self._channels = channels
        self._codec = codec
        self._headers = headers or {}
        self._timeout_s = timeout_s
        self._methods = {signal: channel.unary_unary(SERVICES[signal]) for signal, channel in channels.items()}

    def send(self, message: Message) -> bool:
        """Send a request; see `Destination.send`."""
        if message.signal not in self._methods:
            return True  # as above
        body = unpack(message.body, message.encoding, _UNLIMITED)
        if message.content_type == JSON:
            try:
                body = decode(message.signal, body, JSON, whole=True).SerializeToString()
            except RequestError as error:  # of metrics, which nothing has read yet
                raise RefusedError(str(error)) from error
        metadata = tuple((name.lower(), value) for name, value in self._headers.get(message.signal, {}).items())
        try:
            self._methods[message.signal](body, timeout=self._timeout_s, metadata=metadata, compression=self._codec)
        except Exception as error:
            name = getattr(getattr(error, "code", lambda: None)(), "name", "")
            if not name or name in _RETRYABLE_CODES or (name == _EXHAUSTED and _says_when(error)):
                return False
            raise RefusedError(name) from error
        return True

    def close(self) -> None:
        """Close the channels."""
        for channel in set(self._channels.values()):
            channel.close()


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    # It would follow as GET, without the body, and whatever is there would answer that all is well.
    def redirect_request(self, *_: Any, **__: Any) -> None: ...


def _says_when(error: Any) -> bool:
    # A collector that is busy says when to come again; to one that a request is too large for it always will be.
    return any(_RETRY_INFO in value for _, value in error.trailing_metadata() or () if isinstance(value, bytes))


def find_destination(
    environ: Mapping[str, str] | None = None, *, own: Sequence[tuple[str, int]] = ()
) -> Destination | None:
    """
    Return the destination that the standard variables name; None without one.

    Args:
        environ: The environment; that of the process if None.
        own: Hosts and ports that the receiver listens on.

    Raises:
        ConfigurationError: The address is none, or the receiver's own.
        MissingExtraError: It is one of gRPC, and grpcio is not installed.
    """
    found = otlp.find_addresses(environ)
    if not found:
        return None
    for address in found.values():
        _check(address.url, own)
    if len({address.protocol for address in found.values()}) > 1:
        raise ConfigurationError(
            "OTEL_EXPORTER_OTLP_*_PROTOCOL asks for gRPC and for HTTP; give all signals that are passed on one protocol"
        )
    first = next(iter(found.values()))
    return (_make_grpc if first.protocol == "grpc" else _make_http)(found, first.certificate)


def _check(url: str, own: Sequence[tuple[str, int]]) -> None:
    try:
        parts = urlsplit(url if "//" in url else f"//{url}")
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port, parts = "", None, urlsplit("")
    if not host or parts.scheme not in {"http", "https", ""}:
        raise ConfigurationError(f"{otlp.ENDPOINT}: {url!r} is no address; give one such as http://collector:4318")
    for own_host, own_port in own:
        if port == own_port and (host == own_host or {host, own_host} <= _LOCAL):
            raise ConfigurationError(
                f"{otlp.ENDPOINT}: {url!r} is the receiver's own address, so that it would pass everything on to "
                "itself; give the address of a collector, or the receiver another port"
            )


_LOCAL: Final = frozenset({"127.0.0.1", "localhost", "::1", "0.0.0.0", "::"})  # noqa: S104 - compared, not bound


def _make_http(found: Mapping[str, Address], certificate: str) -> HttpDestination:
    return HttpDestination(
        {signal: address.url for signal, address in found.items()},
        {signal: address.headers for signal, address in found.items()},
        certificate=certificate,
    )


def _make_grpc(found: Mapping[str, Address], certificate: str) -> GrpcDestination:
    try:
        import grpc
    except ModuleNotFoundError as error:
        raise MissingExtraError("to pass telemetry on by gRPC", "otlp") from error
    known: dict[str, Any] = {}
    for address in found.values():
        parts = urlsplit(address.url if "//" in address.url else f"//{address.url}")
        if address.url in known:
            continue
        if parts.scheme == "https":
            root = _read_file(certificate) if certificate else None
            known[address.url] = grpc.secure_channel(parts.netloc, grpc.ssl_channel_credentials(root))
        else:
            known[address.url] = grpc.insecure_channel(parts.netloc)
    return GrpcDestination(
        {signal: known[address.url] for signal, address in found.items()},
        grpc.Compression.Gzip,
        {signal: address.headers for signal, address in found.items()},
    )


def _read_file(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise ConfigurationError(f"OTEL_EXPORTER_OTLP_CERTIFICATE: {path!r} cannot be read: {error}") from error


def _size_of(message: Message) -> int:
    return len(message.body) + _OWN_BYTES
