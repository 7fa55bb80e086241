"""Which tool an entry ran, and with what."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from otel_errcompact.context.entries.names import CALL_IDS, COMMANDS, TOOLS

if TYPE_CHECKING:
    from otel_errcompact.context.entries.fields import Entry


def find_call(entry: Entry, asked: dict[str, tuple[str, str]]) -> tuple[str, str]:
    """Return tool and command of an entry; where it only names a call, those of that call."""
    tool, command = _find_tool(entry), _find_command(entry)
    ids = [str(found.value) for _, found in entry.all(CALL_IDS) if isinstance(found.value, str | int)]
    if not command:
        known = next((asked[call_id] for call_id in ids if call_id in asked), ("", ""))
        if not tool or tool == known[0]:
            tool, command = known[0] or tool, known[1]
    if tool or command:
        asked.update(dict.fromkeys(ids, (tool, command)))
    return tool, command


def _find_tool(entry: Entry) -> str:
    for name, found in entry.all(TOOLS):
        if isinstance(found.value, str):
            return found.value
        if name == "tool" and not isinstance(found.value, Mapping):
            entry.refuse(found.path, found.value, "a text")
    return ""


def _find_command(entry: Entry) -> str:
    for name, found in entry.all(COMMANDS):
        value = found.value
        if isinstance(value, str):
            if value:
                return value
        elif isinstance(value, Mapping):
            if name != "params" or value:
                return as_json(cast("Mapping[str, object]", value))
        elif isinstance(value, list | tuple):
            words = cast("list[object]", value)
            return shlex.join(str(word) for word in words)
        elif name == "command":
            entry.refuse(found.path, value, "a text")
    return ""


def as_json(arguments: Mapping[str, object]) -> str:
    """Return arguments as JSON; empty if there are none."""
    return json.dumps(arguments, default=repr, ensure_ascii=False, skipkeys=True) if arguments else ""
