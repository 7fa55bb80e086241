"""
Find the backend that an address names.

`memory`, `sqlite:///path` (as SQLAlchemy writes it: three slashes for a path from the working directory, four for one
from the root), `redis://`, `rediss://` or `unix://` as redis-py takes them. Behind `?` stand `expire_days`,
`wait_seconds` and, for a server, `namespace`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from otel_errcompact.exceptions import ConfigurationError

if TYPE_CHECKING:
    from otel_errcompact.history.stores.parts import Backend

MEMORY: Final = "memory"
PATTERN: Final = r"^(memory|sqlite:///.+|(rediss?|unix)://.+)$"
"""What an address looks like."""

EXPIRE_DAYS: Final = 7.0
WAIT_SECONDS: Final = 5.0
NAMESPACE: Final = "errcompact"

_DAY_S: Final = 86_400


def open_backend(address: str) -> Backend | None:
    """
    Return the backend of an address; None for memory.

    It connects at its first use.

    Args:
        address: As described above.

    Raises:
        ConfigurationError: It is no such address.
    """
    if address == MEMORY:
        return None
    parts = urlsplit(address)
    asked = dict(parse_qsl(parts.query))
    expire_s = _read_number(address, asked, "expire_days", EXPIRE_DAYS) * _DAY_S
    wait_s = _read_number(address, asked, "wait_seconds", WAIT_SECONDS)
    if parts.scheme == "sqlite":
        path = unquote(parts.path.removeprefix("/"))
        if parts.netloc or not path or asked:
            raise ConfigurationError(f"store={address!r} is no address of a file; give it as sqlite:///path")
        from otel_errcompact.history.stores.sqlite import SqliteBackend

        return SqliteBackend(Path(path).expanduser().absolute(), expire_s=expire_s, wait_s=wait_s)
    if parts.scheme not in {"redis", "rediss", "unix"}:
        raise ConfigurationError(f"store={address!r} is unknown; give memory, sqlite:///path or redis://host:port/0")
    namespace = asked.pop("namespace", NAMESPACE)
    from otel_errcompact.history.stores.redis import RedisBackend

    url = parts._replace(query=urlencode(asked)).geturl()
    shown = parts._replace(netloc=parts.netloc.rpartition("@")[2], query="").geturl()
    return RedisBackend(url, name=shown, namespace=quote(namespace), expire_s=expire_s, wait_s=wait_s)


def _read_number(address: str, asked: dict[str, str], name: str, default: float) -> float:
    text = asked.pop(name, "")
    try:
        number = float(text or default)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise ConfigurationError(f"store={address!r}: {name}={text!r} is no number above 0")
    return number
