"""`errcompact mcp`: the proxy between a client of MCP and a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.exceptions import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Sequence

TRANSPORTS: Final = ("http", "sse", "streamable-http", "streamableHttp")
"""The last two are what clients call the first."""


def serve(command: Sequence[str], *, url: str = "", transport: str = "", headers: Sequence[str] = ()) -> int:
    """
    Stand between the client at standard input and output and a server.

    Returns:
        The exit status.

    Raises:
        ConfigurationError: Neither a command nor an address is given, or both.
    """
    from otel_errcompact_hosts.mcp_proxy.serving import read_headers, serve_command, serve_url

    if bool(command) == bool(url):
        raise ConfigurationError("mcp: give the server's command behind '--', or its address with --url; not both")
    if transport and transport not in TRANSPORTS:
        raise ConfigurationError(f"mcp: --transport '{transport}' is not known; it is http or sse")
    if command:
        return serve_command(command)
    return serve_url(url, transport=transport, headers={**read_headers(), **dict(map(_split_header, headers))})


def _split_header(header: str) -> tuple[str, str]:
    name, colon, value = header.partition(":")
    if not colon or not name.strip():
        raise ConfigurationError(f"mcp: --header '{name}' is no header; write it as 'NAME: VALUE'")
    return name.strip(), value.strip()
