"""Read fields of an event: what is missing is empty."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_NAME: Final = 200
"""Characters of a name or id; a longer one is none."""

MAX_PARSED: Final = 1_000_000
"""Characters of an attribute that are read as JSON."""

_MCP_ERROR: Final = lazy_pattern(
    r"MCP tool '[^'\n]{1,200}' reported tool error for function call: [^\n]{0,100000}? with response: (?=\[\{)"
)


class CallFields(NamedTuple):
    """The fields of a call, by default as in Claude Code."""

    tool: tuple[str, ...] = ("tool_name",)
    arguments: tuple[str, ...] = ("tool_input",)
    call_id: tuple[str, ...] = ("tool_use_id",)
    agent: tuple[str, ...] = ("agent_type",)
    directory: tuple[str, ...] = ("cwd",)


def output_for(hook: str, **fields: str) -> dict[str, object]:
    """Return an answer in the form that Claude Code has set."""
    return {"hookSpecificOutput": {"hookEventName": hook, **fields}}


def text_of(event: Mapping[str, object], *names: str) -> str:
    """Return the first field that is a text, if any."""
    found = (event.get(name) for name in names)
    return next((value for value in found if isinstance(value, str) and value), "")


def name_of(event: Mapping[str, object], *names: str) -> str:
    """Return the first field that may be a name or id."""
    found = (event.get(name) for name in names)
    return next((value for value in found if isinstance(value, str) and 0 < len(value) <= MAX_NAME), "")


def record_of(event: Mapping[str, object], *names: str) -> dict[str, object]:
    """Return the first of some fields that is an object; empty without."""
    return next(filter(None, (as_record(event.get(name)) for name in names)), dict[str, object]())


def as_record(value: object) -> dict[str, object]:
    """Return a value that is an object; empty if it is none."""
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def as_list(value: object) -> list[object]:
    """Return a value that is a list; empty if it is none."""
    return cast("list[object]", value) if isinstance(value, list) else []


def as_records(value: object) -> list[dict[str, object]]:
    """Return the objects in a value that is a list; empty without."""
    return [cast("dict[str, object]", each) for each in as_list(value) if isinstance(each, dict)]


def parse_record(text: str | bytes, *, limit: int = MAX_PARSED) -> dict[str, object]:
    """Return a JSON object; empty for all else, or beyond the limit."""
    try:
        return as_record(json.loads(text)) if len(text) <= limit else {}
    except (ValueError, RecursionError):
        return {}


def number_of(event: Mapping[str, object], *names: str) -> int | None:
    """Return the first of some fields that is a whole number."""
    found = (event.get(name) for name in names)
    return next((value for value in found if isinstance(value, int) and not isinstance(value, bool)), None)


def arguments_of(event: Mapping[str, object], *names: str) -> str:
    """Return the arguments of a call as JSON, without remarks on it."""
    # Both load what a relay begins without.
    from otel_errcompact.boundary.arguments import as_text
    from otel_errcompact_hosts.decorations import without_remarks

    value = next((event[name] for name in names if event.get(name) is not None), None)
    record = parse_record(value) if isinstance(value, str) else as_record(value)
    if record or isinstance(value, dict):
        return as_text(without_remarks(record))
    if isinstance(value, str):
        return value
    return "" if value is None else _dump(value)


def content_of(value: object) -> str:
    """Return the text of a tool's result, whatever its shape."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(filter(None, map(_text_of_block, as_list(cast("object", value)))))
    if isinstance(value, dict):
        return _text_of_record(as_record(cast("object", value)))
    return "" if value is None else _dump(value)


def open_envelope(text: str) -> str:
    """Return the words of a failed MCP tool alone."""
    found = _MCP_ERROR.match(text)
    try:
        parts = as_records(json.loads(text[found.end() :])) if found is not None else []
    except (ValueError, RecursionError):
        return text
    responses = (record_of(record_of(part, "functionResponse"), "response") for part in parts)
    return "\n".join(filter(None, (content_of(record_of(each, "error") or each) for each in responses))) or text


def _text_of_block(block: object) -> str:
    return block if isinstance(block, str) else text_of(as_record(block), "text")


def _text_of_record(record: dict[str, object]) -> str:
    streams = [record[name] for name in ("stdout", "stderr") if name in record]
    if streams:
        return "\n".join(stream for stream in streams if isinstance(stream, str) and stream)
    if isinstance(text := record.get("text"), str):
        return text
    if isinstance(content := record.get("content"), str | list):
        return content_of(cast("object", content))
    return _dump(record)


def _dump(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return ""
