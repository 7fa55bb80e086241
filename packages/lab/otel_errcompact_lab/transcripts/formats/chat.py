"""
Chats of OpenAI Chat Completions, OpenAI Responses and Anthropic Messages.

A list of messages or items, an object that holds one (`messages`, or `input` with `output`), a list of such objects, or
tau-bench's list of tasks with a `traj` each. One document, one conversation a line, or one message a line. Cline's
`api_conversation_history.json` is such a list, with calls as XML (`xml_calls`). The interfaces are told apart
message by message, since their lists may begin alike. The records hold no times, so times are made up (`run_builder`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from otel_errcompact_lab.transcripts.code_calls import CodeCalls
from otel_errcompact_lab.transcripts.records import Record, conversations_in, fields_of, is_list, items_of, kind_of
from otel_errcompact_lab.transcripts.responses_items import is_item, take_item
from otel_errcompact_lab.transcripts.run_builder import RunBuilder
from otel_errcompact_lab.transcripts.xml_calls import XmlCalls

if TYPE_CHECKING:
    from collections.abc import Iterator

    from otel_errcompact_lab.transcripts.model import RecordedRun
    from otel_errcompact_lab.transcripts.records import Place
    from otel_errcompact_lab.transcripts.run_builder import Runs, Values

CHAT: Final = "chat"
TAU_BENCH: Final = "tau-bench"
_FAILED: Final = "Error:"
"""How tau-bench's environments begin the answer of a call that failed."""

_LISTS: Final = ("traj", "messages", "input", "output")
"""Where a conversation holds its messages, in their order."""

_MESSAGES: Final = frozenset({"messages", "traj"})
"""Those of them that hold nothing but messages; the others may be anything where a conversation has these."""

_RUNS_OF_OTHERS: Final = ({"trajectory_format"}, {"task_id", "termination_reason"})
"""Fields of conversations whose messages say more than those of a chat."""

_FOREIGN: Final = frozenset({"history", "message", "sessionId", "source", "trajectory", "type"})
"""Fields of lines of other programs, which have roles too."""

_INSTRUCTIONS: Final = ("instructions", "system")
"""Where a request holds what Chat Completions has in a message."""

_CALL_BLOCKS: Final = frozenset({"mcp_tool_use", "server_tool_use", "tool_use"})
_RESULT_BLOCK: Final = "tool_result"
"""The end of the kind of a block with a tool's result, also of Anthropic's own tools."""


def detect(value: object) -> bool:
    """Recognise a conversation, or a list of messages or of conversations."""
    if _is_conversation(value):
        return True
    return any(_is_message(item) or _is_conversation(item) for item in items_of(value)[:1])


def read(values: Values) -> Runs:
    """Read each conversation as a run."""
    number = 0
    for value, place in values:
        for conversation in conversations_in(value, place, is_message=_is_message):
            number += 1
            yield _read_run(conversation, number)


def detect_message(value: object) -> bool:
    """Recognise a message or item that stands alone on its line."""
    fields = fields_of(value)
    says = isinstance(fields.get("role"), str) and not {"content", "tool_calls"}.isdisjoint(fields)
    return says and _FOREIGN.isdisjoint(fields) and not _is_conversation(value)


def read_messages(values: Values) -> Runs:
    """Read lone messages as runs, each up to the next instructions."""
    messages: list[object] = []
    first: Place | None = None
    number = 0
    for value, place in values:
        if _is_instruction(value) and any(not _is_instruction(each) for each in messages) and first is not None:
            number += 1
            yield _read_run(Record({"messages": messages}, first), number)
            messages, first = [], None
        messages.append(value)
        first = first or place
    if first is not None:
        yield _read_run(Record({"messages": messages}, first), number + 1)


def _is_instruction(value: object) -> bool:
    return fields_of(value).get("role") in ("developer", "system")


def _is_message(value: object) -> bool:
    return isinstance(fields_of(value).get("role"), str) or is_item(value)


def _is_conversation(value: object) -> bool:
    fields = fields_of(value)
    if any(names <= fields.keys() for names in _RUNS_OF_OTHERS):
        return False
    if "task_id" in fields and is_list(fields.get("traj")):
        return True
    return any(_is_message(message) for key in _LISTS for message in items_of(fields.get(key))[:1])


def _read_run(conversation: Record, number: int) -> RecordedRun:
    is_tau_bench = "traj" in conversation.fields
    chat = _Chat(is_tau_bench=is_tau_bench)
    for key in _INSTRUCTIONS:
        if isinstance(conversation.fields.get(key), (list, str)):
            chat.builder.say(conversation.prose(key))
    for key in _LISTS:
        for message in _list_messages(conversation, key):
            chat.take(message)
    return chat.builder.build(
        _name_run(conversation) or f"{conversation.place.stem}:{number}",
        TAU_BENCH if is_tau_bench else CHAT,
        conversation.place.path,
        succeeded=conversation.lenient_flag("resolved"),
        reward=conversation.number("reward"),
    )


def _list_messages(conversation: Record, key: str) -> Iterator[Record]:
    # A text in place of the list is one message.
    value = conversation.fields.get(key)
    if isinstance(value, str):
        yield Record({"content": value}, conversation.place)
    elif is_list(value) or key in _MESSAGES:
        yield from conversation.children(key)


def _name_run(conversation: Record) -> str:
    task, trial = conversation.label("task_id"), conversation.label("trial")
    return f"{task}.{trial}" if task and trial else task or conversation.label("id")


@dataclass(slots=True)
class _Chat:
    is_tau_bench: bool
    builder: RunBuilder = field(default_factory=RunBuilder)
    code_calls: CodeCalls = field(init=False)
    xml_calls: XmlCalls = field(init=False)

    def __post_init__(self) -> None:
        self.code_calls = CodeCalls(self.builder)
        self.xml_calls = XmlCalls(self.builder)

    def take(self, message: Record) -> None:
        if is_item(message.fields) and message.fields["type"] != "message":
            take_item(message, self.builder)
        elif message.text("role") == "tool":
            self.take_result(message)
        else:
            self.take_content(message)
            for call in message.children("tool_calls"):
                self.builder.request_call(call)

    def take_result(self, message: Record) -> None:
        text = message.prose("content")
        self.builder.answer(
            message.text("tool_call_id"),
            tool=message.text("name"),
            result=text,
            # Other answers may be failures all the same, as "Unknown action".
            flagged=True if self.is_tau_bench and text.startswith(_FAILED) else None,
        )

    def take_content(self, message: Record) -> None:
        if not is_list(message.fields.get("content")):
            self.take_texts([message.text("content")], message)
            return
        texts: list[str] = []
        for block in message.children("content"):
            kind = block.label("type")
            if kind in _CALL_BLOCKS:
                self.builder.request_call(block)
            elif kind.endswith(_RESULT_BLOCK):
                _answer_block(block, self.builder)
            elif "text" in block.fields:
                texts.append(block.text("text"))
        self.take_texts(texts, message)

    def take_texts(self, texts: list[str], message: Record) -> None:
        is_user = message.text("role") == "user"
        for text in self.xml_calls.take(texts) if is_user else texts:
            # Bare lists of Magentic-One have the agent as role.
            self.code_calls.take(text, speaker=message.text("name") or message.text("role"))
            if not is_user:
                self.xml_calls.write(text)


def _answer_block(block: Record, builder: RunBuilder) -> None:
    # Anthropic's own tools answer with one object, which may be an error.
    inner = Record(fields_of(block.fields.get("content")), block.place.inner("content"))
    builder.answer(
        block.text("tool_use_id"),
        result=block.json("content") if inner.fields else block.prose("content"),
        flagged=True if kind_of(inner.fields).endswith("_error") else block.flag("is_error"),
        exit_code=inner.integer("return_code"),
    )
