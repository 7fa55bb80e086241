"""Entries of a log as events, oldest first."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Final, cast

from otel_errcompact.digest import one_line
from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact_context.window.entries import names
from otel_errcompact_context.window.entries.fields import Entry, ErrorEvent, as_json, parse_entry, split_entry
from otel_errcompact_context.window.entries.messages import find_error, find_reason, find_text
from otel_errcompact_context.window.entries.outcome import (
    find_code,
    find_duration,
    find_exit_code,
    find_signs,
    find_time,
)

_FIELDS: Final = tuple(field.name for field in fields(ErrorEvent))


def read_events(events: Iterable[object]) -> list[ErrorEvent]:
    """
    Return the entries that say how something ended, in their order, or in that of time where all have one.

    Entries of other kinds (messages, thoughts, requests) are left out. A result that names only the id of its call gets
    tool and command from the entry that asked for it.

    Raises:
        ConfigurationError: An entry is malformed; the message says which field, what is wrong, and what to do.
    """
    asked: dict[str, tuple[str, str]] = {}
    read: list[ErrorEvent] = []
    for index, event in enumerate(events):
        for mapping in split_entry(_as_mapping(event, index)):
            entry = parse_entry(mapping, index)
            called = _find_call(entry, asked)
            found = _read_entry(entry, *called)
            if found is not None:
                read.append(found)
    if all(event.time is not None for event in read):
        read.sort(key=lambda event: event.time or 0)
    return read


def _as_mapping(event: object, index: int) -> Mapping[object, object]:
    if isinstance(event, Mapping):
        return cast("Mapping[object, object]", event)
    if isinstance(event, ErrorEvent):
        return {name: getattr(event, name) for name in _FIELDS if getattr(event, name) != ""}
    wanted = f"an ErrorEvent or a mapping with some of {', '.join(_FIELDS)}"
    Entry(index).refuse_value("", event, wanted)
    return {}


def _read_entry(entry: Entry, tool: str, command: str) -> ErrorEvent | None:
    error = find_error(entry)
    signs = find_signs(entry)
    signs.failed = signs.failed or error.is_told
    if entry.ending & names.FAILURE_WORDS:
        signs.failed = True
    if entry.talks and not signs.failed:
        return None
    duration, time = find_duration(entry), find_time(entry)
    text = find_text(entry, own_only=not (tool or command or entry.words & names.DOING or signs.failed or signs.ended))
    exit_code = find_exit_code(entry, signs)
    reason = error.reason or find_reason(entry, any_=signs.failed or bool(exit_code))
    code = error.code if error.code is not None else find_code(entry, signs)
    if signs.declined or (signs.open and not signs.failed and not exit_code):
        return None
    knows = signs.failed or signs.ended or signs.well >= 0 or exit_code is not None or code is not None or bool(reason)
    if not knows and (text is None or entry.words & names.BEGINS):
        _refuse_empty(entry)
        return None
    if signs.failed and not (reason or text or error.stack or code is not None or exit_code):
        reason = entry.kind
    return ErrorEvent(
        command=command,
        code=code,
        exit_code=exit_code,
        reason=reason,
        duration=duration,
        status=names.FAILED if signs.failed else names.OK if signs.well >= 0 else "",
        text="\n".join(filter(None, (text, error.stack))),
        tool=tool,
        time=time,
    )


def _refuse_empty(entry: Entry) -> None:
    # A result whose fields are all unknown may be a failure that is lost.
    if not (entry.words & names.DOING and entry.ending & names.GIVES):
        return
    unknown = [
        found.path
        for name, places in entry.found.items()
        for found in places
        if name not in names.KNOWN and not name.endswith("id")
    ]
    if unknown:
        raise ConfigurationError(
            f"events[{entry.index}] is a {one_line(entry.kind, 40)}, and none of its fields tells how it ended "
            f"({one_line(', '.join(unknown), 80)}); name it ok, status, exit_code, error or text"
        )


def _find_call(entry: Entry, asked: dict[str, tuple[str, str]]) -> tuple[str, str]:
    tool, command = _find_tool(entry), _find_command(entry)
    ids = [str(found.value) for _, found in entry.all_fields(names.CALL_IDS) if isinstance(found.value, str | int)]
    if not command:
        known = next((asked[call_id] for call_id in ids if call_id in asked), ("", ""))
        if not tool or tool == known[0]:
            tool, command = known[0] or tool, known[1]
    if tool or command:
        asked.update(dict.fromkeys(ids, (tool, command)))
    return tool, command


def _find_tool(entry: Entry) -> str:
    for name, found in entry.all_fields(names.TOOLS):
        if isinstance(found.value, str):
            return found.value
        if name == "tool" and not isinstance(found.value, Mapping):
            entry.refuse_value(found.path, found.value, "a text")
    return ""


def _find_command(entry: Entry) -> str:
    for name, found in entry.all_fields(names.COMMANDS):
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
            entry.refuse_value(found.path, value, "a text")
    return ""
