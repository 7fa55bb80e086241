"""A client's JSON file, wrapped and unwrapped as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact.runtime.records import dataclass
from otel_errcompact_hosts.json_text import JsonText
from otel_errcompact_hosts.mcp_proxy.configs.servers import (
    ADDRESS_KEYS,
    GROUP,
    PROGRAM,
    CannotWrapError,
    is_ours,
    is_wrapped,
    members_of,
    unwrap_server,
    wrap_server,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from otel_errcompact_hosts.json_text import Node, Path

UNKNOWN: Final = (
    "names no MCP server; known are 'mcpServers' (Claude, Cursor, Gemini), 'servers' (VS Code) and 'mcp' (OpenCode)"
)
_TOML: Final = "is TOML, which is not rewritten; for Codex: codex mcp add NAME -- errcompact mcp -- COMMAND"
_GROUPS: Final[tuple[Path, ...]] = (("mcpServers",), ("servers",), ("mcp",), ("mcp", "servers"))
"""Where files hold their servers; the last two are OpenCode's, and the settings of VS Code."""


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
        name: Its name.
        only: The servers; all of them if there is none.
        program: How the client starts the proxy.

    Raises:
        ConfigurationError: The file cannot be read, holds no server, or not one of those.
    """
    if not is_ours(program, [GROUP]):
        raise ConfigurationError(f"mcp wrap: '{program}' is not called {PROGRAM}, so that unwrap would not know it")

    def wrap(file: JsonText, path: Path) -> JsonText:
        entry = _find_entry(file, path)
        if is_wrapped(entry):
            return file
        takes_addresses = path[0] != "mcp" or path[1] == "servers"
        wrapped = file.edit(wrap_server(file.text, entry, program, takes_addresses=takes_addresses))
        if not is_wrapped(_find_entry(wrapped, path)) or _unwrap_path(wrapped, path).text != file.text:
            raise CannotWrapError("it is written in a way that could not be restored byte for byte")
        return wrapped

    return _change_servers(text, name, only, wrap)


def unwrap_servers(text: str, name: str, *, only: Iterable[str] = ()) -> Changed:
    """Take the proxy away from the servers of a file."""
    return _change_servers(text, name, only, _unwrap_path)


def _unwrap_path(file: JsonText, path: Path) -> JsonText:
    entry = _find_entry(file, path)
    return file.edit(unwrap_server(file.text, entry)) if is_wrapped(entry) else file


def _change_servers(text: str, name: str, only: Iterable[str], step: Callable[[JsonText, Path], JsonText]) -> Changed:
    if name.endswith(".toml"):
        raise ConfigurationError(f"{name} {_TOML}")
    file = JsonText(text, name)
    paths, chosen = list(_list_servers(file)), list(only)
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


def _list_servers(file: JsonText) -> Iterator[Path]:
    projects = file.find(("projects",))
    of_projects = (("projects", each.key, "mcpServers") for each in (projects.members if projects is not None else ()))
    for group in (*_GROUPS, *of_projects):
        node = file.find(group)
        if node is None or not isinstance(node.value, dict):
            continue
        for member in node.members:
            if members_of(member.node).keys() & {"command", *ADDRESS_KEYS, "serverUrl"}:
                yield (*group, member.key)


def _find_entry(file: JsonText, path: Path) -> Node:
    entry = file.find(path)
    if entry is None:
        raise LookupError(path)
    return entry
