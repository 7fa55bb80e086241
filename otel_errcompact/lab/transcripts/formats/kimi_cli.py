"""
Kimi CLI: the events of a session (`wire.jsonl`).

A line is `{"timestamp", "message": {"type", "payload"}}`. A sub-agent's events stand in a file of its own as well, so
those of them that are passed on (`SubagentEvent`) are left out.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from otel_errcompact.lab.transcripts.records import documents, fields_of, kind_of
from otel_errcompact.lab.transcripts.run_builder import RunBuilder
from otel_errcompact.lab.transcripts.tool_calls import request_call

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from otel_errcompact.lab.transcripts.model import RecordedRun
    from otel_errcompact.lab.transcripts.records import Record, Value

AGENT: Final = "kimi-cli"
FILE: Final = "wire.jsonl"
CONTEXT_FILE: Final = "context.jsonl"
"""The messages of the session, in which no result has a flag."""

_NS: Final = 1_000_000_000


def detect(value: object) -> bool:
    """Recognise the head of the file, or an event."""
    fields = fields_of(value)
    if kind_of(value) == "metadata":
        return "protocol_version" in fields
    return "timestamp" in fields and "payload" in fields_of(fields.get("message"))


def read(values: Iterable[Value]) -> Iterator[RecordedRun]:
    """Read the file as a run, named by its folder."""
    builder, path = RunBuilder(), ""
    for event in documents(values):
        path = event.place.path
        _take(event, builder)
    if path:
        yield builder.build(run_id=PurePath(path).parent.name or PurePath(path).stem, agent=AGENT, source=path)


def _take(event: Record, builder: RunBuilder) -> None:
    message, time_ns = event.child("message"), event.unix_time("timestamp", _NS)
    kind, payload = message.text("type"), message.child("payload")
    if kind in ("SteerInput", "TurnBegin"):
        builder.say(payload.prose("user_input"))
    elif kind == "ContentPart":
        builder.say(payload.text("text"))
    elif kind == "ToolCall":
        request_call(payload, builder, time_ns=time_ns)
    elif kind == "ToolResult":
        returned, call_id = payload.child("return_value"), payload.text("tool_call_id")
        builder.answer(
            call_id,
            call_id=call_id,
            result="\n".join(filter(None, (returned.text("message"), returned.prose("output")))),
            flagged=returned.flag("is_error"),
            line=event.place.line,
            time_ns=time_ns,
        )
