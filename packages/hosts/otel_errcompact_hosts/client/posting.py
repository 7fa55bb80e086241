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
from typing import TYPE_CHECKING, Any, Final

from otel_errcompact.config import service_socket
from otel_errcompact_hosts.client import asking
from otel_errcompact_hosts.client.asking import Reply
from otel_errcompact_hosts.client.hook import LIMIT_S

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["LIMIT_S", "Reply", "ask", "post", "start"]

_FINE: Final = 200
_DETACHED: Final = Path(__file__).with_name("detached.py")


def ask(
    method: str, path: str, body: bytes = b"", *, socket_path: Path | None = None, limit_s: float = LIMIT_S
) -> Reply | None:
    """Send one request and return the answer; None without one in time."""
    return asking.ask_service(str(socket_path or service_socket()), path, body, method=method, limit_s=limit_s)


def start(socket_path: Path | None = None) -> None:
    """Start the service, detached, unless that was done a moment ago."""
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
        report: The body, as the OpenAPI document of the service describes it.
        socket_path: The service's socket; `service_socket()` if None.
        limit_s: Seconds to wait at most.
        starts: Whether a service that is away is started.

    Returns:
        The answer; None if the service is away or refuses the report.
    """
    reply = ask("POST", path, json.dumps(report).encode(), socket_path=socket_path, limit_s=limit_s)
    if reply is None and starts:
        start(socket_path)
    return reply.read() if reply is not None and reply.status == _FINE else None
