"""
Kimi CLI: the events of a session (`wire.jsonl`).

A line is `{"timestamp", "message": {"type", "payload"}}`. A sub-agent's events stand in a file of its own as well, so
those of them that are passed on (`SubagentEvent`) are left out.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from otel_errcompact_lab.transcripts.records import documents, fields_of, kind_of
from otel_errcompact_lab.transcripts.run_builder import RunBuilder

if TYPE_CHECKING:
    from otel_errcompact_lab.transcripts.records import Record
    from otel_errcompact_lab.transcripts.run_builder import Runs, Values

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


def read(values: Values) -> Runs:
    """Read the file as a run, named by its folder."""
    builder, path = RunBuilder(), ""
    for event in documents(values):
        path = event.place.path
        _take_event(event, builder)
    if path:
        yield builder.build(PurePath(path).parent.name or PurePath(path).stem, AGENT, path)


def _take_event(event: Record, builder: RunBuilder) -> None:
    message, time_ns = event.child("message"), event.unix_time("timestamp", _NS)
    kind, payload = message.text("type"), message.child("payload")
    if kind in ("SteerInput", "TurnBegin"):
        builder.say(payload.prose("user_input"))
    elif kind == "ContentPart":
        builder.say(payload.text("text"))
    elif kind == "ToolCall":
        builder.request_call(payload, time_ns=time_ns)
    elif kind == "ToolResult":
        returned = payload.child("return_value")
        builder.answer(
            payload.text("tool_call_id"),
            result="\n".join(filter(None, (returned.text("message"), returned.prose("output")))),
            flagged=returned.flag("is_error"),
            line=event.place.line,
            time_ns=time_ns,
        )
