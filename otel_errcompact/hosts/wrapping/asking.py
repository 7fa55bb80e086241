"""Ask the local service about a command, if there is one."""

from __future__ import annotations

import os
import time

from otel_errcompact.hosts.wrapping.raw_files import find_state_home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from socket import socket
    from typing import Any, Final

SOCKET_VARIABLE: Final = "OTEL_ERRCOMPACT_SERVICE"
LIMIT_S: Final = 0.3
"""How long an answer may take; a megabyte has `READING_S` more."""

READING_S: Final = 1.5
_SENDING_S: Final = 0.05
_MEGABYTE: Final = 1024 * 1024
_MAX_ANSWER: Final = 4 * _MEGABYTE
_OK: Final = 200


def find_socket(environ: Mapping[str, str]) -> str:
    """
    Return the path of the service's socket.

    Args:
        environ: The environment.

    Returns:
        The path; empty if there is no such socket of this user.
    """
    path = environ.get(SOCKET_VARIABLE, "") or _find_usual(environ)
    try:
        is_ours = os.stat(path).st_uid == os.geteuid()  # noqa: PTH116 - pathlib costs more than all of this
    except (OSError, ValueError):
        return ""
    return path if is_ours else ""


def ask(path: str, target: str, body: bytes) -> Mapping[str, Any] | None:
    """
    Send a request and return its answer.

    Args:
        path: The socket.
        target: The request's path.
        body: JSON.

    Returns:
        The answer; None if there is none in time, or no good one.
    """
    ends = time.monotonic() + LIMIT_S + READING_S * len(body) / _MEGABYTE
    connection = _connect(path, ends)
    if connection is None:
        return None
    try:
        connection.sendall(_write_request(target, body))
        return _read_answer(connection, ends)
    except (OSError, ValueError):
        return None
    finally:
        connection.close()


def send(path: str, target: str, body: bytes) -> None:
    """
    Send a request and wait for nothing.

    Args:
        path: The socket.
        target: The request's path.
        body: JSON.
    """
    connection = _connect(path, time.monotonic() + _SENDING_S)
    if connection is not None:
        try:
            connection.sendall(_write_request(target, body))
        except OSError:
            pass
        finally:
            connection.close()


def _find_usual(environ: Mapping[str, str]) -> str:
    runtime = environ.get("XDG_RUNTIME_DIR", "")
    if runtime.startswith("/"):
        try:
            if os.stat(runtime).st_uid == os.getuid():  # noqa: PTH116 - as above
                return f"{runtime}/errcompact/errcompact.sock"
        except OSError:
            pass
    state = find_state_home(environ)
    return f"{state}/otel-errcompact/service/errcompact.sock" if state else ""


def _connect(path: str, ends: float) -> socket | None:
    import _socket

    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.settimeout(max(0.001, ends - time.monotonic()))
        connection.connect(path)
    except (OSError, ValueError):
        connection.close()
        return None
    return connection  # type: ignore[return-value] # the class that `socket` adds methods to


def _write_request(target: str, body: bytes) -> bytes:
    head = (
        f"POST {target} HTTP/1.1\r\nHost: errcompact\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body


def _read_answer(connection: socket, ends: float) -> Mapping[str, Any] | None:
    import json
    from typing import cast

    received = bytearray()
    while len(received) < _MAX_ANSWER:
        connection.settimeout(max(0.001, ends - time.monotonic()))
        data = connection.recv(_MEGABYTE)
        if not data:
            break
        received += data
    head, _, text = bytes(received).partition(b"\r\n\r\n")
    if head.split(b" ", 2)[1:2] != [str(_OK).encode()]:
        return None
    answer: Any = json.loads(text)
    return cast("dict[str, Any]", answer) if isinstance(answer, dict) else None
