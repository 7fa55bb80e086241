"""A client's file, wrapped and unwrapped as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact.hosts.mcp_proxy.configs.addresses import CannotWrapError
from otel_errcompact.hosts.mcp_proxy.configs.commands import PROGRAM, is_ours
from otel_errcompact.hosts.mcp_proxy.configs.json_file import JsonFile
from otel_errcompact.hosts.mcp_proxy.configs.toml_file import TomlFile
from otel_errcompact.runtime.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable

    from otel_errcompact.hosts.json_text import Path

UNKNOWN: Final = (
    "names no MCP server; known are 'mcpServers' (Claude, Cursor, Gemini), 'servers' (VS Code), 'mcp' (OpenCode) and "
    "'[mcp_servers.NAME]' (Codex)"
)


class ServerFile(Protocol):
    """The servers in a file."""

    @property
    def text(self) -> str:
        """Its text."""
        ...

    def list_servers(self) -> list[Path]:
        """Return where the servers are."""
        ...

    def is_wrapped(self, path: Path) -> bool:
        """Return whether the proxy stands before a server."""
        ...

    def wrap(self, path: Path, program: str) -> ServerFile:
        """Return the file with the proxy before a server."""
        ...

    def unwrap(self, path: Path) -> ServerFile:
        """Return the file without it."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """What became of a file."""

    text: str
    changed: tuple[str, ...]
    """The servers that were changed."""

    left: tuple[tuple[str, str], ...]
    """Servers that stay as they are, each with the reason."""


def wrap_servers(text: str, name: str, *, only: Iterable[str] = (), program: str = PROGRAM) -> Changed:
    """
    Put the proxy before the servers of a file.

    Args:
        text: The text of the file.
        name: Its name, which decides between TOML and JSON.
        only: The servers; all of them if there is none.
        program: How the client starts the proxy.

    Raises:
        ConfigurationError: The file cannot be read, holds no server, or not one of those.
    """
    if not is_ours(program, ["mcp"]):
        raise ConfigurationError(f"mcp wrap: '{program}' is not called {PROGRAM}, so that unwrap would not know it")

    def wrap(file: ServerFile, path: Path) -> ServerFile:
        if file.is_wrapped(path):
            return file
        wrapped = file.wrap(path, program)
        if not wrapped.is_wrapped(path) or wrapped.unwrap(path).text != file.text:
            raise CannotWrapError("it is written in a way that could not be restored byte for byte")
        return wrapped

    return _change(text, name, only, wrap)


def unwrap_servers(text: str, name: str, *, only: Iterable[str] = ()) -> Changed:
    """
    Take the proxy away from the servers of a file.

    Args:
        text: The text of the file.
        name: Its name, which decides between TOML and JSON.
        only: The servers; all of them if there is none.

    Raises:
        ConfigurationError: The file cannot be read, holds no server, or not one of those.
    """

    def unwrap(file: ServerFile, path: Path) -> ServerFile:
        return file.unwrap(path) if file.is_wrapped(path) else file

    return _change(text, name, only, unwrap)


class _Step(Protocol):
    def __call__(self, file: ServerFile, path: Path, /) -> ServerFile: ...


def _change(text: str, name: str, only: Iterable[str], step: _Step) -> Changed:
    file: ServerFile = TomlFile(text, name) if name.endswith(".toml") else JsonFile(text, name)
    paths, chosen = file.list_servers(), list(only)
    if not paths:
        raise ConfigurationError(f"{name} {UNKNOWN}")
    known = {str(path[-1]) for path in paths}
    if unknown := [server for server in chosen if server not in known]:
        raise ConfigurationError(f"{name} names no server '{unknown[0]}'; it names {', '.join(sorted(known))}")
    changed: list[str] = []
    left: list[tuple[str, str]] = []
    for path in paths:
        server = str(path[-1])
        if chosen and server not in chosen:
            continue
        try:
            after = step(file, path)
        except CannotWrapError as error:
            left.append((server, str(error)))
            continue
        if after is not file:
            changed.append(server)
        file = after
    return Changed(text=file.text, changed=tuple(changed), left=tuple(left))
