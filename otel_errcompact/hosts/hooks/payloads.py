"""Read fields of an event: what is missing is empty."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from otel_errcompact.boundary.arguments import as_text
from otel_errcompact.hosts.calls import HostCall
from otel_errcompact.hosts.hooks.decorations import without_remarks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MAX_NAME: Final = 200
"""Characters of a name or id; a longer one is none."""

_NOTHING: Final[Mapping[str, object]] = {}


class CallFields(NamedTuple):
    """The fields of a call, by default as in Claude Code."""

    tool: tuple[str, ...] = ("tool_name",)
    arguments: tuple[str, ...] = ("tool_input",)
    call_id: tuple[str, ...] = ("tool_use_id",)
    agent: tuple[str, ...] = ("agent_type",)
    directory: tuple[str, ...] = ("cwd",)


_AS_IN_CLAUDE_CODE: Final = CallFields()


def read_call(
    event: Mapping[str, object], *, host: str, run_id: str, fields: CallFields = _AS_IN_CLAUDE_CODE
) -> HostCall | None:
    """
    Return the call that an event is about; None without.

    Args:
        event: The event.
        host: The host's name, which stands for an agent without one.
        run_id: The session; of a sub-agent `session/agent`.
        fields: Where the parts of a call stand in it.
    """
    tool = name_of(event, *fields.tool)
    if not tool:
        return None
    return HostCall(
        run_id=run_id,
        tool=tool,
        arguments=arguments_of(event, *fields.arguments),
        call_id=name_of(event, *fields.call_id),
        agent=name_of(event, *fields.agent) or host,
        directory=text_of(event, *fields.directory),
    )


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


def record_of(event: Mapping[str, object], *names: str) -> Mapping[str, object]:
    """Return the first of some fields that is an object; empty without."""
    found = (event.get(name) for name in names)
    return next((cast("Mapping[str, object]", value) for value in found if isinstance(value, dict)), _NOTHING)


def as_record(value: object) -> Mapping[str, object]:
    """Return a value that is an object; empty if it is none."""
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else _NOTHING


def records_of(event: Mapping[str, object], name: str) -> Sequence[Mapping[str, object]]:
    """Return the objects in a field that is a list; empty without."""
    value = event.get(name)
    if not isinstance(value, list):
        return ()
    return [cast("Mapping[str, object]", each) for each in cast("list[object]", value) if isinstance(each, dict)]


def number_of(event: Mapping[str, object], *names: str) -> int | None:
    """Return the first of some fields that is a whole number."""
    found = (event.get(name) for name in names)
    return next((value for value in found if isinstance(value, int) and not isinstance(value, bool)), None)


def arguments_of(event: Mapping[str, object], *names: str) -> str:
    """Return the arguments of a call as JSON, without remarks on it."""
    value = next((event[name] for name in names if event.get(name) is not None), None)
    if isinstance(value, str):
        value = _parse(value)
    if isinstance(value, dict):
        return as_text(without_remarks(cast("dict[str, object]", value)))
    if isinstance(value, str):
        return value
    return "" if value is None else _dump(value)


def content_of(value: object) -> str:
    """
    Return the text of a tool's result, whatever its shape.

    Args:
        value: A text, a list of content blocks, an object with the streams of a command or with content, or any other
            JSON value.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(filter(None, map(_text_of_block, cast("list[object]", value))))
    if isinstance(value, dict):
        return _text_of_record(cast("dict[str, object]", value))
    return "" if value is None else _dump(value)


def _text_of_block(block: object) -> str:
    if isinstance(block, dict):
        text = cast("dict[str, object]", block).get("text")
        return text if isinstance(text, str) else ""
    return block if isinstance(block, str) else ""


def _text_of_record(record: dict[str, object]) -> str:
    streams = [record[name] for name in ("stdout", "stderr") if name in record]
    if streams:
        return "\n".join(stream for stream in streams if isinstance(stream, str) and stream)
    if isinstance(text := record.get("text"), str):
        return text
    if isinstance(content := record.get("content"), str | list):
        return content_of(cast("object", content))
    return _dump(record)


def _parse(text: str) -> object:
    if not text.lstrip().startswith("{"):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _dump(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return ""
