"""
LangChain's messages and LangSmith's runs: JSON lines, or one document.

A message is flat (`{"type": "ai", "content", "tool_calls"}`), in `data` (`messages_to_dict`), or in `kwargs` (the form
with `lc`). A run of LangSmith holds in `inputs` and `outputs` all messages up to then, so the runs of one
trace tell the same conversation again and again: of each conversation the longest telling is read. Two tellings are of
one conversation if the first words of the user are the same; a trace ends where the next one begins.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from otel_errcompact_lab.transcripts.records import (
    Record,
    conversations_in,
    fields_of,
    is_list,
    is_object,
    items_of,
    kind_of,
    records,
)
from otel_errcompact_lab.transcripts.run_builder import RunBuilder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from otel_errcompact_lab.transcripts.run_builder import Runs, Values

AGENT: Final = "langchain"

_ROLES: Final = {
    "AIMessage": "ai",
    "AIMessageChunk": "ai",
    "ChatMessage": "chat",
    "FunctionMessage": "function",
    "HumanMessage": "human",
    "HumanMessageChunk": "human",
    "SystemMessage": "system",
    "ToolMessage": "tool",
    "ToolMessageChunk": "tool",
    "assistant": "ai",
    "user": "human",
}
"""Other names of the kinds of messages: of their classes, and of the roles of chats."""

_KINDS: Final = frozenset({"ai", "chat", "developer", "function", "human", "remove", "system", "tool", *_ROLES})
_TOLD: Final = ("input", "messages", "output")
"""Where the inputs and outputs of a run hold messages."""

_PARTS: Final = frozenset({"embedding", "parser", "prompt", "retriever", "tool"})
"""Kinds of runs without a conversation, even where they hold a message."""


def detect(value: object) -> bool:
    """Recognise runs, conversations or messages, alone or in a list."""
    return _is_known(value) or any(_is_known(item) or _is_message(item) for item in items_of(value)[:1])


def read(values: Values) -> Runs:
    """Read the conversations of a file; those of runs by trace."""
    trace: _Trace | None = None
    number = 0
    for value, place in values:
        for entry in conversations_in(value, place, is_message=_is_message):
            number += 1
            name = entry.text("trace_id") or entry.text("id") if _is_run(entry.fields) else ""
            if trace is None or not name or trace.name != name:
                if trace is not None:
                    yield from trace.runs()
                trace = _Trace(name or _name_conversation(entry) or f"{place.stem}:{number}", place.path)
            trace.take(entry)
    if trace is not None:
        yield from trace.runs()


def _is_known(value: object) -> bool:
    fields = fields_of(value)
    if "projectHash" in fields:  # of Gemini CLI
        return False
    return _is_run(fields) or any(map(_is_message, items_of(fields.get("messages"))[:1]))


def _is_run(fields: object) -> bool:
    known = fields_of(fields)
    if "messages" in known or not is_object(known.get("inputs")):
        return False
    return isinstance(known.get("run_type"), str) or any(key in fields_of(known["inputs"]) for key in _TOLD)


def _is_message(value: object) -> bool:
    fields = fields_of(value)
    if "role" in fields:
        return False
    if fields.get("type") == "constructor":
        return is_object(fields.get("kwargs")) and _class_of(fields) in _ROLES
    return kind_of(fields) in _KINDS and (is_object(fields.get("data")) or "content" in fields)


def _class_of(fields: object) -> str:
    way = items_of(fields_of(fields).get("id"))
    return way[-1] if way and isinstance(way[-1], str) else ""


def _name_conversation(entry: Record) -> str:
    return entry.label("id") or entry.label("thread_id")


@dataclass(slots=True)
class _Trace:
    name: str
    source: str

    tellings: dict[str, list[Record]] = field(default_factory=dict[str, "list[Record]"])
    """The longest record of each conversation, by the first words of the user."""

    error: str = ""

    def runs(self) -> Runs:
        for number, messages in enumerate(self.tellings.values(), start=1):
            builder = RunBuilder()
            for message in messages:
                _take_message(message, builder)
            yield builder.build(
                self.name if number == 1 else f"{self.name}/{number}",
                AGENT,
                self.source,
                outcome=self.error if number == 1 else "",
                succeeded=False if self.error and number == 1 else None,
            )

    def take(self, entry: Record) -> None:
        messages = list(_messages_of(entry))
        if messages and entry.text("run_type") not in _PARTS:
            first = next((_text_of(message) for message in messages if _role_of(message) == "human"), "")
            known = self.tellings.get(first, [])
            if len(messages) > len(known):
                self.tellings[first] = messages
        # A trace is over when its first run is, the only one without a parent.
        if _is_run(entry.fields) and not entry.text("parent_run_id"):
            self.error = next(iter(entry.text("error").splitlines()), "")


def _messages_of(entry: Record) -> Iterator[Record]:
    # The outputs of a graph begin with its inputs once more.
    if not _is_run(entry.fields):
        yield from _unpack_messages(entry, "messages")
        return
    asked = [message for key in _TOLD for message in _unpack_messages(entry.child("inputs"), key)]
    outputs = entry.child("outputs")
    told = [message for key in _TOLD for message in _unpack_messages(outputs, key)]
    told += [message for answers in outputs.items("generations") for message in _read_generations(answers, outputs)]
    repeats = bool(asked and told) and _text_of(asked[0]) == _text_of(told[0]) and len(told) > len(asked)
    yield from told if repeats else [*asked, *told]


def _read_generations(answers: object, outputs: Record) -> Iterator[Record]:
    # There may be several answers to choose from, of which the first counts.
    place = outputs.place.inner("generations")
    first = answers if is_object(answers) else next(iter(items_of(answers)), None)
    if is_object(first) and is_object(first.get("message")):
        yield _open_message(Record(first, place).child("message"))


def _unpack_messages(holder: Record, key: str) -> Iterator[Record]:
    value, place = holder.fields.get(key), holder.place.inner(key)
    batch = items_of(value)
    if is_list(next(iter(batch), None)):
        value, place = batch[0], place.inner(0)
    if is_object(value):
        yield _open_message(Record(value, place))
    elif is_list(value):
        for message in records(value, place):
            yield _open_message(message)
    elif isinstance(value, str) and key != "messages":
        yield Record({"type": "human" if holder.place.key == "inputs" else "ai", "content": value}, place)


def _open_message(message: Record) -> Record:
    kind = message.text("type")
    if kind == "constructor":
        inner = message.child("kwargs")
        return Record({**inner.fields, "type": _class_of(message.fields)}, inner.place)
    if is_object(message.fields.get("data")):
        inner = message.child("data")
        return Record({**inner.fields, "type": kind}, inner.place)
    return message


def _role_of(message: Record) -> str:
    kind = kind_of(message.fields) if kind_of(message.fields) in _KINDS else message.text("role")
    return _ROLES.get(kind, kind)


def _text_of(message: Record) -> str:
    return message.prose("content")


def _take_message(message: Record, builder: RunBuilder) -> None:
    if _role_of(message) in {"function", "tool"}:
        _take_result(message, builder)
        return
    builder.say(_text_of(message))
    for call in _calls_of(message):
        builder.request_call(call)


def _calls_of(message: Record) -> Iterator[Record]:
    # LangChain's own form comes first; the model's form repeats it.
    own = [*message.children("tool_calls"), *message.children("invalid_tool_calls")]
    models = message.child("additional_kwargs")
    yield from own or models.children("tool_calls")


def _take_result(message: Record, builder: RunBuilder) -> None:
    builder.answer(
        message.text("tool_call_id"),
        tool=message.text("name"),
        result=_text_of(message),
        flagged=True if message.text("status") == "error" else None,
    )
