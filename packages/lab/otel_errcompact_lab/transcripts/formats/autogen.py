"""
AutoGen and Magentic-One: histories of several agents, and AgentChat's messages.

Four shapes exist: `{"history": [{"role" or "name", "content"}]}`, `chat_history` of AutoGen 0.2, AgentChat's messages
with `source` and `type`, and the lines of Magentic-One's `log.jsonl`, whose text is in `message`. Code that one agent
writes and another runs is a call: its arguments are the code before.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from otel_errcompact_lab.transcripts.code_calls import CodeCalls
from otel_errcompact_lab.transcripts.records import Record, conversations_in, fields_of, is_list, items_of
from otel_errcompact_lab.transcripts.run_builder import RunBuilder, words_of

if TYPE_CHECKING:
    from otel_errcompact_lab.transcripts.model import RecordedRun
    from otel_errcompact_lab.transcripts.run_builder import Runs, Values

AGENT: Final = "autogen"

_HISTORIES: Final = ("chat_history", "history")
_HOLDERS: Final = (*_HISTORIES, "messages")
_FOREIGN: Final = frozenset({"instance_id", "instruction", "issue", "trajectory"})
"""Fields of other programs that keep a history."""

_ENDS: Final = ("Event", "Message")
"""How the kinds of AgentChat's messages end."""

_SILENT: Final = frozenset({"ModelClientStreamingChunkEvent", "SelectSpeakerEvent", "SelectorEvent", "ThoughtEvent"})
"""Kinds that repeat a message piece by piece, or that no model is shown."""


def detect(value: object) -> bool:
    """Recognise a history, a message of AgentChat, or a list of either."""
    first = (items_of(value) or items_of(fields_of(value).get("messages")) or [value])[0]
    return _is_history(value) or _is_history(first) or _is_message(first)


def read(values: Values) -> Runs:
    """Read each history as a run, and all lone messages as one."""
    number = 0
    alone: _Team | None = None
    for value, place in values:
        for entry in conversations_in(value, place, is_message=_is_message):
            if _is_message(entry.fields):
                alone = alone or _Team(Record({}, place))
                alone.take(entry)
            elif not entry.fields.keys().isdisjoint(_HOLDERS):
                number += 1
                team = _Team(entry)
                for message in (message for key in _HOLDERS for message in entry.children(key)):
                    team.take(message)
                yield team.run(number)
    if alone is not None:
        yield alone.run(number + 1)


def _is_history(value: object) -> bool:
    fields = fields_of(value)
    first = (fields_of(entry) for key in _HISTORIES for entry in items_of(fields.get(key))[:1])
    return _FOREIGN.isdisjoint(fields) and any(
        "content" in message and ("name" in message or "role" in message) for message in first
    )


def _is_message(value: object) -> bool:
    fields = fields_of(value)
    kind = fields.get("type")
    return isinstance(fields.get("source"), str) and isinstance(kind, str) and kind.endswith(_ENDS)


@dataclass(slots=True)
class _Team:
    history: Record
    builder: RunBuilder = field(default_factory=RunBuilder)
    code_calls: CodeCalls = field(init=False)

    def __post_init__(self) -> None:
        self.code_calls = CodeCalls(self.builder)

    def run(self, number: int) -> RecordedRun:
        history, place = self.history, self.history.place
        correct = history.lenient_flag("is_corrected" if "is_corrected" in history.fields else "is_correct")
        return self.builder.build(
            history.label("question_ID") or history.label("chat_id") or f"{place.stem}:{number}",
            AGENT,
            place.path,
            outcome=history.text("stop_reason") or words_of(correct, "correct", "wrong"),
            succeeded=correct,
        )

    def take(self, message: Record) -> None:
        time_ns = message.time("created_at" if "created_at" in message.fields else "timestamp")
        kind = message.text("type") if "source" in message.fields else ""
        executed = kind == "ToolCallExecutionEvent"
        if kind == "ToolCallRequestEvent":
            for call in message.children("content"):
                self.builder.request_call(call, time_ns=time_ns)
        elif executed or "tool_responses" in message.fields:
            for result in message.children("content" if executed else "tool_responses"):
                self.builder.answer(
                    result.first("call_id", "tool_call_id"),
                    tool=result.text("name"),
                    result=result.text("content"),
                    flagged=result.flag("is_error"),
                    time_ns=time_ns,
                )
        elif kind == "CodeExecutionEvent":
            result = message.child("result")
            self.code_calls.run(result.text("output"), result.integer("exit_code"), time_ns)
        elif kind not in _SILENT:
            self.code_calls.take(_text_of(message), speaker=message.first("source", "name", "role"), time_ns=time_ns)
            blocks = message.children("code_blocks")
            self.code_calls.write([(block.text("language"), block.text("code")) for block in blocks])
            for call in message.children("tool_calls") if not kind else ():
                self.builder.request_call(call)


def _text_of(message: Record) -> str:
    if "content" not in message.fields:  # the log of Magentic-One
        return message.json("message")
    parts = message.fields.get("content")
    if is_list(parts) and any(isinstance(part, str) for part in parts):
        return "\n".join(part for part in parts if isinstance(part, str))
    return message.json("content") if isinstance(parts, dict) else message.prose("content")
