"""
AgentChat of AutoGen: messages with `source` and `type`.

They stand alone on their lines, in a list or in `messages`. Code that one agent generates and another executes is a
call: its arguments are the code before.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from otel_errcompact.lab.transcripts.records import Record, conversations_in, fields_of, is_list, items_of
from otel_errcompact.lab.transcripts.run_builder import RunBuilder

if TYPE_CHECKING:
    from otel_errcompact.lab.transcripts.model import RecordedRun
    from otel_errcompact.lab.transcripts.run_builder import Runs, Values

AGENT: Final = "autogen"
TOOL: Final = "code_executor"

_ENDS: Final = ("Event", "Message")
"""How the kinds of AgentChat's messages end."""

_SILENT: Final = frozenset({"ModelClientStreamingChunkEvent", "SelectSpeakerEvent", "SelectorEvent", "ThoughtEvent"})
"""Kinds that repeat a message piece by piece, or that no model is shown."""


def detect(value: object) -> bool:
    """Recognise a message of AgentChat, or a list of them."""
    messages = items_of(value) or items_of(fields_of(value).get("messages")) or [value]
    return _is_message(messages[0])


def read(values: Values) -> Runs:
    """Read each list as a run, and all lone messages as one."""
    number = 0
    alone: _Team | None = None
    for value, place in values:
        for entry in conversations_in(value, place, is_message=_is_message):
            if _is_message(entry.fields):
                alone = alone or _Team(Record({}, place))
                alone.take(entry)
            elif "messages" in entry.fields:
                number += 1
                team = _Team(entry)
                for message in entry.children("messages"):
                    team.take(message)
                yield team.run(number)
    if alone is not None:
        yield alone.run(number + 1)


def _is_message(value: object) -> bool:
    fields = fields_of(value)
    kind = fields.get("type")
    return isinstance(fields.get("source"), str) and isinstance(kind, str) and kind.endswith(_ENDS)


@dataclass(slots=True)
class _Team:
    held: Record
    builder: RunBuilder = field(default_factory=RunBuilder)
    code: str = ""
    """What is executed next."""

    def run(self, number: int) -> RecordedRun:
        place = self.held.place
        outcome = self.held.text("stop_reason")
        return self.builder.build(f"{place.stem}:{number}", AGENT, place.path, outcome=outcome)

    def take(self, message: Record) -> None:
        kind, time_ns = message.text("type"), message.time("created_at")
        if kind == "ToolCallRequestEvent":
            for call in message.children("content"):
                self.builder.request_call(call, time_ns=time_ns)
        elif kind == "ToolCallExecutionEvent":
            for result in message.children("content"):
                self.builder.answer(
                    result.text("call_id"),
                    tool=result.text("name"),
                    result=result.text("content"),
                    flagged=result.flag("is_error"),
                    time_ns=time_ns,
                )
        elif kind == "CodeExecutionEvent":
            result = message.child("result")
            self.builder.request("", tool=TOOL, arguments=self.code, spoken=True, time_ns=time_ns)
            self.builder.answer(
                "", result=result.text("output"), exit_code=result.integer("exit_code"), time_ns=time_ns
            )
        elif kind not in _SILENT:
            self.builder.say(_text_of(message))
            self.code = _code_of(list(message.children("code_blocks"))) or self.code


def _text_of(message: Record) -> str:
    parts = message.fields.get("content")
    if is_list(parts) and any(isinstance(part, str) for part in parts):
        return "\n".join(part for part in parts if isinstance(part, str))
    return message.json("content") if isinstance(parts, dict) else message.prose("content")


def _code_of(blocks: list[Record]) -> str:
    if not blocks:
        return ""
    written = {"language": blocks[0].text("language"), "code": "\n".join(block.text("code") for block in blocks)}
    return json.dumps(written, ensure_ascii=False, separators=(",", ":"))
