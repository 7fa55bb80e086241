"""
Ask the local service about a command, if there is one.

`hosts.client.posting` does the same for programs that may take the time to read all options.
"""

from __future__ import annotations

import os
import time

from otel_errcompact.hosts.client.hook import find_socket as find_service

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from socket import socket
    from typing import Any, Final

LIMIT_S: Final = 0.3
"""How long an answer may take, if its caller says nothing else."""

READING_S: Final = 1.5
_SENDING_S: Final = 0.05
_MEGABYTE: Final = 1024 * 1024
_MAX_ANSWER: Final = 4 * _MEGABYTE
_OK: Final = 200
REPORTED: Final = {"stoppable": False}
"""What each report says: no command is refused here, and no agent stopped."""

UNREAD: Final = "Prefer: return=minimal\r\n"
"""Says that nobody reads the answer, so that the service keeps for the next one what the agent has to read."""


def find_socket(environ: Mapping[str, str]) -> str:
    """
    Return the path of the service's socket.

    Args:
        environ: The environment.

    Returns:
        The path; empty if there is no such socket of this user.
    """
    try:
        path = find_service({os.fsencode(name): os.fsencode(text) for name, text in environ.items()})
        is_ours = os.stat(path).st_uid == os.geteuid()  # noqa: PTH116 - pathlib costs more than all of this
    except (OSError, ValueError, KeyError):
        return ""
    return os.fsdecode(path) if is_ours else ""


def ask(path: str, target: str, body: bytes, *, limit_s: float = LIMIT_S) -> Mapping[str, Any] | None:
    """
    Send a request and return its answer.

    Args:
        path: The socket.
        target: The request's path.
        body: JSON.
        limit_s: How many seconds the answer may take; of a megabyte `READING_S` more.

    Returns:
        The answer; None if there is none in time, or no good one.
    """
    ends = time.monotonic() + limit_s + READING_S * len(body) / _MEGABYTE
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
            connection.sendall(_write_request(target, body, UNREAD))
        except OSError:
            pass
        finally:
            connection.close()


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


def _write_request(target: str, body: bytes, header: str = "") -> bytes:
    head = (
        f"POST {target} HTTP/1.1\r\nHost: errcompact\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n{header}Connection: close\r\n\r\n"
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
