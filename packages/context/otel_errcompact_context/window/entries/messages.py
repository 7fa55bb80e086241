"""What an entry says went wrong, and what it printed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, cast

from otel_errcompact_context.window.entries import names
from otel_errcompact_context.window.entries.fields import MAX_DEPTH, Entry, as_json, plain_name


@dataclass(slots=True)
class FoundError:
    """What an entry's error says, in whatever form it was logged."""

    reason: str = ""
    code: str | int | None = None
    stack: str = ""
    is_told: bool = False


def find_error(entry: Entry) -> FoundError:
    """Return what the errors of an entry say, in whatever form they were logged."""
    told = FoundError()
    for _, found in entry.all_fields(names.ERRORS):
        _take_error(entry, found.path, found.value, told, 0)
    for _, found in entry.all_fields(names.STACKS):
        if isinstance(found.value, str) and found.value.strip():
            told.stack = told.stack or found.value
            told.is_told = True
    if "\n" in told.reason.strip():
        told.stack = "\n".join(filter(None, (told.reason, told.stack)))
        told.reason = ""
    return told


def _take_error(entry: Entry, path: str, value: object, told: FoundError, depth: int) -> None:
    if isinstance(value, bool) or value is None or depth > MAX_DEPTH:
        told.is_told = told.is_told or value is True
    elif isinstance(value, str):
        if value.strip().lower() not in names.NO_ERROR and value not in told.reason:
            told.reason = "; ".join(filter(None, (told.reason, value)))
            told.is_told = True
    elif isinstance(value, int):
        told.code = value or told.code
        told.is_told = told.is_told or value != 0
    elif isinstance(value, Mapping):
        _take_error_object(entry, path, cast("Mapping[object, object]", value), told, depth)
    elif isinstance(value, list | tuple):
        for number, item in enumerate(cast("list[object]", value)):
            _take_error(entry, f"{path}[{number}]", item, told, depth + 1)
    else:
        entry.refuse_value(path, value, "a text or an object with a message")


_IN_ERROR_TEXT: Final = ("message", "msg", "reason", "detail", "description", "text", "title", "error", "errormessage")
_IN_ERROR_CODE: Final = ("code", "errorcode", "errno", "type", "name", "kind", "class", "status")


def _take_error_object(entry: Entry, path: str, value: Mapping[object, object], told: FoundError, depth: int) -> None:
    inner = {plain_name(name): item for name, item in value.items() if item is not None}
    if not inner:
        return
    told.is_told = True
    for name in _IN_ERROR_CODE:
        item = inner.get(name)
        if isinstance(item, str | int) and not isinstance(item, bool) and item not in {"", 0, "error", "Error"}:
            told.code = told.code if told.code is not None else item
    before = told.reason
    for name in (*_IN_ERROR_TEXT, *names.CONTAINERS - {"message", "msg"}):
        if name in inner and told.reason == before and not isinstance(inner[name], bool):
            _take_error(entry, f"{path}.{name}", inner[name], told, depth + 1)
    for name in names.STACKS:
        if isinstance(inner.get(name), str):
            told.stack = told.stack or str(inner[name])
    if not told.reason and not told.stack and told.code is None:
        told.reason = as_json(cast("Mapping[str, object]", value))


def find_text(entry: Entry, *, own_only: bool) -> str | None:
    """Return what was printed or given back; None if nothing says so."""
    for name, found in entry.all_fields(names.OUTPUTS):
        printed = _join_printed(found.value)
        if printed is not None:
            return printed
        if name == "text" and not isinstance(found.value, Mapping):
            entry.refuse_value(found.path, found.value, "a text")
    streams = [_join_printed(found.value) for _, found in entry.all_fields(names.STREAMS)]
    if any(stream is not None for stream in streams):
        return "\n".join(filter(None, streams))
    if own_only:
        return None
    for _, found in entry.all_fields(names.ANSWERS):
        printed = _join_printed(found.value)
        if printed is not None and not _is_word(printed):
            return printed
    return None


def _is_word(text: str) -> bool:
    return re.sub(r"[\s-]+", "_", text.strip()).lower() in names.STATUSES


def _join_printed(value: object) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, list | tuple):
        return None
    lines: list[str] = []
    for item in cast("list[object]", value):
        part = cast("Mapping[str, object]", item).get("text") if isinstance(item, Mapping) else item
        lines += [part] if isinstance(part, str) else []
    return "\n".join(lines)


def find_reason(entry: Entry, *, any_: bool) -> str:
    """Return the reason; a message is one only where something else says that it failed."""
    for name, found in entry.all_fields(names.REASONS):
        if isinstance(found.value, str):
            if found.value and (any_ or name == "reason"):
                return found.value
        elif name == "reason" and not isinstance(found.value, Mapping):
            entry.refuse_value(found.path, found.value, "a text")
    return ""
