"""Servers in JSON: Claude, Cursor, Gemini, VS Code, OpenCode."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from otel_errcompact.hosts.json_text import JsonText
from otel_errcompact.hosts.mcp_proxy.configs.addresses import (
    ADDRESS_KEYS,
    CannotWrapError,
    unwrap_address,
    wrap_address,
)
from otel_errcompact.hosts.mcp_proxy.configs.commands import (
    SEPARATOR,
    ListSpan,
    Span,
    are_made,
    is_ours,
    made_arguments,
    unwrap_command,
    unwrap_list,
    wrap_command,
    wrap_list,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from otel_errcompact.hosts.json_text import Edit, Node, Path

_GROUPS: Final[tuple[Path, ...]] = (("mcpServers",), ("servers",), ("mcp",), ("mcp", "servers"))
"""Where files hold their servers; the last two are OpenCode's, and the settings of VS Code."""


class JsonFile:
    """
    The servers in a JSON file.

    Args:
        text: Its text.
        name: What errors call it.
    """

    def __init__(self, text: str, name: str) -> None:
        self._json = JsonText(text, name)
        self._name = name

    @property
    def text(self) -> str:
        """The text as it is."""
        return self._json.text

    def list_servers(self) -> list[Path]:
        """Return where the servers are."""
        return [path for group in self._groups() for path in self._servers_in(group)]

    def is_wrapped(self, path: Path) -> bool:
        """Return whether the proxy stands before a server."""
        entry = self._entry(path)
        command = _member(entry, "command")
        if command is None:
            return False
        if isinstance(command.value, list):
            first, *rest = [*_values(command), "", ""]
            return is_ours(first, rest)
        return is_ours(command.value, _values(arguments) if (arguments := _member(entry, "args")) else [])

    def wrap(self, path: Path, program: str) -> JsonFile:
        """
        Return the file with the proxy before a server.

        Args:
            path: Where the server is.
            program: How the client starts the proxy.

        Raises:
            CannotWrapError: Something of it would be lost.
        """
        entry, text = self._entry(path), self.text
        command, arguments = _member(entry, "command"), _member(entry, "args")
        if command is None:
            if path[0] == "mcp" and path[1] != "servers":
                raise CannotWrapError("a server on the net cannot become a local one there")
            return self._edit(wrap_address(text, entry, program, self._gap(entry)))
        if any(_member(entry, key) is not None for key in ADDRESS_KEYS):
            raise CannotWrapError("it has a command and an address")
        if isinstance(command.value, list):
            if not command.members:
                raise CannotWrapError("its command is empty")
            return self._edit(wrap_list(text, _list_span(command), program))
        if not isinstance(command.value, str):
            raise CannotWrapError("its command is no text")
        if arguments is None:
            made = made_arguments(text, _span(command))
            ours = json.dumps(program, ensure_ascii=False)
            return self._edit([(command.start, command.end, f'{ours},{self._gap(entry)}"args": {made}')])
        if not isinstance(arguments.value, list):
            raise CannotWrapError("its arguments are no list")
        return self._edit(wrap_command(text, _span(command), _list_span(arguments), program))

    def unwrap(self, path: Path) -> JsonFile:
        """
        Return the file without the proxy before a server.

        Args:
            path: Where the server is.

        Raises:
            CannotWrapError: It is written in another way than `wrap` writes it.
        """
        entry, text = self._entry(path), self.text
        command, arguments = _member(entry, "command"), _member(entry, "args")
        edits: list[Edit] | None = None
        if command is not None and isinstance(command.value, list):
            edits = unwrap_list(_list_span(command))
        elif command is not None and arguments is not None and "--url" in _before_separator(_values(arguments)):
            edits = unwrap_address(text, entry)
        elif command is not None and arguments is not None:
            spans = _list_span(arguments)
            if are_made(text, spans) and text[command.end : arguments.start].count('"args"') == 1:
                original = spans.items[-1]
                edits = [(command.start, arguments.end, text[original.start : original.end])]
            else:
                edits = unwrap_command(text, _span(command), spans)
        if edits is None:
            raise CannotWrapError("it was changed by hand; take 'errcompact mcp' out of its command")
        return self._edit(edits)

    def _edit(self, edits: list[Edit]) -> JsonFile:
        return JsonFile(self._json.edit(edits).text, self._name)

    def _groups(self) -> Iterator[Path]:
        yield from _GROUPS
        projects = self._json.find(("projects",))
        for project in projects.members if projects is not None else ():
            yield ("projects", project.key, "mcpServers")

    def _servers_in(self, group: Path) -> Iterator[Path]:
        node = self._json.find(group)
        if node is None or not isinstance(node.value, dict):
            return
        for member in node.members:
            if any(_member(member.node, key) is not None for key in ("command", *ADDRESS_KEYS, "serverUrl")):
                yield (*group, member.key)

    def _entry(self, path: Path) -> Node:
        entry = self._json.find(path)
        if entry is None:
            raise LookupError(path)
        return entry

    def _gap(self, entry: Node) -> str:
        first = entry.members[0]
        before = self.text[entry.start + 1 : first.start]
        return before if "\n" in before and not before.strip() else " "


def _member(entry: Node, key: str) -> Node | None:
    found = [member.node for member in entry.members if member.key == key]
    return found[-1] if found else None


def _values(node: Node) -> list[object]:
    return [member.node.value for member in node.members]


def _before_separator(values: list[object]) -> list[object]:
    return values[: values.index(SEPARATOR)] if SEPARATOR in values else values


def _span(node: Node) -> Span:
    return Span(start=node.start, end=node.end, value=node.value)


def _list_span(node: Node) -> ListSpan:
    return ListSpan(start=node.start, end=node.end, items=tuple(_span(member.node) for member in node.members))
