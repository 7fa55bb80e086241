"""
Ask the local service, with hardly anything imported.

A short command pays for it: neither `typing` nor `json` is loaded before there is an answer.
"""

from __future__ import annotations

import os
import time

from otel_errcompact_hosts.client import hook
from otel_errcompact_hosts.client.hook import LIMIT_S

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from socket import socket
    from typing import Any, Final

_SENDING_S: Final = 0.05
_CHUNK: Final = 1024 * 1024
_UNREAD: Final = "Prefer: return=minimal\r\n"
"""Says that nobody reads the answer, so that the service keeps for the next one what the agent has to read."""


class Reply:
    """What the service has answered: the status of HTTP, and the body."""

    __slots__ = ("body", "status")

    def __init__(self, status: int, body: bytes) -> None:
        self.status = status
        self.body = body

    def read(self) -> dict[str, Any]:
        """Return the JSON object of the answer; empty if it is none."""
        import json
        from typing import cast

        try:
            found = json.loads(self.body)
        except ValueError:
            return {}
        return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def find_socket(environ: Mapping[str, str]) -> str:
    """Return the path of this user's socket; empty without one."""
    try:
        path = hook.find_socket({os.fsencode(name): os.fsencode(text) for name, text in environ.items()})
        is_ours = os.stat(path).st_uid == os.geteuid()  # noqa: PTH116 - pathlib costs more than all of this
    except (OSError, ValueError, KeyError):
        return ""
    return os.fsdecode(path) if is_ours else ""


def ask_service(
    path: str, target: str, body: bytes = b"", *, method: str = "POST", limit_s: float = LIMIT_S
) -> Reply | None:
    """
    Send a request and return its answer; None without one in time.

    Args:
        path: The socket.
        target: The request's path, with its query.
        body: JSON.
        method: The method of HTTP.
        limit_s: Seconds to wait at most, for everything together.
    """
    ends = time.monotonic() + limit_s
    connection = _connect_socket(path, ends)
    if connection is None:
        return None
    try:
        connection.sendall(hook.write_request(method, target, body))
        return _read_reply(connection, ends)
    except (OSError, ValueError):
        return None
    finally:
        connection.close()


def send_request(path: str, target: str, body: bytes) -> None:
    """Post a request and wait for nothing."""
    connection = _connect_socket(path, time.monotonic() + _SENDING_S)
    if connection is not None:
        try:
            connection.sendall(hook.write_request("POST", target, body, _UNREAD))
        except OSError:
            pass
        finally:
            connection.close()


def _connect_socket(path: str, ends: float) -> socket | None:
    import _socket

    if not hasattr(_socket, "AF_UNIX"):
        return None
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        _limit_wait(connection, ends)
        connection.connect(path)
    except (OSError, ValueError):
        connection.close()
        return None
    return connection  # type: ignore[return-value] # the class that `socket` adds methods to


def _limit_wait(connection: Any, ends: float) -> None:
    connection.settimeout(max(0.001, ends - time.monotonic()))


def _read_reply(connection: socket, ends: float) -> Reply | None:
    received = bytearray()
    while True:
        _limit_wait(connection, ends)
        data = connection.recv(_CHUNK)
        if not data:
            break
        received += data
    head, separator, body = bytes(received).partition(b"\r\n\r\n")
    status = head.split(b" ", 2)[1:2]
    return Reply(int(status[0]), body) if separator and status else None
