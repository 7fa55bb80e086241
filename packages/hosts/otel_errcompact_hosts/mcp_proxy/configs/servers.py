"""
Put the proxy before one server, and take it away.

What a server is named and told moves as it is written, so that it comes back byte for byte.
"""

from __future__ import annotations

import json
import ntpath
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from otel_errcompact_hosts.json_text import Edit, Member, Node

PROGRAM: Final = "errcompact"
GROUP: Final = "mcp"
SEPARATOR: Final = "--"
HEADER: Final = "ERRCOMPACT_HEADER_"
"""Begins variables that hold headers: what a process has in its arguments, others on the machine can read."""

ADDRESS_KEYS: Final = ("url", "httpUrl")
_NOT_PASSED_ON: Final = ("oauth", "auth", "authProviderType", "headersHelper", "serverUrl")
"""What the client does for a server on the net, and cannot do for a program."""

_TYPES: Final = ("http", "sse", "streamable-http", "streamableHttp")
_BEGIN: Final = f'"{GROUP}", "{SEPARATOR}"'
_MADE: Final = "[ "
"""Begins a list of arguments that was made, where there was none."""


class CannotWrapError(Exception):
    """Why a server stays as it is."""


def members_of(entry: Node) -> dict[str, Member]:
    """Return the members of an object by key."""
    return {str(member.key): member for member in entry.members}


def is_ours(program: object, arguments: Sequence[object]) -> bool:
    """Return whether a command is the proxy's."""
    name = ntpath.basename(program) if isinstance(program, str) else ""  # splits at both kinds of slashes
    return name.removesuffix(".exe") == PROGRAM and list(arguments[:1]) == [GROUP]


def is_wrapped(entry: Node) -> bool:
    """Return whether the proxy stands before a server."""
    members = members_of(entry)
    words = [value for key in ("command", "args") if key in members for value in _list_values(members[key].node)]
    return bool(words) and is_ours(words[0], words[1:])


def wrap_server(text: str, entry: Node, program: str, *, takes_addresses: bool) -> list[Edit]:
    """
    Return the edits that put the proxy before a server.

    Raises:
        CannotWrapError: Something of it would be lost.
    """
    members = members_of(entry)
    if "command" not in members:
        if not takes_addresses:
            raise CannotWrapError("a server on the net cannot become a local one there")
        return _wrap_address(text, entry, members, _quote(program))
    if members.keys() & set(ADDRESS_KEYS):
        raise CannotWrapError("it has a command and an address")
    command, arguments = members["command"].node, members["args"].node if "args" in members else None
    if isinstance(command.value, list):
        if not command.members:
            raise CannotWrapError("its command is empty")
        return [_put_first(command, f"{_quote(program)}, {_BEGIN}")]
    if not isinstance(command.value, str):
        raise CannotWrapError("its command is no text")
    ours = f"{_BEGIN}, {_cut_out(text, command)}"
    if arguments is None:
        made = f'{_quote(program)},{_find_gap(text, entry)}"args": {_MADE}{ours} ]'
        return [(command.start, command.end, made)]
    if not isinstance(arguments.value, list):
        raise CannotWrapError("its arguments are no list")
    return [(command.start, command.end, _quote(program)), _put_first(arguments, ours)]


def unwrap_server(text: str, entry: Node) -> list[Edit]:
    """
    Return the edits that take the proxy away from a server.

    Raises:
        CannotWrapError: It is written in another way than `wrap_server` writes it.
    """
    members = members_of(entry)
    command = members["command"].node
    words = command if isinstance(command.value, list) else members["args"].node
    values = _list_values(words)
    before = values.index(SEPARATOR) if SEPARATOR in values else len(values)
    if words is not command and "--url" in values[:before]:
        return _unwrap_address(text, members)
    if before + 1 >= len(values):
        raise _by_hand()
    if words is command:
        return [_drop_first(words, before + 1)]
    original = _cut_out(text, words.members[before + 1].node)
    is_made = text.startswith(_MADE, words.start) and before == 1 and len(values) == len((GROUP, SEPARATOR, original))
    if is_made and text[command.end : words.start].count('"args"') == 1:
        return [(command.start, words.end, original)]
    return [(command.start, command.end, original), _drop_first(words, before + 2)]


def _by_hand() -> CannotWrapError:
    return CannotWrapError("it was changed by hand; take 'errcompact mcp' out of its command")


def _wrap_address(text: str, entry: Node, members: Mapping[str, Member], program: str) -> list[Edit]:
    key = next(key for key in ADDRESS_KEYS if key in members)
    address, kind, headers = members[key], members.get("type"), members.get("headers")
    for name in _NOT_PASSED_ON:
        if name in members:
            raise CannotWrapError(f"its '{name}' cannot be passed on")
    if not isinstance(address.node.value, str):
        raise CannotWrapError(f"its '{key}' is no text")
    if kind is not None and (kind.node.value not in _TYPES or key != "url"):
        raise CannotWrapError(f"its type {json.dumps(kind.node.value)} is not known")
    if headers is not None and not isinstance(headers.node.value, dict):
        raise CannotWrapError("its headers are no object")
    if headers is not None and "env" in members:
        raise CannotWrapError("it has headers and variables, which cannot be told apart again")
    words = [_quote(GROUP)]
    if kind is not None or key == "httpUrl":
        words += ['"--transport"', '"http"' if kind is None else _cut_out(text, kind.node)]
    words += ['"--url"', _cut_out(text, address.node)]
    gap = _find_gap(text, entry)
    edits = [(address.start, address.end, f'"command": {program},{gap}"args": [{", ".join(words)}]')]
    if kind is not None:
        edits.append((kind.node.start, kind.node.end, '"stdio"'))
    return edits + (_rename_headers(text, headers, "env", wrap=True) if headers and headers.node.members else [])


def _unwrap_address(text: str, members: Mapping[str, Member]) -> list[Edit]:
    command, arguments, kind = members["command"], members["args"], members.get("type")
    options = {str(item.node.value): place for place, item in enumerate(arguments.node.members)}
    values = [_cut_out(text, item.node) for item in arguments.node.members]
    if options["--url"] + 1 >= len(values) or text[command.end : arguments.start].strip() != ",":
        raise _by_hand()
    transport = values[options["--transport"] + 1] if "--transport" in options else None
    key = "httpUrl" if transport is not None and kind is None else "url"
    edits = [(command.start, arguments.end, f'"{key}": {values[options["--url"] + 1]}')]
    if kind is not None and transport is not None:
        edits.append((kind.node.start, kind.node.end, transport))
    variables = members.get("env")
    has_headers = variables is not None and any(str(one.key).startswith(HEADER) for one in variables.node.members)
    return edits + (_rename_headers(text, variables, "headers", wrap=False) if variables and has_headers else [])


def _rename_headers(text: str, member: Member, name: str, *, wrap: bool) -> list[Edit]:
    edits: list[Edit] = [(member.start, text.index('"', member.start + 1) + 1, _quote(name))]
    for header in member.node.members:
        place = header.start + 1
        if wrap and not isinstance(header.node.value, str):
            raise CannotWrapError(f"its header '{header.key}' is no text")
        if wrap:
            edits.append((place, place, HEADER))
        elif text.startswith(HEADER, place):
            edits.append((place, place + len(HEADER), ""))
    return edits


def _put_first(array: Node, written: str) -> Edit:
    place = array.members[0].start if array.members else array.start + 1
    return place, place, f"{written}, " if array.members else written


def _drop_first(array: Node, number: int) -> Edit:
    items = array.members
    if number < len(items):
        return items[0].start, items[number].start, ""
    return array.start + 1, items[number - 1].end, ""


def _list_values(node: Node) -> list[object]:
    return [member.node.value for member in node.members] if isinstance(node.value, list) else [node.value]


def _cut_out(text: str, node: Node) -> str:
    return text[node.start : node.end]


def _quote(word: str) -> str:
    return json.dumps(word, ensure_ascii=False)


def _find_gap(text: str, entry: Node) -> str:
    before = text[entry.start + 1 : entry.members[0].start]
    return before if "\n" in before and not before.strip() else " "
