"""Open sockets, and read the token of a port."""

from __future__ import annotations

import ipaddress
import logging
import os
import secrets
import socket
import stat
from typing import TYPE_CHECKING, Final

from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact.otel import semconv

if TYPE_CHECKING:
    from pathlib import Path

_logger: Final = logging.getLogger(semconv.SCOPE)

LOOPBACK: Final = "127.0.0.1"
"""By number: the name may lead to another address first."""

_TOKEN_BYTES: Final = 32
_MIN_TOKEN: Final = 16
_BACKLOG: Final = 512


def bind_path(path: Path) -> socket.socket:
    """Return a listening socket that only its user can reach."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        listener.bind(str(path))
    finally:
        os.umask(before)
    listener.listen(_BACKLOG)
    return listener


def bind_port(port: int, host: str = LOOPBACK, *, hint: str = "name another one with --port") -> socket.socket:
    """
    Return a listening socket on an address of this machine.

    Raises:
        ConfigurationError: It cannot be listened on; `hint` says what to do.
    """
    # Only of a socket that names its protocol does asyncio send small answers at once, 40 ms earlier.
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise ConfigurationError(f"port {port} of {host} cannot be taken: {error.strerror or error}; {hint}") from error
    listener.listen(_BACKLOG)
    return listener


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def bind_agreed_port(path: Path) -> socket.socket | None:
    """Return a socket on the port that a file names, if any."""
    try:
        return bind_port(int(path.read_text(encoding="ascii")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, OverflowError, ConfigurationError) as error:
        # The hosts that use the other socket are served all the same.
        _logger.warning("no port: %s", error)
        return None


def make_token() -> str:
    """Return a new token."""
    return secrets.token_urlsafe(_TOKEN_BYTES)


def read_token(path: Path, new: str = "") -> str:
    """
    Return the token in a file, a new one if needed.

    Raises:
        ConfigurationError: The file can be read by others, is another user's, or holds no token.
    """
    try:
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        return _check_token(path)
    except OSError as error:
        problem = f"the token cannot be written: {error}; name its file in OTEL_ERRCOMPACT_SERVICE_TOKEN"
        raise ConfigurationError(problem) from error
    token = new or make_token()
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(f"{token}\n")
    return token


def _check_token(path: Path) -> str:
    found = path.stat()
    if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077:
        raise ConfigurationError(f"other users can read the token in {path}: remove the file, and a new one is made")
    token = path.read_text(encoding="utf-8", errors="replace").strip()
    if len(token) < _MIN_TOKEN or not token.isascii() or not token.isprintable():
        raise ConfigurationError(
            f"{path} holds no token of {_MIN_TOKEN} or more characters: remove the file, and a new one is made"
        )
    return token
