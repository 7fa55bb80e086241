"""One client, one server, and a ledger of their own."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from otel_errcompact.exceptions import ConfigurationError, MissingExtraError
from otel_errcompact_hosts.mcp_proxy.configs.servers import HEADER
from otel_errcompact_hosts.mcp_proxy.relay import Relay
from otel_errcompact_hosts.mcp_proxy.standard_streams import StandardStreams

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from otel_errcompact_hosts.mcp_proxy.relay import Server
    from otel_errcompact_hosts.mcp_proxy.tool_calls import ToolCalls

_SIGNALS: Final = ("SIGTERM", "SIGINT", "SIGHUP")
_BY_SIGNAL: Final = 128
_NAME: Final = "errcompact-mcp"


def serve_command(command: Sequence[str]) -> int:
    """
    Stand between standard streams and a server that is a program.

    Returns:
        The exit status: 0, or 128 and the number of the signal that ended it.

    Raises:
        ConfigurationError: There is no such program, or it cannot be started.
    """
    import shutil

    from otel_errcompact_hosts.mcp_proxy.process import start_process

    if shutil.which(command[0]) is None:
        raise ConfigurationError(
            f"mcp: no program '{command[0]}' is found; give the server's command as its own client would start it"
        )
    return asyncio.run(_serve_client(partial(start_process, command), command[0]))


def serve_url(url: str, *, transport: str = "", headers: Mapping[str, str] | None = None) -> int:
    """
    Stand between standard input and output and a server on the net.

    Args:
        url: The server's address.
        transport: `sse` for the older form of MCP over HTTP; by default the address decides.
        headers: What every request carries.

    Returns:
        The exit status: 0, or 128 and the number of the signal that ended it.

    Raises:
        ConfigurationError: The address is none.
        MissingExtraError: The extra is missing.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ConfigurationError(f"mcp: '{url}' is no address; it begins with http:// or https:// and names a host")
    try:
        from otel_errcompact_hosts.mcp_proxy.net import connect
    except ModuleNotFoundError as error:
        raise MissingExtraError("a server on the net", "mcp") from error
    return asyncio.run(_serve_client(partial(connect, url, transport=transport, headers=headers or {}), parts.hostname))


def read_headers(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the headers that variables hold, `ERRCOMPACT_HEADER_NAME=VALUE`."""
    environ = os.environ if environ is None else environ
    return {name.removeprefix(HEADER): value for name, value in environ.items() if name.startswith(HEADER)}


async def _serve_client(start: Callable[[], Awaitable[Server]], name: str) -> int:
    stop, caught = asyncio.Event(), list[int]()
    _watch_signals(stop, caught)
    try:
        server = await start()
    except OSError as error:
        raise ConfigurationError(f"mcp: '{name}' cannot be started: {error.strerror or error}") from error
    making: list[asyncio.Future[ToolCalls]] = []

    def make() -> asyncio.Future[ToolCalls]:
        if not making:
            making.append(asyncio.ensure_future(asyncio.to_thread(_make_calls)))
            making[0].add_done_callback(lambda done: stop.set() if done.cancelled() or done.exception() else None)
        return making[0]

    await Relay(StandardStreams(stop), start, make).run(server, stop)
    for calls in making:
        (await calls).end()
    return _BY_SIGNAL + caught[0] if caught else 0


def _watch_signals(stop: asyncio.Event, caught: list[int]) -> None:
    loop = asyncio.get_running_loop()

    def end(number: int) -> None:
        caught.append(number)
        stop.set()

    for name in _SIGNALS:
        if (number := getattr(signal, name, None)) is not None:
            with suppress(NotImplementedError, ValueError):  # on Windows, and in a thread
                loop.add_signal_handler(number, end, number)


def _make_calls() -> ToolCalls:
    from otel_errcompact.boundary import RunRegistry
    from otel_errcompact.config import state_folder
    from otel_errcompact.installation.install import install
    from otel_errcompact_context.memory.archive import FolderArchive
    from otel_errcompact_hosts.mcp_proxy.tool_calls import ToolCalls

    installation = install(service_name=_NAME)
    options = installation.ledger.options
    archive = FolderArchive(
        options.context.folder or state_folder(),
        max_bytes=options.context.folder_max_bytes,
        max_days=options.context.folder_max_days,
        redacts=options.context.folder_redact,
    )
    return ToolCalls(RunRegistry(stoppable=False, ledger=installation.ledger), archive)
