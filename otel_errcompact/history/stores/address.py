"""
Find the backend that an address names.

`memory`, `sqlite:///path` (as SQLAlchemy writes it: three slashes for a path from the working directory, four for one
from the root), `redis://`, `rediss://` or `unix://` as redis-py takes them. Behind `?` stand `expire_days`,
`wait_seconds` and, for a server, `namespace`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from otel_errcompact.exceptions import ConfigurationError

if TYPE_CHECKING:
    from urllib.parse import SplitResult

    from otel_errcompact.history.stores.parts import Backend

MEMORY: Final = "memory"

EXPIRE_DAYS: Final = 7.0
WAIT_SECONDS: Final = 5.0
NAMESPACE: Final = "errcompact"

_DAY_S: Final = 86_400
_FILE: Final = "sqlite"
_SERVERS: Final = frozenset({"redis", "rediss", "unix"})


class Address(NamedTuple):
    """An address that can be opened."""

    kind: str
    """`memory`, `sqlite`, or the scheme of a server."""

    place: str = ""
    """The path of the file, or the server's address without what is ours."""

    name: str = ""
    """The server's address without a password, for messages."""

    namespace: str = NAMESPACE
    expire_s: float = EXPIRE_DAYS * _DAY_S
    wait_s: float = WAIT_SECONDS


def read_address(address: str) -> Address:
    """
    Return what an address says.

    Args:
        address: As described above.

    Raises:
        ConfigurationError: It is no such address; the message says what is wrong and what to write.
    """
    if address == MEMORY:
        return Address(MEMORY)
    parts = _split_address(address)
    if parts is None or parts.scheme not in {_FILE, *_SERVERS}:
        raise ConfigurationError("no such store is known; write memory, sqlite:///path or redis://host:port/0")
    asked = dict(parse_qsl(parts.query, keep_blank_values=True))
    expire_s = _take_number(asked, "expire_days", EXPIRE_DAYS) * _DAY_S
    wait_s = _take_number(asked, "wait_seconds", WAIT_SECONDS)
    if parts.scheme == _FILE:
        path = unquote(parts.path.removeprefix("/"))
        if parts.netloc or not path:
            raise ConfigurationError("it names no file; write sqlite:///path, or sqlite:////path from the root")
        if asked:
            unknown = ", ".join(sorted(asked))
            raise ConfigurationError(f"a file has no option {unknown}; behind ? write expire_days or wait_seconds")
        return Address(_FILE, path, expire_s=expire_s, wait_s=wait_s)
    if not (parts.path.strip("/") if parts.scheme == "unix" else parts.netloc):
        raise ConfigurationError("it names no server; write redis://host:port/0, or unix:///path of a socket")
    namespace = quote(asked.pop("namespace", NAMESPACE))
    plain = address.partition("?")[0]
    url = f"{plain}?{urlencode(asked)}" if asked else plain
    shown = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
    return Address(parts.scheme, url, shown, namespace, expire_s, wait_s)


def open_backend(address: str) -> Backend | None:
    """
    Return the backend of an address; None for memory.

    It connects at its first use.

    Args:
        address: As described above.

    Raises:
        ConfigurationError: It is no such address.
    """
    try:
        read = read_address(address)
    except ConfigurationError as error:
        from otel_errcompact.redaction.redact import redact

        raise ConfigurationError(f"store={redact(address)!r}: {error}") from error
    if read.kind == MEMORY:
        return None
    if read.kind == _FILE:
        from otel_errcompact.history.stores.sqlite import SqliteBackend

        path = Path(read.place).expanduser().absolute()
        return SqliteBackend(path, expire_s=read.expire_s, wait_s=read.wait_s)
    from otel_errcompact.history.stores.redis import RedisBackend

    return RedisBackend(
        read.place, name=read.name, namespace=read.namespace, expire_s=read.expire_s, wait_s=read.wait_s
    )


def _split_address(address: str) -> SplitResult | None:
    try:
        parts = urlsplit(address)
        _ = parts.port  # which raises where it is no number
    except ValueError:
        return None
    return parts


def _take_number(asked: dict[str, str], name: str, default: float) -> float:
    text = asked.pop(name, None)
    try:
        number = default if text is None else float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise ConfigurationError(f"{name}={text!r} is no number above 0; write one, such as {name}={default:g}")
    return number
