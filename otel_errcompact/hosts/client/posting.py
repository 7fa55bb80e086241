"""
Report calls to the local service from programs of ours.

Nothing here raises because of the service, or waits for it longer than the caller allows: where it is away, the answer
is None.
"""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from otel_errcompact.config import service_socket

if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping

LIMIT_S: Final = 0.3
"""Seconds that a caller waits for an answer, if it says nothing else."""

_FINE: Final = 200
_DETACHED: Final = Path(__file__).with_name("detached.py")


class Reply(NamedTuple):
    """What the service has answered."""

    status: int
    body: bytes

    def read(self) -> dict[str, Any]:
        """Return the JSON object of the answer; empty if it is none."""
        try:
            found = json.loads(self.body)
        except ValueError:
            return {}
        return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def ask(
    method: str,
    path: str,
    body: bytes = b"",
    *,
    socket_path: Path | None = None,
    limit_s: float = LIMIT_S,
) -> Reply | None:
    """
    Send one request and return the answer; None without one.

    Args:
        method: The method of HTTP.
        path: The path, with its query.
        body: The body, as JSON.
        socket_path: The service's socket; `service_socket()` if None.
        limit_s: Seconds to wait at most, for everything together.
    """
    import socket
    import time

    if not hasattr(socket, "AF_UNIX"):
        return None
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: errcompact\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    ends = time.monotonic() + limit_s
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(limit_s)
            connection.connect(str(socket_path or service_socket()))
            connection.sendall(head.encode("ascii") + body)
            return _read(_receive(connection, ends))
    except (OSError, ValueError):
        return None


def _receive(connection: socket.socket, ends: float) -> bytes:
    import time

    chunks: list[bytes] = []
    while True:
        connection.settimeout(max(ends - time.monotonic(), 0.001))
        chunk = connection.recv(65_536)
        if not chunk:
            return b"".join(chunks)
        chunks.append(chunk)


def _read(answer: bytes) -> Reply | None:
    head, separator, body = answer.partition(b"\r\n\r\n")
    words = head.split(b" ", 2)
    if not separator or len(words) < 2 or not words[1].isdigit():  # noqa: PLR2004 - protocol and status
        return None
    return Reply(int(words[1]), body)


def start(socket_path: Path | None = None) -> None:
    """
    Start the service, detached, unless that was done a moment ago.

    Args:
        socket_path: Its socket; `service_socket()` if None.
    """
    place = str((socket_path or service_socket()).absolute())
    # A program of its own forks: to fork one with threads is not safe.
    command = [sys.executable, "-I", "-S", str(_DETACHED), place]
    nothing = subprocess.DEVNULL
    with suppress(OSError):
        subprocess.run(command, stdin=nothing, stdout=nothing, stderr=nothing, check=False)  # noqa: S603 - our own


def post(
    path: str,
    report: Mapping[str, object],
    *,
    socket_path: Path | None = None,
    limit_s: float = LIMIT_S,
    starts: bool = True,
) -> dict[str, Any] | None:
    """
    Post a report, and start a service that is away.

    Args:
        path: The path, such as `/v1/failures`.
        report: The body; fields that are None or empty are left out, as the service has defaults for them.
        socket_path: The service's socket; `service_socket()` if None.
        limit_s: Seconds to wait at most.
        starts: Whether a service that is away is started.

    Returns:
        The answer; None if the service is away or refuses the report.
    """
    given = {name: value for name, value in report.items() if value not in (None, "")}
    reply = ask("POST", path, json.dumps(given).encode(), socket_path=socket_path, limit_s=limit_s)
    if reply is None and starts:
        start(socket_path)
    return reply.read() if reply is not None and reply.status == _FINE else None


def post_failure(  # noqa: PLR0913 - the fields of a report
    *,
    run: str,
    tool: str,
    text: str,
    arguments: Mapping[str, object] | str = "",
    exit_status: int | None = None,
    turn: str = "",
    call_id: str = "",
    agent: str = "",
    directory: str = "",
    socket_path: Path | None = None,
    limit_s: float = LIMIT_S,
    starts: bool = True,
) -> dict[str, Any] | None:
    """
    Report a call that has failed; return digest, class, counts and verdict.

    Args:
        run: The session; of a sub-agent `session/agent`.
        tool: The tool's name.
        text: The whole output.
        arguments: The call's arguments, or the command line.
        exit_status: The exit status of a command.
        turn: The id of the model's message that asked for the call.
        call_id: The id of the call, which counts once.
        agent: The agent's name.
        directory: The working directory of the call.
        socket_path: The service's socket; `service_socket()` if None.
        limit_s: Seconds to wait at most.
        starts: Whether a service that is away is started.

    Returns:
        The answer; None if the service is away or refuses the report.
    """
    report = {
        "run": run,
        "tool": tool,
        "text": text,
        "arguments": arguments,
        "exit_status": exit_status,
        "turn": turn,
        "call_id": call_id,
        "agent": agent,
        "directory": directory,
    }
    return post("/v1/failures", report, socket_path=socket_path, limit_s=limit_s, starts=starts)


def post_success(  # noqa: PLR0913 - the fields of a report
    *,
    run: str,
    tool: str,
    arguments: Mapping[str, object] | str = "",
    turn: str = "",
    call_id: str = "",
    agent: str = "",
    directory: str = "",
    socket_path: Path | None = None,
    limit_s: float = LIMIT_S,
    starts: bool = True,
) -> dict[str, Any] | None:
    """
    Report a call that has succeeded, which resolves earlier failures.

    Args:
        run: The session; of a sub-agent `session/agent`.
        tool: The tool's name.
        arguments: The call's arguments, or the command line.
        turn: The id of the model's message that asked for the call.
        call_id: The id of the call, which counts once.
        agent: The agent's name.
        directory: The working directory of the call.
        socket_path: The service's socket; `service_socket()` if None.
        limit_s: Seconds to wait at most.
        starts: Whether a service that is away is started.

    Returns:
        The answer; None if the service is away or refuses the report.
    """
    report = {
        "run": run,
        "tool": tool,
        "arguments": arguments,
        "turn": turn,
        "call_id": call_id,
        "agent": agent,
        "directory": directory,
    }
    return post("/v1/successes", report, socket_path=socket_path, limit_s=limit_s, starts=starts)
