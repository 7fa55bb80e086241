"""
AutoGen and Magentic-One: histories of several agents, and AgentChat's messages.

Four shapes exist: `{"history": [{"role" or "name", "content"}]}`, `chat_history` of AutoGen 0.2, AgentChat's messages
with `source` and `type`, and the lines of Magentic-One's `log.jsonl`, whose text is in `message`. Code that one agent
writes and another runs is a call: its arguments are the code before.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from otel_errcompact.lab.transcripts.records import Record, conversations_in, fields_of, is_list, items_of
from otel_errcompact.lab.transcripts.run_builder import RunBuilder, words_of
from otel_errcompact.lab.transcripts.written_calls import TOOL, Executor, code_of

if TYPE_CHECKING:
    from otel_errcompact.lab.transcripts.model import RecordedRun
    from otel_errcompact.lab.transcripts.run_builder import Runs, Values

AGENT: Final = "autogen"

_HISTORIES: Final = ("chat_history", "history")
_HOLDERS: Final = frozenset({*_HISTORIES, "messages"})
_FOREIGN: Final = frozenset({"instance_id", "instruction", "issue", "trajectory"})
"""Fields of other programs that keep a history."""

_ENDS: Final = ("Event", "Message")
"""How the kinds of AgentChat's messages end."""

_SILENT: Final = frozenset({"ModelClientStreamingChunkEvent", "SelectSpeakerEvent", "SelectorEvent", "ThoughtEvent"})
"""Kinds that repeat a message piece by piece, or that no model is shown."""


def detect(value: object) -> bool:
    """Recognise a history, a message of AgentChat, or a list of messages."""
    if _is_history(value) or _is_message(value):
        return True
    messages = items_of(value) or items_of(fields_of(value).get("messages"))
    return any(_is_history(item) or _is_message(item) for item in messages[:1])


def read(values: Values) -> Runs:
    """Read each history as a run, and all lone messages as one."""
    number = 0
    alone: _Chat | None = None
    for value, place in values:
        for entry in conversations_in(value, place, is_message=_is_message):
            if _is_message(entry.fields):
                alone = alone or _Chat(Record({}, place))
                alone.take(entry)
            elif not _HOLDERS.isdisjoint(entry.fields):
                number += 1
                yield _read_history(entry).run(number)
    if alone is not None:
        yield alone.run(number + 1)


def _is_history(value: object) -> bool:
    fields = fields_of(value)
    if not _FOREIGN.isdisjoint(fields):
        return False
    return any(
        "content" in fields_of(entry) and not {"name", "role"}.isdisjoint(fields_of(entry))
        for key in _HISTORIES
        for entry in items_of(fields.get(key))[:1]
    )


def _is_message(value: object) -> bool:
    fields = fields_of(value)
    kind = fields.get("type")
    return isinstance(fields.get("source"), str) and isinstance(kind, str) and kind.endswith(_ENDS)


def _read_history(history: Record) -> _Chat:
    chat = _Chat(history)
    for key in (*_HISTORIES, "messages"):
        for message in history.children(key):
            chat.take(message)
    return chat


@dataclass(slots=True)
class _Chat:
    history: Record
    builder: RunBuilder = field(default_factory=RunBuilder)
    executor: Executor = field(init=False)

    def __post_init__(self) -> None:
        self.executor = Executor(self.builder)

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
        if kind == "ToolCallRequestEvent":
            for call in message.children("content"):
                self.builder.request_call(call, time_ns=time_ns)
        elif kind == "ToolCallExecutionEvent":
            for result in message.children("content"):
                self.answer(result, time_ns)
        elif kind == "CodeExecutionEvent":
            self.take_execution(message.child("result"), time_ns)
        elif "tool_responses" in message.fields:
            for result in message.children("tool_responses"):
                self.answer(result, time_ns)
        elif kind not in _SILENT:
            self.take_text(message, kind, time_ns)

    def take_text(self, message: Record, kind: str, time_ns: int | None) -> None:
        text = _text_of(message)
        self.executor.take(text, speaker=_speaker(message), time_ns=time_ns)
        if kind == "CodeGenerationEvent":
            blocks = message.children("code_blocks")
            self.executor.code = code_of([(block.text("language"), block.text("code")) for block in blocks])
        for call in message.children("tool_calls") if not kind else ():
            self.builder.request_call(call)

    def take_execution(self, result: Record, time_ns: int | None) -> None:
        self.builder.request("", tool=TOOL, arguments=self.executor.code, spoken=True, time_ns=time_ns)
        self.builder.answer("", result=result.text("output"), exit_code=result.integer("exit_code"), time_ns=time_ns)
        self.executor.code = ""

    def answer(self, result: Record, time_ns: int | None) -> None:
        self.builder.answer(
            result.first("call_id", "tool_call_id"),
            tool=result.text("name"),
            result=result.text("content"),
            flagged=result.flag("is_error"),
            time_ns=time_ns,
        )


def _speaker(message: Record) -> str:
    return message.first("source", "name", "role")


def _text_of(message: Record) -> str:
    if "content" not in message.fields:  # the log of Magentic-One
        return message.json("message")
    parts = message.fields.get("content")
    if is_list(parts) and any(isinstance(part, str) for part in parts):
        return "\n".join(part for part in parts if isinstance(part, str))
    return message.json("content") if isinstance(parts, dict) else message.prose("content")
