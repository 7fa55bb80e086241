"""Servers in TOML: Codex."""

from __future__ import annotations

import json
import re
import tomllib
from typing import TYPE_CHECKING, Final, cast

from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact.hosts.json_text import apply_edits
from otel_errcompact.hosts.mcp_proxy.configs.addresses import CannotWrapError
from otel_errcompact.hosts.mcp_proxy.configs.commands import (
    ListSpan,
    Span,
    are_made,
    is_ours,
    made_arguments,
    unwrap_command,
    wrap_command,
)
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from otel_errcompact.hosts.json_text import Edit, Path

GROUP: Final = "mcp_servers"

_TABLE: Final = lazy_pattern(r"^[ \t]*\[", re.MULTILINE)
_COMMAND: Final = lazy_pattern(r"^[ \t]*command[ \t]*=[ \t]*", re.MULTILINE)
_ARGUMENTS: Final = lazy_pattern(r"^[ \t]*args[ \t]*=[ \t]*\[", re.MULTILINE)
_BETWEEN: Final = lazy_pattern(r"(?:[\s,]|#[^\n]*)*")
_STRING: Final = lazy_pattern(r"""\"(?!\"\")(?:[^"\\\n]|\\.)*"|'(?!'')[^'\n]*'""")


class TomlFile:
    """
    The servers in a TOML file, each in its own table.

    Args:
        text: Its text.
        name: What errors call it.

    Raises:
        ConfigurationError: It is no TOML.
    """

    def __init__(self, text: str, name: str) -> None:
        self.text: Final = text
        self._name = name
        try:
            self._values: dict[str, object] = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise ConfigurationError(f"{name} is no TOML: {error}") from error

    def list_servers(self) -> list[Path]:
        """Return where the servers are."""
        return [(GROUP, name) for name in self._servers()]

    def is_wrapped(self, path: Path) -> bool:
        """Return whether the proxy stands before a server."""
        server = self._servers()[str(path[1])]
        arguments = server.get("args")
        return is_ours(server.get("command"), cast("list[object]", arguments) if isinstance(arguments, list) else [])

    def wrap(self, path: Path, program: str) -> TomlFile:
        """
        Return the file with the proxy before a server.

        Args:
            path: Where the server is.
            program: How the client starts the proxy.

        Raises:
            CannotWrapError: It is written in a way that is not read here.
        """
        server = self._servers()[str(path[1])]
        if "command" not in server:
            raise CannotWrapError("a server on the net is not wrapped in a TOML file")
        command, arguments = self._find(path)
        if arguments is None:
            ours = f"{json.dumps(program)}\nargs = {made_arguments(self.text, command)}"
            return self._edit([(command.start, command.end, ours)], path)
        return self._edit(wrap_command(self.text, command, arguments, program), path)

    def unwrap(self, path: Path) -> TomlFile:
        """
        Return the file without the proxy before a server.

        Args:
            path: Where the server is.

        Raises:
            CannotWrapError: It is written in another way than `wrap` writes it.
        """
        command, arguments = self._find(path)
        edits: list[Edit] | None = None
        if arguments is not None and are_made(self.text, arguments):
            original = arguments.items[-1]
            edits = [(command.start, arguments.end, self.text[original.start : original.end])]
        elif arguments is not None:
            edits = unwrap_command(self.text, command, arguments)
        if edits is None:
            raise CannotWrapError("it was changed by hand; take 'errcompact mcp' out of its command")
        return self._edit(edits, path)

    def _servers(self) -> dict[str, dict[str, object]]:
        group = self._values.get(GROUP)
        servers = cast("dict[str, object]", group) if isinstance(group, dict) else {}
        return {name: cast("dict[str, object]", value) for name, value in servers.items() if isinstance(value, dict)}

    def _edit(self, edits: list[Edit], path: Path) -> TomlFile:
        changed = TomlFile(apply_edits(self.text, edits), self._name)
        # What only looks like this table, such as text in a long string, was changed in its place.
        expected, found = self._without(path), changed._without(path)
        if expected != found or changed._servers()[str(path[1])] == self._servers()[str(path[1])]:
            raise CannotWrapError("its table is written in a way that is not read here")
        return changed

    def _without(self, path: Path) -> dict[str, object]:
        servers = {name: value for name, value in self._servers().items() if name != path[1]}
        rest = {name: value for name, value in self._servers()[str(path[1])].items() if name not in {"command", "args"}}
        return {**self._values, GROUP: servers, "": rest}

    def _find(self, path: Path) -> tuple[Span, ListSpan | None]:
        start, end = self._table(str(path[1]))
        found = _COMMAND.search(self.text, start, end)
        command = _STRING.match(self.text, found.end(), end) if found is not None else None
        if command is None:
            raise CannotWrapError("its command is written in a way that is not read here")
        span = Span(start=command.start(), end=command.end(), value=_read(command[0]))
        opening = _ARGUMENTS.search(self.text, start, end)
        if opening is None:
            if "args" in self._servers()[str(path[1])]:
                raise CannotWrapError("its arguments are written in a way that is not read here")
            return span, None
        return span, self._list(opening.end() - 1)

    def _table(self, name: str) -> tuple[int, int]:
        spellings = (name, json.dumps(name, ensure_ascii=False), f"'{name}'")
        for spelling in spellings:
            header = re.compile(rf"^[ \t]*\[[ \t]*{GROUP}[ \t]*\.[ \t]*{re.escape(spelling)}[ \t]*\]", re.MULTILINE)
            if (found := header.search(self.text)) is not None:
                following = _TABLE.search(self.text, found.end())
                return found.end(), following.start() if following is not None else len(self.text)
        raise CannotWrapError("it has no table of its own")

    def _list(self, start: int) -> ListSpan:
        items: list[Span] = []
        place = start + 1
        while True:
            between = _BETWEEN.match(self.text, place)
            place = between.end() if between is not None else place
            if self.text.startswith("]", place):
                return ListSpan(start=start, end=place + 1, items=tuple(items))
            item = _STRING.match(self.text, place)
            if item is None:
                raise CannotWrapError("its arguments are written in a way that is not read here")
            place = item.end()
            items.append(Span(start=item.start(), end=place, value=_read(item[0])))


def _read(token: str) -> object:
    return tomllib.loads(f"value = {token}")["value"]
