"""The address of a server in a JSON file, wrapped and not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from otel_errcompact.hosts.mcp_proxy.configs.commands import GROUP

if TYPE_CHECKING:
    from otel_errcompact.hosts.json_text import Edit, Member, Node

HEADER: Final = "ERRCOMPACT_HEADER_"
"""Begins variables that hold headers: what a process has in its arguments, others on the machine can read."""

ADDRESS_KEYS: Final = ("url", "httpUrl")
NOT_PASSED_ON: Final = ("oauth", "auth", "authProviderType", "headersHelper", "serverUrl")
"""What the client does for a server on the net, and cannot do for a program."""

_TYPES: Final = {"http", "sse", "streamable-http", "streamableHttp"}


class CannotWrapError(Exception):
    """Why a server stays as it is."""


def wrap_address(text: str, entry: Node, program: str, indent: str) -> list[Edit]:
    """
    Return the edits that make a program of an address.

    Headers become variables of its environment.

    Args:
        text: The text of the file.
        entry: The server.
        program: How the client starts the proxy.
        indent: What stands between two members.

    Raises:
        CannotWrapError: Something of it would be lost.
    """
    members = {str(member.key): member for member in entry.members}
    key = next(key for key in ADDRESS_KEYS if key in members)
    address, kind, headers = members[key], members.get("type"), members.get("headers")
    for name in NOT_PASSED_ON:
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
    words = [json.dumps(GROUP)]
    if kind is not None or key == "httpUrl":
        words += ['"--transport"', _raw(text, kind.node) if kind is not None else '"http"']
    words += ['"--url"', _raw(text, address.node)]
    edits: list[Edit] = [
        (
            address.start,
            address.end,
            f'"command": {json.dumps(program, ensure_ascii=False)},{indent}"args": [{", ".join(words)}]',
        )
    ]
    if kind is not None:
        edits.append((kind.node.start, kind.node.end, '"stdio"'))
    return edits + (_rename_headers(text, headers, "env", wrap=True) if headers and headers.node.members else [])


def unwrap_address(text: str, entry: Node) -> list[Edit] | None:
    """
    Return the edits that give a server its address again.

    Args:
        text: The text of the file.
        entry: The server.

    Returns:
        None where it is written in another way.
    """
    members = {str(member.key): member for member in entry.members}
    command, arguments, kind = members["command"], members["args"], members.get("type")
    words = {str(item.node.value): item.node for item in arguments.node.members}
    names = list(words)
    if "--url" not in words or names.index("--url") + 1 >= len(names):
        return None
    if text[command.end : arguments.start].strip() != ",":
        return None
    values = [item.node for item in arguments.node.members]
    address = values[names.index("--url") + 1]
    transport = values[names.index("--transport") + 1] if "--transport" in words else None
    key = "httpUrl" if transport is not None and kind is None else "url"
    edits: list[Edit] = [(command.start, arguments.end, f'"{key}": {_raw(text, address)}')]
    if kind is not None and transport is not None:
        edits.append((kind.node.start, kind.node.end, _raw(text, transport)))
    variables = members.get("env")
    has_headers = variables is not None and any(str(one.key).startswith(HEADER) for one in variables.node.members)
    return edits + (_rename_headers(text, variables, "headers", wrap=False) if variables and has_headers else [])


def _rename_headers(text: str, member: Member, name: str, *, wrap: bool) -> list[Edit]:
    key_end = text.index('"', member.start + 1) + 1
    edits: list[Edit] = [(member.start, key_end, json.dumps(name))]
    for header in member.node.members:
        place = header.start + 1
        if wrap and not isinstance(header.node.value, str):
            raise CannotWrapError(f"its header '{header.key}' is no text")
        if wrap:
            edits.append((place, place, HEADER))
        elif text.startswith(HEADER, place):
            edits.append((place, place + len(HEADER), ""))
    return edits


def _raw(text: str, node: Node) -> str:
    return text[node.start : node.end]
